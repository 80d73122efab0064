"""The wizard's third step: what is wanted, what the lab can do, and what that will take."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.campaign.state import Settings as CampaignSettings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.kinds import distance_unit
from assaypilot.engine.progress import Cancelled
from assaypilot.engine.tables.noise_column import with_classes_of
from assaypilot.gui.dialogs.columns_step import Checked
from assaypilot.gui.dialogs.goal_controls import PlatesAndControls
from assaypilot.gui.dialogs.goal_endpoints import EndpointList
from assaypilot.gui.dialogs.goal_strategy import StrategyChoice, load_strategies
from assaypilot.gui.dialogs.steps import Field, Scrolled, Step, form
from assaypilot.gui.forecasting import Forecasting
from assaypilot.gui.foresight import Foresight, foresee_draft
from assaypilot.gui.outlook import Outlook, Plan, draft, look_ahead
from assaypilot.gui.pages.goal_outlook import Outlooks
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.tasks import Job
from assaypilot.gui.widgets.message_bar import error_words, for_window
from assaypilot.gui.widgets.text import Details, button, label

if TYPE_CHECKING:
    from assaypilot.engine.tables.raw import RawTable

__all__ = ["GoalStep"]

PAUSE = 300

SLOW = 10.0
"""Seconds after which loading the strategies is shown as work."""

GOALS = (
    ("epsilon-best", "All compounds within X of the best"),
    ("pareto", "The best trade-offs between endpoints"),
    ("best", "The one best compound"),
)
"""The goals, in words."""


class GoalStep(Step):
    """Fields at the left, their consequences at the right."""

    new_endpoint = Signal(str, str, str)
    """Name and unit of an endpoint that is not in the table."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.checked: Checked | None = None
        self.table: RawTable | None = None
        """The table as it was read, whose columns may say whose noise differs."""
        self._job: Job | None = None
        self._ready: tuple[CampaignSettings, list[Endpoint]] | None = None
        self._named = self._filling = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        left = QWidget()
        left.setObjectName("page")
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 12, 0)
        column.addLayout(self._form())
        column.addStretch(1)
        row.addWidget(Scrolled(left, 580))
        told = QWidget()
        told.setObjectName("page")
        right = QVBoxLayout(told)
        right.setContentsMargins(0, 0, 8, 0)
        right.setSpacing(10)
        right.addWidget(label("What it will take", "heading"))
        self.sentence = label("", wrap=True)
        self.outlook = Details()
        self.simulated = Outlooks(now="expected", without=("First decision",))
        self.simulated.hide()
        self.problem = label("", "problem", wrap=True)
        self.cautions = label("", "muted", wrap=True)
        self.history = label("", "muted", wrap=True)
        for part in (self.sentence, self.outlook, self.simulated, self.problem, self.cautions, self.history):
            right.addWidget(part)
        right.addStretch(1)
        row.addWidget(Scrolled(told), 1)
        self.ahead = Forecasting(session, self)
        self.ahead.known.connect(self._foreseen)
        self.ahead.refused.connect(self._unforeseen)
        self.simulated.wanted.connect(lambda: self._look_ahead())
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._look)
        self._goal_chosen()
        self.endpoints.complete.connect(self._look)
        self._loading = session.look_ahead(
            "Loading the strategies", lambda report: load_strategies(), self.strategy.offer, _quiet, shown_after=SLOW
        )

    def _form(self) -> QFormLayout:
        self.fields = form()
        self.goal = QComboBox()
        self.goal.setAccessibleName("Goal")
        for key, words in GOALS:
            self.goal.addItem(words, key)
        self.objective = QComboBox()
        self.objective.setAccessibleName("Endpoint the goal is about")
        self.objective.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.objective.setMinimumContentsLength(24)
        self.endpoints = EndpointList()
        self.epsilon = Field("Within of the best", "0.5", tip="How far from the best a compound may be and still count")
        self.slack = Field("Soft zone", "", tip="Compounds this much beyond may end up in or out; it is what makes a "
                           "campaign affordable. Empty: half of the distance")  # fmt: skip
        self.confidence = Field("Confidence in percent", "95", "%: the whole answer is right this often",
                                tip="1 - confidence is the chance that anything promised is wrong")  # fmt: skip
        self.per_round = Field("Measurements per round", "96", "measurements the lab takes at once")
        self.replicates = Field("Most of one compound in a round", "4", "of one compound in a round, at most")
        self.budget = Field("Budget", "", "measurements in all; empty: no limit")
        self.plates = PlatesAndControls()
        self.strategy = StrategyChoice()
        self.name = Field("Name of the campaign", width=0)
        self.file = Field("File", width=0)
        browse = button("Browse…")
        browse.clicked.connect(self._browse)
        place = QWidget()
        line = QHBoxLayout(place)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.file, 1)
        line.addWidget(browse)
        for caption, widget, buddy in (
            ("&Goal", self.goal, self.goal),
            ("Of", self.objective, self.objective),
            ("&Endpoints", self.endpoints, self.endpoints),
            ("All within", self.epsilon, self.epsilon.edit),
            ("Soft zone", self.slack, self.slack.edit),
            ("Confidence", self.confidence, self.confidence.edit),
            ("Per &round", self.per_round, self.per_round.edit),
            ("Replicates", self.replicates, self.replicates.edit),
            ("Bu&dget", self.budget, self.budget.edit),
            ("Plates", self.plates, self.plates.combo),
            ("&Strategy", self.strategy, self.strategy.combo),
            ("Na&me", self.name, self.name.edit),
            ("Sa&ve as", place, self.file.edit),
        ):
            named = label(caption, "muted")
            named.setBuddy(buddy)
            self.fields.addRow(named, widget)
        self.goal.currentIndexChanged.connect(lambda _: self._goal_chosen())
        self.objective.currentIndexChanged.connect(lambda _: self._objective_chosen())
        self.strategy.changed.connect(self._soon)
        self.plates.changed.connect(self._soon)
        self.endpoints.changed.connect(self._soon)
        self.endpoints.wanted.connect(self.new_endpoint)
        for field in (self.epsilon, self.slack, self.confidence, self.per_round, self.replicates, self.budget):
            field.edit.textChanged.connect(lambda _: self._soon())
        self.name.edit.textEdited.connect(self._name_edited)
        self.file.edit.textChanged.connect(lambda _: self._check_file())
        return self.fields

    @property
    def aim(self) -> str:
        """The goal chosen."""
        return str(self.goal.currentData())

    @property
    def noise(self) -> Field:
        """Where the noise of the objective is typed."""
        box = self.endpoints.box(str(self.objective.currentData()))
        return (box or self.endpoints.boxes[0]).noise

    @property
    def complete(self) -> bool:
        """Whether the campaign can be created."""
        return self._ready is not None and self._path_problem() == "" and not self._pause.isActive()

    @property
    def path(self) -> Path:
        """The file to be written."""
        text = self.file.text
        return Path(text if text.endswith(".assaypilot") else f"{text}.assaypilot")

    @property
    def campaign_settings(self) -> CampaignSettings | None:
        """What was typed; None while something of it cannot be used."""
        return None if self._ready is None else self._ready[0]

    @property
    def campaign_endpoints(self) -> list[Endpoint]:
        """The endpoints as they were described; empty while something of it cannot be used."""
        return [] if self._ready is None else self._ready[1]

    def show_checked(self, checked: Checked | None) -> None:
        """Nothing; takes over the table."""
        self.checked = checked
        if checked is None:
            self._look()
            return
        self._filling = True
        wanted = self.objective.currentData()
        names = [endpoint.name for endpoint in checked.imported.endpoints]
        first = checked.endpoint.name
        before = [self.objective.itemData(at) for at in range(self.objective.count())]
        self.objective.clear()
        for endpoint in checked.imported.endpoints:
            self.objective.addItem(endpoint.scale_name, endpoint.name)
        # An endpoint that was added leaves the choice as it is; another table or another choice there does not.
        keep = wanted in names and set(before) <= set(names) and self._first == first
        self._first = first
        self.objective.setCurrentIndex(names.index(str(wanted) if keep else first))
        self.endpoints.show_facts(checked.facts, str(self.objective.currentData()))
        history = sum(one.measured for one in checked.facts if one.endpoint.of is None)
        self.history.setText(
            f"The table's own values ({history:,}) are history: shown and used to estimate, not to decide."
            if history
            else ""
        )
        if not self.name.text:
            self.suggest(checked)
        self._goal_chosen()
        self._filling = False
        if not self.endpoints.building:
            self._look()

    _first = ""
    """The endpoint that the step before proposes."""

    def refuse_endpoint(self, text: str) -> None:
        """Nothing; says why an endpoint could not be added."""
        self.endpoints.refuse_new(text)

    def suggest(self, checked: Checked) -> None:
        """Nothing; proposes a name and a file."""
        stem = self._source_stem or f"{checked.endpoint.scale_name} campaign"
        self.name.edit.setText(stem)
        self._propose_file(stem)

    _source_stem = ""

    def from_file(self, name: str | None) -> None:
        """Nothing; the table came from a file of this name (None: it was pasted)."""
        self._source_stem = "" if name is None else Path(name).stem.replace("_", " ")
        self.name.edit.setText("")

    # ------------------------------------------------------------------ inside

    def _propose_file(self, stem: str) -> None:
        safe = re.sub(r"[^\w\- ]+", "", stem).strip() or "campaign"
        folder = self.settings.campaigns or self.settings.folder
        path = folder / f"{safe}.assaypilot"
        number = 2
        while path.exists():
            path = folder / f"{safe} {number}.assaypilot"
            number += 1
        self.file.edit.setText(str(path))

    def _name_edited(self, text: str) -> None:
        if not self._named:
            self._propose_file(text)

    def _browse(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save the campaign as", str(self.path), "Campaigns (*.assaypilot)")
        if name:
            self._named = True
            self.file.edit.setText(name)

    def _path_problem(self) -> str:
        if not self.file.text:
            return "A file is needed."
        path = self.path
        if not path.parent.is_dir():
            return "There is no such folder."
        if path.exists():
            return "There is already a file of this name; choose another one."
        return ""

    def _check_file(self) -> None:
        self.file.problem(self._path_problem())
        self.changed.emit()

    def _soon(self) -> None:
        if not self._filling:
            self.ahead.stop()
            self.simulated.outdate()
            self._pause.start()
            self.changed.emit()

    def _goal_chosen(self) -> None:
        """Nothing; shows what applies to the goal chosen."""
        goal = self.aim
        for widget, wanted in (
            (self.objective, goal != "pareto"),
            (self.epsilon, goal == "epsilon-best"),
            (self.slack, goal != "pareto"),
        ):
            self.fields.setRowVisible(widget, wanted)
        self.slack.setToolTip(
            "A compound this much worse than the best is a right answer, too; it is what makes a campaign affordable"
            if goal == "best"
            else "Compounds this much beyond may end up in or out; it is what makes a campaign affordable"
        )
        self.strategy.show_for(goal)
        self._objective_chosen()

    def _objective_chosen(self) -> None:
        name = str(self.objective.currentData() or "")
        self.endpoints.show_for(self.aim, name)
        box = self.endpoints.box(name)
        if box is not None:
            endpoint = box.fact.endpoint
            unit = distance_unit(endpoint)
            fold = ": 0.3 log is 2-fold, 0.5 is 3-fold" if unit == "log" else ""
            self.epsilon.hint(f"{unit} of the best {endpoint.scale_name}{fold}".strip())
            self.strategy.unit(unit)
            if self.aim == "best":
                self.slack.hint(f"{unit} worse than the best is as good; empty: none".strip())
            else:
                self.slack.hint(f"{unit} beyond, in or out; empty: half of that".strip())
        self._soon()

    def _with_classes(self, endpoints: list[Endpoint] | None) -> list[Endpoint] | None:
        """The endpoints with classes of noise as a column has them; None where it does not, which is said beside it."""
        if endpoints is None or self.table is None or self.checked is None:
            return endpoints
        if len(self.table) != len(self.checked.imported.of_row):
            return endpoints  # another table is being read
        told: list[Endpoint] = []
        for endpoint in endpoints:
            try:
                told.append(with_classes_of(endpoint, self.table, self.checked.imported))
            except AssayPilotError as error:
                box = self.endpoints.box(endpoint.name)
                if box is not None:
                    box.classes.problem(error_words(error)[0])
                return None
        return told

    def _read(self) -> tuple[CampaignSettings, list[Endpoint]] | None:
        """The settings and endpoints typed; problems are shown beside their fields."""
        if self.checked is None:
            return None
        goal = self.aim
        compounds, boxes = len(self.checked.imported.library), self.endpoints.boxes
        values = compounds * sum(box.measured for box in boxes)
        objective = self.endpoints.box(str(self.objective.currentData() or ""))
        kind = "value" if objective is None or goal == "pareto" else objective.fact.endpoint.kind
        self.strategy.suit(values, limited=any(box.limit.text for box in boxes), kind=kind)
        epsilon = self.epsilon.number(low=0.0) if goal == "epsilon-best" else None
        self.slack.edit.setPlaceholderText("" if epsilon is None else f"{epsilon / 2:g}")
        slack = self.slack.number(optional=True) if goal != "pareto" else None
        percent = self.confidence.number(low=0.0)
        per_round = self.per_round.number(low=0.0, whole=True)
        replicates = self.replicates.number(low=0.0, whole=True)
        budget = self.budget.number(low=0.0, whole=True, optional=True)
        endpoints = self._with_classes(self.endpoints.read())
        told, controls = self.strategy.parameters(), self.plates.controls()
        bad = endpoints is None or told is None or controls is None or (goal == "epsilon-best" and epsilon is None)
        bad |= any(field.edit.property("wrong") == "true" for field in (self.budget, *self._of_goal()))
        if slack is not None and slack < 0:
            self.slack.problem("It must be 0 or more.")
            bad = True
        if percent is not None and percent >= 100:
            self.confidence.problem("It must be below 100 %.")
            bad = True
        if (
            bad
            or endpoints is None
            or told is None
            or controls is None
            or percent is None
            or per_round is None
            or replicates is None
        ):
            return None
        return CampaignSettings(
            objective="" if goal == "pareto" else str(self.objective.currentData()),
            objectives=self.endpoints.aimed_at if goal == "pareto" else (),
            epsilon=epsilon,
            slack=slack,
            delta=round(1 - percent / 100, 12),
            goal=goal,
            strategy=self.strategy.name,
            parameters=told,
            per_round=int(per_round),
            max_replicates=int(replicates),
            budget=None if budget is None else int(budget),
            blocks=self.plates.blocks,
            controls=controls,
        ), endpoints

    def _of_goal(self) -> list[Field]:
        """The fields that the goal chosen shows."""
        return [self.epsilon, self.slack] if self.aim == "epsilon-best" else [self.slack] if self.aim == "best" else []

    def _look(self) -> None:
        self._pause.stop()
        self.problem.hide()
        self._ready = None
        try:
            read = self._read()
        except AssayPilotError as error:
            read = None
            self._blame(error)
        self._stop()
        self.ahead.stop()
        self.simulated.outdate()
        self.cautions.hide()
        if read is None or self.checked is None:
            self.sentence.setText("Something is missing at the left.")
            self.outlook.show_rows([])
            self.simulated.hide()
            self.changed.emit()
            return
        imported = self.checked.imported
        settings, endpoints = read
        self._job = self.session.read(
            "Checking the goal",
            lambda report: draft(imported.library, endpoints, settings, imported.history),
            lambda plan: self._drafted(plan, settings, endpoints),
            self._refuse,
        )
        self.changed.emit()

    def _drafted(self, plan: Plan, settings: CampaignSettings, endpoints: Sequence[Endpoint]) -> None:
        """The campaign can be made like this; what it will take may need a while longer."""
        self._ready = (settings, list(endpoints))
        self._look_ahead()
        self.sentence.setText(f"{plan.sentence}.")
        self.cautions.setText("\n".join(for_window(text) for text in plan.cautions))
        self.cautions.setVisible(bool(plan.cautions))
        self.outlook.show_rows([("", "Asking the planner what it will take…")])
        self._job = self.session.read(
            "Looking ahead",
            lambda report: look_ahead(plan, report),
            lambda outlook: self._show(outlook, settings),
            self._refuse,
        )
        self._check_file()

    def _look_ahead(self) -> None:
        """Nothing; has the campaign simulated that would be made."""
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

    def _show(self, outlook: Outlook, settings: CampaignSettings) -> None:
        self._job = None
        self.outlook.show_rows(outlook.lines(settings.budget))
        self.changed.emit()

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            return
        self._job = None
        self._ready = None
        self.ahead.stop()
        self.simulated.hide()
        self.sentence.setText("")
        self.outlook.show_rows([])
        if isinstance(error, AssayPilotError):
            self._blame(error)
        self.changed.emit()

    def _blame(self, error: AssayPilotError) -> None:
        """Nothing; says what is wrong beside the field that caused it, else at the right."""
        text, mend = error_words(error)
        fields = {"--budget": self.budget, "--per-round": self.per_round, "--max-replicates": self.replicates,
                  "--delta": self.confidence, "--epsilon": self.epsilon, "--slack": self.slack,
                  "--parameter model_error": self.strategy.off, "--control": self.plates.edit}  # fmt: skip
        field = fields.get(error.option or "")
        if field is not None and field.isVisibleTo(self):
            field.problem(f"{text} {mend}".strip())
            return
        self.problem.setText(f"{text} {mend}".strip())
        self.problem.show()

    def _stop(self) -> None:
        if self._job is not None:
            self.session.tasks.cancel(self._job)
            self._job = None

    def halt(self) -> None:
        """Nothing; nothing is asked any more: the dialog closes, or the campaign is made."""
        self._pause.stop()
        self._stop()
        self.session.ahead.cancel(self._loading)
        self.ahead.stop()
        self.simulated.canvas.stop()


def _quiet(error: Exception) -> None:
    """Nothing; without the list of strategies the one proposed is taken."""
