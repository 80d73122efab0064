"""What all pages and commands share: headings, a view of the campaign, and where things are asked and said."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from PySide6.QtCore import QByteArray, Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFrame, QLabel, QScrollArea, QSplitter, QVBoxLayout, QWidget

from assaypilot.engine.errors import AssayPilotError

from ..resources.theme import theme
from ..runtime.settings import Settings
from ..session.session import Session
from ..session.view import View
from ..tables.table import Table
from ..widgets.bars import MessageBar
from ..widgets.file_dialogs import ask_for_table
from ..widgets.inputs import Scrolled
from ..widgets.layout import FoldedLabel, column_of, row_of, splitter
from ..widgets.text import label


@dataclass(frozen=True, eq=False)
class Desk:
    """Where the commands of a window ask, say and remember things, and which page they show."""

    parent: QWidget
    """Of the dialogs."""
    session: Session
    settings: Settings
    messages: MessageBar
    show_page: Callable[[PageName], None]

    def refuse(self, error: Exception) -> None:
        """Say what went wrong with something that was asked for; what was stopped needs no word."""
        if isinstance(error, AssayPilotError):
            self.messages.refuse(error)

    def ask_for_table(self, title: str, then: Callable[[Path], None]) -> None:
        """Ask for a table and hand its path on."""
        path = ask_for_table(self.parent, self.settings.folder, title)
        if path is not None:
            self.settings.folder = path.parent
            then(path)


SIDE = 296
NARROWEST, WIDEST = 250, 640
"""Pixels of the panel at the right: at least, and at most before its texts are cut."""
LINES = 3
"""Of what is said beside the heading, fewer of large text; all of it is in its tip."""


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
    """A title, and what is said beside it: its first line stands on the line of the title."""

    def __init__(self, title: QLabel, beside: QLabel) -> None:
        super().__init__()
        self._title, self._beside = title, beside
        row = row_of(holder=self, spacing=10)
        beside.setAlignment(Qt.AlignmentFlag.AlignTop)
        row.addWidget(title, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(beside, 1, Qt.AlignmentFlag.AlignTop)
        theme().changed.connect(self._level)

    def showEvent(self, event: QShowEvent) -> None:
        """The style sheet has given both their letters by now."""
        super().showEvent(event)
        self._level()

    def _level(self) -> None:
        lower = self._title.fontMetrics().ascent() - self._beside.fontMetrics().ascent()
        self._beside.setContentsMargins(0, max(lower, 0), 0, 0)


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

    def first(self) -> QWidget:
        """Where the keyboard goes when the page is opened."""
        return self.table

    @abstractmethod
    def refresh(self, view: View, *, opened: bool) -> None:
        """Show a campaign as it is now; ``opened``: it is another one than before."""

    def forget(self) -> None:
        """Show no campaign, as before the first one: another one is about to be shown."""

    def copy(self) -> None:
        """Copy what is selected."""

    def look_for(self) -> None:
        """Go to where something can be looked for."""

    def splitter_state(self) -> QByteArray | None:
        """How the page is divided, to be remembered; None when it is not."""
        return None

    def restore_splitter(self, state: QByteArray) -> None:
        """Divide the page as it was."""


def side_panel() -> tuple[QScrollArea, QVBoxLayout]:
    """The panel at the right, which scrolls when the window is low, and where its parts go."""
    inner = QFrame()
    inner.setObjectName("side")
    column = column_of(holder=inner, margins=(16, 16, 16, 14), spacing=12)
    return Scrolled(inner, between=(NARROWEST, WIDEST)), column


def with_side(page: Page, side: QWidget) -> QSplitter:
    """The splitter between a page's column and its panel at the right."""
    left = QWidget()
    left.setLayout(page.column)
    made = splitter(Qt.Orientation.Horizontal, left, side)
    made.setStretchFactor(0, 1)
    made.setStretchFactor(1, 0)
    made.setSizes([10_000, SIDE])
    row_of(made, holder=page)
    return made
