"""From a table and its mapping to compounds and their history; what cannot be used is listed with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..chemistry.cores import with_structures
from ..chemistry.structures import read_structure
from ..domain.endpoint import Endpoint
from ..domain.library import Library, chosen_pairs, is_hydrogen
from ..domain.measurements import Result
from ..domain.stock import StockLine
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..system.resources import without_collecting
from .assays import forms_together
from .history import read_history
from .options import TableMapping
from .products import (
    DITTO,
    about_cases,
    about_ids,
    about_pair,
    also_called,
    filled_down,
    is_ditto,
    left_to_make,
    looks_filled_down,
    note_twins,
    one_spelling,
    whole_product,
)
from .raw import Problem, RawTable, Said
from .stock import STOCK_ROLES, read_stock
from .structures import numbered, on_scaffold, read_structure_column
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


_NAMED = 5
_LARGEST_DEFAULT = 50_000
"""Combinations up to which they are candidates unasked; more take long to plan for."""


@dataclass(frozen=True, slots=True)
class ImportedTable:
    """The data of a campaign from a table."""

    library: Library
    history: tuple[Result, ...]
    """Values already in the table, in entry units, in the order of its rows."""
    endpoints: tuple[Endpoint, ...]
    """Noise as given, else None."""
    not_used: tuple[Problem, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    rows_read: int
    rows_used: int
    """Rows whose compound is in the library, with or without a value."""
    listed: Library
    """The compounds of the rows; equal to ``library`` unless that is the whole product."""
    of_row: tuple[str | None, ...]
    """The id in ``library`` of each row's compound, in the order of the table; None where the row is not used."""
    stock: tuple[StockLine, ...] = ()
    """Stock, cost and lead time of the library's compounds, from their columns."""
    empty: tuple[str, ...] = ()
    """The warnings about empty substituent cells; they are among ``warnings``, too."""

    @property
    def compounds(self) -> int:
        """The number of compounds in the rows."""
        return len(self.listed)

    @property
    def errors(self) -> tuple[Problem, ...]:
        """The problems that need a decision of the user."""
        return tuple(problem for problem in self.not_used if problem.severity == "error")


def import_table(raw: RawTable, mapping: TableMapping, report: Report = silent) -> ImportedTable:
    """Compounds, history and endpoints of a table; one bad row or cell never stops it.

    AssayPilotError when no campaign can come of it: fewer than two compounds, or no site with two substituents.
    """
    with without_collecting():
        return _import(raw, mapping, report)


def _import(raw: RawTable, mapping: TableMapping, report: Report) -> ImportedTable:
    _check_columns(raw, mapping)
    findings = Said(list(raw.problems), [*raw.warnings, *mapping.warnings], list(mapping.notes))
    raw = filled_down(raw, mapping, findings.notes)
    prepared = read_structure_column(raw, mapping, findings, report)
    raw, mapping = prepared.raw, prepared.mapping
    compounds = compounds_of(raw, mapping, prepared.unusable, findings)
    report(0.3, "Compounds read")
    listed = on_scaffold(_library(raw, compounds, findings.warnings), prepared, compounds.labels)
    listed = replace(listed, structures=_of_substituents(raw, mapping, compounds, findings.warnings))
    pairs = chosen_pairs([site.name for site in listed.sites], mapping.interactions)
    if pairs:
        listed = replace(listed, interactions=pairs)
        findings.notes.extend(about_pair(listed, pair) for pair in pairs)
    library = listed
    history = read_history(raw, mapping, compounds.ids, compounds.of_row, findings, report)
    names = {name: name for name in listed.ids}
    product, unmade = mapping.product, left_to_make(listed, mapping, history)
    by_default = product is None and unmade + len(listed) <= _LARGEST_DEFAULT
    if unmade:
        one = unmade == 1
        others = f"{unmade:,} other combination{'' if one else 's'}"
        findings.notes.append(
            f"Every compound of the table is measured; {others} of their substituents can be made"
            + (
                f" and {'is a candidate' if one else 'are candidates'}, too."
                if by_default
                else f"; take every combination to make {'it a candidate' if one else 'them candidates'}."
            )
        )
    if product is None:
        product = unmade > 0 and by_default
    if product:
        library, history, names = whole_product(library, history, findings.notes, only_listed=mapping.only_listed)
        if library.scaffold is not None:
            library = with_structures(library, report)
    alone = listed is library
    library = also_called(library, names, prepared.aliases)
    listed = library if alone else also_called(listed, {name: name for name in listed.ids}, prepared.aliases)
    if not mapping.endpoints:
        findings.warnings.append("No endpoint was found; name what is measured (it need not be a column).")
    note_twins(listed, findings.notes)
    # Names made from SMILES differ in capitals where the compounds do.
    findings.warnings.extend([] if mapping.id is None else about_cases(listed))
    findings.warnings.extend(
        filter(None, [about_ids(compounds.ids) if mapping.id else None, *forms_together(raw, mapping)])
    )
    of_row = tuple(None if place < 0 else names[compounds.ids[place]] for place in compounds.of_row)
    columns = {role: getattr(mapping, role) for role in STOCK_ROLES}
    stock = read_stock(raw, [None if name is None else library.find(name) for name in of_row], columns)
    findings.problems.extend(stock.not_used)
    findings.problems.sort(key=lambda problem: problem.row or 0)
    report(1.0, "Table checked")
    return ImportedTable(
        library=library,
        history=tuple(history),
        endpoints=tuple(column.endpoint for column in mapping.endpoints),
        not_used=tuple(findings.problems),
        warnings=tuple(dict.fromkeys(findings.warnings)),
        notes=tuple(dict.fromkeys(findings.notes)),
        rows_read=len(raw),
        rows_used=sum(place >= 0 for place in compounds.of_row),
        listed=listed,
        of_row=of_row,
        stock=stock.lines,
        empty=tuple(findings.empty),
    )


def _check_columns(raw: RawTable, mapping: TableMapping) -> None:
    absent = [column for column in mapping.columns() if column not in raw.columns]
    if absent:
        raise AssayPilotError(
            f"the table has no column {', '.join(absent)}", file=raw.file, mend="Map the columns of this table again."
        )
    if not mapping.sites and not mapping.cores:
        raise AssayPilotError(
            "there is no site column (R1, R2, ...)",
            file=raw.file,
            option="--sites",
            mend="Name the columns with the substituents.",
        )


# ---------------------------------------------------------------------- compounds


# ---------------------------------------------------------------------- library


def _library(raw: RawTable, compounds: Compounds, warnings: list[str]) -> Library:
    """Return the listed compounds over the sites that carry information."""
    n = len(compounds.ids)
    if n < 2:
        raise AssayPilotError(
            "no compound could be used" if n == 0 else f"there is only one compound ({compounds.ids[0]})",
            file=raw.file,
            mend="A campaign needs two or more, each with its substituents.",
        )
    kept = []
    for position, name in enumerate(compounds.sites):
        labels = {row[position] for row in compounds.labels}
        if len(labels) > 1:
            kept.append(position)
            continue
        only = next(iter(labels))
        message = f"site {name} has one substituent ({only}), so it carries no information"
        if len(compounds.sites) == 1:
            raise AssayPilotError(
                message, file=raw.file, column=name, mend="Add compounds with another substituent there."
            )
        warnings.append(f"{message[0].upper()}{message[1:]}; it is left out of the model.")
    if not kept:
        raise AssayPilotError(
            "every site has one substituent, so there is nothing to compare",
            file=raw.file,
            mend="Add compounds with other substituents.",
        )
    return Library.listed(
        [compounds.sites[position] for position in kept],
        [[row[position] for position in kept] for row in compounds.labels],
        ids=compounds.ids,
        smiles=compounds.smiles if any(compounds.smiles) else None,
        measurable=compounds.available,
    )


def _of_substituents(
    raw: RawTable, mapping: TableMapping, compounds: Compounds, warnings: list[str]
) -> tuple[tuple[str, str, str], ...]:
    """Return the structures that the table gives named substituents: site, label, SMILES; the first one counts."""
    found: dict[tuple[str, str], str] = {}
    for site, column in mapping.structures:
        position, several = compounds.sites.index(site), set()
        for text, place in zip(raw.column(column), compounds.of_row, strict=True):
            if place < 0 or is_missing(text):
                continue
            label = compounds.labels[place][position]
            if found.setdefault((site, label), text) != text:
                several.add(label)
        if several:
            warnings.append(
                f"{quoted(sorted(several)[0])} of {site} has several structures in {column}"
                + (f", and so have {len(several) - 1} others" if len(several) > 1 else "")
                + "; the first one counts."
            )
    read = {text: read_structure(text).smiles for text in set(found.values())}
    return tuple((site, label, read[text]) for (site, label), text in found.items() if read[text])
