"""A new size of the text, or other colours, while parts of windows closed long ago wait to be thrown away."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from assaypilot.gui.resources.theme import theme
from assaypilot.gui.window import opening as windows
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import until


class Waste:
    """What only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


class Busy(QWidget):
    """A widget that makes and drops many objects when it is dressed, as pages do that lay themselves out anew."""

    def __init__(self) -> None:
        super().__init__()
        self.gone: list[bool] = []
        """Whether what was dropped was thrown away at once."""

    def changeEvent(self, event: QEvent) -> None:
        """Drop something that only the collector finds, and give it occasions."""
        dropped = weakref.ref(Waste())
        kept = [[number] for number in range(2_000)]
        self.gone.append(dropped() is None and bool(kept))
        super().changeEvent(event)


@pytest.fixture
def eager() -> Iterator[None]:
    """A collector that comes at the first occasion."""
    before = gc.get_threshold()
    gc.set_threshold(50, 1, 1)
    yield
    gc.set_threshold(*before)


@pytest.mark.parametrize("change", ["size", "colours"])
def test_nothing_is_thrown_away_while_widgets_are_dressed(
    qtbot: QtBot, window: MainWindow, eager: None, change: str
) -> None:
    widget = Busy()
    qtbot.addWidget(widget)
    widget.show()
    widget.gone.clear()
    try:
        theme().enlarge(160) if change == "size" else theme().choose("dark")
        assert widget.gone
        assert not any(widget.gone)
        assert gc.isenabled()
        widget.gone.clear()
        widget.setEnabled(False)
        assert widget.gone == [True]  # the collector is as eager as before
    finally:
        theme().enlarge(100)
        theme().choose("system")


def test_a_window_that_was_closed_leaves_nothing_to_dress(qtbot: QtBot, open_window: Callable[..., MainWindow]) -> None:
    first = open_window()
    gc.collect()
    gc.disable()  # what is left now would wait for the collector
    try:
        before = {id(one) for one in QApplication.allWidgets()}
        second = first.opening.new_window()
        qtbot.wait(50)
        gone = list[bool]()
        second.destroyed.connect(lambda: gone.append(True))
        second.close()
        until(qtbot, lambda: bool(gone))
        left = [one for one in QApplication.allWidgets() if id(one) not in before and one.parentWidget() is None]
        assert not left
    finally:
        gc.enable()


def test_nothing_is_thrown_away_while_the_windows_are_listed(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of closed windows would be gone before Python has taken them from Qt's list, and the program with them."""
    collecting = list[bool]()

    class Watched:
        @staticmethod
        def topLevelWidgets() -> list[QWidget]:
            collecting.append(gc.isenabled())
            return QApplication.topLevelWidgets()

    monkeypatch.setattr(windows, "QApplication", Watched)
    assert window in windows.main_windows()
    assert collecting == [False]
    assert gc.isenabled()
