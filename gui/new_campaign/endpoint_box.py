"""One endpoint of a goal: its part in it, its noise, its indifference zone, and its limit."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout

from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import FEW_REPEATED
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import EndpointFacts

from ..tables.rows import plain_tip
from ..widgets.inputs import Field, Range, combo_box
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import ElidedLabel, cut_middle, error_words, label, mnemonic_free

FIELD = 96
"""Pixels of a line for a number, with text of the usual size."""
LONGEST = 40
"""Letters of an endpoint's name next to its box: its problem needs the room more."""
UNKNOWN_TIP = (
    "The first rounds include replicates, which show the noise; decisions use an upper bound on it, part of "
    "the guarantee. That takes about half as many measurements again"
)


MARGIN = Range(least=0.0, optional=True)
"""A difference that does not matter."""


class EndpointBox(QFrame):
    """One endpoint: its part in the goal, and its description."""

    changed = Signal()

    def __init__(self, fact: EndpointFacts, made: str = "") -> None:
        """``made``: of a difference how it is made, ``pIC50 - phERG``."""
        super().__init__()
        self.setObjectName("card")
        self.fact = fact
        self.goal = "epsilon-best"
        self.needed = False
        """Whether a requested difference needs it, so that it is measured."""
        column_of(self._top(made), self._grid_of_fields(), holder=self, margins=(12, 9, 12, 10), spacing=7)
        self._hint_noise()
        self.chosen.toggled.connect(lambda _: self._typed())
        self.direction.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.show_for("epsilon-best", objective=True)

    def _top(self, made: str) -> QHBoxLayout:
        """Return the endpoint's name, whether it is part of a trade-off, and which way is better."""
        endpoint = self.fact.endpoint
        top = row_of(spacing=10)
        name = endpoint.scale_name
        shown = name if name == endpoint.name else f"{name}  ({endpoint.name})"
        if endpoint.of is not None:
            shown = f"{name} = {made}"
        self.chosen = QCheckBox(mnemonic_free(cut_middle(shown, LONGEST)))
        self.chosen.setAccessibleName(f"{name} is part of the trade-off")
        self.chosen.setToolTip(plain_tip(f"{shown}: part of the trade-off"))
        self.title = ElidedLabel("heading")
        self.title.setText(shown)
        self.direction = combo_box(f"Which {name} is better")
        for word, way in (("higher", "max"), ("lower", "min")):
            self.direction.addItem(f"{word} is better", way)
        self.direction.setCurrentIndex(0 if endpoint.sign > 0 else 1)
        put(top, self.chosen, (self.title, 1))
        top.addStretch(0)
        top.addWidget(self.direction)
        return top

    def _grid_of_fields(self) -> QGridLayout:
        """Return the fields for noise, margin and limit, each with its problem below."""
        endpoint, name, unit = self.fact.endpoint, self.fact.endpoint.scale_name, self.fact.endpoint.scale_unit
        self.noise = Field(f"Assay noise (SD) of {name}", width=FIELD)
        self.margin = Field(f"Difference in {name} that does not matter", width=FIELD)
        self.limit = Field(f"Limit of {name}", width=FIELD)
        self._fields = (self.noise, self.margin, self.limit)
        tips = (
            "SD between independent measurements of one compound; a guess where replicates estimate it",
            "Compounds that differ by no more than this are as good as equal here: it makes a campaign affordable",
            f"What every compound's {endpoint.name} must keep to, in the unit of the table: <5 or >6. "
            "What certainly fails is out, whatever else it has",
        )
        for field, tip in zip(self._fields, tips, strict=True):
            field.setToolTip(plain_tip(tip))
            field.edit.setToolTip(plain_tip(tip))
        self.limit.edit.setPlaceholderText(">10000" if endpoint.unit == "nM" else "<5 or >6")
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(3)
        in_unit = f" ({unit})" if unit else ""
        captions = (
            f"Noise SD{in_unit}",
            f"Does not matter{in_unit}",
            f"Limit{f' ({endpoint.unit})' if endpoint.unit else ''}",
        )
        self._captions = [label(text, "muted") for text in captions]
        for place, (caption, field) in enumerate(zip(self._captions, self._fields, strict=True)):
            grid.addWidget(caption, 0, place)
            grid.addWidget(field, 1, place)
            # A problem has the whole width.
            grid.addWidget(field.note, 3 + place, 0, 1, 4)
            field.edit.textChanged.connect(lambda _: self._typed())
        self.unknown = QCheckBox("Estimate from replicates")
        self.unknown.setAccessibleName(f"The assay noise of {name} is not known: estimate it from replicates")
        self.unknown.setToolTip(plain_tip(UNKNOWN_TIP))
        self.unknown.setChecked(self.fact.noise_sd is None and self.fact.usual_sd is not None)
        self.unknown.toggled.connect(lambda _: self._hint_noise())
        self.unknown.toggled.connect(lambda _: self._typed())
        grid.addWidget(self.unknown, 2, 0, 1, 4)
        self._grid = grid
        grid.setColumnStretch(3, 1)
        return grid

    @property
    def name(self) -> str:
        """The endpoint's name."""
        return self.fact.endpoint.name

    @property
    def aimed_at(self) -> bool:
        """Whether the goal is about it."""
        return self.chosen.isChecked() if self.goal == "pareto" else self._objective

    @property
    def measured(self) -> bool:
        """Whether it is measured in each round: a difference never is, its parts are."""
        return self.fact.endpoint.of is None and (self.aimed_at or self.needed or bool(self.limit.text))

    def fits(self, endpoint: Endpoint) -> bool:
        """Whether it can go on as the box of an endpoint, whichever way is better."""
        return replace(endpoint, direction=self.fact.endpoint.direction) == self.fact.endpoint

    def show_fact(self, fact: EndpointFacts) -> None:
        """Take over the table's current values of the same endpoint."""
        if fact.endpoint != self.fact.endpoint:
            self.direction.setCurrentIndex(0 if fact.endpoint.sign > 0 else 1)
        self.fact = fact
        self._hint_noise()

    def show_for(self, goal: str, *, objective: bool) -> None:
        """Show the fields of a goal; ``objective``: it is the one endpoint a goal is about."""
        self.goal, self._objective = goal, objective
        trade = goal == "pareto"
        self.chosen.setVisible(trade)
        self.title.setVisible(not trade)
        plain = self.fact.endpoint.kind == "value"
        # For yes/no and counts, the direction was chosen with the columns, and the noise follows from the mean.
        self.direction.setVisible(self.aimed_at and plain)
        applies = (self.measured and plain, trade and self.aimed_at, True)
        for place, (caption, field, wanted) in enumerate(zip(self._captions, self._fields, applies, strict=True)):
            self._grid.setColumnMinimumWidth(place, 142 if wanted else 0)
            caption.setVisible(wanted)
            field.setVisible(wanted)
            field.note.setVisible(wanted and bool(field.note.text()))
        self.unknown.setVisible(self.measured and plain)

    def read(self) -> Endpoint | None:
        """Return the endpoint as it was described.

        None when part of it is unusable, with the reason at its field.
        """
        endpoint, good = self.fact.endpoint, True
        limit = self._limit()
        good &= not self.limit.wrong
        noise = epsilon = None
        plain = endpoint.kind == "value"
        if self.measured and plain:
            noise = self.noise.number(Range(above=0.0, optional=True))
            good &= not self.noise.wrong
            if (
                good
                and noise is None
                and self.fact.noise_sd is None
                and self.fact.usual_sd is None
                and self.unknown.isChecked()
            ):
                self.noise.problem("A guess is needed for the first plan; no decision rests on it.")
                good = False
            elif good and noise is None and self.fact.noise_sd is None and not self.unknown.isChecked():
                self.noise.problem("The noise is needed: no compound was measured twice.")
                good = False
        if self.goal == "pareto" and self.aimed_at:
            epsilon = self.margin.number(MARGIN)
            good &= not self.margin.wrong
        if not good:
            return None
        unknown = self.measured and plain and self.unknown.isChecked()
        return replace(
            endpoint,
            direction=self.direction.currentData() if self.aimed_at and plain else endpoint.direction,
            noise_sd=noise if noise is not None else endpoint.noise_sd or (self.fact.usual_sd if unknown else None),
            noise_estimated=unknown,
            epsilon=epsilon if self.goal == "pareto" else endpoint.epsilon,
            limit=limit,
        )

    def _limit(self) -> Limit | None:
        self.limit.problem("")
        if not self.limit.text:
            return None
        try:
            limit = Limit.parse(self.limit.text)
        except AssayPilotError:
            self.limit.problem("A limit is written <5 or >6.")
            return None
        try:
            replace(self.fact.endpoint, limit=limit)
        except AssayPilotError as error:
            self.limit.problem(error_words(error)[0])
            return None
        return limit

    def _typed(self) -> None:
        self.show_for(self.goal, objective=self._objective)
        self.changed.emit()

    def _hint_noise(self) -> None:
        fact, in_unit = self.fact, f" ({self.fact.endpoint.scale_unit})" if self.fact.endpoint.scale_unit else ""
        self._captions[0].setText(f"{'Noise, guessed' if self.unknown.isChecked() else 'Noise SD'}{in_unit}")
        if self.unknown.isChecked():
            usual = fact.usual_sd if fact.noise_sd is None else fact.noise_sd
            self.noise.edit.setPlaceholderText("" if usual is None else f"{usual:.3g}")
            self.noise.hint("")
        elif fact.noise_sd is not None:
            self.noise.edit.setPlaceholderText(f"{fact.noise_sd:.3g}")
            one = fact.replicate_groups == 1
            groups = f"{fact.replicate_groups} replicated compound{' says' if one else 's say'}"
            few = ": too few to rely on, better type your assay's own" if fact.replicate_groups < FEW_REPEATED else ""
            self.noise.hint(f"Noise between measurements; empty: as {groups}{few}")
        else:
            self.noise.edit.setPlaceholderText("")
            self.noise.hint("")
