"""LinFACT with G-optimal designs: all compounds within epsilon of the best, with fixed confidence.

Source: "Identifying all epsilon-best arms in linear bandits", section 4.1 (Algorithms 1, 3 and 4, eq. 21), with the
noise, the slack, the first radius and the realised half-widths of our own statement.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.design import Design, achieved, apportion, ceilings, g_optimal
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import ProjectedFeatures, outside_span
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.phased import Phased, settled
from assaypilot.engine.strategies.protocol import (
    IN,
    UNDECIDED,
    Allocation,
    Certificate,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)

__all__ = ["LinFactG", "union_log"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Flags = NDArray[np.bool_]


_PRICE_OF_FEWER_ROUNDS = 1.1
"""How many times the measurements of the free design a design may cost that saves rounds."""

_ROOM = 1.05
"""A bound on the weights this close to uniform leaves a design no choice."""

_FEW = 0.25
"""Above this share of compounds among a phase's measurements, designs on fewer compounds are tried."""


def union_log(n_arms: int, phase: int, delta: float) -> float:
    """log(2 K r (r + 1) / delta): two sides of K means in every phase r, errors summing to delta."""
    return math.log(2.0 * n_arms * phase * (phase + 1) / delta)


class LinFactG(Phased):
    """All epsilon-best compounds; every phase bounds every active mean by the same radius, which then halves."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="linfact-g",
        version=1,
        title="LinFACT-G",
        goals=("epsilon-best",),
        parameters=(
            Parameter(
                "decide",
                "realised",
                "realised: bounds from the measurements that came back; planned: the bounds the plan promised",
            ),
            Parameter(
                "first_radius", None, "half-width after the first phase, model scale; none: from noise and slack"
            ),
            Parameter("gap", 1e-3, "how far the design may be from optimal (relative)"),
        ),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned "
            "and none worse than epsilon + slack, if the substituent effects add up"
        ),
        source="LinFACT, section 4",
    )

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters with their defaults; AssayPilotError for one out of range."""
        return _parameters(problem)

    def first_radius(self, problem: Problem) -> float:
        """The half-width after the first phase."""
        first = _parameters(problem)["first_radius"]
        return _first_radius(problem) if first is None else float(first)

    def radius(self, state: State, phase: int) -> float:
        """C_r: the first radius halved every phase, with slack never below a quarter of it."""
        radius = state.first_radius * 2.0 ** -(phase - 1)
        slack = _goal(state.problem).slack
        return max(radius, slack / 4.0) if slack > 0 else radius

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """The next phase: T(a) = ceil(2 g(w) w(a) sigma^2 / C^2 log(2 K r (r+1) / delta)) (eq. 21)."""
        problem = state.problem
        phase = state.phase + 1
        radius = self.radius(state, phase)
        wells = 2.0 * (problem.noise[0] / radius) ** 2 * union_log(int(problem.wanted.sum()), phase, problem.delta)
        candidates, design = _design(state, wells, report)
        counts = np.maximum(ceilings(design.weights, wells * design.value), 1)
        budget = problem.budget
        cut = budget is not None and counts.sum() > budget - state.spent
        if cut and budget is not None:
            # Sized before any of its values is seen, so the realised half-widths stay valid.
            counts = _cut(candidates, design, budget - state.spent)
            value = achieved(candidates, design.support, counts, candidates.onto(np.flatnonzero(state.active)))
            radius = math.sqrt(wells * value) * radius
        kept = counts > 0
        order = np.argsort(candidates.rows[design.support[kept]])
        return Allocation(
            phase=phase,
            arms=candidates.rows[design.support[kept]][order],
            counts=counts[kept][order].astype(np.intp),
            radius=radius,
            certificate=Certificate("g", design.value, design.lower_bound),
            cut_to_budget=bool(cut),
        )

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Good, bad or still open for every active arm, all bounds taken before any removal (Algorithm 3)."""
        problem = state.problem
        measured = np.flatnonzero(outcome.counts[0] > 0)
        active = np.flatnonzero(state.active)
        # Nothing is left to decide when all that a phase measured cannot be had any more.
        if not len(measured) or not len(active):
            return None
        phase = state.phase + 1
        mean, half = _estimate(problem, outcome, measured, active, phase)
        if _parameters(problem)["decide"] == "planned" and outcome.complete:
            # The promise counts where the measurements keep it: an arm that was not active when they were planned, and
            # is now, may be outside their span. The realised half-widths hold either way.
            promised = outcome.allocation.radius
            half = np.where(half <= promised * (1.0 + 1e-9), promised, half)
        low, high = mean - half, mean + half
        goal = _goal(problem)
        # The bounds of all phases hold together, so those of arms that were lost still say where the best may be.
        top = max(high.max(), state.high[0, state.lost].max(initial=-np.inf))
        best = max(low.max(), state.low[0, state.lost].max(initial=-np.inf))
        upper, lower = top - goal.epsilon, best - goal.epsilon
        bad = high < lower
        # In the soft zone narrow bounds allow both answers; bad is asked first, as in Algorithm 3.
        good = ~bad & (low >= upper - goal.slack if goal.slack > 0 else low > upper)
        before = state.status[active]
        good_now = (before == IN) | (good & (before == UNDECIDED))
        leaves = good_now & (high < best)
        spread = np.full((3, 1, problem.n_arms), np.nan)
        spread[:, 0, active] = np.where(np.isfinite(half), mean, np.nan), low, high
        return Decision(
            phase=phase,
            radius=outcome.allocation.radius,
            ins=active[good & (before == UNDECIDED)],
            outs=active[bad & (before == UNDECIDED)],
            left=active[leaves],
            estimate=spread[0],
            low=spread[1],
            high=spread[2],
            contradicted=active[bad & (before == IN)],
            spent=outcome.spent,
            numbers={
                "upper_threshold": float(upper),
                "lower_threshold": float(lower),
                "measurements": float(outcome.counts.sum()),
                "widest_half_width": float(half.max()),
            },
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Every wanted arm decided, nothing left to measure, or a budget below what one more phase needs."""
        done = settled(state)
        if done:
            return done
        open_arms = int(((state.status == UNDECIDED) & state.problem.wanted).sum())
        last, slack = state.last, _goal(state.problem).slack
        finest = last is not None and slack > 0 and 4.0 * last.radius <= slack * (1.0 + 1e-9)
        if last is not None and finest and state.lost.any() and not len(last.ins) and not len(last.outs):
            lost = int(state.lost.sum())
            text = f"{lost} of the best cannot be measured any more; against their last bounds {open_arms} stay open"
            return (StopReason("lost", text, {"lost": lost, "undecided": open_arms}),)
        budget = state.problem.budget
        if budget is not None:
            left = budget - state.spent
            rank = _design_rows(state)[0].rank
            if left < rank:
                text = f"the budget leaves {max(left, 0)} measurements, and one more decision needs at least {rank}"
                return (StopReason("budget", text, {"left": left, "needed": rank, "undecided": open_arms}),)
        return ()


def _goal(problem: Problem) -> AllEpsilonBest:
    assert isinstance(problem.goal, AllEpsilonBest)
    return problem.goal


def _parameters(problem: Problem) -> dict[str, Any]:
    parameters = {p.name: p.default for p in LinFactG.info.parameters} | dict(problem.parameters)
    if parameters["decide"] not in ("realised", "planned"):
        raise AssayPilotError(
            f"decide must be realised or planned, got {parameters['decide']!r}", option="--parameter decide"
        )
    for name, below in (("first_radius", math.inf), ("gap", 1.0)):
        value = parameters[name]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (number and 0 < value < below):
            bounds = "above 0" if below == math.inf else f"above 0 and below {below:g}"
            raise AssayPilotError(f"{name} must be a number {bounds}, got {value!r}", option=f"--parameter {name}")
    if parameters["gap"] is None:
        parameters["gap"] = next(p.default for p in LinFactG.info.parameters if p.name == "gap")
    return parameters


def _first_radius(problem: Problem) -> float:
    """The largest radius whose first phase still takes about 2 d measurements.

    With slack it is gamma / 4 times a power of two, so that the last phase has exactly gamma / 4; without, a power of
    two. 2 d sigma^2 / C^2 log(4 K / delta) >= 2 d means C <= sigma sqrt(log(4 K / delta)).
    """
    largest = problem.noise[0] * math.sqrt(union_log(int(problem.wanted.sum()), 1, problem.delta))
    slack = _goal(problem).slack
    last = slack / 4.0 if slack > 0 else 1.0
    steps = math.floor(math.log2(largest / last) + 1e-12)
    return last * 2.0 ** (max(steps, 0) if slack > 0 else steps)


def _design_rows(state: State) -> tuple[ProjectedFeatures, ProjectedFeatures | None]:
    """What the phase may measure, and what it must bound (None: the same rows).

    Active arms that can be measured, as in the paper, when they span the active set; else all that can be measured.
    """
    problem = state.problem
    active = np.flatnonzero(state.active)
    here = np.flatnonzero(state.active & problem.measurable)
    candidates = ProjectedFeatures(problem.features, here)
    if len(here) == len(active):
        return candidates, None
    if outside_span(problem.features, candidates.basis, active).any():
        candidates = ProjectedFeatures(problem.features, np.flatnonzero(problem.measurable))
    return candidates, candidates.onto(active)


class Plan(NamedTuple):
    """A design and the rows its support counts in."""

    candidates: ProjectedFeatures
    design: Design


def _design(state: State, wells: float, report: Report) -> Plan:
    """The phase's design; ``wells`` is the measurements it takes per unit of the design's value."""
    candidates, targets = _design_rows(state)
    gap = float(_parameters(state.problem)["gap"])
    free = g_optimal(candidates, targets=targets, gap=gap, report=report)
    if len(free.support) > _FEW * wells * free.value:
        # A short phase pays for every compound of its design by a rounded-up measurement: fewer compounds cost less.
        fewer = g_optimal(candidates, targets=targets, gap=gap, max_support=4 * candidates.rank, report=report)
        free = min((free, fewer), key=lambda design: int(ceilings(design.weights, wells * design.value).sum()))
    if state.problem.capacity is None:
        return Plan(candidates, free)
    return _in_few_rounds(state, candidates, targets, wells, gap, free, report)


def _in_few_rounds(
    state: State,
    candidates: ProjectedFeatures,
    targets: ProjectedFeatures | None,
    wells: float,
    gap: float,
    free: Design,
    report: Report,
) -> Plan:
    """The design that needs the fewest rounds among those that cost little more than the free one.

    A lab takes ``max_replicates`` of a compound in a round, so a design on few compounds can need more rounds than its
    measurements fill. A bound on the weights spreads them over more compounds: first over active ones; where those are
    too few to fill a round, over everything measurable in their span, which bounds the active means just as well.
    """
    capacity = state.problem.capacity
    assert capacity is not None
    # Rounding up must not push a compound over the bound, and the design may cost the whole price.
    total = _PRICE_OF_FEWER_ROUNDS * wells * free.value
    needed = math.ceil(wells * free.value * float(free.weights.max()) / capacity.max_replicates)
    best = Plan(candidates, free)

    def bounded(pool: ProjectedFeatures, aims: ProjectedFeatures | None, rounds: int) -> Design | None:
        upper = capacity.max_replicates * rounds / total
        design = g_optimal(pool, targets=aims, gap=gap, upper=upper, report=report)
        return design if design.value <= _PRICE_OF_FEWER_ROUNDS * free.value else None

    def fewest(pool: ProjectedFeatures) -> int:
        room = math.ceil(_ROOM * total / (capacity.max_replicates * pool.n_rows))
        return max(math.ceil(total / capacity.per_round), room)

    low = fewest(candidates)
    while low < needed:
        rounds = (low + needed) // 2
        design = bounded(candidates, targets, rounds)
        if design is None:
            low = rounds + 1
        else:
            best, needed = Plan(candidates, design), rounds
    problem = state.problem
    outside = outside_span(problem.features, candidates.basis)
    pool = candidates.onto(np.flatnonzero(problem.measurable & ~outside))
    if pool.n_rows > candidates.n_rows and fewest(pool) < needed:
        aims = candidates if targets is None else targets
        design = bounded(pool, aims, fewest(pool))
        if design is not None:
            best = Plan(pool, design)
    return best


def _cut(candidates: ProjectedFeatures, design: Design, n: int) -> Ints:
    """N measurements of the design's compounds; the full rank is kept as long as n allows."""
    counts = apportion(design.weights, n)
    if np.isfinite(achieved(candidates, design.support, counts)):
        return counts.astype(np.intp)
    # Fewer measurements than compounds in the support: one each on compounds that span, the rest by weight.
    chosen: list[int] = []
    basis = np.zeros((0, candidates.rank))
    rows = candidates.coordinates(design.support)
    for position in np.argsort(-design.weights, kind="stable"):
        rest = rows[position] - basis.T @ (basis @ rows[position])
        length = np.linalg.norm(rest)
        if length > 1e-8 * np.linalg.norm(rows[position]):
            basis = np.vstack([basis, rest / length])
            chosen.append(int(position))
    counts = np.zeros(len(design.weights), dtype=np.intp)
    counts[chosen] = 1
    share = design.weights * (n - len(chosen))
    counts += np.floor(share).astype(np.intp)
    for position in np.argsort(-(share - np.floor(share)), kind="stable")[: n - int(counts.sum())]:
        counts[position] += 1
    return counts


def _estimate(problem: Problem, outcome: Outcome, measured: Ints, active: Ints, phase: int) -> tuple[Floats, Floats]:
    """Means and half-widths of the active arms from this phase's measurements only (eq. 24, 25).

    sigma ||a||_{V^-1} sqrt(2 log(2 K r (r+1) / delta)); infinite, with mean 0, outside the span of what was measured.
    """
    fit = least_squares(problem.features, measured, outcome.counts[0, measured], outcome.means[0, measured])
    norms = fit.half_norms(active)
    mean = np.where(np.isfinite(norms), fit.means(active), 0.0)
    spread = problem.noise[0] * math.sqrt(2.0 * union_log(int(problem.wanted.sum()), phase, problem.delta))
    half = spread * norms
    return mean, half
