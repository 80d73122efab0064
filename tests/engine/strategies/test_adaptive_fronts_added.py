"""Compounds added to trade-offs by somebody who has seen the results, knows the truth, and wants the answer wrong."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.features import DenseFeatures
from assaypilot.engine.goals import ParetoSet
from assaypilot.engine.strategies.adaptive.cohorts import Cohorts, shared
from assaypilot.engine.strategies.adaptive.evidence import Evidence
from assaypilot.engine.strategies.adaptive.front_cohorts import FrontSharing
from assaypilot.engine.strategies.adaptive.fronts import NOBODY, SHARES
from assaypilot.engine.strategies.adaptive.goals import AdaptiveGoals
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from assaypilot.engine.strategies.anew import anew
from assaypilot.engine.strategies.derived import Phase
from assaypilot.engine.strategies.protocol import IN, OUT, Allocation, Capacity, Certificate, Outcome, Problem, State

DELTA, WAYS, EACH, MARGIN = 0.3, 24, 16, 0.4
TRUTH = np.array([[-1.0, *[0.0] * (WAYS - 1)], [-1.0, *(0.5 * np.arange(WAYS - 1))]])
"""Effects, one row for each endpoint: all but one are alike in the first, so that nobody beats them, by a hair."""
GOAL = ParetoSet((MARGIN, MARGIN))
PLAN = Allocation(1, np.arange(WAYS), np.full(WAYS, EACH), math.inf, Certificate("g", 1.0, 1.0))
STRATEGY = AdaptiveGoals()


def problem_of(x: np.ndarray) -> Problem:
    everything = np.ones(len(x), dtype=bool)
    return Problem(DenseFeatures(x), everything, everything, GOAL, DELTA, (1.0, 1.0), capacity=Capacity(24, 8))


def worst(seen: np.ndarray) -> np.ndarray:
    """Compounds for which what was seen in the first endpoint is most misleading.

    One that nobody beats and that was seen far behind; one that another beats by a little more than the margins and
    that was seen far ahead; and one that so beats an older one, and was seen far behind it.
    """
    other = TRUTH[1] - TRUTH[1, 1:].mean()
    most = seen[0] - seen[0, 1:].mean()
    most[0] = other[0] = 0.0
    most -= other * (most @ other) / (other @ other)  # so that it changes no mean
    most *= 9.0 / np.linalg.norm(most)
    one, beyond = np.eye(WAYS), MARGIN + 0.001
    return np.array([one[1] - most, one[5] + beyond * one[0] + most, one[WAYS - 1] - beyond * one[0] - most])


def grown(state: State, phases: list[Phase], more: np.ndarray) -> tuple[State, list[Phase]]:
    """The state with more compounds, as the phases so far decide then."""
    x = np.vstack([state.problem.features.dense(np.arange(state.problem.n_arms)), more])
    n = len(more)

    def wide(flags: np.ndarray) -> np.ndarray:
        return np.concatenate([flags, np.zeros(n, dtype=bool)])

    none = np.zeros((2, n))
    old = [
        Phase(
            replace(
                one.outcome,
                counts=np.hstack([one.outcome.counts, none]),
                means=np.hstack([one.outcome.means, none]),
            ),
            wide(one.active), wide(one.lost), wide(one.known), wide(one.measurable), *one[5:],
        )._replace(named={
            name: np.pad(held, ((0, 0), (0, n)), constant_values=filled)
            for (name, held), filled in zip((one.named or {}).items(), (NOBODY, 0), strict=True)
        })
        for one in phases
    ]  # fmt: skip
    start = replace(STRATEGY.start(problem_of(x)), spent=state.spent)
    decision = anew(STRATEGY, start, old)
    assert decision is not None
    return STRATEGY.apply(start, decision), old


def campaign(rng: np.random.Generator, additions: int, phases: int = 6) -> tuple[bool, State]:
    """Whether anything was ever decided wrongly, and the state at the end."""
    state, done = STRATEGY.start(problem_of(np.eye(WAYS))), []
    # Limits hold for every look at which the end is expected; for this one errors are likeliest.
    state = replace(state, memory={**state.memory, "expected": np.array([3])})
    total = np.zeros((2, WAYS))
    for number in range(1, phases + 1):
        n = state.problem.n_arms
        counts, means = np.zeros((2, n)), np.zeros((2, n))
        errors = rng.standard_normal((2, WAYS)) / math.sqrt(EACH)
        counts[:, :WAYS], means[:, :WAYS] = EACH, TRUTH + errors
        total += errors
        outcome = Outcome(replace(PLAN, phase=number), counts, means, state.spent + PLAN.total)
        before, state = state, STRATEGY.tell(state, outcome)
        everything = np.ones(n, dtype=bool)
        own = (before.active, before.lost, everything, everything, False)
        named = {name: state.memory[name] for name in ("beaters", "since")}
        done.append(Phase(outcome, *own, None, int(state.memory["expected"][0]), named=named))
        if wrong(state):
            return True, state
        if number in (3, 5)[:additions]:
            state, done = grown(state, done, worst(total))
            if wrong(state):
                return True, state
    return False, state


def wrong(state: State) -> bool:
    means = TRUTH @ state.problem.features.dense(np.arange(state.problem.n_arms)).T
    leads = (means[:, None, :] - means[:, :, None]).min(axis=0)  # of the second over the first, in the least endpoint
    # What lies on the border is not beaten, whatever the last digit says.
    unbeaten = (leads <= 1e-9).all(axis=1)
    far_behind = (leads > MARGIN + 1e-9).any(axis=1)
    return bool((unbeaten & (state.status == OUT)).any() or (far_behind & (state.status == IN)).any())


def rate(runs: int, additions: int = 2) -> float:
    rng = np.random.default_rng((6, additions))
    return float(np.mean([campaign(rng, additions)[0] for _ in range(runs)]))


def test_whoever_adds_compounds_by_the_results_is_not_wrong_more_often_than_stated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert rate(16) <= DELTA * shared(3)
    # Were earlier phases to speak of compounds that were chosen by them, most campaigns would be wrong.
    monkeypatch.setattr(Evidence, "__setattr__", _but_came)
    monkeypatch.setattr(Evidence, "_came", None, raising=False)
    assert rate(6) > 2.0 * DELTA


def _but_came(self: Evidence, name: str, value: object) -> None:
    if name != "_came":
        object.__setattr__(self, name, value)


def test_what_was_named_out_and_counted_is_remembered_when_compounds_come() -> None:
    rng = np.random.default_rng(3)
    while True:
        failed, state = campaign(rng, 1, phases=3)
        if not failed:
            break
    came, kept = state.memory["came"], state.memory["kept"]
    assert came.tolist() == [0] * WAYS + [3] * 3
    assert kept.tolist() == [int((state.status[:WAYS] != OUT).sum())]
    assert not (state.status[WAYS:] != 0).any(), "nothing is said of them yet"
    assert not (state.status == IN).any(), "nobody was compared with them"
    assert (state.memory["beaters"] < WAYS).all()
    named = state.memory["beaters"] >= 0
    assert named[:, state.status == OUT].any(axis=0).all(), "who is out is so by those named before"


def test_the_errors_of_all_cohorts_add_up_to_what_is_stated() -> None:
    """Every walk that may pass wrongly, counted: A or B of each compound, and one rival more of each later cohort."""
    came = np.repeat([0, 2, 4], [5, 2, 3])
    levels: list[float] = []

    def noted(level: float) -> np.ndarray:
        levels.append(level)
        return np.full(3, level)

    memory = {"came": came, "kept": np.array([4, 2])}
    sharing = FrontSharing(problem_of(np.eye(10)), memory, noted)
    every, n = np.arange(10), 2
    table, level = sharing.means(every)
    means = 2.0 * n * float(table[level, 0].sum())
    table, level = sharing.ins(every[:, None], every)
    each = n * table[level, 0]
    own = each[:5, 0].sum() + each[5:7, 5].sum() + each[7:, 7].sum()
    assert np.allclose(each[5:7, :5], each[5, 5]), "against an older rival, too, it is that of its coming"
    older = each[:5, 5].sum() + each[:7, 7].sum()
    of_outs = 0.35 * DELTA * shared(3)
    assert means + own + older + of_outs == pytest.approx(DELTA * shared(3))
    told = [found[which, 0] for found, which in sharing.outs(every, np.array([1, 1, 3]))]
    for share, found in zip(SHARES, told, strict=True):
        # Who was out before others came is not counted any more: four, two and three are left.
        for arm, left, of in ((0, 4, 1.0), (5, 2, 0.1), (7, 3, 0.05)):
            most = share * (each[arm, arm] + 0.35 * DELTA * of / left)
            assert 0.8 * most < found[arm] <= most
    assert np.array_equal(Cohorts.remembered(memory, np.ones(10, dtype=bool)).sizes, [5, 2, 3])


def test_without_cohorts_all_levels_are_those_of_the_start() -> None:
    problem = problem_of(np.eye(WAYS))
    sharing = FrontSharing(problem, AdaptivePareto().memory(problem), lambda level: np.full(2, level))
    table, level = sharing.ins(np.arange(2), np.arange(2))
    assert level is None
    assert table[0] == pytest.approx(0.6 * DELTA / WAYS / 2)
