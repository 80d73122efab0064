"""What the steps of the wizard have in common: fields with their problem beside them."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QFormLayout, QFrame, QScrollArea, QWidget

from ..theme import theme
from ..widgets.form import Form
from ..widgets.line import Line
from ..widgets.text import label, polish

__all__ = ["Field", "Scrolled", "Step", "form"]

BAR = 14
"""Pixels of a scroll bar and the room beside it."""


class Step(QWidget):
    """One page of the wizard."""

    changed = Signal()
    """Whether the step is complete may have changed."""

    @property
    def complete(self) -> bool:
        """Whether one can go on."""
        return True

    def halt(self) -> None:
        """Ask nothing any more: the dialog closes."""


class Field(QWidget):
    """A line to type into, with a hint or a problem beside it when it is narrow, else below it."""

    def __init__(self, name: str, text: str = "", hint: str = "", tip: str = "", width: int = 110) -> None:
        super().__init__()
        beside = QBoxLayout.Direction.LeftToRight if width else QBoxLayout.Direction.TopToBottom
        line = QBoxLayout(beside, self)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(10 if width else 2)
        self.edit = Line(text)
        self.edit.setAccessibleName(name)
        # A long problem beside or below it must not squeeze it.
        self.edit.setMinimumHeight(self.edit.sizeHint().height())
        if width:
            self.edit.setFixedWidth(round(width * theme().scale))
        self.edit.setToolTip(tip)
        self.setToolTip(tip)
        self.note = label(hint, "muted", wrap=True)
        self._hint = hint
        line.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignLeft if width else Qt.AlignmentFlag(0))
        line.addWidget(self.note, 1)
        self.setFocusProxy(self.edit)

    @property
    def text(self) -> str:
        """What was typed."""
        return self.edit.text().strip()

    def hint(self, text: str) -> None:
        """Show a hint below the field."""
        self._hint = text
        self.problem("")

    def problem(self, text: str) -> None:
        """Show what is wrong, or the hint again."""
        self.note.setText(text or self._hint)
        self.note.setVisible(bool(text or self._hint))
        if self.note.property("role") != ("problem" if text else "muted"):
            polish(self.note, role="problem" if text else "muted")
        if (self.edit.property("wrong") == "true") != bool(text):
            polish(self.edit, wrong="true" if text else "false")

    def number(self, *, low: float | None = None, whole: bool = False, optional: bool = False) -> float | None:
        """The number typed; None when it is not one (then the problem is shown), or when nothing was typed."""
        text = self.text.replace(",", ".")
        self.problem("")
        if not text:
            if not optional:
                self.problem("A number is needed.")
            return None
        try:
            value = float(int(text)) if whole else float(text)
        except ValueError:
            self.problem("A whole number is needed." if whole else "This is not a number.")
            return None
        if not abs(value) < 1e12:
            self.problem("This is not a number one can use.")
            return None
        if low is not None and value <= low:
            self.problem(f"It must be above {low:g}.")
            return None
        return value


class Scrolled(QScrollArea):
    """A column that scrolls up and down where it does not fit, and is never narrower than what it holds."""

    def __init__(self, content: QWidget, least: int = 0) -> None:
        super().__init__()
        self._content, self._least = content, least
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        # A page is reached by Tab through what is in it, not through the page.
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(content)
        content.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether the event stops here (never); takes the width from the content when that changes."""
        if watched is self._content and event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Show):
            wanted = self._content.minimumSizeHint().width() + BAR
            if self._least:
                self.setFixedWidth(max(round(self._least * (1 + theme().scale) / 2), wanted))
            elif self.minimumWidth() != wanted:
                self.setMinimumWidth(wanted)
        return super().eventFilter(watched, event)


def form() -> QFormLayout:
    """A form with captions at the left."""
    made = Form()
    made.setHorizontalSpacing(16)
    made.setVerticalSpacing(10)
    made.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return made
