"""History: every entry of the campaign's log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtGui import QGuiApplication, QShowEvent

from assaypilot.engine.campaign.cautions import LogEntry

from ..runtime.tasks import single_shot
from ..session.session import Session
from ..session.view import View
from ..tables.rows import RowsModel, numbers, words
from ..tables.table import Table
from ..widgets.inputs import FilterBox
from ..widgets.layout import put, row_of
from ..widgets.text import button, label
from ..window.page import Page

if TYPE_CHECKING:
    from assaypilot.engine.campaign.file.store import Verification


def local_time(utc: str) -> str:
    """Return a time of the log as the clock on the wall shows it, to the minute."""
    try:
        return datetime.fromisoformat(utc.replace("Z", "+00:00")).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError, OSError):  # Windows knows no local time before 1970
        return utc


class LogModel(RowsModel):
    """One row per event, the latest first."""

    def show(self, entries: Sequence[LogEntry]) -> None:
        """Take over the log."""
        newest = list(reversed(entries))
        columns = [
            numbers("sequence", "#", np.array([one.sequence for one in newest], dtype=np.int64), ".0f"),
            words("time", "Time", [local_time(one.time) for one in newest]),
            words("author", "Who", [one.author for one in newest]),
            words("text", "What", [one.text for one in newest]),
        ]
        self.fill(columns, len(newest))


class HistoryPage(Page):
    """The log, its summary, and whether it is intact."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "History")
        self.setLayout(self.column)
        tools = row_of(spacing=10)
        self.filter = FilterBox("Filter: any word", "Filter the history")
        self.filter.narrowed.connect(self._narrow)
        self.check = button(
            "Verif&y the file",
            tip="Checks every event and the head of the log",
            then=lambda: session.verify(self._verified),
        )
        self.copy_head = button("&Copy head", tip="The head says which state of the log this is", then=self._copy_head)
        put(tools, (self.filter, 1), self.copy_head, self.check)
        self.column.addLayout(tools)
        self.model = LogModel(self)
        self.table = Table(self.model, name="History")
        self.table.widths.stretch("text")
        self.model.later = session.arrange
        self.table.message.connect(session.message)
        self.arrangement = self.table.arrange(fixed=("text",))
        self.column.addWidget(self.table, 1)
        self.head = label("", "muted", wrap=True, selectable=True)
        self.column.addWidget(self.head)
        self._fresh = False
        self._soon = single_shot(self, 0, self._read)
        """A command that shows another page, as Plan does, leaves this one before it reads the log."""
        self._other = True
        """Whether another campaign was opened since the log was read."""
        self._head = ""

    def refresh(self, view: View, *, opened: bool) -> None:
        """Read the log again when the page is seen."""
        if opened:
            self.filter.setText("")
            self._other = True
        if view.status.head != self._head:
            self._head, self._fresh = view.status.head, False
        self.subtitle.setText(f"{view.status.events:,} events; nothing is ever erased")
        self.head.setText(f"Head {view.status.head}")
        self._soon.start()

    def forget(self) -> None:
        """Show no log, as before the first one."""
        self.model.fill([], 0)
        self._fresh = False  # a copy of the campaign before has the same head

    def showEvent(self, event: QShowEvent) -> None:
        """Read the log when the page is first seen."""
        super().showEvent(event)
        self._read()

    def arrange(self, values: dict[str, Any]) -> None:
        """Arrange the columns as they were, and sort by the one they were sorted by."""
        self.arrangement.use(values)

    @property
    def layout_values(self) -> dict[str, Any]:
        """How the table is arranged, to be remembered with the campaign."""
        return self.arrangement.values()

    def copy(self) -> None:
        """Copy the selected rows."""
        self.table.copy()

    def _read(self) -> None:
        if self.isVisible() and not self._fresh and self.session.view is not None:
            self._fresh = True
            self.session.history(self._show)

    def _show(self, entries: tuple[LogEntry, ...]) -> None:
        first, self._other = self._other, False
        self.model.show(entries)
        if first:
            self.table.put_in_order(self.arrangement.order)
        self._narrow(self.filter.text())

    def _narrow(self, text: str) -> None:
        self.model.only(self.model.holding(text))

    def _copy_head(self) -> None:
        QGuiApplication.clipboard().setText(self._head)
        self.session.message.emit("The head is on the clipboard.")

    def _verified(self, found: Verification) -> None:
        if found.ok:
            self.session.message.emit(f"The file is consistent: {found.events:,} events, head {found.head[:12]}.")
            return
        from assaypilot.engine.errors import AssayPilotError

        first = found.problems[0]
        where = f"event {first.event}: " if first.event else ""
        more = f" (and {len(found.problems) - 1} more)" if len(found.problems) > 1 else ""
        self.session.failed.emit(
            AssayPilotError(f"the file is damaged: {where}{first.text}{more}", mend="Restore a copy from before.")
        )
