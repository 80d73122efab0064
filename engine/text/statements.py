"""What the command line, the exports and the window say alike of a campaign."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice

_FEWEST = 0.05
"""Expected errors below which their number says no more than that there are hardly any."""


def listed(texts: Collection[str], most: int = 5, sep: str = ", ") -> str:
    """Return the first few of a list, and how many more there are: ``A, B and 1,200 more``."""
    more = f"{'' if sep == ', ' else sep.strip()} and {len(texts) - most:,} more" if len(texts) > most else ""
    return sep.join(islice(texts, most)) + more


def roughly(expected: float) -> str:
    """Return an expected number of compounds with the digits that mean something: ``about 3.2``."""
    digits = f"{expected:.1f}" if expected < 1.0 else f"{expected:.2g}" if expected < 99.5 else f"{expected:,.0f}"
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
