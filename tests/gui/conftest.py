"""Windows for tests: their own settings, closed again with everything they started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from assaypilot.gui.app import dress, make_window
from assaypilot.gui.main_window import MainWindow
from assaypilot.gui.settings import Settings
from tests.gui.helpers import idle, quick_campaign, until


@pytest.fixture
def settings(tmp_path: Path, qapp: QApplication) -> Settings:
    found = Settings(tmp_path / "settings" / "settings.ini")
    found.folder = tmp_path
    dress(qapp, found)
    return found


@pytest.fixture
def open_window(qtbot: QtBot, settings: Settings) -> Iterator[Callable[..., MainWindow]]:
    made: list[MainWindow] = []

    def make(file: Path | None = None, *, practice: bool = False) -> MainWindow:
        window = make_window(settings, file, practice=practice)
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        qtbot.waitExposed(window)
        return window

    yield make
    for window in made:
        idle(qtbot, window)
        window.close()


@pytest.fixture
def window(open_window: Callable[..., MainWindow]) -> MainWindow:
    return open_window()


@pytest.fixture
def campaign(qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path) -> MainWindow:
    """A window with a small campaign."""
    window = open_window(quick_campaign(tmp_path))
    until(qtbot, lambda: window.session.view is not None)
    idle(qtbot, window)
    return window
