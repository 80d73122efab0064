"""A table of columns over fixed rows that sorts and filters by integers, the base of all tables."""

from __future__ import annotations

import html
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from assaypilot.engine.arrays import Flags, Ints
from assaypilot.engine.system.progress import Report, silent

from ..runtime.tasks import Job, Latest
from .ordering import Ranks, order_of, text_ranks

Index = QModelIndex | QPersistentModelIndex
Later = Callable[[str, Callable[[Report], Any], Callable[[Any], None], Callable[[], None]], Job]
"""Has something computed off the window's thread, with a label: work, then what takes its result, or that none came."""

AT_ONCE = 20_000
"""Rows up to which a table is put in order and narrowed at once; above, that is done off the window's thread."""

ROW = Qt.ItemDataRole.UserRole
"""Role of the row's place in the data (a compound's position in the library, a line of the round)."""
STATUS = Qt.ItemDataRole.UserRole + 1
"""Role of a status code, for columns that draw its shape."""
SMILES = Qt.ItemDataRole.UserRole + 2
"""Role of a structure, for columns that draw it."""
KIND = Qt.ItemDataRole.UserRole + 3
"""Role of a cell's state: ``wrong``, ``saving``, ``muted`` or None."""

_NOWHERE = QModelIndex()
_NUMBER = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_TEXT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter


@dataclass(frozen=True)
class Coded:
    """A column of few different texts: the place of each row's text among them."""

    codes: NDArray[np.integer[Any]]
    texts: Sequence[str]


@dataclass(frozen=True)
class Column:
    """One column: how a row reads in it, and how rows are ordered by it."""

    key: str
    title: str
    text: Callable[[int], str]
    rank: Callable[[], Ranks] | None = None
    """Sort keys of all rows, integers or floats (NaN last); None: the table cannot be sorted by it."""
    number: bool = False
    tip: str = ""
    """The meaning of the heading."""
    smiles: Callable[[int], str] | None = None
    status: Callable[[int], int] | None = None
    kind: Callable[[int], str | None] | None = None
    cell_tip: Callable[[int], str] | None = None
    width: int = 0
    """Pixels with text of the usual size; 0: from the texts."""
    wish: int = 0
    """Pixels it would like when there is room."""
    soft: bool = False
    """Whether it may be narrower than its texts when there is little room."""
    name: str = ""
    """The whole title where ``title`` is a short one; copies use it."""
    coded: Callable[[], Coded] | None = None
    """The texts of all rows, where there are few different ones."""


def words(key: str, title: str, texts: Sequence[str], **more: Any) -> Column:
    """Return a column of texts, in the order of the alphabet."""
    return Column(key, title, texts.__getitem__, lambda: text_ranks(texts), **more)


def numbers(key: str, title: str, values: NDArray[Any], form: str = ",", **more: Any) -> Column:
    """Return a column of numbers in a form, with an empty cell for NaN."""

    def text(row: int) -> str:
        value = float(values[row])  # numpy's own numbers are slow one by one
        return "" if value != value else format(value, form).replace("-", "\N{MINUS SIGN}")

    return Column(key, title, text, lambda: values, number=True, **more)


def plain_tip(text: str) -> str:
    """Return a tooltip that shows ``text`` literally, even if parts look like markup."""
    if "<" not in text and "&" not in text:
        return text
    lines = html.escape(text).replace("\n", "<br/>")
    return f"<qt>{lines}</qt>"


_TITLE = 18
"""Characters of one line of a title."""


def two_lines(text: str) -> str:
    """Return a title of at most two lines, broken between words; the rest is cut off with an ellipsis."""
    return "\n".join(textwrap.wrap(text, _TITLE, max_lines=2, placeholder=" …")) or text


class RowsModel(QAbstractTableModel):
    """Translates rows and columns into Qt's roles; which rows, and in which order, are one integer array.

    Many rows are sorted off the window's thread, by ``later``; until then they keep their order.
    """

    turning = Signal()
    """The rows are about to be put in another order; ``turned`` follows."""
    turned = Signal()
    arranging = Signal(bool)
    """Whether an order is being computed; ``sorted_by`` is the current one."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.size = 0
        self.later: Later | None = None
        self._mask: Flags | None = None
        self._rows: Ints = np.zeros(0, dtype=np.intp)
        self._order: Ints | None = None
        """All rows in the order shown, whatever is left out of them; None: as the data has them."""
        self._sorted: tuple[int, Qt.SortOrder] | None = None
        self._work = Latest()
        self._wanted: tuple[int, Qt.SortOrder] | None = None
        """The order that is being computed."""

    # ------------------------------------------------------------------ content

    def fill(self, columns: Sequence[Column], size: int) -> None:
        """Replace everything. The order is kept when a column of the same key is still there."""
        key = self.sorted_by
        self._forget_work()
        self.beginResetModel()
        self.columns, self.size, self._mask = tuple(columns), size, None
        self._sorted = None
        if key is not None:
            place = next((n for n, column in enumerate(self.columns) if column.key == key[0]), None)
            self._sorted = None if place is None else (place, key[1])
        stale = self._sorted is not None and self._elsewhere and self._order is not None and len(self._order) == size
        if not stale:
            self._order = None if self._elsewhere else self._ordered(self._sorted)
        self._rows = self._arranged()
        self.endResetModel()
        if self._sorted is not None and self._elsewhere:
            self._work_out(self._sorted)

    def only(self, mask: Flags | None) -> None:
        """Show the rows of a mask over all rows (None: all)."""
        self.beginResetModel()
        self._mask = mask
        self._rows = self._arranged()
        self.endResetModel()

    def holding(self, text: str, also: Callable[[int], str] = lambda _: "") -> Flags | None:
        """Return which rows show all the words of a text; None where it has no word.

        ``also``: further texts of each row to search.
        """
        words = text.casefold().split()
        if not words:
            return None
        lines = (
            " ".join([*(column.text(row) for column in self.columns), also(row)]).casefold() for row in range(self.size)
        )
        return np.fromiter((all(word in line for word in words) for line in lines), dtype=bool, count=self.size)

    def refresh(self) -> None:
        """Signal that texts changed while rows and their order stay."""
        if self.rowCount() and self.columns:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(self.columns) - 1))

    @property
    def rows(self) -> Ints:
        """The places in the data of the rows shown, top to bottom."""
        return self._rows

    @property
    def sorted_by(self) -> tuple[str, Qt.SortOrder] | None:
        """Key of the column the table is sorted by, and the direction."""
        return None if self._sorted is None else (self.columns[self._sorted[0]].key, self._sorted[1])

    @property
    def wanted_by(self) -> tuple[str, Qt.SortOrder] | None:
        """The order of the table once the one being computed is there."""
        return self.sorted_by if self._wanted is None else (self.columns[self._wanted[0]].key, self._wanted[1])

    def view_row(self, row: int) -> int | None:
        """Where a row of the data is shown, None when it is not."""
        found = np.flatnonzero(self._rows == row)
        return int(found[0]) if found.size else None

    def source(self, index: Index) -> int:
        """Return the row of the data that an index shows."""
        return int(self._rows[index.row()])

    def place_of(self, key: str) -> int:
        """Return the column with a key."""
        return next(place for place, column in enumerate(self.columns) if column.key == key)

    # ------------------------------------------------------------------ Qt's interface

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """Return the number of rows shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """Return the number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return the data of a cell in a role."""
        if not index.isValid():
            return None
        column, row = self.columns[index.column()], int(self._rows[index.row()])
        if role == Qt.ItemDataRole.DisplayRole:
            return column.text(row)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_NUMBER if column.number else _TEXT)
        if role == ROW:
            return row
        if role == STATUS:
            return None if column.status is None else column.status(row)
        if role == SMILES:
            return None if column.smiles is None else column.smiles(row)
        if role == KIND:
            return None if column.kind is None else column.kind(row)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.cell_tip(row) if column.cell_tip is not None else column.text(row))
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return " ".join(f"{column.name or column.title}: {column.text(row)}".split())
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """Return a column's heading."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            drawn = column.smiles is not None and column.coded is None
            return int(Qt.AlignmentFlag.AlignCenter if drawn else _NUMBER if column.number else _TEXT)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.tip or column.title)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Order the rows by a column, equal ones as the data has them."""
        wanted = (column, order) if 0 <= column < len(self.columns) else None
        if wanted is not None and self.columns[column].rank is None:
            return
        self._forget_work()
        if wanted is not None and self._elsewhere:
            self._work_out(wanted)
        else:
            self._turn(wanted, self._ordered(wanted))

    @property
    def busy(self) -> bool:
        """Whether an order is being computed."""
        return self._work.busy

    def stop(self) -> None:
        """Stop computing an order: the rows keep theirs."""
        if self.busy:
            self._forget_work()
            self.arranging.emit(False)

    @property
    def _elsewhere(self) -> bool:
        return self.later is not None and self.size > AT_ONCE

    def _forget_work(self) -> None:
        self._work.drop()
        self._wanted = None

    def _work_out(self, wanted: tuple[int, Qt.SortOrder]) -> None:
        """Compute an order, and apply it if it is still wanted."""
        if self.later is None:
            return
        column = self.columns[wanted[0]]

        def landed(order: Ints | None) -> None:
            self._wanted = None
            self._turn(wanted, order)
            self.arranging.emit(False)

        def stopped() -> None:
            self._wanted = None
            self.arranging.emit(False)

        words = f"Sorting by {whole_name(column)}"
        self._work.start(self.later(words, lambda report: _by(column, wanted[1]), landed, stopped))
        self._wanted = wanted
        self.arranging.emit(True)

    def _turn(self, wanted: tuple[int, Qt.SortOrder] | None, order: Ints | None) -> None:
        """Show the rows in another order."""
        self.turning.emit()
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = [(self.source(index), index.column()) for index in before]
        self._sorted, self._order = wanted, order
        self._rows = self._arranged()
        if before:
            where = np.full(self.size, -1, dtype=np.intp)
            where[self._rows] = np.arange(len(self._rows))
            self.changePersistentIndexList(before, [self.index(int(where[row]), at) for row, at in places])
        self.layoutChanged.emit()
        self.turned.emit()

    def _ordered(self, wanted: tuple[int, Qt.SortOrder] | None) -> Ints | None:
        return None if wanted is None else _by(self.columns[wanted[0]], wanted[1])

    def _arranged(self) -> Ints:
        if self._order is None:
            return np.arange(self.size, dtype=np.intp) if self._mask is None else np.flatnonzero(self._mask)
        return self._order if self._mask is None else self._order[self._mask[self._order]]

    # ------------------------------------------------------------------ copying

    def as_text(self, rows: Sequence[int] | None = None, keys: Sequence[str] | None = None) -> list[list[str]]:
        """Return header and rows (as shown; default all of them) as texts for a copy; ``keys``: these columns only.

        A column of pictures is copied as its structures (SMILES).
        """
        sources = self._rows if rows is None else self._rows[np.asarray(rows, dtype=np.intp)]
        return list(text_rows(self.chosen_columns(keys), sources))

    def chosen_columns(self, keys: Sequence[str] | None) -> list[Column]:
        """Return the columns with these keys, in their order; None: all."""
        return list(self.columns) if keys is None else [self.columns[self.place_of(key)] for key in keys]


def numeric(columns: Iterable[Column]) -> list[Column]:
    """Return the columns whose sort keys are the numbers they show; an interval's key is its width."""
    return [one for one in columns if one.number and one.rank is not None and not one.key.startswith("interval")]


def whole_name(column: Column) -> str:
    """Return the title of a column in one line."""
    return " ".join((column.name or column.title).split())


def text_rows(columns: Sequence[Column], sources: Ints, report: Report = silent) -> Iterator[list[str]]:
    """Yield a header and a list of texts for each of the rows of the data; other threads get their turn in between."""
    yield [_heading(column) for column in columns]
    for start in range(0, len(sources), 250):
        report(start / len(sources), f"{start:,} of {len(sources):,} rows")
        part = sources[start : start + 250]
        yield from map(list, zip(*(_texts(column, part) for column in columns), strict=True))
        time.sleep(0.002)


def _texts(column: Column, sources: Ints) -> list[str]:
    if column.coded is not None:
        coded = column.coded()
        return [coded.texts[code] for code in coded.codes[sources].tolist()]
    return list(map(column.smiles or column.text, sources.tolist()))


def _by(column: Column, order: Qt.SortOrder) -> Ints | None:
    """All rows in the order of a column; None where there is none."""
    if column.rank is None:
        return None
    return order_of(column.rank(), order == Qt.SortOrder.DescendingOrder)


def _heading(column: Column) -> str:
    drawn = column.smiles is not None and column.coded is None
    return "SMILES" if drawn else whole_name(column)
