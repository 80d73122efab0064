"""What holds on every page and in every dialog: names for a screen reader, keys for every action, text that is not cut.

One walk through all of it, since showing it is what takes the time.
"""

import os
import subprocess
import sys
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QDialog,
    QLabel,
    QLineEdit,
    QScrollArea,
    QScrollBar,
    QTabBar,
    QWidget,
)

from assaypilot.gui.resources.theme import theme
from assaypilot.gui.widgets.text import ElidedLabel
from tests.gui.everything import decided_round, everything

LARGER = (125, 160, 200)
"""Sizes of text, in per cent. Pages are looked at in each, dialogs in the largest."""
TRIES = 40
BIG = (1920, 1080)
NOT_INPUTS = (QScrollBar, QScrollArea, QTabBar, QLabel)
ALONE = "ASSAYPILOT_TEST_ALONE"
"""Set in the environment of the process that makes the walk."""


pytestmark = pytest.mark.usefixtures("dressed")


@pytest.fixture(autouse=True)
def as_before():
    yield
    theme().enlarge(100)


def reachable(top):
    """What Tab goes through in a window, in its order."""
    found, at = [], top.nextInFocusChain()
    while at is not top:
        if at.isVisibleTo(top) and at.isEnabled() and at.focusPolicy() & Qt.FocusPolicy.TabFocus and at.window() is top:
            found.append(at)
        at = at.nextInFocusChain()
    return found


def described(widget):
    """How a widget is named in a failure."""
    text = widget.accessibleName() or str(getattr(widget, "text", lambda: "")())[:40]
    return f"{type(widget).__name__} {text!r} in {type(widget.parentWidget()).__name__}"


def nameless(top):
    """Inputs that a screen reader has no name for."""
    found = []
    buddies = {one.buddy() for one in top.findChildren(QLabel)}
    for widget in top.findChildren(QWidget):
        inner = isinstance(widget.parentWidget(), QLineEdit) or widget.focusProxy() is not None
        if widget.focusPolicy() == Qt.FocusPolicy.NoFocus or inner or isinstance(widget, NOT_INPUTS):
            continue
        if widget.isVisibleTo(top) and widget.window() is top:
            own = widget.text() if isinstance(widget, QAbstractButton) else ""
            if not (widget.accessibleName() or own or widget in buddies):
                found.append(described(widget))
    return found


def out_of_reach(top, menus):
    """Buttons that have neither Tab nor a letter nor an entry in a menu."""
    found = []
    for made in top.findChildren(QAbstractButton):
        if not made.isVisibleTo(top) or not made.isEnabled() or made.window() is not top or not made.text():
            continue
        group = made.group()
        choices = [] if group is None or not group.exclusive() else group.buttons()
        if any(one.focusPolicy() & Qt.FocusPolicy.TabFocus for one in choices):
            continue  # Tab leads to one of the choices, and arrow keys to the others
        by_menu = made.text().replace("&", "").rstrip("…") in menus
        if not (made.focusPolicy() & Qt.FocusPolicy.TabFocus or not made.shortcut().isEmpty() or by_menu):
            found.append(described(made))
    return found


def against_the_eye(top):
    """What Tab reaches later although it lies at the left in the same row, or above, of what lies side by side."""
    found = []
    for before, after in combinations(reachable(top), 2):
        if before.parentWidget() is not after.parentWidget():
            continue
        one, other = before.geometry(), after.geometry()
        same_row = (
            min(one.bottom(), other.bottom()) - max(one.top(), other.top()) > min(one.height(), other.height()) / 2
        )
        same_column = min(one.right(), other.right()) - max(one.left(), other.left()) > 0
        if (same_row and other.right() <= one.left()) or (same_column and other.bottom() <= one.top()):
            found.append(f"{described(before)} -> {described(after)}")
    return found


def cut(top):
    """Labels and buttons with less room than their text takes, or beyond the edge of what scrolls up and down only."""
    found = []
    texts = [*top.findChildren(QLabel), *top.findChildren(QAbstractButton)]
    for widget in texts:
        if not widget.isVisible() or isinstance(widget, ElidedLabel) or not widget.text() or widget.window() is not top:
            continue
        hint = widget.sizeHint()
        if isinstance(widget, QLabel) and widget.wordWrap():
            if widget.height() < widget.heightForWidth(widget.width()) - 1:
                found.append(f"{described(widget)}: too low")
        elif widget.width() < hint.width() - 1 or widget.height() < hint.height() - 1:
            found.append(f"{described(widget)}: {widget.width()}x{widget.height()} of {hint.width()}x{hint.height()}")
        if beyond(widget):
            found.append(f"{described(widget)}: beyond the edge")
    return found


def cut_for_good(qtbot, top):
    """What is cut once everything has found its place."""
    QApplication.processEvents()
    for _ in range(TRIES):
        if not cut(top):
            return []
        qtbot.wait(20)
    return cut(top)


def beyond(widget):
    """Whether a widget ends to the right of the scroll area around it, out of reach."""
    around = widget.parentWidget()
    while around is not None and not isinstance(around, QScrollArea):
        around = around.parentWidget()
    if around is None or around.horizontalScrollBarPolicy() != Qt.ScrollBarPolicy.ScrollBarAlwaysOff:
        return False
    return widget.mapTo(around.viewport(), QPoint(widget.width(), 0)).x() > around.viewport().width() + 1


def give_room(shown):
    """A dialog as large as it asks to be: the screen of the tests would cut it to two thirds of its own."""
    arranged = shown.layout()
    if isinstance(shown, QDialog) and arranged is not None:
        wide = max(shown.sizeHint().width(), shown.width())
        high = arranged.totalHeightForWidth(wide) if arranged.hasHeightForWidth() else shown.sizeHint().height()
        shown.resize(wide, max(high, shown.height()))


def in_menus(window):
    """What the menus offer."""
    entries = set()
    for top in window.menuBar().actions():
        menu = top.menu()
        if menu is not None:
            entries |= {action.text().replace("&", "").rstrip("…") for action in menu.actions()}
    return entries


@pytest.mark.skipif(not os.environ.get(ALONE), reason="run by the test below, in a process of its own")
def test_names_keys_order_and_room_everywhere(qtbot, campaign, tmp_path):
    campaign.resize(*BIG)
    decided_round(qtbot, campaign)
    checks = {
        "no name": nameless,
        "out of reach": lambda top: out_of_reach(top, in_menus(campaign)),
        "tab order": against_the_eye,
    }
    wrong = {}
    walked = []
    for name, shown in everything(qtbot, campaign, tmp_path):
        walked.append(name)
        for kind, look in checks.items():
            wrong.setdefault(f"{name}: {kind}", []).extend(look(shown))
        for percent in LARGER if shown is campaign else LARGER[-1:]:
            if theme().scale != percent / 100:
                theme().enlarge(percent)
            give_room(shown)
            wrong.setdefault(f"{name}: cut at {percent} %", []).extend(cut_for_good(qtbot, shown))
            if shown.minimumSizeHint().width() > BIG[0]:
                wrong[f"{name}: cut at {percent} %"].append(f"wider than the screen: {shown.minimumSizeHint().width()}")
    assert {place: found for place, found in wrong.items() if found} == {}
    assert len(walked) >= 20


@pytest.mark.slow
def test_everywhere():
    """In a process of its own: after hundreds of other windows a new style sheet once ended Qt."""
    name = f"{__file__}::{test_names_keys_order_and_room_everywhere.__name__}"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", name]
    done = subprocess.run(command, env={**os.environ, ALONE: "1"}, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout


def test_the_start_page_and_its_messages(qtbot, window, tmp_path):
    for name in ("First series", "A series with a name that is long enough to be looked at twice"):
        window.settings.add_recent(tmp_path / f"{name}.assaypilot")
    window.start.show_recent([tmp_path / "First series.assaypilot"])
    window.messages.ask("Something is to be decided.", "It can be done so.", ("This &way", window.messages.clear))
    qtbot.waitUntil(
        lambda: any(one.text() == "This &way" and one.isVisible() for one in window.findChildren(QAbstractButton))
    )
    assert nameless(window) == []
    assert out_of_reach(window, in_menus(window)) == []
    assert against_the_eye(window) == []
    for percent in LARGER:
        theme().enlarge(percent)
        assert cut_for_good(qtbot, window) == [], percent


def test_every_menu_entry_has_a_letter_of_its_own_or_a_key(campaign):
    for top in campaign.menuBar().actions():
        menu = top.menu()
        letters = []
        for action in menu.actions():
            text = action.text().replace("&&", "")
            if not action.isSeparator():
                assert "&" in text, text
                letters.append(text[text.index("&") + 1].casefold())
        twice = {letter for letter in letters if letters.count(letter) > 1}
        assert not twice, f"{top.text()}: {twice}"
