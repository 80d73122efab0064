"""What can be chosen above the pictures of structure and activity: sites, what is fixed, the order."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from assaypilot.engine.chemistry.names import site_names
from assaypilot.engine.domain.library import Library

from ..models.base import plain_tip
from ..widgets.flow import FlowRow
from ..widgets.text import button, label

__all__ = ["HeatChoices", "SiteChoice", "choice_box", "endpoint_names", "named_box"]

ACROSS = 4
"""Sites in one line of those that are averaged or fixed."""


def choice_box(name: str, tip: str = "", *, letters: int = 8) -> QComboBox:
    """A list to choose from, with a name for screen readers; it may be narrower than its longest entry."""
    made = QComboBox()
    made.setAccessibleName(name)
    made.setToolTip(plain_tip(tip))
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(letters)
    return made


def _short(text: str, letters: int) -> str:
    return text if len(text) <= letters else f"{text[: letters - 1]}…"


class HeatChoices(QWidget):
    """Two sites of a map, the order, and what becomes of all other sites."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        line = QWidget()
        first = FlowRow(line, 8)
        self.down = choice_box("Site of the rows", "The site whose substituents go down", letters=6)
        self.across = choice_box("Site of the columns", "The site whose substituents go across", letters=6)
        self.order = choice_box("Order of the substituents", "How rows and columns are ordered", letters=9)
        self.order.addItem("best first", True)
        self.order.addItem("as in the table", False)
        self.swap = button("S&wap", tip="Rows become columns")
        for text, box in (("Row&s", self.down), ("C&olumns", self.across)):
            first.addWidget(named_box(text, box))
        first.addWidget(self.swap)
        first.addWidget(named_box("Or&der", self.order))
        column.addWidget(line)
        self._rest = QWidget()
        self._grid = QGridLayout(self._rest)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(6)
        column.addWidget(self._rest)
        self.fixing: dict[int, QComboBox] = {}
        """For each site with a choice the box that fixes it."""
        self._labels: dict[int, QLabel] = {}
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
        for widget in (*self.fixing.values(), *self._labels.values()):
            self._grid.removeWidget(widget)
            widget.deleteLater()
        self.fixing, self._labels = {}, {}
        for k in sites:
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
            self._labels[k] = label(_short(name, 8))
            for widget in (box, self._labels[k]):  # without a parent they would be windows once they are shown
                widget.setParent(self._rest)
            self._labels[k].setToolTip(plain_tip(name) if len(name) > 8 else "")
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
        others = [k for k in self.fixing if k not in self._last]
        for k, box in self.fixing.items():
            for widget in (self._labels[k], box):
                self._grid.removeWidget(widget)
                widget.setVisible(k in others)
        for place, k in enumerate(others):
            self._grid.addWidget(self._labels[k], place // ACROSS, 2 * (place % ACROSS))
            self._grid.addWidget(self.fixing[k], place // ACROSS, 2 * (place % ACROSS) + 1)
        self._grid.setColumnStretch(2 * ACROSS, 1)
        self._rest.setVisible(bool(others))


class SiteChoice(QWidget):
    """All sites, or one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.box = choice_box("Which site is shown", "All sites one below the other, or one of them", letters=12)
        self.box.activated.connect(lambda _: self.changed.emit())
        row.addWidget(_buddy("&Site", self.box))
        row.addWidget(self.box)
        row.addStretch(1)

    def show_library(self, library: Library) -> None:
        """Offer the sites of a library."""
        self.box.clear()
        self.box.addItem("all sites", None)
        for k, site in enumerate(library.sites):
            if len(site.substituents) > 1:
                self.box.addItem(_short(site.name, 40), k)

    @property
    def site(self) -> int | None:
        """The site; None for all."""
        found = self.box.currentData()
        return None if found is None else int(found)


def _buddy(text: str, box: QComboBox) -> QLabel:
    """The label of a list, which its mnemonic leads to."""
    made = label(text)
    made.setBuddy(box)
    return made


def named_box(text: str, box: QComboBox) -> QWidget:
    """A list beside its label, which stay together where a row goes on in a second line."""
    made = QWidget()
    row = QHBoxLayout(made)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addWidget(_buddy(text, box))
    row.addWidget(box)
    return made


def endpoint_names(box: QComboBox, names: Sequence[str], current: int) -> None:
    """Fill a list with endpoints by position."""
    box.clear()
    for place, name in enumerate(names):
        box.addItem(_short(name, 40), place)
    box.setCurrentIndex(current)
