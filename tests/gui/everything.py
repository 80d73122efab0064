"""Every page and dialog there is, shown one after the other: for tests of what holds everywhere."""

from PySide6.QtWidgets import QApplication

from assaypilot.gui.goal.add_endpoint import GOAL as SECOND_GOAL
from assaypilot.gui.goal.add_endpoint import LIMIT, EndpointDialog
from assaypilot.gui.help.help_window import close_help, show_help
from assaypilot.gui.round.reason_dialog import CorrectDialog, ExcludeDialog, UnavailableDialog
from assaypilot.gui.runtime.error_reports import ReportDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import answered, creation_of, goal_of, idle, small_table, status, wait_for


def everything(qtbot, window, folder):
    """Each thing by name while it is shown; the window has a campaign after its first round."""
    for place, page in window.pages.items():
        window.show_page(place)
        idle(qtbot, window)
        yield type(page).__name__, window
    window.tour.show_step(2)
    yield "tour", window
    window.tour.leave()
    yield from _creation(qtbot, window, folder)
    for name, make in _dialogs(window).items():
        make()
        idle(qtbot, window)
        shown = QApplication.activeModalWidget()
        assert shown is not None, name
        yield name, shown
        shown.close()
    yield "help", show_help("keys")
    close_help()


def decided_round(qtbot, window):
    """A round is measured, closed and another one planned, so that every page has something to show."""
    answered(qtbot, window)
    window.session.plan()
    idle(qtbot, window)


def _creation(qtbot, window, folder):
    window.new_campaign()
    creation = creation_of(window)
    yield "creation, empty", creation
    creation.start_with(small_table(folder / "everything.csv", smiles=True))
    goal_of(qtbot, creation).noise.edit.setText("0.2")
    wait_for(qtbot, window, lambda: creation.complete)
    for view in creation.views.keys:
        creation.views.choose(view)
        yield f"new campaign, {view}", creation
    creation.goal_pane.more.click()
    yield "new campaign, all fields", creation
    creation.reject()


def _use(window, use):
    """Say what one more endpoint is for."""
    dialog = window.goal.ways.dialog
    assert isinstance(dialog, EndpointDialog)
    dialog.uses.button(use).click()


def _dialogs(window):
    now = status(window)
    first = now.measurements[-1]
    name = now.library.ids[first.compound]
    endpoint = now.endpoints[0]

    def report():
        path = window.reporter.save(ValueError("x"), "Reading")
        assert path is not None
        ReportDialog(window.reporter, path, window).open()

    return {
        "export": lambda: window.exporting.ask(None),
        "work list": window.work_lists.ask,
        "cannot be had": lambda: UnavailableDialog([name], window).open(),
        "exclude": lambda: ExcludeDialog(first, name, endpoint, window).open(),
        "correct": lambda: CorrectDialog(first, name, endpoint, window).open(),
        "about": window.help_and_preferences.about,
        "preferences": window.help_and_preferences.ask_preferences,
        "one more endpoint": lambda: (window.show_page(PageName.GOAL), window.goal.ways.ask_endpoint()),
        "a limit": lambda: (window.goal.ways.ask_endpoint(), _use(window, LIMIT)),
        "a second goal": lambda: (window.goal.ways.ask_endpoint(), _use(window, SECOND_GOAL)),
        "controls": window.goal.ways.ask_controls,
        "report": report,
    }
