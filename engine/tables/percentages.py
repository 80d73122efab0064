"""Numbers that a workbook shows as per cent: 0.25 in the file, 25 % for whoever looks at it."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

from .styles import cells_with, styles_of
from .zipped import Archive

__all__ = ["as_shown"]

_BUILT_IN = frozenset(("9", "10"))
"""The formats 0% and 0.00% (ECMA-376, part 1, 18.8.30)."""
_NOT_SHOWN = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_NAMED = 5


def as_shown(lines: list[list[Any]], archive: Archive, place: int, warnings: list[str]) -> None:
    """Multiply the numbers of the sheet at ``place`` that are shown as per cent by 100, and say so.

    Nobody who sees 25 % in a column of inhibitions means a quarter of one per cent. Of xlsx and xlsm; the older and
    the open formats are read as they are stored.
    """
    changed: dict[str, int] = {}
    for letters, row, column in cells_with(archive, place, _styles(archive)):
        if row >= len(lines) or column >= len(lines[row]) or type(lines[row][column]) not in (int, float):
            continue
        # As decimals, so that 0.07 becomes 7 and not 7.000000000000001.
        lines[row][column] = float(Decimal(repr(lines[row][column])) * 100)
        changed[letters] = changed.get(letters, 0) + 1
    if changed:
        columns, count = list(changed), sum(changed.values())
        more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
        warnings.append(
            f"Column{'s' if len(columns) > 1 else ''} {', '.join(columns[:_NAMED])}{more} of the sheet: "
            f"{count:,} {'numbers are' if count > 1 else 'number is'} shown as per cent and read as shown, 25 for 25%."
        )


def _styles(archive: Archive) -> list[int]:
    """Return the numbers of the styles of cells that show per cent."""
    root = styles_of(archive)
    if root is None:
        return []
    own = {
        node.get("numFmtId", "")
        for node in root.iter()
        if node.tag.endswith("}numFmt") and "%" in _NOT_SHOWN.sub("", node.get("formatCode", ""))
    }
    formats = next((node for node in root.iter() if node.tag.endswith("}cellXfs")), None)
    listed = [] if formats is None else list(formats)
    return [number for number, node in enumerate(listed) if node.get("numFmtId", "0") in _BUILT_IN | own]
