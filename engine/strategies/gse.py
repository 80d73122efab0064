"""GSE: the best compound within a fixed budget, half of those left dropped at every stage.

A stage spreads its measurements evenly, by a G-optimal design, or step by step.
Source: "Fixed-budget best-arm identification in structured bandits", Algorithms 1 and 2, eq. 1 and 4, sections 6 and 8,
appendix H.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..design import achieved, round_design
from ..design.budget_supports import independent
from ..domain.features import Features, ProjectedFeatures, outside_span
from ..errors import AssayPilotError
from ..models.glm import Link, fit_glm, mean_value
from ..models.ols import Estimate
from ..system.progress import Report, silent
from .designs import fit, g_design, in_question, table
from .phased import Phased, needs_budget, number, one_of, over_budget, settled
from .protocol import (
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

MOST_FOR_GREEDY = 3000
"""The greedy allocation compares all compounds with all at every step."""
_GAP = 1e-3
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


def allocate(
    name: str, candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator
) -> Ints:
    """Return measurements of each candidate ``(n_rows,)``, ``n`` in all; they estimate every effect when n >= d.

    ``targets``: the compounds still in, in the candidates' coordinates (``fwg`` and ``greedy`` look at their means).
    """
    counts = ALLOCATIONS[name](candidates, targets, n, rng)
    used = np.flatnonzero(counts)
    if n >= candidates.rank and not math.isfinite(achieved(candidates, used, counts[used])):
        counts = _spanning(candidates, counts, n, rng)
    return counts


def _evenly(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Return the same for all; what is left over goes to compounds drawn at random."""
    counts = np.full(candidates.n_rows, n // candidates.n_rows, dtype=np.intp)
    counts[rng.permutation(candidates.n_rows)[: n - int(counts.sum())]] += 1
    return counts


def _design(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Return the G-optimal design that Algorithm 2 (FWG) approaches, rounded by Allen-Zhu's swaps as there.

    Algorithm 2's Frank-Wolfe steps are replaced by a solver that reaches the optimum they converge to.
    """
    design = g_design(candidates.features, candidates.rows, gap=_GAP).design
    try:
        made = round_design(design, candidates, n, method="swap")
    except AssayPilotError:
        # Too few for every effect: the heaviest of the design.
        support, counts = design.support, np.zeros(candidates.n_rows, dtype=np.intp)
        counts[support[np.argsort(-design.weights, kind="stable")[:n]]] = 1
        return counts
    if not math.isfinite(made.value):
        made = round_design(design, candidates, n, method="best")
    counts = np.zeros(candidates.n_rows, dtype=np.intp)
    counts[made.support] = made.counts
    return counts


def _one_by_one(candidates: ProjectedFeatures, n: int, rng: np.random.Generator, pick: Callable[[Floats], int]) -> Ints:
    """Start from spanning compounds drawn at random, then add single measurements where ``pick`` chooses by V^-1."""
    counts = np.zeros(candidates.n_rows, dtype=np.intp)
    start = independent(candidates, rng.permutation(candidates.n_rows))[:n]
    counts[start] = 1
    if n <= len(start):
        return counts
    rows = candidates.coordinates(start)
    inverse = np.asarray(np.linalg.inv(rows.T @ rows), dtype=np.float64)
    for _ in range(n - len(start)):
        chosen = pick(inverse)
        counts[chosen] += 1
        x = candidates.coordinates(np.array([chosen]))[0]
        step = inverse @ x
        inverse = inverse - np.outer(step, step) / (1.0 + float(x @ step))
    return counts


def _greedy(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Soare et al. (2014): the measurement that leaves the smallest largest variance of a mean."""
    x, z = candidates.coordinates(), targets.coordinates()

    def pick(inverse: Floats) -> int:
        half = x @ inverse
        own = np.einsum("ij,ij->i", half, x)
        before = np.einsum("ij,ij->i", z @ inverse, z)
        worst = np.empty(len(x))
        step = max(1, 1_000_000 // len(z))
        for first in range(0, len(x), step):
            part = slice(first, first + step)
            after = before - (half[part] @ z.T) ** 2 / (1.0 + own[part, None])
            worst[part] = after.max(axis=1)
        # Where several variances are equally large no single measurement lowers the worst; then the largest goes first.
        tied = np.flatnonzero(worst <= float(worst.min()) * (1.0 + 1e-9))
        return int(tied[np.argmax(own[tied])])

    return _one_by_one(candidates, n, rng, pick)


def _wynn(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Wynn (Fedorov 1972): always the compound whose mean has the largest variance."""
    return _one_by_one(candidates, n, rng, lambda inverse: int(np.argmax(candidates.quadratic(inverse))))


def _spanning(candidates: ProjectedFeatures, counts: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return counts near those given that estimate every effect: compounds that span have one, the rest as it was."""
    order = rng.permutation(candidates.n_rows)
    # Those that are measured anyway first.
    order = order[np.argsort(-counts[order], kind="stable")]
    needed = independent(candidates, order)
    made = counts.copy()
    made[needed] = np.maximum(made[needed], 1)
    free = made.copy()
    free[needed] -= 1
    while made.sum() > n:
        most = int(np.argmax(free))
        made[most] -= 1
        free[most] -= 1
    return made


ALLOCATIONS: dict[str, Callable[[ProjectedFeatures, ProjectedFeatures, int, np.random.Generator], Ints]] = {
    "uniform": _evenly,
    "fwg": _design,
    "greedy": _greedy,
    "wynn": _wynn,
}
"""The allocations by name."""
