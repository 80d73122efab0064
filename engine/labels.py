"""Substituent labels: opaque texts, of which only the spellings of hydrogen are known to be one."""

from __future__ import annotations

import re

__all__ = ["is_hydrogen", "label_text"]

_ATTACHMENT = r"(?:\*|\[\*(?::\d+)?\]|\[\d+\*\])"
_HYDROGEN = re.compile(rf"H|\[H\]|\[H\]-?{_ATTACHMENT}|{_ATTACHMENT}-?\[H\]")


def is_hydrogen(label: str) -> bool:
    """Whether a label is hydrogen: ``H``, ``[H][*:1]``, ``[H]*``, ``*[H]``."""
    return _HYDROGEN.fullmatch(label) is not None


def label_text(label: str) -> str:
    """What to show for a substituent: ``H`` for any spelling of hydrogen, else the label as the table has it."""
    return "H" if is_hydrogen(label) else label
