"""The compounds of a table's rows: what each carries, what it is called, and whether it is available."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ..domain.library import is_hydrogen
from .options import TableMapping
from .products import (
    DITTO,
    is_ditto,
    looks_filled_down,
    one_spelling,
)
from .raw import Problem, RawTable, Said
from .structures import numbered
from .values import DASHES, NO, YES, is_missing, quoted


@dataclass(slots=True)
class Compounds:
    """The compounds of the usable rows while the table is read."""

    sites: tuple[str, ...]
    labels: list[tuple[str, ...]]
    ids: list[str]
    of_row: list[int]
    """The compound of each row, -1 where the row is not used."""
    smiles: list[str]
    available: list[bool]


def compounds_of(
    raw: RawTable,
    mapping: TableMapping,
    unusable: frozenset[int],
    findings: Said,
    known: Sequence[Sequence[str]] = (),
) -> Compounds:
    """Return the compounds of the usable rows; ``known``: substituents of each site that are there already."""
    rows = _site_labels(raw, mapping, findings, known)
    given = raw.column(mapping.id) if mapping.id is not None else ("",) * len(raw)
    smiles = raw.column(mapping.smiles) if mapping.smiles is not None else None
    flags = _available(raw, mapping, findings.problems)
    made = 0
    others = [cells for name, cells in zip(raw.columns, raw.cells, strict=True) if name != mapping.id]
    by_id: dict[str, list[int]] = {}
    for place, labels in enumerate(rows):
        if labels is None or place in unusable:
            continue
        if mapping.blank == "h" and not any(column[place] for column in others):
            findings.problems.append(
                Problem(raw.rows[place], mapping.id, "the row has only an id; if it is a compound, write H")
            )
            continue
        name = "" if is_missing(given[place]) else given[place]
        if not name:
            name = "|".join(f"{site}={label}" for site, label in zip(mapping.sites, labels, strict=True))
            made += mapping.id is not None
        by_id.setdefault(name, []).append(place)
    if made:
        findings.notes.append(f"{made} {'row has' if made == 1 else 'rows have'} no id; named by the substituents.")
    out = Compounds(mapping.sites, [], [], [-1] * len(raw), [], [])
    for name, places in by_id.items():
        first = rows[places[0]]
        other = next((place for place in places if rows[place] != first), None)
        if first is None or other is not None:
            _refuse_id(raw, mapping, name, places, rows, findings.problems)
            continue
        for place in places:
            out.of_row[place] = len(out.ids)
        out.ids.append(name)
        out.labels.append(first)
        drawn = "" if smiles is None else next((smiles[p] for p in places if not is_missing(smiles[p])), "")
        out.smiles.append(drawn)
        out.available.append(all(flags[place] for place in places))
    if mapping.id is None and mapping.cores:
        # Names made of the SMILES of substituents would be illegibly long, and too long for a plate label.
        out.ids = numbered(len(out.ids))
    return out


def _refuse_id(
    raw: RawTable,
    mapping: TableMapping,
    name: str,
    places: Sequence[int],
    rows: Sequence[tuple[str, ...] | None],
    problems: list[Problem],
) -> None:
    """Rows that share an id but not the substituents: none is used."""
    reason = f"id {quoted(name)} has different substituents; one id must be one compound"
    problems += [Problem(raw.rows[place], mapping.id, reason, "error") for place in places]


def _site_labels(
    raw: RawTable, mapping: TableMapping, findings: Said, known: Sequence[Sequence[str]]
) -> list[tuple[str, ...] | None]:
    """Return the substituents of each row; None where one is not known, which is listed."""
    unknown: dict[int, list[str]] = {}
    """The sites of a row with unknown substituents."""
    columns = []
    blanks: Counter[str] = Counter()
    for position, name in enumerate(mapping.sites):
        texts = raw.column(name)
        # A substituent with several spellings is shown in its first one.
        spellings = one_spelling(name, [*(known[position] if known else ()), *texts], findings.notes, findings.warnings)
        hydrogen = next((label for label in spellings.values() if is_hydrogen(label)), "H")
        # Substituents repeat, so each text is judged once; None stands for one that is not known.
        meant: dict[str, str | None] = {}
        for text in dict.fromkeys(texts):
            empty = text in DASHES
            if empty and mapping.blank == "h":
                meant[text] = hydrogen
            else:
                meant[text] = None if is_missing(text) or is_ditto(text) else spellings.get(text, text)
            blanks[name] += texts.count(text) if empty else 0
        columns.append([meant[text] for text in texts])
        for place, label in enumerate(columns[-1]) if None in meant.values() else ():
            if label is None:
                unknown.setdefault(place, []).append(name)
    below = [name for name in mapping.sites if blanks[name] and looks_filled_down(raw.column(name))]
    if below:
        findings.warnings.append(
            f"In {', '.join(below)} each substituent stands once, above empty cells. If it holds for these, fill them "
            "in: nothing is copied down."
        )
    counts = ", ".join(f"{name}: {count}" for name, count in blanks.items() if count)
    if counts and mapping.blank == "h":
        findings.notes.append(f"Empty substituent cells count as hydrogen ({counts}).")
    elif counts:
        findings.empty.append(
            f"Empty substituent cells ({counts}): these rows are not used. If an empty cell means hydrogen, say so."
        )
        findings.warnings.extend(findings.empty)
    for place, sites in unknown.items():
        ditto = next((site for site in sites if is_ditto(raw.column(site)[place])), None)
        why = DITTO if ditto else f"no substituent at {', '.join(sites)}"
        findings.problems.append(Problem(raw.rows[place], ditto or sites[0], why))
    # A row without an unknown site has a text everywhere.
    return [
        None if place in unknown else tuple(map(str, labels)) for place, labels in enumerate(zip(*columns, strict=True))
    ]


def _available(raw: RawTable, mapping: TableMapping, problems: list[Problem]) -> list[bool]:
    if mapping.available is None:
        return [True] * len(raw)
    flags = []
    for row, text in zip(raw.rows, raw.column(mapping.available), strict=True):
        word = text.casefold()
        if word not in YES and word not in NO and not is_missing(text):
            problems.append(Problem(row, mapping.available, f"{quoted(text)} is neither yes nor no; taken as no"))
        flags.append(word in YES)
    return flags
