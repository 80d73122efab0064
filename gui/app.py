"""The Qt application: look, errors of ours, and the first window."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from .help.asking import listen
from .preloading import preload_soon
from .reporting import Reporter
from .settings import Settings
from .theme import RESOURCES, theme
from .window.main_window import MainWindow
from .window.troubles import tell
from .window.windows import main_windows

__all__ = ["Program", "dress", "make_window", "open_handed", "run"]


class Program(QApplication):
    """The application on a Mac, which is told of files by events and not by words, and before there is a window."""

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
    """Open what the system handed over, in a window that is still there."""
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
    """A window that opens a campaign (or a table) as soon as it is shown."""
    if reporter is None:
        reporter = Reporter(settings.data_folder)
    window = MainWindow(settings, reporter)
    reporter.told = tell
    if practice:
        QTimer.singleShot(0, window, window.open_practice)
    elif file is not None:
        QTimer.singleShot(0, window, lambda: window.open_path(file))
    QTimer.singleShot(0, window, window.troubles.offer)
    return window


def run(arguments: Sequence[str], file: Path | None, *, practice: bool) -> int:
    """The exit code of the event loop, after the last window was closed."""
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
