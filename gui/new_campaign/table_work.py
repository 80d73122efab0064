"""Work of a new campaign on tables off the window's thread: reads, joins, proposes and checks. Needs no Qt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from assaypilot.engine.chemistry.names import pictures, site_names
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report, silent
from assaypilot.engine.tables.check import EndpointFacts, check_report, endpoint_facts
from assaypilot.engine.tables.importer import ImportedTable, import_table
from assaypilot.engine.tables.join import join_tables
from assaypilot.engine.tables.opening import ReadAs, Reading, read_as, read_text_as
from assaypilot.engine.tables.options import TableMapping, TableOptions
from assaypilot.engine.tables.raw import RawTable
from assaypilot.engine.tables.workbook import SheetName

LIGHT_TEXT, LIGHT_OTHER = 200_000, 40_000
"""Bytes of text, and of a workbook or an SD file, that are read faster here than a process starts."""
OTHERS = (".xlsx", ".xlsm", ".xls", ".ods", ".sdf", ".sd")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table is, and how it is to be read."""

    path: Path | None = None
    text: str = ""
    """The pasted block where there is no file."""
    how: ReadAs = field(default_factory=ReadAs)

    @property
    def name(self) -> str:
        """Its name."""
        return "the clipboard" if self.path is None else self.path.name

    def read(self, report: Report = silent) -> Reading:
        """Return the table; AssayPilotError when there is none."""
        if self.path is None:
            return read_text_as(self.text, self.how, report)
        return read_as(self.path, self.how, report)

    @property
    def heavy(self) -> bool:
        """Whether reading it takes long enough for a process of its own."""
        if self.path is None:
            return len(self.text) > LIGHT_TEXT
        try:
            size = self.path.stat().st_size
        except (OSError, ValueError):
            return False  # the refusal comes at once
        return size > (LIGHT_OTHER if self.path.suffix.lower() in OTHERS else LIGHT_TEXT)


@dataclass(frozen=True, slots=True)
class Wanted:
    """A table, and perhaps a second one whose columns are joined to it by the ids."""

    first: Place
    second: Place | None = None
    id_column: str | None = None
    other_column: str | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """The source read."""

    wanted: Wanted
    raw: RawTable
    """Joined where there are two."""
    sheets: tuple[SheetName, ...]
    columns: tuple[str, ...]
    """Of the first table alone."""
    rows: int
    """Of the first table alone."""
    warnings: tuple[str, ...]
    """Warnings from reading, without those of the join."""
    other_columns: tuple[str, ...] = ()
    other_rows: int = 0


def load(wanted: Wanted, report: Report = silent) -> Loaded:
    """Return the tables read and joined.

    AssayPilotError when that is not possible, Cancelled when ``report`` raises it.
    """
    if not wanted.first.heavy and (wanted.second is None or not wanted.second.heavy):
        return _read(wanted, report)
    return in_another_process(_read, wanted, report=report)


def _read(wanted: Wanted, report: Report) -> Loaded:
    first = wanted.first.read(report)
    raw, second = first.raw, wanted.second
    if second is None:
        return Loaded(wanted, raw, first.sheets, raw.columns, len(raw), raw.warnings)
    other = second.read(report).raw
    report(0.95, "Joining the tables by their ids")
    joined = join_tables(raw, other, id_column=wanted.id_column, other_column=wanted.other_column)
    warnings = joined.warnings[: len(raw.warnings) + len(other.warnings)]
    return Loaded(wanted, joined, first.sheets, raw.columns, len(raw), warnings, other.columns, len(other))


LIGHT_CELLS = 20_000
LIGHT_STRUCTURES = 150
"""Cells, and structures to be read, up to which a check is done faster here than a process starts."""
LIGHT_UNKNOWNS = 100
"""Substituents up to which the model is fitted at once; the work grows with their third power."""


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """A site as the table fills it."""

    name: str
    substituents: tuple[str, ...]
    shown: tuple[str, ...]
    """The same as they are shown."""
    counts: tuple[int, ...]
    """Compounds of the table that carry each."""
    drawn: tuple[str, ...] = ()
    """SMILES for a picture, empty for a plain label; no text at all where every label is plain."""


@dataclass(frozen=True, eq=False)
class Checked:
    """A table with the import it would give."""

    mapping: TableMapping
    imported: ImportedTable
    facts: tuple[EndpointFacts, ...]
    warnings: tuple[str, ...]
    objective: int
    """Position of the endpoint the goal is about."""
    sites: tuple[SiteFacts, ...] = ()
    rank: int = 0
    max_rank: int = 0

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint the goal is about."""
        return self.imported.endpoints[self.objective]

    @property
    def fact(self) -> EndpointFacts:
        """What the table states about it."""
        return self.facts[self.objective]


def left_out(checked: Checked) -> list[str]:
    """One sentence about rows and values that were not used, for the campaign's history."""
    lost = checked.imported.not_used
    if not lost:
        return []
    first = lost[0]
    places = ("" if first.row is None else f"row {first.row}", "" if first.column is None else f"column {first.column}")
    where = ", ".join(filter(None, places))
    many = "1 row or value" if len(lost) == 1 else f"{len(lost):,} rows or values"
    reason = first.reason
    return [f"{many} of the table not used; the first is {where}{': ' if where else ''}{reason}"]


@dataclass(frozen=True, slots=True)
class CoreChoice:
    """A core to look at."""

    smiles: str
    """With ``[*:n]`` at site Rn."""
    drawn: str
    """The same for a picture, its sites written R1, R2, ..."""
    used: int | None = None
    """Structures of the sample that it decomposes; None where that was not tried."""
    sample: int = 0
    taken: bool = False
    """Whether it is proposed to be used."""


def check_table(raw: RawTable, options: TableOptions, report: Report = silent) -> Checked:
    """Return the result of an import with these options; AssayPilotError when it is impossible."""
    if not _heavy(raw, options):
        return _check(raw, options, report)
    return in_another_process(_check, raw, options, report=report)


def _heavy(raw: RawTable, options: TableOptions) -> bool:
    """Whether a check takes long enough for a process of its own, which can be stopped at any point."""
    if options.cores or len(raw) * len(raw.columns) > LIGHT_CELLS:
        return True
    if options.smiles and len(raw) > LIGHT_STRUCTURES:
        return True
    return sum(len(set(raw.column(name))) for name in options.sites if name in raw.columns) > LIGHT_UNKNOWNS


def _check(raw: RawTable, options: TableOptions, report: Report) -> Checked:
    from assaypilot.engine.tables.mapping import propose

    mapping = propose(raw, options, find_core=False)
    imported = import_table(raw, mapping, report)
    report(1.0, "Fitting the additive model")
    facts = endpoint_facts(imported)
    document = check_report(raw, mapping, imported, facts)
    names = [endpoint.name for endpoint in imported.endpoints]
    wanted = options.endpoints[0].name if options.endpoints else ""
    return Checked(
        mapping,
        imported,
        facts,
        tuple(document["warnings"]),
        names.index(wanted) if wanted in names else 0,
        _sites(imported),
        document["rank"],
        document["max_rank"],
    )


def _sites(imported: ImportedTable) -> tuple[SiteFacts, ...]:
    listed = imported.listed
    return tuple(
        SiteFacts(
            site.name,
            site.substituents,
            site_names(site.substituents),
            tuple(np.bincount(listed.codes[:, place], minlength=len(site.substituents)).tolist()),
            _pictures(listed, place),
        )
        for place, site in enumerate(listed.sites)
    )


def _pictures(library: Library, site: int) -> tuple[str, ...]:
    """Return what is drawn for each substituent, where any structure is known."""
    known = pictures(library, site)
    return tuple(_drawn(one) if one else "" for one in known) if any(known) else ()


def blank_cells(raw: RawTable, sites: Sequence[str]) -> dict[str, int]:
    """How many cells of each column of substituents are empty; only those that have some."""
    counts = {name: sum(text in ("", "-") for text in raw.column(name)) for name in sites if name in raw.columns}
    return {name: count for name, count in counts.items() if count}


# ---------------------------------------------------------------------- cores


def propose_core(raw: RawTable, options: TableOptions, report: Report = silent) -> tuple[CoreChoice, ...]:
    """Cores that the structures share, the best first: those to take together, then others."""
    from assaypilot.engine.tables.mapping import propose
    from assaypilot.engine.tables.structures import find_cores

    # Any core will do: only what the other columns are is asked.
    columns = propose(raw, replace(options, sites=(), cores=("c1ccccc1",))).endpoints
    found = find_cores(raw, options.smiles or "", columns, report)
    return tuple(
        CoreChoice(one.smiles, _drawn(one.smiles), one.used, one.sample, taken=one in found.taken)
        for one in (*found.taken, *found.others)
    )


def known_cores(texts: Sequence[str], report: Report = silent) -> tuple[CoreChoice, ...]:
    """Return the cores that were typed or are in files, to look at; AssayPilotError when one cannot be used."""
    from assaypilot.engine.chemistry.cores import read_cores

    report(0.1, "Reading the core")
    try:
        cores = read_cores(texts)
    except AssayPilotError as error:
        error.option = None
        raise
    return tuple(CoreChoice(core.smiles, _drawn(core.smiles)) for core in cores)


def _drawn(smiles: str) -> str:
    """Return a core or substituent as a SMILES whose sites are drawn as R1, R2 and so on.

    Empty when it cannot be read.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
    if molecule is None:
        return ""
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 0 and atom.GetAtomMapNum():
            atom.SetProp("atomLabel", f"R{atom.GetAtomMapNum()}")
            atom.SetAtomMapNum(0)
    return str(Chem.MolToCXSmiles(molecule))


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the columns of a table seem to be."""

    mapping: TableMapping | None
    kept: bool
    """Whether it is remembered from the last time."""
    structures: bool
    """Whether the structures are to be decomposed."""
    cores: tuple[CoreChoice, ...]
    blanks: dict[str, int]


def propose_columns(raw: RawTable, kept: TableMapping | None, report: Report) -> Proposal:
    """Return the roles of the columns: those of ``kept`` if given, else by headers and contents."""
    from assaypilot.engine.tables.column_roles import NoSites
    from assaypilot.engine.tables.mapping import propose

    blanks = blank_cells(raw, raw.columns)
    report(0.3, "")
    if kept is not None:
        try:
            cores = known_cores(kept.cores, report) if kept.cores else ()
        except AssayPilotError:
            cores = ()
        return Proposal(kept, True, bool(kept.cores), cores, blanks)
    try:
        return Proposal(propose(raw, find_core=False), False, False, (), blanks)
    except NoSites as error:
        candidates = error.candidates
    except AssayPilotError:
        return Proposal(None, False, False, (), blanks)
    try:
        if len(candidates) > 1:
            # A possible site is no result (temperatures next to a yield): the user ticks it.
            found = propose(raw, TableOptions(sites=candidates))
            return Proposal(replace(found, sites=()), False, found.smiles is not None, (), blanks)
        # Any core will do: only what the other columns are is asked.
        mapping = propose(raw, TableOptions(cores=("c1ccccc1",)))
    except AssayPilotError:
        return Proposal(None, False, False, (), blanks)
    return Proposal(mapping, False, mapping.smiles is not None, (), blanks)
