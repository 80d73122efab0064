"""Windows of their own that are no larger than the screen they open on."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

__all__ = ["resize_within_screen"]

EDGE = 60
"""Pixels of the screen that a window's title and frame take."""


def resize_within_screen(window: QWidget, width: int, height: int) -> None:
    """Make a window so large, or as large as its screen has room for: large text asks for more than that."""
    there = window.screen().availableSize()
    window.resize(min(width, there.width()), min(height, there.height() - EDGE))
