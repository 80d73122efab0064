"""What stays is not looked through again and again; what goes with a window or a picture goes soon."""

import gc
import weakref

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from assaypilot.gui.app import preload
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.resources.theme import theme
from assaypilot.gui.runtime import gc_policy as long_lived
from assaypilot.gui.structures.drawing import drawing_pool
from assaypilot.gui.window import opening as windows
from tests.gui.helpers import until


class Waste:
    """What only the collector finds."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def frozen():
    """The collector as it is found, whatever a test sets aside; it comes only when it is called."""
    gc.unfreeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_loaded_objects_are_frozen(qapp, frozen):
    there = len(gc.get_objects())
    preload()
    drawing_pool().waitForDone()
    assert gc.get_freeze_count() > 0.9 * there
    assert len(gc.get_objects()) < 0.1 * there


def test_objects_of_a_closed_window_are_collected(qtbot, frozen, monkeypatch):
    monkeypatch.setattr(long_lived, "LATER", 0)
    waste = weakref.ref(Waste())
    long_lived.look_again_soon()  # nothing is set aside: nothing is done
    qtbot.wait(20)
    assert waste() is not None
    long_lived.set_aside()
    gc.collect()
    assert waste() is not None
    monkeypatch.setattr(long_lived, "MOST", 0)  # too many to be looked through at once
    long_lived.look_again()
    assert waste() is not None
    monkeypatch.setattr(long_lived, "MOST", 100_000_000)  # whatever other tests have left
    long_lived.look_again_soon()
    until(qtbot, lambda: waste() is None)
    assert gc.get_freeze_count() > 0


def test_drawn_figures_are_collected(qtbot, frozen):
    from matplotlib.figure import Figure

    made = list[weakref.ref[Figure]]()

    def draw(size, dpi):
        figure = Figure(figsize=size, dpi=dpi)
        figure.add_subplot().plot([1, 2], [3, 4])
        made.append(weakref.ref(figure))
        return figure

    canvas = Canvas("picture")
    qtbot.addWidget(canvas)
    canvas.resize(200, 150)
    canvas.show()
    long_lived.set_aside()
    for _ in range(3):
        before = len(made)
        canvas.show_figure(draw)
        until(qtbot, lambda before=before: len(made) > before and canvas.shown)
        drawing_pool().waitForDone()
    assert len(made) >= 3
    assert not [figure for figure in made if figure() is not None]


class Busy(QWidget):
    """A widget that makes and drops many objects when it is dressed, as pages do that lay themselves out anew."""

    def __init__(self):
        super().__init__()
        self.gone = []
        """Whether what was dropped was thrown away at once."""

    def changeEvent(self, event):
        """Drop something that only the collector finds, and give it occasions."""
        dropped = weakref.ref(Waste())
        kept = [[number] for number in range(2_000)]
        self.gone.append(dropped() is None and bool(kept))
        super().changeEvent(event)


@pytest.fixture
def eager():
    """A collector that comes at the first occasion."""
    before = gc.get_threshold()
    gc.set_threshold(50, 1, 1)
    yield
    gc.set_threshold(*before)


@pytest.mark.usefixtures("dressed")
@pytest.mark.parametrize("change", ["size", pytest.param("colours", marks=pytest.mark.slow)])
def test_nothing_is_collected_while_widgets_are_restyled(qtbot, window, eager, change):
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


def test_closed_window_leaves_no_widget(qtbot, open_window):
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


def test_nothing_is_collected_while_windows_are_listed(window, monkeypatch):
    """Parts of closed windows would be gone before Python has taken them from Qt's list, and the program with them."""
    collecting = list[bool]()

    class Watched:
        @staticmethod
        def topLevelWidgets():
            collecting.append(gc.isenabled())
            return QApplication.topLevelWidgets()

    monkeypatch.setattr(windows, "QApplication", Watched)
    assert window in windows.main_windows()
    assert collecting == [False]
    assert gc.isenabled()
