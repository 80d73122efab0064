"""An upper bound on the noise SD from replicates, which holds at every number of degrees of freedom together.

Measurements of one compound scatter by contrasts that are independent N(0, sigma^2). Which compounds a phase repeats,
and how often, is fixed before its measurements, so that over a campaign these contrasts are one sequence z_1, z_2, ..
of such normals, looked at after a number of them that may depend on those before. The chi-square quantile for nu
degrees of freedom holds for a nu fixed in advance; here nu is chosen by the scatter seen before (little scatter ends
a campaign sooner), and is tested repeatedly. So the bound must hold for all nu at once, which also makes any share
for each look needless:

    P(some nu has z_1^2 + .. + z_nu^2 <= q_nu sigma^2) <= alpha,   hence   sigma <= s sqrt(nu / q_nu) for all nu.

Half the sum of the first 2 j squares is, over sigma^2, the time of the j-th event of a Poisson process of rate 1. The
q_2, q_4, .. are found by integrating the density of the times that have not passed a limit yet, f_{j+1}(t) = integral
of f_j(s) e^(s - t), which for f_j(t) e^t is a plain sum; nothing is lost to a union bound. An odd nu counts as the even
one below it, with all its squares, which only widens. How much of alpha is spent by which nu is fixed: little below 16,
where no bound is worth much, evenly in the logarithm up to 256, and the rest after. So the measurements of a campaign
are multiplied by nu / q_nu = 2.8, 2.0, 1.6, 1.4 at 32, 64, 128, 256 degrees of freedom (alpha = 0.005). A single look
fixed in advance would have 2.1, 1.7, 1.4, 1.3.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ..arrays import Floats

LAST = 1024
"""Degrees of freedom beyond which none are counted: they would lower the bound by less than a tenth."""
OF_DECISIONS = 0.9
"""Share of the error probability for decisions, where a noise SD is estimated; what is left is for its bound."""
TARGET = 64
"""Degrees of freedom that plans buy on purpose: 64 more would save a fifth of the measurements that are still to come,
about what designs on so few compounds lose."""

_FIRST, _FULL = 16, 256
_AT_FIRST, _AT_FULL = 0.02, 0.95
_STEP = 1.0 / 64.0
"""Of the integration, in units of the times; limits are whole steps, rounded down, which only widens the bound."""
_PRIOR = 4.0
"""Degrees of freedom that a guess counts as, in plans; never in decisions."""


def spent(freedom: float) -> float:
    """Return the share of alpha that is spent up to so many degrees of freedom; 1 in the limit."""
    if freedom <= _FIRST:
        return _AT_FIRST * (freedom / _FIRST) ** 2
    if freedom <= _FULL:
        return _AT_FIRST + (_AT_FULL - _AT_FIRST) * math.log(freedom / _FIRST) / math.log(_FULL / _FIRST)
    return 1.0 - (1.0 - _AT_FULL) * _FULL / freedom


def upper_factor(freedom: int, alpha: float) -> float:
    """Return what the estimated SD is multiplied by to be at least the true one; infinite while it is unbounded."""
    if not 0.0 < alpha < 1.0 or freedom < 0:
        raise ValueError("alpha must lie between 0 and 1, and freedom not be negative")
    least = _least_squares_sums(alpha)[min(freedom, LAST) // 2]
    return math.sqrt(freedom / least) if least > 0 else math.inf


def upper_sd(squares: float, freedom: int, alpha: float) -> float:
    """Return the upper bound on the SD, of which the squares of ``freedom`` contrasts sum to ``squares``.

    Infinite if unknown.

    Right at all numbers of degrees of freedom together, however they were chosen, but with a probability of alpha.
    Replicates that agree to the last digit are rounded, or one number twice: they bound nothing.
    """
    if freedom < 1 or squares <= 0:
        return math.inf
    return math.sqrt(squares / freedom) * upper_factor(freedom, alpha)


def planning_sd(guess: float, squares: float, freedom: int, alpha: float) -> float:
    """Return the SD that plans count on: about the bound there will be, from the guess and the replicates so far.

    Always finite. What is planned by it may be too little or too much; no decision rests on it.
    """
    about = math.sqrt((_PRIOR * guess * guess + squares) / (_PRIOR + freedom))
    return about * upper_factor(max(freedom, TARGET), alpha)


@lru_cache(maxsize=64)
def _least_squares_sums(alpha: float) -> Floats:
    """Return q_0, q_2, .. q_LAST, ``(LAST / 2 + 1,)``: the squares over sigma^2 sum to more than each; 0: no bound."""
    times = np.arange(0.0, 0.5 * LAST, _STEP)
    fall = np.exp(-times)
    found = np.zeros(LAST // 2 + 1)
    # f_j(t) e^t of the times that passed no limit before, and the place of the last limit.
    grown, at = np.ones(len(times)), 0
    for event in range(1, len(found)):
        share = alpha * (spent(2 * event) - spent(2 * event - 2))
        density = grown[at:] * fall[at:]
        passed = _summed(density)
        at += int(np.searchsorted(passed, share, side="right")) - 1
        found[event] = 2.0 * times[at]
        grown[at:] = _summed(grown[at:])
        grown[:at] = 0.0
    found.flags.writeable = False
    return found


def _summed(values: Floats) -> Floats:
    """Return the integral from the first place to each, by trapezoids."""
    total = np.zeros(len(values))
    np.cumsum(0.5 * _STEP * (values[1:] + values[:-1]), out=total[1:])
    return total
