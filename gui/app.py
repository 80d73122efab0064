"""The Qt application: look, errors of ours, and the first window."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QFileOpenEvent, QIcon
from PySide6.QtWidgets import QApplication

from assaypilot.gui.help.asking import listen
from assaypilot.gui.preloading import preload_soon
from assaypilot.gui.reporting import Reporter
from assaypilot.gui.settings import Settings
from assaypilot.gui.theme import RESOURCES, theme
from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.troubles import tell
from assaypilot.gui.window.windows import main_windows

__all__ = ["HandedFiles", "dress", "make_window", "run"]


class HandedFiles(QObject):
    """Opens what a Mac hands to the program, which is told of files by events and not by words."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether the event is dealt with: it was a file."""
        if isinstance(event, QFileOpenEvent):
            taking = self._window
            if not taking.isVisible():  # it was closed, and another one goes on
                taking = next((one for one in main_windows() if one.isVisible()), taking)
            taking.open_path(Path(event.file()))
            return True
        return super().eventFilter(watched, event)


def dress(application: QApplication, settings: Settings) -> None:
    """Nothing; names the application and gives it its look."""
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
    application = QApplication(list(arguments))
    settings = Settings()
    dress(application, settings)
    reporter = Reporter(settings.data_folder)
    reporter.begin()
    sys.excepthook = reporter.hook
    application.aboutToQuit.connect(reporter.watch.end)
    window = make_window(settings, file, practice=practice, reporter=reporter)
    if sys.platform == "darwin":  # nowhere else: it would see every event of the program
        application.installEventFilter(HandedFiles(window))
    window.show()
    preload_soon(window)
    return application.exec()
