"""How numbers, lists and counts are written for people, and values by name for JSON documents."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

_FEWEST = 0.05
"""Expected errors below which their number says no more than that there are hardly any."""


def listed(texts: Collection[str], most: int = 5, sep: str = ", ") -> str:
    """Return the first few of a list, and how many more there are: ``A, B and 1,200 more``."""
    more = f"{'' if sep == ', ' else sep.strip()} and {len(texts) - most:,} more" if len(texts) > most else ""
    return sep.join(islice(texts, most)) + more


def roughly(expected: float) -> str:
    """Return an expected number of compounds with the digits that mean something: ``about 3.2``."""
    digits = f"{expected:.1f}" if expected < 9.95 else f"{expected:.2g}" if expected < 99.5 else f"{expected:,.0f}"
    return f"about {digits}" if expected >= _FEWEST else f"fewer than {_FEWEST:g}"


def tally(counts: Mapping[str, int]) -> str:
    """Return ``12 in, 3 undecided, 85 out``; compounds that cannot be estimated are named where there are some."""
    lost = f", {counts['not_estimable']:,} not estimable" if counts.get("not_estimable") else ""
    return f"{counts['in']:,} in, {counts['undecided']:,} undecided, {counts['out']:,} out{lost}"


def interval_name(kind: str) -> str:
    """Return what stands over the intervals of estimates, by the kind of guarantee: calibrated, proven or none."""
    return "95 % interval" if kind == "calibrated" else "Bounds"


def intervals_are(kind: str, *, decided: bool) -> str:
    """Return what the intervals beside estimates are, as the end of a sentence.

    ``kind``: of the guarantee; ``decided``: whether a decision was made, which bounds of a proven strategy rest on.
    """
    if kind == "calibrated":
        return "95 % intervals of the series model"
    return "the bounds that decisions rest on" if decided else "95 % posterior intervals, as nothing is decided yet"


def percent(share: float, digits: int | None = None) -> str:
    """``58 %`` for 0.583: whole per cent; with `digits` that many significant ones, without trailing zeros."""
    return f"{100.0 * share:.0f} %" if digits is None else f"{100.0 * share:.{digits}g} %"


def probability(value: float) -> str:
    """``0.41`` for the probability of a compound; never a bare 0 or 1, because it is none."""
    return "> 0.99" if value > 0.995 else "< 0.01" if value < 0.005 else f"{value:.2f}"


def signed(value: float, digits: int = 2) -> str:
    """Return a difference with its sign.

    ``+0.40``, a real minus in ``−0.07``, and no sign where all digits are zero.
    """
    text = f"{abs(value):.{digits}f}"
    if not float(text):
        return text
    return f"{'+' if value > 0 else chr(0x2212)}{text}"


def number(value: float) -> str:
    """Return a number as people write it: no trailing zeros, no exponent for everyday sizes."""
    return f"{value:.10g}"


def many(n: int, noun: str, more: str | None = None) -> str:
    """Return a count with its noun: ``1 result``, ``1,024 results``.

    ``more``: the noun of several where no s makes it.
    """
    return f"{n:,} {noun if n == 1 else more or noun + 's'}"


def joined(texts: Sequence[str]) -> str:
    """Return ``A``, ``A and B``, ``A, B and C``."""
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def odds(delta: float) -> str:
    """Return a probability in words: ``1 time in 20``."""
    one_in = 1.0 / delta
    return f"1 time in {one_in:.0f}" if abs(one_in - round(one_in)) < 1e-6 else f"{number(100 * delta)} times in 100"


def pick(thing: object, names: str) -> dict[str, Any]:
    """Return attributes of a thing, None for each of None; ``names`` have blanks between, ``key=name`` renames one."""
    pairs = (name.partition("=") for name in names.split())
    return {key: None if thing is None else getattr(thing, name or key) for key, _, name in pairs}


def in_letters(place: int) -> str:
    """Return the letters of a row of a plate or a column of a sheet, counted from 0: A to Z, then AA, AB, ..."""
    return chr(ord("A") + place) if place < 26 else in_letters(place // 26 - 1) + chr(ord("A") + place % 26)
