"""Inputs: lines, choices, forms, and fields that show their problem."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QEvent, QObject, QRect, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QButtonGroup,
    QComboBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from assaypilot.engine.text import percent

from ..resources.theme import theme
from ..runtime.tasks import single_shot
from .layout import row_of
from .text import label, mnemonic_free, polish


def combo_box(name: str, *, tip: str = "") -> QComboBox:
    """Return an empty list to choose from, with its name for a screen reader."""
    made = QComboBox()
    made.setAccessibleName(name)
    made.setToolTip(tip)
    return made


def fill_box(box: QComboBox, choices: Iterable[tuple[str, Any]], chosen: object = None) -> None:
    """Offer these choices, words and data, and no others; ``chosen``: the data of the current one, else the first.

    No signal is emitted: the user did not choose.
    """
    with QSignalBlocker(box):
        box.clear()
        for text, data in choices:
            box.addItem(text, data)
        box.setCurrentIndex(next((n for n in range(box.count()) if box.itemData(n) == chosen), 0))


def choose(box: QComboBox, data: object) -> None:
    """Make the choice with this data the current one, else the first."""
    box.setCurrentIndex(max(box.findData(data), 0))


def line_edit(name: str, *, hint: str = "", tip: str = "") -> QLineEdit:
    """Return an empty line; ``hint``: its text while it is empty."""
    made = QLineEdit()
    made.setAccessibleName(name)
    made.setPlaceholderText(hint)
    made.setToolTip(tip)
    return made


class Line(QLineEdit):
    """Leaves Undo and Redo to the campaign while there is nothing of its own to undo or redo."""

    def event(self, event: QEvent) -> bool:
        """Whether the event stops here."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undo, redo = QKeySequence.StandardKey.Undo, QKeySequence.StandardKey.Redo
            if (event.matches(undo) and not self.isUndoAvailable()) or (
                event.matches(redo) and not self.isRedoAvailable()
            ):
                event.ignore()
                return False
        return super().event(event)


LINE = 1.9
"""Height of the first line of a tall field, over that of its letters."""


class Form(QFormLayout):
    """A form whose captions are level with the text of their fields: of tall ones with the first line."""

    def setGeometry(self, rect: QRect) -> None:
        """PageName the parts."""
        super().setGeometry(rect)
        for row in range(self.rowCount()):
            caption, field = self.itemAt(row, self.ItemRole.LabelRole), self.itemAt(row, self.ItemRole.FieldRole)
            named = None if caption is None else caption.widget()
            if named is None or field is None or named.isHidden():
                continue
            box, high = field.geometry(), named.sizeHint().height()
            if box.x() <= named.x():
                continue  # it is above its field
            line = self._first_line(field.widget(), box.height(), named)
            at = named.geometry()
            named.setGeometry(at.x(), box.y() + max(line - high, 0) // 2, at.width(), high)

    @staticmethod
    def _first_line(field: QWidget | None, height: int, caption: QWidget) -> int:
        """Pixels of the line that the caption belongs to."""
        edit = None if field is None else field.focusProxy() or field
        if isinstance(edit, QLineEdit):
            return min(edit.sizeHint().height(), height)
        letters = caption.fontMetrics().height()
        return height if height <= 2.6 * letters else round(LINE * letters)


PAUSE = 150
"""Milliseconds after the last key before a table is narrowed."""


class Segments(QWidget):
    """Choices side by side; arrow keys move between them."""

    chosen = Signal(str)

    def __init__(self, choices: Sequence[tuple[str, str]], name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        row = row_of(holder=self, spacing=0)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QPushButton] = {}
        """By the key of its choice."""
        for place, (key, text) in enumerate(choices):
            made = QPushButton(mnemonic_free(text))
            made.setProperty("role", "segment")
            made.setProperty("place", "first" if place == 0 else "last" if place == len(choices) - 1 else "middle")
            made.setCheckable(True)
            made.setAutoDefault(False)
            self._group.addButton(made)
            self.buttons[key] = made
            row.addWidget(made)
            made.clicked.connect(lambda _=False, key=key: self.chosen.emit(key))
        self.reset()

    @property
    def key(self) -> str:
        """The choice."""
        return next(key for key, made in self.buttons.items() if made.isChecked())

    @property
    def keys(self) -> list[str]:
        """The choices, left to right."""
        return list(self.buttons)

    def text(self, key: str) -> str:
        """Return the text of a choice."""
        return self.buttons[key].text().replace("&&", "&")

    def choose(self, key: str) -> None:
        """Press a button."""
        self.buttons[key].setChecked(True)
        self.chosen.emit(key)

    def reset(self) -> None:
        """Press the first button, without a signal."""
        next(iter(self.buttons.values())).setChecked(True)

    def set_text(self, key: str, text: str) -> None:
        """Rename a choice."""
        self.buttons[key].setText(mnemonic_free(text))


class FilterBox(Line):
    """Text that narrows a table; Escape empties it."""

    narrowed = Signal(str)

    def __init__(self, hint: str, name: str = "Filter") -> None:
        super().__init__()
        self.setPlaceholderText(hint)
        self.setAccessibleName(name)
        self.setClearButtonEnabled(True)
        self._pause = single_shot(self, PAUSE, self._narrow)
        self.textChanged.connect(lambda _: self._pause.start())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape empties the box, Enter narrows at once and presses no button of a dialog."""
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
            return
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._narrow()
            return
        super().keyPressEvent(event)

    def settle(self) -> None:
        """Take a text just typed at once."""
        if self._pause.isActive():
            self._narrow()

    def _narrow(self) -> None:
        self._pause.stop()
        self.narrowed.emit(self.text())


BAR = 14
"""Pixels of a scroll bar and the room next to it."""


class Pane(QWidget):
    """One part of the dialog for a new campaign."""

    changed = Signal()
    """Whether it is complete may have changed."""

    @property
    def complete(self) -> bool:
        """Whether one can go on."""
        return True

    def halt(self) -> None:
        """Drop all requests: the dialog closes."""


@dataclass(frozen=True, slots=True)
class Range:
    """Which numbers a field takes."""

    above: float | None = None
    least: float | None = None
    below: float | None = None
    """In percent."""
    whole: bool = False
    optional: bool = False
    """Whether it may stay empty."""


class Field(QWidget):
    """A line to type into; a narrow one has its hint or problem at its side, else below it."""

    def __init__(self, name: str, text: str = "", hint: str = "", tip: str = "", width: int = 110) -> None:
        super().__init__()
        direction = QBoxLayout.Direction.LeftToRight if width else QBoxLayout.Direction.TopToBottom
        line = QBoxLayout(direction, self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10 if width else 2)
        self.edit = Line(text)
        self.edit.setAccessibleName(name)
        if width:
            self.edit.setFixedWidth(round(width * theme().scale))
        self.edit.setToolTip(tip)
        self.setToolTip(tip)
        self.note = label(hint, "muted", wrap=True)
        self._hint = hint
        line.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignLeft if width else Qt.AlignmentFlag(0))
        line.addWidget(self.note, 1)
        self.setFocusProxy(self.edit)

    def event(self, event: QEvent) -> bool:
        """Whether the event stops here; a long problem next to or below the line must not squeeze it."""
        if event.type() == QEvent.Type.Polish:
            self.edit.setMinimumHeight(self.edit.sizeHint().height())
        return super().event(event)

    @property
    def text(self) -> str:
        """The typed text."""
        return self.edit.text().strip()

    def hint(self, text: str) -> None:
        """Show a hint below the field."""
        self._hint = text
        self.problem("")

    def problem(self, text: str) -> None:
        """Show a problem, or the hint again."""
        self.note.setText(text or self._hint)
        self.note.setVisible(bool(text or self._hint))
        if self.note.property("role") != ("problem" if text else "muted"):
            polish(self.note, role="problem" if text else "muted")
        if self.wrong != bool(text):
            polish(self.edit, wrong="true" if text else "false")

    @property
    def wrong(self) -> bool:
        """Whether the typed text was refused."""
        return bool(self.edit.property("wrong") == "true")

    def number(self, within: Range) -> float | None:
        """Return the number typed; None where there is none, or it is unusable and the problem is shown."""
        text = self.text.replace(",", ".")
        self.problem("")
        if not text:
            if not within.optional:
                self.problem("A number is needed.")
            return None
        try:
            value = float(int(text)) if within.whole else float(text)
        except ValueError:
            self.problem("A whole number is needed." if within.whole else "This is not a number.")
            return None
        self.problem("" if abs(value) < 1e12 else "This is not a number one can use.")
        if within.above is not None and value <= within.above:
            self.problem(f"It must be above {within.above:g}.")
        if within.least is not None and value < within.least:
            self.problem(f"It must be {within.least:g} or more.")
        if within.below is not None and value >= within.below:
            self.problem(f"It must be below {percent(within.below / 100.0, 4)}.")
        return None if self.wrong else value


class Scrolled(QScrollArea):
    """A column that scrolls up and down where it does not fit, and is never narrower than its content.

    ``most``: it is as high as its content, up to so many pixels; ``between``: the least width it has, and the width
    up to which it makes room for its content.
    """

    def __init__(self, content: QWidget, most: int = 0, between: tuple[int, int] = (0, 100_000)) -> None:
        super().__init__()
        self._content, self._most, self._between = content, most, between
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # Tab reaches a page through the widgets in it, not through the page.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether the event stops here (never); takes the width from the content when that changes."""
        if watched is self._content and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            least, widest = self._between
            wanted = min(max(self._content.minimumSizeHint().width() + BAR, least), widest)
            if self.minimumWidth() != wanted:
                self.setMinimumWidth(wanted)
            self._fit_height()
        return super().eventFilter(watched, event)

    def at_most(self, pixels: int) -> None:
        """Let it be so high at most."""
        self._most = pixels
        self._fit_height()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words break elsewhere in another width."""
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        if self._most:
            high = self._content.heightForWidth(self.viewport().width())
            high = self._content.sizeHint().height() if high < 0 else high
            self.setFixedHeight(min(high, self._most))


def form() -> QFormLayout:
    """Return a form with captions at the left."""
    made = Form()
    made.setHorizontalSpacing(16)
    made.setVerticalSpacing(10)
    made.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return made
