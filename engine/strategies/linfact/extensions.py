"""LinFACT where the model is not the plain additive one: LinFACT-MIS and LinFACT-GLM.

LinFACT-MIS: the additive model is wrong by at most a known amount; what can be decided is, the rest is reported.
Means are mu = a'theta + Delta with |Delta| <= L for every compound, whatever is measured. Source: "Identifying all
epsilon-best arms in linear bandits", section 5 (Algorithm 5, eq. 28 to 35): least squares with eq. 21's measurements
(Proposition 5.4, with the compound's own error, which it leaves out); the projection of eq. 30, which takes more of
them for wider bounds, is left out. Measurements shrink the radius, never the part b of a mean's half-width that the
model's error makes up.

LinFACT-GLM, for yes or no, counts, or plain values, on the scale of a link. Source: section 6 (Algorithm 6, eq. 36 to
40). Its proof takes weights that depend on the values for fixed ones, so the guarantee is worded with that limit.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...arrays import Floats, Ints
from ...errors import AssayPilotError
from ...models.glm import LINKS, Link, check_values, fit_glm, least_slope
from ...models.ols import Estimate
from ..designs import fit, fit_norms, table
from ..phased import ADDITIVE, number, one_of, settled
from ..protocol import Outcome, Parameter, Problem, State, StopReason, StrategyInfo
from .linfact import DECIDE, FIRST_RADIUS, GAP, Bounded, LinFact, goal_of, union_log

_ENTRIES = 4_000_000
"""Entries of rows times measured compounds held at once."""


def least_squares_bias(fit: Estimate, measured: Ints, counts: Floats, rows: Ints, model_error: float) -> Floats:
    """Return how far the deviations from additivity can move each row's least-squares mean from its true one, ``(n,)``.

    L (1 + sum over measured a of N(a) |x' V^-1 a|): the largest effect of other compounds' deviations, plus the row's
    own. Exact: deviations of those signs reach it. Where a row is not estimable the number has no meaning.
    """
    measured_rows = fit.features.dense(measured)
    inner = (counts[:, None] * measured_rows) @ fit.covariance
    out = np.empty(len(rows))
    step = max(1, _ENTRIES // max(len(measured), 1))
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        out[start : start + step] = np.abs(fit.features.dense(some) @ inner.T).sum(axis=1)
    return model_error * (1.0 + out)


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
            DECIDE,
            FIRST_RADIUS,
            GAP,
        ),
        guarantee=(
            "with the stated confidence every compound decided in is within epsilon + slack and every compound decided "
            "out is not within epsilon, if no compound deviates from additivity by more than the model error; "
            "compounds that cannot be decided at this model error are reported"
        ),
        source="LinFACT, section 5",
        any_plan=True,
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError without a model error, or for a slack that it cannot keep."""
        parameters = super().check(problem)
        if parameters["model_error"] is None:
            raise AssayPilotError(
                "linfact-mis needs model_error: the most any compound's true mean deviates from additivity",
                option="--parameter model_error",
                mend="Without such deviations choose linfact-g.",
            )
        number("model_error", parameters["model_error"])
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
        """Return the model error."""
        error = self.parameters(problem)["model_error"]
        return (f"no compound deviates from the sum of its substituents' effects by more than {error:g}",)

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return what a user should know before starting; empty with slack."""
        if goal_of(problem).slack > 0:
            return ()
        least = self.least_half_width(problem)
        return (
            f"at this model error every mean stays unsure by b = {least:.3g}, however much is measured: "
            f"compounds whose distance from the limit is below 4 b = {4.0 * least:.3g} may end as undecidable",
        )

    def least_half_width(self, problem: Problem) -> float:
        """Return B: the limit of a half-width when everything is measured ever more by an optimal design.

        L (sqrt d + 1), d the dimension of what the answer is about.
        """
        rank = table(problem.features, np.flatnonzero(problem.wanted)).rank
        return float(self.parameters(problem)["model_error"]) * (math.sqrt(rank) + 1.0)

    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return log(2 K r (r + 1) / delta)."""
        return union_log(int(problem.wanted.sum()), phase, problem.delta)

    def last_radius(self, problem: Problem) -> float | None:
        """Return C with 4 (C + b) = slack, which leaves nothing undecided; None without slack."""
        slack = goal_of(problem).slack
        return slack / 4.0 - self.least_half_width(problem) if slack > 0 else None

    def radius(self, state: State, phase: int) -> float:
        """Return C_r: the first radius halved every phase; there is no end to it but ``stop``."""
        return state.first_radius * 2.0 ** -(phase - 1)

    def bounds(self, state: State, outcome: Outcome, measured: Ints, active: Ints) -> Bounded:
        """Return means and half-widths C_i + b_i of the active arms from this phase's measurements only."""
        problem, parameters = state.problem, self.parameters(state.problem)
        counts, values = outcome.counts[0, measured], outcome.means[0, measured]
        estimate = fit(problem.features, measured, counts, values)
        norms = fit_norms(problem.features, measured, counts, active, estimate)
        known = np.isfinite(norms)
        means = estimate.means(active)
        own = least_squares_bias(estimate, measured, counts, active, float(parameters["model_error"]))
        half = self.half_widths(state, outcome, norms)
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


_EXPENSIVE = 4.0
"""From this multiple of the measurements on, a warning states what a bound costs."""
_LEAST_SLOPE = 1e-6
"""c_min below this is as good as 0: measurements grow with its inverse square."""


class LinFactGlm(LinFact):
    """All epsilon-best compounds on the link's scale, by maximum likelihood within a bound."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-glm",
        version=1,
        title="LinFACT-GLM",
        goals=("epsilon-best",),
        parameters=(
            DECIDE,
            Parameter("first_radius", None, "half-width after the first phase, on the link's scale; none: from noise"),
            GAP,
            Parameter(
                "link",
                "identity",
                "identity: plain values; logit: shares or yes/no as 1/0, epsilon in log odds; "
                "log: counts, epsilon in natural logs",
            ),
            Parameter(
                "bound",
                None,
                "largest size of any compound's value on the link's scale (4: shares from 0.018 to 0.982); "
                "needed for logit and log, not used for identity",
            ),
        ),
        guarantee=(
            "as in the paper, whose proof is incomplete (error measured by simulation): every compound within epsilon "
            "is returned and none worse than epsilon + slack, on the scale of the link, "
            "if the substituent effects add up there"
        ),
        source="LinFACT, section 6",
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters; AssayPilotError for a link without a bound, or a bound that leaves no slope."""
        parameters = super().check(problem)
        one_of("link", parameters["link"], LINKS)
        link = _link(parameters)
        if link == "identity":
            if parameters["bound"] is not None:
                number("bound", parameters["bound"])
            return parameters
        if parameters["bound"] is None:
            raise AssayPilotError(
                f"the {link} link needs a bound: the largest size of any compound's value on its scale",
                option="--parameter bound",
                mend="4 on the logit scale allows shares from 0.018 to 0.982." if link == "logit" else None,
            )
        bound = number("bound", parameters["bound"])
        slope = least_slope(link, bound)
        if slope < _LEAST_SLOPE:
            raise AssayPilotError(
                f"with a bound of {bound:g} on the {link} scale the least slope of the mean (c_min) is {slope:.1g}, "
                f"as good as 0: it must be at least {_LEAST_SLOPE:g}",
                option="--parameter bound",
                mend="Give a smaller bound.",
            )
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return that the log link promises nothing: counts have no sub-Gaussian noise."""
        if self.parameters(problem)["link"] == "log":
            return ("on the log link no error probability is promised: counts are not sub-Gaussian",)
        return ()

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return what the bound costs: plans count on the flattest part of the link that it allows."""
        link, bound = self.link(problem)
        if link == "identity":
            return ()
        slope = least_slope(link, bound)
        times = (least_slope(link, 0.0) / slope) ** 2
        if times < _EXPENSIVE:
            return ()
        where = "a share of one half" if link == "logit" else "a count of 1"
        return (
            f"with a bound of {bound:g} every compound is planned for as if it lay where the {link} scale is flattest "
            f"(slope c_min = {slope:.2g}): {times:,.0f} times the measurements it takes at {where}; a smaller bound, "
            "if it is true, takes fewer",
        )

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """On a link's scale also the bound, and what its paper's proof leaves open."""
        link, bound = self.link(problem)
        if link == "identity":
            return super().assumes(problem)
        return (
            f"{ADDITIVE} on the {link} scale",
            f"no compound's value there is larger than {bound:g} in size",
            "what the paper's proof leaves open holds (errors were only measured by simulation)",
        )

    def link(self, problem: Problem) -> tuple[Link, float]:
        """Return the link, and the bound on its scale."""
        parameters = self.parameters(problem)
        link = _link(parameters)
        return link, math.inf if link == "identity" else float(parameters["bound"])

    def spread_log(self, problem: Problem, phase: int) -> float:
        """Return log(2 K r (r + 1) / delta)."""
        return union_log(int(problem.wanted.sum()), phase, problem.delta)

    def noise(self, problem: Problem) -> float:
        """Sigma / c_min (eq. 40); sigma is 1/2 for shares (Bernoulli), else the assay's own."""
        link, bound = self.link(problem)
        sigma = 0.5 if link == "logit" else problem.noise[0]
        return sigma / least_slope(link, bound)

    def bounds(self, state: State, outcome: Outcome, measured: Ints, active: Ints) -> Bounded:
        """Return predictors and their half-widths sigma / c_min ||a||_{V^-1} sqrt(2 log(2 K r (r+1) / delta))."""
        problem = state.problem
        link, bound = self.link(problem)
        counts, means = outcome.counts[0, measured], outcome.means[0, measured]
        check_values(link, means)
        norms = fit_norms(problem.features, measured, counts, active)
        estimate = fit_glm(problem.features, measured, counts, means, link, bound)
        means = np.where(np.isfinite(norms), estimate.predictors(active), 0.0)
        return Bounded(means, self.half_widths(state, outcome, norms))


def _link(parameters: dict[str, Any]) -> Link:
    """Return the link by its name."""
    return next(name for name in LINKS if name == parameters["link"])
