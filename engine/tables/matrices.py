"""Tables of two sites, one down and one across, as a list with a row for each pair."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from . import headers
from .raw import fold
from .values import is_missing

__all__ = ["paired"]

_CORNER = re.compile(r"(?P<down>[^\\/|×]+?)\s*[\\/|×]\s*(?P<across>[^\\/|×]+)")
_ABOVE = 5
"""Lines above the corner, which may hold a title."""


def paired(
    lines: Sequence[Sequence[Any]], numbers: Sequence[int], show: Callable[[Any], str]
) -> tuple[list[list[str]], list[int], str] | None:
    r"""Return pairs of a table whose corner names two sites (``R1 \ R2``), one line each, and the row each stands in.

    With what is said about it. The values are called as the line above the corner says, where there is one. None where
    no such table begins in the first lines.
    """
    for at, line in enumerate(lines[: _ABOVE + 1]):
        corner = _CORNER.fullmatch(show(line[0]).strip()) if line else None
        if corner is None:
            continue
        down, across = corner["down"].strip(), corner["across"].strip()
        if headers.SITE.fullmatch(fold(down)) is None or headers.SITE.fullmatch(fold(across)) is None:
            return None
        labels = [show(cell).strip() for cell in line]
        above = [show(cell).strip() for one in lines[:at] for cell in one if show(cell).strip()]
        name = above[-1] if above else "Value"
        out, rows = [[down, across, name]], [numbers[at]]
        for below, row in zip(lines[at + 1 :], numbers[at + 1 :], strict=True):
            texts = [show(cell).strip() for cell in below]
            if not texts or not texts[0] or not any(texts[1:]):
                continue
            for label, text in zip(labels[1:], texts[1:], strict=False):
                if label and not is_missing(text):
                    out.append([texts[0], label, text])
                    rows.append(row)
        said = f"{down} stands in the rows and {across} in the columns: {len(out) - 1} pairs have a value ({name})."
        return (out, rows, said) if len(out) > 2 else None
    return None
