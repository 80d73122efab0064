"""How long work tells how far it is, and how it is stopped."""

from __future__ import annotations

import time
from typing import Protocol


class Cancelled(Exception):
    """The user stopped the work; raised by ``report``, so that nothing after it happens."""


class Report(Protocol):
    """What long work calls with the fraction done (0 to 1) and a few words; it may raise Cancelled."""

    def __call__(self, fraction: float, message: str) -> None:
        """Take note of how far the work is."""


def silent(fraction: float, message: str) -> None:
    """Nothing: the report for work nobody watches."""


_EVERY = 0.05
"""Seconds between two messages of progress."""


def throttled(tell: Report) -> Report:
    """Return a report that passes on what it is told at most every twentieth of a second."""
    last = 0.0

    def report(fraction: float, message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _EVERY:
            last = now
            tell(fraction, message)

    return report


def part_of(report: Report, start: float, end: float) -> Report:
    """Return the report for a part of the work: from ``start`` to ``end`` of the whole."""

    def told(fraction: float, message: str) -> None:
        report(start + (end - start) * fraction, message)

    return told
