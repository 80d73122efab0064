"""Marks beside values that say they are not to be used: a column Excluded, or the pass and fail of a quality check."""

from __future__ import annotations

from collections.abc import Sequence

from .raw import RawTable, fold
from .values import YES

__all__ = ["is_marked", "quality_column"]

_FAILED = frozenset(
    {"fail", "failed", "invalid", "reject", "rejected", "bad", "not ok", "nok", "outlier", "exclude", "ungültig"}
    | {"invalidated", "not validated", "knocked out"}
)
_PASSED = frozenset(
    {"", "-", "pass", "passed", "ok", "valid", "good", "accept", "accepted", "approved", "gültig", "validated"}
)
_CALLED = (
    *("qc", "qc flag", "qc status", "qc result", "qc pass", "qc pass/fail", "quality", "pass/fail", "validity"),
    *("validated", "validation", "validation status"),
    *("curve status", "fit status", "fit quality", "result status", "data status", "status", "flag"),
)
"""What columns of such a check are called, folded, the surest name first."""


def is_marked(text: str) -> bool:
    """Whether a cell says that the value beside it is not to be used."""
    word = text.strip().casefold()
    return word in YES or word in _FAILED


def quality_column(raw: RawTable, columns: Sequence[str]) -> str | None:
    """Return column of ``columns`` that says pass and fail of the rows and nothing else, where one at least failed."""
    for name in _CALLED:
        for column in columns:
            if fold(column) == name:
                words = {text.strip().casefold() for text in raw.column(column)}
                if words <= _PASSED | _FAILED and not words.isdisjoint(_FAILED):
                    return column
    return None
