"""What all pages and commands share: headings, a view of the campaign, questions and messages."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from assaypilot.engine.errors import AssayPilotError

from ..resources.theme import theme
from ..runtime.settings import Settings
from ..session.session import Session
from ..session.view import View
from ..tables.table import Table
from ..widgets.bars import MessageBar, ReplayBar
from ..widgets.file_dialogs import ask_for_table
from ..widgets.inputs import FilterBox, Scrolled
from ..widgets.layout import FoldedLabel, column_of, row_of, splitter
from ..widgets.text import label


@dataclass(frozen=True, eq=False)
class Desk:
    """What commands use of a window: questions, messages, memory, and the page to show."""

    parent: QWidget
    """Of the dialogs."""
    session: Session
    settings: Settings
    messages: MessageBar
    show_page: Callable[[PageName], None]

    def refuse(self, error: Exception) -> None:
        """Show why a request failed; one that was stopped needs no message."""
        if isinstance(error, AssayPilotError):
            self.messages.refuse(error)

    def ask_for_table(self, title: str, then: Callable[[Path], None]) -> None:
        """Ask for a table and pass on its path."""
        path = ask_for_table(self.parent, self.settings.folder, title)
        if path is not None:
            self.settings.folder = path.parent
            then(path)


SIDE = 296
NARROWEST, WIDEST = 250, 640
"""Pixels of the panel at the right: at least, and at most before its texts are cut."""
LINES = 3
"""Lines of the note next to the heading, fewer of large text; its tip has all of it."""


class PageName(IntEnum):
    """The pages, in the order of the navigation."""

    LIBRARY = 0
    GOAL = 1
    ROUND = 2
    CANDIDATES = 3
    SAR = 4
    HISTORY = 5

    @property
    def title(self) -> str:
        """Return the name people read."""
        return self.name if self is PageName.SAR else self.name.capitalize()


class Headed(QWidget):
    """A title with a note next to it, whose first line is level with the title."""

    def __init__(self, title: QLabel, note: QLabel) -> None:
        super().__init__()
        self._title, self._note = title, note
        row = row_of(holder=self, spacing=10)
        note.setAlignment(Qt.AlignmentFlag.AlignTop)
        row.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(note, 1, Qt.AlignmentFlag.AlignTop)
        theme().changed.connect(self._level)

    def showEvent(self, event: QShowEvent) -> None:
        """Lay both out once the style sheet has given their letters."""
        super().showEvent(event)
        self._level()

    def _level(self) -> None:
        lower = self._title.fontMetrics().ascent() - self._note.fontMetrics().ascent()
        self._note.setContentsMargins(0, max(lower, 0), 0, 0)


class Page(QWidget):
    """A step of the journey."""

    def __init__(self, session: Session, title: str) -> None:
        super().__init__()
        self.setObjectName("page")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.session = session
        self.column = column_of(margins=(15, 16, 15, 14), spacing=10)
        self.title = label(title, "title")
        self.subtitle = FoldedLabel("muted", lines=LINES)
        self.heading = row_of(spacing=10)
        self.heading.addWidget(Headed(self.title, self.subtitle), 1, Qt.AlignmentFlag.AlignVCenter)
        self.column.addLayout(self.heading)

    table: Table
    filter: FilterBox

    def first(self) -> QWidget:
        """Where the keyboard goes when the page is opened."""
        return self.table

    @abstractmethod
    def refresh(self, view: View, *, opened: bool) -> None:
        """Show the current state of a campaign; ``opened``: it is another one than before."""

    def forget(self) -> None:
        """Show no campaign, as before the first one: another one is about to be shown."""

    def copy(self) -> None:
        """Copy the selection."""

    def look_for(self) -> None:
        """Go to the filter, where there is one."""
        self.filter.setFocus()
        self.filter.selectAll()


class ReplayPage(Page):
    """A page that can show another moment than now."""

    def __init__(self, session: Session, title: str) -> None:
        super().__init__(session, title)
        self.replay = ReplayBar(session.replay)
        self.heading.addWidget(self.replay)
        self._now: View | None = None
        """The current state of the campaign."""
        self._view: View | None = None
        """The moment shown: now, or the end of an earlier round."""
        session.replay.changed.connect(self._turned)

    def showEvent(self, event: QShowEvent) -> None:
        """Show the moment chosen on another page."""
        super().showEvent(event)
        self._turned()

    def _turned(self) -> None:
        """Show another moment, once the page is seen and has the current state."""
        now = self._now
        if now is None or now is not self.session.view or not self.isVisible():
            return
        if self._view is not self.session.replay.of(now):
            self.refresh(now, opened=False)


def side_panel() -> tuple[QScrollArea, QVBoxLayout]:
    """Return the panel at the right, which scrolls when the window is low, and where its parts go."""
    inner = QFrame()
    inner.setObjectName("side")
    column = column_of(holder=inner, margins=(16, 16, 16, 14), spacing=12)
    return Scrolled(inner, between=(NARROWEST, WIDEST)), column


MARGIN = 16
WIDEST_MINIMUM = 420
"""Pixels of the panel at least, for letters of any size."""
LEAST, PICTURE = 30, 160
"""Lines of text that a compound needs before the part below it is fixed, and pixels of a structure."""


class Side(QFrame):
    """A scrolling part over a fixed one, if there is room for both, else all scrolls; wider for large letters."""

    pictured = False
    """Whether the scrolling part begins with a structure."""

    def __init__(self, scroll: QScrollArea, inner: QVBoxLayout, below: QWidget | None = None) -> None:
        super().__init__()
        self.setObjectName("side")
        self._below = below
        if below is not None:  # it goes with the panel, also where it was never shown
            below.setParent(self)
        column = column_of((scroll, 1), holder=self, spacing=0)
        self._column = column
        self._stays: bool | None = None
        self._bar, self._inner = scroll.verticalScrollBar(), inner
        self._bar.rangeChanged.connect(self._keep_width)
        theme().changed.connect(self._enlarge)
        self._enlarge()

    def _enlarge(self) -> None:
        """Make room for large letters, up to a width that leaves the tables some."""
        width = min(round(NARROWEST * theme().scale), WIDEST_MINIMUM)
        self.setMinimumWidth(width)

    def _keep_width(self, _: int, most: int) -> None:
        """Give the scroll bar its room from the margin, so that no line breaks when it appears."""
        margins = self._inner.contentsMargins()
        margins.setRight(MARGIN - (self._bar.sizeHint().width() if most else 0))
        self._inner.setContentsMargins(margins)

    def fit(self) -> None:
        """Let the part below scroll in a low window, or one of large letters."""
        below = self._below
        if below is None:
            return
        least = LEAST * self.fontMetrics().lineSpacing() + (PICTURE if self.pictured else 0)
        stays = self.height() - below.sizeHint().height() >= least
        if stays != self._stays:
            self._stays = stays
            (self._column if stays else self._inner).addWidget(below)
            inside = below.layout()
            if inside is not None:
                inside.setContentsMargins(*((MARGIN, 8, MARGIN, 14) if stays else (0, 8, 0, 0)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fix the part below where there is room for it."""
        super().resizeEvent(event)
        self.fit()


def with_side(page: Page, side: QWidget) -> QSplitter:
    """Return the splitter between a page's column and its panel at the right."""
    left = QWidget()
    left.setLayout(page.column)
    made = splitter(Qt.Orientation.Horizontal, left, side)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 0)
    made.setSizes([10_000, SIDE])
    row_of(made, holder=page)
    return made
