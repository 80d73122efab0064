"""Limits on endpoints: which compounds a phase proves to fail one. The strategy is not told.

A limit is decided like the bounds of LinFACT-G: from the phase's own measurements of that endpoint, with half-widths
sigma ||x||_{V^-1} sqrt(2 log(2 K r (r + 1) / delta_l)), which hold for all K compounds and all phases r together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.endpoint import Endpoint
from ..errors import AssayPilotError
from ..models.ols import least_squares
from .bookkeeping import Books
from .noise import deciding_sd, of_decisions


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one phase says about the limits; rows are the endpoints with a limit, in their order."""

    low: Floats
    """``(n_limits, n_arms)`` lower bounds, model scale; -inf where this phase gave none."""
    high: Floats
    outs: tuple[Ints, ...]
    """Arms that this phase is the first to prove to fail, per limit."""

    @property
    def arrays(self) -> dict[str, Floats]:
        """The bounds by name, as a part keeps them."""
        return {"low": self.low, "high": self.high}


def shares(delta: float, n_goal: int, n_limits: int) -> tuple[float, float]:
    """Return the error probability of the goal's decisions, and of each limit's; together they are ``delta``."""
    return delta * n_goal / (n_goal + n_limits), delta / (n_goal + n_limits)


def width_of(books: Books, phase: int) -> float:
    """Return the half-width of a phase's bounds, in standard errors."""
    delta = shares(of_decisions(books) * books.settings.delta, len(books.goal_endpoints), len(books.limited))[1]
    return math.sqrt(2.0 * math.log(2.0 * books.n_arms * phase * (phase + 1) / delta))


def decide(books: Books, phase: int, before: Sequence[Verdict]) -> Verdict | None:
    """Return what a phase says about the limits, ``before`` being what earlier ones said; None without limits."""
    if not books.limited or books.calibrated:
        return None
    width = width_of(books, phase)
    low = np.full((len(books.limited), books.n_arms), -np.inf)
    high = np.full((len(books.limited), books.n_arms), np.inf)
    outs = []
    for row, position in enumerate(books.limited):
        endpoint = books.endpoints[position]
        span, sd = books.span(phase, position), deciding_sd(books, position, phase)
        measured = np.flatnonzero(span.counts > 0)
        if len(measured) and sd is not None:
            fit = least_squares(books.features, measured, span.counts[measured], span.means[measured])
            half = sd * width * fit.half_norms()
            mean = np.where(np.isfinite(half), fit.means(), 0.0)
            low[row], high[row] = mean - half, mean + half
        known = np.zeros(books.n_arms, dtype=bool)
        for earlier in before:
            known[earlier.outs[row]] = True
        outs.append(np.flatnonzero(_fails(endpoint, low[row], high[row]) & ~known))
    return Verdict(low, high, tuple(outs))


def _fails(endpoint: Endpoint, low: Floats, high: Floats) -> Flags:
    """Where the whole interval is beyond the limit."""
    assert endpoint.limit is not None
    if endpoint.limit.relation in ("<", ">"):
        fails: Flags = (low >= endpoint.highest) | (high <= endpoint.lowest)
    else:
        fails = (low > endpoint.highest) | (high < endpoint.lowest)
    return fails


def keeping(books: Books, verdicts: Mapping[int, Verdict]) -> Flags:
    """``(n_limits, n_arms)``: whether some phase has proven that an arm keeps to a limit."""
    kept = np.zeros((len(books.limited), books.n_arms), dtype=bool)
    for verdict in verdicts.values():
        for row, position in enumerate(books.limited):
            endpoint = books.endpoints[position]
            kept[row] |= (verdict.low[row] >= endpoint.lowest) & (verdict.high[row] <= endpoint.highest)
    return kept


def failures(books: Books, verdicts: Mapping[int, Verdict]) -> tuple[Ints, Ints]:
    """Per arm the position of the endpoint whose limit it fails (-1: none) and the phase that proved it (0: none)."""
    which = np.full(books.n_arms, -1, dtype=np.intp)
    when = np.zeros(books.n_arms, dtype=np.intp)
    for phase in sorted(verdicts):
        for position, arms in zip(books.limited, verdicts[phase].outs, strict=True):
            new = arms[which[arms] < 0]
            which[new], when[new] = position, phase
    return which, when


def same(one: Verdict | None, other: Verdict | None) -> bool:
    """Whether two verdicts are alike, up to the last digits of their bounds."""
    if one is None or other is None:
        return one is other
    return (
        len(one.outs) == len(other.outs)
        and all(np.array_equal(np.sort(a), np.sort(b)) for a, b in zip(one.outs, other.outs, strict=True))
        and all(
            a.shape == b.shape and np.allclose(a, b, rtol=1e-7, atol=1e-9)
            for a, b in ((one.low, other.low), (one.high, other.high))
        )
    )


def to_json(books: Books, verdict: Verdict, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a verdict as JSON; its bounds travel in the part."""
    return [
        {"endpoint": books.endpoints[position].name, "out": [names[arm] for arm in arms]}
        for position, arms in zip(books.limited, verdict.outs, strict=True)
    ]


def from_json(
    books: Books, data: Sequence[Mapping[str, Any]], arrays: Mapping[str, Floats], arm_of: Mapping[str, int]
) -> Verdict:
    """Return the verdict that ``to_json`` wrote; AssayPilotError when it is not about the limits of this campaign."""
    shape = (len(books.limited), books.n_arms)
    if (
        [entry["endpoint"] for entry in data] != [books.endpoints[k].name for k in books.limited]
        or set(arrays) != {"low", "high"}
        or any(array.shape != shape for array in arrays.values())
    ):
        raise AssayPilotError("the log decides limits that this campaign does not have")
    outs = tuple(np.array([arm_of[name] for name in entry["out"]], dtype=np.intp) for entry in data)
    return Verdict(arrays["low"], arrays["high"], outs)
