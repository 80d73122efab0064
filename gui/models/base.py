"""A table of columns over fixed rows that sorts and filters by integers: what all tables of the window are."""

from __future__ import annotations

import html
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt

__all__ = [
    "KIND",
    "ROW",
    "SMILES",
    "STATUS",
    "Column",
    "Index",
    "Ranks",
    "RowsModel",
    "plain_tip",
    "text_ranks",
    "two_lines",
]

Index = QModelIndex | QPersistentModelIndex
Ranks = NDArray[np.int64] | NDArray[np.float64]

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
class Column:
    """One column: how a row reads in it, and how rows are ordered by it."""

    key: str
    title: str
    text: Callable[[int], str]
    rank: Callable[[], Ranks] | None = None
    """Sort keys of all rows, integers or floats (NaN last); None: the table cannot be sorted by it."""
    number: bool = False
    tip: str = ""
    """What the heading means."""
    smiles: Callable[[int], str] | None = None
    status: Callable[[int], int] | None = None
    kind: Callable[[int], str | None] | None = None
    cell_tip: Callable[[int], str] | None = None
    width: int = 0
    """Pixels; 0: from the texts."""
    wish: int = 0
    """Pixels it would like when there is room."""
    soft: bool = False
    """Whether it may be narrower than its texts when there is little room."""
    name: str = ""
    """The whole title where ``title`` is a short one; it is what is copied."""


def plain_tip(text: str) -> str:
    """A tooltip that shows ``text`` as it is, whatever looks like markup in it."""
    if "<" not in text and "&" not in text:
        return text
    lines = html.escape(text).replace("\n", "<br/>")
    return f"<qt>{lines}</qt>"


def two_lines(text: str, width: int = 18) -> str:
    """A title of at most two lines, broken between words; what does not fit is cut off with an ellipsis."""
    return "\n".join(textwrap.wrap(text, width, max_lines=2, placeholder=" …")) or text


def text_ranks(texts: Sequence[str]) -> NDArray[np.int64]:
    """The place of each text in alphabetical order, numbers inside texts by value (BZ-9 before BZ-10)."""
    distinct = sorted(set(texts), key=_natural)
    place = {text: rank for rank, text in enumerate(distinct)}
    return np.fromiter((place[text] for text in texts), dtype=np.int64, count=len(texts))


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    parts: list[tuple[int, int, str]] = []
    digits, letters = "", ""
    for sign in text.casefold() + "\0":
        if sign.isascii() and sign.isdigit():
            if letters:
                parts.append((1, 0, letters))
                letters = ""
            digits += sign
            continue
        if digits:
            parts.append((0, int(digits[:18]), digits))
            digits = ""
        letters += sign
    return (*parts, (1, 0, letters))


class RowsModel(QAbstractTableModel):
    """Translates rows and columns into Qt's roles; which rows, and in which order, are one integer array."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.columns: tuple[Column, ...] = ()
        self.size = 0
        self._mask: NDArray[np.bool_] | None = None
        self._rows: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._sorted: tuple[int, Qt.SortOrder] | None = None

    # ------------------------------------------------------------------ content

    def fill(self, columns: Sequence[Column], size: int) -> None:
        """Nothing; replaces everything. The order is kept when a column of the same key is still there."""
        key = self.sorted_by
        self.beginResetModel()
        self.columns, self.size, self._mask = tuple(columns), size, None
        self._sorted = None
        if key is not None:
            place = next((n for n, column in enumerate(self.columns) if column.key == key[0]), None)
            self._sorted = None if place is None else (place, key[1])
        self._rows = self._arranged()
        self.endResetModel()

    def only(self, mask: NDArray[np.bool_] | None) -> None:
        """Nothing; shows the rows of a mask over all rows (None: all)."""
        self.beginResetModel()
        self._mask = mask
        self._rows = self._arranged()
        self.endResetModel()

    def refresh(self) -> None:
        """Nothing; says that texts changed while rows and their order stay."""
        if self.rowCount() and self.columns:
            self.dataChanged.emit(self.index(0, 0), self.index(self.rowCount() - 1, len(self.columns) - 1))

    @property
    def rows(self) -> NDArray[np.intp]:
        """The places in the data of the rows shown, top to bottom."""
        return self._rows

    @property
    def sorted_by(self) -> tuple[str, Qt.SortOrder] | None:
        """Key of the column the table is sorted by, and the direction."""
        return None if self._sorted is None else (self.columns[self._sorted[0]].key, self._sorted[1])

    def view_row(self, row: int) -> int | None:
        """Where a row of the data is shown, None when it is not."""
        found = np.flatnonzero(self._rows == row)
        return int(found[0]) if found.size else None

    def source(self, index: Index) -> int:
        """The row of the data that an index shows."""
        return int(self._rows[index.row()])

    def place_of(self, key: str) -> int:
        """The column with a key."""
        return next(place for place, column in enumerate(self.columns) if column.key == key)

    # ------------------------------------------------------------------ what Qt asks

    def rowCount(self, parent: Index = _NOWHERE) -> int:
        """The number of rows shown."""
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: Index = _NOWHERE) -> int:
        """The number of columns."""
        return 0 if parent.isValid() else len(self.columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        """What a cell has to say in a role."""
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
        """A column's heading."""
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self.columns):
            return None
        column = self.columns[section]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return int(_NUMBER if column.number else _TEXT)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(column.tip or column.title)
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Nothing; orders the rows by a column, equal ones as the data has them."""
        if 0 <= column < len(self.columns) and self.columns[column].rank is None:
            return
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        places = [(self.source(index), index.column()) for index in before]
        self._sorted = (column, order) if 0 <= column < len(self.columns) else None
        self._rows = self._arranged()
        where = {int(row): place for place, row in enumerate(self._rows)}
        self.changePersistentIndexList(before, [self.index(where[row], at) for row, at in places])
        self.layoutChanged.emit()

    def _arranged(self) -> NDArray[np.intp]:
        rows = np.arange(self.size, dtype=np.intp) if self._mask is None else np.flatnonzero(self._mask)
        if self._sorted is None:
            return rows
        rank = self.columns[self._sorted[0]].rank
        if rank is None:
            return rows
        keys = np.asarray(rank())[rows]
        down = self._sorted[1] == Qt.SortOrder.DescendingOrder
        order = np.argsort(-keys if down else keys, kind="stable")  # NaN last in both directions
        return rows[order]

    # ------------------------------------------------------------------ copying

    def as_text(self, rows: Sequence[int] | None = None, keys: Sequence[str] | None = None) -> list[list[str]]:
        """Header and rows (as shown; default all of them) as texts, what is copied; ``keys``: these columns only.

        A column of pictures is copied as its structures (SMILES).
        """
        chosen = range(len(self._rows)) if rows is None else rows
        wanted = list(self.columns) if keys is None else [self.columns[self.place_of(key)] for key in keys]
        table = [[_heading(column) for column in wanted]]
        table += [[(column.smiles or column.text)(int(self._rows[row])) for column in wanted] for row in chosen]
        return table


def _heading(column: Column) -> str:
    return "SMILES" if column.smiles is not None else " ".join((column.name or column.title).split())
