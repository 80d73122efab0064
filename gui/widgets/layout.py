"""How parts share their room: rows that wrap, parts that fold, windows that fit, words that break."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QMenu,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from ..resources.theme import theme
from ..tables.rows import plain_tip

if TYPE_CHECKING:
    from .text import Role


Box = TypeVar("Box", QHBoxLayout, QVBoxLayout)
STRETCH: Final = "stretch"
"""For ``put``: the remaining room goes here."""
Margins = tuple[int, int, int, int]
Part = QWidget | QLayout | str


def row_of(
    *parts: Part | tuple[Part, int],
    holder: QWidget | None = None,
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QHBoxLayout:
    """Return a row of parts (see ``put``), of a widget or to be put into another layout."""
    made = QHBoxLayout() if holder is None else QHBoxLayout(holder)
    return _filled(made, parts, margins, spacing)


def column_of(
    *parts: Part | tuple[Part, int],
    holder: QWidget | None = None,
    margins: Margins = (0, 0, 0, 0),
    spacing: int | None = None,
) -> QVBoxLayout:
    """Return a column of parts, likewise."""
    made = QVBoxLayout() if holder is None else QVBoxLayout(holder)
    return _filled(made, parts, margins, spacing)


def _filled(made: Box, parts: Sequence[Part | tuple[Part, int]], margins: Margins, spacing: int | None) -> Box:
    made.setContentsMargins(*margins)
    if spacing is not None:
        made.setSpacing(spacing)
    put(made, *parts)
    return made


def put(into: QBoxLayout | FlowRow | QSplitter | QStackedWidget, *parts: Part | tuple[Part, int]) -> None:
    """Add parts one after the other: widgets, layouts, or ``STRETCH``; in a pair with the share of the room it gets."""
    for each in parts:
        part, share = each if isinstance(each, tuple) else (each, 0)
        if not isinstance(into, QBoxLayout):
            assert isinstance(part, QWidget)
            into.addWidget(part)
        elif isinstance(part, QWidget):
            into.addWidget(part, share)
        elif isinstance(part, QLayout):
            into.addLayout(part, share)
        else:
            into.addStretch(1)


def splitter(orientation: Qt.Orientation, *parts: QWidget) -> QSplitter:
    """Return parts side by side, or one below the other, whose sizes can be changed."""
    made = QSplitter(orientation)
    made.setHandleWidth(1)
    made.setChildrenCollapsible(False)
    put(made, *parts)
    return made


def empty(layout: QLayout) -> None:
    """Take everything out of a layout, and delete it."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            empty(inner)


class FlowRow(QLayout):
    """Widgets side by side; those after ``push`` are at the right as long as all fit into one line."""

    def __init__(self, parent: QWidget, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._pushed: int | None = None
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def push(self) -> None:
        """Put later items at the right."""
        self._pushed = len(self._items)

    # ------------------------------------------------------------------ Qt's layout interface

    def addItem(self, item: QLayoutItem) -> None:
        """Take an item."""
        self._items.append(item)

    def count(self) -> int:
        """How many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """Return an item by place."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Return an item that is given back."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Nowhere by itself."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrow row is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of all lines at a width."""
        return sum(self._high(line) for line in self._lines(width)) + self.spacing() * max(
            len(self._lines(width)) - 1, 0
        )

    def minimumSize(self) -> QSize:
        """Return the widest item, one line high."""
        shown = self._shown()
        widest = max((item.minimumSize().width() for item in shown), default=0)
        return QSize(widest, self._high(shown))

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = self._shown()
        return QSize(self._wide(shown), self._high(shown))

    def setGeometry(self, box: QRect) -> None:
        """Give each item its place."""
        super().setGeometry(box)
        lines = self._lines(box.width())
        down = box.top()
        for line in lines:
            across, high = box.left(), self._high(line)
            for item in line:
                if len(lines) == 1 and self._pushed is not None and self._items.index(item) == self._first_pushed():
                    across += max(box.width() - self._wide(line), 0)
                wide = min(item.sizeHint().width(), box.width())
                item.setGeometry(QRect(across, down, wide, high))
                across += wide + self.spacing()
            down += high + self.spacing()

    # ------------------------------------------------------------------ inside

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _first_pushed(self) -> int | None:
        """Return the place of the first item at the right that is seen."""
        pushed = self._pushed
        return next(
            (n for n, one in enumerate(self._items) if pushed is not None and n >= pushed and not one.isEmpty()), None
        )

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = [[]]
        for item in self._shown():
            if lines[-1] and self._wide([*lines[-1], item]) > width:
                lines.append([])
            lines[-1].append(item)
        return lines

    def _wide(self, line: list[QLayoutItem]) -> int:
        return sum(item.sizeHint().width() for item in line) + self.spacing() * max(len(line) - 1, 0)

    def _high(self, line: list[QLayoutItem]) -> int:
        return max((item.sizeHint().height() for item in line), default=0)


_TALL = 1_000_000


class FoldedLabel(QLabel):
    """Plain text that ends in … after so many lines (of large text fewer: it is the room that counts)."""

    def __init__(self, role: Role = "", *, lines: int) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", role)
        self._lines, self._whole = lines, ""

    def setText(self, text: str) -> None:
        """Show another text."""
        self._whole = text
        self.setAccessibleName(text)
        self._fit()

    def text(self) -> str:
        """Return the whole text."""
        return self._whole

    @property
    def shown(self) -> str:
        """The visible part of the text."""
        return super().text()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the text into the new width."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Fit the text again when its letters change."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()

    def _fit(self) -> None:
        fits = self._fits(self._whole)
        text = self._whole if fits else self._cut()
        if text != super().text():
            super().setText(text)
        self.setToolTip("" if fits else plain_tip(self._whole))

    def _fits(self, text: str) -> bool:
        """Whether a text fits into the lines."""
        metrics = QFontMetrics(self.font())
        room = QRect(0, 0, max(self.contentsRect().width(), 1), _TALL)
        flags = Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignLeft
        lines = max(2, round(self._lines / theme().scale))
        return metrics.boundingRect(room, int(flags), text).height() <= lines * metrics.lineSpacing() + 1

    def _cut(self) -> str:
        """As many of its words as fit into the lines, and an ellipsis."""
        words = self._whole.split(" ")
        low, high = 0, len(words)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._fits(f"{' '.join(words[:middle])} …") else (low, middle)
        return f"{' '.join(words[:low])} …"


EDGE = 60
"""Pixels of the screen that a window's title and frame take."""


def resize_within_screen(window: QWidget, width: int, height: int) -> None:
    """Make a window so large, or as large as its screen has room for: large text needs more than that."""
    there = window.screen().availableSize()
    window.resize(min(width, there.width()), min(height, there.height() - EDGE))


def show_dialog(dialog: QDialog, then: Callable[[], object] | None = None) -> None:
    """Open a dialog that is gone once it is closed; ``then`` is called when it was confirmed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    if then is not None:
        dialog.accepted.connect(then)
    dialog.open()


def show_menu(menu: QMenu, at: QPoint) -> None:
    """Show a menu at a place of the screen; it is gone once it is closed."""
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    menu.popup(at)


LONGEST = 18
"""Letters of a word that is not broken."""
_BREAK = "\u200b"
_COUNT = "(n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"
_LONG = re.compile(rf"\S{{{LONGEST + 1},}}")


def breakable(text: str) -> str:
    """Return the text with places at which lines may end in its long words, ids and SMILES, and none in ``(n = 2)``."""
    return _LONG.sub(
        lambda found: _BREAK.join(
            found[0][start : start + LONGEST // 2] for start in range(0, len(found[0]), LONGEST // 2)
        ),
        text,
    ).replace("(n = ", _COUNT)


def whole(text: str) -> str:
    """Return the original of a text that was made breakable."""
    return text.replace(_BREAK, "").replace(_COUNT, "(n = ")


def copied(label: QLabel) -> None:
    """Let the text of a label be selected, and copied by its menu."""
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def copy() -> None:
        QGuiApplication.clipboard().setText(whole(label.selectedText() or label.text()).strip())

    def menu(at: QPoint) -> None:
        made = QMenu(label)
        made.addAction("&Copy", copy)
        show_menu(made, label.mapToGlobal(at))

    label.customContextMenuRequested.connect(menu)
