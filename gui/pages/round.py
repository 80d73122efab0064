"""The Round page: a list that does not change, and cells to put the results into."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from assaypilot.engine.campaign.state import RecordReport, Round
from assaypilot.engine.campaign.words import joined
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.plates.layout import Layout
from assaypilot.engine.progress import Report
from assaypilot.gui.models.log import local_time
from assaypilot.gui.models.round import RoundModel, result_key
from assaypilot.gui.pages.base import Page, side_panel, with_side
from assaypilot.gui.pages.preview import Preview
from assaypilot.gui.pages.round_panel import RoundPanel
from assaypilot.gui.pages.round_values import RoundValues
from assaypilot.gui.pasting import Intended, intend_file, intend_paste
from assaypilot.gui.questions import Surprise, surprises
from assaypilot.gui.session import Session, View
from assaypilot.gui.widgets.round_table import RoundTable
from assaypilot.gui.widgets.structures import Structures
from assaypilot.gui.widgets.table import as_clipboard
from assaypilot.gui.widgets.text import button, label

__all__ = ["RoundPage"]


class RoundPage(Page):
    """The open round, else the latest one."""

    table: RoundTable

    work_list = Signal()
    read_file = Signal()
    close_round = Signal()
    plan = Signal()

    def __init__(self, session: Session, structures: Structures) -> None:
        super().__init__(session, "Round")
        self.model = RoundModel(self)
        self.table = RoundTable(self.model, structures)
        self.table.pasted.connect(self.paste)
        self.table.chosen.connect(lambda _: self._explain())
        self.table.selectionModel().currentColumnChanged.connect(lambda now, before: self._explain())
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list = QWidget()
        column = QVBoxLayout(self.list)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(10)
        column.addLayout(self._tools())
        column.addWidget(self.table, 1)
        self.preview = Preview()
        self.preview.accepted.connect(self._write)
        self.preview.cancelled.connect(self._leave_preview)
        self.none = self._empty_page()
        self.stack = QStackedWidget()
        for page in (self.list, self.preview, self.none):
            self.stack.addWidget(page)
        self.column.addWidget(self.stack, 1)
        side, panel = side_panel()
        self.panel = RoundPanel(structures)
        self.panel.keep.connect(self._keep)
        self.panel.exclude.connect(self.exclude)
        self.panel.correct.connect(self.correct)
        self.values = RoundValues(self)
        """What becomes of what is typed."""
        self.model.entered.connect(self.values.enter)
        self.table.customContextMenuRequested.connect(self.values.menu)
        self.panel.suggested.connect(self.values.enter)
        self.panel.dismissed.connect(self.values.forget)
        panel.addLayout(self.panel)
        self.sides = with_side(self, side)
        self.side = side
        self.view: View | None = None
        self._kept: set[int] = set()
        self.plates: Callable[[View, Round], Layout | None] = lambda view, shown: None
        """Where the measurements of a round stand, when that is known."""

    def _tools(self) -> QHBoxLayout:
        tools = QHBoxLayout()
        tools.setSpacing(8)
        self.work_button = button(
            "&Work list…", tip="The round for the lab: a table with empty cells or a page to print, on plates if wanted"
        )
        self.read_button = button(
            "R&ead results…", tip="Reads results from a table or a workbook; shows them before they are kept"
        )
        self.paste_button = button("Paste", tip="Pastes values from a spreadsheet (Ctrl+V): onto the selected line and "
                                   "those below it, or ids with values. Shown before they are kept")  # fmt: skip
        self.practice_button = button("&Measure with the practice assay", "go", "Fills the round with simulated values")
        self.back = label("", "muted")
        self.close_button = button("Clo&se round…")
        self.work_button.clicked.connect(self.work_list)
        self.read_button.clicked.connect(self.read_file)
        self.paste_button.clicked.connect(self.paste)
        self.practice_button.clicked.connect(lambda: self.session.measure_practice())
        self.close_button.clicked.connect(self.close_round)
        for made in (self.work_button, self.read_button, self.paste_button, self.practice_button):
            tools.addWidget(made)
        tools.addStretch(1)
        tools.addWidget(self.back)
        tools.addWidget(self.close_button)
        return tools

    def _empty_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.addStretch(2)
        self.none_heading = label("No round has been planned yet", "title")
        self.none_heading.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.none_words = label("", "muted", wrap=True)
        self.none_words.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.plan_button = button("Plan the first round", "go")
        self.plan_button.clicked.connect(self.plan)
        column.addWidget(self.none_heading)
        column.addWidget(self.none_words)
        column.addSpacing(8)
        column.addWidget(self.plan_button, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(3)
        return page

    # ------------------------------------------------------------------ what the window calls

    def refresh(self, view: View, *, opened: bool) -> None:
        """Nothing; shows a campaign as it is now."""
        self.view = view
        status = view.status
        shown = view.round
        if opened:
            self._kept.clear()
            self.panel.hide_wrong()
            self.stack.setCurrentWidget(self.list)
        self.side.setVisible(shown is not None)
        if shown is None:
            self.title.setText("Round")
            self.subtitle.setText("")
            self.none_words.setText(
                f"A round is a fixed list of compounds to measure, at most {status.settings.per_round:,} measurements."
            )
            self.plan_button.setVisible(not view.read_only)
            self.stack.setCurrentWidget(self.none)
            self.model.round = None
            return
        if self.stack.currentWidget() is self.none:
            self.stack.setCurrentWidget(self.list)
        before = self.model.round
        line, place = self.table.current_row(), self.table.current_place
        self.model.show(status, shown, editable=not view.read_only, layout=self.plates(view, shown))
        if before is None or before.number != shown.number or opened:
            self.panel.hide_wrong()
            self._to_first(self.model.first_empty() or 0)
        elif line is not None and self.table.current_row() is None:  # wells came or went
            self.table.choose(line, result_key(place))
        self.title.setText(f"{'Confirmation round' if shown.confirmation else 'Round'} {shown.number}")
        self.subtitle.setText(self._subtitle(view))
        self._refresh_tools(view)
        self._explain()
        self.panel.show_progress(view, self.model)
        self._ask()

    def _to_first(self, line: int) -> None:
        """Nothing; makes the first cell of a line that waits for a result the current one."""
        self.table.choose(line, result_key(self.model.first_place(line) or 0))

    def copy(self) -> None:
        """Nothing; copies the selected lines, or the whole list."""
        if self.view is None or self.model.round is None:
            return
        self.table.copy()

    def copy_work_list(self) -> None:
        """Nothing; copies the list for the lab, one row per measurement."""
        if self.view is None or self.model.round is None:
            return
        from assaypilot.engine.export.work_list import work_list

        sheet = work_list(self.view.status, self.model.round)
        rows = [["" if cell is None else str(cell) for cell in row] for row in sheet.rows]
        QGuiApplication.clipboard().setText(as_clipboard([list(sheet.header), *rows]))
        self.session.message.emit(f"{len(rows):,} rows of the work list are on the clipboard.")

    def focus_first_empty(self) -> None:
        """Nothing; goes to the first line that waits for a result."""
        line = self.model.first_empty()
        if line is not None:
            self.table.edit_line(line)

    def paste(self) -> None:
        """Nothing; shows what the clipboard would write into the round."""
        view, shown = self.view, self.model.round
        if view is None or shown is None or not self.model.editable:
            self.session.failed.emit(
                AssayPilotError("there is no open round to paste into", mend="Plan the next round first.")
            )
            return
        text = QGuiApplication.clipboard().text()
        row = self.table.currentIndex().row()
        lines = [int(line) for line in self.model.rows[max(row, 0) :]]
        place = self.table.current_place

        def work(report: Report) -> Intended:
            return intend_paste(text, view.status, shown, lines, place, report=report)

        self.session.read("Reading the clipboard", work, self.show_preview)

    def read(self, path: Path) -> None:
        """Nothing; shows what a results file would write."""
        view = self.view
        if view is None:
            return
        shown = self.model.round

        def work(report: Report) -> Intended:
            from assaypilot.engine.tables.raw import read_table

            return intend_file(read_table(path, report), view.status, shown, report)

        self.session.read(f"Reading {path.name}", work, self.show_preview)

    def show_preview(self, intended: Intended) -> None:
        """Nothing; shows what would be written in place of the list."""
        if self.view is not None and self.view.read_only:
            self.session.failed.emit(AssayPilotError("this window is read-only", mend="Use the window that has it."))
            return
        if not intended.rows:
            self.session.failed.emit(
                AssayPilotError("no value was found", mend="Copy or save the column with the results, too.")
            )
            return
        self.stack.setCurrentWidget(self.preview)
        self.preview.show_intended(intended)

    def exclude(self, number: int) -> None:
        """Nothing; asks why a measurement is to be left out, and leaves it out."""
        self.values.exclude(number)

    def correct(self, number: int, text: str = "") -> None:
        """Nothing; asks for the right value and why, and corrects a measurement."""
        self.values.correct(number, text)

    # ------------------------------------------------------------------ what is read in

    def _write(self, intended: Intended, *, again: bool = False) -> None:
        def failed(error: Exception) -> None:
            if not isinstance(error, AssayPilotError):
                return
            if not again and "--again" in (error.mend or ""):
                self.session.question.emit(error, "Count them a second time", lambda: self._write(intended, again=True))
            else:
                self.session.failed.emit(error)

        self.session.record(intended.results, self._written, source=intended.source, failed=failed, again=again)

    def _written(self, report: RecordReport) -> None:
        self._leave_preview()
        words = f"{report.accepted:,} value{'' if report.accepted == 1 else 's'} saved"
        if report.duplicates:
            words += f", {report.duplicates:,} were there already"
        if report.unplanned:
            words += f"; {report.unplanned:,} nobody asked for (used in estimates, not in decisions)"
        self.session.message.emit(f"{words}.")

    def _leave_preview(self) -> None:
        self.stack.setCurrentWidget(self.list if self.model.round is not None else self.none)
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ what is shown

    def _subtitle(self, view: View) -> str:
        shown = self.model.round
        if shown is None:
            return ""
        parts = [
            f"issued {local_time(shown.issued)}",
            f"{shown.measurements:,} measurements of {len(shown.items):,} compounds"
            + (
                f" ({joined([endpoint.name for endpoint in self.model.endpoints])})" if len(shown.endpoints) > 1 else ""
            ),
        ]
        if shown.state == "open":
            parts.append("the list will not change")
        elif shown.closed:
            parts.append(f"closed {local_time(shown.closed)}")
        return " · ".join(parts)

    def _refresh_tools(self, view: View) -> None:
        shown = self.model.round
        if shown is None:
            return
        open_ = shown.state == "open" and not view.read_only
        for made in (self.read_button, self.paste_button, self.close_button):
            made.setVisible(open_)
        self.practice_button.setVisible(open_ and view.practice and not shown.came)
        self.back.setText(f"{shown.came:,} of {shown.measurements:,} back")

    def _explain(self) -> None:
        if self.view is None:
            return
        line = self.table.current_row()
        self.panel.show_line(self.view, self.model, line)
        place = self.table.current_place
        wrong = None if line is None else self.model.wrong(line, place)
        if line is not None and wrong is not None:
            self.panel.show_wrong(line, *wrong, place)

    def _ask(self) -> None:
        view, shown = self.view, self.model.round
        if view is None or shown is None:
            return
        found = [one for one in surprises(view.status, shown) if one.measurement.number not in self._kept]
        open_ = shown.state == "open"
        self.panel.show_surprises(view, found if open_ else [], editable=self.model.editable)

    def _keep(self, surprise: Surprise) -> None:
        self._kept.add(surprise.measurement.number)
        self._ask()
