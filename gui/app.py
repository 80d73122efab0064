"""The Qt application: look, errors of ours, and the first window."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from .help.help_window import listen
from .resources.theme import RESOURCES, theme, undressed
from .runtime.error_reports import Reporter, announce
from .runtime.gc_policy import set_aside
from .runtime.settings import Settings
from .structures.drawing import drawing_pool
from .window.main_window import MainWindow
from .window.opening import main_windows


class Program(QApplication):
    """The application on a Mac, which receives files as events, perhaps before there is a window."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(list(arguments))
        self._waiting: list[Path] = []
        self._opener: Callable[[Path], None] | None = None

    def event(self, event: QEvent) -> bool:
        """Whether the event is dealt with: a file is opened."""
        if isinstance(event, QFileOpenEvent):
            path = Path(event.file())
            if self._opener is None:
                self._waiting.append(path)
            else:
                self._opener(path)
            return True
        return super().event(event)

    def open_with(self, opener: Callable[[Path], None]) -> None:
        """From now on files are handed to ``opener``, those that came before it first."""
        self._opener = opener
        while self._waiting:
            opener(self._waiting.pop(0))


def open_handed(window: MainWindow, path: Path) -> None:
    """Open the file from the system, in an existing window."""
    taking = window
    if not isValid(window) or not window.isVisible():  # it was closed, and another one goes on
        taking = next((one for one in main_windows() if one.isVisible()), taking)
    taking.open_path(path)


def dress(application: QApplication, settings: Settings) -> None:
    """Name the application and give it its look."""
    application.setApplicationName("AssayPilot")
    application.setApplicationDisplayName("AssayPilot")
    application.setOrganizationName("AssayPilot")
    application.setDesktopFileName("assaypilot")
    application.setWindowIcon(QIcon(str(RESOURCES / "icon.svg")))
    theme().attach(application, settings.theme, settings.text_size)
    listen(application)
    settings.apply_author()


def make_window(
    settings: Settings, file: Path | None = None, *, practice: bool = False, reporter: Reporter | None = None
) -> MainWindow:
    """Return a window that opens a campaign (or a table) as soon as it is shown."""
    if reporter is None:
        reporter = Reporter(settings.data_folder)
    with undressed():
        window = MainWindow(settings, reporter)
    reporter.on_report = announce
    if practice:
        QTimer.singleShot(0, window, window.opening.practice)
    elif file is not None:
        QTimer.singleShot(0, window, lambda: window.open_path(file))
    QTimer.singleShot(0, window, window.error_reports.offer)
    return window


def run(arguments: Sequence[str], file: Path | None, *, practice: bool) -> int:
    """Return the exit code of the event loop, after the last window was closed."""
    application = Program(arguments) if sys.platform == "darwin" else QApplication(list(arguments))
    settings = Settings()
    dress(application, settings)
    reporter = Reporter(settings.data_folder)
    reporter.begin()
    sys.excepthook = reporter.hook
    application.aboutToQuit.connect(reporter.watch.end)
    window = make_window(settings, file, practice=practice, reporter=reporter)
    window.show()
    if isinstance(application, Program):
        application.open_with(partial(open_handed, window))
    preload_soon(window)
    return application.exec()


TURN = 0.0002
"""Seconds after which a busy thread lets the window's go on; painting a table takes some hundred turns."""
AFTER = 400
"""Milliseconds after the window is there."""
LAST = -1
"""Loaded when nothing has to be drawn."""
MODULES = (
    "assaypilot.engine.campaign.campaign",
    "assaypilot.gui.new_campaign.dialog",
    "assaypilot.gui.new_campaign.check_pane",
    "assaypilot.gui.new_campaign.goal_pane",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "assaypilot.engine.figures.ranked",
    "assaypilot.engine.figures.rounds",
    "PySide6.QtSvg",
    "rdkit.Chem.Draw.rdMolDraw2D",
    "assaypilot.engine.figures.aligned",
    "assaypilot.engine.export.contents",
    "assaypilot.engine.export.pictures",
    "assaypilot.gui.round.reason_dialog",
)
"""In the order in which they may be needed."""


def _load(name: str) -> None:
    """Load a module; an error appears when it is needed."""
    with suppress(ImportError):
        importlib.import_module(name)


def preload() -> None:
    """Let the idle drawing thread load the modules that are still missing."""
    for name in MODULES:
        if name not in sys.modules:
            drawing_pool().start(partial(_load, name), LAST)
    drawing_pool().start(set_aside, LAST - 1)  # spare the collector looking through what was loaded


def preload_soon(window: QWidget) -> None:
    """Begin to load once a window was seen."""
    sys.setswitchinterval(TURN)
    QTimer.singleShot(AFTER, window, preload)
