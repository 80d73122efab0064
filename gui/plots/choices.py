"""What a plot shows, as one chooses it above the plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.domain.library import Library

from ..tables.properties import PROPERTIES
from ..tables.rows import Column, numeric, plain_tip, whole_name
from ..widgets.inputs import choose, combo_box, fill_box
from ..widgets.layout import STRETCH, FlowRow, put, row_of
from ..widgets.text import button, label, mnemonic_free
from .scatter import Quantity


def choice_box(name: str, tip: str = "", *, letters: int = 8) -> QComboBox:
    """Return a list to choose from, with a name for screen readers; it may be narrower than its longest entry."""
    made = combo_box(name, tip=plain_tip(tip))
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(letters)
    return made


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


MOST_FIXED = 12
"""Sites that can be fixed; of a library with more of them the rest is averaged, or the boxes would fill the page."""


class HeatChoices(QWidget):
    """Two sites of a map, the order, and what becomes of all other sites."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._row = FlowRow(self, 8)
        self.down = choice_box("Site of the rows", "The site whose substituents go down", letters=6)
        self.across = choice_box("Site of the columns", "The site whose substituents go across", letters=6)
        self.order = choice_box("Order of the substituents", "How rows and columns are ordered", letters=9)
        self.order.addItem("best first", True)
        self.order.addItem("as in the table", False)
        self.swap = button("S&wap", tip="Rows become columns")
        for text, box in (("Row&s", self.down), ("C&olumns", self.across)):
            self._row.addWidget(named_box(text, box))
        put(self._row, self.swap, named_box("Or&der", self.order))
        self.fixing: dict[int, QComboBox] = {}
        """For each site with a choice the box that fixes it."""
        self._named: dict[int, QWidget] = {}
        self._last = (-1, -1)
        self.down.activated.connect(lambda _: self._sites_chosen(0))
        self.across.activated.connect(lambda _: self._sites_chosen(1))
        self.order.activated.connect(lambda _: self.changed.emit())
        self.swap.clicked.connect(self._swap)

    def show_library(self, library: Library) -> None:
        """Offer the sites of a library, the first two at the beginning."""
        sites = [k for k, site in enumerate(library.sites) if len(site.substituents) > 1]
        for box in (self.down, self.across):
            box.clear()
            for k in sites:
                box.addItem(_short(library.sites[k].name, 40), k)
        self.across.setCurrentIndex(min(1, len(sites) - 1))
        self.order.setCurrentIndex(0)
        for named in self._named.values():
            self._row.removeWidget(named)
            named.deleteLater()
        self.fixing, self._named = {}, {}
        for k in sites[:MOST_FIXED]:
            name = library.sites[k].name
            box = choice_box(
                f"{name}: averaged, or fixed to a substituent",
                f"{name}: averaged over all compounds, or only those with one substituent",
                letters=7,
            )
            box.addItem("averaged", None)
            for code, substituent in enumerate(site_names(library.sites[k].substituents)):
                box.addItem(_short(substituent, 60), code)
            box.activated.connect(lambda _: self.changed.emit())
            self.fixing[k] = box
            self._named[k] = named_box(mnemonic_free(_short(name, 8)), box)
            self._named[k].setToolTip(plain_tip(name) if len(name) > 8 else "")
            self._row.addWidget(self._named[k])
        self._lay_out()

    @property
    def sites(self) -> tuple[int, int] | None:
        """The sites down and across; None with fewer than two to choose from."""
        return None if self.down.count() < 2 else (int(self.down.currentData()), int(self.across.currentData()))

    @property
    def fixed(self) -> dict[int, int]:
        """Codes of the sites that are fixed."""
        shown = self.sites or ()
        return {
            k: int(box.currentData())
            for k, box in self.fixing.items()
            if k not in shown and box.currentData() is not None
        }

    def _sites_chosen(self, which: int) -> None:
        sites = self.sites
        if sites is not None and sites[0] == sites[1]:  # the other one takes the place that was left
            other = self.across if which == 0 else self.down
            other.setCurrentIndex(other.findData(self._last[which]))
        self._lay_out()
        self.changed.emit()

    def _swap(self) -> None:
        down, across = self.down.currentIndex(), self.across.currentIndex()
        self.down.setCurrentIndex(across)
        self.across.setCurrentIndex(down)
        self._lay_out()
        self.changed.emit()

    def _lay_out(self) -> None:
        self._last = self.sites or (-1, -1)
        for k, named in self._named.items():
            named.setVisible(k not in self._last)


class SiteChoice(QWidget):
    """All sites, or one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = row_of(holder=self, spacing=8)
        self.box = choice_box("Which site is shown", "All sites one below the other, or one of them", letters=12)
        self.box.activated.connect(lambda _: self.changed.emit())
        put(row, _buddy("&Site", self.box), self.box, STRETCH)

    def show_library(self, library: Library) -> None:
        """Offer the sites of a library."""
        sites = [(_short(one.name, 40), k) for k, one in enumerate(library.sites) if len(one.substituents) > 1]
        fill_box(self.box, [("all sites", None), *sites])

    @property
    def site(self) -> int | None:
        """The site; None for all."""
        found = self.box.currentData()
        return None if found is None else int(found)


def _buddy(text: str, box: QComboBox) -> QLabel:
    """Return the label of a list, which its mnemonic leads to."""
    made = label(text)
    made.setBuddy(box)
    return made


def named_box(text: str, box: QComboBox) -> QWidget:
    """Return a list with its label, which stay together where a row breaks."""
    made = QWidget()
    row_of(_buddy(text, box), box, holder=made, spacing=8)
    return made


def endpoint_names(box: QComboBox, names: Sequence[str], current: int) -> None:
    """Fill a list with endpoints by position."""
    fill_box(box, [(_short(name, 40), place) for place, name in enumerate(names)], current)


ANSWER, SCATTER, HISTOGRAM = "answer", "scatter", "histogram"
_ROLES = {ANSWER: (), SCATTER: ("x", "y", "colour", "size"), HISTOGRAM: ("x",)}
"""The columns that each kind of picture needs."""
_FIRST = {"x": "estimate", "y": "mean"}
"""Keys of the columns that are drawn at first."""


class PlotChoice(QWidget):
    """The columns of a picture; hidden when its ``kind``, chosen elsewhere, needs none."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.kind = choice_box("Picture", "What is drawn of the compounds in the table", letters=9)
        for key, text in ((ANSWER, "Ranking"), (SCATTER, "Scatter"), (HISTOGRAM, "Histogram")):
            self.kind.addItem(text, key)
        row = FlowRow(self, 8)
        self.boxes: dict[str, QComboBox] = {}
        self._named: dict[str, QWidget] = {}
        for key, text in (("x", "X"), ("y", "Y"), ("colour", "Colour"), ("size", "Size")):
            box = choice_box(f"{text} of the picture", letters=10)
            box.activated.connect(lambda _: self.changed.emit())
            self.boxes[key], self._named[key] = box, named_box(text, box)
            row.addWidget(self._named[key])
        self.kind.activated.connect(lambda _: self._show())
        self._columns: Sequence[Column] = ()
        self._show()

    @property
    def key(self) -> str:
        """The kind of picture."""
        return str(self.kind.currentData())

    @property
    def wants_properties(self) -> bool:
        """Whether a column is drawn that is calculated from the structures."""
        return any(self.boxes[role].currentData() in PROPERTIES for role in _ROLES[self.key])

    def offer(self, columns: Sequence[Column], answer: str) -> None:
        """Offer the columns of numbers of a table; ``answer``: the name of the answer's own picture."""
        self._columns = numeric(columns)
        self.kind.setItemText(0, answer)
        for role, box in self.boxes.items():
            wanted = box.currentData() or _FIRST.get(role)
            none = {"colour": [("status", "")], "size": [("all the same", "")]}.get(role, [])
            fill_box(box, [*none, *((whole_name(column), column.key) for column in self._columns)], wanted)

    def quantity(self, role: str) -> Quantity | None:
        """Return the column chosen for a role; None where none is."""
        key = self.boxes[role].currentData()
        column = next((one for one in self._columns if one.key == key), None)
        if column is None or column.rank is None:
            return None
        return Quantity(whole_name(column), np.asarray(column.rank(), dtype=np.float64))

    def values(self) -> dict[str, str]:
        """Return what is chosen, to be remembered."""
        return {"kind": self.key, **{role: str(box.currentData() or "") for role, box in self.boxes.items()}}

    def use(self, values: Any) -> None:
        """Choose what was chosen; anything else than remembered values: as at first."""
        known = values if isinstance(values, dict) else {}
        choose(self.kind, known.get("kind"))
        for role, box in self.boxes.items():
            choose(box, known.get(role) or _FIRST.get(role, ""))
        self._show()

    def _show(self) -> None:
        roles = _ROLES[self.key]
        for role, one in self._named.items():
            one.setVisible(role in roles)
        self.setVisible(bool(roles))
        self.changed.emit()
