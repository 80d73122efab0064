"""The wizard for a new campaign: table, columns, goal; the file is written off the window's thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from assaypilot.engine.campaign.state import Source
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.raw import RawTable
from assaypilot.gui.dialogs.columns_step import ColumnsStep
from assaypilot.gui.dialogs.goal_step import GoalStep
from assaypilot.gui.dialogs.steps import Step
from assaypilot.gui.dialogs.table_step import TableStep
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.widgets.message_bar import MessageBar
from assaypilot.gui.widgets.text import button, label, polish

__all__ = ["NewCampaign"]

TITLES = ("Table", "Columns", "Goal")


class NewCampaign(QDialog):
    """Three steps, Back and Next; the last one writes the campaign."""

    created = Signal()

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self.setWindowTitle("New campaign")
        self.resize(1120, 740)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        top = QHBoxLayout()
        top.setContentsMargins(24, 18, 24, 12)
        top.setSpacing(22)
        self._marks: list[QLabel] = []
        for place, title in enumerate(TITLES, start=1):
            mark = label(f"{place}  {title}", "muted")
            self._marks.append(mark)
            top.addWidget(mark)
        top.addStretch(1)
        column.addLayout(top)
        self.messages = MessageBar()
        self.messages.cancelled.connect(lambda: session.tasks.cancel())
        session.tasks.progress.connect(self.messages.progress)
        column.addWidget(self.messages)
        self.table_step = TableStep(session, settings)
        self.columns_step = ColumnsStep(session, settings)
        self.goal_step = GoalStep(session, settings)
        self.steps: tuple[Step, ...] = (self.table_step, self.columns_step, self.goal_step)
        self.stack = QStackedWidget()
        for step in self.steps:
            holder = QWidget()
            inner = QVBoxLayout(holder)
            inner.setContentsMargins(24, 8, 24, 8)
            inner.addWidget(step)
            self.stack.addWidget(holder)
            step.changed.connect(self._refresh)
        column.addWidget(self.stack, 1)
        bottom = QHBoxLayout()
        bottom.setContentsMargins(24, 12, 24, 18)
        bottom.setSpacing(10)
        self.cancel = button("Cancel")
        self.back = button("&Back")
        self.next = button("&Next", "go")
        self.next.setDefault(True)
        self.next.setMinimumWidth(120)
        self.cancel.clicked.connect(self.reject)
        self.back.clicked.connect(lambda: self._go(self.stack.currentIndex() - 1))
        self.next.clicked.connect(self._next)
        bottom.addWidget(self.cancel)
        bottom.addStretch(1)
        bottom.addWidget(self.back)
        bottom.addWidget(self.next)
        column.addLayout(bottom)
        self.table_step.read.connect(self._table_read)
        self.columns_step.checked.connect(self.goal_step.show_checked)
        self.columns_step.not_added.connect(self.goal_step.refuse_endpoint)
        self.goal_step.new_endpoint.connect(self.columns_step.add_endpoint)
        self._creating = False
        self._go(0)

    def start_with(self, path: Path) -> None:
        """Nothing; reads a table that was dropped or given, and shows its columns."""
        self.table_step.load(path)

    @property
    def step(self) -> int:
        """The step shown, from 0."""
        return self.stack.currentIndex()

    def reject(self) -> None:
        """Nothing; closes without a campaign; what is being read never lands."""
        self.session.tasks.cancel()
        super().reject()

    def done(self, result: int) -> None:
        """Nothing; lets go of the session when it closes."""
        self.session.tasks.progress.disconnect(self.messages.progress)
        self.columns_step.halt()
        self.goal_step.halt()
        super().done(result)

    def _table_read(self, raw: RawTable) -> None:
        self.goal_step.from_file(raw.file)
        self.columns_step.show_table(raw)

    def _next(self) -> None:
        if not self.steps[self.step].complete:
            return
        if self.step < len(self.steps) - 1:
            self._go(self.step + 1)
        else:
            self._create()

    def _go(self, step: int) -> None:
        self.stack.setCurrentIndex(step)
        for place, mark in enumerate(self._marks):
            polish(mark, role="heading" if place == step else "muted")
        self._refresh()
        first = (self.table_step.choose, self.columns_step.id, self.goal_step.goal)[step]
        (self.next if self.steps[step].complete and step < 2 else first).setFocus(Qt.FocusReason.OtherFocusReason)

    def _refresh(self) -> None:
        last = self.step == len(self.steps) - 1
        self.back.setEnabled(self.step > 0 and not self._creating)
        self.next.setText("&Create campaign" if last else "&Next")
        self.next.setEnabled(self.steps[self.step].complete and not self._creating)

    def _create(self) -> None:
        checked, settings = self.columns_step.result, self.goal_step.campaign_settings
        raw = self.table_step.raw
        if checked is None or settings is None or raw is None:
            return
        arguments = {
            "library": checked.imported.library,
            "endpoints": self.goal_step.campaign_endpoints,
            "settings": settings,
            "name": self.goal_step.name.text or None,
            "history": checked.imported.history,
            "source": Source(raw.file or "pasted", raw.digest),
            "mapping": checked.mapping.as_json(),
            "warnings": checked.warnings,
        }
        self._creating = True
        self.goal_step.halt()
        self._refresh()
        self.columns_step.remember()
        self.session.create(self.goal_step.path, arguments, then=self._done, failed=self._failed)

    def _done(self) -> None:
        self.created.emit()
        self.accept()

    def _failed(self, error: Exception) -> None:
        self._creating = False
        self._refresh()
        if isinstance(error, AssayPilotError):
            self.messages.refuse(error)
