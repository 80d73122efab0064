"""What is loaded while nobody waits for it: pictures, wizards and exports open at once when they are first wanted."""

from __future__ import annotations

import importlib
import sys

from PySide6.QtCore import QRunnable, QTimer
from PySide6.QtWidgets import QWidget

from .long_lived import set_aside
from .widgets.structures import drawing_pool

__all__ = ["MODULES", "TURN", "preload", "preload_soon"]

TURN = 0.001
"""Seconds after which a busy thread lets the window's go on; Python's own 0.005 are felt where there are many turns."""
AFTER = 400
"""Milliseconds after the window is there."""
LAST = -1
"""Loaded when nothing has to be drawn."""
MODULES = (
    "assaypilot.engine.campaign.campaign",
    "assaypilot.gui.dialogs.new_campaign",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "assaypilot.engine.figures.ranked",
    "assaypilot.engine.figures.rounds",
    "PySide6.QtSvg",
    "rdkit.Chem",
    "assaypilot.engine.figures.structures",
    "assaypilot.engine.export.contents",
    "assaypilot.engine.export.structure_activity",
    "assaypilot.gui.dialogs.reasons",
)
"""In the order in which they may be wanted."""


class _Loading(QRunnable):
    """One module."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def run(self) -> None:
        """Load it. What cannot be loaded is said when it is wanted."""
        try:
            importlib.import_module(self._name)
        except ImportError:
            return


class _SettingAside(QRunnable):
    """What was loaded stays."""

    def run(self) -> None:
        """Spare the collector looking through it."""
        set_aside()


def preload() -> None:
    """Have the thread that draws load what is not there yet, when it has nothing to draw."""
    for name in MODULES:
        if name not in sys.modules:
            drawing_pool().start(_Loading(name), LAST)
    drawing_pool().start(_SettingAside(), LAST - 1)


def preload_soon(window: QWidget) -> None:
    """Begin to load once a window was seen."""
    sys.setswitchinterval(TURN)
    QTimer.singleShot(AFTER, window, preload)
