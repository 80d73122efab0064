"""The window: strip, pages, messages, footer, and the commands that need a file or a question."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer, QUrl
from PySide6.QtGui import QCloseEvent, QDesktopServices, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.raw import PATTERNS
from assaypilot.gui.actions import PAGES, Actions
from assaypilot.gui.pages.base import Page
from assaypilot.gui.pages.candidates import CandidatesPage
from assaypilot.gui.pages.history import HistoryPage
from assaypilot.gui.pages.library import LibraryPage
from assaypilot.gui.pages.round import RoundPage
from assaypilot.gui.pages.start import StartPage
from assaypilot.gui.reporting import Reporter
from assaypilot.gui.session import Session
from assaypilot.gui.settings import Settings
from assaypilot.gui.theme import Choice, theme
from assaypilot.gui.widgets.message_bar import MessageBar, error_words
from assaypilot.gui.widgets.strip import Footer, Strip
from assaypilot.gui.widgets.structures import Structures, drawing_pool

if TYPE_CHECKING:
    from assaypilot.gui.dialogs.new_campaign import NewCampaign

__all__ = ["MainWindow"]

LIBRARY, ROUND, CANDIDATES, HISTORY = range(4)
TABLES = tuple(pattern.removeprefix("*") for pattern in PATTERNS)
SUFFIX = ".assaypilot"
SIZE = (1280, 800)


class MainWindow(QMainWindow):
    """One campaign, or the start page."""

    def __init__(self, settings: Settings, reporter: Reporter | None = None) -> None:
        super().__init__()
        self.settings = settings
        self.reporter = reporter
        self.session = Session(self)
        self.structures = Structures(self)
        self.setWindowTitle("AssayPilot")
        self.setAcceptDrops(True)
        self.resize(*SIZE)
        self.strip = Strip()
        self.messages = MessageBar()
        self.start = StartPage()
        self.library = LibraryPage(self.session, self.structures)
        self.round = RoundPage(self.session, self.structures)
        self.candidates = CandidatesPage(self.session, self.structures)
        self.history = HistoryPage(self.session)
        self.pages: tuple[Page, ...] = (self.library, self.round, self.candidates, self.history)
        self.footer = Footer()
        self.wizard: NewCampaign | None = None
        self._shown: set[int] = set()
        self._seen: set[int] = set()
        self._assemble()
        self.actions_ = Actions(self)
        self._connect()
        self._restore()
        self._refresh("campaign")

    # ------------------------------------------------------------------ putting together

    def _assemble(self) -> None:
        self.navigation = QFrame()
        self.navigation.setObjectName("navigation")
        self.navigation.setFixedWidth(122)
        column = QVBoxLayout(self.navigation)
        column.setContentsMargins(10, 14, 10, 14)
        column.setSpacing(4)
        self._buttons = QButtonGroup(self)
        for place, name in enumerate(PAGES):
            made = QPushButton(name)
            made.setProperty("role", "page")
            made.setCheckable(True)
            made.setAutoDefault(False)
            made.setAccessibleName(f"Page {name}")
            made.setToolTip(f"Ctrl+{place + 1}")
            self._buttons.addButton(made, place)
            column.addWidget(made)
        column.addStretch(1)
        self.stack = QStackedWidget()
        for page in self.pages:
            self.stack.addWidget(page)
        self.stack.addWidget(self.start)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self.navigation)
        middle.addWidget(self.stack, 1)
        central = QWidget()
        outer = QVBoxLayout(central)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(self.strip)
        outer.addWidget(self.messages)
        outer.addLayout(middle, 1)
        outer.addWidget(self.footer)
        self.setCentralWidget(central)

    def _connect(self) -> None:
        session = self.session
        session.changed.connect(self._refresh)
        session.failed.connect(self.messages.refuse)
        session.message.connect(self.messages.note)
        session.question.connect(self._ask)
        session.broke.connect(self._broke)
        session.tasks.progress.connect(self.messages.progress)
        self.messages.cancelled.connect(lambda: session.tasks.cancel())
        self.strip.wanted.connect(self.do_next)
        self._buttons.idClicked.connect(self.show_page)
        self.start.new.connect(self.new_campaign)
        self.start.open.connect(self.open_dialog)
        self.start.practice.connect(self.open_practice)
        self.start.recent.connect(lambda text: self.open_path(Path(text)))
        self.round.work_list.connect(self.export_work_list)
        self.round.read_file.connect(self.read_results)
        self.round.close_round.connect(self.close_round)
        self.round.plan.connect(self.plan)
        self.candidates.export.connect(self._export_shown)

    def _restore(self) -> None:
        geometry = self.settings.layout("window")
        if geometry is not None:
            self.restoreGeometry(geometry)
        state = self.settings.layout("candidates")
        if state is not None:
            self.candidates.restore_splitter(state)

    # ------------------------------------------------------------------ showing

    def _refresh(self, what: str) -> None:
        view = self.session.view
        opened = what == "campaign"
        self.strip.show_view(view)
        self.footer.show_view(view)
        self.actions_.refresh(view)
        self.navigation.setVisible(view is not None)
        if view is None:
            self.setWindowTitle("AssayPilot")
            self.start.show_recent(self.settings.recent)
            self.stack.setCurrentWidget(self.start)
            self.start.new_button.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if opened:
            self._shown.clear()
            self._seen.clear()
            self.messages.clear()
            self.structures.use(view.status.library.smiles)
            self.settings.add_recent(view.path)
            self.setWindowTitle(f"{view.status.name} – AssayPilot")
            self._first_page()
            if view.read_only:
                why = view.read_only_reason or "the file cannot be written"
                self.messages.note(f"Read-only: {why.rstrip('.')}. Nothing can be changed in this window.")
        else:
            # What is not seen is filled when it is: a command must not wait for four pages.
            self._shown.clear()
            self.messages.outdate()
        self._fill(self.stack.currentIndex())

    def _fill(self, place: int) -> None:
        view = self.session.view
        if view is None or place >= len(self.pages) or place in self._shown:
            return
        self._shown.add(place)
        opened = place not in self._seen
        self._seen.add(place)
        self.pages[place].refresh(view, opened=opened)

    def _first_page(self) -> None:
        view = self.session.view
        if view is None:
            return
        if view.status.open_round is not None:
            self.show_page(ROUND)
        elif view.status.phases_decided or view.status.finished:
            self.show_page(CANDIDATES)
        else:
            self.show_page(LIBRARY)
        if self.page is not None:
            self.page.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_page(self, place: int) -> None:
        """Nothing; shows a page."""
        if self.session.view is None:
            return
        self.stack.setCurrentIndex(place)
        button = self._buttons.button(place)
        if button is not None:
            button.setChecked(True)
        self.actions_.show_page(place)
        self._fill(place)

    @property
    def page(self) -> Page | None:
        """The page shown; None on the start page."""
        place = self.stack.currentIndex()
        return self.pages[place] if place < len(self.pages) else None

    def choose_theme(self, choice: Choice) -> None:
        """Nothing; shows other colours and remembers that."""
        self.settings.theme = choice
        theme().choose(choice)

    # ------------------------------------------------------------------ files

    def new_campaign(self, table: Path | None = None) -> None:
        """Nothing; opens the wizard, on a table when one is given."""
        from assaypilot.gui.dialogs.new_campaign import NewCampaign

        if self.wizard is None:
            self.wizard = NewCampaign(self.session, self.settings, self)
            self.wizard.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            self.wizard.finished.connect(self._wizard_closed)
            self.wizard.open()
        if table is not None:
            self.wizard.start_with(table)

    def _wizard_closed(self) -> None:
        self.wizard = None

    def open_dialog(self) -> None:
        """Nothing; asks for a campaign file."""
        name, _ = QFileDialog.getOpenFileName(
            self, "Open a campaign", str(self.settings.folder), "Campaigns (*.assaypilot);;All files (*)"
        )
        if name:
            self.open_path(Path(name))

    def open_path(self, path: Path) -> None:
        """Nothing; opens a campaign, or starts a new one from a table."""
        self.settings.folder = path.absolute().parent
        if path.suffix.lower() in TABLES:
            self.new_campaign(path)
        else:
            self.session.open(path)

    def open_practice(self) -> None:
        """Nothing; opens the practice campaign, creating it when there is none."""
        self.session.practice(self.settings.data_folder)

    def new_practice(self) -> None:
        """Nothing; starts another practice campaign."""
        self.session.practice(self.settings.data_folder, fresh=True)

    def save_copy(self) -> None:
        """Nothing; asks for a name and saves a copy of the campaign."""
        view = self.session.view
        if view is None:
            return
        proposed = self.settings.folder / f"{view.path.stem} copy{SUFFIX}"
        path = self._save_name("Save a copy", proposed, f"Campaigns (*{SUFFIX})", SUFFIX)
        if path is not None:
            self.session.save_copy(path)

    def read_results(self) -> None:
        """Nothing; asks for a results file and shows what it would write."""
        name, _ = QFileDialog.getOpenFileName(
            self, "Read results", str(self.settings.folder), f"Tables ({' '.join(PATTERNS)});;All files (*)"
        )
        if name:
            self.settings.folder = Path(name).parent
            self.read_results_from(Path(name))

    def read_results_from(self, path: Path) -> None:
        """Nothing; shows what a results file would write."""
        self.show_page(ROUND)
        self.round.read(path)

    def export_shortlist(self) -> None:
        """Nothing; asks for a name and writes the compounds that are in."""
        self._export_shown("in")

    def _export_shown(self, which: str) -> None:
        view = self.session.view
        if view is None:
            return
        stem = f"{view.path.stem} {'shortlist' if which == 'in' else 'candidates'}"
        path = self._save_name("Export the shortlist", self.settings.folder / f"{stem}.csv", "CSV (*.csv)", ".csv")
        if path is not None:
            self.export_to(path, which)

    def export_to(self, path: Path, which: str = "in") -> None:
        """Nothing; writes the shortlist: ``in``, ``alive`` (in and undecided) or ``all``."""
        view = self.session.view
        if view is None:
            return
        status = view.status
        shown = set(self.candidates.shown_compounds) if which != "in" and self.page is self.candidates else None

        def work(report: object) -> int:
            from assaypilot.engine.campaign.campaign import program_version
            from assaypilot.engine.export.csv_file import write_csv
            from assaypilot.engine.export.shortlist import ranked, shortlist

            sheet = shortlist(
                status,
                "in" if which == "in" else "all",
                program=f"AssayPilot {program_version()}",
                exported=f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}",
            )
            rows = sheet.rows
            if which != "in":
                order = ranked(status, "all").tolist()
                kept = shown if shown is not None else {c for c in order if status.candidates.status[c] < 2}
                rows = tuple(row for row, compound in zip(rows, order, strict=True) if compound in kept)
            return write_csv(path, sheet.header, rows)

        self.session.write(
            "Exporting",
            work,
            lambda n: self.messages.note(f"{n:,} compound{'' if n == 1 else 's'} written to {path.name}."),
        )

    def export_work_list(self) -> None:
        """Nothing; asks for a name and writes the round as a work list."""
        view = self.session.view
        if view is None or view.round is None:
            return
        proposed = self.settings.folder / f"{view.path.stem} round {view.round.number}.csv"
        path = self._save_name("Save the work list", proposed, "CSV (*.csv)", ".csv")
        if path is not None:
            self.work_list_to(path)

    def work_list_to(self, path: Path) -> None:
        """Nothing; writes the work list of the round shown."""
        view = self.session.view
        if view is None or view.round is None:
            return
        status, shown = view.status, view.round

        def work(report: object) -> int:
            from assaypilot.engine.export.csv_file import write_csv
            from assaypilot.engine.export.work_list import work_list

            sheet = work_list(status, shown)
            return write_csv(path, sheet.header, sheet.rows)

        self.session.write(
            "Writing the work list", work, lambda n: self.messages.note(f"{n:,} rows written to {path.name}.")
        )

    def _save_name(self, title: str, proposed: Path, kinds: str, suffix: str) -> Path | None:
        name, _ = QFileDialog.getSaveFileName(self, title, str(proposed), kinds)
        if not name:
            return None
        path = Path(name) if name.lower().endswith(suffix) else Path(name + suffix)
        self.settings.folder = path.parent
        return path

    # ------------------------------------------------------------------ the journey

    def do_next(self, command: str) -> None:
        """Nothing; what the one button of the strip does."""
        {
            "new": self.new_campaign,
            "plan": self.plan,
            "enter": self.enter_results,
            "close": self.close_round,
            "export": self.export_shortlist,
        }[command]()

    def plan(self) -> None:
        """Nothing; issues the next round and shows it."""

        def planned(issued: object) -> None:
            if issued is None:
                self.messages.note("Nothing more needs to be measured.")
                self.show_page(CANDIDATES)
                return
            self.show_page(ROUND)
            self.round.table.setFocus(Qt.FocusReason.OtherFocusReason)

        self.session.plan(planned)

    def enter_results(self) -> None:
        """Nothing; goes to the first line that waits for a result."""
        self.show_page(ROUND)
        self.round.focus_first_empty()

    def close_round(self) -> None:
        """Nothing; asks what becomes of what is missing, and closes the round."""
        view = self.session.view
        if view is None or view.status.open_round is None:
            return
        standing = view.status.open_round
        from assaypilot.gui.dialogs.reasons import CloseRoundDialog

        dialog = CloseRoundDialog(standing, view.status.endpoints, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda: self.session.close_round(dialog.missing, dialog.reason, self._closed))
        self.closing = dialog
        dialog.open()

    def _closed(self) -> None:
        view = self.session.view
        if view is None:
            return
        self.messages.note(view.status.statement)
        self.show_page(CANDIDATES)

    # ------------------------------------------------------------------ editing

    def copy(self) -> None:
        """Nothing; copies what is selected where the keyboard is, else on the page."""
        focus = QGuiApplication.focusObject()
        if isinstance(focus, (QLineEdit, QPlainTextEdit)):
            focus.copy()
        elif self.page is not None:
            self.page.copy()

    def paste(self) -> None:
        """Nothing; pastes text where somebody types, else results into the round."""
        focus = QGuiApplication.focusObject()
        if isinstance(focus, (QLineEdit, QPlainTextEdit)):
            focus.paste()
        else:
            self.show_page(ROUND)
            self.round.paste()

    def look_for(self) -> None:
        """Nothing; goes to where something can be looked for."""
        if self.page is self.round:
            self.show_page(CANDIDATES)
        if self.page is not None:
            self.page.look_for()

    def copy_work_list(self) -> None:
        """Nothing; copies the round for the lab."""
        self.show_page(ROUND)
        self.round.copy_work_list()

    def show_help(self) -> None:
        """Nothing; the short help."""
        from assaypilot.gui.dialogs.about import HelpDialog

        dialog = HelpDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def show_about(self) -> None:
        """Nothing; name, versions, licence."""
        from assaypilot.gui.dialogs.about import AboutDialog

        dialog = AboutDialog(self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _ask(self, error: AssayPilotError, words: str, action: Callable[[], None]) -> None:
        self.messages.ask(*error_words(error), (words, action))

    # ------------------------------------------------------------------ errors of ours

    def _broke(self, error: BaseException, doing: str) -> None:
        if self.reporter is not None:
            self.reporter.save(error, doing)
        else:
            self.told(None)

    def told(self, report: Path | None) -> None:
        """Nothing; says that something went wrong inside the program."""
        mend = "What was saved is safe. " + (f"A report is in {report}." if report else "")
        offers = [("Show report", lambda: self._show_report(report))] if report is not None else []
        self.messages.ask("Something went wrong inside AssayPilot.", mend.strip(), *offers)

    def offer_reports(self) -> None:
        """Nothing; says that an earlier session ended with an error of ours."""
        if self.reporter is None:
            return
        found = self.reporter.unseen()
        if found:
            self.messages.ask(
                "An earlier session ended with an error inside AssayPilot.",
                "A report without any ids, structures or values was saved on this computer.",
                ("Show report", lambda: self._show_report(found[0])),
                ("Do not ask again", self.reporter.dismiss),
            )

    def _show_report(self, path: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path)))
        if self.reporter is not None:
            self.reporter.dismiss()

    # ------------------------------------------------------------------ Qt

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Nothing; takes campaign files and tables."""
        if self._dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Nothing; opens a campaign; a table is results for the open round, else a new campaign."""
        path = self._dropped(event)
        if path is None:
            return
        event.acceptProposedAction()
        QTimer.singleShot(0, self, lambda: self.take_file(path))

    def take_file(self, path: Path) -> None:
        """Nothing; opens what was dropped."""
        view = self.session.view
        standing = view is not None and view.status.open_round is not None and not view.read_only
        if path.suffix.lower() in TABLES and standing and self.page is self.round:
            self.read_results_from(path)
        elif path.suffix.lower() in (*TABLES, SUFFIX):
            self.open_path(path)
        else:
            self.session.failed.emit(
                AssayPilotError(
                    "this is neither a campaign nor a table", file=path.name, mend="Drop a .assaypilot or a csv file."
                )
            )

    def _dropped(self, event: QDropEvent) -> Path | None:
        urls = event.mimeData().urls()
        local = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
        return local[0] if len(local) == 1 and local[0].is_file() else None

    def closeEvent(self, event: QCloseEvent) -> None:
        """Nothing; finishes what is being written and remembers the window."""
        self.settings.keep_layout("window", self.saveGeometry())
        state = self.candidates.splitter_state()
        if state is not None:
            self.settings.keep_layout("candidates", state)
        self.settings.flush()
        self.candidates.canvas.stop()
        self.candidates.panel.canvas.stop()
        self.session.shut()
        drawing_pool().waitForDone()
        super().closeEvent(event)
