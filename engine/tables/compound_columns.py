"""The columns of compounds' ids and structures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from . import headers
from .column_roles import (
    Claims,
    determines,
    filled,
    looks_like_ids,
    share_of_dates,
    share_of_fragments,
    share_of_structures,
    structure_columns,
)
from .endpoint_kinds import kind_of
from .headers import split_unit
from .raw import PATTERNS, fold
from .values import is_missing

_NAMES = PATTERNS["name or number"]
_OF_COMPOUNDS = PATTERNS["of compounds"]
_OF_OTHERS = PATTERNS["of other things than compounds"]
_SECOND = PATTERNS["second name of compounds"]
"""Names of compounds, and not the ones that a chemist calls them by."""
_MOST_HELD = 0.9
_IN_LIST = 4
_SURE = 3


def find_ids(claims: Claims, smiles: str | None, sites: Sequence[str], *, sure: bool) -> str | None:
    """Return the column of ids, which is taken; None without one.

    An id must stand for one compound: one structure, or one combination of substituents, however often it repeats.
    ``sure``: only columns whose header names ids.
    """
    raw = claims.raw
    scores = {c: _score(claims, c, smiles, sites) for c in claims.free() if headers.role_of(c) is None}
    known = {name: place for place, name in enumerate(headers.IDS)}
    order = sorted(
        (c for c in scores if scores[c] > 0),
        key=lambda c: (-scores[c], _is_sparse(raw.column(c)), known.get(fold(c), len(known)), raw.columns.index(c)),
    )
    if not order or (sure and scores[order[0]] < _SURE):
        return None
    chosen = order[0]
    claims.taken.add(chosen)
    others = [column for column in order[1:] if scores[column] >= max(_SURE, scores[chosen] - 1)]
    if fold(chosen) not in headers.IDS:
        claims.notes.append(f"No column is called ID; column {chosen} was taken for the ids.")
    if others:
        claims.reported.update(others[:3])
        claims.notes.append(f"Column {', '.join(others[:3])} could be the ids, too; column {chosen} was taken.")
    return chosen


def _score(claims: Claims, column: str, smiles: str | None, sites: Sequence[str]) -> int:
    """How much a column looks like ids of compounds; 0: not at all."""
    raw = claims.raw
    folded = fold(column)
    if headers.CORE.fullmatch(folded) is not None or headers.SITE.fullmatch(folded) is not None:
        return 0
    if headers.looks_like_activity(column):
        return 0
    texts = raw.column(column)
    listed = folded in headers.IDS
    named = 2 * (_OF_COMPOUNDS.search(folded) is not None) + 2 * (_NAMES.search(folded) is not None)
    # A column that is called ID is one even where a spreadsheet has made dates of some.
    named = _IN_LIST if listed else min(named, _IN_LIST - 1)
    if not listed and _OF_OTHERS.search(folded) is not None:
        named = -1
    elif not listed and _SECOND.search(folded) is not None:
        named = min(named, 1)
    plain = [text for text in texts[:2000] if text]
    whole = all(re.fullmatch(r"\d+(?:\.0+)?", text) is not None for text in plain)
    if not listed and whole and _counts_rows(plain):
        named = min(named, 1)
    if not listed and not whole and claims.numbers(column):
        return 0
    if (
        not listed
        and whole
        and (named < 1 or headers.is_property(column) or kind_of(*split_unit(column), column).better)
    ):
        return 0  # a yield of the product, in whole numbers, is no number of it
    if not listed and share_of_dates(texts) > 0.5:
        return 0
    if share_of_structures(texts) > 0.5:
        return 0
    # Most columns are out by their first cells; only the others are looked through.
    held = [not is_missing(text) for text in texts]
    n = sum(held)
    different = len({text for text, there in zip(texts, held, strict=True) if there})
    if not listed and (different < 2 or n < _MOST_HELD * len(texts)):
        return 0
    score = named + looks_like_ids(texts) + (whole and n == different and not _counts_rows(plain))
    fits = _distinguishes_compounds(texts, held, _keys(claims, smiles, sites), drawn=smiles is not None)
    if listed and _is_sparse(texts):
        return 1  # any column of ids goes before one that is hardly filled
    if listed:
        return score if fits is not False else score - 2
    if fits is None:
        fits = different >= _MOST_HELD * n
    return max(1, score) if fits and named >= 0 else 0


def _is_sparse(texts: Sequence[str]) -> bool:
    """Whether fewer than half of the cells of a column are filled."""
    return 2 * sum(not is_missing(text) for text in texts) < len(texts)


def _counts_rows(texts: Sequence[str]) -> bool:
    """Whether whole numbers go up by one from row to row."""
    numbers = [int(float(text)) for text in texts]
    return len(numbers) > 1 and all(b - a == 1 for a, b in pairwise(numbers))


def _distinguishes_compounds(
    texts: Sequence[str], held: Sequence[bool], keys: Sequence[object] | None, *, drawn: bool
) -> bool | None:
    """Whether each text identifies one compound, and few share one; None where nothing else identifies compounds."""
    if keys is None:
        return None
    of: dict[str, set[object]] = {}
    for text, key, there in zip(texts, keys, held, strict=True):
        if there and key:
            of.setdefault(text, set()).add(key)
    compounds = len({key for key in keys if key})
    clear = sum(len(found) == 1 for found in of.values())
    if clear < _MOST_HELD * len(of) or len(of) < _MOST_HELD * compounds:
        return False
    # Compounds may share substituents, but hardly a structure.
    return not drawn or len(of) <= max(compounds / _MOST_HELD, compounds + 2)


def _keys(claims: Claims, smiles: str | None, sites: Sequence[str]) -> Sequence[object] | None:
    """Return what identifies each row's compound besides its id: the structure, else its substituents."""
    if smiles is not None:
        texts = claims.raw.column(smiles)
        return [text if not is_missing(text) else "" for text in texts]
    if sites:
        return list(zip(*map(claims.raw.column, sites), strict=True))
    return None


_OF_PARTS = re.compile(r"ligand|reagent|base|solvent|substrate|monomer|amine|acid|additive|catalyst")
_MOST_ARE = 0.5
_FEW = 0.1
"""Different structures per row below which they are the levels of a factor, not the compounds."""


def find_structures(claims: Claims) -> str | None:
    """Return the column of structures, which is taken; None without one.

    A header that names structures is believed, unless its cells are ids. Else the column with the most different
    structures is taken, and named.
    """
    by_name = claims.first(headers.STRUCTURES)
    if by_name is not None:
        of_parts = _OF_PARTS.search(fold(by_name)) is not None
        if of_parts and _is_one_of_several(claims, by_name):
            claims.taken.discard(by_name)
            return None
        parts = of_parts and _are_levels(claims, by_name)
        if not parts and ("smiles" in fold(by_name) or not _has_other_text(claims, by_name)):
            return by_name
        found = find_structures(claims)
        claims.taken.discard(by_name)
        return found
    many: dict[str, int] = {}
    drawn = {column for _, column in structure_columns(claims.raw, claims.raw.columns, claims.free())}
    # One may be of the compounds (Compound, Compound SMILES); several are of what these are made of.
    for column in claims.free() if len(drawn) < 2 else [one for one in claims.free() if one not in drawn]:
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
    chosen = claims.raw.column(column)
    if any(not determines(chosen, claims.raw.column(name)) for name in enough):
        return None  # the same ligand with different bases: they are parts of what each row is of
    claims.taken.add(column)
    others = [name for name in enough if name != column and many[name] >= _MOST_ARE * many[column]]
    claims.reported.update(others)
    also = f" Column {', '.join(others)} holds structures, too." if others else ""
    claims.notes.append(f"The structures are in column {column}, by what stands in it.{also}")
    return column


def _are_levels(claims: Claims, column: str) -> bool:
    """Whether there are hardly different structures for so many rows, as of the ligands of a screen."""
    texts = filled(claims.raw.column(column))
    return len(set(texts)) < _FEW * len(texts)


def _is_one_of_several(claims: Claims, column: str) -> bool:
    """Whether other columns of structures differ where these are the same, as bases do for one ligand."""
    texts = claims.raw.column(column)
    others = [claims.raw.column(one) for one in claims.free() if one != column]
    return any(not determines(texts, other) and share_of_structures(other) > _MOST_ARE for other in others)


def _has_other_text(claims: Claims, column: str) -> bool:
    """Whether hardly a text of a column can be a SMILES, while all of them are different, as ids are."""
    texts = filled(claims.raw.column(column))
    shaped = sum(headers.SMILES_SHAPE.match(text) is not None for text in texts)
    return len(texts) > 1 and 10 * shaped < len(texts) and len(set(texts)) >= 0.9 * len(texts)
