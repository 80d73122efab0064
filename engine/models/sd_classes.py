"""Noise SDs by class of compounds that nobody knows: how measurements are weighed, and one bound on the scale of all.

Class c has the SD sigma_c. Each measurement is weighed by 1 / g_c^2, with g_c about its SD. S_c is an upper bound on
sigma_c by replicates of the class (``sd_bound``), right at all looks but for a share alpha_c; the alpha_c of all
classes together are the share that one pooled SD would have.

**What weights may rest on.** g_c is made of a guess and of the scatter *within* compounds of the first phase. Contrasts
between normal values of one compound are independent of the mean of these values, and what is planned before the first
phase has seen neither. So given these contrasts the means of the first phase are as they were, later phases begin after
them, and all g_c are numbers that were fixed before any mean was seen. They stay as they are from then on. (Beside
values known only as bounds a compound counts when all its values are exact, which hangs on its mean: the g_c then hang
on means as far as it matters which of many like replicates an SD is taken from.)

**One phase.** In weighted least squares with these weights V = sum n_a a a' / g_a^2, the estimate of y'theta has the
variance v = y' V^-1 (sum n_a sigma_a^2 a a' / g_a^4) V^-1 y. Let t = max sigma_c / g_c over the classes. Each
sigma_a^2 <= t^2 g_a^2, so v <= t^2 y' V^-1 y, whichever compounds were measured: a step of a walk that is divided by
t ||y||_{V^-1} is normal with an SD rho <= 1, which is fixed before the phase. Bounds of a single phase (half-widths,
and the sums of squares in ``closing``) hold as they are.

**Walks.** Their limits are those of steps with rho = 1. Let N_k be normal with the variance 1 - rho_k^2, independent of
all; then the walk W plus the sum of N is one with rho = 1. Where W first passes its limit, that sum is at least 0 with
probability 1/2, whatever W did until then, and the other walk is beyond the limit, too. So W passes with at most
*twice* the probability, whatever the rho. Smaller steps are of use only close to a limit, and few walks come close: who
chose every rho by the walk so far, to pass, would pass 1.000 times as often at levels below 0.02, and 1.045 times at
most up to 0.1 (backward induction over the looks, by numerical integration; see the tests). So a walk has ``of_walk``
its level: 0.95 of it up to 0.1, which costs 1 % of the measurements, and half of a larger one.

**With bounds for the SDs.** t is not known; used is T = max S_c / g_c, as it is at each look. Where all S_c >= sigma_c,
T >= t, and the walk by T is t / T times the one by t, at all its looks; limits are not below 0, so it passes only where
that one does. What is wrong has a probability of at most 0.9 delta, and 0.1 delta for the bounds, as with one SD.

**Which classes count** for t and T is fixed before the first measurement: all that have a compound that can be had. Of
another class nothing is measured, until one of its compounds comes. From then on t may be larger, and all walks are
looked at by another scale: given what came before, what is said from then on has a probability of error of its own.
It is added to what is stated for each such class (``noise.charged``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from assaypilot.engine.arrays import Floats
from assaypilot.engine.models.sd_bound import planning_sd

__all__ = ["MOST_CLASSES", "of_walk", "scale", "weighing", "worth"]


_SMALL = 0.1
_OF_SMALL, _OF_LARGE = 0.95, 0.5
"""Shares of levels up to the one above, and beyond it, that limits are made by."""
MOST_CLASSES = 12
"""Classes of an SD of its own each; more of them leave too few replicates for any."""


def of_walk(level: float) -> float:
    """The level for the limits of a walk whose steps may be less than standard normal, so that it keeps to its own."""
    return _OF_SMALL * level if level <= _SMALL else max(_OF_LARGE * level, _OF_SMALL * _SMALL)


def weighing(guess: float, squares: float, freedom: int, alpha: float) -> float:
    """The g of a class: about the bound there will be on its SD, by its guess and the replicates of the first phase."""
    return planning_sd(guess, squares, freedom, alpha)


def scale(used: Sequence[float], weights: Sequence[float]) -> float:
    """The SD of a measurement of the least weight, at most: T times the largest g; infinite while one is not known.

    ``used``: an SD of each class, or a bound on it; ``weights``: its g.
    """
    if not len(used):
        return math.inf
    return max(one / own for one, own in zip(used, weights, strict=True)) * max(weights)


def worth(weights: ArrayLike) -> Floats:
    """How many measurements of the least weight one of each class is worth, at least 1."""
    own = np.asarray(weights, dtype=float)
    found: Floats = (own.max() / own) ** 2
    return found
