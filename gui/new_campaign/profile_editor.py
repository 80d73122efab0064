"""The desirability curves of a profile: a small picture of each whose points are dragged, and its numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPalette, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QFrame, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from assaypilot.engine.chemistry.calculated import some_values
from assaypilot.engine.domain.derived import PROPERTIES
from assaypilot.engine.domain.desirability import Curve
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError

from ..resources.theme import theme
from ..tables.rows import plain_tip
from ..widgets.text import error_words, label, mnemonic_free, three_digits

_CAPTIONS = ("0 at", "1 at", "1 until", "0 from")
_NEAR = 14.0
"""Pixels from a point within which the mouse takes hold of it."""
_MARGIN = 8.0
"""Pixels around the axis, for a point at its end."""
_BEYOND = 0.35
"""Of the width of the curve, how much of the axis is shown beyond either end."""
_DECIMALS = 12
"""Enough for a potency in mol/L."""
_STEPS = 100
"""Values across the axis that dragging can choose."""
_RULES = {"MW": (550, 450), "cLogP": (6, 4), "TPSA": (160, 120), "HBD": (6, 4), "Rotatable bonds": (12, 8)}
"""Where the curves of properties begin and end before they are drawn: Lipinski's and Veber's rules are half way."""
_UNITS = {"MW": "g/mol", "TPSA": "Å²"}


class Number(QDoubleSpinBox):
    """A number without zeros at its end; arrow keys step it."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setDecimals(_DECIMALS)
        self.setRange(-1e9, 1e9)
        self.setStepType(QDoubleSpinBox.StepType.AdaptiveDecimalStepType)
        self.setKeyboardTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedWidth(round(86 * theme().scale))
        self.lineEdit().setTextMargins(6, 0, 0, 0)

    def textFromValue(self, value: float) -> str:
        """Return the text of a value."""
        plain = f"{value:.{_DECIMALS}f}".rstrip("0").rstrip(".")
        return plain.replace(".", self.locale().decimalPoint())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the page that scrolls, unless the keyboard is here."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class CurvePlot(QWidget):
    """One curve over the values that were measured; its points are dragged sideways."""

    dragged = Signal(int, float)
    """The place of a point, and the value it was dragged to."""

    def __init__(self, name: str, *, log: bool) -> None:
        super().__init__()
        self._log = log
        self._values: tuple[float, ...] = ()
        self._measured: tuple[float, ...] = ()
        self._axis = (0.0, 1.0)
        self._held: int | None = None
        self.setMinimumHeight(round(92 * theme().scale))
        self.setMouseTracking(True)
        self.setAccessibleName(f"Desirability curve of {name}; the numbers below are the same")

    def show_curve(self, values: tuple[float, ...], measured: tuple[float, ...]) -> None:
        """Show a curve of two or four values; the axis stays while a point is dragged."""
        self._values, self._measured = values, measured
        if self._held is None:
            places = [self._place(value) for value in (*values, *measured)]
            wide = _BEYOND * abs(self._place(values[-1]) - self._place(values[0])) or 1.0
            ends = [self._place(value) for value in values]
            self._axis = (min(*places, min(ends) - wide), max(*places, max(ends) + wide))
        self.update()

    def point(self, place: int) -> QPointF:
        """Return where a point of the curve is shown."""
        return self._at(self._values[place], self._height(place))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the curve, its points, and the measured values below."""
        colours = theme().colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.line), 1))
        for height in (0.0, 0.5, 1.0):
            painter.drawLine(QPointF(0, self._y(height)), QPointF(self.width(), self._y(height)))
        painter.setPen(QPen(QColor(colours.muted), 1))
        for value in self._measured:
            at = self._at(value, 0.0)
            painter.drawLine(at, at - QPointF(0, 6))
        for end, side in zip(self._axis, (Qt.AlignmentFlag.AlignLeft, Qt.AlignmentFlag.AlignRight), strict=True):
            text = three_digits(10.0**end if self._log else end)
            painter.drawText(QRectF(self.rect()), int(side | Qt.AlignmentFlag.AlignBottom), text)
        points = [self.point(place) for place in range(len(self._values))]
        if points:
            first, last = QPointF(points[0]), QPointF(points[-1])
            first.setX(0.0 if points[-1].x() >= points[0].x() else float(self.width()))
            last.setX(float(self.width()) - first.x())
            painter.setPen(QPen(QColor(colours.accent), 2))
            painter.drawPolyline(QPolygonF([first, *points, last]))
            painter.setBrush(self.palette().color(QPalette.ColorRole.Window))
            for point in points:
                painter.drawEllipse(point, 5.0, 5.0)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Take hold of the point under the mouse."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._held = self._under(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the point that is held."""
        held = self._held
        grips = held is not None or self._under(event.position()) is not None
        self.setCursor(Qt.CursorShape.SizeHorCursor if grips else Qt.CursorShape.ArrowCursor)
        if held is None:
            return
        low, high = self._axis
        share = min(max((event.position().x() - _MARGIN) / max(self.width() - 2 * _MARGIN, 1.0), 0.0), 1.0)
        step = (high - low) / _STEPS
        # A step in round numbers, so that dragging does not leave 6.4837.
        rounding = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
        place = round((low + share * (high - low)) / rounding) * rounding
        self.dragged.emit(held, float(f"{10.0**place if self._log else place:.3g}"))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Let the point go."""
        self._held = None
        self.show_curve(self._values, self._measured)

    def _under(self, at: QPointF) -> int | None:
        """Return the point of the curve near the mouse; None where there is none."""
        away = [QPointF(self.point(place) - at) for place in range(len(self._values))]
        distances = [math.hypot(one.x(), one.y()) for one in away]
        return distances.index(min(distances)) if distances and min(distances) <= _NEAR else None

    def _height(self, place: int) -> float:
        """Return the desirability at a point."""
        return 1.0 if place in (1, 2) else 0.0

    def _place(self, value: float) -> float:
        """Return the place of a value on the axis: logarithms where the endpoint is modelled so."""
        return math.log10(max(value, 1e-12)) if self._log else value

    def _at(self, value: float, height: float) -> QPointF:
        low, high = self._axis
        share = (self._place(value) - low) / max(high - low, 1e-12)
        return QPointF(_MARGIN + share * (self.width() - 2 * _MARGIN), self._y(height))

    def _y(self, height: float) -> float:
        return 10.0 + (1.0 - height) * (self.height() - 14.0 - self.fontMetrics().height())


class CurveBox(QFrame):
    """The curve of an endpoint or property: whether it is in the profile, its picture, its numbers, its weight."""

    changed = Signal()

    def __init__(
        self,
        endpoint: Endpoint,
        known: Sequence[float] | Callable[[], Sequence[float]],
        first: Sequence[float],
        *,
        chosen: bool = True,
    ) -> None:
        """``known``: the existing values, fetched once it is drawn; ``first``: the four initial numbers."""
        super().__init__()
        self.setObjectName("card")
        self.endpoint, self._known = endpoint, cache(known if callable(known) else lambda: known)
        name, unit = endpoint.name, endpoint.unit or _UNITS.get(endpoint.name, "")
        self.chosen = QCheckBox(mnemonic_free(f"{name}{f' ({unit})' if unit else ''}"))
        self.chosen.setToolTip(plain_tip(f"{name} is part of the profile"))
        self.chosen.setChecked(chosen)
        self.plot = CurvePlot(name, log=endpoint.transform == "log")
        self.numbers = [Number(f"{name}: desirability {caption}") for caption in _CAPTIONS]
        self._captions = [label(caption, "muted") for caption in _CAPTIONS]
        self.plateau = QCheckBox("Optimum in between")
        self.plateau.setToolTip("Desirable between two values, and less so beyond either")
        self.weight = Number(f"{name}: weight")
        self.weight.setRange(0.01, 100.0)
        self.weight.setValue(1.0)
        self.problem = label("", "problem", wrap=True)
        self.problem.hide()
        top = QHBoxLayout()
        top.addWidget(self.chosen, 1)
        top.addWidget(self.plateau)
        top.addWidget(label("Weight", "muted"))
        top.addWidget(self.weight)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        for place, (caption, number) in enumerate(zip(self._captions, self.numbers, strict=True)):
            grid.addWidget(caption, 0, place)
            grid.addWidget(number, 1, place)
            number.valueChanged.connect(lambda _: self._edited())
        grid.setColumnStretch(len(self.numbers), 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 9, 12, 10)
        column.setSpacing(6)
        column.addLayout(top)
        column.addWidget(self.plot)
        column.addLayout(grid)
        column.addWidget(self.problem)
        for value, number in zip(first, self.numbers, strict=True):
            number.setValue(value)
        self.chosen.toggled.connect(lambda _: self._edited())
        self.plateau.toggled.connect(lambda _: self._edited())
        self.weight.valueChanged.connect(lambda _: self._edited())
        self.plot.dragged.connect(lambda place, value: self.numbers[place].setValue(value))
        self._edited()

    def show_curve(self, curve: Curve) -> None:
        """Show a curve."""
        for number, value in zip(self.numbers, curve.values, strict=False):
            number.setValue(value)
        self.plateau.setChecked(len(curve.values) > 2)
        self.weight.setValue(curve.weight)

    def curve(self) -> Curve | None:
        """Return the curve; None where it is left out or impossible, with the reason shown."""
        self.problem.hide()
        if not self.chosen.isChecked():
            return None
        try:
            curve = Curve(self.endpoint.name, self._values(), self.weight.value())
            for value in curve.values:
                self.endpoint.to_model(value)
        except AssayPilotError as error:
            self.problem.setText(" ".join(error_words(error)).strip())
            self.problem.show()
            return None
        return curve

    def _values(self) -> tuple[float, ...]:
        return tuple(number.value() for number in self.numbers[: 4 if self.plateau.isChecked() else 2])

    def _edited(self) -> None:
        used = self.chosen.isChecked()
        for place, (caption, number) in enumerate(zip(self._captions, self.numbers, strict=True)):
            for widget in (caption, number):
                widget.setVisible(used and (place < 2 or self.plateau.isChecked()))
        self.plot.setVisible(used)
        self.plateau.setEnabled(used)
        self.weight.setEnabled(used)
        if used:
            self.plot.show_curve(self._values(), tuple(self._known()))
        self.curve()
        self.changed.emit()


class ProfileEditor(QWidget):
    """The curves of all measured endpoints of a table, and of properties computed from its structures."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self.boxes: list[CurveBox] = []
        self._offered: tuple[Sequence[Endpoint], Sequence[Endpoint], Sequence[Result], Sequence[str]] = ((), (), (), ())
        """What a curve can be of, measured and computed, with the values and the structures."""
        self._column.addWidget(
            label("Drag the points. One useless value makes a compound useless.", "muted", wrap=True)
        )  # fmt: skip

    def offer(
        self, endpoints: Sequence[Endpoint], measured: Sequence[Result], smiles: Sequence[str] | None = None
    ) -> None:
        """Offer a curve for each measured endpoint and, by structures, each property; ``draw`` makes them."""
        wanted = [one for one in endpoints if one.of is None and one.kind == "value"]
        taken = {spelling.casefold() for one in wanted for spelling in (one.name, one.scale_name)}
        calculated = [Endpoint(name) for name in PROPERTIES if any(smiles or ()) and name.casefold() not in taken]
        self._offered = wanted, calculated, measured, smiles or ()
        if self.boxes:
            self.draw()

    @property
    def choices(self) -> int:
        """How many curves are offered."""
        return len(self._offered[0]) + len(self._offered[1])

    def draw(self) -> None:
        """Make the curves that are offered, which takes a moment; one drawn before stays."""
        entered, calculated, measured, smiles = self._offered
        wanted = [*entered, *calculated]
        if wanted == [box.endpoint for box in self.boxes]:
            return
        before = {(box.endpoint.name, box.endpoint.unit, box.endpoint.transform): box for box in self.boxes}
        self.boxes = []
        for endpoint in wanted:
            box = before.pop((endpoint.name, endpoint.unit, endpoint.transform), None)
            if box is None:
                if endpoint in calculated:
                    box = _property_box(endpoint, smiles)
                else:
                    values = [one.value for one in measured if one.endpoint == endpoint.name and one.relation == "="]
                    box = CurveBox(endpoint, values, _usual(endpoint, values))
                box.changed.connect(self.changed)
            box.endpoint = endpoint
            self.boxes.append(box)
            self._column.addWidget(box)
        for box in before.values():
            self._column.removeWidget(box)
            box.hide()
            box.deleteLater()

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Show these curves; endpoints without one are no part of the profile."""
        drawn = {curve.endpoint: curve for curve in curves}
        for box in self.boxes:
            box.chosen.setChecked(box.endpoint.name in drawn)
            if box.endpoint.name in drawn:
                box.show_curve(drawn[box.endpoint.name])

    def curves(self) -> tuple[Curve, ...] | None:
        """Return the curves; None while one that is part of the profile cannot be used, or none is."""
        read = [box.curve() for box in self.boxes if box.chosen.isChecked()]
        good = tuple(curve for curve in read if curve is not None)
        return good if good and len(good) == len(read) else None

    @property
    def parts(self) -> tuple[str, ...]:
        """Names of the endpoints in the profile."""
        return tuple(box.endpoint.name for box in self.boxes if box.chosen.isChecked())


def _usual(endpoint: Endpoint, measured: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the initial numbers of a curve: over the better half of the measured range, in round numbers."""
    low, high = (0.0, 1.0) if endpoint.transform == "none" else (1.0, 100.0)
    if len(measured) > 1 and max(measured) > min(measured):
        low, high = (float(f"{value:.2g}") for value in np.quantile(measured, (0.25, 0.9)))
    if low == high:
        high = low + (abs(low) or 1.0)
    falls = (endpoint.direction == "min") != endpoint.is_potency
    zero, one = (high, low) if falls else (low, high)
    if endpoint.transform == "log":
        return zero, one, one * (one / zero), one * (one / zero) ** 2
    return _even(zero, one)


def _even(zero: float, one: float) -> tuple[float, float, float, float]:
    return zero, one, one + (one - zero), one + 2.0 * (one - zero)


def _property_box(endpoint: Endpoint, smiles: Sequence[str]) -> CurveBox:
    name = endpoint.name
    return CurveBox(endpoint, lambda: some_values(name, smiles), _even(*_RULES[name]), chosen=False)
