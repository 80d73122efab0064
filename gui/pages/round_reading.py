"""Results that come in many at once, pasted or from a file: shown first, then written; what is wrong keeps its cell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from assaypilot.engine.campaign.phrases import many
from assaypilot.engine.campaign.results.bounds import what_they_would_do
from assaypilot.engine.campaign.state import RecordReport
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Report

from ..entry import user_decimal
from ..pasting import Intended, intend_file, intend_paste

if TYPE_CHECKING:
    from .round import RoundPage

__all__ = ["RoundReading"]


class RoundReading:
    """The preview of a page, from the clipboard or a file to the campaign."""

    def __init__(self, page: RoundPage) -> None:
        self._page = page
        page.preview.accepted.connect(self._write)
        page.preview.cancelled.connect(self.leave)

    def paste(self) -> None:
        """Show what the clipboard would write into the round."""
        page = self._page
        view, shown = page.view, page.model.round
        if view is None or shown is None or not page.model.editable:
            closed = shown is not None and shown.state == "closed" and page.writable
            mend = "Press Enter late results first." if closed else "Plan the next round first."
            page.session.failed.emit(AssayPilotError("there is no open round to paste into", mend=mend))
            return
        page.session.begun.emit()
        text = QGuiApplication.clipboard().text()
        row = page.table.currentIndex().row()
        lines = [int(line) for line in page.model.rows[max(row, 0) :]]
        place, decimal = page.table.current_place, user_decimal()

        def work(report: Report) -> Intended:
            return intend_paste(text, view.status, shown, lines, place, report=report, decimal=decimal)

        page.session.read("Reading the clipboard", work, self.show)

    def read(self, path: Path) -> None:
        """Show what a results file would write."""
        page = self._page
        view, shown = page.view, page.model.round
        if view is None:
            return
        page.session.begun.emit()

        def work(report: Report) -> Intended:
            from assaypilot.engine.tables.opening import read_table

            return intend_file(read_table(path, report), view.status, shown, report)

        page.session.read(f"Reading {path.name}", work, self.show)

    def show(self, intended: Intended) -> None:
        """Show what would be written in place of the list."""
        page = self._page
        if page.view is not None and page.view.read_only:
            page.session.failed.emit(AssayPilotError("this window is read-only", mend="Use the window that has it."))
            return
        if not intended.rows:
            page.session.failed.emit(
                AssayPilotError("no value was found", mend="Copy or save the column with the results, too.")
            )
            return
        if page.view is not None:
            bounds = sum(result.relation != "=" for result in intended.results)
            now = page.view.status
            told = what_they_would_do(bounds, counted=now.bounds_counted)
            intended = replace(intended, warnings=(*intended.warnings, *([told] if told else [])))
        page.stack.setCurrentWidget(page.preview)
        page.preview.show_intended(intended)

    def leave(self) -> None:
        """Show the list again."""
        page = self._page
        page.stack.setCurrentWidget(page.list if page.model.round is not None else page.none)
        page.table.setFocus(Qt.FocusReason.OtherFocusReason)

    # ------------------------------------------------------------------ inside

    def _write(self, intended: Intended, *, again: bool = False) -> None:
        page = self._page
        if not intended.results:
            self._mark(intended)
            self.leave()
            return

        def failed(error: Exception) -> None:
            if not isinstance(error, AssayPilotError):
                return
            if not again and "--again" in (error.mend or ""):
                page.session.question.emit(error, "Count them a second time", lambda: self._write(intended, again=True))
            else:
                page.session.failed.emit(error)

        page.session.record(
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
            words += f" beside {many(report.controls, 'control value')}"
        if report.duplicates:
            words += f", {report.duplicates:,} were there already"
        if report.unplanned:
            words += f"; {report.unplanned:,} nobody asked for (used in estimates, not in decisions)"
        marked = self._mark(intended)
        if marked:
            words += f"; {many(marked, 'cell')} marked, where a value could not be used"
        self._page.session.message.emit(f"{words}.")

    def _mark(self, intended: Intended) -> int:
        """How many values that cannot be used were put into their cells, with the reason."""
        page, model = self._page, self._page.model
        if model.round is None or not model.editable:
            return 0
        before: dict[tuple[int, int], int] = {}
        for one in intended.wrong:
            key = (one.line, one.place)
            at = model.free_cell(*key, before.get(key, 0))
            before[key] = before.get(key, 0) + 1
            page.values.refuse(one.line, one.place, one.text, one.reason, one.suggestion, at)
        if intended.wrong:
            first = intended.wrong[0]
            page.table.edit_line(first.line, first.place, model.free_cell(first.line, first.place))
        return len(intended.wrong)
