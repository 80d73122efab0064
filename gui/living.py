"""The windows there are, and a rest of Python's collector while Qt goes through its lists of widgets."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

if TYPE_CHECKING:
    from assaypilot.gui.main_window import MainWindow

__all__ = ["main_windows", "nothing_goes"]


@contextmanager
def nothing_goes() -> Iterator[None]:
    """A context in which no widget is collected that Python alone knows of.

    Where Qt goes through a list of widgets and Python objects are made meanwhile, what Python threw away then, a part
    of a window closed long ago, would still be in that list: the program would end.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def main_windows() -> list[MainWindow]:
    """The program's windows, those that are hidden or closing among them."""
    from assaypilot.gui.main_window import MainWindow

    with nothing_goes():
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
