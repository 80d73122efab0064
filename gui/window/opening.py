"""Windows, and the campaigns opened in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDialog,
    QFileDialog,
    QHeaderView,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from assaypilot.engine.campaign.overview import Glance, NextStep, glances
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import PATTERNS

from ..runtime.gc_policy import nothing_goes
from ..runtime.settings import Settings
from ..session.session import Session
from ..tables.rows import plain_tip
from ..widgets.file_dialogs import ask_for_place, ask_for_tables
from ..widgets.layout import STRETCH, column_of, put, row_of, show_dialog
from ..widgets.text import button, label

if TYPE_CHECKING:
    from ..new_campaign.dialog import NewCampaign
    from .main_window import MainWindow


def main_windows() -> list[MainWindow]:
    """Return the program's windows, those that are hidden or closing among them."""
    from .main_window import MainWindow

    with nothing_goes():
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]


NEXT: dict[NextStep, str] = {
    "plan": "Plan the next round",
    "wait": "Wait for what was ordered",
    "enter": "Enter results",
    "close": "Close the round",
    "confirm": "Confirm the shortlist",
    "export": "Export the shortlist",
}
COLUMNS = ("Campaign", "Goal", "Round", "In", "Undecided", "Out", "Measured", "Next")
GOAL, FIRST_NUMBER, LAST_NUMBER = 1, 2, 6
ROW = 30
"""Pixels of a row's height."""


class ProjectDialog(QDialog):
    """Lists a folder's campaigns; they are read in the background and never changed."""

    chosen = Signal(object)
    """The path of a campaign to open."""

    def __init__(self, session: Session, settings: Settings, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Campaigns of a project")
        self.resize(980, 460)
        self.session, self.settings = session, settings
        self.folder = Path(settings.folder)
        column = column_of(holder=self, margins=(22, 18, 22, 16), spacing=10)
        top = row_of()
        self.place = label("", "muted", wrap=True)
        self.choose = button("Choose &folder…", then=self._ask)
        self.again = button("&Refresh", then=self.read)
        put(top, (self.place, 1), self.again, self.choose)
        column.addLayout(top)
        self.table = QTreeWidget()
        self.table.setAccessibleName("Campaigns")
        self.table.setHeaderLabels(list(COLUMNS))
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.header().setStretchLastSection(False)
        self.table.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.table.header().setSectionResizeMode(GOAL, QHeaderView.ResizeMode.Stretch)
        self.table.setIndentation(0)
        self.table.itemActivated.connect(lambda _: self._open())
        self.table.currentItemChanged.connect(lambda *_: self._refresh())
        column.addWidget(self.table, 1)
        row = row_of()
        close = button("Close", then=self.reject)
        self.open_button = button("&Open campaign", "go", then=self._open)
        put(row, STRETCH, close, self.open_button)
        column.addLayout(row)
        self.read()

    def read(self) -> None:
        """Read the campaigns of the folder again."""
        folder = self.folder
        self.place.setText(f"Reading {folder}…")
        self.again.setEnabled(False)
        self.session.read("Reading campaigns", lambda report: glances([folder], report), self._show, self._failed)

    def _show(self, found: list[Glance]) -> None:
        self.again.setEnabled(True)
        waiting = sum(one.next not in ("export",) for one in found if not one.error)
        none = "No campaign in " if not found else f"{len(found):,} in all, {waiting:,} with something to do: "
        self.place.setText(f"{none}{self.folder}")
        self.table.clear()
        self.table.addTopLevelItems([_line(one) for one in found])
        self._refresh()

    def _failed(self, error: Exception) -> None:
        self.again.setEnabled(True)
        self.place.setText(f"{self.folder} cannot be read: {error}")

    def _ask(self) -> None:
        name = QFileDialog.getExistingDirectory(self, "Choose the folder of a project", str(self.folder))
        if name:
            self.folder = self.settings.folder = Path(name)
            self.read()

    def _refresh(self) -> None:
        item = self.table.currentItem()
        self.open_button.setEnabled(item is not None and item.data(0, Qt.ItemDataRole.UserRole) is not None)

    def _open(self) -> None:
        item = self.table.currentItem()
        path = None if item is None else item.data(0, Qt.ItemDataRole.UserRole)
        if path is not None:
            self.accept()
            self.chosen.emit(path)


def _line(one: Glance) -> QTreeWidgetItem:
    if one.counts is None:
        item = QTreeWidgetItem([one.path.stem, f"cannot be read: {one.error}"])
        item.setToolTip(GOAL, plain_tip(one.error))
        item.setSizeHint(GOAL, QSize(0, ROW))
        return item
    counts = [f"{one.counts[name]:,}" for name in ("in", "undecided", "out")]
    step = f"Enter {one.outstanding:,} results" if one.next == "enter" else NEXT[one.next]
    item = QTreeWidgetItem([one.name, one.goal, str(one.round), *counts, f"{one.measurements:,}", step])
    item.setData(0, Qt.ItemDataRole.UserRole, one.path)
    item.setToolTip(0, plain_tip(str(one.path)))
    item.setToolTip(GOAL, plain_tip(one.goal))
    item.setSizeHint(GOAL, QSize(0, ROW))
    for place in range(FIRST_NUMBER, LAST_NUMBER + 1):
        item.setTextAlignment(place, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return item


TABLES = tuple(pattern.removeprefix("*") for pattern in PATTERNS)
SUFFIX = ".assaypilot"
ASIDE = QPoint(32, 32)
"""The offset of a further window from the one that opened it."""
_further: list[MainWindow] = []
"""Windows without another owner, until they are closed."""


class Opening:
    """The files of a window."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self.creation: NewCampaign | None = None
        """A new campaign while it is open."""
        self.asking: QFileDialog | None = None
        """The latest dialog for a place to save."""

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

    def open_table(self) -> None:
        """Ask for a table and open a new campaign on it."""
        tables = ask_for_tables(self._window, self._window.settings.folder)
        if tables:
            self.new_campaign(*tables)

    def new_campaign(self, *tables: Path) -> None:
        """Open a new campaign, on a table, or two to be joined, when they are given."""
        from ..new_campaign.dialog import NewCampaign

        window = self._window
        if self.creation is None:
            self.creation = NewCampaign(window.session, window.settings, window)
            self.creation.finished.connect(self._creation_closed)
            self.creation.plan.connect(window.plan)
            show_dialog(self.creation)
        if tables:
            self.creation.start_with(*tables)

    def _creation_closed(self) -> None:
        self.creation = None

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
        dialog = ProjectDialog(self._window.session, self._window.settings, self._window)
        dialog.chosen.connect(self.open_path)
        show_dialog(dialog)

    def open_path(self, path: Path) -> None:
        """Open a campaign, or starts a new one from a table."""
        self._window.settings.folder = path.absolute().parent
        if path.suffix.lower() in TABLES:
            self.new_campaign(path)
        else:
            self._window.session.open(path)

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
        """Ask for a results file and show its preview."""
        self._window.desk.ask_for_table("Read results", self._window.read_results_from)

    # ------------------------------------------------------------------ files dropped on the window

    def dropped(self, event: QDropEvent) -> Path | None:
        """Return the one file that is being dropped; None for anything else."""
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
