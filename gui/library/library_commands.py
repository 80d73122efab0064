"""Commands that change the library: more compounds, and stock."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog, QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report
from assaypilot.engine.text import many

from ..goal.add_endpoint import Asking
from ..widgets.file_dialogs import ask_for_place, file_name
from ..widgets.layout import show_dialog
from ..widgets.text import label

if TYPE_CHECKING:
    from assaypilot.engine.campaign.issued_rounds import Source
    from assaypilot.engine.campaign.state import Status
    from assaypilot.engine.domain.library import Library
    from assaypilot.engine.domain.stock import StockLine
    from assaypilot.engine.tables.join import MoreCompounds

    from ..session.session import Session
    from ..window.exporting import Exporting
    from ..window.page import Desk


NAMED_ROWS = 5
"""Rows that cannot be used that are named, each with the reason."""


@dataclass(frozen=True, slots=True)
class More:
    """What a table adds."""

    found: MoreCompounds
    source: Source


def read_table_of(path: Path, status: Status) -> Callable[[Report], More]:
    """Return the work that reads a table of compounds for a campaign; AssayPilotError where no row is usable."""

    def work(report: Report) -> More:
        from assaypilot.engine.campaign.issued_rounds import Source
        from assaypilot.engine.tables.join import read_more
        from assaypilot.engine.tables.opening import read_table
        from assaypilot.engine.tables.options import TableOptions

        raw = read_table(path, report)
        found = read_more(raw, status.library, TableOptions(), report)
        return More(found, Source(raw.file or "", raw.digest))

    return work


class MoreDialog(Asking):
    """What a table of compounds adds, its unusable rows, and the consequences of adding it."""

    HIGH = 15

    def __init__(
        self, session: Session, status: Status, name: str, more: More, locked: str, parent: QWidget | None
    ) -> None:
        super().__init__(session, status, "Add compounds", "&Add", lambda: more, locked, parent)
        self.table = label(_in_words(name, more, status), wrap=True, selectable=True)
        self.body.addWidget(self.table)
        self._ask(lambda campaign: campaign.consequences_of_adding(more.found.library))


def _in_words(name: str, more: More, status: Status) -> str:
    """Return a summary of the rows read, and the unusable ones."""
    there = frozenset(status.library.ids)
    known = sum(own in there for own in more.found.library.ids)
    lines = [f"{name} holds {many(len(more.found.library), 'compound')}."]
    if known:
        lines[0] += f" {known:,} of them {'are' if known > 1 else 'is'} in the campaign already."
    refused = more.found.not_used
    lines += [f"Row {one.row} is not used: {one.reason}." for one in refused[:NAMED_ROWS]]
    if len(refused) > NAMED_ROWS:
        lines.append(f"{len(refused) - NAMED_ROWS:,} more rows are not used.")
    return "\n".join(lines)


class Adding:
    """From the menu and the Goal page."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self.dialog: MoreDialog | None = None
        """The one that was opened last."""

    def ask(self) -> None:
        """Ask for a table of compounds and read it."""
        self._desk.ask_for_table("Add compounds", self.read)

    def read(self, path: Path) -> None:
        """Read a table, show the consequences of adding its compounds, and ask."""
        session = self._desk.session
        if session.view is None:
            return
        status = session.view.status

        def landed(more: More) -> None:
            view = session.view
            if view is None or view.status.head != status.head:
                session.message.emit(f"The campaign changed while {path.name} was read. Read it once more.")
                return
            made = MoreDialog(session, view.status, path.name, more, view.locked, self._desk.parent)
            made.answered.connect(self._take_in)
            self.dialog = made
            show_dialog(made)

        session.read(f"Reading {path.name}", read_table_of(path, status), landed)

    def _take_in(self, more: More) -> None:
        session = self._desk.session
        before = 0 if session.view is None else len(session.view.status.library)

        def done() -> None:
            added = 0 if session.view is None else len(session.view.status.library) - before
            session.message.emit(f"{many(added, 'compound')} added. Undo takes it back.")

        session.add_compounds(more.found.library, more.source, done)


NAMED_LINES = 3
"""Lines that could not be used that a message names."""


class Stocking:
    """The stock, read from a list; the compounds to make, written as one."""

    def __init__(self, desk: Desk, exporting: Exporting) -> None:
        self._desk, self._exporting = desk, exporting
        self.asking: QFileDialog | None = None
        """The latest dialog for a place to write to."""

    def ask(self) -> None:
        """Ask for a stock list and record it."""
        self._desk.ask_for_table("Read a stock list", self.read)

    def read(self, path: Path) -> None:
        """Record a stock list, and show its unusable lines."""
        session, view = self._desk.session, self._desk.session.view
        if view is None:
            return
        library, terms = view.status.library, None if view.status.stock is None else view.status.stock.terms
        days = 7.0 if terms is None or terms.round_days is None else terms.round_days

        def landed(found: tuple[list[StockLine], list[str], Source]) -> None:
            from assaypilot.engine.domain.stock import NOTHING_STATED

            lines, not_used, source = found

            def done(changed: bool) -> None:
                message = f"Stock of {many(len(lines), 'compound')} read from {path.name}"
                message += "." if changed else "; nothing of it is new."
                if not_used:
                    named = " ".join(not_used[:NAMED_LINES])
                    more = f" And {len(not_used) - NAMED_LINES:,} more." if len(not_used) > NAMED_LINES else ""
                    message += f" {many(len(not_used), 'line')} could not be used: {named}{more}"
                session.message.emit(message)

            session.set_stock(lines, NOTHING_STATED, source, done)

        session.read(f"Reading {path.name}", lambda report: read_list(path, library, days, report), landed)

    def ask_where(self) -> None:
        """Ask for the place of the order list, and write it."""
        desk, view = self._desk, self._desk.session.view
        if view is None or view.status.stock is None:
            return
        if not view.status.stock.orders:
            desk.session.message.emit("Nothing to order: all that is planned is in stock.")
            return
        proposed = desk.settings.folder_for("work list") / f"{file_name(view.path.stem)} orders.csv"
        self.asking = ask_for_place(
            desk.parent, "Save the order list", proposed, "Table", ".csv", self.to, desk.session.failed.emit
        )

    def to(self, path: Path) -> None:
        """Write the order list."""
        view = self._desk.session.view
        if view is None:
            return
        status = view.status

        def work(report: Report) -> int:
            from assaypilot.engine.export.work_list import write_order_list

            return write_order_list(path, status)

        def written(n: int) -> None:
            self._exporting.written(path, f"Order list written to {path.name}: {many(n, 'compound')}.")

        self._exporting.start(f"Writing {path.name}", path, work, written, self.ask_where)


def read_list(
    path: Path, library: Library, round_days: float, report: Report
) -> tuple[list[StockLine], list[str], Source]:
    """Return the lines of a stock list, its problems as sentences, and its source.

    AssayPilotError when no line is usable.
    """
    from assaypilot.engine.campaign.issued_rounds import Source
    from assaypilot.engine.domain.stock import IN_STOCK, TO_MAKE
    from assaypilot.engine.tables.opening import read_table
    from assaypilot.engine.tables.stock import read_stock_list

    raw = read_table(path, report)
    found = read_stock_list(raw, library, {}, round_days=round_days)
    problems = []
    for problem in found.not_used:
        places = [f"row {problem.row}" if problem.row else "", problem.column or ""]
        problems.append(f"{', '.join(filter(None, places))}: {problem.reason}.")
    lines = []
    for line in found.lines:
        if not library.measurable[line.compound] and line.state in (IN_STOCK, TO_MAKE):
            problems.append(f"{library.ids[line.compound]} was taken in as a compound that cannot be measured.")
        else:
            lines.append(line)
    if not lines:
        raise AssayPilotError(
            problems[0].rstrip(".") if problems else "nothing is filled in", file=raw.file, mend="Correct the list."
        )
    return lines, problems, Source(raw.file or "", raw.digest)
