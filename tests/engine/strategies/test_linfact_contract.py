"""What LinFACT keeps beyond the contract of all strategies: bounds, radii, units, budgets, and how it ends."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.strategies.linfact.xy_optimal import LinFactXY, LinFactXYAsPrinted
from assaypilot.engine.strategies.protocol import (
    UNDECIDED,
    Capacity,
    Outcome,
)
from tests.strategies import came_back, dense, phases, problem_of, product, random_table, seeds

MODES = ("realised", "planned")
KINDS = [LinFactG, LinFactXY, LinFactXYAsPrinted]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.info.name)
def strategy(request):
    return request.param()


def options(strategy, mode):
    """The mode, for strategies that have one."""
    return {"decide": mode} if any(p.name == "decide" for p in strategy.info.parameters) else {}


def random_problem(strategy, seed, **changes):
    """A problem on a full, sparse or rank-deficient table and its truth."""
    rng = np.random.default_rng((21, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=20)
    features = SiteFeatures(codes, sizes)
    given = {
        "epsilon": float(rng.uniform(0.2, 1.0)),
        "slack": float(rng.uniform(0.1, 0.5)),
        "sd": float(rng.uniform(0.05, 0.3)),
        **options(strategy, MODES[seed // 3 % 2]),
    } | changes
    problem = problem_of(features, **given)
    return problem, dense(features) @ rng.normal(0.0, 0.5, features.n_columns), rng


@pytest.mark.parametrize("mode", MODES)
def test_partial_phase_decides_with_what_returned(strategy, mode):
    """One compound measured of many: only its own direction is known; nothing is NaN that is asked about."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    problem = problem_of(features, **options(strategy, mode))
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    counts = np.zeros(9)
    counts[allocation.arms[0]] = 50.0
    decision = strategy.decide(state, Outcome(allocation, counts[None], np.ones((1, 9))))
    unknown = np.delete(np.arange(9), allocation.arms[0])
    assert np.isneginf(decision.low[0, unknown]).all()
    assert np.isposinf(decision.high[0, unknown]).all()
    assert np.isnan(decision.estimate[0, unknown]).all()
    assert np.isfinite([decision.low[0, allocation.arms[0]], decision.high[0, allocation.arms[0]]]).all()
    assert len(decision.ins) == len(decision.outs) == 0
    after = strategy.apply(state, decision)
    assert after.phase == 1
    assert after.active.all()
    assert strategy.ask(after).phase == 2


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(6))
def test_with_slack_a_radius_of_a_quarter_of_it_decides_everything(strategy, mode, seed):
    """On any values: 4 C <= slack leaves no compound undecided, and the run ends with the phase of that radius."""
    problem, truth, rng = random_problem(strategy, seed, **options(strategy, mode))
    slack = problem.goal.slack
    history = list(phases(strategy, problem, truth, rng))
    state, outcome, decision = history[-1]
    after = strategy.apply(state, decision)
    assert [reason.name for reason in strategy.stop(after)] == ["decided"]
    assert outcome.allocation.radius >= slack / 4 * (1 - 1e-9)
    assert all(o.allocation.radius > slack / 4 * (1 + 1e-9) for _, o, _ in history[:-1])
    # Values that are no campaign's: drawn anywhere, the last phase still decides them all.
    start = strategy.start(problem)
    last = replace(start, first_radius=slack / 4)
    allocation = strategy.ask(last)
    for _ in range(20):
        means = rng.normal(0.0, problem.goal.epsilon + slack, problem.n_arms)
        counts = np.zeros(problem.n_arms)
        counts[allocation.arms] = allocation.counts
        done = strategy.decide(last, Outcome(allocation, counts[None], means[None]))
        assert len(done.ins) + len(done.outs) == problem.n_arms


@given(seed=seeds, shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.info.name)
def test_units_do_not_matter(kind, seed, shift, scale):
    """Everything in units of ``scale`` from ``shift``: the same measurements and decisions (slack sets the radii)."""
    strategy = kind()
    problem, truth, rng = random_problem(strategy, seed % 1000)
    goal = problem.goal
    other = replace(
        problem,
        goal=type(goal)(goal.epsilon * scale, goal.slack * scale),
        noise=(problem.noise[0] * scale,),
    )
    one, two = strategy.start(problem), strategy.start(other)
    allocation, scaled = strategy.ask(one), strategy.ask(two)
    # A radius at the very edge of taking 2 d measurements may fall on either side of it.
    if scaled.radius == pytest.approx(allocation.radius * scale):
        assert scaled.arms.tolist() == allocation.arms.tolist()
        assert np.abs(scaled.counts - allocation.counts).max() <= 1
    outcome = came_back(problem, truth, allocation, rng)
    moved = np.where(outcome.counts > 0, shift + scale * outcome.means, 0.0)
    decision = strategy.decide(one, outcome)
    again = strategy.decide(two, Outcome(replace(allocation, radius=scale * allocation.radius), outcome.counts, moved))
    for name in ("low", "high", "estimate"):
        expected = shift + scale * getattr(decision, name)
        np.testing.assert_allclose(getattr(again, name), expected, rtol=1e-7, atol=1e-7 * max(1.0, scale))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("budget", [7, 8, 77])
def test_the_last_phase_fits_the_budget(strategy, mode, budget):
    """Rank 7 of 3 x 5: no phase asks for more than is left; below the rank that is the reason to stop."""
    features = SiteFeatures(product((3, 5)), (3, 5))
    problem = problem_of(
        features, slack=0.0, epsilon=0.1, sd=0.5, capacity=Capacity(24, 4, budget=budget), **options(strategy, mode)
    )
    truth = dense(features) @ np.linspace(0.0, 0.05, 9)
    rng = np.random.default_rng(budget)
    state, cut = strategy.start(problem), False
    for _ in range(20):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert allocation.total <= budget - state.spent
        assert not cut
        cut = allocation.cut_to_budget
        assert cut == (allocation.total == budget - state.spent)
        assert math.isfinite(allocation.radius)
        outcome = came_back(problem, truth, allocation, rng, spent=state.spent)
        decision = strategy.decide(state, outcome)
        # The full rank is kept, so every compound has bounds.
        assert np.isfinite(decision.low[0, state.active]).all()
        state = strategy.apply(state, decision)
    (reason,) = strategy.stop(state)
    assert reason.name == "budget"
    assert reason.numbers["needed"] <= 7
    assert reason.numbers["left"] < reason.numbers["needed"]
    assert str(int(reason.numbers["left"])) in reason.text
    assert reason.numbers["undecided"] == (state.status == UNDECIDED).sum()
