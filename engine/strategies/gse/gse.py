"""GSE: the best compound within a fixed budget, half of those left dropped at every stage.

Source: "Fixed-budget best-arm identification in structured bandits", Algorithms 1 and 2, eq. 1 and 4, appendix H.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from ...arrays import Flags, Floats, Ints
from ...design import achieved
from ...domain.features import Features, ProjectedFeatures, outside_span
from ...errors import AssayPilotError
from ...models.glm import Link, fit_glm, mean_value
from ...models.ols import Estimate
from ...system.progress import Report, silent
from ..designs import fit, in_question, table
from ..phased import Phased, needs_budget, number, one_of, over_budget, settled
from ..protocol import (
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .allocations import ALLOCATIONS, MOST_FOR_GREEDY, allocate

_LINKS: dict[str, Link] = {"linear": "identity", "logistic": "logit", "poisson": "log"}


def n_stages(n: int, eta: float) -> int:
    """Return ceil(log_eta n), at least 1: how often n is divided by eta, rounded up, until one is left."""
    stages = 0
    while n > 1:
        n = min(math.ceil(n / eta - 1e-9), n - 1)
        stages += 1
    return max(stages, 1)


class Gse(Phased):
    """The best compound after ceil(log_eta K) stages of an equal share of the budget each."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="gse",
        version=1,
        title="GSE",
        goals=("best",),
        parameters=(
            Parameter(
                "model",
                "linear",
                "linear; logistic: values are shares between 0 and 1; poisson: values are counts; means are then "
                "compared on the scale of the model",
            ),
            Parameter(
                "allocation",
                "fwg",
                "fwg: G-optimal design; uniform; greedy; wynn: where the variance is largest",
            ),
            Parameter("eta", 2.0, "every stage keeps one in eta of the compounds"),
            Parameter(
                "bound", 10.0, "logistic and poisson: the largest size of a compound's value on the link's scale"
            ),
        ),
        guarantee="the best compound is more likely found the larger the budget; no error probability is promised",
        source="GSE, Algorithms 1 and 2",
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters.

        AssayPilotError for one out of range, or for less than one measurement per effect a stage.
        """
        given = self.parameters(problem)
        one_of("model", given["model"], tuple(_LINKS))
        one_of("allocation", given["allocation"], tuple(ALLOCATIONS))
        eta = number("eta", given["eta"], above=1.0)
        number("bound", given["bound"])
        budget = needs_budget(problem, "gse")
        n, rank = in_question(problem)
        stages = n_stages(n, eta)
        if budget // stages < rank:
            raise AssayPilotError(
                f"a budget of {problem.in_lab(budget)} measurements gives {stages} stages of "
                f"{problem.in_lab(budget // stages)}, and every stage needs at least {problem.in_lab(rank)}, "
                f"one for each effect to be estimated{' and endpoint' if problem.in_lab(1) > 1 else ''}",
                option="--budget",
                mend=f"Give at least {problem.in_lab(stages * rank)} measurements, or a larger eta for fewer stages.",
            )
        if given["allocation"] == "greedy" and n > MOST_FOR_GREEDY:
            raise AssayPilotError(
                f"the greedy allocation compares all compounds with all: {n:,} are too many",
                option="--parameter allocation",
                mend=f"Choose fwg or wynn; greedy takes up to {MOST_FOR_GREEDY:,}.",
            )
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return that a fixed budget promises no error probability."""
        return ("a fixed budget promises no error probability: the answer is the best guess it allows",)

    def link(self, problem: Problem) -> tuple[Link, float]:
        """Return the link of the model, and the bound on its scale."""
        given = self.parameters(problem)
        link = _LINKS[self._model(problem)]
        return link, math.inf if link == "identity" else float(given["bound"])

    def _model(self, problem: Problem) -> str:
        return str(self.parameters(problem).get("model", "linear"))

    def memory(self, problem: Problem) -> Arrays:
        """Return how many stages there are; the first question sets them once and for all."""
        n, _ = in_question(problem)
        return {"stages": np.array([n_stages(n, float(self.parameters(problem)["eta"]))])}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next stage: its share of the budget, allocated over the compounds still in."""
        problem, phase = state.problem, state.phase + 1
        given = self.parameters(problem)
        active = np.flatnonzero(state.active)
        candidates, targets = stage_rows(state, active)
        n, full = self.share(state)
        report(0.0, "spreading the measurements")
        rng = np.random.default_rng((problem.seed, phase))
        counts = allocate(given["allocation"], candidates, targets, n, rng)
        report(1.0, "measurements spread")
        used = np.flatnonzero(counts)
        value = achieved(candidates, used, counts[used], targets)
        certificate = Certificate("g", value * n, float(candidates.rank))
        return Allocation.after(state, candidates.rows, counts, math.inf, certificate, cut=n < full)

    def share(self, state: State) -> tuple[int, int]:
        """Return measurements of the next stage, and those of an undisturbed one: B / s, rounded down."""
        assert state.problem.budget is not None
        stages = int(state.memory["stages"][0])
        whole = state.problem.budget // stages
        left = max(state.problem.budget - state.spent, 0)
        # What was spent unasked, or is left after the last stage, is shared by those to come.
        return min(whole, left // max(stages - state.phase, 1)), whole

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return the best one in eta by this stage's estimates stay; after the last stage only the best."""
        problem = state.problem
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        if not len(measured) or not len(active):
            return None
        phase, given = state.phase + 1, self.parameters(problem)
        counts, means = outcome.counts[0, measured], outcome.means[0, measured]
        estimate = fit(problem.features, measured, counts, means)
        known = self.known(estimate, active)
        model = self._model(problem)
        if model == "linear":
            scores = estimate.means(active)
        else:
            bound = float(given["bound"])
            scores = _predictors(model, problem.features, measured, counts, means, active, bound)
        # One that this stage does not estimate is never dropped.
        order = np.flatnonzero(known)[np.argsort(-scores[known], kind="stable")]
        unknown = len(active) - len(order)
        ranked = active[np.concatenate([np.flatnonzero(~known), order])]
        keep = 1 if phase >= int(state.memory["stages"][0]) else self.kept(state, ranked)
        dropped = order[max(keep - unknown, 1 if len(order) else 0) :]
        outs = np.sort(active[dropped])
        stay = np.setdiff1d(active, outs)
        ins = stay[state.status[stay] == UNDECIDED] if len(stay) == 1 else np.zeros(0, dtype=np.intp)
        shown = np.full((3, 1, problem.n_arms), np.nan)
        shown[0, 0, active[known]] = _mean_of(model, scores[known])
        shown[1, 0, active], shown[2, 0, active] = -np.inf, np.inf
        numbers = {"still_in": float(len(stay)), "measurements": float(outcome.counts.sum())}
        return Decision.after(state, outcome, shown, ins=ins, outs=outs, numbers=numbers, memory=state.memory)

    def known(self, estimate: Estimate, active: Ints) -> Flags:
        """Return which compounds the stage estimates."""
        return estimate.estimable(active)

    def kept(self, state: State, ranked: Ints) -> int:
        """Return how many compounds, ranked by the estimate, stay after a stage that is not the last."""
        eta, n = float(self.parameters(state.problem)["eta"]), len(ranked)
        return min(math.ceil(n / eta - 1e-9), max(n - 1, 1))

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when one is left, or the budget is used up."""
        return settled(state) or over_budget(state, max(int(state.memory["stages"][0]) - state.phase, 1))


def stage_rows(state: State, active: Ints) -> tuple[ProjectedFeatures, ProjectedFeatures]:
    """Return the rows that may be measured, and those whose means are wanted, in the same coordinates.

    Compounds still in that can be measured, as in the paper, where they span all that are in; else all measurable.
    """
    problem = state.problem
    here = np.flatnonzero(state.active & problem.measurable)
    candidates = table(problem.features, here)
    if len(here) == len(active):
        return candidates, candidates
    if not len(here) or outside_span(problem.features, candidates.basis, active).any():
        here = np.flatnonzero(problem.measurable)
        candidates = table(problem.features, here)
    return candidates, table(problem.features, active, here)


def _predictors(
    model: str, features: Features, measured: Ints, counts: Floats, means: Floats, rows: Ints, bound: float
) -> Floats:
    """Return the predictor x'theta of each row ``(len(rows),)`` by maximum likelihood (eq. 4) within the bound.

    The mean h(x'theta) rises with it, so it gives the same ranks, also where rounding makes means equal near 0 and 1.
    ``means`` are those of ``counts`` measurements each: shares for the logistic model, counts for Poisson; others are
    refused. The bound holds for measured compounds; it keeps the estimate finite where all values of one are equal.
    """
    low, high = float(means.min()), float(means.max())
    if (model != "linear" and low < 0) or (model == "logistic" and high > 1):
        what = "shares between 0 and 1" if model == "logistic" else "counts of 0 or more"
        raise AssayPilotError(
            f"the {model} model needs {what}, and a mean of {low if low < 0 else high:.4g} returned",
            option="--parameter model",
            mend="Choose model=linear for other values.",
        )
    estimate = fit_glm(features, measured, counts, means, _LINKS[model], bound)
    return features.times(estimate.theta, rows)


def _mean_of(model: str, predictor: Floats) -> Floats:
    """Return h(x'theta): the mean of a predictor."""
    return mean_value(_LINKS[model], predictor)
