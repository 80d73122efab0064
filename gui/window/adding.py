"""More compounds for the campaign that is open, as a window does it: a table, what follows, and then they are in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.campaign.phrases import many

if TYPE_CHECKING:
    from ..dialogs.more_compounds import More, MoreDialog
    from .main_window import MainWindow

__all__ = ["Adding"]


class Adding:
    """From the menu and the Goal page."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.dialog: MoreDialog | None = None
        """The one that was opened last."""
        window.goal.ways.compounds.clicked.connect(self.ask)

    def ask(self) -> None:
        """Ask for a table of compounds and read it."""
        from assaypilot.engine.tables.opening import PATTERNS

        settings = self._window.settings
        name, _ = QFileDialog.getOpenFileName(
            self._window, "Add compounds", str(settings.folder), f"Tables ({' '.join(PATTERNS)});;All files (*)"
        )
        if name:
            settings.folder = Path(name).parent
            self.read(Path(name))

    def read(self, path: Path) -> None:
        """Read a table, says what taking its compounds in would do, and ask."""
        from ..dialogs.more_compounds import MoreDialog, read_table_of

        session = self._window.session
        if session.view is None:
            return
        status = session.view.status

        def landed(more: More) -> None:
            view = session.view
            if view is None or view.status.head != status.head:
                session.message.emit(f"The campaign changed while {path.name} was read. Read it once more.")
                return
            locked = view.read_only_reason or "the file cannot be written" if view.read_only else ""
            said = f"Read-only: {locked.rstrip('.')}." if locked else ""
            made = MoreDialog(session, view.status, path.name, more, said, self._window)
            made.add.connect(self._take_in)
            made.finished.connect(made.deleteLater)
            self.dialog = made
            made.open()

        session.read(f"Reading {path.name}", read_table_of(path, status), landed)

    def _take_in(self, more: More) -> None:
        session = self._window.session
        before = 0 if session.view is None else len(session.view.status.library)

        def done() -> None:
            added = 0 if session.view is None else len(session.view.status.library) - before
            session.message.emit(f"{many(added, 'compound')} added. Undo takes it back.")

        session.add_compounds(more.found.library, more.source, done)
