"""Which structures hold a part: what a filter by substructure asks."""

from __future__ import annotations

from collections.abc import Sequence

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.packing import Parcel, unpack_texts
from assaypilot.engine.progress import Report, silent

__all__ = ["holding", "packed_holding"]

_REPORT_EVERY = 100


def holding(smiles: Sequence[str], pattern: str, report: Report = silent) -> bytes:
    """One byte per structure, in order: 1 where it holds the pattern (SMARTS, or SMILES), 0 where not or unreadable.

    AssayPilotError for a pattern that is neither.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        wanted = Chem.MolFromSmarts(pattern) or Chem.MolFromSmiles(pattern)
        if wanted is None or not wanted.GetNumAtoms():
            raise AssayPilotError(
                f"no structure can be read from {pattern}",
                mend="Write it as SMILES or SMARTS, for example has:c1ccncc1.",
            )
        out = bytearray(len(smiles))
        known: dict[str, int] = {}
        for place, text in enumerate(smiles):
            if place % _REPORT_EVERY == 0:
                report(place / len(smiles), f"Looking through structures: {place:,} of {len(smiles):,}")
            if text not in known:
                molecule = Chem.MolFromSmiles(text) if text.strip() else None
                known[text] = int(molecule is not None and molecule.HasSubstructMatch(wanted))
            out[place] = known[text]
        return bytes(out)


def packed_holding(smiles: Parcel, pattern: str, report: Report = silent) -> bytes:
    """The same of structures that came from another process."""
    return holding(unpack_texts(smiles), pattern, report)
