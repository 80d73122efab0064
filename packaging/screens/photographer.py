"""Drives a window without a display, and keeps pictures of it."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from assaypilot.engine.campaign.state import Round
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.simulate.virtual_assay import VirtualAssay
from assaypilot.gui.app import make_window
from assaypilot.gui.plots.canvas import Canvas
from assaypilot.gui.settings import Settings
from assaypilot.gui.theme import Choice, theme
from assaypilot.gui.view import View
from assaypilot.gui.widgets.structures import drawing_pool
from assaypilot.gui.window.main_window import MainWindow
from screens.tables import LONG, NOISE, SHORT, Truth, Words

__all__ = ["LOOKS", "Look", "Photographer"]

PATIENCE = 60.0
SMALL, LARGE = QSize(1280, 800), QSize(1920, 1080)


@dataclass(frozen=True, slots=True)
class Look:
    """How a window looks while it is photographed."""

    name: str
    colours: Choice
    size: QSize
    words: Words = SHORT
    text: int = 100
    """Size of the text, per cent."""


LOOKS = {
    look.name: look
    for look in (
        Look("light-1280", "light", SMALL),
        Look("dark-1280", "dark", SMALL),
        Look("light-1920", "light", LARGE),
        Look("dark-1920", "dark", LARGE),
        Look("long-1280", "light", SMALL, words=LONG),
        Look("large-text-1920", "light", LARGE, text=200),
        Look("large-text-1280", "light", SMALL, text=200),
    )
}


class Photographer:
    """A window in one look, and the pictures taken of it."""

    def __init__(self, application: QApplication, folder: Path, look: Look) -> None:
        self.application, self.folder, self.look = application, folder, look
        self.work = Path(tempfile.mkdtemp())
        self.settings = Settings(self.work / "settings.ini")
        self.settings.folder = self.work
        self.settings.theme = look.colours
        self.settings.text_size = look.text
        theme().choose(look.colours)
        theme().enlarge(look.text)
        self.window = self.open()
        self.made: list[Path] = []

    def open(self) -> MainWindow:
        """A window of the right size."""
        window = make_window(self.settings)
        window.resize(self.look.size)
        window.show()
        return window

    def close(self) -> None:
        """Close the window."""
        self.window.close()

    # ------------------------------------------------------------------ pictures

    def until(self, reached: Callable[[], bool], what: str) -> None:
        """Let the window work until something is reached."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if time.monotonic() > end:
                sys.exit(f"Waited in vain for {what}; the window says: {self.window.messages.text}")
            QTest.qWait(5)

    def settle(self) -> None:
        """Wait until nothing is being done or drawn."""
        window, session = self.window, self.window.session
        lanes = (session.tasks, session.beside, session.ahead, session.tables)
        for _ in range(3):
            QTest.qWait(80)
            self.until(lambda: not any(lane.busy for lane in lanes), "the worker")
            self.until(lambda: drawing_pool().activeThreadCount() == 0, "the drawing")
        for canvas in window.findChildren(Canvas):
            self.until(partial(_settled, canvas), "a plot")
        QTest.qWait(60)

    def shoot(self, name: str, widget: QWidget | None = None) -> Path:
        """The picture's file, taken once nothing is being done or drawn."""
        self.settle()
        return self.shoot_now(name, widget)

    def shoot_now(self, name: str, widget: QWidget | None = None) -> Path:
        """The picture's file, taken while something is being done."""
        path = self.folder / f"{name}-{self.look.name}.png"
        (widget or self.window).grab().save(str(path))
        self.made.append(path)
        return path

    def dialog(self, name: str) -> QWidget:
        """The dialog that is open, photographed."""
        self.until(lambda: QApplication.activeModalWidget() is not None, "a dialog")
        dialog = QApplication.activeModalWidget()
        assert dialog is not None
        self.shoot(name, dialog)
        return dialog

    # ------------------------------------------------------------------ the campaign

    @property
    def view(self) -> View:
        """What the window shows."""
        view = self.window.session.view
        assert view is not None
        return view

    @property
    def round(self) -> Round:
        """The open round."""
        standing = self.view.status.open_round
        assert standing is not None
        return standing

    def plan(self) -> bool:
        """Whether there was another round to plan."""
        done: list[object] = []
        self.window.session.plan(done.append)
        self.until(lambda: bool(done), "the plan")
        return done[0] is not None

    def record(self, results: Sequence[Result]) -> None:
        """Enter results."""
        done: list[object] = []
        self.window.session.record(results, done.append)
        self.until(lambda: bool(done), "the results")

    def close_round(self) -> None:
        """Close the open round."""
        done: list[object] = []
        self.window.session.close_round(then=lambda: done.append(1))
        self.until(lambda: bool(done), "the round to close")

    def results(self, *truths: Truth) -> list[Result]:
        """What simulated assays say for the open round, one truth for each endpoint, in the order of the round."""
        issued, ids = self.round, self.view.status.library.ids
        results: list[Result] = []
        for place, truth in zip(issued.endpoints, truths, strict=True):
            assay = VirtualAssay(np.array([truth[name] for name in ids]), NOISE, 7 + place)
            results += assay.measure(issued, self.view.status.endpoints[place], ids)
        rank = {ids[item.compound]: n for n, item in enumerate(issued.items)}
        return sorted(results, key=lambda result: rank[result.compound])

    def still_missing(self, truth: Truth) -> list[Result]:
        """Results for what the open round still waits for."""
        ids = self.view.status.library.ids
        left = {
            ids[item.compound]: item.replicates - back
            for item, back in zip(self.round.items, self.round.returned, strict=True)
        }
        kept = []
        for result in reversed(self.results(truth)):
            if left.get(result.compound, 0) > 0:
                left[result.compound] -= 1
                kept.append(result)
        return kept[::-1]


def _settled(canvas: Canvas) -> bool:
    """Whether a plot is drawn, or not to be seen: scrolled out of sight, too."""
    return not canvas.isVisible() or canvas.visibleRegion().isEmpty() or canvas.shown
