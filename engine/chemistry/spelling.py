"""Substituents written as SMILES with their attachment point: which spellings are the same structure."""

from __future__ import annotations

import re

_POINT = re.compile(r"\[\d*\*(?::\d+)?\]|\[R\d*\]|\*")
"""An attachment point as different programs write it: ``[*:1]``, ``[1*]``, ``[R1]``, ``*``."""
_EXTENSION = re.compile(r"\s*\|[^|]*\|$")
"""What an extended SMILES says behind its structure: names of its atoms."""


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
