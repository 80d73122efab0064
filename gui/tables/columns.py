"""The columns of a table: their widths, which are shown, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QMenu, QTableView, QWidget

from ..resources.theme import theme
from ..widgets.layout import show_menu
from ..widgets.text import mnemonic_free
from .rows import Column, RowsModel, plain_tip

if TYPE_CHECKING:
    from .table import Table


SAMPLED = 120
STEP = 7919
"""Rows examined for the width of a column."""
NARROWEST, WIDEST = 32, 260
SOFTEST = 72
"""Pixels a column that may be narrow keeps."""


class Widths:
    """Gives the columns of a view their widths."""

    def __init__(self, view: QTableView, model: RowsModel) -> None:
        self._view, self._model = view, model
        self.own: dict[str, int] = {}
        """Widths set by the user, by key; while there are any, none is changed."""
        self.filling = False
        """Whether widths are being given just now."""
        self._flexible, self._least = "", 0
        self._natural: list[int] = []
        """Widths that the columns' texts need, for these columns and this size of the text."""
        self._columns: tuple[Column, ...] = ()
        self._sized: tuple[str, float] = ("", 0.0)

    def stretch(self, key: str, least: int = 80) -> None:
        """From now on the column with this key takes the room that is left, but at least so many pixels."""
        self._flexible, self._least = key, least
        self.fill()

    def take_over(self, widths: Mapping[str, int]) -> None:
        """Columns have these widths from now on, by key; none: they follow their texts and the room."""
        self.own = dict(widths)
        self.fill()

    def measure(self) -> None:
        """Compute and set the widths that the current columns need."""
        columns = self._model.columns
        sized = (self._view.font().key(), theme().scale)
        if self._sized != sized or self._columns is not columns:  # a filter alone changes no text of any row
            self._sized, self._columns = sized, columns
            self._natural = [_scaled(c.width, c) or self._fitting(place) for place, c in enumerate(columns)]
        self.fill()

    def fill(self, *, again: bool = True) -> None:
        """Give the flexible column what room there is, and take what is missing from the soft ones."""
        columns = self._model.columns
        if not columns or len(self._natural) != len(columns) or self.filling:
            return
        there = self._view.viewport().width()
        seen = [n for n in range(len(columns)) if not self._view.isColumnHidden(n)]
        widths = {n: self.own.get(columns[n].key, self._natural[n]) for n in seen}
        if not self.own:
            self._share(widths, there)
        self.filling = True
        for place, width in widths.items():
            if self._view.columnWidth(place) != width:
                self._view.setColumnWidth(place, width)
        self.filling = False
        if again and self._view.viewport().width() != there:  # a scroll bar came or went meanwhile
            self.fill(again=False)

    def _share(self, widths: dict[int, int], there: int) -> None:
        """Change widths, by place, so that they fill the room or come near to it."""
        columns = self._model.columns
        flexible = next((n for n in widths if columns[n].key == self._flexible), None)
        if flexible is not None:
            widths[flexible] = self._least
        room = there - sum(widths.values())
        # The flexible column comes first: the remaining room would give it one word per line.
        for place in sorted(widths, key=lambda place: place != flexible):
            more = min(_scaled(columns[place].wish, columns[place]) - widths[place], room)
            if more > 0:
                widths[place] += more
                room -= more
        if room > 0 and widths:
            # Lines and selection reach the right edge; a number does not go there alone.
            words = [place for place in widths if not columns[place].number and columns[place].smiles is None]
            visual = self._view.horizontalHeader().visualIndex
            last = max(words or widths, key=visual)
            if flexible is None:
                room -= self._spread(widths, room)  # one wide gap would split lines
            widths[last if flexible is None else flexible] += room
            room = 0
        softest = _scaled(SOFTEST)
        soft = {n: widths[n] - softest for n in widths if columns[n].soft and widths[n] > softest}
        give = sum(soft.values())
        if room < 0 < give:
            for place, most in soft.items():
                widths[place] -= min(most, -(-most * -room // give))

    def _spread(self, widths: dict[int, int], room: int) -> int:
        """Return the part of some room that all columns but signs and pictures took, in proportion to their widths."""
        columns = self._model.columns
        growing = {
            place: width
            for place, width in widths.items()
            if columns[place].smiles is None and columns[place].status is None
        }
        whole = sum(growing.values())
        more = {place: room * width // whole for place, width in growing.items()} if whole else {}
        for place, one in more.items():
            widths[place] += one
        return sum(more.values())

    def _fitting(self, place: int) -> int:
        column = self._model.columns[place]
        metrics = self._view.fontMetrics()
        size = self._model.size
        # A step that has nothing to do with how a product of sites repeats.
        rows = range(size) if size <= SAMPLED else [place * STEP % size for place in range(SAMPLED)]
        widest = max((metrics.horizontalAdvance(column.text(row)[:80]) for row in rows), default=0)
        # The arrow of the sorted column comes after the title.
        return min(
            max(NARROWEST, widest + 18, max(map(metrics.horizontalAdvance, column.title.split("\n"))) + 20),
            _scaled(WIDEST),
        )


def _scaled(pixels: int, column: Column | None = None) -> int:
    """Pixels that the letters need; for a picture half as much more."""
    more = theme().scale - 1
    return round(pixels * (1 + (more / 2 if column is not None and column.smiles is not None else more)))


class StayingMenu(QMenu):
    """A menu that stays open while its ticks are set."""

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Set a tick without closing the menu."""
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
    """The columns of a table as the user arranges them."""

    changed = Signal()
    """A column was moved, hidden, shown or made wider, or the table sorted by another one."""

    def __init__(self, table: Table, *, hidden: tuple[str, ...] = (), fixed: tuple[str, ...] = ()) -> None:
        """``hidden``: keys not shown by default; ``fixed``: keys that are always shown."""
        super().__init__(table)
        self._table, self._fixed = table, frozenset(fixed)
        self._at_first = frozenset(hidden)
        self.second_part = ""
        """The key of the column above which the menu has a line."""
        self._shown: dict[str, bool] = {}
        """What the user chose to show, by key."""
        self._order: list[str] = []
        self._widths: dict[str, int] = {}
        self.order: tuple[str, Qt.SortOrder] | None = None
        """The remembered order: the key of a column, and the direction."""
        self._applying = False
        header = table.horizontalHeader()
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_menu)
        header.sectionMoved.connect(self._moved)
        header.sortIndicatorChanged.connect(lambda place, order: self._emit_changed())
        table.widened.connect(self._widened)
        table.dressed.connect(self.apply)
        self.apply()

    # ------------------------------------------------------------------ columns shown

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
        """Scroll sideways to a requested column."""
        model = self._table.rows_model
        if model.rowCount() and any(column.key == key for column in model.columns):
            self._table.doItemsLayout()  # at once, not with the next turn: the place of the column must be known
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
        """Forget the user's arrangement."""
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
        """Return the user's arrangement, as plain values."""
        order = self._table.rows_model.wanted_by
        return {
            "shown": dict(self._shown),
            "order": list(self._order),
            "widths": dict(self._widths),
            "sorted": [] if order is None else [order[0], order[1] == Qt.SortOrder.DescendingOrder],
        }

    def use(self, values: dict[str, Any]) -> None:
        """Restore an arrangement; unreadable parts keep the default."""
        shown, order, widths = values.get("shown"), values.get("order"), values.get("widths")
        self._shown = {str(key): bool(value) for key, value in shown.items()} if isinstance(shown, dict) else {}
        self._order = [str(key) for key in order] if isinstance(order, list) else []
        kept = widths if isinstance(widths, dict) else {}
        self._widths = {str(key): int(w) for key, w in kept.items() if isinstance(w, int) and 0 < w < 4000}
        self.order = None
        if isinstance(by := values.get("sorted"), list) and len(by) == 2:
            self.order = str(by[0]), Qt.SortOrder.DescendingOrder if by[1] else Qt.SortOrder.AscendingOrder
        self._table.widths.take_over(self._widths)
        self.apply()

    def apply(self) -> None:
        """Arrange the current columns as the user chose."""
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        if not columns or header.count() != len(columns):
            return
        self._applying = True
        places = {column.key: place for place, column in enumerate(columns)}
        wanted = [places[key] for key in self._order if key in places]
        # Columns that were not arranged stay after their original predecessor.
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

    def menu(self, parent: QWidget) -> QMenu:
        """Return the menu of all columns, with ticks."""
        made = StayingMenu(parent)
        made.setAccessibleName("Columns")
        for column in self._table.rows_model.columns:
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

    def _open_menu(self, at: QPoint) -> None:
        show_menu(self.menu(self._table), self._table.horizontalHeader().mapToGlobal(at))

    # ------------------------------------------------------------------ mouse events

    def _moved(self, place: int, before: int, now: int) -> None:
        if self._applying:
            return
        header, columns = self._table.horizontalHeader(), self._table.rows_model.columns
        self._order = [columns[header.logicalIndex(visual)].key for visual in range(header.count())]
        self._emit_changed()

    def _widened(self, key: str, width: int) -> None:
        # Once one is set, all of them stay as they are.
        columns = self._table.rows_model.columns
        self._widths = {column.key: self._table.columnWidth(place) for place, column in enumerate(columns)}
        self._widths = {name: kept for name, kept in self._widths.items() if kept} | {key: width}
        self._emit_changed()

    def _emit_changed(self) -> None:
        if not self._applying:
            self.changed.emit()


def _name(column: Column) -> str:
    return " ".join((column.name or column.title).split())
