"""What changes a campaign on its way, bounds, pasted results, the replay and the menus: by key events alone."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit

from assaypilot.gui.goal.goal_changes import ControlsDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import answered, idle, status, until, wait_for
from tests.gui.test_reach import described

Key, ALT, CONTROL = Qt.Key, Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ControlModifier


def press(key, held=Qt.KeyboardModifier.NoModifier):
    """Press a key where the keyboard is."""
    QTest.keyClick(keyboard(), key, held)


def keyboard():
    """What has the keyboard."""
    popup = QApplication.activePopupWidget()
    found = popup or QApplication.focusWidget() or QApplication.activeWindow()
    assert found is not None
    return found


def back(qtbot, window):
    """The keyboard is in the window again, as a desktop sees to when a dialog is gone."""
    window.activateWindow()
    until(qtbot, window.isActiveWindow)


def opened(qtbot, window, kind):
    """The dialog that was opened last, once it has the keyboard."""
    until(qtbot, lambda: isinstance(window.goal.ways.dialog, kind))  # a button that a letter presses goes down first
    dialog = window.goal.ways.dialog
    assert isinstance(dialog, kind)
    until(qtbot, dialog.isActiveWindow)
    assert dialog.isAncestorOf(keyboard()), described(keyboard())
    return dialog


@pytest.fixture
def active(qtbot, campaign):
    campaign.activateWindow()
    until(qtbot, campaign.isActiveWindow)
    return campaign


def test_a_control_is_named_and_taken_back(qtbot, active):
    press(Key.Key_2, CONTROL)
    assert active.stack.currentIndex() == PageName.GOAL
    idle(qtbot, active)
    press(Key.Key_L, ALT)
    dialog = opened(qtbot, active, ControlsDialog)
    assert isinstance(dialog, ControlsDialog)
    assert keyboard() is dialog.controls.edit
    QTest.keyClicks(keyboard(), "REF-1 = 7,1")
    until(qtbot, dialog.go.isEnabled)
    press(Key.Key_Return)
    wait_for(qtbot, active, lambda: [one.name for one in status(active).settings.controls] == ["REF-1"])
    back(qtbot, active)
    assert isinstance(keyboard(), QLineEdit), "a field, which has nothing of its own to take back"
    press(Key.Key_Z, CONTROL)
    until(qtbot, lambda: status(active).settings.controls == ())


def test_a_bound_is_typed_and_a_block_pasted(qtbot, active):
    press(Key.Key_R, CONTROL)
    wait_for(qtbot, active, lambda: status(active).open_round is not None)
    press(Key.Key_Return, CONTROL)
    assert active.stack.currentIndex() == PageName.ROUND
    assert keyboard() is active.round.table
    for sign in "<5":
        QTest.keyClick(keyboard(), sign)
    press(Key.Key_Return)
    until(qtbot, lambda: status(active).measurements_used == 1)
    assert status(active).measurements[-1].relation == "<"
    idle(qtbot, active)
    issued = status(active).open_round
    names = [status(active).library.ids[item.compound] for item in issued.items]
    QGuiApplication.clipboard().setText(f"ID\tpIC50\n{names[1]}\t6.9\n{names[2]}\t7.1\n")
    press(Key.Key_V, CONTROL)
    until(qtbot, active.round.preview.isVisible)
    press(Key.Key_Return)
    wait_for(qtbot, active, lambda: status(active).measurements_used == 3)
    press(Key.Key_Z, CONTROL)
    until(qtbot, lambda: status(active).measurements_used == 1)


def letters(window):
    """The letters that Alt goes to something with: menus, and what can be seen of the page."""
    texts = [menu.text() for menu in window.menuBar().actions()]
    texts += [one.text() for one in window.findChildren(QAbstractButton) if one.isVisible() and one.isEnabled()]
    texts += [one.text() for one in window.findChildren(QLabel) if one.isVisible() and one.buddy() is not None]
    marked = [text.replace("&&", "").partition("&")[2][:1].upper() for text in texts]
    return [letter for letter in marked if letter]


def test_mnemonics_are_unique_on_each_page(qtbot, active):
    answered(qtbot, active)
    active.session.plan()
    idle(qtbot, active)
    twice = {}
    for place, page in active.pages.items():
        active.show_page(place)
        idle(qtbot, active)
        found = letters(active)
        assert len(found) >= 5
        twice[type(page).__name__] = sorted({letter for letter in found if found.count(letter) > 1})
    assert {name: more for name, more in twice.items() if more} == {}
