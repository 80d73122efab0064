"""What the commands of a window need, without the window itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QWidget

from assaypilot.engine.errors import AssayPilotError

from ..runtime.settings import Settings
from ..session.session import Session
from ..widgets.bars import MessageBar
from ..widgets.file_dialogs import ask_for_table
from .page import PageName


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
