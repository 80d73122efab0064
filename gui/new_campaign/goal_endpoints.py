"""The endpoints of a goal, one box for each, and a line to name one that is not in the table."""

from __future__ import annotations

import time

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.domain.derived import in_words
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.tables.check import EndpointFacts

from ..resources.theme import theme
from ..widgets.inputs import line_edit
from ..widgets.layout import column_of, put, row_of
from ..widgets.text import button, label
from .endpoint_box import FIELD, MARGIN, EndpointBox

AT_ONCE = 0.02
"""Seconds for which boxes are made before the window gets its turn."""


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
        """The endpoints without a box so far, by place."""
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
        """Show these endpoints; the box of one that was there stays, and with it what was typed."""
        endpoints, before = [fact.endpoint for fact in facts], {box.name: box for box in self.boxes}
        # Two are enough to begin with; a table may have many columns. One that is added is wanted.
        others = [one.name for one in endpoints if one.name != objective]
        self._first = [objective, *(others if before else others[:1])]
        if endpoints != self._endpoints:
            self.new.clear()
            self.unit.clear()
            self.add_problem.hide()
        self.boxes, self._endpoints, self._objective = [], endpoints, objective
        self._missing = dict(enumerate(facts))
        for place, fact in enumerate(facts):
            if (box := before.get(fact.endpoint.name)) is not None and box.fits(fact.endpoint):
                box.show_fact(fact)
                self._put(place, before.pop(box.name))
        for box in before.values():
            self._column.removeWidget(box)
            box.hide()
            box.deleteLater()
        self._build()

    def _build(self) -> None:
        """Make boxes for an unnoticed moment, the one of the objective first, and the rest soon."""
        end = time.perf_counter() + AT_ONCE
        objective = next((n for n, fact in self._missing.items() if fact.endpoint.name == self._objective), None)
        for place in sorted(self._missing, key=lambda n: n != objective):
            self._add_box(place)
            if time.perf_counter() > end:
                break
        if self._missing:
            self._later.start()
            return
        # The tab order is that of the screen: after the parts above, and before the line below.
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
        self.show_for(self._goal, self._objective, self._parts)
        self.complete.emit()

    def _add_box(self, place: int) -> None:
        box = EndpointBox(self._missing[place], in_words(self._endpoints, place))
        box.chosen.setChecked(box.name in self._first)
        box.show_for(self._goal, objective=box.name == self._objective)
        box.changed.connect(self._show_needed)
        box.changed.connect(self.changed)
        self._put(place, box)

    def _put(self, place: int, box: EndpointBox) -> None:
        """Show a box at its place among those that are there."""
        del self._missing[place]
        names = [one.name for one in self._endpoints]
        here = sum(names.index(one.name) < place for one in self.boxes)
        self.boxes.insert(here, box)
        self._column.insertWidget(here, box)

    def show_for(self, goal: str, objective: str, parts: tuple[str, ...] = ()) -> None:
        """Show the fields of a goal and, for goals about one endpoint, its objective; of a profile its ``parts``."""
        self._goal, self._objective, self._parts = goal, objective, parts
        for box in self.boxes:
            box.show_for(goal, objective=box.name == objective)
        self._show_needed()

    def _show_needed(self) -> None:
        """Mark both endpoints of a difference as measured, and ask for their noise."""
        wholes = [box for box in self.boxes if box.fact.endpoint.of and (box.aimed_at or box.limit.text)]
        names = {*self._parts, *(name for box in wholes for name in box.fact.endpoint.of or ())}
        for box in self.boxes:
            if box.needed != (box.name in names):
                box.needed = box.name in names
                box.show_for(self._goal, objective=box.name == self._objective)

    def box(self, name: str) -> EndpointBox | None:
        """Return the box of an endpoint, made now where it was to come."""
        place = next((n for n, fact in self._missing.items() if fact.endpoint.name == name), None)
        if place is not None:
            self._add_box(place)
        return next((box for box in self.boxes if box.name == name), None)

    @property
    def aimed_at(self) -> tuple[str, ...]:
        """Names of the endpoints the goal is about."""
        return tuple(box.name for box in self.boxes if box.aimed_at)

    def read(self) -> list[Endpoint] | None:
        """Return the endpoints as described; None when a field is unusable, which shows the reason.

        Also None while boxes are missing; ``complete`` is emitted when all are there.
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
        """Whether all endpoints of a trade-off have an indifference zone, or none; a field without one shows it."""
        own = [box for box in self.boxes if box.aimed_at] if self._goal == "pareto" else []
        given = [box for box in own if box.margin.number(MARGIN)]
        if len(given) in (0, len(own)):
            return True
        for box in own:
            if box not in given:
                box.margin.problem("A difference above 0 is needed here, too, or in no endpoint.")
        return False

    def refuse_new(self, text: str) -> None:
        """Show why an endpoint could not be added."""
        self.add_problem.setText(text)
        self.add_problem.setVisible(bool(text))

    def _add(self) -> None:
        name, sign, of = (part.strip() for part in self.new.text().partition("="))
        if not any(minus in of for minus in "-\N{MINUS SIGN}\N{EN DASH}"):  # a name may have a sign, too: logD pH=7.4
            name, of = (name, "") if sign and not of else (self.new.text().strip(), "")
        if not name:
            return
        self.refuse_new("")
        if any(box.name.casefold() == name.casefold() for box in self.boxes):
            self.refuse_new(f"There is an endpoint {name} already.")
            return
        self.wanted.emit(name, self.unit.text().strip(), of)
