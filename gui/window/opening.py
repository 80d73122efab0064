"""What comes in: campaigns opened, started from a table or copied, results read from a file, files dropped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import PATTERNS

from ..saving import ask_for_place

if TYPE_CHECKING:
    from ..dialogs.new_campaign import NewCampaign
    from .main_window import MainWindow

__all__ = ["SUFFIX", "TABLES", "Opening"]

TABLES = tuple(pattern.removeprefix("*") for pattern in PATTERNS)
SUFFIX = ".assaypilot"
ASIDE = QPoint(32, 32)
"""How far a further window lies from the one it was asked for in."""
_further: list[MainWindow] = []
"""Windows that nobody else keeps, until they are closed."""


class Opening:
    """The files of a window."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.wizard: NewCampaign | None = None
        """The wizard while it is open."""
        self.asking: QFileDialog | None = None
        """The question where to save, the last one asked."""

    # ------------------------------------------------------------------ windows

    def new_window(self) -> MainWindow:
        """Another window, with the start page; it goes when it is closed."""
        from .main_window import MainWindow

        window = self._window
        made = MainWindow(window.settings, window.reporter)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.resize(window.size())
        made.move(window.pos() + ASIDE)
        _further.append(made)
        made.destroyed.connect(lambda: _further.remove(made))
        made.show()
        return made

    # ------------------------------------------------------------------ campaigns

    def new_campaign(self, table: Path | None = None) -> None:
        """Open the wizard, on a table when one is given."""
        from ..dialogs.new_campaign import NewCampaign

        window = self._window
        if self.wizard is None:
            self.wizard = NewCampaign(window.session, window.settings, window)
            self.wizard.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.wizard.finished.connect(self._wizard_closed)
            self.wizard.open()
        if table is not None:
            self.wizard.start_with(table)

    def _wizard_closed(self) -> None:
        self.wizard = None

    def ask(self) -> None:
        """Ask for a campaign file, or a table to start one from."""
        tables = " ".join(PATTERNS)
        name, _ = QFileDialog.getOpenFileName(
            self._window, "Open", str(self._window.settings.folder),
            f"Campaigns and tables (*{SUFFIX} {tables});;Campaigns (*{SUFFIX});;Tables ({tables});;All files (*)",
        )  # fmt: skip
        if name:
            self.open_path(Path(name))

    def project(self) -> None:
        """Show the campaigns of a folder, and open the one that is chosen."""
        from ..dialogs.project import ProjectDialog

        dialog = ProjectDialog(self._window.session, self._window.settings, self._window)
        dialog.chosen.connect(self.open_path)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def open_path(self, path: Path) -> None:
        """Open a campaign, or starts a new one from a table."""
        self._window.settings.folder = path.absolute().parent
        if path.suffix.lower() in TABLES:
            self.new_campaign(path)
        else:
            self._window.session.open(path)

    def open_recent(self, path: Path) -> None:
        """Open a campaign of the list; one that is not there is not taken off it unasked."""
        settings = self._window.settings
        if path.is_file():
            self.open_path(path)
            return

        def forget() -> None:
            settings.forget_recent(path)
            self._window.start.show_recent(settings.recent)

        self._window.messages.ask(
            f"{path.name} is not in {path.parent}.",
            "It was moved, renamed or deleted, or its drive is not connected.",
            ("Look for it…", self.ask),
            ("Take it off the list", forget),
        )

    def clear_recent(self) -> None:
        """Forget which campaigns were opened; the files stay."""
        self._window.settings.forget_recent()
        self._window.start.show_recent([])

    def practised(self) -> bool:
        """Whether there is a practice campaign."""
        return (self._window.settings.data_folder / "practice.assaypilot").exists()

    def practice(self, *, fresh: bool = False) -> None:
        """Open the practice campaign, creating it when there is none; ``fresh``: another one."""
        self._window.session.practice(self._window.settings.data_folder, fresh=fresh)

    def save_copy(self) -> None:
        """Ask for a name and save a copy of the campaign."""
        window, view = self._window, self._window.session.view
        if view is None:
            return

        def chosen(path: Path) -> None:
            window.settings.folder = path.parent
            window.session.save_copy(path)

        proposed = window.settings.folder / f"{view.path.stem} copy{SUFFIX}"
        self.asking = ask_for_place(
            window, "Save a copy", proposed, "Campaigns", SUFFIX, chosen, window.session.failed.emit
        )

    # ------------------------------------------------------------------ results

    def ask_for_results(self) -> None:
        """Ask for a results file and show what it would write."""
        settings = self._window.settings
        name, _ = QFileDialog.getOpenFileName(
            self._window, "Read results", str(settings.folder), f"Tables ({' '.join(PATTERNS)});;All files (*)"
        )
        if name:
            settings.folder = Path(name).parent
            self._window.read_results_from(Path(name))

    # ------------------------------------------------------------------ files dropped on the window

    def dropped(self, event: QDropEvent) -> Path | None:
        """The one file that is being dropped; None for anything else."""
        urls = event.mimeData().urls()
        local = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
        return local[0] if len(local) == 1 and local[0].is_file() else None

    def drop(self, event: QDropEvent) -> None:
        """Take a dropped file once the drag is over."""
        path = self.dropped(event)
        if path is not None:
            event.acceptProposedAction()
            QTimer.singleShot(0, self._window, lambda: self.take(path))

    def take(self, path: Path) -> None:
        """Open a campaign; a table is results for the open round, else a new campaign."""
        window, view = self._window, self._window.session.view
        standing = view is not None and view.status.open_round is not None and not view.read_only
        if path.suffix.lower() in TABLES and standing and window.page is window.round:
            window.read_results_from(path)
        elif path.suffix.lower() in (*TABLES, SUFFIX):
            self.open_path(path)
        else:
            window.session.failed.emit(
                AssayPilotError(
                    "this is neither a campaign nor a table", file=path.name, mend="Drop a .assaypilot or a csv file."
                )
            )
