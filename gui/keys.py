"""Keys by the names that the keyboard at hand has for them."""

from __future__ import annotations

import re
import sys

from PySide6.QtGui import QKeySequence

__all__ = ["as_here", "keys"]

MAC = sys.platform == "darwin"

_ON_A_MAC = {
    " On a Mac, Cmd stands for Ctrl.": "",
    "F10 or Alt": "Ctrl+F2",
    "Ctrl+": "Cmd+",
    "Alt+": "Option+",
}
_SAID = re.compile("|".join(map(re.escape, _ON_A_MAC)))


def as_here(text: str) -> str:
    """A text with the keys it names as they are called here: on a Mac Cmd for Ctrl, and Option for Alt."""
    return _SAID.sub(lambda found: _ON_A_MAC[found[0]], text) if MAC else text


def keys(*wanted: QKeySequence.StandardKey | str) -> list[QKeySequence]:
    """The first key of each, each key once: one that is named twice would be ambiguous, and do nothing."""
    return [QKeySequence(key) for key in dict.fromkeys(QKeySequence(key).toString() for key in wanted) if key]
