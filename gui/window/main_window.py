"""The window: strip, pages, messages, footer, and the commands that need a file or a question."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QLineEdit,
    QMainWindow,
    QPlainTextEdit,
    QStackedWidget,
    QWidget,
)

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.text import many

from ..candidates.candidates_page import CandidatesPage
from ..goal.goal_page import GoalPage
from ..history.history_page import HistoryPage
from ..library.library_commands import Adding, Stocking
from ..library.library_page import LibraryPage
from ..resources.theme import Choice, theme
from ..round.round_commands import RoundCommands
from ..round.round_page import RoundPage
from ..round.work_list import WorkLists
from ..runtime.error_reports import ErrorReports, Reporter
from ..runtime.settings import Settings
from ..sar.sar_page import SarPage
from ..session.session import Session
from ..structures.drawing import Structures, drawing_pool
from ..widgets.bars import MessageBar, WorkBar
from ..widgets.layout import column_of, row_of
from ..widgets.text import error_words
from .actions import Actions
from .exporting import Exporting, PictureFiles
from .help_and_preferences import HelpAndPreferences
from .opening import Opening
from .page import Desk, Page, PageName
from .start_page import StartPage
from .strip import Footer, Navigation, Statement, Strip
from .table_commands import Tables
from .tour import Tour

if TYPE_CHECKING:
    from ..new_campaign.dialog import NewCampaign
    from ..plots.scene import Shape
    from ..round.round_ending import ClosePanel


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
        self.statement = Statement(self.strip.badge)
        self.messages = MessageBar()
        self.start = StartPage()
        self.library = LibraryPage(self.session, self.structures)
        self.goal = GoalPage(self.session)
        self.round = RoundPage(self.session, self.structures)
        self.candidates = CandidatesPage(self.session, self.structures)
        self.sar = SarPage(self.session, self.structures)
        self.history = HistoryPage(self.session)
        self.pages: dict[PageName, Page] = {
            PageName.LIBRARY: self.library,
            PageName.GOAL: self.goal,
            PageName.ROUND: self.round,
            PageName.CANDIDATES: self.candidates,
            PageName.SAR: self.sar,
            PageName.HISTORY: self.history,
        }
        self.error_reports = ErrorReports(self.messages, reporter)
        session = self.session
        self.work = {lane: WorkBar(lane) for lane in (session.tasks, session.tables, session.background, session.ahead)}
        """A bar for each queue of work."""
        self.footer = Footer()
        self.opening = Opening(self)
        self.desk = Desk(self, self.session, self.settings, self.messages, self.show_page)
        self.round_commands = RoundCommands(self.desk, self.round)
        self.help_and_preferences = HelpAndPreferences(self)
        self.tour = Tour(self)
        self.exporting = Exporting(self.desk, self.candidates, lambda: self._fill(PageName.CANDIDATES))
        self.picture_files = PictureFiles(self.desk, self.exporting, self._picture_size)
        self.work_lists = WorkLists(self.desk, self.round, self.exporting)
        self.stocking = Stocking(self.desk, self.exporting)
        self.adding = Adding(self.desk)
        self._leaving = False
        """Whether the user was warned that closing would lose something."""
        self._shown: set[PageName] = set()
        self._seen: set[PageName] = set()
        self._assemble()
        self.tables = Tables(session, settings, self.library, self.candidates, self.history)
        self.actions_ = Actions(self)
        self._connect()
        self.error_reports.follow(self)
        self.help_and_preferences.follow()
        self.tour.follow()
        self._restore()
        self._refresh("campaign")

    # ------------------------------------------------------------------ putting together

    def _assemble(self) -> None:
        self.navigation = Navigation()
        self.stack = QStackedWidget()
        for page in self.pages.values():
            self.stack.addWidget(page)
        self.stack.addWidget(self.start)
        middle = row_of(self.navigation, (self.stack, 1), spacing=0)
        central = QWidget()
        column_of(
            self.strip,
            self.statement,
            self.messages,
            self.tour.card,
            (middle, 1),
            *self.work.values(),
            self.footer,
            holder=central,
            spacing=0,
        )
        self.setCentralWidget(central)

    def _connect(self) -> None:
        session = self.session
        session.changed.connect(self._refresh)
        session.moved.connect(lambda: self._fill(self.place))
        session.failed.connect(self.messages.refuse)
        session.message.connect(self.messages.note)
        session.begun.connect(self.messages.forget_refusal)
        session.question.connect(self._ask)
        session.broke.connect(self.error_reports.broke)
        self.strip.wanted.connect(self._do_next)
        self.navigation.pages.idClicked.connect(lambda place: self.show_page(PageName(place)))
        self.start.new.connect(self.opening.open_table)
        self.start.open.connect(self.opening.ask)
        self.start.practice.connect(self.opening.practice)
        self.start.tour.connect(self.tour.start)
        self.start.recent.connect(lambda text: self.open_path(Path(text)))
        self.round.work_list.connect(self.work_lists.ask)
        self.round.read_file.connect(self.opening.ask_for_results)
        self.round.close_round.connect(self.close_round)
        self.round.plan.connect(self.plan)
        self.round.unsaved.connect(self.footer.show_unsaved)
        self.round.orders.save.connect(self.stocking.ask_where)
        self.round.orders.arrived.connect(session.arrived)
        self.goal.ways.compounds.clicked.connect(self.adding.ask)
        self.goal.expected.connect(self.strip.expect)
        self.candidates.export.connect(self.exporting.on_screen)
        self.sar.show_candidate.connect(lambda: self.show_page(PageName.CANDIDATES))
        for page in (self.candidates, self.sar):
            page.canvas.copy_wanted.connect(self.picture_files.copy)
            page.canvas.data_wanted.connect(self.picture_files.copy_data)
            page.canvas.export_wanted.connect(self.picture_files.ask)

    def _restore(self) -> None:
        geometry = self.settings.layout("window")
        if geometry is not None:
            self.restoreGeometry(geometry)
        state = self.settings.layout("candidates")
        if state is not None:
            self.candidates.split.restoreState(state)

    # ------------------------------------------------------------------ showing

    def _refresh(self, what: str) -> None:
        view = self.session.view
        opened = what == "campaign"
        self.strip.show_view(view)
        self.statement.show_view(view)
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
            self.strip.badge.setChecked(False)
            self.strip.expect("", "")
            for page in self.pages.values():
                page.forget()
            scaffold = view.status.library.scaffold
            self.structures.use(view.status.library.smiles, () if scaffold is None else scaffold.cores)
            self.settings.add_recent(view.path)
            # Only [*] means the mark of an unsaved document.
            self.setWindowTitle(f"{view.status.name.replace('[*]', '[*][*]')} – AssayPilot")
            self.tables.restore(view)
            self._first_page()
            if view.read_only:
                self.messages.note(f"{view.locked} Nothing can be changed in this window.")
        else:
            # Hidden pages are filled when they are seen: a command must not wait for all pages.
            self._shown.clear()
            self.messages.outdate()
        if not self.session.moving:
            self._fill(self.place)

    def _fill(self, place: PageName | None) -> None:
        view = self.session.view
        if view is None or place is None or place in self._shown:
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
            self.show_page(PageName.ROUND)
        elif view.status.phases_decided or view.status.finished:
            self.show_page(PageName.CANDIDATES)
        else:
            self.show_page(PageName.LIBRARY)
        self.page_first()

    def show_page(self, place: PageName) -> None:
        """Show a page."""
        if self.session.view is None:
            return
        before, focus = self.page, QApplication.focusWidget()
        self.stack.setCurrentWidget(self.pages[place])
        self.navigation.pages.button(place).setChecked(True)
        self.actions_.show_page(place)
        self._fill(place)
        left = before is not None and focus is not None and before.isAncestorOf(focus)
        if left and self.page is not before:
            # Qt would give the keyboard to whatever comes next, outside the pages.
            self.page_first()

    def go_to(self, place: PageName) -> None:
        """Show a page, and the keyboard goes there."""
        self.show_page(place)
        self.page_first()

    def page_first(self) -> None:
        """Move the keyboard to the first part of the page shown."""
        if self.page is not None:
            self.page.first().setFocus(Qt.FocusReason.OtherFocusReason)

    @property
    def page(self) -> Page | None:
        """The page shown; None on the start page."""
        shown = self.stack.currentWidget()
        return shown if isinstance(shown, Page) else None

    @property
    def place(self) -> PageName | None:
        """Which page is shown; None on the start page."""
        return next((place for place, page in self.pages.items() if page is self.page), None)

    def _picture_size(self) -> Shape:
        """Inches of the picture on the page that is shown."""
        return (self.candidates if self.page is self.candidates else self.sar).canvas.inches

    def _do_next(self, command: str) -> None:
        """Run the command of the strip's button."""
        {
            "new": self.new_campaign,
            "plan": self.plan,
            "enter": self.round_commands.enter_results,
            "close": self.close_round,
            "confirm": self.round_commands.confirm,
            "export": self.exporting.shortlist,
        }[command]()

    def choose_theme(self, choice: Choice) -> None:
        """Show other colours and remember that."""
        self.settings.theme = choice
        theme().choose(choice)

    # ------------------------------------------------------------------ commands

    def new_campaign(self, table: Path | None = None) -> None:
        """Open a new campaign, on a table when one is given."""
        self.opening.new_campaign(*([] if table is None else [table]))

    def open_path(self, path: Path) -> None:
        """Open a campaign, or starts a new one from a table."""
        self.opening.open_path(path)

    def read_results_from(self, path: Path) -> None:
        """Show the preview of a results file."""
        self.show_page(PageName.ROUND)
        self.round.reading.read(path)

    def plan(self) -> None:
        """Issue the next round and show it."""
        self.round_commands.plan()

    def close_round(self) -> None:
        """Ask about missing results, and close the round."""
        self.round_commands.close_round()

    @property
    def creation(self) -> NewCampaign | None:
        """A new campaign while it is open."""
        return self.opening.creation

    @property
    def closing(self) -> ClosePanel:
        """The dialog about missing results, once it was shown."""
        if self.round_commands.closing is None:
            raise AttributeError("no round was closed yet")
        return self.round_commands.closing

    # ------------------------------------------------------------------ editing

    def copy(self) -> None:
        """Copy the selection of the widget with the keyboard, else of the page."""
        focus = QGuiApplication.focusObject()
        if isinstance(focus, (QLineEdit, QPlainTextEdit)):
            focus.copy()
        elif self.page is not None:
            self.page.copy()

    def paste(self) -> None:
        """Paste text into the line with the keyboard, else results into the round."""
        focus = QGuiApplication.focusObject()
        if isinstance(focus, (QLineEdit, QPlainTextEdit)):
            focus.paste()
        else:
            self.show_page(PageName.ROUND)
            self.round.reading.paste()

    def look_for(self) -> None:
        """Go to where something can be looked for."""
        if self.page is self.round:
            self.show_page(PageName.CANDIDATES)
        if self.page is not None:
            self.page.look_for()

    def _ask(self, error: AssayPilotError, words: str, action: Callable[[], None]) -> None:
        self.messages.ask(*error_words(error), (words, action))

    # ------------------------------------------------------------------ Qt

    def _stay(self) -> None:
        self._leaving = False

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Take campaign files and tables."""
        if self.opening.dropped(event) is not None:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Open a campaign; a table is results for the open round, else a new campaign."""
        self.opening.drop(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Finish what is being written and remember the window; ask once when that would lose something."""
        unsaved, writing = self.round.leave(), self.session.background.writing
        if (unsaved or writing) and not self._leaving:
            self._leaving = True
            event.ignore()
            what, mend = "An export is still being written.", "Closing now stops it, and leaves no file."
            if unsaved:
                what, mend = f"{many(unsaved, 'typed value')} not saved.", "Closing now loses what the red cells show."
            self.messages.ask(
                what, mend, ("Stop it and close" if writing else "Close", self.close), ("Go on", self._stay)
            )
            return
        self.settings.keep_layout("window", self.saveGeometry())
        self.settings.keep_layout("candidates", self.candidates.split.saveState())
        self.settings.flush()
        self.candidates.canvas.stop()
        self.candidates.panel.canvas.stop()
        self.sar.canvas.stop()
        self.goal.stop()
        if self.creation is not None:
            self.creation.done(0)  # it would need more
        self.session.shut()
        self.help_and_preferences.closing()
        drawing_pool().waitForDone()
        super().closeEvent(event)
