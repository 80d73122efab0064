"""Values known only as bounds in what people see: estimates, intervals and chances that count them.

Decisions count a bound as itself; nothing here reaches them. Bounds are left out behind a
link (shares, yes and no, counts), where no latent value has normal noise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..domain.difference import parts
from ..domain.features import outside_span, span_basis
from ..domain.measurements import Measurement, Pooled, pool
from ..models.ols import least_squares
from ..models.posterior import Posterior, posterior
from ..models.tobit import Bounds, Cells, Censored, additive, apart
from ..strategies.designs import remembered
from . import noise as assay_noise
from .replay import Ledger

__all__ = ["bounds_of", "fitted", "measured_pool", "open_ends", "open_sides", "opened", "untold"]


_GUESS = 0.1
"""The noise SD as a share of the spread of values, where nobody said it and nothing tells it."""
_BEYOND = 1.96
"""Noise SDs by which the mean of a compound may lie within the bound that one value gave."""


def bounds_of(ledger: Ledger, endpoint: int) -> tuple[Measurement, ...]:
    """Return the values known only as bounds that estimates of an endpoint count (of both parts of a difference)."""
    if endpoint in ledger.coarse or ledger.endpoints[endpoint].curves:
        return ()
    own = parts(ledger.endpoints, endpoint)
    return tuple(
        m
        for m in ledger.measurements
        if m.relation != "=" and m.endpoint in own and m.excluded is None and not m.withdrawn
    )


def measured_pool(ledger: Ledger, position: int) -> Pooled:
    """Everything exact of one measured endpoint, history included, per arm, model scale."""
    used = [m for m in ledger.measurements if m.endpoint == position and m.usable]
    return pool(
        (int(ledger.arm_of[m.compound]) for m in used), (m.value for m in used), (m.n for m in used), ledger.n_arms
    )


def untold(ledger: Ledger, endpoint: int, *, by_values: bool = False) -> Flags:
    """``(n_arms,)``, of which arms nothing is told: neither values nor bounds (``by_values``: no values) reach them."""
    out: Flags = np.zeros(ledger.n_arms, dtype=bool)
    for part in parts(ledger.endpoints, endpoint):
        told = {int(ledger.arm_of[m.compound]) for m in ledger.measurements if m.endpoint == part and m.usable}
        if not by_values:
            told |= {int(ledger.arm_of[m.compound]) for m in bounds_of(ledger, part)}
        basis = span_basis(ledger.features, np.array(sorted(told), dtype=np.intp))
        out |= outside_span(ledger.features, basis)
    return out


def fitted(ledger: Ledger, endpoint: int) -> Posterior | None:
    """Return what values and bounds of an endpoint say together; None where there is no bound, and so nothing new.

    Of a difference what both parts say, each on its own.
    """
    if not bounds_of(ledger, endpoint):
        return None
    own = [_measured(ledger, part) for part in parts(ledger.endpoints, endpoint)]
    if len(own) == 1:
        return own[0]
    first, second = own
    return None if first is None or second is None else apart(first, second)


def _measured(ledger: Ledger, position: int) -> Posterior | None:
    """Return the same of one measured endpoint; without bounds the plain posterior. None before any value."""
    data = measured_pool(ledger, position)
    rows = np.flatnonzero(data.counts > 0)
    exact = Cells(rows, data.counts[rows], data.means[rows])
    found = bounds_at(ledger, position)
    sigma = assay_noise.informing(ledger)[position].noise_sd or _scatter(ledger, exact, found)
    if found is None:
        return posterior(ledger.features, *exact, sigma) if len(rows) else None
    return remembered(
        "censored",
        ledger.features,
        (*exact, *found, sigma),
        32 * ledger.features.n_columns**2,
        lambda: additive(ledger.features, exact, found, sigma),
    )


def bounds_at(ledger: Ledger, position: int) -> Bounds | None:
    """Return the bounds of one measured endpoint, equal ones once; None without any."""
    found: dict[tuple[int, float, float, float], int] = {}
    for m in bounds_of(ledger, position):
        sign = 1.0 if m.relation in ("<", "<=") else -1.0
        key = int(ledger.arm_of[m.compound]), float(m.n), m.value, sign
        found[key] = found.get(key, 0) + 1
    if not found:
        return None
    rows, counts, limits, signs = zip(*found, strict=True)
    times = np.array(list(found.values()), dtype=float)
    return Bounds(np.array(rows, dtype=np.intp), np.array(counts), np.array(limits), np.array(signs), times)


def _scatter(ledger: Ledger, exact: Cells, bounds: Bounds | None) -> float:
    """Return the noise SD as exact values scatter around the sum of effects, where nobody said it."""
    if len(exact.rows):
        found = least_squares(ledger.features, *exact)
        freedom = len(exact.rows) - found.rank
        squares = float(exact.counts @ (exact.means - found.means(exact.rows)) ** 2)
        if freedom > 0 and squares > 0.0:
            return float(np.sqrt(squares / freedom))
    every = np.concatenate([exact.means, np.zeros(0) if bounds is None else bounds.limits])
    return _GUESS * (float(np.std(every)) or 1.0)


def open_sides(ledger: Ledger, endpoint: int) -> NDArray[np.int8]:
    """``(n_arms,)``: -1 of what is only known to lie below something, 1 above, 0 of all others.

    Open is what no exact value tells of. An arm with bounds of its own is open as these leave it.
    """
    view = fitted(ledger, endpoint)
    if not isinstance(view, Censored):
        return np.zeros(ledger.n_arms, dtype=np.int8)
    sides = view.sides()
    if len(parts(ledger.endpoints, endpoint)) == 1:
        under, over = _tightest(ledger, endpoint)
        own = np.isfinite(over).astype(np.int8) - np.isfinite(under).astype(np.int8)
        sides = np.where(np.isfinite(under) | np.isfinite(over), own, sides).astype(np.int8)
    sides[~untold(ledger, endpoint, by_values=True) | untold(ledger, endpoint)] = 0
    return sides


def opened(ledger: Ledger, endpoint: int, arms: Ints, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """95 % intervals of arms ``(m,)`` with the ends that nothing holds at infinity.

    The other end is then no farther from the arm's own bounds than the noise may have taken a value.
    """
    sides = open_sides(ledger, endpoint)[arms]
    noise = assay_noise.informing(ledger)[endpoint].noise_sd
    if sides.any() and noise is not None and len(parts(ledger.endpoints, endpoint)) == 1:
        under, over = (own[arms] for own in _tightest(ledger, endpoint))
        high = np.where(sides < 0, np.minimum(high, under + _BEYOND * noise), high)
        low = np.where(sides > 0, np.maximum(low, over - _BEYOND * noise), low)
    return np.where(sides < 0, -np.inf, low), np.where(sides > 0, np.inf, high)


def open_ends(ledger: Ledger, endpoint: int) -> Floats:
    """``(n_arms,)``: what holds the arms that are open to one side: their own limit, or the end of their interval.

    Whichever is tighter: bounds of others with a substituent in common may say more than one's own.
    """
    sides, view = open_sides(ledger, endpoint), fitted(ledger, endpoint)
    ends = np.full(ledger.n_arms, np.nan)
    at = np.flatnonzero(sides)
    if view is not None and len(at):
        ends[at] = view.means(at) - sides[at] * _BEYOND * view.sds(at)
        if len(parts(ledger.endpoints, endpoint)) == 1:
            under, over = _tightest(ledger, endpoint)
            ends = np.where(sides < 0, np.minimum(ends, under), np.maximum(ends, over))
            ends[sides == 0] = np.nan
    return ends


def _tightest(ledger: Ledger, endpoint: int) -> tuple[Floats, Floats]:
    """``(n_arms,)`` each: the lowest limit that values lie below, and the highest above; infinite without one."""
    under, over = np.full(ledger.n_arms, np.inf), np.full(ledger.n_arms, -np.inf)
    for m in bounds_of(ledger, endpoint):
        arm = ledger.arm_of[m.compound]
        if m.relation in ("<", "<="):
            under[arm] = min(under[arm], m.value)
        else:
            over[arm] = max(over[arm], m.value)
    return under, over
