"""Ids and cells that a spreadsheet or a habit of writing has changed: dates, powers of ten, marks for the row above."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["DITTO", "about_ids", "is_ditto", "looks_changed", "looks_filled_down"]

_MONTH = r"(?:jan|feb|mar|mär|apr|may|mai|jun|jul|aug|sep|sept|oct|okt|nov|dec|dez)"
_DATE = re.compile(
    rf"\d{{1,2}}[-. ]{_MONTH}\.?(?:[-. ]\d{{2,4}})?|{_MONTH}[-. ]\d{{2,4}}|"
    r"\d{4}-\d{2}-\d{2}(?: \d{2}:\d{2}:\d{2})?|\d{1,2}([./])\d{1,2}\1(?:\d{4}|\d{2})",
    re.I,
)
_POWER = re.compile(r"\d(?:[.,]\d+)?E[+-]?\d{1,3}", re.I)
_DITTO = re.compile(r"[\"″〃”“]{1,2}|''|,,|do\.|dto\.?|ditto|idem|same(?: as above)?|s\. ?o\.|siehe oben", re.I)
_SHARE = 0.9
DITTO = "a mark for the row above is no substituent; write it out"


def is_ditto(text: str) -> bool:
    """Whether a cell only says that it is as the one above it."""
    return _DITTO.fullmatch(text.strip()) is not None


def looks_filled_down(texts: Sequence[str]) -> bool:
    """Whether each text of a column seems to hold for the empty cells below it: it begins a block and never returns."""
    filled = [text for text in texts if text]
    blocks = len(filled) > 1 and len(set(filled)) == len(filled) and bool(texts[0])
    return blocks and len(texts) - len(filled) >= len(filled)


def looks_changed(text: str) -> str:
    """Return ``a date`` or ``a power of ten`` for an id that a spreadsheet may have made so; "" for any other."""
    if _DATE.fullmatch(text.strip()):
        return "a date"
    return "a power of ten" if _POWER.fullmatch(text.strip()) else ""


def about_ids(ids: Sequence[str]) -> str | None:
    """Return a question where some ids look like dates or powers of ten: 1-Mar for MAR-1, 1E+05 for 1E5.

    None without.
    """
    found = [name for name in ids if looks_changed(name)]
    if not found or (len(found) >= _SHARE * len(ids) and len(set(map(len, found))) == 1 and found[0][:4].isdigit()):
        return None  # ids may be dates, all of them in one form
    what = "dates" if looks_changed(found[0]) == "a date" else "powers of ten"
    more = f", and {len(found) - 1:,} more" if len(found) > 1 else ""
    return (
        f"Ids look like {what} ({found[0]}{more}), which spreadsheets make of ids such as MAR-1 or 1E5. Are they "
        "right? If not, format their column as text and enter them again."
    )
