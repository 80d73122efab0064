"""The menus of the window and the actions in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu

from ..round.round_commands import population_of
from ..round.round_tools import has_results
from ..session.view import View
from ..tables.rows import plain_tip
from ..widgets.text import keys, mnemonic_free
from .export_dialog import KINDS
from .page import PageName

if TYPE_CHECKING:
    from .main_window import MainWindow


def look_back(window: MainWindow, by: int | None) -> None:
    """Show the candidates (or the pictures, where they are open) so many rounds on; None: now."""
    if window.page not in (window.candidates, window.sar):
        window.show_page(PageName.CANDIDATES)
    if by is None:
        window.session.replay.go(None)
    else:
        window.session.replay.step(by)


def choose_columns(window: MainWindow) -> None:
    """Open the menu of the columns of the candidates."""
    window.show_page(PageName.CANDIDATES)
    window.candidates.tools.choose_columns()


Key = QKeySequence.StandardKey


class Actions:
    """Makes the menus of a window, and enables the actions that make sense."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        bar = window.menuBar()
        file, edit, view = bar.addMenu("&File"), bar.addMenu("&Edit"), bar.addMenu("&View")
        lab, about = bar.addMenu("&Round"), bar.addMenu("&Help")
        add = self._add
        self.new = add(file, "&New Campaign…", window.new_campaign, Key.New)
        self.open = add(file, "&Open…", window.opening.ask, Key.Open)
        self.new_window = add(file, "New &Window", window.opening.new_window, "Ctrl+Shift+N")
        self.recent = file.addMenu("Open &Recent")
        self.recent.aboutToShow.connect(self._fill_recent)
        self.project = add(file, "Pro&ject Overview…", window.opening.project, "Ctrl+Shift+O")
        self.practice = add(file, "Open &Practice Campaign", window.opening.practice)
        self.fresh = add(file, "New Practice Ca&mpaign", partial(window.opening.practice, fresh=True))
        file.addSeparator()
        self.copy_file = add(file, "&Save a Copy…", window.opening.save_copy, Key.SaveAs)
        self.import_results = add(file, "&Import Results…", window.opening.ask_for_results, "Ctrl+I")
        self.export_menu = file.addMenu("&Export")
        self.export = add(self.export_menu, "Sh&ortlist…", window.exporting.shortlist, "Ctrl+E")
        self.export_menu.addSeparator()
        self.exports = [add(self.export_menu, kind.menu, partial(window.exporting.ask, kind)) for kind in KINDS]
        file.addSeparator()
        self.close_window = add(file, "&Close Window", window.close, "Ctrl+W", Key.Close)
        self.quit = add(file, "&Quit", QApplication.closeAllWindows, Key.Quit)
        self.quit.setMenuRole(QAction.MenuRole.QuitRole)
        self.undo = add(edit, "&Undo", window.session.undo, Key.Undo)
        self.redo = add(edit, "&Redo", window.session.redo, "Ctrl+Y", Key.Redo)
        edit.addSeparator()
        self.copy = add(edit, "&Copy", window.copy, Key.Copy)
        self.paste = add(edit, "&Paste", window.paste, Key.Paste)
        edit.addSeparator()
        self.find = add(edit, "&Find", window.look_for, Key.Find)
        edit.addSeparator()
        self.preferences = add(edit, "Pr&eferences…", window.help_and_preferences.ask_preferences, "Ctrl+,")
        self.preferences.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.pages: dict[PageName, QAction] = {}
        for place in PageName:
            made = add(view, f"&{place.title}", partial(window.go_to, place), f"Ctrl+{place + 1}")
            made.setCheckable(True)
            self.pages[place] = made
        view.addSeparator()
        self.columns = add(view, "Colu&mns of Candidates…", partial(choose_columns, window))
        rounds = view.addMenu("R&eplay")
        self.replays = [
            add(rounds, "&Earlier Round", partial(look_back, window, -1), "Alt+Left"),
            add(rounds, "&Later Round", partial(look_back, window, 1), "Alt+Right"),
            add(rounds, "Back to &Now", partial(look_back, window, None), "Alt+Home"),
        ]
        self.plan = add(lab, "&Plan Next Round…", window.plan, "Ctrl+R")
        self.confirm = add(lab, "Plan Con&firmation Round…", window.round_commands.confirm)
        self.audit = add(lab, "Plan A&udit Round…", window.round_commands.audit)
        self.enter = add(lab, "&Enter Results", window.round_commands.enter_results, "Ctrl+Return")
        self.read = add(lab, "&Read Results from File…", window.opening.ask_for_results)
        self.work = add(lab, "&Work List…", window.work_lists.ask)
        self.copy_work = add(lab, "Copy Work &List", window.work_lists.copy)
        self.close_round = add(lab, "&Close Round…", window.close_round)
        self.withdraw = add(lab, "Wi&thdraw Round…", window.round_commands.withdraw_round)
        lab.addSeparator()
        self.compounds = add(lab, "&Add Compounds…", window.adding.ask)
        self.stock = add(lab, "Read &Stock List…", window.stocking.ask)
        self.orders = add(lab, "Save &Order List…", window.stocking.ask_where)
        lab.addSeparator()
        self.rounds = [
            add(lab, "Pre&vious Round", partial(window.round_commands.step, -1), "Alt+PgUp"),
            add(lab, "Ne&xt Round", partial(window.round_commands.step, 1), "Alt+PgDown"),
        ]
        self.help = add(about, "&Help", window.help_and_preferences.help, Key.HelpContents, "F1")
        self.keys = add(about, "&Keys", partial(window.help_and_preferences.topic, "keys"))
        self.tour = add(about, "Guided &Tour", window.tour.start)
        about.addSeparator()
        self.about = add(about, "&About AssayPilot", window.help_and_preferences.about)
        self.about.setMenuRole(QAction.MenuRole.AboutRole)

    def _add(
        self, menu: QMenu, text: str, slot: Callable[[], object], *wanted: QKeySequence.StandardKey | str
    ) -> QAction:
        made = QAction(text, self._window)
        made.setMenuRole(QAction.MenuRole.NoRole)  # else a Mac guesses by the text which go into its own menu
        made.setShortcuts(keys(*wanted))
        made.triggered.connect(lambda _=False: slot())
        menu.addAction(made)
        return made

    def refresh(self, view: View | None) -> None:
        """Disable actions that make no sense, and name those of undo and redo."""
        open_ = view is not None
        writable = view is not None and not view.read_only
        standing = view is not None and view.status.open_round is not None
        self.export_menu.setEnabled(open_)
        for action in (
            self.copy_file,
            self.export,
            *self.exports,
            self.copy,
            self.find,
            self.columns,
            *self.pages.values(),
        ):
            action.setEnabled(open_)
        self.plan.setEnabled(writable and not standing and not (view is not None and view.status.finished))
        self.stock.setEnabled(writable)
        self.compounds.setEnabled(writable)
        self.orders.setEnabled(view is not None and view.status.stock is not None and bool(view.status.stock.orders))
        self.confirm.setEnabled(writable and view is not None and bool(view.status.confirmation.due))
        self.audit.setEnabled(writable and not standing and view is not None and population_of(view.status) > 0)
        for action in (self.enter, self.close_round, self.paste):
            action.setEnabled(writable and standing)
        for action in (self.read, self.import_results):
            action.setEnabled(writable and view is not None and bool(view.status.rounds))
        for action in (self.work, self.copy_work):
            action.setEnabled(view is not None and view.round is not None)
        issued = view.status.open_round if writable and view is not None else None
        self.withdraw.setEnabled(view is not None and issued is not None and not has_results(view, issued))
        for action in self.rounds:
            action.setEnabled(view is not None and len(view.status.rounds) > 1)
        for action in self.replays:
            action.setEnabled(bool(self._window.session.replay.rounds))
        undo = view.undo if writable and view is not None else None
        redo = view.redo if writable and view is not None else None
        self.undo.setEnabled(undo is not None)
        self.redo.setEnabled(redo is not None)
        self.undo.setText(f"&Undo {mnemonic_free(undo)}" if undo else "&Undo")
        self.redo.setText(f"&Redo {mnemonic_free(redo)}" if redo else "&Redo")
        # By itself a tooltip would be the text, read as markup.
        self.undo.setToolTip(plain_tip(f"Undo {undo or ''}".strip()))
        self.redo.setToolTip(plain_tip(f"Redo {redo or ''}".strip()))

    def show_page(self, place: PageName) -> None:
        """Mark the page that is shown."""
        for name, action in self.pages.items():
            action.setChecked(name is place)

    def _fill_recent(self) -> None:
        self.recent.clear()
        paths = self._window.settings.recent
        for path in paths:
            made = QAction(mnemonic_free(path.name), self.recent)
            made.setToolTip(plain_tip(str(path)))
            made.setStatusTip(str(path))
            made.triggered.connect(lambda _=False, path=path: self._window.open_path(path))
            self.recent.addAction(made)
        if paths:
            self.recent.addSeparator()
            self.recent.addAction("&Clear This List", self._window.opening.clear_recent)
        else:
            none = QAction("No campaign was opened yet", self.recent)
            none.setEnabled(False)
            self.recent.addAction(none)
