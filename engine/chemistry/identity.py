"""Which structures are the same compound, and which spellings the same substituent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Literal

from ..system.progress import Report, silent
from .structures import spelled, uncharger

Merge = Literal["none", "charge", "tautomer"]
"""What counts as one compound: the structure as it is; its charge forms, too; and its tautomers, too."""

_REPORT_EVERY = 50
_POINT = re.compile(r"\[\d*\*(?::\d+)?\]|\[R\d*\]|\*")
"""An attachment point as different programs write it: ``[*:1]``, ``[1*]``, ``[R1]``, ``*``."""
_EXTENSION = re.compile(r"\s*\|[^|]*\|$")
"""What an extended SMILES says behind its structure: names of its atoms."""


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


def attached(text: str) -> str | None:
    """Return the letters of a SMILES with exactly one attachment point, sorted; None for any other text.

    Spellings of one structure share them, so that only texts that do need be parsed.
    """
    bare, points = _POINT.subn("", _EXTENSION.sub("", text))
    if points != 1 or re.search(r"[^A-Za-z0-9\[\]()=#$@+\-/\\.%:]", bare):
        return None
    return "".join(sorted(re.sub(r"[^A-Za-z]", "", bare).casefold()))


def canonical_substituent(text: str) -> str | None:
    """Return the canonical SMILES of a substituent with one attachment point, whatever its number.

    None when it is none.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(_POINT.sub("*", _EXTENSION.sub("", text)))
    return None if molecule is None else str(Chem.MolToSmiles(molecule))
