"""LinFACT for generalised linear models: yes or no, counts, or plain values, on the scale of a link.

Source: "Identifying all epsilon-best arms in linear bandits", section 6 (Algorithm 6, eq. 36 to 40). Its proof takes
weights that depend on the values for fixed ones, so the guarantee is worded with that limit.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...arrays import Ints
from ...errors import AssayPilotError
from ...models.glm import LINKS, Link, check_values, fit_glm, least_slope
from ..designs import fit_norms
from ..phased import ADDITIVE, number, one_of
from ..protocol import Outcome, Parameter, Problem, State, StrategyInfo
from .linfact import (
    DECIDE,
    GAP,
    Bounded,
    LinFact,
    kept_promise,
    union_log,
)

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
        half = self.noise(problem) * math.sqrt(2.0 * self.spread_log(problem, state.phase + 1)) * norms
        if self.parameters(problem)["decide"] == "planned" and outcome.complete:
            half = kept_promise(half, outcome.allocation.radius)
        return Bounded(np.where(np.isfinite(norms), estimate.predictors(active), 0.0), half)


def _link(parameters: dict[str, Any]) -> Link:
    """Return the link by its name."""
    link: Link = next(name for name in LINKS if name == parameters["link"])
    return link
