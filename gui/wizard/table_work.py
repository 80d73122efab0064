"""What the wizard does with tables off the window's thread. Needs no Qt."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Report, silent
from assaypilot.engine.tables.join import join_tables
from assaypilot.engine.tables.parcels import RawParcel, pack_raw, unpack_raw
from assaypilot.engine.tables.raw import RawTable
from assaypilot.engine.tables.reading import ReadAs, Reading, read_as, read_text_as
from assaypilot.engine.tables.workbook import SheetName

__all__ = ["Loaded", "Place", "Wanted", "load"]

LIGHT_TEXT, LIGHT_OTHER = 200_000, 40_000
"""Bytes of text, and of a workbook or an SD file, that are read faster here than a process starts."""
OTHERS = (".xlsx", ".xlsm", ".xls", ".xlsb", ".ods", ".sdf", ".sd")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table is, and how it is to be read."""

    path: Path | None = None
    text: str = ""
    """The pasted block where there is no file."""
    how: ReadAs = field(default_factory=ReadAs)

    @property
    def name(self) -> str:
        """What to call it."""
        return "the clipboard" if self.path is None else self.path.name

    def read(self, report: Report = silent) -> Reading:
        """The table; AssayPilotError when there is none."""
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
    """What was read."""

    wanted: Wanted
    raw: RawTable
    """Joined where there are two."""
    sheets: tuple[SheetName, ...]
    columns: tuple[str, ...]
    """Of the first table alone."""
    rows: int
    """Of the first table alone."""
    other_columns: tuple[str, ...] = ()
    other_rows: int = 0


def load(wanted: Wanted, report: Report = silent) -> Loaded:
    """The tables read and joined; AssayPilotError when that is not possible, Cancelled when ``report`` raises it."""
    if not wanted.first.heavy and (wanted.second is None or not wanted.second.heavy):
        return _read(wanted, report)
    loaded, parcel = in_another_process(_packed, wanted, report=report)
    return _with(loaded, unpack_raw(parcel))


def _packed(wanted: Wanted, report: Report) -> tuple[Loaded, RawParcel]:
    """What the process sends back."""
    loaded = _read(wanted, report)
    parcel = pack_raw(loaded.raw)
    return _with(loaded, parcel.rest), parcel


def _with(loaded: Loaded, raw: RawTable) -> Loaded:
    return Loaded(
        loaded.wanted, raw, loaded.sheets, loaded.columns, loaded.rows, loaded.other_columns, loaded.other_rows
    )


def _read(wanted: Wanted, report: Report) -> Loaded:
    first = wanted.first.read(report)
    raw, second = first.raw, wanted.second
    if second is None:
        return Loaded(wanted, raw, first.sheets, raw.columns, len(raw))
    other = second.read(report).raw
    report(0.95, "Joining the tables by their ids")
    joined = join_tables(raw, other, id_column=wanted.id_column, other_column=wanted.other_column)
    return Loaded(wanted, joined, first.sheets, raw.columns, len(raw), other.columns, len(other))
