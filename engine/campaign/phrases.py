"""Numbers, counts and lists as people write them."""

from __future__ import annotations

from collections.abc import Sequence

from ..text.statements import listed as names

__all__ = ["joined", "many", "names", "number", "odds"]


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
