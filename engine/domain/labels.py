"""Substituent labels: opaque texts, of which only the spellings of hydrogen are known to be one."""

from __future__ import annotations

import re

_ATTACHMENT = r"(?:\*|\[\*(?::\d+)?\]|\[\d+\*\]|\[R\d*\])"
_HYDROGEN = re.compile(
    rf"(?:-?H|[Hh]ydrogen|\[H\]|\[H\]-?{_ATTACHMENT}|{_ATTACHMENT}-?\[H\])(?:\s*\|[^|]*\|)?"  # |$_R1;$| of a CXSMILES
)


def is_hydrogen(label: str) -> bool:
    """Whether a label is hydrogen: ``H``, ``-H``, ``hydrogen``, ``[H][*:1]``, ``[H]*``, ``*[H]``, ``[R1][H]``."""
    return _HYDROGEN.fullmatch(label) is not None


def label_text(label: str) -> str:
    """Return what to show for a substituent: ``H`` for any spelling of hydrogen, else the label as the table has it."""
    return "H" if is_hydrogen(label) else label
