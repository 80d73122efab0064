"""The wizard's third step: what is wanted, what the lab can do, and what that will take."""

from __future__ import annotations

import re
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFileDialog, QFormLayout, QFrame, QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from assaypilot.engine.campaign.state import Settings as CampaignSettings
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Cancelled
from assaypilot.gui.dialogs.columns_step import Checked
from assaypilot.gui.dialogs.steps import Field, Step, form
from assaypilot.gui.outlook import Outlook, look_ahead
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.tasks import Job
from assaypilot.gui.widgets.message_bar import error_words
from assaypilot.gui.widgets.text import Details, button, label

__all__ = ["GoalStep"]

PAUSE = 300


class GoalStep(Step):
    """Fields at the left, their consequences at the right."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session, self.settings = session, settings
        self.checked: Checked | None = None
        self._job: Job | None = None
        self._ready: CampaignSettings | None = None
        self._named = False
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        left = QWidget()
        left.setObjectName("page")
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 0, 8, 0)
        column.addLayout(self._form())
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(left)
        scroll.setFixedWidth(470)
        row.addWidget(scroll)
        right = QVBoxLayout()
        right.setSpacing(10)
        right.addWidget(label("What it will take", "heading"))
        self.sentence = label("", wrap=True)
        self.outlook = Details()
        self.problem = label("", "problem", wrap=True)
        for part in (self.sentence, self.outlook, self.problem):
            right.addWidget(part)
        self.history = label("", "muted", wrap=True)
        right.addWidget(self.history)
        right.addStretch(1)
        row.addLayout(right, 1)
        self._pause = QTimer(self)
        self._pause.setSingleShot(True)
        self._pause.setInterval(PAUSE)
        self._pause.timeout.connect(self._look)

    def _form(self) -> QFormLayout:
        fields = form()
        self.epsilon = Field("Within of the best", "0.5", tip="How far from the best a compound may be and still count")
        self.slack = Field("Soft zone", "", tip="Compounds this much beyond may end up in or out; it is what makes a "
                           "campaign affordable. Empty: half of the distance")  # fmt: skip
        self.confidence = Field("Confidence in percent", "95", "%: the whole answer is right this often",
                                tip="1 - confidence is the chance that anything promised is wrong")  # fmt: skip
        self.noise = Field("Assay noise (SD)", "", tip="SD between independent measurements of one compound")
        self.per_round = Field("Measurements per round", "96", "measurements the lab takes at once")
        self.replicates = Field("Most of one compound in a round", "4", "of one compound in a round, at most")
        self.budget = Field("Budget", "", "measurements in all; empty: no limit")
        self.name = Field("Name of the campaign", width=0)
        self.file = Field("File", width=0)
        browse = button("Browse…")
        browse.clicked.connect(self._browse)
        place = QWidget()
        line = QHBoxLayout(place)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(self.file, 1)
        line.addWidget(browse)
        for caption, widget in (
            ("All compounds within", self.epsilon),
            ("Soft zone", self.slack),
            ("Confidence", self.confidence),
            ("Assay noise (SD)", self.noise),
            ("Per round", self.per_round),
            ("Replicates", self.replicates),
            ("Budget", self.budget),
            ("Name", self.name),
            ("Save as", place),
        ):
            fields.addRow(label(caption, "muted"), widget)
        for field in (
            self.epsilon, self.slack, self.confidence, self.noise, self.per_round, self.replicates, self.budget,
        ):  # fmt: skip
            field.edit.textChanged.connect(lambda _: self._pause.start())
        self.name.edit.textEdited.connect(self._name_edited)
        self.file.edit.textChanged.connect(lambda _: self._check_file())
        return fields

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
        return self._ready

    @property
    def noise_sd(self) -> float | None:
        """The noise typed; None when the replicates are to say."""
        return self.noise.number(low=0.0, optional=True)

    def show_checked(self, checked: Checked | None) -> None:
        """Nothing; takes over the table."""
        self.checked = checked
        if checked is None:
            return
        endpoint = checked.endpoint
        fact = checked.fact
        unit = endpoint.scale_unit
        fold = ": 0.3 log is 2-fold, 0.5 is 3-fold" if unit == "log" else ""
        self.epsilon.hint(f"{unit} of the best {endpoint.scale_name}{fold}".strip())
        self.slack.hint(f"{unit} beyond, in or out; empty: half of that".strip())
        if fact.noise_sd is not None:
            self.noise.edit.setPlaceholderText(f"{fact.noise_sd:.3g}")
            self.noise.hint(f"{unit}; empty: as {fact.replicate_groups} replicated compounds say".strip())
        else:
            self.noise.edit.setPlaceholderText("")
            self.noise.hint(f"{unit}, between independent measurements of one compound".strip())
        history = sum(one.measured for one in checked.facts)
        self.history.setText(
            f"The {history:,} values of the table are history: shown and used to estimate, not to decide."
            if history
            else ""
        )
        if not self.name.text:
            self.suggest(checked)
        self._look()

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
        path = self.settings.folder / f"{safe}.assaypilot"
        number = 2
        while path.exists():
            path = self.settings.folder / f"{safe} {number}.assaypilot"
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

    def _read(self) -> CampaignSettings | None:
        """The settings typed; problems are shown beside their fields."""
        if self.checked is None:
            return None
        epsilon = self.epsilon.number(low=0.0)
        self.slack.edit.setPlaceholderText("" if epsilon is None else f"{epsilon / 2:g}")
        slack = self.slack.number(optional=True)
        percent = self.confidence.number(low=0.0)
        noise = self.noise.number(low=0.0, optional=True)
        per_round = self.per_round.number(low=0.0, whole=True)
        replicates = self.replicates.number(low=0.0, whole=True)
        budget = self.budget.number(low=0.0, whole=True, optional=True)
        fields = (self.slack, self.noise, self.budget)
        bad = any(field.edit.property("wrong") == "true" for field in fields)
        if slack is not None and slack < 0:
            self.slack.problem("It must be 0 or more.")
            bad = True
        if percent is not None and percent >= 100:
            self.confidence.problem("It must be below 100 %.")
            bad = True
        if noise is None and not self.noise.text and self.checked.fact.noise_sd is None:
            self.noise.problem("It is needed: no compound was measured twice, so the table cannot say.")
            bad = True
        if bad or epsilon is None or percent is None or per_round is None or replicates is None:
            return None
        try:
            return CampaignSettings(
                objective=self.checked.endpoint.name,
                epsilon=epsilon,
                slack=slack,
                delta=round(1 - percent / 100, 12),
                per_round=int(per_round),
                max_replicates=int(replicates),
                budget=None if budget is None else int(budget),
            )
        except AssayPilotError as error:
            self.problem.setText(error_words(error)[0])
            self.problem.show()
            return None

    def _look(self) -> None:
        self._pause.stop()
        self.problem.hide()
        self._ready = None
        settings = self._read()
        if self._job is not None:
            self.session.tasks.cancel(self._job)
            self._job = None
        if settings is None or self.checked is None:
            self.sentence.setText("Something is missing at the left.")
            self.outlook.show_rows([])
            self.changed.emit()
            return
        checked = self.checked
        noise = self.noise_sd or checked.fact.noise_sd or 0.0
        self.sentence.setText("Asking the planner…")
        self._job = self.session.read(
            "Looking ahead",
            lambda report: look_ahead(checked.imported.library, noise, settings, report),
            lambda outlook: self._show(outlook, settings),
            self._refuse,
        )
        self.changed.emit()

    def _show(self, outlook: Outlook, settings: CampaignSettings) -> None:
        self._job = None
        self._ready = settings
        if self.checked is None:
            return
        endpoint = self.checked.endpoint
        best = "best" if endpoint.sign > 0 else "lowest"
        soft = f", cutoff soft by {settings.softness:g}" if settings.softness else ""
        self.sentence.setText(
            f"All compounds within {settings.distance:g} of the {best} {endpoint.scale_name}{soft}, "
            f"{100 * (1 - settings.delta):g} % sure."
        )
        self.outlook.show_rows(outlook.lines(settings, endpoint.scale_name))
        self._check_file()

    def _refuse(self, error: Exception) -> None:
        if isinstance(error, Cancelled):
            return
        self._job = None
        self.sentence.setText("")
        self.outlook.show_rows([])
        if isinstance(error, AssayPilotError):
            text, mend = error_words(error)
            self.problem.setText(f"{text} {mend}".strip())
            self.problem.show()
        self.changed.emit()

    def halt(self) -> None:
        """Nothing; the dialog closes: nothing is asked any more."""
        self._pause.stop()
