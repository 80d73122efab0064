"""Columns that are called after an activity and hold no number: what stands in them, so that none is passed over."""

from __future__ import annotations

from collections.abc import Sequence

from . import headers
from .classes import about_classes, classes_of
from .raw import RawTable, fold, rows_named
from .values import is_missing, parse_value

__all__ = ["about_unread"]

_SAMPLED = 500


def about_unread(raw: RawTable, columns: Sequence[str]) -> dict[str, str]:
    """Return what to say of each of the columns that should hold values and holds classes.

    Or nothing that can be read.
    """
    said = {}
    for column in columns:
        texts = raw.column(column)
        classes = classes_of(column, texts)
        if classes:
            said[column] = about_classes(column, classes)
        elif headers.looks_like_activity(column) or fold(column) in headers.VALUE:
            if any(not is_missing(text) and not _why(text, raw.decimal) for text in texts[:_SAMPLED]):
                continue
            found = [(row, why) for row, text in zip(raw.rows, texts, strict=True) if (why := _why(text, raw.decimal))]
            filled = sum(not is_missing(text) for text in texts)
            if filled and len(found) == filled:
                rows = rows_named([row for row, _ in found]).lower()
                said[column] = f"Column {column} is not read as values ({rows}): {found[0][1]}."
    return said


def _why(text: str, decimal: str) -> str:
    """Why a cell is no value; "" for one that is, or has none."""
    if is_missing(text):
        return ""
    try:
        parse_value(text, decimal)
    except ValueError as error:
        return str(error)
    return ""
