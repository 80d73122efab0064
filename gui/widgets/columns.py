"""Which columns a table shows, in which order and how wide: chosen in a menu, and remembered by their keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QWidget

from ..models.base import plain_tip
from .text import mnemonic_free

if TYPE_CHECKING:
    from ..models.base import Column
    from .table import Table

__all__ = ["Arrangement", "StayingMenu", "filter_in", "order_in"]


def order_in(values: dict[str, Any]) -> tuple[str, Qt.SortOrder] | None:
    """What a table was sorted by, as it was remembered: the key of a column, and the direction; None for nothing."""
    match values.get("sorted"):
        case [str() as key, bool() as down]:
            return key, Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder
    return None


def filter_in(values: dict[str, Any]) -> str:
    """What a table was narrowed by, as it was remembered; empty for nothing."""
    words = values.get("filter")
    return words if isinstance(words, str) else ""


class StayingMenu(QMenu):
    """A menu that stays open while its ticks are set."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A tick is set without closing the menu."""
        action = self.actionAt(event.position().toPoint())
        if action is not None and action.isCheckable() and action.isEnabled():
            action.trigger()
            return
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """So does the space bar."""
        action = self.activeAction()
        if event.key() == Qt.Key.Key_Space and action is not None and action.isCheckable() and action.isEnabled():
            action.trigger()
            return
        super().keyPressEvent(event)


class Arrangement(QObject):
    """The columns of a table as somebody wants them."""

    changed = Signal()
    """A column was moved, hidden, shown or made wider, or the table sorted by another one."""

    def __init__(self, table: Table, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> None:
        """``hidden``: keys not shown unless asked for; ``fixed``: keys that are always shown."""
        super().__init__(table)
        self._table, self._fixed = table, frozenset(fixed)
        self._at_first = frozenset(hidden)
        self.second_part = ""
        """The key of the column above which the menu has a line."""
        self._shown: dict[str, bool] = {}
        """What was asked for, by key."""
        self._order: list[str] = []
        self._widths: dict[str, int] = {}
        self._applying = False
        header = table.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._asked)
        header.sectionMoved.connect(self._moved)
        header.sortIndicatorChanged.connect(lambda place, order: self._told())
        table.widened.connect(self._widened)
        table.dressed.connect(self.apply)
        self.apply()

    # ------------------------------------------------------------------ what is shown

    def visible(self, key: str) -> bool:
        """Whether a column is shown."""
        return key in self._fixed or self._shown.get(key, key not in self._at_first)

    def show(self, key: str, shown: bool) -> None:
        """Show or hide a column."""
        if key not in self._fixed and shown != self.visible(key):
            self._shown[key] = shown
            self.apply()
            if shown:
                self._reveal(key)
            self.changed.emit()

    def _reveal(self, key: str) -> None:
        """Scroll sideways to a column, so that who has asked for it sees it."""
        model = self._table.rows_model
        if model.rowCount() and any(column.key == key for column in model.columns):
            self._table.doItemsLayout()  # at once, not with the next turn: where the column lies must be known
            top = max(self._table.rowAt(1), 0)
            self._table.scrollTo(model.index(top, model.place_of(key)))

    @property
    def columns(self) -> list[Column]:
        """The columns shown, left to right."""
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        places = [header.logicalIndex(visual) for visual in range(header.count())]
        return [columns[place] for place in places if place < len(columns) and not header.isSectionHidden(place)]

    @property
    def untouched(self) -> bool:
        """Whether columns are shown as at first: the same ones in the same order."""
        keys = [column.key for column in self.columns]
        at_first = [
            c.key for c in self._table.rows_model.columns if c.key in self._fixed or c.key not in self._at_first
        ]
        return keys == at_first

    def as_at_first(self) -> None:
        """Forget all that was asked for."""
        self._shown.clear()
        self._order.clear()
        self._widths.clear()
        header = self._table.horizontalHeader()
        self._applying = True
        for place in range(header.count()):
            header.moveSection(header.visualIndex(place), place)
        self._applying = False
        self._table.widths.take_over({})
        self.apply()
        self.changed.emit()

    # ------------------------------------------------------------------ remembering

    def values(self) -> dict[str, Any]:
        """What was asked for, as plain values."""
        order = self._table.rows_model.wanted_by
        return {
            "shown": dict(self._shown),
            "order": list(self._order),
            "widths": dict(self._widths),
            "sorted": [] if order is None else [order[0], order[1] == Qt.SortOrder.DescendingOrder],
        }

    def use(self, values: dict[str, Any]) -> None:
        """Arrange the columns as they were; what does not look like that is as at first."""
        shown, order, widths = values.get("shown"), values.get("order"), values.get("widths")
        self._shown = {str(key): bool(value) for key, value in shown.items()} if isinstance(shown, dict) else {}
        self._order = [str(key) for key in order] if isinstance(order, list) else []
        kept = widths if isinstance(widths, dict) else {}
        self._widths = {str(key): int(w) for key, w in kept.items() if isinstance(w, int) and 0 < w < 4000}
        self._table.widths.take_over(self._widths)
        self.apply()

    def apply(self) -> None:
        """Arrange the columns there are now as they were asked for."""
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        if not columns or header.count() != len(columns):
            return
        self._applying = True
        places = {column.key: place for place, column in enumerate(columns)}
        wanted = [places[key] for key in self._order if key in places]
        # Columns nobody has spoken about stay behind the one they follow at first.
        for place in range(len(columns)):
            if place not in wanted:
                before = wanted.index(place - 1) + 1 if place - 1 in wanted else 0
                wanted.insert(before, place)
        for visual, place in enumerate(wanted):
            if header.visualIndex(place) != visual:
                header.moveSection(header.visualIndex(place), visual)
        hidden = {place for place, column in enumerate(columns) if not self.visible(column.key)}
        for place in range(len(columns)):
            if header.isSectionHidden(place) != (place in hidden):
                header.setSectionHidden(place, place in hidden)
        self._applying = False
        self._table.widths.fill()

    # ------------------------------------------------------------------ menu

    def menu(self, parent: QWidget, at: str | None = None) -> QMenu:
        """The menu of all columns, with ticks; ``at``: the key of the one that was clicked."""
        made = StayingMenu(parent)
        made.setAccessibleName("Columns")
        columns = self._table.rows_model.columns
        clicked = next((column for column in columns if column.key == at), None)
        if clicked is not None and clicked.key not in self._fixed:
            hide = QAction(f"&Hide {mnemonic_free(_name(clicked))}", made)
            hide.setToolTip(plain_tip(_name(clicked)))
            hide.triggered.connect(lambda: self.show(clicked.key, False))
            made.addAction(hide)
            made.addSeparator()
        for column in columns:
            if column.key == self.second_part:
                made.addSeparator()
            action = QAction(mnemonic_free(_name(column)), made)
            action.setCheckable(True)
            action.setChecked(self.visible(column.key))
            action.setEnabled(column.key not in self._fixed)
            action.setToolTip(plain_tip(column.tip or _name(column)))
            action.toggled.connect(lambda shown, key=column.key: self.show(key, shown))
            made.addAction(action)
        made.addSeparator()
        again = QAction("&Reset columns", made)
        again.triggered.connect(self.as_at_first)
        made.addAction(again)
        made.setToolTipsVisible(True)
        return made

    def _asked(self, at: QPoint) -> None:
        header = self._table.horizontalHeader()
        place, columns = header.logicalIndexAt(at), self._table.rows_model.columns
        menu = self.menu(self._table, columns[place].key if 0 <= place < len(columns) else None)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(header.mapToGlobal(at))

    # ------------------------------------------------------------------ what the mouse did

    def _moved(self, place: int, before: int, now: int) -> None:
        if self._applying:
            return
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        self._order = [columns[header.logicalIndex(visual)].key for visual in range(header.count())]
        self._told()

    def _widened(self, key: str, width: int) -> None:
        # Once one is set, all of them stay as they are.
        columns = self._table.rows_model.columns
        self._widths = {column.key: self._table.columnWidth(place) for place, column in enumerate(columns)}
        self._widths = {name: kept for name, kept in self._widths.items() if kept} | {key: width}
        self._told()

    def _told(self) -> None:
        if not self._applying:
            self.changed.emit()


def _name(column: Column) -> str:
    return " ".join((column.name or column.title).split())
