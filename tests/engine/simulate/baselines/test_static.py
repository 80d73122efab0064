"""Uniform, static and oracle runs: what they ask for, what their bounds prove, and what they refuse."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate import baselines
from assaypilot.engine.simulate.baselines import static as rules
from assaypilot.engine.strategies.fixed_pool import fitted
from assaypilot.engine.strategies.protocol import IN, UNDECIDED, Capacity
from tests.strategies import came_back, dense, problem_of, product, random_table

GOALS = {"best": Best(0.2), "epsilon-best": AllEpsilonBest(0.4, 0.2), "pareto": ParetoSet((0.2, 0.2))}
CASES = [
    (name, goal) for name in ("uniform", "static-g", "static-xy", "oracle") for goal in baselines.get(name).info.goals
]


def setting(name, goal, *, seed=0, sd=0.4, delta=0.1, budget=None, **given):
    features = SiteFeatures(product((3, 3)), (3, 3))
    rng = np.random.default_rng((6, seed))
    endpoints = 2 if goal == "pareto" else 1
    truth = np.stack([dense(features) @ rng.normal(0.0, 0.5, 7) for _ in range(endpoints)])
    if name == "oracle":
        given["truth"] = truth.tolist()
    capacity = None if budget is None else Capacity(10**6, 10**6, budget=budget)
    problem = problem_of(features, goal=GOALS[goal], sd=[sd] * endpoints, delta=delta, capacity=capacity, **given)
    return problem, truth


def finished(strategy, problem, truth, rng, most=120):
    state = strategy.start(problem)
    for _ in range(most):
        if strategy.stop(state):
            break
        state = strategy.tell(state, came_back(problem, truth, strategy.ask(state), rng, spent=state.spent))
    return state


def right(problem, state, truth):
    means = truth if problem.goal.name == "pareto" else truth[0]
    return problem.goal.is_right(state.status == IN, means)


@pytest.mark.parametrize(("name", "goal"), CASES)
def test_runs_end_and_err_at_most_delta(name, goal):
    runs, bad = 10, 0
    for seed in range(runs):
        problem, truth = setting(name, goal, seed=seed, delta=0.3)
        state = finished(baselines.get(name), problem, truth, np.random.default_rng(seed))
        assert not (state.status == UNDECIDED).any()
        bad += not right(problem, state, truth)
    assert binomtest(bad, runs).proportion_ci(0.9).low <= 0.3


@pytest.mark.parametrize(("name", "goal"), CASES)
def test_measurements_follow_the_weights_and_grow_by_the_factor(name, goal):
    problem, truth = setting(name, goal, growth=1.5, first=20, sd=3.0)
    strategy = baselines.get(name)
    state = strategy.start(problem)
    rng = np.random.default_rng(0)
    counts = np.zeros(9)
    for look in range(1, 8):
        allocation = strategy.ask(state)
        counts[allocation.arms] += allocation.counts
        assert counts.sum() == math.ceil(20 * 1.5 ** (look - 1) * (1 - 1e-12))
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    plan = strategy.shares(problem, np.arange(9), np.arange(9), lambda *_: None)
    weights = np.zeros(9)
    weights[plan.arms] = plan.weights
    # One off by rounding, and a look's rounding is carried to the next.
    assert np.abs(counts - weights * counts.sum()).max() <= 1.0 + 1e-6
    if name == "uniform":
        assert np.ptp(counts) <= 1


@pytest.mark.parametrize("seed", range(4))
def test_the_rules_are_those_of_all_pairs_in_loops(seed):
    rng = np.random.default_rng((2, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=14)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    n = len(x)
    counts = rng.integers(0, 12, n) * (rng.random(n) < 0.8)
    values = rng.normal(size=n)
    v = (x * counts[:, None]).T @ x
    fit = fitted(features, v, x.T @ (counts * values))
    theta = np.linalg.pinv(v, rcond=1e-9, hermitian=True) @ (x.T @ (counts * values))
    rows = np.arange(n)

    def size(y):
        if np.allclose(y, 0):
            return 0.0
        inside = v @ np.linalg.pinv(v, rcond=1e-9, hermitian=True) @ y
        inverse = np.linalg.pinv(v, rcond=1e-9, hermitian=True)
        return math.sqrt(y @ inverse @ y) if np.allclose(inside, y, atol=1e-6) else math.inf

    spread = 0.7
    goal = AllEpsilonBest(0.4, 0.3)
    found = rules.by_pairs(goal, fit, rows, spread)
    for i in range(n):
        ahead = [(x[j] - x[i]) @ theta for j in range(n)]
        width = [spread * size(x[j] - x[i]) for j in range(n)]
        assert found.outs[i] == any(a - w > 0.4 for a, w in zip(ahead, width, strict=True))
        stays = all(a + w <= 0.7 for a, w in zip(ahead, width, strict=True))
        assert found.ins[i] == (stays and not found.outs[i])
    best = rules.best_by_pairs(Best(0.1), fit, rows, spread)
    leader = int(np.argmax(x @ theta))
    sure = all((x[leader] - x[j]) @ theta + 0.1 >= spread * size(x[leader] - x[j]) for j in range(n) if j != leader)
    assert best.ins.tolist() == [sure and i == leader for i in range(n)]
    assert best.outs.tolist() == [sure and i != leader for i in range(n)]
    half = np.abs(rng.normal(0.4, 0.2, (2, n)))
    mean = rng.normal(size=(2, n))
    pareto = rules.pareto_by_means(ParetoSet((0.1, 0.3)), mean, half)
    low, high, margins = mean - half, mean + half, np.array([0.1, 0.3])
    for i in range(n):
        out = any((low[:, j] > high[:, i]).all() for j in range(n))
        rival = any((high[:, j] > low[:, i] + margins).all() for j in range(n) if j != i)
        assert pareto.outs[i] == out
        assert pareto.ins[i] == (not rival and not out)


def test_the_oracle_asks_for_the_direction_that_decides():
    """Soare's instance: nearly everything on e_2, which tells e_1 from its neighbour."""
    x = np.vstack([np.eye(3), [[math.cos(0.1), math.sin(0.1), 0.0]]])
    truth = x @ np.array([2.0, 0, 0])
    problem = problem_of(DenseFeatures(x), goal=Best(), sd=1.0, truth=[truth.tolist()])
    plan = baselines.get("oracle").shares(problem, np.arange(4), np.arange(4), lambda *_: None)
    weights = np.zeros(4)
    weights[plan.arms] = plan.weights
    assert weights[1] > 0.9


@pytest.mark.parametrize(
    ("goal", "truth", "text"),
    [
        (Best(), [[1.0, 1.0, 0.0]], "2 compounds are equally good in truth"),
        (AllEpsilonBest(1.0), [[1.0, 0.0, 0.5]], "exactly epsilon below the best"),
    ],
)
def test_truth_that_no_measurement_can_decide_is_refused(goal, truth, text):
    with pytest.raises(AssayPilotError, match=text):
        baselines.get("oracle").start(problem_of(DenseFeatures(np.eye(3)), goal=goal, sd=1.0, truth=truth))
