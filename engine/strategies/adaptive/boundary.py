"""How far a sum of standardised errors may go: limits that hold at every look of a campaign together.

A walk is W_k = Z_1 + .. + Z_k with independent standard normal steps. Its limit at look k is c_k sqrt(k), and the c_k
are such that the chance that W ever passes its limit, at any k, is alpha. The share of alpha that each look may spend
is fixed before the first measurement (Lan and DeMets, Biometrika 70, 1983), as a power of k up to the look at which
the campaign is expected to end, with a quarter kept for later; the c_k follow by numerical integration of the density
of the walks that have not passed yet (Armitage, McPherson and Rowe, JRSS A 132, 1969).

At alpha = 0.05 / 960 and an end at look 3 the last c is 4.06, where one look alone has 3.88: 9 % more measurements.
A union over looks by alpha / (k (k + 1)) has 4.45 there, 31 % more.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from ...arrays import Floats

__all__ = ["LOOKS", "limits", "spent"]


LOOKS = 32
"""Looks that are integrated exactly; those after them share what is left by a union bound."""

_KEPT = 0.25
"""Share of alpha for the looks after the expected one."""
_POWER = 2.0
"""Before the expected look the spending grows with this power of k: little at first, when little is known."""
_NODES = 1.5
"""Nodes of integration per standard deviation of one step, beside those at least."""
_FLOOR = 6.5
"""Walks this many of their standard deviations below zero count as gone (a share of 4e-11 of all)."""


def spent(look: float, expected: int) -> float:
    """The share of alpha spent up to a look; 1 in the limit."""
    if look <= expected:
        return float((1.0 - _KEPT) * (look / expected) ** _POWER)
    return 1.0 - _KEPT * expected / look


def limits(alpha: float, expected: int, looks: int) -> Floats:
    """c_1 .. c_looks, ``(looks,)``: P(some k has W_k > c_k sqrt(k)) <= alpha over all k, however many there will be.

    ``expected``: the look at which the campaign is expected to end, at most ``LOOKS``; it changes how tight which limit
    is, never that they hold. The first limits do not depend on how many are asked for.
    """
    if not 0.0 < alpha < 1.0 or expected < 1:
        raise ValueError("alpha must lie between 0 and 1, and expected be at least 1")
    expected = min(expected, LOOKS)
    exact = _exact(alpha, expected)
    if looks <= LOOKS:
        return exact[:looks]
    later = np.arange(LOOKS + 1, looks + 1)
    # Beyond, each look has its own share: log(spent(k) - spent(k - 1)) without loss of digits.
    shares = math.log(alpha) + np.log(_KEPT * expected) - np.log(later * (later - 1.0))
    return np.concatenate([exact, -ndtri_exp(shares)])


@lru_cache(maxsize=1024)
def _exact(alpha: float, expected: int) -> Floats:
    """The first limits, each by one step of the density and one search for the limit."""
    found = np.empty(LOOKS)
    places, mass = np.zeros(1), np.ones(1)
    for look in range(1, LOOKS + 1):
        share = math.log(alpha) + math.log(spent(look, expected) - spent(look - 1, expected))
        limit = _passed_by(places, mass, share)
        found[look - 1] = limit / math.sqrt(look)
        low = -_FLOOR * math.sqrt(look)
        nodes, weights = _gauss(16 + math.ceil(_NODES * (limit - low)))
        nodes = low + (limit - low) * (nodes + 1.0) / 2.0
        steps = nodes[:, None] - places
        density = np.exp(-0.5 * steps * steps) @ mass / math.sqrt(2.0 * math.pi)
        places, mass = nodes, density * weights * (limit - low) / 2.0
    found.flags.writeable = False
    return found


def _passed_by(places: Floats, mass: Floats, log_share: float) -> float:
    """The limit that a step takes this share of the mass beyond: Newton on the logarithm, which is concave."""
    limit = float(places.max()) + 1.0
    for _ in range(100):
        beyond = log_ndtr(places - limit)
        top = float(beyond.max())
        sizes = mass * np.exp(beyond - top)
        value = top + math.log(float(sizes.sum())) - log_share
        steps = places - limit
        # The derivative of log P: minus the hazard, averaged.
        hazard = np.exp(-0.5 * steps * steps - 0.5 * math.log(2.0 * math.pi) - beyond)
        slope = -float(sizes @ hazard / sizes.sum())
        change = value / slope
        limit -= change
        if abs(change) < 1e-12 * max(1.0, abs(limit)):
            break
    return limit


@lru_cache(maxsize=64)
def _gauss(count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return nodes, weights
