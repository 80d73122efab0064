"""What pages with a table of compounds have in common: the filter, the choice of columns, calculated properties."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QWidget

from assaypilot.engine.domain.library import Library

from ..filtering import HINT, Facts
from ..models.base import numeric, whole_name
from ..models.properties import ALERT, PROPERTIES, Calculated
from ..narrowing import Narrowed, Narrower
from ..session import Session
from ..widgets.choices import FilterBox
from ..widgets.columns import Arrangement
from ..widgets.sliders import Limits, Sliders
from ..widgets.table import Table
from ..widgets.text import button, label

__all__ = ["TableTools"]

_PROPERTY = re.compile(r"(?<!\S)(?:mw|clogp|tpsa|hbd|heavy\s*atoms|le|lle|alert)\s*(?:[<>=≤≥:]|\s-?\d)", re.IGNORECASE)
"""A filter that asks about a property, which is calculated then."""
_ALERT = re.compile(r"(?<!\S)alert\s*[=:]", re.IGNORECASE)


class TableTools(QObject):
    """The box, the count and the button above a table, and what is worked out for it."""

    asked = Signal()
    """The table is to be narrowed: something was typed, or was found."""
    calculated = Signal()
    """Properties are there to be shown."""

    def __init__(self, session: Session, table: Table, name: str) -> None:
        super().__init__(table)
        self._session, self._table = session, table
        self.filter = FilterBox("Filter: id, substituent, R1=Me, >7.5", f"Filter the {name}")
        self.filter.setToolTip(HINT)
        self.filter.narrowed.connect(lambda _: self.asked.emit())
        self.shown = label("", "muted")
        self.columns = button("Columns", tip="Which columns are shown, calculated properties among them")
        self.columns.clicked.connect(self.choose_columns)
        self.sliders = button("Sliders", tip="Filter by the columns of numbers that are shown")
        self.sliders.clicked.connect(self.open_sliders)
        self._narrower = Narrower(session, self)
        self._narrower.ready.connect(self.asked)
        self._library: Library | None = None
        table.rows_model.later = session.arrange
        table.said.connect(session.message)
        session.calculations.changed.connect(self.calculated)
        session.calculations.stopped.connect(self._hide_properties)

    def arrange(self, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> Arrangement:
        """How the columns are arranged; the properties are hidden until somebody asks for them."""
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
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.columns.mapToGlobal(self.columns.rect().bottomLeft()))

    def open_sliders(self) -> Sliders:
        """Open the sliders of the columns of numbers that are shown; what they leave is written into the filter."""
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

    def narrowed(self, library: Library, key: object, facts: Callable[[], Facts]) -> Narrowed:
        """What the filter leaves; while that is worked out, what it left before. ``asked`` tells when to ask again."""
        if _PROPERTY.search(self.filter.text()):
            self._session.calculations.want(library, alerts=_ALERT.search(self.filter.text()) is not None)
        found = self._narrower.ask(self.filter.text(), library, key, facts)
        return self._narrower.latest if found is None else found

    def narrowed_now(self, library: Library, facts: Facts) -> Narrowed:
        """What the filter leaves of compounds that are not those shown."""
        return self._narrower.now(self.filter.text(), library, facts)

    def say_shown(self, narrowed: bool, rows: int) -> None:
        """Say how many rows there are when some are left out, or that they are being looked for."""
        busy, asked = self._narrower.busy, bool(self.filter.text().strip())
        self.shown.setText("Filtering…" if busy else f"{rows:,} shown" if narrowed else "Not filtered")
        self.shown.setVisible(narrowed or busy or asked)

    # ------------------------------------------------------------------ properties

    def properties(self, library: Library) -> Calculated | None:
        """What was calculated of a library."""
        return self._session.calculations.of(library)

    def calculate(self, library: Library) -> None:
        """Have the properties of a library calculated once somebody looks at them."""
        self._library = library
        arrangement = self._table.arrangement
        if arrangement is not None and any(map(arrangement.visible, PROPERTIES)):
            self._session.calculations.want(library, alerts=arrangement.visible(ALERT))

    def _hide_properties(self) -> None:
        """What was stopped is not begun again by itself."""
        arrangement, library = self._table.arrangement, self._library
        if arrangement is not None:
            known = library is not None and self._session.calculations.of(library) is not None
            for key in (ALERT,) if known else PROPERTIES:
                arrangement.show(key, False)
