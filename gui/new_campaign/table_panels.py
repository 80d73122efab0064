"""How a file is read and joined with another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QWidget

from assaypilot.engine.tables import headers
from assaypilot.engine.tables.opening import ENCODINGS, ReadAs
from assaypilot.engine.tables.raw import DELIMITERS, RawTable, fold
from assaypilot.engine.tables.workbook import SheetName

from ..widgets.inputs import combo_box, fill_box
from ..widgets.layout import FlowRow, column_of, put, row_of
from ..widgets.text import ElidedLabel, button, label
from .table_work import Loaded

HEADER_ROWS, DOUBLE_ROWS = 12, 6
"""Rows offered as the header, and pairs of rows."""
MARKS = {".": "point", ",": "comma"}


class ReadingPanel(QWidget):
    """A row of choices; the first of each is the one found."""

    changed = Signal()
    """Something else was chosen."""

    def __init__(self) -> None:
        super().__init__()
        row = FlowRow(self, 14)
        self._parts: dict[str, QWidget] = {}
        self.sheet = self._add(row, "Sheet", "Sheet of the workbook", 18)
        self.encoding = self._add(row, "Encoding", "Encoding of the text", 18)
        self.delimiter = self._add(row, "Separator", "What stands between the columns", 14)
        self.decimal = self._add(row, "Decimal mark", "What marks decimals", 11)
        self.header = self._add(row, "Header", "Which rows are the header", 17)

    def _add(self, row: FlowRow, caption: str, tip: str, letters: int) -> QComboBox:
        part = QWidget()
        column = column_of(holder=part, spacing=3)
        combo = QComboBox()
        combo.setAccessibleName(caption)
        combo.setToolTip(tip)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.setMinimumContentsLength(letters)
        combo.activated.connect(lambda _: self.changed.emit())
        above = label(caption, "muted")
        above.setBuddy(combo)
        put(column, above, combo)
        row.addWidget(part)
        self._parts[caption] = part
        return combo

    def show_reading(self, raw: RawTable, sheets: Sequence[SheetName], how: ReadAs) -> None:
        """Offer the choices for this table, showing the one found or chosen."""
        names = [(f"{one.name} (hidden)" if one.hidden else one.name, one.name) for one in sheets]
        fill_box(self.sheet, names, how.sheet or raw.sheet)
        _offer(self.encoding, ENCODINGS, how.encoding, ENCODINGS.get(raw.encoding, raw.encoding))
        _offer(self.delimiter, DELIMITERS, how.delimiter, DELIMITERS.get(raw.delimiter, "none"))
        _offer(self.decimal, MARKS, how.decimal, MARKS[raw.decimal])
        rows = [(f"row {n}", (n, 1)) for n in range(1, HEADER_ROWS + 1)]
        rows += [(f"rows {n} and {n + 1}", (n, 2)) for n in range(1, DOUBLE_ROWS + 1)]
        above = _found_header(raw)
        fill_box(
            self.header, [(above if how.header is None else "find it", None), *rows, ("no header", (0, 0))], how.header
        )
        text, book = raw.kind == "text", raw.kind == "workbook"
        for name, there in (
            ("Sheet", book),
            ("Encoding", text and raw.encoding != "text"),
            ("Separator", text),
            ("Decimal mark", text),
            ("Header", text or book),
        ):
            self._parts[name].setVisible(there)

    @property
    def any(self) -> bool:
        """Whether there is anything to choose."""
        return any(not part.isHidden() for part in self._parts.values())

    @property
    def how(self) -> ReadAs:
        """The choice."""
        book = not self._parts["Sheet"].isHidden()
        return ReadAs(
            sheet=self.sheet.currentData() if book else None,
            encoding=None if book else self.encoding.currentData(),
            delimiter=None if book else self.delimiter.currentData(),
            decimal=None if book else self.decimal.currentData(),
            header=self.header.currentData(),
        )


def _found_header(raw: RawTable) -> str:
    """Where the header was found: its rows, or the row below it."""
    if raw.header:
        return f"found: rows {raw.header[0]} to {raw.header[-1]}"
    return f"found: above row {raw.rows[0]}" if raw.rows else "found"


def _offer(combo: QComboBox, names: Mapping[str, str], chosen: str | None, read_as: str) -> None:
    """Offer all readings; the current one is marked as found unless it was chosen."""
    found = "found: " if chosen is None else ""
    fill_box(
        combo, [(f"{found}{read_as}", chosen), *((name, key) for key, name in names.items() if key != chosen)], chosen
    )


class JoinPanel(QWidget):
    """One line without a second file, two with one."""

    wanted = Signal()
    """A second file is to be chosen."""
    dropped = Signal()
    """The second file is to be dropped."""
    changed = Signal()
    """Another column of ids was chosen."""

    def __init__(self) -> None:
        super().__init__()
        column = column_of(holder=self, spacing=6)
        row = row_of(spacing=10)
        self.add = button(
            "&Join a second file…",
            tip="Structures in one file, activities in another: joined by the ids",
            then=self.wanted,
        )
        self.remove = button("&Without it", "link", "Reads the first file alone", then=self.dropped)
        self.file = ElidedLabel("muted")
        put(row, self.add, (self.file, 1), self.remove)
        column.addLayout(row)
        self.line = QWidget()
        ids = row_of(holder=self.line, spacing=10)
        self.own = _combo("Column of ids of the first file")
        self.other = _combo("Column of ids of the second file")
        for combo in (self.own, self.other):
            combo.activated.connect(lambda _: self.changed.emit())
        first = label("Ids in", "muted")
        first.setBuddy(self.own)
        second = label("are those in", "muted")
        second.setBuddy(self.other)
        self.summary = ElidedLabel()
        put(ids, first, self.own, second, self.other, (self.summary, 1))
        column.addWidget(self.line)
        self.show_nothing()

    def show_nothing(self) -> None:
        """There is no second file."""
        self.add.setText("&Join a second file…")
        self.file.setText("")
        self.remove.hide()
        self.line.hide()

    def show_joined(self, loaded: Loaded) -> None:
        """Show what was joined."""
        second = loaded.wanted.second
        if second is None:
            self.show_nothing()
            return
        self.add.setText("&Join another file…")
        self.file.setText(f"Joined with {second.name}: {loaded.other_rows:,} rows")
        self.remove.show()
        self.line.show()
        _offer_columns(self.own, loaded.columns, loaded.wanted.id_column)
        _offer_columns(self.other, loaded.other_columns, loaded.wanted.other_column)
        here, there = map(len, loaded.raw.unmatched)
        self.summary.setText(
            f"Without a partner: {here:,} of the first file, {there:,} of the second"
            if here or there
            else "Every id has its partner"
        )


def _combo(name: str) -> QComboBox:
    made = combo_box(name)
    made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
    made.setMinimumContentsLength(15)
    return made


def _offer_columns(combo: QComboBox, columns: Sequence[str], chosen: str | None) -> None:
    found = next((c for known in headers.IDS for c in columns if fold(c) == known), None)
    fill_box(combo, [(name, name) for name in columns], chosen if chosen is not None else found)
