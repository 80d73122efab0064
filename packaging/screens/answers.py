"""Pictures of what is known: candidates, structure and activity, exports, confirmation, history."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from assaypilot.gui.help.window import HelpWindow
from assaypilot.gui.pages.sar import PICTURES
from assaypilot.gui.window.main_window import CANDIDATES, GOAL, HISTORY, ROUND, SAR
from screens.photographer import Photographer
from screens.tables import Truth

__all__ = ["confirmation", "decided", "help_and_about", "read_only", "relations", "replay"]


def decided(at: Photographer) -> None:
    """The decided set, filtered and written."""
    page = at.window.candidates
    at.window.show_page(CANDIDATES)
    page.select(int(page.model.rows[4]))
    at.shoot("candidates-decided")
    page.which.choose("all")
    page.filter.setText("R1=Me <7.2")
    QTest.qWait(250)
    at.shoot("candidates-filtered")
    page.filter.setText("no compound is called so")
    QTest.qWait(250)
    at.shoot("candidates-none")
    page.filter.setText("R1=Me <7.2")
    _exports(at)


def replay(at: Photographer) -> None:
    """The candidates as they stood after the first round, and after half of all."""
    window = at.window
    window.show_page(CANDIDATES)
    rounds = window.session.replay.rounds
    for number in (rounds[0], rounds[len(rounds) // 2]):
        window.session.replay.go(number)
        at.shoot(f"replay-{number}")
    window.session.replay.go(None)
    at.settle()


def relations(at: Photographer, name: str = "sar") -> None:
    """Every picture of the SAR page, and what is said of a cell."""
    page = at.window.sar
    at.window.show_page(SAR)
    for key, _ in PICTURES:
        page.which.choose(key)
        at.shoot(f"{name}-{key}")
    page.which.choose("map")
    at.settle()
    page.canvas.setFocus()
    for arrow in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Down):
        QTest.keyClick(page.canvas, arrow)
    QTest.keyClick(page.canvas, Qt.Key.Key_Return)
    at.shoot(f"{name}-cell")


def confirmation(at: Photographer, truth: Truth) -> None:
    """The confirmation round of a decided set, with one compound that is not confirmed."""
    window = at.window
    window.journey.confirm()
    at.until(lambda: at.view.status.open_round is not None, "the confirmation round")
    window.show_page(ROUND)
    at.shoot("confirmation-round")
    first, *others = at.results(truth)
    at.record([type(first)(first.compound, round(first.value - 1.5, 2), first.endpoint), *others])
    at.close_round()
    window.show_page(CANDIDATES)
    refuted = at.view.status.confirmation.not_confirmed
    if refuted:
        window.candidates.select(int(next(iter(refuted))))
    at.shoot("candidates-confirmed")
    window.show_page(HISTORY)
    at.shoot("history")


def read_only(at: Photographer) -> None:
    """The same file in a second window, read-only."""
    first, path = at.window, at.view.path
    at.window = at.open()
    at.window.open_path(path)
    at.until(lambda: at.window.session.view is not None, "the second window")
    at.shoot("read-only")
    at.window.show_page(GOAL)
    at.shoot("read-only-goal")
    at.window.show_page(ROUND)
    past = at.window.round.chooser
    past.setCurrentIndex(1)
    past.activated.emit(1)
    at.shoot("round-past")
    at.window.close()
    at.window = first


def help_and_about(at: Photographer) -> None:
    """What the Help menu shows, and the preferences."""
    manners = at.window.manners
    manners.about()
    at.dialog("about").close()
    manners.ask_preferences()
    at.dialog("preferences").close()
    manners.help()
    shown = next(one for one in QApplication.topLevelWidgets() if isinstance(one, HelpWindow) and one.isVisible())
    at.shoot("help", shown)
    shown.close()


def _exports(at: Photographer) -> None:
    """What is exported: asked, under way, done and refused."""
    window = at.window
    window.exporting.ask(None, "screen")
    dialog = window.exporting.dialog
    assert dialog is not None
    at.shoot("export", dialog)
    window.candidates.filter.setText("nothing like it")
    dialog.reject()
    window.exporting.ask(None, "screen")
    assert window.exporting.dialog is not None
    at.shoot("export-empty", window.exporting.dialog)
    window.exporting.dialog.reject()
    window.candidates.filter.setText("")
    for key in ("mw", "clogp", "lle"):
        window.candidates.arrangement.show(key, True)
    QTest.qWait(250)
    at.shoot("candidates-properties")
    window.candidates.choose_columns()
    menu = QApplication.activePopupWidget()
    assert menu is not None
    at.shoot("columns", menu)
    menu.close()
    window.candidates.arrangement.as_at_first()
    job = window.exporting.to(at.work / "For the project lead, benzamides, November.xlsx", "all")
    assert job is not None
    at.until(window.work.isVisible, "the export to begin")
    at.shoot_now("export-busy")
    at.until(lambda: "written" in window.messages.text, "the export")
    at.shoot("export-done")
    window.exporting.to(at.work / "no such folder" / "x.csv", "all")
    at.until(lambda: "no such folder" in window.messages.text, "the refusal")
    at.shoot("export-error")
    window.messages.clear()
