"""The fields of a new campaign: its goal, the capacity of the lab, and the place of the file."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QWidget,
)

from assaypilot.engine.campaign.settings import Settings as CampaignSettings
from assaypilot.engine.domain.derived import PROFILE, profile_endpoint
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.kinds import distance_unit
from assaypilot.engine.tables.raw import RawTable

from ..goal.goal_changes import in_folds
from ..runtime.settings import Settings
from ..widgets.file_dialogs import LONGEST
from ..widgets.inputs import Field, Pane, Range, combo_box, form
from ..widgets.layout import row_of
from ..widgets.text import button, label
from .goal_endpoints import EndpointList
from .goal_strategy import ControlsField, StrategyChoice
from .profile_editor import ProfileEditor
from .table_work import Checked

FOLDS = "On a log scale 0.3 is 2-fold, 0.5 is 3-fold, 1 is 10-fold."

RANGES = {
    "epsilon": Range(above=0.0),
    "slack": Range(least=0.0, optional=True),
    "delta": Range(above=0.0, below=100.0),
    "per_round": Range(above=0.0, whole=True),
    "max_replicates": Range(above=0.0, whole=True),
    "budget": Range(above=0.0, whole=True, optional=True),
}
"""The numbers of a goal; confidence in percent."""
GOALS = (
    ("epsilon-best", "All compounds within X of the best"),
    ("pareto", "The best trade-offs between endpoints"),
    ("best", "The one best compound"),
    ("top", "The best compounds, so many"),
)
"""The goals, in words."""


class GoalFields(Pane):
    """The fields, and their typed values."""

    new_endpoint = Signal(str, str, str)
    """Name and unit of an endpoint that is not in the table."""
    typed = Signal()
    """Something in the fields changed."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self.settings = settings
        self.checked: Checked | None = None
        self.table: RawTable | None = None
        """The table as it was read; its columns may state the groups with different noise."""
        self._named = self._filling = False
        self._unit = ""
        """Of the distance from the best."""
        self._scored = False
        """Whether the goal was about a profile at the latest update."""
        self._first = ""
        """The endpoint that the columns propose."""
        self._source_stem = ""

    def _form(self) -> QFormLayout:
        self.fields = form()
        self.goal = combo_box("Goal")
        for key, words in GOALS:
            self.goal.addItem(words, key)
        self.objective = combo_box("Endpoint the goal is about")
        self.objective.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.objective.setMinimumContentsLength(24)
        self.profile = ProfileEditor()
        self.scored = QCheckBox("as an extra column")
        self.endpoints = EndpointList()
        self.top = Field("How many of the best", "10", "compounds")
        self.epsilon = Field("Within of the best", "0.5", tip="How far from the best a compound may be and still count")
        self.slack = Field("Soft zone", "", tip="Compounds this much beyond may end up in or out; it is what makes a "
                           "campaign affordable. Empty: half of the distance")  # fmt: skip
        self.confidence = Field("Confidence in percent", "95", "%", tip="The whole answer is right this often")
        self.per_round = Field("Measurements per round", "96", "measurements", tip="What the lab takes at once")
        self.replicates = Field("Most of one compound in a round", "4", "of one compound, at most")
        self.budget = Field("Budget", "", tip="Measurements in all")
        self.budget.edit.setPlaceholderText("no limit")
        self.controls = ControlsField()
        self.strategy = StrategyChoice()
        self.name = Field("Name of the campaign", width=0)
        self.file = Field("File", width=0)
        browse = button("Browse…", then=self._browse)
        place = QWidget()
        row_of((self.file, 1), browse, holder=place)
        for caption, widget, buddy in (
            ("&Goal", self.goal, self.goal),
            ("Of", self.objective, self.objective),
            ("Curves", self.profile, self.profile),
            ("&Endpoints", self.endpoints, self.endpoints),
            ("How many", self.top, self.top.edit),
            ("Within", self.epsilon, self.epsilon.edit),
            ("Per &round", self.per_round, self.per_round.edit),
            ("Bu&dget", self.budget, self.budget.edit),
            ("&Strategy", self.strategy, self.strategy.combo),
            ("Soft zone", self.slack, self.slack.edit),
            ("Confidence", self.confidence, self.confidence.edit),
            ("Replicates", self.replicates, self.replicates.edit),
            ("Controls", self.controls, self.controls.edit),
            ("Profile", self.scored, self.scored),
            ("Na&me", self.name, self.name.edit),
            ("Sa&ve as", place, self.file.edit),
        ):
            named = label(caption, "muted")
            named.setBuddy(buddy)
            self.fields.addRow(named, widget)
        self._place = place
        self.more = button("More: confidence, replicates, controls…", "link", then=self.show_more)
        self.goal.currentIndexChanged.connect(lambda _: self._goal_chosen())
        self.objective.currentIndexChanged.connect(lambda _: self._objective_chosen())
        self.strategy.changed.connect(self._objective_chosen)
        self.controls.edit.textChanged.connect(lambda _: self._edited())
        self.endpoints.changed.connect(self._edited)
        self.profile.changed.connect(self._objective_chosen)
        self.scored.toggled.connect(lambda _: self._objective_chosen())
        self.endpoints.wanted.connect(self.new_endpoint)
        for field in (
            self.top,
            self.epsilon,
            self.slack,
            self.confidence,
            self.per_round,
            self.replicates,
            self.budget,
        ):
            field.edit.textChanged.connect(lambda _: self._edited())
        self.name.edit.textEdited.connect(self._name_edited)
        self.file.edit.textChanged.connect(lambda _: self._check_file())
        return self.fields

    @property
    def goal_key(self) -> str:
        """The goal chosen."""
        return str(self.goal.currentData())

    @property
    def of_profile(self) -> bool:
        """Whether the goal is about the score of a profile."""
        return self.goal_key != "pareto" and self.objective.currentData() == PROFILE

    @property
    def has_profile(self) -> bool:
        """Whether compounds are scored by a profile: for the goal, or as an extra column."""
        return self.of_profile or (self.goal_key != "pareto" and self.scored.isChecked())

    @property
    def noise(self) -> Field:
        """Where the noise of the objective is typed."""
        box = self.endpoints.box(str(self.objective.currentData()))
        return (box or self.endpoints.boxes[0]).noise

    @property
    def path(self) -> Path:
        """The file to be written."""
        text = self.file.text
        return Path(text if text.endswith(".assaypilot") else f"{text}.assaypilot")

    def path_problem(self) -> str:
        """Why no file can be written there; empty when one can."""
        if not self.file.text:
            return "A file is needed."
        path = self.path
        try:
            if not path.parent.is_dir():
                return "There is no such folder."
            taken = path.exists()
        except (OSError, ValueError):
            return "No file can have this name; choose a shorter one."
        return "There is already a file of this name; choose another one." if taken else ""

    def show_table(self, checked: Checked) -> None:
        """Set the table of the fields; typed values stay where they still apply."""
        self._filling = True
        wanted = self.objective.currentData()
        endpoints = checked.imported.endpoints
        names = [*(endpoint.name for endpoint in endpoints), PROFILE]
        first = checked.endpoint.name
        before = [self.objective.itemData(at) for at in range(self.objective.count())]
        self.objective.clear()
        for endpoint in endpoints:
            self.objective.addItem(endpoint.scale_name, endpoint.name)
        structures = checked.imported.library.smiles
        self.objective.addItem("A profile of endpoints and properties", PROFILE)
        self.profile.offer(endpoints, checked.imported.history, structures)
        # An added endpoint keeps the choice; another table or another choice there does not.
        keep = wanted in names and set(before) <= set(names) and self._first == first
        self._first = first
        self.objective.setCurrentIndex(names.index(str(wanted) if keep else first))
        self.endpoints.show_facts(checked.facts, str(self.objective.currentData()))
        if not self.name.text:
            self.suggest(checked)
        self._goal_chosen()
        self._filling = False

    def suggest(self, checked: Checked) -> None:
        """Propose a name and a file."""
        stem = self._source_stem or f"{checked.endpoint.scale_name} campaign"
        self.name.edit.setText(stem)
        self._propose_file(stem)

    def from_file(self, name: str | None) -> None:
        """Set the name of the file that the table came from (None: it was pasted)."""
        self._source_stem = "" if name is None else Path(name).stem.replace("_", " ")
        self.name.edit.setText("")

    def read(self) -> tuple[CampaignSettings, list[Endpoint]] | None:
        """Return the settings and endpoints typed; each field shows its problem."""
        if self.checked is None:
            return None
        goal = self.goal_key
        compounds, boxes = len(self.checked.imported.library), self.endpoints.boxes
        values = compounds * sum(box.measured for box in boxes)
        objective = self.endpoints.box(str(self.objective.currentData() or ""))
        kind = "value" if objective is None or goal == "pareto" else objective.fact.endpoint.kind
        self.strategy.suit(values, kind=kind)
        epsilon = self.epsilon.number(RANGES["epsilon"]) if goal == "epsilon-best" else None
        self.slack.edit.setPlaceholderText("" if epsilon is None else f"{epsilon / 2:g}")
        if epsilon is not None and not self.of_profile:
            self.epsilon.hint(in_folds(epsilon, self._unit))
        slack = self.slack.number(RANGES["slack"]) if goal != "pareto" else None
        top = self.top.number(RANGES["per_round"]) if goal == "top" else None
        percent = self.confidence.number(RANGES["delta"])
        per_round = self.per_round.number(RANGES["per_round"])
        replicates = self.replicates.number(RANGES["max_replicates"])
        budget = self.budget.number(RANGES["budget"])
        endpoints = self.endpoints.read()
        parameters, controls = self.strategy.parameters(), self.controls.controls()
        curves = self.profile.curves() if self.has_profile else ()
        if endpoints is None or parameters is None or controls is None or curves is None:
            return None
        if any(field.wrong for field in (self.budget, *self._of_goal())):
            return None
        if percent is None or per_round is None or replicates is None:
            return None
        if curves:
            endpoints.append(profile_endpoint(curves, endpoints))
        return CampaignSettings(
            objective="" if goal == "pareto" else str(self.objective.currentData()),
            objectives=self.endpoints.aimed_at if goal == "pareto" else (),
            epsilon=epsilon,
            slack=slack,
            delta=round(1 - percent / 100, 12),
            goal=goal,
            strategy=self.strategy.name,
            parameters=parameters,
            per_round=int(per_round),
            max_replicates=int(replicates),
            budget=None if budget is None else int(budget),
            controls=controls,
            top=None if top is None else int(top),
        ), endpoints

    def field_of(self, option: str | None) -> Field | None:
        """Return the field of an option as refusals name it, when it is to be seen."""
        fields = {"--budget": self.budget, "--per-round": self.per_round, "--max-replicates": self.replicates,
                  "--delta": self.confidence, "--top": self.top, "--epsilon": self.epsilon, "--slack": self.slack,
                  "--parameter model_error": self.strategy.off, "--control": self.controls}  # fmt: skip
        field = fields.get(option or "")
        if field in self._rare:
            self.show_more()
        return field if field is not None and field.isVisibleTo(self) else None

    def show_more(self) -> None:
        """Show the fields that are rarely changed, too, for as long as the dialog is open."""
        if not self._all:
            self._all = True
            self._goal_chosen()

    _all = False

    @property
    def _rare(self) -> list[QWidget]:
        """The fields that are rarely changed and apply to the goal chosen."""
        of_goal = [self.slack] if self.goal_key != "pareto" else []
        return [*of_goal, self.confidence, self.replicates, self.controls, self.name, self._place]

    def _goal_chosen(self) -> None:
        """Show the fields of the chosen goal."""
        goal = self.goal_key
        self.more.setVisible(not self._all)
        for widget, wanted in (
            # With one endpoint and no structures there is nothing to choose; its box is below.
            (self.objective, goal != "pareto" and self.profile.choices > 1),
            (self.top, goal == "top"),
            (self.epsilon, goal == "epsilon-best"),
            (self.slack, False),
            *((one, self._all) for one in self._rare),
        ):
            self.fields.setRowVisible(widget, wanted)
        self.slack.setToolTip(
            "A compound this much worse than the best is a right answer, too; it is what makes a campaign affordable"
            if goal in ("best", "top")
            else "Compounds this much beyond may end up in or out; it is what makes a campaign affordable"
        )
        self.strategy.show_for(goal)
        self._objective_chosen()

    def _objective_chosen(self) -> None:
        name = str(self.objective.currentData() or "")
        if self.has_profile:
            self.profile.draw()
        self.fields.setRowVisible(self.profile, self.has_profile)
        self.fields.setRowVisible(self.scored, self._all and self.goal_key != "pareto" and not self.of_profile)
        self.endpoints.show_for(self.goal_key, name, self.profile.parts if self.has_profile else ())
        # Half of a score, which goes from 0 to 1, would be nearly all.
        usual = ("0.5", "0.1") if self.of_profile else ("0.1", "0.5")
        if self.of_profile != self._scored and self.epsilon.text == usual[0]:
            self.epsilon.edit.setText(usual[1])
        self._scored = self.of_profile
        if self.of_profile:
            self.epsilon.hint("of the best score, which goes from 0 to 1")
            self.slack.hint("worse than that, in or out")
            self.strategy.unit("")
        box = self.endpoints.box(name)
        if box is not None:
            endpoint = box.fact.endpoint
            unit = distance_unit(endpoint, linked=not self.strategy.calibrated)
            self._unit = unit
            self.epsilon.hint(unit)
            tip = self.epsilon.toolTip()
            self.epsilon.edit.setToolTip(f"{tip}. {FOLDS}" if unit == "log" else tip)
            self.strategy.unit(unit)
            if self.goal_key in ("best", "top"):
                self.slack.hint(f"{unit} worse than the best is as good; empty: none".strip())
            else:
                self.slack.hint(f"{unit} beyond, in or out; empty: half of that".strip())
        self._edited()

    def _of_goal(self) -> list[Field]:
        """Return the numbers that the goal chosen has."""
        own = {"epsilon-best": [self.epsilon], "top": [self.top]}.get(self.goal_key, [])
        return own if self.goal_key == "pareto" else [*own, self.slack]

    def _edited(self) -> None:
        if not self._filling:
            self.typed.emit()

    def _propose_file(self, stem: str) -> None:
        safe = re.sub(r"[^\w\- ]+", "", stem)[:LONGEST].strip() or "campaign"
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

    def _check_file(self) -> None:
        problem = self.path_problem()
        self.file.problem(problem)
        if problem:
            self.show_more()
        self.changed.emit()
