"""Texts with words of any length in a narrow panel: where a line may end within one, and how it is copied whole."""

from __future__ import annotations

import re

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QMenu

__all__ = ["breakable", "copied", "whole"]

LONGEST = 18
"""Letters of a word that is not broken."""
_BREAK = "\u200b"
_LONG = re.compile(rf"\S{{{LONGEST + 1},}}")


def breakable(text: str) -> str:
    """The text with places at which lines may end in its long words: ids, SMILES."""
    return _LONG.sub(
        lambda found: _BREAK.join(
            found[0][start : start + LONGEST // 2] for start in range(0, len(found[0]), LONGEST // 2)
        ),
        text,
    )


def whole(text: str) -> str:
    """The text as it was before it was made breakable."""
    return text.replace(_BREAK, "")


def copied(label: QLabel) -> None:
    """The text of a label can be selected, and copied as it was by its menu."""
    label.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    label.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
    label.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)

    def copy() -> None:
        QGuiApplication.clipboard().setText(whole(label.selectedText() or label.text()).strip())

    def menu(at: QPoint) -> None:
        made = QMenu(label)
        made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        made.addAction("&Copy", copy)
        made.popup(label.mapToGlobal(at))

    label.customContextMenuRequested.connect(menu)
