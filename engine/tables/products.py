"""The compounds of rows: substituents in one spelling, original ids, all combinations or fewer of them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..domain.library import LARGEST_PRODUCT, Library, is_hydrogen, name_from_substituents, pair_name
from ..domain.measurements import Result
from ..text import listed
from .headers import SMILES_SHAPE
from .options import TableMapping
from .raw import SUBSTITUENTS, RawTable, rows_named
from .values import is_missing

_ALSO = {word.casefold(): name for name, words in SUBSTITUENTS.items() for word in (name, *words)}
"""Names of usual substituents by all their spellings."""
_SHOWN = 4


def is_usual(text: str) -> bool:
    """Whether a text is one of the usual substituents, in any of their spellings."""
    return text.casefold() in _ALSO or is_hydrogen(text)


def one_spelling(site: str, texts: Sequence[str], notes: list[str], warnings: list[str]) -> dict[str, str]:
    """Return, for each spelling of a substituent, the first one of the same; note each, and warn of doubtful ones.

    All spellings of hydrogen are one substituent, and so are SMILES of one structure with their attachment point. Names
    that differ in case only, or are synonyms, stay separate: their meaning is for the user to decide.
    """
    distinct = list(dict.fromkeys(text for text in texts if text))
    hydrogens = [text for text in distinct if is_hydrogen(text)]
    meant = dict.fromkeys(hydrogens, hydrogens[0]) if hydrogens else {}
    if len(hydrogens) > 1:
        notes.append(f"{', '.join(hydrogens)} at {site} are all hydrogen, one substituent.")
    same = _same_structures([text for text in distinct if text not in meant])
    for spellings in same:
        meant |= dict.fromkeys(spellings, spellings[0])
    if same:
        shown = listed([" = ".join(spellings) for spellings in same], _SHOWN, "; ")
        notes.append(f"Spellings of the same structure at {site} are one substituent: {shown}.")
    drawn = _names_of(distinct)
    doubtful: dict[str, list[str]] = {}
    for text in distinct:
        if text not in meant:
            folded = text.casefold()
            # c1ccccc1 and C1CCCCC1 differ in case, and in everything.
            is_smiles = SMILES_SHAPE.fullmatch(text.partition(" |")[0]) is not None
            key = _ALSO.get(folded) or drawn.get(text) or (None if is_smiles else folded)
            doubtful.setdefault(key or text, []).append(text)
    several = [names for names in doubtful.values() if len(names) > 1]
    warnings += [
        f"{', '.join(names)} at {site} count as different substituents. If they are one, spell them alike."
        for names in several[:_SHOWN]
    ]
    return meant


def _names_of(texts: Sequence[str]) -> dict[str, str]:
    """Return names of SMILES with an attachment point that are usual substituents, for columns with labels, too."""
    from ..chemistry.names import short_name
    from ..chemistry.structures import attached

    if not any(text.casefold() in _ALSO for text in texts):
        return {}
    points = [text for text in texts if attached(text) is not None]
    return {text: name for text in points if (name := _ALSO.get(short_name(text).casefold())) is not None}


def _same_structures(texts: Sequence[str]) -> list[list[str]]:
    """Return groups of two or more SMILES with an attachment point that are the same structure, in their order."""
    from ..chemistry.structures import attached, canonical_substituent

    same_letters: dict[str, list[str]] = {}
    for text in texts:
        letters = attached(text)
        if letters is not None:
            same_letters.setdefault(letters, []).append(text)
    found = []
    for group in same_letters.values():
        by_structure: dict[str, list[str]] = {}
        for text in group if len(group) > 1 else ():
            structure = canonical_substituent(text)
            if structure is not None:
                by_structure.setdefault(structure, []).append(text)
        found += [spellings for spellings in by_structure.values() if len(spellings) > 1]
    return found


_MONTH = r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez)"
_DATE = re.compile(
    rf"\d{{1,2}}[-. ]{_MONTH}\.?(?:[-. ]\d{{2,4}})?|{_MONTH}[-. ]\d{{2,4}}|"
    r"\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2})?|\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d{2})",
    re.I,
)
_POWER = re.compile(r"\d(?:[.,]\d+)?E[+-]?\d{1,3}", re.I)
_DITTO = re.compile(r"[\"″〃”“]{1,2}|''|,,|do\.|dto\.?|ditto|idem|same(?: as above)?|s\. ?o\.|siehe oben", re.I)
_SHARE = 0.9
DITTO = "a mark for the row above is no substituent; write it out"


def is_ditto(text: str) -> bool:
    """Whether a cell only repeats the one above it, as a ditto mark does."""
    return _DITTO.fullmatch(text.strip()) is not None


def looks_filled_down(texts: Sequence[str]) -> bool:
    """Whether each text of a column seems to apply to the empty cells below: it begins a block and never returns."""
    filled = [text for text in texts if text]
    blocks = len(filled) > 1 and len(set(filled)) == len(filled) and bool(texts[0])
    return blocks and len(texts) - len(filled) >= len(filled)


def filled_down(raw: RawTable, mapping: TableMapping, notes: list[str]) -> RawTable:
    """Return the table with rows below a compound that have values and no compound assigned to it.

    So cells merged downwards are saved. One compound with such rows is not enough: its row may be that of a sum.
    """
    if mapping.id is None or all(raw.column(mapping.id)):
        return raw
    drawn = [column for _, column in mapping.structures]
    named = {mapping.id, *filter(None, [mapping.smiles]), *mapping.sites, *drawn}
    values = [one.value for column in mapping.endpoints for one in column.each() if one.value is not None]
    of_compound, measured = ([raw.column(column) for column in columns] for columns in (named, values))
    above: dict[int, int] = {}
    compound = None
    for place, name in enumerate(raw.column(mapping.id)):
        if any(column[place] for column in of_compound):
            compound = place if name else None
        elif compound is not None and not all(is_missing(column[place]) for column in measured):
            above[place] = compound
    if len(set(above.values())) < 2:
        return raw
    notes.append(
        f"{rows_named([raw.rows[place] for place in above])} hold values and no compound: they are taken as further "
        "values of the compound above, as in merged cells."
    )
    cells = tuple(
        tuple(column[above.get(place, place)] for place in range(len(raw))) if name in named else column
        for name, column in zip(raw.columns, raw.cells, strict=True)
    )
    return replace(raw, cells=cells)


def looks_changed(text: str) -> str:
    """Return ``a date`` or ``a power of ten`` for an id that a spreadsheet may have made so; "" for any other."""
    if _DATE.fullmatch(text.strip()):
        return "a date"
    return "a power of ten" if _POWER.fullmatch(text.strip()) else ""


def about_ids(ids: Sequence[str]) -> str | None:
    """Return a question where some ids look like dates or powers of ten: 1-Mar for MAR-1, 1E+05 for 1E5.

    None without.
    """
    found = [name for name in ids if looks_changed(name)]
    if not found or (len(found) >= _SHARE * len(ids) and len(set(map(len, found))) == 1 and found[0][:4].isdigit()):
        return None  # ids may be dates, all of them in one form
    what = "dates" if looks_changed(found[0]) == "a date" else "powers of ten"
    more = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
    return (
        f"Ids look like {what} ({found[0]}{more}), which spreadsheets make of ids such as MAR-1 or 1E5. Are they "
        "right? If not, format their column as text and enter them again."
    )


_FIRST_LISTED = 10_000
"""Combinations listed at first for a product that is too large to list whole."""


def left_to_make(listed: Library, mapping: TableMapping, history: Sequence[Result]) -> int:
    """Return how many combinations a table leaves to measure that measured all it lists; 0 where a choice was made."""
    if mapping.product or mapping.available or mapping.stock or mapping.interactions:
        return 0
    if not {result.compound for result in history} >= set(listed.ids):
        return 0
    return math.prod(len(site.substituents) for site in listed.sites) - len(np.unique(listed.codes, axis=0))


def whole_product(
    listed: Library, history: list[Result], notes: list[str], *, only_listed: bool
) -> tuple[Library, list[Result], dict[str, str]]:
    """Every combination of the substituents, and what each listed id is there.

    Values of compounds that are one in the product go to the first. With ``only_listed`` compounds in no row cannot
    be measured.
    """
    if listed.n_combinations > LARGEST_PRODUCT and not only_listed and not listed.interactions:
        product = _some_combinations(listed)
    else:
        product = Library.product(listed.sites, known=listed)
    if only_listed:
        places = [place for name in listed.ids if (place := product.find(name)) is not None]
        measurable = np.zeros(len(product), dtype=bool)
        measurable[places] = product.measurable[places]
        product = replace(product, measurable=measurable)
        notes.append(
            f"Only what the table lists can be measured: {int(measurable.sum()):,} of {len(product):,} compounds."
        )
    names: dict[str, str] = {}
    by_codes: dict[tuple[int, ...], str] = {}
    for name, codes in zip(listed.ids, listed.codes.tolist(), strict=True):
        names[name] = by_codes.setdefault(tuple(codes), name)
    merged = [name for name, first in names.items() if name != first]
    if merged:
        notes.append(f"In the whole product, {len(merged)} compounds with substituents of another take its name.")
    every = f"The library is every combination of the substituents: {listed.n_combinations:,} compounds."
    if product.partial:
        every += f" {len(product):,} are listed; before each round those join that may be the best by then."
    notes.append(every)
    return product, [replace(result, compound=names[result.compound]) for result in history], names


def _some_combinations(listed: Library) -> Library:
    """Return the compounds of a table and others of all their combinations, every substituent of a site as often."""
    rng, places = np.random.default_rng(0), np.sort(np.unique(listed.codes, axis=0, return_index=True)[1])
    n = _FIRST_LISTED
    each = [len(site.substituents) for site in listed.sites]
    columns = [np.concatenate([rng.permutation(size) for _ in range(n // size + 1)])[:n] for size in each]
    more = listed.combined(np.unique(np.stack(columns, axis=1), axis=0))
    smiles = None if listed.smiles is None else (*(listed.smiles[place] for place in places), *("",) * len(more))
    return Library(
        listed.sites,
        np.vstack([listed.codes[places], more.codes]),
        (*(listed.ids[place] for place in places), *more.ids),
        smiles,
        np.concatenate([listed.measurable[places], more.measurable]),
        listed.scaffold,
        partial=True,
    )


def also_called(library: Library, names: dict[str, str], merged: tuple[tuple[str, str], ...]) -> Library:
    """Return the library that also finds its compounds by the ids that were merged into theirs.

    ``names``: what each listed id is called in the library; ``merged``: ids with the one that took them up.
    """
    own = set(library.ids)
    also = {name: called for name, called in names.items() if name not in own and called in own}
    also |= {other: called for other, name in merged if (called := names.get(name)) in own and other not in own}
    return replace(library, aliases=tuple(also.items())) if also else library


def about_pair(library: Library, pair: tuple[str, str]) -> str:
    """Return the note on two sites that are one in the model."""
    sites, _ = library.modelled
    several = next(len(site.substituents) for site in sites if site.name == pair_name(pair))
    return (
        f"{pair[0]} and {pair[1]} are taken together: {several:,} combinations occur. One that cannot be measured in "
        "any compound cannot be estimated."
    )


def about_cases(library: Library) -> list[str]:
    """Return a sentence when ids differ in nothing but capitals.

    One compound, written in two ways, is the likely reason.
    """
    spelled: dict[str, list[str]] = {}
    for name in library.ids:
        spelled.setdefault(name.casefold(), []).append(name)
    several = [names for names in spelled.values() if len(names) > 1]
    if not several:
        return []
    example = " and ".join(several[0][:2])
    more = f", and {len(several) - 1} more" if len(several) > 1 else ""
    return [
        f"Ids that differ in capitals only ({example}{more}) are different compounds here. If they are the same, write "
        "them alike in the table."
    ]


def note_twins(library: Library, notes: list[str]) -> None:
    """Note ids with the same substituents, which the model cannot distinguish."""
    groups: dict[bytes, list[int]] = {}
    for place, codes in enumerate(library.codes):
        groups.setdefault(codes.tobytes(), []).append(place)
    twins = [group for group in groups.values() if len(group) > 1]
    if not twins:
        return
    example = " and ".join(library.ids[place] for place in twins[0][:2])
    carried = name_from_substituents(library.sites, library.codes[twins[0][0]])
    notes.append(
        f"{len(twins)} {'combination is' if len(twins) == 1 else 'combinations are'} carried by more than one id "
        f"(for example {example}: {carried}); they stay separate compounds, which the model cannot distinguish."
    )
