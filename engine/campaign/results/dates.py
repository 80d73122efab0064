"""Days as tables write them: a spreadsheet saves the same day in another spelling."""

from __future__ import annotations

import datetime
import functools
import re

__all__ = ["days"]

_YEAR_FIRST = re.compile(r"(\d{4})[-./](\d{1,2})[-./](\d{1,2})")
_NUMBERS = re.compile(r"(\d{1,2})([-./])(\d{1,2})\2(\d{4}|\d{2})")
_DAY_AND_NAME = re.compile(r"(\d{1,2})[-./ ]{1,2}([^\W\d_]{3,})[-./, ]{1,2}(\d{4}|\d{2})")
_NAME_AND_DAY = re.compile(r"([^\W\d_]{3,})[. ]{1,2}(\d{1,2}),? (\d{4}|\d{2})")
_TIME = re.compile(r"[T ]+\d{1,2}:\d\d.*")
_SERIAL = re.compile(r"[34]\d{4}")
_FIRST_DAY = datetime.date(1899, 12, 30)
"""Day 0 of spreadsheets."""
_MONTHS = (
    ("jan",), ("feb", "fév"), ("mar", "mär"), ("apr", "avr"), ("may", "mai"), ("jun", "juin"), ("jul", "juil"),
    ("aug", "aoû"), ("sep",), ("oct", "okt"), ("nov",), ("dec", "dez", "déc"),
)  # fmt: skip


@functools.lru_cache(maxsize=1024)
def days(text: str) -> frozenset[str]:
    """Return the days a text may stand for, as 2026-03-05: two for 3/5/2026; none when it is no date.

    The time of day is left aside. Year of two digits: 1970 to 2069. A whole number from 30000 to 49999 is the day a
    spreadsheet counts.
    """
    bare = _TIME.sub("", text.strip())
    if match := _YEAR_FIRST.fullmatch(bare):
        found = [_day(match[1], int(match[2]), match[3])]
    elif match := _NUMBERS.fullmatch(bare):
        found = [_day(match[4], int(match[3]), match[1])]
        if match[2] != ".":  # with points the day stands first everywhere
            found.append(_day(match[4], int(match[1]), match[3]))
    elif match := _DAY_AND_NAME.fullmatch(bare):
        found = [_day(match[3], _month(match[2]), match[1])]
    elif match := _NAME_AND_DAY.fullmatch(bare):
        found = [_day(match[3], _month(match[1]), match[2])]
    elif _SERIAL.fullmatch(bare):
        found = [(_FIRST_DAY + datetime.timedelta(days=int(bare))).isoformat()]
    else:
        found = []
    return frozenset(day for day in found if day)


def _month(name: str) -> int:
    """Its number from its first letters; 0 when it is no month."""
    folded = name.casefold()
    # "juin" and "juil" begin alike, so the longest beginning decides.
    fits = [(len(start), k) for k, starts in enumerate(_MONTHS, 1) for start in starts if folded.startswith(start)]
    return max(fits)[1] if fits else 0


def _day(year: str, month: int, day: str) -> str:
    """Return the day, or "" when there is none."""
    full = int(year) if len(year) == 4 else int(year) + (1900 if int(year) >= 70 else 2000)
    try:
        return datetime.date(full, month, int(day)).isoformat()
    except ValueError:
        return ""
