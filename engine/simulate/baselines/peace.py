"""Peace: the best compound within a fixed budget, by designs that make the Gaussian width of those still in small.

Source: Katz-Samuels, Jain, Karnin and Jamieson, "An empirical process approach to the union bound: practical
algorithms for combinatorial and linear bandits" (2020), the algorithm for a fixed budget, as GSE section 7 and appendix
D.2 describe it: gamma(Z) is the least over designs of E max (z - z')'V^(-1/2) xi over pairs of Z, xi standard normal.
There are ceil(log2 gamma) stages of equal size; each measures by the design of those still in, and keeps as many of the
best by its estimate as have at most half of their width; in the end the best is returned.
Ours: the expectation is the mean over some fixed draws, with the Cholesky factor as the root, and L-BFGS minimises it.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design import Pairs, round_design
from ...design.criteria import Shares
from ...design.log_weight_lbfgs import Sample, minimised
from ...models.ols import Estimate
from ...strategies.designs import in_question, remembered, table
from ...strategies.gse.gse import Gse
from ...strategies.phased import needs_budget, over_budget, settled
from ...strategies.protocol import Allocation, Arrays, Certificate, Problem, State, StopReason, StrategyInfo
from ...system.progress import Report, silent

_DRAWS = 256
_LOOKS = 60
"""Looks at the mean of the draws."""
_CLOSE = 0.02
"""The design is good enough when no compound's slope is above the average by more than this share."""


class Spread(NamedTuple):
    """A design that makes a Gaussian width small, and the width."""

    weights: Floats
    width: float


class Peace(Gse):
    """Stages that halve the Gaussian width of the compounds still in."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="peace",
        version=1,
        title="Peace",
        goals=("best",),
        parameters=(),
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="Katz-Samuels et al. (2020), fixed budget",
        baseline=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """No parameters; AssayPilotError for less than one measurement per effect a stage."""
        stages, d = self._stages(problem), in_question(problem)[1]
        needs_budget(problem, "peace", stages * d, f"below one for each of {d} effects in {stages} stages")
        return self.parameters(problem)

    def memory(self, problem: Problem) -> Arrays:
        """Return how many stages there are."""
        return {"stages": np.array([self._stages(problem)])}

    def _stages(self, problem: Problem) -> int:
        width = spread(problem, np.flatnonzero(problem.wanted)).width
        return max(math.ceil(math.log2(max(width, 1.0))), 1)

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next stage: its share of the budget by the design of those still in."""
        problem, active = state.problem, np.flatnonzero(state.active)
        here = np.flatnonzero(problem.measurable)
        candidates, targets = table(problem.features, here), table(problem.features, active, here)
        made, (n, full) = spread(problem, active), self.share(state)
        design = Shares(np.arange(len(here)), made.weights)
        directions = Pairs(targets) if len(active) > 1 else None
        rounded = round_design(design, candidates, n, method="apportion", directions=directions, report=report)
        certificate = Certificate("width", made.width, 0.0)
        return Allocation.after(state, here[rounded.support], rounded.counts, math.inf, certificate, cut=n < full)

    def known(self, estimate: Estimate, active: Ints) -> Flags:
        """Return the design for differences, which need not estimate means: the difference from the first is enough."""
        found: Flags = np.isfinite(estimate.difference_norm(int(active[0]), active))
        return found

    def kept(self, state: State, ranked: Ints) -> int:
        """Return the most whose width is at most half of that of all; one, when two are wider."""
        problem = state.problem
        half = spread(problem, np.flatnonzero(state.active)).width / 2.0
        low, high = 1, len(ranked)
        while high - low > 1:
            middle = (low + high) // 2
            if spread(problem, np.sort(ranked[:middle])).width <= half:
                low = middle
            else:
                high = middle
        return low

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return whether one is left, or the budget is used up."""
        over = state.phase >= int(state.memory["stages"][0])
        return settled(state) or over_budget(state, 1, 0 if over else None)


def spread(problem: Problem, rows: Ints) -> Spread:
    """Return the design over what can be measured of least Gaussian width of the rows.

    Remembered, as runs share its start.
    """
    features, here = problem.features, np.flatnonzero(problem.measurable)

    def make() -> Spread:
        return least_width(table(features, here).coordinates(), table(features, rows, here).coordinates())

    return remembered("peace", features, (here, rows), 8 * len(here), make)


def least_width(x: Floats, z: Floats) -> Spread:
    """Weights on the rows ``x`` ``(n, d)`` for which E max (z - z')'V^(-1/2) xi over rows of ``z`` is about least."""
    draws = np.random.default_rng(0).standard_normal((_DRAWS, x.shape[1]))
    w = np.full(len(x), 1.0 / max(len(x), 1))
    if len(z) < 2 or not len(x):
        return Spread(w, 0.0)

    def look(weights: Floats) -> Sample | None:
        try:
            root = np.linalg.inv(np.linalg.cholesky((x * weights[:, None]).T @ x))
        except np.linalg.LinAlgError:
            return None
        drawn = draws @ root
        reach = z @ drawn.T
        y = z[reach.argmax(axis=0)] - z[reach.argmin(axis=0)]
        value = float(np.einsum("ij,ij->", y, drawn)) / _DRAWS
        # The Cholesky factor L moves by L P, where P is the lower half of L^-1 dV L^-T with half its diagonal.
        moved = draws.T @ (y @ root.T) / _DRAWS
        lower = np.tril(moved, -1) + np.diag(np.diagonal(moved)) / 2.0
        white = x @ root.T
        slope = -np.einsum("ij,ij->i", white @ lower, white)
        return Sample(value, slope, bool(-slope.min() <= value / 2.0 * (1.0 + _CLOSE)))

    w = minimised(look, w, _LOOKS)
    found = look(w)
    return Spread(w, math.inf if found is None else found.value)
