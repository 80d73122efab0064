"""Where the keyboard is: seen in every theme, and on the page that is shown."""

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QPushButton, QWidget

from assaypilot.gui.resources.theme import theme
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, plan_round, until
from tests.gui.test_reach import described, reachable

pytestmark = pytest.mark.usefixtures("dressed")
PAGES = (PageName.LIBRARY, PageName.GOAL, PageName.ROUND, PageName.CANDIDATES, PageName.SAR, PageName.HISTORY)
KEYS = (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3, Qt.Key.Key_4, Qt.Key.Key_5, Qt.Key.Key_6)


@pytest.fixture(autouse=True)
def as_before():
    yield
    theme().choose("light")


def drawn(widget):
    """``(h, w)`` relative luminance (WCAG 2.2) of what a widget draws."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
    bits = np.frombuffer(image.constBits(), dtype=np.uint8).reshape(image.height(), image.width(), 4) / 255.0
    linear = np.where(bits <= 0.04045, bits / 12.92, ((bits + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear[..., :3] @ np.array([0.0722, 0.7152, 0.2126]))  # blue, green, red


def unseen(top):
    """What looks no different when the keyboard is there: it needs a change along half its edge, of 2 to 1 or more."""
    found = []
    for widget in reachable(top):
        if widget.focusProxy() is not None:
            continue
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        there = drawn(widget)
        top.setFocus(Qt.FocusReason.OtherFocusReason)
        away = drawn(widget)
        if there.shape != away.shape:
            found.append(f"{described(widget)}: another size")
            continue
        contrast = (np.maximum(there, away) + 0.05) / (np.minimum(there, away) + 0.05)
        if int((contrast >= 2.0).sum()) < widget.width() + widget.height():
            found.append(described(widget))
    return found


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_keyboard_focus_is_visible_on_every_page(qtbot, campaign, colours):
    theme().choose(colours)
    window = campaign
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    plan_round(qtbot, window)
    wrong = {}
    for place in PAGES:
        window.show_page(place)
        idle(qtbot, window)
        wrong[place] = unseen(window)
    assert {place: found for place, found in wrong.items() if found} == {}


@pytest.mark.parametrize("colours", ["light", pytest.param("dark", marks=pytest.mark.slow)])
def test_keyboard_focus_is_visible_on_ticked_boxes_and_lists(qtbot, window, colours):
    theme().choose(colours)
    box, combo = QCheckBox("Not known"), QComboBox()
    box.setChecked(True)
    top = QWidget()
    qtbot.addWidget(top)
    top.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    for one, at in ((box, 10), (combo, 60)):
        one.setParent(top)
        one.setGeometry(10, at, 140, 30)
    top.show()
    top.activateWindow()
    until(qtbot, top.isActiveWindow)
    assert unseen(top) == []


def test_a_page_that_is_opened_by_keys_has_the_keyboard(qtbot, campaign):
    window = campaign
    window.activateWindow()
    until(qtbot, window.isActiveWindow)
    for place, key in zip(PAGES, KEYS, strict=True):
        QTest.keyClick(QApplication.focusWidget() or window, key, Qt.KeyboardModifier.ControlModifier)
        idle(qtbot, window)
        focus = QApplication.focusWidget()
        assert window.stack.currentIndex() == place
        assert focus is not None
        assert window.pages[place].isAncestorOf(focus), described(focus)
    # Arrows go on from page to page at the left, and stay there.
    last = window.navigation.pages.button(PageName.HISTORY)
    last.setFocus()
    QTest.keyClick(last, Qt.Key.Key_Up)
    assert window.stack.currentIndex() == PageName.SAR
    assert QApplication.focusWidget() is window.navigation.pages.button(PageName.SAR)
    # A filter is reached by its key, and Escape empties it.
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is window.candidates.filter
    QTest.keyClicks(window.candidates.filter, "R1=Cl")
    until(qtbot, lambda: window.candidates.model.rowCount() == 6)
    QTest.keyClick(window.candidates.filter, Qt.Key.Key_Escape)
    until(qtbot, lambda: window.candidates.model.rowCount() == 18)


def seen(window):
    """Names of the buttons that can be seen."""
    return [one.accessibleName() for one in window.findChildren(QPushButton) if one.isVisible()]
