"""The goal of a new campaign, the capacity of the lab, and the forecast."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from assaypilot.engine.campaign.outlook import Plan, draft
from assaypilot.engine.campaign.settings import Settings as CampaignSettings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.foresight import Foresight, foresee_draft
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.text import many

from ..goal.forecast_view import Forecasting, Outlooks
from ..runtime.settings import Settings
from ..runtime.tasks import Latest, single_shot
from ..session.session import Session
from ..widgets.inputs import Scrolled
from ..widgets.layout import STRETCH, column_of, put, row_of
from ..widgets.text import button, error_words, label
from .goal_fields import GoalFields
from .goal_strategy import load_strategies
from .table_work import Checked

PAUSE = 300
"""Milliseconds without typing before the forecast is computed."""
SLOW = 10.0
"""Seconds after which loading the strategies is shown as work."""


class GoalPane(GoalFields):
    """Fields, and below them their consequences."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__(settings)
        self.session = session
        self._job = Latest()
        self._ready: tuple[CampaignSettings, list[Endpoint]] | None = None
        body = QWidget()
        body.setObjectName("side")
        column = column_of(self._form(), holder=body, margins=(0, 0, 12, 0), spacing=10)
        column.addLayout(row_of(self.more, STRETCH))
        self.details = button("Details", "link", tip="Shows or hides the goal in words, and what is assumed")
        self.details.setCheckable(True)
        self.details.toggled.connect(self._show_details)
        column.addLayout(row_of(label("What this will find", "heading"), STRETCH, self.details))
        self.sentence = label("", wrap=True, selectable=True)
        self.simulated = Outlooks(now="expected", without=("Measurements", "Rounds"))
        self.simulated.hide()
        self.problem = label("", "problem", wrap=True)
        self.cautions = label("", "muted", wrap=True, selectable=True)
        self.history = label("", "muted", wrap=True)
        put(column, self.problem, self.sentence, self.cautions, self.simulated, self.history, STRETCH)
        column_of((Scrolled(body), 1), holder=self)
        self.ahead = Forecasting(session, self)
        self.ahead.known.connect(self._foreseen)
        self.ahead.refused.connect(self._unforeseen)
        self.simulated.wanted.connect(lambda: self._look_ahead())
        self._pause = single_shot(self, PAUSE, self._look)
        self.typed.connect(self._soon)
        self._goal_chosen()
        self.endpoints.complete.connect(self._look)
        self._loading = session.look_ahead(
            "Loading the strategies", lambda report: load_strategies(), self.strategy.offer, _quiet, shown_after=SLOW
        )

    @property
    def complete(self) -> bool:
        """Whether the campaign can be created."""
        return self._ready is not None and self.path_problem() == "" and not self._pause.isActive()

    @property
    def campaign_settings(self) -> CampaignSettings | None:
        """The typed settings; None while one is unusable."""
        return None if self._ready is None else self._ready[0]

    @property
    def campaign_endpoints(self) -> list[Endpoint]:
        """The described endpoints; empty while a field is unusable."""
        return [] if self._ready is None else self._ready[1]

    def show_checked(self, checked: Checked | None) -> None:
        """Take over the table."""
        self.checked = checked
        if checked is None:
            self._look()
            return
        self.show_table(checked)
        if not self.endpoints.building:
            self._look()

    def _soon(self) -> None:
        """Look again after a pause in typing."""
        self._outdate()
        self._pause.start()
        self.changed.emit()

    def _look(self) -> None:
        self._pause.stop()
        self.problem.clear()
        self.problem.hide()
        self._ready = None
        try:
            read = self.read()
        except AssayPilotError as error:
            read = None
            self._blame(error)
        self._job.drop()
        self._outdate()
        if read is None or self.checked is None:
            self._show_words("", ())
            if self.checked is not None and not self.problem.text():
                self.problem.setText("Correct the highlighted field.")
                self.problem.show()
            self.simulated.hide()
            self.changed.emit()
            return
        imported = self.checked.imported
        settings, endpoints = read
        self._job.start(
            self.session.read(
                "Checking the goal",
                lambda report: draft(imported.library, endpoints, settings, imported.history),
                lambda plan: self._drafted(plan, settings, endpoints),
                self._refuse,
            )
        )
        self.changed.emit()

    def _outdate(self) -> None:
        """Fade the forecast until that of the current goal is there."""
        self.ahead.stop()
        self.simulated.outdate()
        facts = () if self.checked is None else self.checked.facts
        count = sum(one.measured for one in facts if one.endpoint.of is None)
        self.history.setVisible(count > 0 and not self.strategy.calibrated)
        self.history.setText(f"The table's own {many(count, 'value')} are shown; the proof does not decide by them.")

    def _drafted(self, plan: Plan, settings: CampaignSettings, endpoints: Sequence[Endpoint]) -> None:
        """Allow the campaign to be made; the forecast may need a while longer."""
        self._ready = (settings, list(endpoints))
        self._look_ahead()
        self._show_words(f"{plan.sentence}.", plan.cautions)
        self._check_file()
        self.changed.emit()

    def _show_words(self, sentence: str, cautions: Sequence[str]) -> None:
        """Show the goal in words and what is assumed, or nothing while that is not known."""
        self.sentence.setText(sentence)
        self.cautions.setText("\n".join(cautions))
        self.details.setVisible(bool(sentence))
        self._show_details()

    def _show_details(self) -> None:
        """Show them when they are wanted; what a proof costs more by is always shown."""
        wanted = self.details.isChecked()
        self.sentence.setVisible(wanted and bool(self.sentence.text()))
        self.cautions.setVisible(bool(self.cautions.text()) and (wanted or not self.strategy.calibrated))

    def _look_ahead(self) -> None:
        """Have the campaign simulated that would be made."""
        if self._ready is None or self.checked is None:
            return
        imported, (settings, endpoints) = self.checked.imported, self._ready
        self.ahead.ask(
            (id(imported), repr(settings), repr(endpoints)),
            lambda report: foresee_draft(imported.library, endpoints, settings, imported.history, report),
        )
        self.simulated.show()
        self.simulated.work(self.ahead.busy)

    def _foreseen(self, found: Foresight) -> None:
        self.simulated.work(False)
        self.simulated.show_now(found)

    def _unforeseen(self, error: Exception) -> None:
        self.simulated.show_now(None)
        self.simulated.refuse_because(error)

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            return
        self._ready = None
        self.ahead.stop()
        self.simulated.hide()
        self._show_words("", ())
        if isinstance(error, AssayPilotError):
            self._blame(error)
        self.changed.emit()

    def _blame(self, error: AssayPilotError) -> None:
        """Show what is wrong at the field that caused it, else below the fields."""
        text, mend = error_words(error)
        field = self.field_of(error.option)
        if field is not None:
            field.problem(f"{text} {mend}".strip())
            return
        self.problem.setText(f"{text} {mend}".strip())
        self.problem.show()

    def halt(self) -> None:
        """Start no more work: the dialog closes, or the campaign is made."""
        self._pause.stop()
        self._job.drop()
        self._loading.drop()
        self.ahead.stop()
        self.simulated.canvas.stop()


def _quiet(error: Exception) -> None:
    """Without the list of strategies the one proposed is taken."""
