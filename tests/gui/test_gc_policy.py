"""What stays is not looked through again and again; what goes with a window or a picture goes soon."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot

from assaypilot.gui.app import preload
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.runtime import gc_policy as long_lived
from assaypilot.gui.structures.drawing import drawing_pool
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import until


class Waste:
    """What only the collector finds."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture
def frozen() -> Iterator[None]:
    """The collector as it is found, whatever a test sets aside; it comes only when it is called."""
    gc.unfreeze()
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_once_all_is_loaded_it_is_set_aside(qapp: object, frozen: None) -> None:
    there = len(gc.get_objects())
    preload()
    drawing_pool().waitForDone()
    assert gc.get_freeze_count() > 0.9 * there
    assert len(gc.get_objects()) < 0.1 * there


def test_what_went_with_a_window_is_found(qtbot: QtBot, frozen: None, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_a_window_that_closes_while_another_stays_is_looked_for(
    qtbot: QtBot, open_window: Callable[..., MainWindow], frozen: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[bool]()
    monkeypatch.setattr("assaypilot.gui.window.help_and_preferences.look_again_soon", lambda: asked.append(True))
    first = open_window()
    second = first.opening.new_window()
    qtbot.wait(50)
    second.close()
    assert asked == [True]
    first.close()
    assert asked == [True]


def test_figures_are_thrown_away_once_they_are_pictures(qtbot: QtBot, frozen: None) -> None:
    from matplotlib.figure import Figure

    made = list[weakref.ref[Figure]]()

    def draw(size: tuple[float, float], dpi: float) -> Figure:
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


def test_many_values_of_a_campaign_are_looked_through_once(qapp: object, frozen: None) -> None:
    long_lived.set_aside()
    values = [[number] for number in range(long_lived.MANY // 2)]
    long_lived.figure_gone()
    assert len(gc.get_objects()) > len(values)
    values += [[number] for number in range(long_lived.MANY // 2)]
    long_lived.figure_gone()
    assert len(gc.get_objects()) < 1_000
