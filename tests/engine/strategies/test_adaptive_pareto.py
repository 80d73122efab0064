"""``adaptive`` for the Pareto set: its statement written plainly, its errors against delta, and what it takes."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.strategies.adaptive import sequential_tests
from assaypilot.engine.strategies.adaptive.evidence import NO_ARM
from assaypilot.engine.strategies.adaptive.fronts import SHARES
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from assaypilot.engine.strategies.adaptive.sequential_tests import limits, rounded_level
from assaypilot.engine.strategies.protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Allocation,
    Capacity,
    Certificate,
)
from tests.oracles.adaptive_pareto import PlainFront
from tests.strategies import came_back, dense, few, phases, problem_of, product, random_table


def levels(problem, left):
    """(of one out, of one in and one endpoint) as the statement has them."""
    delta, n = problem.delta, problem.n_arms
    one = 0.6 * delta / n
    return one + 0.35 * delta / left, one / problem.n_endpoints


@pytest.mark.parametrize("seed", few(2, of=6))
@pytest.mark.parametrize("kind", ["full", "sparse", "deficient"])
def test_decisions_are_those_of_the_plain_statement(seed, kind):
    """Whatever comes back: lost and uneven measurements of either endpoint, up to ten phases."""
    rng = np.random.default_rng((1, seed))
    codes, sizes = random_table(rng, kind, most=14)
    features = SiteFeatures(codes, sizes)
    truth = np.stack([dense(features) @ rng.normal(0.0, 0.5, features.n_columns) for _ in range(2)])
    margins = (0.3, 0.2) if seed % 3 else (0.0, 0.0)
    problem = problem_of(features, goal=ParetoSet(margins), delta=0.2, sd=(0.25, 0.2), capacity=Capacity(24, 4))
    strategy = AdaptivePareto()
    expected = int(strategy.start(problem).memory["expected"][0])
    plain = PlainFront(
        dense(features),
        problem.noise,
        margins,
        lambda left: [limits(rounded_level(w * levels(problem, left)[0]), expected, 40) for w in SHARES],
        limits(levels(problem, 1)[1], expected, 40),
    )
    seen = 0
    for state, outcome, decision in phases(strategy, problem, truth, rng, most=10, lost=0.15, extra=2):
        if decision is None:
            continue
        seen += 1
        plain.phase(outcome.counts, outcome.means, decision.memory["beaters"], decision.memory["since"])
        after = strategy.apply(state, decision)
        assert np.array_equal(np.flatnonzero(after.status == OUT), np.flatnonzero(plain.out))
        assert np.array_equal(np.flatnonzero(after.status == IN), np.flatnonzero(plain.into))
    assert seen >= 1


def test_who_may_beat_whom_is_fixed_before_the_phase_that_shows_it():
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = np.random.default_rng(2).normal(0.0, 0.4, (2, 9))
    problem = problem_of(features, goal=ParetoSet((0.1, 0.1)), sd=(0.3, 0.3), capacity=Capacity(18, 8))
    strategy, rng = AdaptivePareto(), np.random.default_rng(3)
    state, named = strategy.start(problem), []
    for _ in range(4):
        plan = strategy.ask(state)
        up, down = (came_back(problem, sign * truth, plan, np.random.default_rng(8)) for sign in (1, -1))
        one, other = strategy.decide(state, up), strategy.decide(state, down)
        here = one.memory["beaters"] != NO_ARM
        before = state.memory["beaters"] != NO_ARM
        # Who was named stays, from the phase it was named in; newcomers count from the phase to come.
        assert (one.memory["beaters"][before] == state.memory["beaters"][before]).all()
        assert (one.memory["since"][before] == state.memory["since"][before]).all()
        for decision in (one, other):
            new = (decision.memory["beaters"] != NO_ARM) & ~before
            assert (decision.memory["since"][new] == state.phase + 1).all()
        named.append(int(here.sum()))
        state = strategy.tell(state, came_back(problem, truth, plan, rng, spent=state.spent))
    assert named[0] > 0


def test_what_becomes_unavailable_during_a_phase_changes_nobody_who_may_beat_others():
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = np.random.default_rng(2).normal(0.0, 0.4, (2, 9))
    problem = problem_of(features, goal=ParetoSet((0.1, 0.1)), sd=(0.3, 0.3), capacity=Capacity(18, 8))
    strategy, rng = AdaptivePareto(), np.random.default_rng(3)
    state = strategy.start(problem)
    state = strategy.tell(state, came_back(problem, truth, strategy.ask(state), rng))
    outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
    gone = int(state.memory["beaters"].max())
    without = strategy.adjust(state, measurable=np.arange(9) != gone, spent=state.spent)
    used = [
        {name: found.memory[name][found.memory["since"] == 1].tolist() for name in ("beaters", "since")}
        for found in (strategy.decide(one, outcome) for one in (state, without))
    ]
    assert used[0] == used[1]
    assert gone in used[0]["beaters"]


def errors(truth, margins, runs, monkeypatch=None, shrink=1.0, delta=0.3):
    """(share of campaigns with a wrong decision, what was decided) on compounds of their own, four of each a phase."""
    if shrink != 1.0:
        monkeypatch.setattr(sequential_tests, "limits", lambda *given: limits(*given) / shrink)
    truth = np.asarray(truth, float)
    n = truth.shape[1]
    goal = ParetoSet(margins)
    problem = problem_of(DenseFeatures(np.eye(n)), goal=goal, delta=delta, sd=(1.0, 1.0), capacity=Capacity(4 * n, 8))
    members, acceptable = goal.members(truth), goal.acceptable(truth)
    strategy, rng, wrong = AdaptivePareto(), np.random.default_rng(4), 0
    start = strategy.start(problem)
    plan = Allocation(1, np.arange(n), np.full(n, 4), math.inf, Certificate("g", 1.0, 1.0))
    for _ in range(runs):
        state = start
        for _ in range(6):
            state = strategy.tell(state, came_back(problem, truth, plan, rng, spent=state.spent))
            if not (state.status == UNDECIDED).any():
                break
        wrong += bool((members & (state.status == OUT)).any() or (~acceptable & (state.status == IN)).any())
    return wrong / runs


MEMBER = [[0.0, 0.0], [9.0, 0.0]], (0.0, 0.0)
"""The second is far behind in one endpoint, equal in the other: nobody beats it, and one endpoint errs."""
BEATEN = [[2.0 + 1e-9, 0.0], [2.0 + 1e-9, 0.0]], (2.0, 2.0)
"""The second is beaten by a hair more than the margins."""


@pytest.mark.slow
@pytest.mark.parametrize(("truth", "margins"), [MEMBER, BEATEN], ids=["out", "in"])
def test_two_compounds_at_the_border_err_at_most_delta_but_with_limits_shrunk(truth, margins, monkeypatch):
    rate = errors(truth, margins, 80)
    assert 0.0 < rate <= 0.3
    assert errors(truth, margins, 80, monkeypatch, shrink=1.5) > 1.5 * rate


def ended(state, truth, rng):
    strategy = AdaptivePareto()
    for _ in range(60):
        reasons = strategy.stop(state)
        if reasons:
            return state, reasons[0].name
        state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng, spent=state.spent))
    raise AssertionError("it does not end")


@pytest.mark.parametrize("capacity", [Capacity(24, 24), None], ids=["plates", "no plates"])
def test_one_that_beats_others_runs_out_and_still_counts(capacity):
    """The first beats the second by the margin or so: nothing is ever known again of the two together."""
    truth, rng = np.array([[1.0, 0.85, 0.0, -3.0], [1.0, 0.85, 2.0, -3.0]]), np.random.default_rng(7)
    goal = ParetoSet((0.1, 0.1))
    problem = problem_of(DenseFeatures(np.eye(4)), goal=goal, sd=(0.3, 0.3), delta=0.05, capacity=capacity)
    strategy = AdaptivePareto()
    state = strategy.start(problem)
    for _ in range(2):
        plan = Allocation(1, np.arange(4), np.full(4, 4), math.inf, Certificate("g", 1.0, 1.0))
        state = strategy.tell(state, came_back(problem, truth, plan, rng, spent=state.spent))
    state = strategy.adjust(state, measurable=np.array([False, True, True, True]), spent=state.spent)
    assert state.lost.tolist() == [True, False, False, False]
    state, why = ended(state, truth, rng)
    assert state.status.tolist() == [NOT_ESTIMABLE, UNDECIDED, IN, OUT]
    assert why == "lost"
    # It can be had again: what was open is decided.
    back = strategy.adjust(state, measurable=np.ones(4, dtype=bool), spent=state.spent)
    state, why = ended(back, truth, rng)
    assert (why, state.status[0], state.status[1]) == ("decided", IN, OUT)
