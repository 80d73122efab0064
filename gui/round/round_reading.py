"""Results read from a file or the clipboard, shown before they are taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.cautions import of_bounds, of_unplanned
from assaypilot.engine.campaign.state import RecordReport
from assaypilot.engine.errors import AlreadyEntered, AssayPilotError
from assaypilot.engine.system.progress import Report
from assaypilot.engine.text import many

from ..resources.theme import theme
from ..session.session import Session
from ..tables.rows import Column, RowsModel, words
from ..tables.table import Table
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import Callout, button, label
from .pasting import Intended, PastedRow, intend_file, intend_paste
from .round_rows import RoundModel
from .round_table import RoundTable
from .round_values import RoundValues

LONG = 60
"""Letters of a reason that fit a line."""


class PastedModel(RowsModel):
    """What will be written where, and what was rejected and why."""

    def show(self, rows: Sequence[PastedRow]) -> None:
        """Take over the list."""
        note = Column(
            "note",
            "Note",
            lambda row: ("rejected: " if rows[row].rejected else "") + rows[row].note,
            kind=lambda row: "wrong" if rows[row].rejected else None,
        )
        self.fill(
            [
                words("place", "From row", [one.place for one in rows], number=True),
                words("compound", "ID", [one.compound for one in rows]),
                words("text", "Value", [one.text for one in rows], number=True),
                words("becomes", "Kept as", [one.becomes for one in rows], number=True),
                note,
            ],
            len(rows),
        )


class Preview(QWidget):
    """Lines, warnings, Write and Cancel."""

    accepted = Signal(object)
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=10)
        self.title = label("", "heading")
        self.summary = label("", wrap=True)
        put(column, self.title, self.summary)
        self.warning = Callout()
        column.addWidget(self.warning)
        self.model = PastedModel(self)
        self.table = Table(self.model, name="What will be written")
        self.table.widths.stretch("note")
        column.addWidget(self.table, 1)
        row = row_of()
        self.cancel = button("Cancel", then=self.cancelled)
        self.write = button("&Write", "go", then=self._accept)
        put(row, STRETCH, self.cancel, self.write)
        column.addLayout(row)
        self.intended: Intended | None = None
        """What would be written."""

    def show_intended(self, intended: Intended) -> None:
        """Show what would be written."""
        self.intended = intended
        n, rejected, wrong = len(intended.results), intended.rejected, len(intended.wrong)
        self.title.setText(intended.title)
        words = f"{many(n, 'value')} will be written"
        if rejected:
            words += f"; {many(rejected, 'line')} rejected"
        if wrong:
            words += f", {wrong:,} kept for correction"
        if intended.pending:
            words += f"; {many(intended.pending, 'cell')} without a value yet (empty, n.d., NA)"
        self.summary.setText(words + ". Nothing has been written yet.")
        self.warning.setVisible(bool(intended.warnings))
        self.warning.show_text("Please look at", "\n".join(intended.warnings[:6]))
        long = LONG / theme().scale
        self.table.tall = any(len(one.note) > long or len(one.compound) > long // 2 for one in intended.rows)
        self.model.show(intended.rows)
        nothing = "&Mark them in the list" if wrong else "Nothing to write"
        self.write.setText(f"&Write {many(n, 'value')}" if n else nothing)
        self.write.setEnabled(n + wrong > 0)
        (self.write if n + wrong else self.cancel).setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape cancels, Enter writes."""
        if event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.write.isEnabled():
            (self.cancelled.emit if self.cancel.hasFocus() else self._accept)()
        else:
            super().keyPressEvent(event)

    def _accept(self) -> None:
        if self.intended is not None and (self.intended.results or self.intended.wrong):
            self.accepted.emit(self.intended)


class RoundReading:
    """The preview of a page, from the clipboard or a file to the campaign."""

    def __init__(
        self, session: Session, table: RoundTable, model: RoundModel, values: RoundValues, preview: Preview,
        turn: Callable[[QWidget], None],
    ) -> None:  # fmt: skip
        """``turn`` shows the preview in place of the list, or the list again."""
        self._session, self._table, self._model, self._values = session, table, model, values
        self._preview, self._turn = preview, turn
        preview.accepted.connect(self._write)
        preview.cancelled.connect(self.leave)

    def paste(self) -> None:
        """Show what the clipboard would write into the round."""
        model, table, session = self._model, self._table, self._session
        view, shown = model.view, model.round
        if view is None or shown is None or not model.editable:
            mend = "Plan the next round first."
            session.failed.emit(AssayPilotError("there is no round to paste into", mend=mend))
            return
        session.begun.emit()
        text = QGuiApplication.clipboard().text()
        row = table.currentIndex().row()
        lines = [int(line) for line in model.rows[max(row, 0) :]]
        place = table.current_cell[0]

        def work(report: Report) -> Intended:
            return intend_paste(text, view.status, shown, lines, place, report=report)

        session.read("Reading the clipboard", work, self.show)

    def read(self, path: Path) -> None:
        """Show what a results file would write."""
        view, shown = self._model.view, self._model.round
        if view is None:
            return
        self._session.begun.emit()

        def work(report: Report) -> Intended:
            from assaypilot.engine.tables.opening import read_table

            return intend_file(read_table(path, report), view.status, shown, report)

        self._session.read(f"Reading {path.name}", work, self.show)

    def show(self, intended: Intended) -> None:
        """Show what would be written in place of the list."""
        view, failed = self._model.view, self._session.failed
        if view is not None and view.read_only:
            failed.emit(AssayPilotError("this window is read-only", mend="Use the window that has it."))
            return
        if not intended.rows:
            failed.emit(AssayPilotError("no value was found", mend="Copy or save the column with the results, too."))
            return
        if view is not None:
            bounds = sum(result.relation != "=" for result in intended.results)
            if bounds:
                does = of_bounds(bounds, calibrated=view.status.guarantee.calibrated)
                note = f"{many(bounds, 'value')} known only as a bound: {does}."
                intended = replace(intended, warnings=(*intended.warnings, note))
        self._turn(self._preview)
        self._preview.show_intended(intended)

    def leave(self) -> None:
        """Show the list again."""
        self._turn(self._table)
        self._table.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ inside

    def _write(self, intended: Intended, *, again: bool = False) -> None:
        session = self._session
        if not intended.results:
            self._mark(intended)
            self.leave()
            return

        def failed(error: Exception) -> None:
            if not isinstance(error, AssayPilotError):
                return
            if not again and isinstance(error, AlreadyEntered):
                session.question.emit(error, "Count them a second time", lambda: self._write(intended, again=True))
            else:
                session.failed.emit(error)

        session.record(
            intended.results,
            lambda report: self._written(report, intended),
            source=intended.source,
            failed=failed,
            again=again,
        )

    def _written(self, report: RecordReport, intended: Intended) -> None:
        self.leave()
        words = f"{many(report.accepted, 'value')} saved"
        if report.controls:
            words += f", with {many(report.controls, 'control value')}"
        if report.duplicates:
            words += f", {report.duplicates:,} were there already"
        if report.unplanned:
            view = self._model.view
            does = of_unplanned(calibrated=view is not None and view.status.guarantee.calibrated)
            words += f"; {report.unplanned:,} not requested ({does})"
        marked = self._mark(intended)
        if marked:
            words += f"; {many(marked, 'cell')} marked, where a value could not be used"
        self._session.message.emit(f"{words}.")

    def _mark(self, intended: Intended) -> int:
        """How many values that cannot be used were put into their cells, with the reason."""
        model = self._model
        if model.round is None or not model.editable:
            return 0
        before: dict[tuple[int, int], int] = {}
        for one in intended.wrong:
            key = (one.line, one.place)
            at = model.free_cell(*key, before.get(key, 0))
            before[key] = before.get(key, 0) + 1
            self._values.refuse(one.line, one.place, one.text, one.reason, one.suggestion, at)
        if intended.wrong:
            first = intended.wrong[0]
            self._table.edit_line(first.line, first.place, model.free_cell(first.line, first.place))
        return len(intended.wrong)
