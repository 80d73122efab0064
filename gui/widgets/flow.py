"""A row of tools that goes on in a second line where the window is too narrow for it, with large text above all."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

__all__ = ["FlowRow"]


class FlowRow(QLayout):
    """Widgets side by side; those after ``push`` stand at the right as long as all fit into one line."""

    def __init__(self, parent: QWidget, spacing: int = 8) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._pushed: int | None = None
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def push(self) -> None:
        """What is added from now on stands at the right."""
        self._pushed = len(self._items)

    # ------------------------------------------------------------------ what Qt asks of a layout

    def addItem(self, item: QLayoutItem) -> None:
        """Take an item."""
        self._items.append(item)

    def count(self) -> int:
        """How many items there are."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """An item by place."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """An item that is given back."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Nowhere by itself."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """A narrow row is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height of all lines at a width."""
        return sum(self._high(line) for line in self._lines(width)) + self.spacing() * max(
            len(self._lines(width)) - 1, 0
        )

    def minimumSize(self) -> QSize:
        """The widest item, one line high."""
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
        """The place of the first item at the right that is seen."""
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
