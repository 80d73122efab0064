"""Which structures are the same compound: as drawn, and on request also by charge form or tautomer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from ..system.progress import Report, silent
from .structures import spelled, uncharger

Merge = Literal["none", "charge", "tautomer"]
"""What counts as one compound: the structure as it is; its charge forms, too; and its tautomers, too."""

_REPORT_EVERY = 50


def identity(smiles: str, merge: Merge = "none") -> str:
    """Return the spelling that all drawings of one compound share; empty for an empty text.

    ``smiles`` is what ``read_structure`` gives. Stereo is always part of it: racemate and enantiomer are two. RDKit's
    canonical tautomer loses the stereo of what tautomerism flattens, which is why it is used on request only.
    """
    if merge == "none" or not smiles:
        return smiles
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            return smiles
        molecule = uncharger().uncharge(molecule)
        if merge == "tautomer":
            molecule = _enumerator().Canonicalize(molecule)
        return spelled(molecule)


def same_structure(
    ids: Sequence[str], smiles: Sequence[str], merge: Merge = "none", report: Report = silent
) -> tuple[tuple[str, ...], ...]:
    """Return groups of two and more different ids that are one compound, in order of appearance.

    Empty texts belong to none.

    ``ids`` and ``smiles`` are of one length; the same id may come several times.
    """
    groups: dict[str, dict[str, None]] = {}
    known: dict[str, str] = {}
    for place, (name, text) in enumerate(zip(ids, smiles, strict=True)):
        if merge != "none" and place % _REPORT_EVERY == 0:
            report(place / max(1, len(ids)), f"Comparing structures: {place:,} of {len(ids):,}")
        if not text:
            continue
        key = known.get(text)
        if key is None:
            key = known[text] = identity(text, merge)
        groups.setdefault(key, {})[name] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


@cache
def _enumerator() -> Any:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.TautomerEnumerator()
