"""The range of the assay in forecasts, as values known only as bounds show it: what lies beyond comes as a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.arrays import Flags, Floats
from assaypilot.engine.campaign.censoring import bounds_of
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.words import joined, number
from assaypilot.engine.difference import parts
from assaypilot.engine.simulate.assay_range import AssayRange
from assaypilot.engine.simulate.instances import Drawn
from assaypilot.engine.strategies.protocol import Allocation, Outcome

__all__ = ["range_words", "seen_range", "together", "within"]


def seen_range(ledger: Ledger, endpoint: int) -> AssayRange:
    """Below and above which values of an endpoint came as bounds: the middle one of either side; model scale."""
    if len(parts(ledger.endpoints, endpoint)) > 1 or ledger.settings.blocks != "none":
        return AssayRange()
    found = bounds_of(ledger, endpoint)
    under = [m.value for m in found if m.relation in ("<", "<=")]
    over = [m.value for m in found if m.relation not in ("<", "<=")]
    low = float(np.median(under)) if under else -np.inf
    high = float(np.median(over)) if over else np.inf
    return AssayRange(low, high) if low < high else AssayRange()


def range_words(ledger: Ledger, endpoints: Sequence[int]) -> str:
    """That values beyond the range come as bounds, as a sentence with a space in front; empty without any."""
    said = []
    for position in endpoints:
        ends, name = seen_range(ledger, position), ledger.endpoints[position].scale_name
        said += [f"{name} below {number(round(ends.low, 3))}"] if np.isfinite(ends.low) else []
        said += [f"{name} above {number(round(ends.high, 3))}"] if np.isfinite(ends.high) else []
    return f" Values of {joined(said)} come as bounds, as they did so far." if said else ""


def within(
    drawn: Drawn,
    asked: Allocation,
    rng: np.random.Generator,
    spent: int,
    ends: Sequence[AssayRange],
    *,
    takes: bool,
    worth: Floats | None = None,
) -> Outcome:
    """What comes back where values beyond the range are bounds; counts may be shares of measurements.

    ``ends`` per endpoint, larger is better. ``takes``: whether the strategy takes bounds in; else they are left out.
    ``worth`` ``(n_endpoints, n_arms)``: of how many values of the stated noise one is worth; None: one.
    """
    n_endpoints, n_arms = drawn.truth.shape
    weights = np.asarray(asked.counts, dtype=float)
    whole = np.maximum(np.rint(weights), 1.0).astype(np.intp)
    owner = np.repeat(np.arange(len(whole)), whole)
    counts, means = np.zeros((n_endpoints, n_arms)), np.zeros((n_endpoints, n_arms))
    low, high = np.zeros((n_endpoints, n_arms)), np.zeros((n_endpoints, n_arms))
    for k, (sd, edge) in enumerate(zip(drawn.noise, ends, strict=True)):
        # So that the mean of whole values scatters as that of the shares.
        shares = weights if worth is None else weights * worth[k, asked.arms]
        spread = (sd * np.sqrt(whole / shares))[owner]
        values = drawn.expected[k, asked.arms][owner] + spread * rng.standard_normal(len(owner))
        under, over = values < edge.low, values > edge.high
        kept: Flags = np.ones(len(owner), dtype=bool) if takes else ~(under | over)
        came = np.bincount(owner[kept], minlength=len(whole)).astype(float)
        total = np.bincount(owner[kept], np.clip(values, edge.low, edge.high)[kept], len(whole))
        mean = np.divide(total, came, out=np.zeros(len(whole)), where=came > 0)
        counts[k, asked.arms], means[k, asked.arms] = weights * came / whole, mean
        beneath = np.bincount(owner[under & kept], minlength=len(whole)) > 0
        beyond = np.bincount(owner[over & kept], minlength=len(whole)) > 0
        low[k, asked.arms] = np.where(beneath, -np.inf, mean)
        high[k, asked.arms] = np.where(beyond, np.inf, mean)
    if not (np.isinf(low).any() or np.isinf(high).any()):
        return Outcome(asked, counts, means, spent)
    return Outcome(asked, counts, means, spent, low=low, high=high)


def together(came: Outcome, more: Outcome) -> Outcome:
    """What a phase brought, and what was still to come of it; by plate nothing is put together here."""
    counts = came.counts + more.counts

    def mixed(first: Floats | None, second: Floats | None) -> Floats:
        ends = [own.means if end is None else end for own, end in ((came, first), (more, second))]
        sums = np.zeros_like(counts)
        for own, end in zip((came, more), ends, strict=True):
            sums += np.where(own.counts > 0, own.counts * np.where(own.counts > 0, end, 0.0), 0.0)
        return np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)

    found = replace(came, counts=counts, means=mixed(came.means, more.means))
    if came.low is None and more.low is None:
        return found
    return replace(found, low=mixed(came.low, more.low), high=mixed(came.high, more.high))
