"""Which structures hold a part, or are like another: what a filter by structure asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import AssayPilotError
from ..system.packing import Parcel, unpack_texts
from ..system.progress import Report, silent

_REPORT_EVERY = 100
_LIKE = "like"
"""The mark of a question for similar structures; no SMARTS begins with it."""


def similar_to(smiles: str, least: float) -> str:
    """Return the question, for ``holding``, for structures at least that similar (ECFP4, Tanimoto)."""
    return f"{_LIKE} {least:g} {smiles}"


def holding(smiles: Sequence[str], question: str, report: Report = silent) -> bytes:
    """Return one byte per structure, in order: 1 where it fits the question, 0 where not or unreadable.

    ``question``: a SMARTS or SMILES that structures are to hold, or what ``similar_to`` gives. AssayPilotError for
    one that cannot be read.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        fits = _similar(question) if question.startswith(f"{_LIKE} ") else _with_part(question)
        out = bytearray(len(smiles))
        known: dict[str, int] = {}
        for place, text in enumerate(smiles):
            if place % _REPORT_EVERY == 0:
                report(place / len(smiles), f"Looking through structures: {place:,} of {len(smiles):,}")
            if text not in known:
                molecule = Chem.MolFromSmiles(text) if text.strip() else None
                known[text] = int(molecule is not None and fits(molecule))
            out[place] = known[text]
        return bytes(out)


def _with_part(pattern: str) -> Callable[[Any], bool]:
    from rdkit import Chem

    wanted = Chem.MolFromSmarts(pattern) or Chem.MolFromSmiles(pattern)
    if wanted is None or not wanted.GetNumAtoms():
        raise AssayPilotError(
            f"no structure can be read from {pattern}", mend="Write it as SMILES or SMARTS, for example c1ccncc1."
        )
    return lambda molecule: bool(molecule.HasSubstructMatch(wanted))


def _similar(question: str) -> Callable[[Any], bool]:
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    _, least, smiles = question.split(" ", 2)
    target = Chem.MolFromSmiles(smiles)
    if target is None or not target.GetNumAtoms():
        raise AssayPilotError(
            f"{smiles} is neither a compound nor a structure", mend="Write like: and an ID or a SMILES."
        )
    generator: Any = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    wanted = generator.GetFingerprint(target)

    def fits(molecule: Any) -> bool:
        return bool(DataStructs.TanimotoSimilarity(wanted, generator.GetFingerprint(molecule)) >= float(least))

    return fits


def packed_holding(smiles: Parcel, question: str, report: Report = silent) -> bytes:
    """Return the same of structures that came from another process."""
    return holding(unpack_texts(smiles), question, report)
