"""Which column holds the structures of the compounds: by its header, else by what stands in it."""

from __future__ import annotations

import re

from . import headers
from .column_roles import Claims
from .contents import filled, share_of_fragments, share_of_structures
from .raw import fold

__all__ = ["find_structures"]

_OF_PARTS = re.compile(r"ligand|reagent|base|solvent|substrate|monomer|amine|acid|additive|catalyst")
_MOST_ARE = 0.5
_FEW = 0.1
"""Different structures per row below which they are the levels of a factor, not the compounds."""


def find_structures(claims: Claims) -> str | None:
    """Return the column of structures, which is taken; None without one.

    A header that says structures is believed, unless ids stand below it. Else the column with the most different
    structures is taken, and named.
    """
    by_name = claims.first(headers.STRUCTURES)
    if by_name is not None:
        parts = _OF_PARTS.search(fold(by_name)) is not None and _are_levels(claims, by_name)
        if not parts and ("smiles" in fold(by_name) or not _holds_other_text(claims, by_name)):
            return by_name
        found = find_structures(claims)
        claims.taken.discard(by_name)
        return found
    many: dict[str, int] = {}
    for column in claims.free():
        texts = claims.raw.column(column)
        different = len(set(filled(texts)))
        if headers.role_of(column) is not None or headers.SITE.fullmatch(fold(column)) is not None or different < 2:
            continue
        if share_of_structures(texts) > _MOST_ARE and share_of_fragments(texts) <= _MOST_ARE:
            many[column] = different
    rows = min(len(claims.raw), 2000)
    enough = [column for column in many if many[column] >= _FEW * rows]
    if not enough:
        return None
    # A column called product is of the compound, one called ligand or base is of a part of it.
    column = max(enough, key=lambda name: (many[name], -claims.raw.columns.index(name)))
    claims.taken.add(column)
    others = [name for name in enough if name != column and many[name] >= _MOST_ARE * many[column]]
    also = f" Column {', '.join(others)} holds structures, too." if others else ""
    claims.notes.append(
        f"The structures are in column {column}, by what stands in it; for another one: --smiles COLUMN.{also}"
    )
    return column


def _are_levels(claims: Claims, column: str) -> bool:
    """Whether there are hardly different structures for so many rows, as of the ligands of a screen."""
    texts = filled(claims.raw.column(column))
    return len(set(texts)) < _FEW * len(texts)


def _holds_other_text(claims: Claims, column: str) -> bool:
    """Whether hardly a text of a column can be a SMILES, while all of them are different, as ids are."""
    texts = filled(claims.raw.column(column))
    shaped = sum(headers.SMILES_SHAPE.match(text) is not None for text in texts)
    return len(texts) > 1 and 10 * shaped < len(texts) and len(set(texts)) >= 0.9 * len(texts)
