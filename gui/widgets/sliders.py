"""Sliders for the columns of numbers of a table; what they leave is written into the filter, where it can be read."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSlider, QWidget

from assaypilot.engine.arrays import Floats

from ..theme import theme
from .text import label

__all__ = ["Limits", "Sliders", "with_limits"]

_STEPS = 100
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_LONG = 150
"""Pixels of a slider with text of the usual size."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A column of numbers and what it holds."""

    name: str
    low: float
    high: float

    @classmethod
    def of(cls, name: str, values: Floats) -> Limits | None:
        """The limits of a column's values; None where fewer than two differ."""
        known = values[np.isfinite(values)]
        return cls(name, float(known.min()), float(known.max())) if known.size and known.min() < known.max() else None

    @property
    def _decimals(self) -> int:
        return max(0, math.ceil(-math.log10((self.high - self.low) / _STEPS / 2)))

    def at(self, step: int) -> float:
        """The number at a step of a slider, as it is written."""
        return round(self.low + (self.high - self.low) * step / _STEPS, self._decimals)

    def step(self, value: float) -> int:
        """The step nearest to a number."""
        return min(max(round((value - self.low) / (self.high - self.low) * _STEPS), 0), _STEPS)

    def word(self, first: int, last: int) -> str:
        """What a filter says between two steps; empty where that is everything."""
        low, high = f"{self.at(first):.{self._decimals}f}", f"{self.at(last):.{self._decimals}f}"
        if first > 0 and last < _STEPS:
            return f"{self.name}:{low}..{high}"
        return f"{self.name}>={low}" if first > 0 else f"{self.name}<={high}" if last < _STEPS else ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """What ``word`` writes."""
        return re.compile(
            rf"(?<!\S){re.escape(self.name)}(?::{_NUMBER}\.\.{_NUMBER}|>={_NUMBER}|<={_NUMBER})(?!\S)", re.IGNORECASE
        )

    def steps(self, text: str) -> tuple[int, int]:
        """The steps between which a filter leaves compounds."""
        found = self.pattern.search(text)
        if found is None:
            return 0, _STEPS
        low, high = found[1] or found[3], found[2] or found[4]
        return (self.step(float(low)) if low else 0, self.step(float(high)) if high else _STEPS)


def with_limits(text: str, limits: Limits, first: int, last: int) -> str:
    """Return a filter with what sliders of a column say in place of what it said of it."""
    word, found = limits.word(first, last), limits.pattern.search(text)
    before, after = (text, "") if found is None else (text[: found.start()], text[found.end() :])
    return " ".join(f"{before} {word} {after}".split())


class Sliders(QFrame):
    """Two sliders for each column, below the button that opened them."""

    moved = Signal(str)
    """The filter as the sliders say now."""

    def __init__(self, parent: QWidget, columns: Sequence[Limits], text: str) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("card")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName("Filter by columns of numbers")
        self._text = text
        grid = QGridLayout(self)
        grid.setContentsMargins(14, 12, 14, 12)
        grid.setHorizontalSpacing(12)
        self.rows: dict[str, tuple[QSlider, QSlider]] = {}
        for row, limits in enumerate(columns):
            low, high = (_slider(f"{limits.name} at {end}") for end in ("least", "most"))
            first, last = limits.steps(text)
            low.setValue(first)
            high.setValue(last)
            said = label("", "muted")
            self._say(said, limits, first, last)
            for slider in (low, high):
                slider.valueChanged.connect(
                    lambda _, limits=limits, low=low, high=high, said=said: self._move(limits, low, high, said)
                )
            for place, widget in enumerate((label(limits.name), low, high, said)):
                grid.addWidget(widget, row, place)
            self.rows[limits.name] = low, high
        if not columns:
            grid.addWidget(label("No column of numbers is shown.", "muted"), 0, 0)

    def open_below(self, button: QWidget) -> None:
        """Show the sliders below a button, inside its window."""
        self.adjustSize()
        window = button.window()
        at = button.mapTo(window, QPoint(button.width() - self.width(), button.height() + 4))
        self.move(window.mapToGlobal(QPoint(max(at.x(), 4), max(min(at.y(), window.height() - self.height() - 4), 4))))
        self.show()
        if self.rows:
            next(iter(self.rows.values()))[0].setFocus()

    def _move(self, limits: Limits, low: QSlider, high: QSlider, said: QLabel) -> None:
        """Write into the filter what the sliders say; one takes the other along."""
        if low.value() > high.value():
            (high if low.hasFocus() else low).setValue(low.value() if low.hasFocus() else high.value())
            return
        self._say(said, limits, low.value(), high.value())
        self._text = with_limits(self._text, limits, low.value(), high.value())
        self.moved.emit(self._text)

    @staticmethod
    def _say(said: QLabel, limits: Limits, first: int, last: int) -> None:
        said.setText(f"{limits.at(first):g} – {limits.at(last):g}")


def _slider(name: str) -> QSlider:
    made = QSlider(Qt.Orientation.Horizontal)
    made.setRange(0, _STEPS)
    made.setPageStep(_STEPS // 10)
    made.setAccessibleName(name)
    made.setMinimumWidth(round(_LONG * theme().scale))
    return made
