"""The endpoints of a goal, one box for each, and a line to name one that is not in the table."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QFrame, QGridLayout, QHBoxLayout, QWidget

from assaypilot.engine.domain.difference import in_words
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import FEW_REPEATED
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import EndpointFacts

from ..resources.theme import theme
from ..tables.rows import plain_tip
from ..widgets.inputs import Field, Range, combo_box, line_edit
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import ElidedLabel, button, cut_middle, error_words, label, mnemonic_free

FIELD = 96
"""Pixels of a line for a number, with text of the usual size."""
LONGEST = 40
"""Letters of an endpoint's name beside its box: what is wrong with it needs the room more."""
UNKNOWN_TIP = (
    "Replicates, which the first rounds buy on purpose, tell the noise; decisions use an upper bound on it, part of "
    "the guarantee. That takes about half as many measurements again"
)


MARGIN = Range(least=0.0, optional=True)
"""A difference that does not matter."""


class EndpointBox(QFrame):
    """One endpoint: its part in the goal, and what was said of it."""

    changed = Signal()

    def __init__(self, fact: EndpointFacts, made: str = "") -> None:
        """``made``: of a difference how it is made, ``pIC50 - phERG``."""
        super().__init__()
        self.setObjectName("card")
        self.fact = fact
        self.aim = "epsilon-best"
        self.needed = False
        """Whether a difference that is asked for is made of it, so that it is measured."""
        column_of(self._top(made), self._grid_of_fields(), holder=self, margins=(12, 9, 12, 10), spacing=7)
        self._hint_noise()
        self.chosen.toggled.connect(lambda _: self._typed())
        self.direction.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.show_for("epsilon-best", objective=True)

    def _top(self, made: str) -> QHBoxLayout:
        """The endpoint's name, whether it is part of a trade-off, and which way is better."""
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
        """The fields for its noise, what does not matter, and its limit, each with what is wrong with it below."""
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
        grid.setHorizontalSpacing(14)
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
            # What is wrong has the whole width to say so.
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
        return self.chosen.isChecked() if self.aim == "pareto" else self._objective

    @property
    def measured(self) -> bool:
        """Whether it is measured in each round: a difference never is, its parts are."""
        return self.fact.endpoint.of is None and (self.aimed_at or self.needed or bool(self.limit.text))

    def show_fact(self, fact: EndpointFacts) -> None:
        """The table says something else of the same endpoint."""
        if fact is not self.fact:
            self.fact = fact
            self._hint_noise()

    def show_for(self, goal: str, *, objective: bool) -> None:
        """Show what applies for a goal; ``objective``: it is the one endpoint a goal is about."""
        self.aim, self._objective = goal, objective
        trade = goal == "pareto"
        self.chosen.setVisible(trade)
        self.title.setVisible(not trade)
        plain = self.fact.endpoint.kind == "value"
        # Of yes and no, and of counts, what is wanted was said with the columns, and the noise follows from the mean.
        self.direction.setVisible(self.aimed_at and plain)
        applies = (self.measured and plain, trade and self.aimed_at, True)
        for place, (caption, field, wanted) in enumerate(zip(self._captions, self._fields, applies, strict=True)):
            self._grid.setColumnMinimumWidth(place, 128 if wanted else 0)
            caption.setVisible(wanted)
            field.setVisible(wanted)
            field.note.setVisible(wanted and bool(field.note.text()))
        self.unknown.setVisible(self.measured and plain)

    def read(self) -> Endpoint | None:
        """The endpoint as it was described; None when something of it cannot be used, which is then said beside it."""
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
        if self.aim == "pareto" and self.aimed_at:
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
            epsilon=epsilon if self.aim == "pareto" else endpoint.epsilon,
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
        self.show_for(self.aim, objective=self._objective)
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


AT_ONCE = 0.02
"""Seconds for which boxes are made before the window gets its turn."""


@dataclass(frozen=True, slots=True)
class _Said:
    """What was typed for an endpoint, kept when the table is read anew."""

    chosen: bool
    direction: int
    texts: tuple[str, str, str]
    unknown: bool
    way: str
    """Which way was better as the table had it."""


class EndpointList(QWidget):
    """The boxes of all endpoints, and a line to name one that is not in the table."""

    changed = Signal()
    complete = Signal()
    """All boxes are there: of many endpoints they come one after the other."""
    wanted = Signal(str, str, str)
    """Name and unit of an endpoint to be added, and the two that it is the difference of: ``pIC50 - hERG`` or empty."""

    def __init__(self) -> None:
        super().__init__()
        self._column = column_of(holder=self, spacing=8)
        self.boxes: list[EndpointBox] = []
        self.problem = label("", "problem", wrap=True)
        self.problem.hide()
        put(self._column, self.problem, self._adding())
        self._goal, self._objective = "epsilon-best", ""
        self._parts: tuple[str, ...] = ()
        self._missing: dict[int, EndpointFacts] = {}
        """By place, the endpoints that have no box yet."""
        self._said: dict[str, _Said] = {}
        self._first: list[str] = []
        self._endpoints: list[Endpoint] = []
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.timeout.connect(self._build)

    @property
    def building(self) -> bool:
        """Whether boxes are to come."""
        return self._later.isActive()

    def _adding(self) -> QWidget:
        holder = QWidget()
        column = column_of(holder=holder, spacing=3)
        row = row_of(spacing=8)
        self.new = line_edit(
            "Name of a further endpoint",
            hint="Further endpoint",
            tip="The name of an endpoint that is not in the table; or a name, = and two endpoints with a minus "
            "between: their difference on the log scale, which is calculated and not measured",
        )
        self.unit = line_edit("Unit of the further endpoint", hint="unit")
        self.unit.setFixedWidth(round(FIELD * theme().scale))
        self.add = button("&Add")
        self.add.setEnabled(False)
        self.add.setAccessibleName("Add the further endpoint")
        self.add_problem = label("", "problem", wrap=True)
        self.add_problem.hide()
        self.new.textChanged.connect(lambda text: self.add.setEnabled(bool(text.strip())))
        self.new.returnPressed.connect(self._add)
        self.unit.returnPressed.connect(self._add)
        self.add.clicked.connect(self._add)
        put(row, (self.new, 1), self.unit, self.add)
        put(column, row, self.add_problem)
        return holder

    def show_facts(self, facts: tuple[EndpointFacts, ...], objective: str) -> None:
        """Show these endpoints; what was typed for one of the same name stays."""
        endpoints = [fact.endpoint for fact in facts]
        if endpoints == self._endpoints and not self._missing:
            for box, fact in zip(self.boxes, facts, strict=True):
                box.show_fact(fact)
            self.show_for(self._goal, objective, self._parts)
            self.complete.emit()
            return
        for box in self.boxes:
            self._said[box.name] = _Said(
                box.chosen.isChecked(),
                box.direction.currentIndex(),
                (box.noise.edit.text(), box.margin.edit.text(), box.limit.edit.text()),
                box.unknown.isChecked(),
                box.fact.endpoint.direction,
            )
            self._column.removeWidget(box)
            box.hide()
            box.deleteLater()
        # Two are enough to begin with; a table may have many columns.
        self._first = [objective, *(one.name for one in endpoints if one.name != objective)][:2]
        self.boxes, self._endpoints = [], endpoints
        self._objective = objective
        self._missing = dict(enumerate(facts))
        self.new.clear()
        self.unit.clear()
        self.add_problem.hide()
        self._build()

    def _build(self) -> None:
        """Make boxes for as long as nobody notices, the one of the objective first, and the rest soon."""
        end = time.perf_counter() + AT_ONCE
        objective = next((n for n, fact in self._missing.items() if fact.endpoint.name == self._objective), None)
        for place in sorted(self._missing, key=lambda n: n != objective):
            self._add_box(place)
            if time.perf_counter() > end:
                break
        if self._missing:
            self._later.start()
            return
        # The boxes come where they stand: after what is above them, and before the line below.
        before = self.new.previousInFocusChain() or self.new
        while before is not self.new and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
            before = before.previousInFocusChain() or self.new
        parts = [
            part
            for box in self.boxes
            for part in (
                box.chosen,
                box.direction,
                box.noise.edit,
                box.margin.edit,
                box.limit.edit,
                box.unknown,
            )
        ]
        for part in (*parts, self.new, self.unit, self.add):
            QWidget.setTabOrder(before, part)
            before = part
        self._said.clear()
        self.show_for(self._goal, self._objective, self._parts)
        self.complete.emit()

    def _add_box(self, place: int) -> None:
        fact = self._missing.pop(place)
        box = EndpointBox(fact, in_words(self._endpoints, place))
        was = self._said.get(box.name)
        box.chosen.setChecked(box.name in self._first if not self._said else (was is None or was.chosen))
        if was is not None:
            for field, text in zip((box.noise, box.margin, box.limit), was.texts, strict=True):
                field.edit.setText(text)
            box.unknown.setChecked(was.unknown)
            if was.way == fact.endpoint.direction:
                box.direction.setCurrentIndex(was.direction)
        box.show_for(self._goal, objective=box.name == self._objective)
        box.changed.connect(self._show_needed)
        box.changed.connect(self.changed)
        names = [one.name for one in self._endpoints]
        here = sum(names.index(one.name) < place for one in self.boxes)
        self.boxes.insert(here, box)
        self._column.insertWidget(here, box)

    def show_for(self, goal: str, objective: str, parts: tuple[str, ...] = ()) -> None:
        """Show what applies for a goal and, for goals about one endpoint, its objective; of a profile its ``parts``."""
        self._goal, self._objective, self._parts = goal, objective, parts
        for box in self.boxes:
            box.show_for(goal, objective=box.name == objective)
        self._show_needed()

    def _show_needed(self) -> None:
        """What a difference that is asked for is made of is measured, and its noise is asked for."""
        wholes = [box for box in self.boxes if box.fact.endpoint.of and (box.aimed_at or box.limit.text)]
        names = {*self._parts, *(name for box in wholes for name in box.fact.endpoint.of or ())}
        for box in self.boxes:
            if box.needed != (box.name in names):
                box.needed = box.name in names
                box.show_for(self._goal, objective=box.name == self._objective)

    def box(self, name: str) -> EndpointBox | None:
        """The box of an endpoint, made now where it was to come."""
        place = next((n for n, fact in self._missing.items() if fact.endpoint.name == name), None)
        if place is not None:
            self._add_box(place)
        return next((box for box in self.boxes if box.name == name), None)

    @property
    def aimed_at(self) -> tuple[str, ...]:
        """Names of the endpoints the goal is about."""
        return tuple(box.name for box in self.boxes if box.aimed_at)

    def read(self) -> list[Endpoint] | None:
        """The endpoints as they were described; None when something cannot be used, which is said beside it.

        None, too, as long as boxes are to come: ``complete`` tells when they are there.
        """
        if self._missing:
            return None
        read = [box.read() for box in self.boxes]
        few = self._goal == "pareto" and len(self.aimed_at) < 2
        self.problem.setText("Trade-offs need at least two endpoints: tick another one, or add it below.")
        self.problem.setVisible(few)
        good = [endpoint for endpoint in read if endpoint is not None]
        if few or not good or len(good) < len(read) or not self._margins_agree():
            return None
        return good

    def _margins_agree(self) -> bool:
        """Whether all endpoints of a trade-off have a difference that does not matter, or none; said where it lacks."""
        own = [box for box in self.boxes if box.aimed_at] if self._goal == "pareto" else []
        given = [box for box in own if box.margin.number(MARGIN)]
        if len(given) in (0, len(own)):
            return True
        for box in own:
            if box not in given:
                box.margin.problem("A difference above 0 is needed here, too, or in no endpoint.")
        return False

    def refuse_new(self, text: str) -> None:
        """Say why an endpoint could not be added."""
        self.add_problem.setText(text)
        self.add_problem.setVisible(bool(text))

    def _add(self) -> None:
        name, sign, of = (part.strip() for part in self.new.text().partition("="))
        if not any(minus in of for minus in "-\N{MINUS SIGN}\N{EN DASH}"):  # a name may hold a sign, too: logD pH=7.4
            name, of = (name, "") if sign and not of else (self.new.text().strip(), "")
        if not name:
            return
        self.refuse_new("")
        if any(box.name.casefold() == name.casefold() for box in self.boxes):
            self.refuse_new(f"There is an endpoint {name} already.")
            return
        self.wanted.emit(name, self.unit.text().strip(), of)
