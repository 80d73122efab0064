"""Small parts made of text: labels that never take a table's text for markup, buttons, captions with values."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from assaypilot.engine.errors import AssayPilotError

from ..tables.rows import plain_tip
from .layout import column_of, put

WIDEST_CAPTION = 128
"""Pixels of a caption next to its value, of letters of the usual size."""
CAPTION_LETTERS = 19
"""Letters of a caption next to its value."""
SIDE_BY_SIDE = 36
"""Letters that fit into a line with a caption and its value; in less room the caption is above."""

Role = Literal["", "muted", "heading", "title", "big", "problem", "void"]
ButtonRole = Literal["", "primary", "go", "link", "badge"]


def label(text: str = "", role: Role = "", *, wrap: bool = False, selectable: bool = False) -> QLabel:
    """Return a label of plain text."""
    made = QLabel()
    made.setTextFormat(Qt.TextFormat.PlainText)
    made.setText(text)
    made.setWordWrap(wrap)
    if role:
        made.setProperty("role", role)
    if selectable:
        made.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        made.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    return made


def polish(widget: QWidget, **properties: str) -> None:
    """Set properties the style sheet looks at and have it look again."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    widget.style().unpolish(widget)
    widget.style().polish(widget)


def cut_middle(text: str, longest: int) -> str:
    """Return a text of so many letters at most: a longer one loses its middle, the least informative part."""
    ends = (longest - 1) // 2
    return text if len(text) <= longest else f"{text[: longest - 1 - ends]}…{text[-ends:]}"


def mnemonic_free(text: str) -> str:
    """Return a text for a button or a menu, in which & is only an ampersand."""
    return text.replace("&", "&&")


def button(text: str, role: ButtonRole = "", tip: str = "", *, then: object = None) -> QPushButton:
    """Return a push button; & marks its mnemonic. ``then``: called when it is clicked."""
    made = QPushButton(text)
    if role:
        made.setProperty("role", role)
    if tip:
        made.setToolTip(tip)
    made.setAutoDefault(False)
    made.setCursor(Qt.CursorShape.PointingHandCursor)
    if then is not None:
        made.clicked.connect(then)
    return made


class _Buttons(QDialogButtonBox):
    """The buttons of a dialog, of which one is the default for good."""

    go: QPushButton | None = None

    def showEvent(self, event: QShowEvent) -> None:
        """Set the default button once they are in a dialog: else it stays Cancel when the keyboard was there."""
        super().showEvent(event)
        if self.go is not None:
            self.go.setDefault(False)
            self.go.setDefault(True)


def go_or_cancel(text: str, dialog: QDialog, then: Callable[[], object] | None = None) -> tuple[_Buttons, QPushButton]:
    """Return the buttons of a dialog: one that does it, the default, which is returned too, and Cancel.

    ``then``: what the first does, by default to accept the dialog.
    """
    box = _Buttons()
    box.accepted.connect(then or dialog.accept)
    box.rejected.connect(dialog.reject)
    box.go = go = box.addButton(text, QDialogButtonBox.ButtonRole.AcceptRole)
    go.setProperty("role", "go")
    go.setDefault(True)
    box.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
    return box, go


class ElidedLabel(QLabel):
    """One line of plain text that ends in … when there is no room; the whole of it is its tooltip."""

    def __init__(self, role: Role = "") -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        if role:
            self.setProperty("role", role)
        self._whole = self._more = ""

    def setText(self, text: str, more: str = "") -> None:
        """Show another text; ``more``: the tooltip, whether there is room or not."""
        self._whole, self._more = text, more
        self.setAccessibleName(more or text)
        self._fit()

    def text(self) -> str:
        """Return the whole text."""
        return self._whole

    def sizeHint(self) -> QSize:
        """As wide as the whole text."""
        return QSize(QFontMetrics(self.font()).horizontalAdvance(self._whole) + 4, super().sizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text into the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        shown = QFontMetrics(self.font()).elidedText(self._whole, Qt.TextElideMode.ElideRight, max(self.width(), 0))
        super().setText(shown)
        self.setToolTip(plain_tip(self._more or (self._whole if shown != self._whole else "")))


class Details(QWidget):
    """Captions at the left, values at the right: the facts of one thing. In little room captions are above."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(5)
        self._grid.setColumnStretch(1, 1)
        self._shown: list[tuple[QLabel, QLabel]] = []
        self.rows: list[tuple[str, str]] = []
        """The captions and values shown."""
        self._stacked = False

    def show_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Show these captions and values."""
        while len(self._shown) < len(rows):
            self._shown.append((label("", "muted"), label("", wrap=True, selectable=True)))
            self._place(len(self._shown) - 1)
        self.rows = list(rows)
        for place, (caption, value) in enumerate(self._shown):
            used = place < len(rows)
            caption.setVisible(used)
            value.setVisible(used)
            if used:
                self._fit_caption(caption, rows[place][0])
                value.setText(rows[place][1])
                value.setAccessibleName(f"{rows[place][0]}: {rows[place][1]}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Put captions next to or above their values."""
        super().resizeEvent(event)
        stacked = self.width() < SIDE_BY_SIDE * self.fontMetrics().averageCharWidth()
        if stacked != self._stacked:
            self._stacked = stacked
            for place in range(len(self._shown)):
                self._place(place)
        for (caption, _), (text, _) in zip(self._shown, self.rows, strict=False):
            self._fit_caption(caption, text)

    def _place(self, place: int) -> None:
        caption, value = self._shown[place]
        # A caption above a value belongs to it: the value of the one before ends with some room.
        value.setContentsMargins(0, 0, 0, 4 if self._stacked else 0)
        spot = (2 * place + 1, 0, 1, 2) if self._stacked else (2 * place, 1, 1, 1)
        self._grid.addWidget(caption, 2 * place, 0, 1, 2 if self._stacked else 1, Qt.AlignmentFlag.AlignTop)
        self._grid.addWidget(value, *spot, Qt.AlignmentFlag.AlignTop)

    def _fit_caption(self, caption: QLabel, text: str) -> None:
        """Show a caption, cut off where it leaves no room for its value; its tooltip is the whole."""
        metrics = QFontMetrics(caption.font())
        room = max(WIDEST_CAPTION, CAPTION_LETTERS * metrics.averageCharWidth())
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, self.width() if self._stacked else room)
        caption.setText(shown)
        caption.setToolTip(plain_tip(text) if shown != text else "")


class Callout(QFrame):
    """A note with an edge of colour: what needs attention, and the possible actions."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("callout")
        self.body = column_of(holder=self, margins=(12, 10, 12, 10), spacing=6)
        self.heading = label("", "heading", wrap=True)
        self.words = label("", wrap=True)
        put(self.body, self.heading, self.words)

    def show_text(self, heading: str, words: str) -> None:
        """Show a heading and a text."""
        self.heading.setText(heading)
        self.heading.setVisible(bool(heading))
        self.words.setText(words)
        self.words.setVisible(bool(words))
        self.setAccessibleName(f"{heading} {words}".strip())


def three_digits(value: float) -> str:
    """Return a number with three digits and, unless it is tiny, without an exponent: ``1010``, ``0.0123``."""
    return f"{float(f'{value:.3g}'):.15g}"


MAC = sys.platform == "darwin"

_ON_A_MAC = {
    " On a Mac, Cmd stands for Ctrl.": "",
    "F10 or Alt": "Ctrl+F2",
    "Ctrl+": "Cmd+",
    "Alt+": "Option+",
}
_KEY_NAMES = re.compile("|".join(map(re.escape, _ON_A_MAC)))


def as_here(text: str) -> str:
    """Return a text with the keys it names as they are called here: on a Mac Cmd for Ctrl, and Option for Alt."""
    return _KEY_NAMES.sub(lambda found: _ON_A_MAC[found[0]], text) if MAC else text


def keys(*wanted: QKeySequence.StandardKey | str) -> list[QKeySequence]:
    """Return the first key of each, each key once: one that is named twice would be ambiguous, and do nothing."""
    return [QKeySequence(key) for key in dict.fromkeys(QKeySequence(key).toString() for key in wanted) if key]


def error_words(error: AssayPilotError) -> tuple[str, str]:
    """Return the problem, with its place, and the remedy, as the window shows them: of a file its name."""
    name = None if error.file is None else Path(error.file).name
    plain = AssayPilotError(error.message, file=name, row=error.row, column=error.column)
    text = str(plain)
    text = text[:1].upper() + text[1:] if not error.file else text
    return (text if text.endswith((".", "?", "!")) else text + "."), error.mend or ""
