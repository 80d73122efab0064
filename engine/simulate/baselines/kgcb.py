"""KGCB: the knowledge gradient with correlated beliefs under an additive model, within a fixed budget.

Source: Negoescu, Frazier and Powell (2011), "The knowledge-gradient algorithm for sequencing experiments in drug
discovery" (linear belief); Frazier, Powell and Dayanik (2009), "The knowledge-gradient policy for correlated normal
beliefs", Algorithms 1 and 2 (the expectation of a maximum of lines). The measurement taken is the one after which the
largest mean is expected to be highest. For all epsilon-best (LinFACT section 7) those within epsilon of the best by the
means at the end. Simplified: the prior is N(0, prior^2 I) on the effects; in a batch the means stay as they were.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from ...arrays import Floats, Ints
from ...strategies.protocol import Problem, StrategyInfo
from .bayesgap_belief import Belief
from .bayesgap_run import BUDGET_PARAMETERS, BudgetRun

__all__ = ["Kgcb", "expected_gain"]


class Kgcb(BudgetRun):
    """Measures where the best mean is expected to rise most."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="kgcb",
        version=1,
        title="Knowledge gradient",
        goals=("best", "epsilon-best"),
        parameters=BUDGET_PARAMETERS,
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Negoescu et al. (2011); Frazier et al. (2009)",
        baseline=True,
    )

    def choose(self, problem: Problem, x: Floats, aims: Ints, measurable: Ints, seen: Belief) -> int:
        """The largest knowledge gradient; where all are 0 to rounding, the compound known least."""
        mean = x[aims] @ seen.mean
        across = x @ seen.covariance
        own = np.maximum(np.einsum("ij,ij->i", across, x), 0.0)
        gains = np.empty(len(measurable))
        for place, row in enumerate(measurable):
            gains[place] = expected_gain(mean, across[aims] @ x[row] / math.sqrt(seen.noise**2 + own[row]))
        if gains.max() > 1e-300:
            return int(measurable[np.argmax(gains)])
        return int(measurable[np.argmax(own[measurable])])


def expected_gain(a: Floats, b: Floats) -> float:
    """E[max_i (a_i + b_i Z)] - max_i a_i for a standard normal Z: the upper envelope of lines, exactly."""
    order = np.lexsort((a, b))
    a, b = a[order], b[order]
    # Of parallel lines only the highest counts.
    last = np.append(b[1:] > b[:-1], True)
    a, b = a[last], b[last]
    # Lines that can be on top: those above the chord; a stack from the flattest fall to the steepest rise.
    top = [0]
    cuts = [-math.inf]
    rise, slope = a.tolist(), b.tolist()
    for line in range(1, len(rise)):
        while True:
            below = top[-1]
            cut = (rise[below] - rise[line]) / (slope[line] - slope[below])
            if len(top) > 1 and cut <= cuts[-1]:
                top.pop()
                cuts.pop()
                continue
            break
        top.append(line)
        cuts.append(cut)
    if len(top) < 2:
        return 0.0
    steps = np.diff(b[top])
    at = -np.abs(np.array(cuts[1:]))
    density = np.exp(-0.5 * at * at) / math.sqrt(2.0 * math.pi)
    return float(steps @ np.maximum(density + at * ndtr(at), 0.0))
