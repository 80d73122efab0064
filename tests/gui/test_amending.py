"""What leaving a value out, or another value, would do is said before it is done, and fits the dialog."""

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.gui.round.reason_dialog import RESTS, CorrectDialog, ExcludeDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, status, until, wait_for


def _opened(qtbot, window):
    window.show_page(PageName.ROUND)
    window.activateWindow()
    wait_for(qtbot, window, window.isActiveWindow)


def _dialog(qtbot):
    until(qtbot, lambda: isinstance(QApplication.activeModalWidget(), QDialog))
    found = QApplication.activeModalWidget()
    assert isinstance(found, QDialog)
    return found


def test_correction_does_what_its_preview_showed(qtbot, decided):
    _opened(qtbot, decided)
    page, before = decided.round, status(decided)
    best = next(one for one in before.measurements if one.phase == 1)
    page.values.correct(best.number)
    asked = _dialog(qtbot)
    assert isinstance(asked, CorrectDialog)
    idle(qtbot, decided)
    assert not asked.consequence.isVisible()
    asked.value.setText("3")
    until(qtbot, asked.consequence.isVisible)
    preview = asked.consequence.text()
    assert preview.startswith(ENDS)
    asked.line.setText("plate read anew")
    asked.confirm.click()
    until(qtbot, lambda: status(decided).events > before.events)
    now = status(decided).counts
    assert f"{now['in']:,} in (now {before.counts['in']:,})" in preview
    assert f"{now['undecided']:,} undecided (now {before.counts['undecided']:,})" in preview


def test_exclusion_shows_its_cost_first(qtbot, decided):
    _opened(qtbot, decided)
    one = next(m for m in status(decided).measurements if m.phase == 1)
    decided.round.values.exclude(one.number)
    asked = _dialog(qtbot)
    assert isinstance(asked, ExcludeDialog)
    until(qtbot, lambda: "in (now" in asked.consequence.text() or "The same compounds" in asked.consequence.text())
    assert ENDS in asked.consequence.text()
    QTest.keyClick(asked, Qt.Key.Key_Escape)
    idle(qtbot, decided)
    # Nothing rests on a value from before.
    decided.round.values.exclude(next(m.number for m in status(decided).measurements if m.round == 0))
    asked = _dialog(qtbot)
    assert isinstance(asked, ExcludeDialog)
    until(qtbot, lambda: RESTS in asked.consequence.text())
    QTest.keyClick(asked, Qt.Key.Key_Escape)
