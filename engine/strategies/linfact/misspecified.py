"""LinFACT where the additive model is wrong by at most a known amount: what can be decided is, the rest is said.

Source: "Identifying all epsilon-best arms in linear bandits", section 5 (Algorithm 5, eq. 28 to 35). Two estimators
that are not mixed: least squares with eq. 21's measurements (Proposition 5.4, with the compound's own error, which it
leaves out), and the projection of eq. 30 with eq. 33's. Measurements shrink the radius, never the part b of a mean's
half-width that the model's error makes up.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...arrays import Ints
from ...errors import AssayPilotError
from ...models.misspecified import least_squares_bias, projected_means
from ..designs import fit, fit_norms, table
from ..phased import number, one_of, settled
from ..protocol import (
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .linfact import (
    DECIDE,
    FIRST_RADIUS,
    GAP,
    Bounded,
    LinFact,
    goal_of,
    kept_promise,
    union_log,
)
from .planning import design_rows

_ESTIMATORS = ("ols", "projected")


class LinFactMis(LinFact):
    """All epsilon-best compounds when every mean may deviate from additivity by up to ``model_error``."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-mis",
        version=1,
        title="LinFACT-MIS",
        goals=("epsilon-best",),
        parameters=(
            Parameter(
                "model_error",
                None,
                "the most any compound's true mean deviates from the sum of its substituents' effects, model scale; "
                "needed",
            ),
            Parameter(
                "estimator",
                "ols",
                "ols: least squares; projected: the nearest means the model allows (many more measurements)",
            ),
            Parameter(
                "largest_mean",
                None,
                "the largest size any compound's mean can have, model scale, for projected; none: no limit",
            ),
            DECIDE,
            FIRST_RADIUS,
            GAP,
        ),
        guarantee=(
            "with the stated confidence every compound decided in is within epsilon + slack and every compound decided "
            "out is not within epsilon, if no compound deviates from additivity by more than the model error; "
            "compounds that cannot be decided at this model error are said"
        ),
        source="LinFACT, section 5",
        any_plan=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters; AssayPilotError without a model error, or for a slack that it cannot keep."""
        parameters = super().check(problem)
        if parameters["model_error"] is None:
            raise AssayPilotError(
                "linfact-mis needs model_error: the most any compound's true mean deviates from additivity",
                option="--parameter model_error",
                mend="Without such deviations choose linfact-g.",
            )
        number("model_error", parameters["model_error"])
        one_of("estimator", parameters["estimator"], _ESTIMATORS)
        if parameters["largest_mean"] is not None:
            number("largest_mean", parameters["largest_mean"])
            if parameters["estimator"] != "projected":
                raise AssayPilotError(
                    "largest_mean is for the estimator projected only", option="--parameter largest_mean"
                )
        slack, least = goal_of(problem).slack, self.least_half_width(problem)
        if 0 < slack <= 4.0 * least:
            raise AssayPilotError(
                f"at this model error every mean stays unsure by b = {least:.3g}, however much is measured, "
                f"and a slack of {slack:g} is not above 4 b = {4.0 * least:.3g}",
                option="--slack",
                mend=f"Raise slack above {4.0 * least:.3g}, or set it to 0: what cannot be decided is then shown.",
            )
        return parameters

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """The model error, and the largest mean where one was given."""
        given = self.parameters(problem)
        found = (
            f"no compound deviates from the sum of its substituents' effects by more than {given['model_error']:g}",
        )
        largest = given["largest_mean"]
        return found if largest is None else (*found, f"no compound's mean is larger than {largest:g} in size")

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """What a user should know before starting; empty with slack."""
        if goal_of(problem).slack > 0:
            return ()
        least = self.least_half_width(problem)
        return (
            f"at this model error every mean stays unsure by b = {least:.3g}, however much is measured: "
            f"compounds whose distance from the limit is below 4 b = {4.0 * least:.3g} may end as undecidable",
        )

    def least_half_width(self, problem: Problem) -> float:
        """B: what is left of a half-width when everything is measured without end by an optimal design.

        L (sqrt d + 1) for least squares, L (sqrt d + 2) for the projection (``T max ||a||^2`` is d there).
        """
        return float(self.parameters(problem)["model_error"]) * (math.sqrt(_rank(problem)) + self._own(problem))

    def _own(self, problem: Problem) -> float:
        return 1.0 if self.parameters(problem)["estimator"] == "ols" else 2.0

    def spread_log(self, problem: Problem, phase: int) -> float:
        """The logarithm of eq. 21, or what takes its place in eq. 33."""
        return self._log(problem, phase, _rank(problem))

    def _log(self, problem: Problem, phase: int, rank: int) -> float:
        """log(2 K r (r+1) / delta); projected: 4 (d log 6 + log(K r (r+1) / delta))."""
        log = union_log(int(problem.wanted.sum()), phase, problem.delta)
        return log if self._own(problem) == 1.0 else 4.0 * (rank * math.log(6.0) + log - math.log(2.0))

    def wells(self, state: State, radius: float, phase: int) -> float:
        """Measurements per unit of the design's value, eq. 21 or eq. 33, with the rank of the active set."""
        rank = table(state.problem.features, design_rows(state)[0]).rank
        return 2.0 * (state.problem.noise[0] / radius) ** 2 * self._log(state.problem, phase, rank)

    def last_radius(self, problem: Problem) -> float | None:
        """C with 4 (C + b) = slack, which leaves nothing undecided; None without slack."""
        slack = goal_of(problem).slack
        return slack / 4.0 - self.least_half_width(problem) if slack > 0 else None

    def radius(self, state: State, phase: int) -> float:
        """C_r: the first radius halved every phase; there is no end to it but ``stop``."""
        return state.first_radius * 2.0 ** -(phase - 1)

    def bounds(self, state: State, outcome: Outcome, measured: Ints, active: Ints) -> Bounded:
        """Means and half-widths C_i + b_i of the active arms from this phase's measurements only.

        Least squares: b_i = L (1 + sum N(a) |a_i' V^-1 a|). Projected: b = L (sqrt(T max ||a||^2_{V^-1}) + 2) for
        means within L of the least-squares mean, which is where the proof (EC.9) holds them; the projection's own are
        taken to that edge where they lie beyond, and to the largest mean.
        """
        problem, parameters = state.problem, self.parameters(state.problem)
        error = float(parameters["model_error"])
        counts, values = outcome.counts[0, measured], outcome.means[0, measured]
        estimate = fit(problem.features, measured, counts, values)
        norms = fit_norms(problem.features, measured, counts, active, estimate)
        known = np.isfinite(norms)
        means = estimate.means(active)
        if self._own(problem) == 1.0:
            own = least_squares_bias(estimate, measured, counts, active, error)
        else:
            largest = math.inf if parameters["largest_mean"] is None else float(parameters["largest_mean"])
            farthest = float(counts.sum()) * float((norms[known] ** 2).max(initial=0.0))
            own = np.full(len(active), error * (math.sqrt(farthest) + 2.0))
            projected = projected_means(
                estimate, measured, counts, values, active[known], model_error=error, largest_mean=largest
            )
            means[known] = np.clip(np.clip(projected, means[known] - error, means[known] + error), -largest, largest)
        half = problem.noise[0] * math.sqrt(2.0 * self._log(problem, state.phase + 1, estimate.rank)) * norms
        if parameters["decide"] == "planned" and outcome.complete:
            half = kept_promise(half, outcome.allocation.radius)
        numbers = {"model_error_half_width": float(own[known].max(initial=0.0))}
        return Bounded(np.where(known, means, 0.0), half + np.where(known, own, 0.0), numbers)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """As LinFACT; and when the radius is below b, so that more measurements would change little."""
        return settled(state) or self._undecidable(state) or super().stop(state)

    def _undecidable(self, state: State) -> tuple[StopReason, ...]:
        last, finest = state.last, self.last_radius(state.problem)
        if last is None:
            return ()
        least = last.numbers["model_error_half_width"]
        # With slack, the radius at which nothing should be left comes first.
        if last.radius >= least or (finest is not None and last.radius > finest * (1.0 + 1e-9)):
            return ()
        left = int(state.open.sum())
        error = float(self.parameters(state.problem)["model_error"])
        text = (
            f"{left} compound{'' if left == 1 else 's'} cannot be decided at a model error of {error:g}: "
            f"means stay unsure by {least:.3g}, and measurements already add only {last.radius:.3g}"
        )
        numbers = {"undecidable": left, "model_error": error, "b": least, "radius": last.radius}
        return (StopReason("undecidable", text, numbers),)


def _rank(problem: Problem) -> int:
    """The dimension of what the answer is about."""
    return table(problem.features, np.flatnonzero(problem.wanted)).rank
