"""The values of a line, one under the other: what was entered stays to be read, struck through where it is not used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QPushButton, QWidget

from ..tables.rows import plain_tip
from ..widgets.layout import row_of
from ..widgets.text import button, label

CAPTION = 20
"""Letters of a caption that are shown."""


@dataclass(frozen=True, slots=True)
class Shown:
    """One measurement as it is shown."""

    number: int
    caption: str
    value: str
    """What is in use; empty for an excluded value."""
    struck: str = ""
    """What was entered, where it is excluded or was corrected."""
    note: str = ""
    excluded: bool = False


class ValueList(QWidget):
    """Values, each with what can be done about it."""

    correct = Signal(int)
    exclude = Signal(int)
    include = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(2, 1)
        self._made: list[QWidget] = []
        self._shown: tuple[Shown, ...] | None = None
        self._editable = False

    def show_values(self, values: Sequence[Shown], *, editable: bool) -> None:
        """Show these values; without ``editable`` nothing can be done about them."""
        if tuple(values) == self._shown and editable == self._editable:
            return
        self._shown, self._editable = tuple(values), editable
        for widget in self._made:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._made = []
        row = 0
        for one in values:
            said = QWidget()
            line = row_of(holder=said, spacing=6)
            if one.struck:
                line.addWidget(_struck(one.struck))
            if one.value:
                line.addWidget(label(one.value, selectable=True))
            self._add(self._caption(one.caption), row, 0)
            self._add(said, row, 1)
            if editable:
                self._add(self._actions(one), row, 2)
            row += 1
            if one.note:
                self._add(label(one.note, "muted", wrap=True), row, 1, 2)
                row += 1
        self.setVisible(bool(values))

    def _caption(self, text: str) -> QLabel:
        """A caption that leaves room beside it, however long the name of an endpoint is."""
        wide = CAPTION * self.fontMetrics().averageCharWidth()
        made = label(self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, wide), "muted")
        made.setAccessibleName(text)
        made.setToolTip(plain_tip(text) if made.text() != text else "")
        return made

    def _actions(self, one: Shown) -> QWidget:
        box = QWidget()
        line = row_of(holder=box, spacing=0)
        if one.excluded:
            made = [self._button("Use again", f"Use {one.struck} again", self.include, one.number)]
        else:
            made = [
                self._button("Correct…", f"Correct {one.value}", self.correct, one.number),
                self._button("Exclude…", f"Exclude {one.value}", self.exclude, one.number),
            ]
        for each in made:
            line.addWidget(each)
        line.addStretch(1)
        return box

    def _button(self, text: str, name: str, signal: object, number: int) -> QPushButton:
        made = button(text, "link")
        made.setAccessibleName(name)
        made.clicked.connect(lambda: signal.emit(number))  # type: ignore[attr-defined]  # a bound signal
        return made

    def _add(self, widget: QWidget, row: int, column: int, wide: int = 1) -> None:
        self._grid.addWidget(widget, row, column, 1, wide)
        self._made.append(widget)


def _struck(text: str) -> QLabel:
    """A label struck through, which says so to a screen reader."""
    made = label(text, "muted")
    font = made.font()
    font.setStrikeOut(True)
    made.setFont(font)
    made.setAccessibleName(f"struck through: {text}")
    return made
