"""Controls and strategy of a new campaign."""

from __future__ import annotations

import math
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.domain.controls import Control, parse_control
from assaypilot.engine.domain.endpoint import Kind
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import Calibrated, Strategy, StrategyInfo

from ..tables.rows import plain_tip
from ..widgets.inputs import Field, Range, combo_box, fill_box
from ..widgets.layout import column_of, put
from ..widgets.text import error_words, label


class ControlsField(Field):
    """A line for the controls."""

    def __init__(self) -> None:
        super().__init__(
            "Controls",
            hint="measured in every round with the others, with what they should read",
            tip="For example REF-1 = 7.1, or REF-1 alone when the value is not known; several with semicolons",
            width=0,
        )
        self.edit.setPlaceholderText("REF-1 = 7.1; REF-2")

    def controls(self) -> tuple[Control, ...] | None:
        """Return the controls typed; None when they are unreadable, and the field shows why."""
        self.problem("")
        try:
            return controls_in(self.text)
        except AssayPilotError as error:
            self.problem(" ".join(filter(None, error_words(error))))
            return None


def controls_in(text: str) -> tuple[Control, ...]:
    """Return the controls that ``REF-1 = 7.1; REF-2`` names; ``REF-1 = pIC50 7.1, hERG 5`` of several endpoints.

    AssayPilotError for what names none.
    """
    found = []
    for part in filter(None, (piece.strip() for piece in text.split(";"))):
        name, equals, values = (piece.strip() for piece in part.partition("="))
        if not equals:
            found.append(parse_control(name))
            continue
        pieces = [piece.strip() for piece in values.split(", ")] if " " in values else [values]
        pairs = [piece.rpartition(" ") for piece in pieces]
        for _, _, value in pairs:
            if not _is_number(value):
                raise AssayPilotError(
                    f"{value!r} is no value of {name or 'a control'}",
                    mend="Write REF-1 = 7.1, on the log scale for a log endpoint, or the name alone.",
                )
        found.append(parse_control(";".join([name, *(f"{of.strip() or 'value'}={value}" for of, _, value in pairs)])))
    return tuple(found)


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


NAMES = {"linfact-mis": "LinFACT-MIS: compounds may be off the additive model"}
"""Descriptions of the strategies that are chosen for what they allow."""

ADDS_UP = "if effects add up"
PROMISES = {
    "epsilon-best": f"Finds all within the distance and none beyond the soft zone, {ADDS_UP}.",
    "best": f"Finds one within the soft zone of the best, {ADDS_UP}.",
    "pareto": "Finds all that no other beats in all endpoints, and none that one beats by more than the given "
    f"differences, {ADDS_UP}.",
}
"""What a proof guarantees, by goal."""
USUAL = ("adaptive", "linfact-g", "linfact-xy", "gege", "rage")
"""Strategies that promise that and nothing else."""
OTHERS = {
    "gaussian-process": "Effects need not add up.",
    "linfact-xy-as-printed": "As LinFACT-XY, with about four times the measurements.",
    "linfact-mis": "Decides correctly for all deviations from the additive model up to the one stated below.",
    "linfact-glm": "Its proof is incomplete; errors were measured by simulation.",
    "epsilon-best-fixed-budget": "Decides all within the budget, with a stated bound on wrong decisions.",
    "gege-fixed-budget": "Decides all within the budget; how often wrongly is not known.",
    "lingame": f"The answer is right whenever it stops, {ADDS_UP}.",
    "lingame-c": f"The answer is right whenever it stops, {ADDS_UP}.",
    "gse": "The larger the budget, the likelier the best is found.",
}
"""What the others promise; one of another package has its own text."""


def load_strategies() -> tuple[type[Strategy], ...]:
    """All strategies; takes half a second the first time, so it is for the worker."""
    from assaypilot.engine.strategies.registry import strategies

    return strategies()


class StrategyChoice(QWidget):
    """A combo, the strategy's promise below it, and a field for a number that only the chemist knows."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=2)
        self.combo = combo_box("Strategy")
        self.note = label("", "muted", wrap=True)
        self.off = Field(
            "How far a compound may be off the additive model",
            tip="The most the true value of any compound differs from the sum of what its substituents contribute. "
            "No number of measurements makes up for it: a soft zone has to be wider than several times as much.",
        )
        put(column, self.combo, self.note, self.off)
        self._goal = ""
        self._values = 0
        self._of: Kind = "value"
        """The kind of the one endpoint that a goal is about."""
        self._kinds: tuple[type[Strategy], ...] = ()
        self.combo.setEnabled(False)
        self.off.hide()
        self.off.edit.textChanged.connect(lambda _: self.changed.emit())
        self.combo.currentIndexChanged.connect(lambda _: self._chosen())

    @property
    def name(self) -> str:
        """The strategy chosen, ``auto`` for the one proposed."""
        return str(self.combo.currentData() or "auto")

    @property
    def off_model(self) -> bool:
        """Whether the chosen strategy needs the allowed distance of a compound from the additive model."""
        return bool(self._kinds) and any(knob.name == "model_error" for knob in self._info.parameters)

    @property
    def calibrated(self) -> bool:
        """Whether the strategy chosen states expected errors instead of proving."""
        return bool(self._goal) and isinstance(self._taken, Calibrated)

    @property
    def _taken(self) -> Strategy:
        from assaypilot.engine.strategies.registry import choose

        return choose(self.name, self._goal, values=self._values, kind=self._of)[0]

    @property
    def _info(self) -> StrategyInfo:
        return self._taken.info

    def parameters(self) -> dict[str, Any] | None:
        """Return the extra parameters of the chosen strategy.

        None when one is missing, which its field then shows.
        """
        if not self.off_model:
            return {}
        error = self.off.number(Range(above=0.0))
        return None if error is None else {"model_error": error}

    def unit(self, text: str) -> None:
        """Show the unit of the field's number."""
        self.off.hint(f"{text}: how far a compound may be off the additive model".lstrip(": "))

    def offer(self, kinds: tuple[type[Strategy], ...]) -> None:
        """Offer the strategies. Until then the proposed one is taken."""
        self._kinds = kinds
        self.combo.setEnabled(True)
        self._fill()

    def show_for(self, goal: str) -> None:
        """Offer the strategies for a goal; a suitable choice stays."""
        if goal == self._goal:
            return
        self._goal = goal
        self._fill()

    def suit(self, values: int, *, kind: Kind = "value") -> None:
        """Propose a strategy that fits so many ``values`` of compounds.

        ``kind``: of the one endpoint that the goal is about.
        """
        if (values, kind) != (self._values, self._of):
            self._values, self._of = values, kind
            if (place := self.combo.findData("proven")) >= 0:
                self.combo.setItemText(place, self._proposed)
                self._describe()

    @property
    def _proposed(self) -> str:
        from assaypilot.engine.strategies.registry import propose

        taken = propose(self._goal, values=self._values, kind=self._of)[0]
        return f"Proven if effects add up: {taken.info.title}"

    def _fill(self) -> None:
        goal = self._goal
        if not goal or not self._kinds:
            return
        before = self.name
        from assaypilot.engine.strategies.registry import PROVEN_GOALS

        own = [kind.info for kind in self._kinds if goal in kind.info.goals]
        choices = [("Calibrated: effects need not add up", "auto")]
        choices += [(self._proposed, "proven")] if goal in PROVEN_GOALS else []
        fill_box(self.combo, [*choices, *((NAMES.get(info.name, info.title), info.name) for info in own)], before)
        self._chosen()

    def _chosen(self) -> None:
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        """Show why a strategy is proposed, and what the chosen one promises for this goal."""
        from assaypilot.engine.strategies.registry import propose

        info = self._info
        self.off.setVisible(self.off_model)
        words = PROMISES[self._goal] if info.name in USUAL else OTHERS.get(info.name, f"{info.guarantee}.")
        more = ""
        if self.name == "auto":
            more = "Expected missing and wrong compounds are shown at all times."
        if self.name == "proven":
            more = f"Proposed because {propose(self._goal, values=self._values, kind=self._of)[1]}."
        self.note.setText(words)
        self.note.setVisible(self.name != "auto")  # its name says it
        self.combo.setToolTip(plain_tip(f"{words} {more}".strip()))
