"""Results known only as a bound, like ``>10000``: what they say to a decision, and which decisions took them in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.difference import difference, parts
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.measurements import Measurement, Pooled

if TYPE_CHECKING:
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["Span", "left_out", "spanned", "taken", "what_it_does", "what_one_does", "what_they_would_do"]

Floats = NDArray[np.float64]


def what_it_does(*, taken_in: bool, holds: bool = True) -> str:
    """What a value known only as a bound does to a campaign, as the rest of a sentence about such values.

    ``taken_in``: whether decisions take such values in; ``holds``: whether anything is guaranteed.
    """
    if taken_in:
        return (
            "left out of estimates; decisions count it as the worst that could be beyond the bound, which takes more "
            "measurements (where the curve gives a fitted number, enter that)"
        )
    lost = "" if holds else ", and because of them nothing is guaranteed any more"
    return f"kept and shown, not used in estimates{lost}"


def what_they_would_do(n: int, *, taken_in: bool) -> str:
    """The same before so many of them are kept, as a sentence; empty for none."""
    if not n:
        return ""
    are = f"{n:,} value{' is' if n == 1 else 's are'} known only as {'a bound' if n == 1 else 'bounds'}"
    return _told(are, taken_in=taken_in)


def what_one_does(value: str, *, taken_in: bool) -> str:
    """The same of one ``value`` that is there, in its own words (``>10000 nM``)."""
    return _told(f"{value} is known only as a bound", taken_in=taken_in)


def _told(which: str, *, taken_in: bool) -> str:
    if taken_in:
        return f"{which}: {what_it_does(taken_in=True)}."
    return (
        f"{which}: kept and shown, not used. If it was asked for, nothing is guaranteed any more, because it is left "
        "out for its size; where the curve gives a fitted number, enter that."
    )


@dataclass(frozen=True, slots=True)
class Span:
    """Counts and means of an endpoint per arm, ``(n_arms,)`` each, model scale, and where the means truly lie."""

    counts: Floats
    means: Floats
    """Of a value known only as a bound the bound counts."""
    low: Floats
    """At least; the mean itself where every value is exact."""
    high: Floats

    @property
    def censored(self) -> int:
        """Arms whose mean is known only as lying somewhere."""
        return int(np.count_nonzero((self.counts > 0) & ((self.low < self.means) | (self.high > self.means))))


def spanned(
    endpoints: Sequence[Endpoint], position: int, filling: Sequence[tuple[Measurement, int]], arms: NDArray[np.intp]
) -> Span:
    """What measurements, each with how many determinations count, say of an endpoint; ``arms`` of every compound.

    Of a difference each end comes from the ends of its parts.
    """
    own = parts(endpoints, position)
    n_arms = int(arms.max(initial=-1)) + 1
    if len(own) == 1:
        return _measured([(m, n) for m, n in filling if m.endpoint == position], arms, n_arms)
    first, second = (spanned(endpoints, part, filling, arms) for part in own)
    sds = (endpoints[own[0]].noise_sd, endpoints[own[1]].noise_sd)
    whole = difference(Pooled(first.counts, first.means), Pooled(second.counts, second.means), sds)
    both = whole.counts > 0
    low, high = (np.zeros(n_arms) for _ in range(2))
    low[both], high[both] = (first.low[both] - second.high[both]), (first.high[both] - second.low[both])
    return Span(whole.counts, whole.means, low, high)


def _measured(own: Sequence[tuple[Measurement, int]], arms: NDArray[np.intp], n_arms: int) -> Span:
    counts, sums = np.zeros(n_arms), np.zeros((3, n_arms))
    for m, n in own:
        low = -np.inf if m.relation == "<" else m.value
        high = np.inf if m.relation == ">" else m.value
        counts[arms[m.compound]] += n
        sums[:, arms[m.compound]] += n * np.array([m.value, low, high])
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    # Exact where nothing is open, so that a mean is not taken for an interval for rounding.
    return Span(counts, means[0], np.minimum(means[1], means[0]), np.maximum(means[2], means[0]))


def left_out(ledger: Ledger) -> list[Measurement]:
    """Results known only as a bound that a decision left out, or will: selected by their size."""
    goal = ledger.behind(ledger.goal_endpoints)
    return [
        m for m in _bounds(ledger) if not (_by_goal(ledger, m.phase) if m.endpoint in goal else _by_limits(ledger, m))
    ]


def taken(ledger: Ledger) -> list[Measurement]:
    """Results known only as a bound that decisions take in as all that they may stand for."""
    out = {m.number for m in left_out(ledger)}
    return [m for m in _bounds(ledger) if m.number not in out]


def _bounds(ledger: Ledger) -> list[Measurement]:
    return [
        m
        for m in ledger.measurements
        if ledger.matters(m) and m.counted > 0 and m.relation != "=" and m.excluded is None and not m.withdrawn
    ]


def _by_goal(ledger: Ledger, phase: int) -> bool:
    if not ledger.takes_bounds:
        return False
    if not 0 < phase <= len(ledger.phases):
        return True
    anew = ledger.anew
    if phase <= ledger.settled and anew is not None and anew.derived and "low" in anew.decision.memory:
        return True
    return bool(ledger.estimates[phase].numbers.get("censored"))


def _by_limits(ledger: Ledger, m: Measurement) -> bool:
    verdict = ledger.verdicts.get(m.phase)
    if ledger.settings.blocks != "none":
        return False
    if verdict is None:
        return not 0 < m.phase <= len(ledger.phases)
    rows = [row for row, k in enumerate(ledger.limited) if m.endpoint in ledger.behind((k,))]
    return all(verdict.censored[row] for row in rows)
