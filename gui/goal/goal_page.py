"""The Goal page: the goal, its forecast, and the effect of other settings."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.foresight import Foresight, foresee
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.text import many

from ..runtime.tasks import Latest, single_shot
from ..session.session import Session
from ..session.view import View
from ..widgets.inputs import Scrolled
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import Callout, button, error_words, label, polish
from ..window.page import Page
from .forecast_view import PICTURE, Forecasting, Outlooks, expected_words
from .goal_changes import ChangePanel, Ways
from .goal_form import TermsForm

PAUSE = 150
"""Milliseconds after the last key before the consequences of a change are computed."""
HIGHEST = 300
"""Pixels of the picture in a high window, at most."""
HINT = "Type other settings to see what they would change."


class GoalPage(Page):
    """Fields at the left with the consequences of changes; at the right their forecast."""

    expected = Signal(str, str)
    """The head of the log, and the forecast of the campaign at it, in a few words."""

    def __init__(self, session: Session) -> None:
        super().__init__(session, "Goal")
        self.state = Callout()
        self.form = TermsForm()
        self.form.changed.connect(self._typed)
        self.outlooks = Outlooks()
        self.outlooks.wanted.connect(self._again)
        self.hint = label(HINT, "muted", wrap=True)
        self.ways = Ways(session)
        self.change = ChangePanel()
        self.change.apply.connect(self._apply)
        self.change.leave.connect(self._leave)
        self.future = _headed("What it will take", self.outlooks)
        trial = row_of((_headed("Settings", self.form, self.hint, self.change), 2), (self.future, 3),
                       margins=(0, 6, 0, 0), spacing=24)  # fmt: skip
        whole = QWidget()
        whole.setObjectName("page")
        self.void = Callout()
        self.series = button(
            "Continue with the series model", "primary", tip=self.ways.series.toolTip(), then=self.ways.take_series
        )
        self.void.body.addWidget(self.series, 0, Qt.AlignmentFlag.AlignLeft)
        parts = column_of(self.void, self.state, holder=whole, margins=(0, 0, 8, 0), spacing=10)
        put(parts, trial, self.ways, STRETCH)
        self.column.addWidget(Scrolled(whole), 1)
        self.setLayout(self.column)
        self.ahead = Forecasting(session, self)
        """The forecast of the current settings."""
        self.ahead.known.connect(self._foreseen)
        self.ahead.refused.connect(self._unforeseen)
        self.other = Forecasting(session, self)
        """The forecast of the typed settings."""
        self.other.known.connect(self._tried)
        self.other.refused.connect(self._untried)
        self._pause = single_shot(self, PAUSE, self._ask_consequences)
        self._answer = Latest()
        """The consequences of the typed settings."""
        self._view: View | None = None

    @property
    def view(self) -> View:
        """The campaign shown."""
        assert self._view is not None
        return self._view

    # ------------------------------------------------------------------ calls of the window

    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign; typed settings stay unless it is another one."""
        fresh = opened or self._view is None or view.status.head != self._view.status.head
        self._view = view
        status = view.status
        self.ways.show_for(status)
        # Where nothing is guaranteed any more, the next step is shown next to the reason.
        void, there = not status.guarantee.holds, self.ways.series
        self.void.setVisible(void)
        self.series.setVisible(void and not there.isHidden())
        self.void.show_text("Nothing is guaranteed", status.guarantee.sentence)
        there.setVisible(not void and not there.isHidden())
        self._show_state(status)
        self.change.lock(f"{view.locked} Settings can be tried here, not applied." if view.locked else "")
        self.form.show_now(status, opened=opened)
        if fresh:
            self.ahead.stop()
            self.outlooks.show_now(None)
        if self.isVisible():
            self._look_ahead()
        self._typed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Let the picture grow with the window."""
        super().resizeEvent(event)
        self.outlooks.canvas.reserve(max(PICTURE, min(self.height() // 4, HIGHEST)), fixed=True)

    def forget(self) -> None:
        """Drop the requests about the previous campaign."""
        self._pause.stop()
        self._answer.drop()
        self.ahead.forget()
        self.other.forget()

    def stop(self) -> None:
        """Drop all requests and drawings: the window closes."""
        self.forget()
        self.outlooks.canvas.stop()

    def showEvent(self, event: QShowEvent) -> None:
        """Forecast the campaign when the page is seen."""
        super().showEvent(event)
        if self._view is not None:
            self._look_ahead()
            self._typed()

    def copy(self) -> None:
        """Copy the figures, for a spreadsheet."""
        QGuiApplication.clipboard().setText(self.outlooks.table())

    def first(self) -> QWidget:
        """Return the first field."""
        return self.form

    def look_for(self) -> None:
        """Go to the first field."""
        self.form.setFocus()

    # ------------------------------------------------------------------ state of the campaign

    def _show_state(self, status: Status) -> None:
        """Show that all is decided, or why a campaign stopped short; the strip has the numbers."""
        decided = status.finished and not status.counts["undecided"]
        self.state.setVisible(status.finished)
        if decided:
            rounds = sum(one.state == "closed" and not one.confirmation for one in status.rounds)
            self.state.show_text(f"Decided in {many(rounds, 'round')}", "")
        elif status.finished:
            self.state.show_text("Stopped before all was decided", status.statement)
        if self.state.objectName() != (kind := "card" if decided else "callout"):
            self.state.setObjectName(kind)
            polish(self.state)

    @property
    def _settled(self) -> bool:
        """Whether there is nothing to forecast."""
        status = self.view.status
        return status.finished and not status.counts["undecided"]

    # ------------------------------------------------------------------ forecast

    def _look_ahead(self) -> None:
        view = self.view
        if self._settled:
            self.ahead.stop()
            return
        path = view.path
        self.ahead.ask(view.status.head, lambda report: foresee(path, None, report))
        self._show_work()

    def _foreseen(self, found: Foresight) -> None:
        self.outlooks.show_now(found)
        self.expected.emit(self.view.status.head, expected_words(found))
        self._show_work()

    def _tried(self, found: Foresight) -> None:
        self.outlooks.show_tried(found, trying=True)
        self._show_work()

    def _unforeseen(self, error: Exception) -> None:
        self.outlooks.refuse_because(error)

    def _untried(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            self._unforeseen(error)
            return
        self.outlooks.show_tried(None, trying=False)
        self._show_work()

    def _again(self) -> None:
        self._look_ahead()
        self._typed()

    def _show_work(self) -> None:
        self.outlooks.work(self.ahead.busy or self.other.busy)

    # ------------------------------------------------------------------ other settings

    @property
    def _wanted(self) -> Change | None:
        """What is typed otherwise than it is now, where it can be used."""
        typed = None if self._view is None else self.form.read()
        return None if typed == Change() else typed

    def _typed(self) -> None:
        """Simulate the typed settings, and compute their consequences."""
        self._pause.stop()
        self._answer.drop()
        wanted = self._wanted
        self.hint.setVisible(not self.form.touched)
        self.future.setVisible(wanted is not None or self._view is None or not self._settled)
        if wanted is None:
            self.other.stop()
            self.outlooks.show_tried(None, trying=False)
            if self._view is not None and self.form.read() is None:
                self.change.refuse("Correct the highlighted field.")
            else:
                self.change.nothing()
            self._show_work()
            return
        status, path = self.view.status, self.view.path
        self.change.wait()
        self._pause.start()
        self.outlooks.show_tried(None, trying=True)
        if self.isVisible():
            self.other.ask((status.head, repr(wanted)), lambda report: foresee(path, wanted, report))
        self._show_work()

    def _ask_consequences(self) -> None:
        wanted = self._wanted
        if wanted is None:
            return

        def refused(error: Exception) -> None:
            if isinstance(error, AssayPilotError):
                highlighted = self.form.refuse(error)
                self.change.refuse(
                    "Correct the highlighted field." if highlighted else " ".join(error_words(error)).strip()
                )

        self._answer.start(
            self.session.consequences(
                lambda campaign: campaign.consequences(wanted), self.change.show_consequences, refused
            )
        )

    def _apply(self, note: str) -> None:
        wanted = self._wanted
        if wanted is None or not self.change.apply_button.isEnabled():
            return
        self.change.apply_button.setEnabled(False)
        self.session.change(wanted, note, self._applied)

    def _applied(self) -> None:
        self.session.message.emit("The settings were changed. Undo takes it back.")

    def _leave(self) -> None:
        self.form.reset()
        self.form.setFocus()


def _headed(title: str, *parts: QWidget) -> QWidget:
    """Return a column with a heading."""
    made = QWidget()
    column = column_of(label(title, "heading"), holder=made, spacing=10)
    for part in parts:
        column.addWidget(part)
    column.addStretch(1)
    return made
