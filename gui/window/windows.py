"""The program's windows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from ..living import nothing_goes

if TYPE_CHECKING:
    from .main_window import MainWindow

__all__ = ["main_windows"]


def main_windows() -> list[MainWindow]:
    """The program's windows, those that are hidden or closing among them."""
    from .main_window import MainWindow

    with nothing_goes():
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow)]
