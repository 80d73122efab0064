"""The tools above a table of compounds: filter, sliders, columns."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QSlider, QWidget

from assaypilot.engine.arrays import Floats
from assaypilot.engine.domain.library import Library

from ..resources.theme import theme
from ..session.session import Session
from ..widgets.bars import Slider
from ..widgets.inputs import FilterBox
from ..widgets.layout import show_menu
from ..widgets.text import button, label
from .columns import Arrangement
from .filter import HINT, Facts, Narrowed, Narrower, structure_of, with_structure
from .properties import ALERT, PROPERTIES, Calculated
from .rows import numeric, whole_name
from .table import Table

if TYPE_CHECKING:
    from ..structures.sketcher import SketchDialog

_STEPS = 100
_NUMBER = r"(-?\d+(?:\.\d+)?)"
_LONG = 150
"""Pixels of a slider with text of the usual size."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A column of numbers and its range."""

    name: str
    low: float
    high: float

    @classmethod
    def of(cls, name: str, values: Floats) -> Limits | None:
        """Return the limits of a column's values; None where fewer than two differ."""
        known = values[np.isfinite(values)]
        return cls(name, float(known.min()), float(known.max())) if known.size and known.min() < known.max() else None

    @property
    def _decimals(self) -> int:
        return max(0, math.ceil(-math.log10((self.high - self.low) / _STEPS / 2)))

    def at(self, step: int) -> float:
        """Return the number at a step of a slider, as shown."""
        return round(self.low + (self.high - self.low) * step / _STEPS, self._decimals)

    def step(self, value: float) -> int:
        """Return the step nearest to a number."""
        return min(max(round((value - self.low) / (self.high - self.low) * _STEPS), 0), _STEPS)

    def word(self, first: int, last: int) -> str:
        """Return the filter between two steps; empty where that is everything."""
        low, high = f"{self.at(first):.{self._decimals}f}", f"{self.at(last):.{self._decimals}f}"
        if first > 0 and last < _STEPS:
            return f"{self.name}:{low}..{high}"
        return f"{self.name}>={low}" if first > 0 else f"{self.name}<={high}" if last < _STEPS else ""

    @property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of the text from ``word``."""
        return re.compile(
            rf"(?<!\S){re.escape(self.name)}(?::{_NUMBER}\.\.{_NUMBER}|>={_NUMBER}|<={_NUMBER})(?!\S)", re.IGNORECASE
        )

    def steps(self, text: str) -> tuple[int, int]:
        """Return the steps between which a filter leaves compounds."""
        found = self.pattern.search(text)
        if found is None:
            return 0, _STEPS
        low, high = found[1] or found[3], found[2] or found[4]
        return (self.step(float(low)) if low else 0, self.step(float(high)) if high else _STEPS)


def with_limits(text: str, limits: Limits, first: int, last: int) -> str:
    """Return a filter with a column's part replaced by that of its sliders."""
    word, found = limits.word(first, last), limits.pattern.search(text)
    before, after = (text, "") if found is None else (text[: found.start()], text[found.end() :])
    return " ".join(f"{before} {word} {after}".split())


class Sliders(QFrame):
    """Two sliders for each column, below the button that opened them."""

    moved = Signal(str)
    """The filter with the current sliders."""

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
            low, high = (_slider(f"{limits.name} at {end}", rising=end == "least") for end in ("least", "most"))
            first, last = limits.steps(text)
            low.setValue(first)
            high.setValue(last)
            span = label("", "muted")
            self._show_span(span, limits, first, last)
            for slider in (low, high):
                slider.valueChanged.connect(
                    lambda _, limits=limits, low=low, high=high, span=span: self._move(limits, low, high, span)
                )
            for place, widget in enumerate((label(limits.name), low, high, span)):
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

    def _move(self, limits: Limits, low: QSlider, high: QSlider, span: QLabel) -> None:
        """Write the range of the sliders into the filter; one slider pushes the other."""
        if low.value() > high.value():
            (high if low.hasFocus() else low).setValue(low.value() if low.hasFocus() else high.value())
            return
        self._show_span(span, limits, low.value(), high.value())
        self._text = with_limits(self._text, limits, low.value(), high.value())
        self.moved.emit(self._text)

    @staticmethod
    def _show_span(span: QLabel, limits: Limits, first: int, last: int) -> None:
        span.setText(f"{limits.at(first):g} – {limits.at(last):g}")


def _slider(name: str, *, rising: bool) -> Slider:
    made = Slider(name, rising=rising)
    made.setRange(0, _STEPS)
    made.setPageStep(_STEPS // 10)
    made.setMinimumWidth(round(_LONG * theme().scale))
    return made


_PROPERTY = re.compile(r"(?<!\S)(?:mw|clogp|tpsa|hbd|heavy\s*atoms|le|lle|alert)\s*(?:[<>=≤≥:]|\s-?\d)", re.IGNORECASE)
"""A filter that needs a property, which is then calculated."""
_ALERT = re.compile(r"(?<!\S)alert\s*[=:]", re.IGNORECASE)


class TableTools(QObject):
    """The box, the count and the button above a table, and the calculated properties."""

    narrowing = Signal()
    """The table is to be narrowed: something was typed, or was found."""
    calculated = Signal()
    """Properties are there to be shown."""

    def __init__(self, session: Session, table: Table, name: str) -> None:
        super().__init__(table)
        self._session, self._table = session, table
        self.filter = FilterBox("Filter: R1=Me, >7.5", f"Filter the {name}")
        self.filter.setToolTip(HINT)
        self.filter.narrowed.connect(lambda _: self.narrowing.emit())
        self.shown = label("", "muted")
        self.columns = button(
            "Columns", tip="Which columns are shown, calculated properties among them", then=self.choose_columns
        )
        self.sliders = button("Sliders", tip="Filter by the columns of numbers that are shown", then=self.open_sliders)
        self.draw = button("Draw…", tip="Filter by a substructure that is drawn", then=lambda: self.draw_structure())
        self._narrower = Narrower(session, self)
        self._narrower.ready.connect(self.narrowing)
        self._library: Library | None = None
        table.rows_model.later = session.arrange
        table.message.connect(session.message)
        session.calculations.changed.connect(self.calculated)
        session.calculations.stopped.connect(self._hide_properties)

    def arrange(self, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> Arrangement:
        """Return the arrangement of the columns; properties are hidden until they are chosen."""
        made = self._table.arrange(hidden=(*hidden, *PROPERTIES), fixed=fixed)
        made.second_part = PROPERTIES[0]
        return made

    def choose_columns(self) -> None:
        """Open the menu of the columns."""
        arrangement = self._table.arrangement
        if arrangement is None:
            return
        parent = self.columns.parentWidget()
        menu = arrangement.menu(parent if isinstance(parent, QWidget) else self._table)
        show_menu(menu, self.columns.mapToGlobal(self.columns.rect().bottomLeft()))

    def open_sliders(self) -> Sliders:
        """Open the sliders of the shown columns of numbers; they write into the filter."""
        arrangement = self._table.arrangement
        columns = self._table.rows_model.columns if arrangement is None else arrangement.columns
        found = [
            Limits.of(whole_name(column), np.asarray(column.rank(), dtype=np.float64))
            for column in numeric(columns)
            if column.rank is not None
        ]
        opened = Sliders(self.sliders.window(), [one for one in found if one is not None], self.filter.text())
        opened.moved.connect(self.filter.setText)
        opened.open_below(self.sliders)
        return opened

    # ------------------------------------------------------------------ narrowing

    def draw_structure(self, smiles: str = "") -> SketchDialog:
        """Open a drawing of a substructure for the filter; it begins with ``smiles``, else with that of the filter."""
        from ..structures.sketcher import ask_for_structure

        def drawn(smiles: str) -> None:
            self.filter.setText(with_structure(self.filter.text(), smiles))

        start = smiles or structure_of(self.filter.text())
        return ask_for_structure("Draw a substructure", "&Filter", start, self.draw.window(), drawn)

    def narrowed(self, library: Library, key: object, facts: Callable[[], Facts]) -> Narrowed:
        """Return the compounds that the filter leaves.

        While that is computed, what it left before; ``narrowing`` is emitted when it is there.
        """
        if _PROPERTY.search(self.filter.text()):
            self._session.calculations.want(library, alerts=_ALERT.search(self.filter.text()) is not None)
        self.draw.setVisible(library.smiles is not None)
        found = self._narrower.ask(self.filter.text(), library, key, facts)
        return self._narrower.latest if found is None else found

    def show_count(self, narrowed: bool, rows: int) -> None:
        """Show the number of rows when some are left out, or that the filter is working."""
        busy, typed = self._narrower.busy, bool(self.filter.text().strip())
        self.shown.setText("Filtering…" if busy else f"{rows:,} shown" if narrowed else "Not filtered")
        self.shown.setVisible(narrowed or busy or typed)

    # ------------------------------------------------------------------ properties

    def properties(self, library: Library) -> Calculated | None:
        """Return the calculated properties of a library."""
        return self._session.calculations.of(library)

    def calculate(self, library: Library) -> None:
        """Have the properties of a library calculated when they are first shown."""
        self._library = library
        arrangement = self._table.arrangement
        if arrangement is not None and any(map(arrangement.visible, PROPERTIES)):
            self._session.calculations.want(library, alerts=arrangement.visible(ALERT))

    def _hide_properties(self) -> None:
        """Do not restart a stopped calculation."""
        arrangement, library = self._table.arrangement, self._library
        if arrangement is not None:
            known = library is not None and self._session.calculations.of(library) is not None
            for key in (ALERT,) if known else PROPERTIES:
                arrangement.show(key, False)
