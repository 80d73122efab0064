"""OD-LinBAI, Peace, BayesGap and the knowledge gradient: steps by slow references, refusals and accuracy."""

import math
from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate import baselines
from assaypilot.engine.simulate.baselines.bayesgap import belief, expected_gain
from assaypilot.engine.simulate.baselines.elimination import least_width
from assaypilot.engine.strategies.fixed_pool import absorbed, empty_sums
from assaypilot.engine.strategies.protocol import IN, Capacity
from tests.strategies import came_back, problem_of


def asked(x, budget, *, sd=1.0, goal=None, **given):
    capacity = None if budget is None else Capacity(10**6, 10**6, budget=budget)
    problem = problem_of(DenseFeatures(x), goal=goal or Best(), sd=sd, capacity=capacity)
    return replace(problem, parameters=given)


def steps(strategy, problem, truth, rng):
    state = strategy.start(problem)
    while not strategy.stop(state):
        outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
        yield state, outcome
        state = strategy.tell(state, outcome)
    yield state, None


def sphere(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1)[:, None]


def test_od_linbai_keeps_half_the_dimension_at_every_stage():
    """K = 30, d = 8: three stages on at most 36 compounds, 4, 2 and 1 kept, never more than the budget."""
    x = sphere(30, 8, 0)
    truth = x @ np.eye(8)[0]
    problem = asked(x, 300)
    seen = list(steps(baselines.get("od-linbai"), problem, truth, np.random.default_rng(0)))
    assert [int(state.active.sum()) for state, _ in seen] == [30, 4, 2, 1]
    m = (300 - min(30, 36) - 4 - 2) / 3
    for state, outcome in seen[:-1]:
        allocation = outcome.allocation
        d = np.linalg.matrix_rank(x[state.active])
        assert m <= allocation.total <= m + len(allocation.arms)
        weights = allocation.counts / allocation.total
        v = (x[allocation.arms] * weights[:, None]).T @ x[allocation.arms]
        size = np.einsum("ij,jk,ik->i", x[state.active], np.linalg.pinv(v, rcond=1e-9, hermitian=True), x[state.active])
        assert size.max() <= d * 1.5
        means = np.zeros(30)
        root = np.sqrt(outcome.counts[0])
        theta = np.linalg.lstsq(x * root[:, None], outcome.means[0] * root, rcond=1e-9)[0]
        means = np.where(state.active, x @ theta, -math.inf)
        kept = math.ceil(8 / 2 ** (state.phase + 1))
        after = baselines.get("od-linbai").tell(state, outcome)
        assert sorted(np.argsort(-means)[:kept]) == np.flatnonzero(after.active).tolist()
    assert seen[-1][0].spent <= 300


def width(x, w, z, draws=400_000):
    """E max (z - z')'V^(-1/2) xi by the symmetric root and other draws than Peace's."""
    values, vectors = np.linalg.eigh((x * w[:, None]).T @ x)
    root = vectors / np.sqrt(values) @ vectors.T
    return np.ptp(np.random.default_rng(9).standard_normal((draws, x.shape[1])) @ (z @ root).T, axis=1).mean()


def test_peace_design_has_the_least_gaussian_width():
    """Of unit vectors that of even weights; of others none of many near or far ones has a smaller one."""
    made = least_width(np.eye(7), np.eye(7))
    np.testing.assert_allclose(made.weights, 1 / 7, atol=0.02)
    assert made.width == pytest.approx(math.sqrt(7) * 2.704, rel=0.02)
    rng, x = np.random.default_rng(3), sphere(12, 4, 2)
    made = least_width(x, x[:6])
    least = width(x, made.weights, x[:6])
    assert made.width == pytest.approx(least, rel=0.06)
    for scale in np.repeat([0.05, 0.3, 3.0], 5):
        w = (made.weights + 1e-3) * np.exp(scale * rng.standard_normal(12))
        assert width(x, w / w.sum(), x[:6], 40_000) > 0.98 * least


def test_peace_keeps_the_most_compounds_of_half_the_width():
    x = sphere(24, 5, 1)
    problem = asked(x, 300)
    seen = list(steps(baselines.get("peace"), problem, x @ x[3], np.random.default_rng(1)))
    stages = math.ceil(math.log2(least_width(x, x).width))
    assert len(seen) - 1 <= stages
    for state, outcome in seen[:-1]:
        assert outcome.allocation.total == 300 // stages
        root = np.sqrt(outcome.counts[0])
        theta = np.linalg.lstsq(x * root[:, None], outcome.means[0] * root, rcond=1e-9)[0]
        active = np.flatnonzero(state.active)
        ranked = active[np.argsort(-x[active] @ theta)]
        after = baselines.get("peace").tell(state, outcome)
        kept = int(after.active.sum())
        assert sorted(ranked[:kept]) == np.flatnonzero(after.active).tolist()
        if state.phase + 1 < stages:
            half = least_width(x, x[active]).width / 2
            assert kept == 1 or least_width(x, x[np.sort(ranked[:kept])]).width <= half
            assert least_width(x, x[np.sort(ranked[: kept + 1])]).width > half
    assert seen[-1][0].spent <= 300


def test_the_gain_is_the_expectation_of_the_maximum():
    rng = np.random.default_rng(0)
    z = np.linspace(-9, 9, 400_001)
    density = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * (z[1] - z[0])
    for _ in range(20):
        n = int(rng.integers(1, 7))
        a, b = rng.normal(size=n), rng.normal(size=n)
        if n > 2:
            b[1] = b[0]
        exact = float((a[:, None] + b[:, None] * z).max(axis=0) @ density) - a.max()
        assert expected_gain(a, b) == pytest.approx(exact, abs=1e-6)


def test_the_belief_is_the_posterior():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(5, 3))
    problem = asked(x, 50, sd=0.7, prior=2.0)
    strategy = baselines.get("kgcb")
    outcome = came_back(problem, x @ np.ones(3), strategy.ask(strategy.start(problem)), rng)
    sums = absorbed(empty_sums(problem), problem, outcome)
    found = belief(problem, sums, 2.0)
    joint = 4.0 * x @ x.T + np.diag(0.49 / np.maximum(outcome.counts[0], 1e-12))
    used = outcome.counts[0] > 0
    gain = 4.0 * x[used].T @ np.linalg.inv(joint[np.ix_(used, used)])
    np.testing.assert_allclose(found.mean, gain @ outcome.means[0][used], atol=1e-9)
    np.testing.assert_allclose(found.covariance, 4.0 * np.eye(3) - gain @ x[used] * 4.0, atol=1e-9)
    after = found.measured(x[0])
    precision = np.linalg.inv(found.covariance) + np.outer(x[0], x[0]) / 0.49
    np.testing.assert_allclose(after.covariance, np.linalg.inv(precision), atol=1e-9)


def test_the_knowledge_gradient_measures_where_the_maximum_is_expected_to_rise_most():
    x = sphere(8, 3, 2)
    problem = asked(x, 40, batch=1)
    strategy, rng = baselines.get("kgcb"), np.random.default_rng(0)
    draws = np.random.default_rng(5).standard_normal(200_000)
    for number, (state, outcome) in enumerate(steps(strategy, problem, x @ np.ones(3), rng)):
        if outcome is None or number == 6:
            break
        seen = strategy.believed(state)
        gains = []
        for row in x:
            slope = x @ seen.covariance @ row / math.sqrt(1.0 + row @ seen.covariance @ row)
            gains.append(np.mean(((x @ seen.mean)[:, None] + slope[:, None] * draws).max(axis=0)))
        (chosen,) = outcome.allocation.arms
        assert gains[chosen] >= max(gains) - 0.01


def test_bayesgap_measures_the_less_known_of_leader_and_rival():
    x = sphere(8, 3, 3)
    problem = asked(x, 60, batch=1, epsilon=0.1)
    strategy = baselines.get("bayesgap")
    smallest, leader = math.inf, None
    for state, outcome in steps(strategy, problem, x @ np.ones(3), np.random.default_rng(1)):
        if outcome is None:
            assert np.flatnonzero(state.status == IN).tolist() == [leader]
            break
        seen = strategy.believed(state)
        mean = x @ seen.mean
        s = np.sqrt([row @ seen.covariance @ row for row in x])
        gaps = [max(max(mean[j] + 3 * s[j] for j in range(8) if j != k) - mean[k] + 3 * s[k], 0) for k in range(8)]
        hard = sum(max((gap + 0.1) / 2, 0.1) ** -2 for gap in gaps)
        beta = math.sqrt((52 / 1.0 + 8.0) / (4 * hard))
        behind = [max(mean[j] + beta * s[j] for j in range(8) if j != k) - mean[k] + beta * s[k] for k in range(8)]
        first = int(np.argmin(behind))
        rival = max((j for j in range(8) if j != first), key=lambda j: mean[j] + beta * s[j])
        assert outcome.allocation.arms.tolist() == [first if s[first] >= s[rival] else rival]
        if behind[first] < smallest:
            smallest, leader = behind[first], first


@pytest.mark.parametrize(
    ("name", "budget", "given", "text"),
    [
        ("od-linbai", None, {}, "od-linbai needs a budget"),
        ("peace", 7, {}, "7 is below one for each of 4 effects in 2 stages"),
        ("bayesgap", None, {}, "bayesgap needs a budget"),
        ("bayesgap", 20, {"epsilon": -1}, "epsilon must be a number above 0, got -1"),
    ],
)
def test_missing_or_small_budget_is_refused(name, budget, given, text):
    with pytest.raises(AssayPilotError, match=text):
        baselines.get(name).start(asked(np.eye(4), budget, **given))


def test_od_linbai_says_what_it_needs():
    """K = d = 4: min(4, 10) + 2 for rounding up and one for each of two stages."""
    with pytest.raises(AssayPilotError, match=r"7 is below 6 for .* 2 stages. Give at least 8"):
        baselines.get("od-linbai").start(asked(np.eye(4), 7))
    baselines.get("od-linbai").start(asked(np.eye(4), 8))
