"""LinFACT-MIS: against the plain reference, for any deviations within the model error, and what it refuses or says."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies.linfact.extensions import LinFactMis, least_squares_bias
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED
from tests.oracles import linfact as linear
from tests.oracles import linfact_mis as oracle
from tests.strategies import came_back, dense, phases, problem_of, product, random_table

strategy = LinFactMis()


def instance(seed, **changes):
    rng = np.random.default_rng((50, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=12)
    features = SiteFeatures(codes, sizes)
    given = {
        "epsilon": float(rng.uniform(0.2, 1.0)),
        "slack": 0.6,
        "delta": 0.2,
        "sd": 0.3,
        "model_error": 0.02,
        "decide": ("realised", "planned")[seed // 2 % 2],
    } | changes
    problem = problem_of(features, **given)
    x = dense(features)
    additive = x @ rng.normal(0.0, 0.5, x.shape[1])
    return problem, x, additive + problem.parameters["model_error"] * rng.choice([-1.0, 1.0], len(x)), rng


@pytest.mark.parametrize("seed", range(16))
def test_bounds_and_sets_of_the_reference(seed):
    problem, x, truth, rng = instance(seed)
    error = problem.parameters["model_error"]
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    outcome = came_back(problem, truth, allocation, rng, lost=(0.0, 0.4)[seed // 4 % 2], extra=1)
    decision = strategy.decide(state, outcome)
    active = np.flatnonzero(state.active).tolist()
    expected = oracle.bounds(
        x,
        outcome.counts[0],
        outcome.means[0],
        active,
        error=error,
        sigma=0.3,
        delta=0.2,
        phase=1,
    )
    planned = problem.parameters["decide"] == "planned" and outcome.complete
    if not planned:
        for i in active:
            mean, half = expected[i]
            np.testing.assert_allclose(decision.low[0, i], mean - half, rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(decision.high[0, i], mean + half, rtol=1e-5, atol=1e-6)
        good, bad = oracle.sort(expected, problem.goal.epsilon, problem.goal.slack)
        assert set(decision.ins.tolist()) == good
        assert set(decision.outs.tolist()) == bad
    else:
        half = (decision.high - decision.low)[0, active] / 2
        own = np.array([expected[i][1] for i in active])
        assert (half >= own - 1e-9).all()
        assert (half <= own + allocation.radius).all()
    # The plan: eq. 21 with the design's value.
    rank = np.linalg.matrix_rank(x)
    log = oracle.log_term(len(x), 1, 0.2)
    counts = np.zeros(len(x))
    counts[allocation.arms] = allocation.counts
    worst = max(linear.norm(x[i], x, counts) for i in active)
    assert 0.3 * worst * math.sqrt(2 * log) <= allocation.radius * (1 + 1e-6)
    asked = 2 * allocation.certificate.value * (0.3 / allocation.radius) ** 2 * log
    assert asked - 1 <= allocation.total <= asked + rank * (rank + 1) / 2 + 1


@pytest.mark.parametrize("seed", range(6))
def test_the_least_squares_bias_is_reached_and_never_passed(seed):
    """Deviations of the worst signs move the estimate exactly so far; any others less."""
    rng = np.random.default_rng((51, seed))
    features = DenseFeatures(rng.normal(size=(10, 3)))
    x = dense(features)
    measured, rows = np.arange(6), np.arange(10)
    counts = rng.integers(1, 9, 6).astype(float)
    fit = least_squares(features, measured, counts, np.zeros(6))
    bias = least_squares_bias(fit, measured, counts, rows, 0.1)
    for i in rows:
        assert bias[i] == pytest.approx(oracle.bias(x[i], x[measured], counts, 0.1))
        influence = counts * (x[measured] @ np.linalg.inv(x[measured].T @ (x[measured] * counts[:, None])) @ x[i])
        if i not in measured:
            worst = least_squares(features, measured, counts, 0.1 * np.sign(influence)).means(np.array([i]))[0] + 0.1
            assert worst == pytest.approx(bias[i])
        for _ in range(20):
            deviations = 0.1 * rng.uniform(-1, 1, 10)
            moved = least_squares(features, measured, counts, deviations[:6]).means(np.array([i]))[0]
            assert abs(moved - deviations[i]) <= bias[i] + 1e-12


def test_undecidable_compounds_at_a_model_error_are_named():
    """No slack, a gap at the limit: it ends when measurements cannot help any more, with the rest named."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = dense(features) @ np.array([6.0, 0.5, 0.0, -3.0, 0.5, 0.0, -3.0])
    problem = problem_of(features, epsilon=0.5, slack=0.0, sd=0.1, model_error=0.01)
    assert len(strategy.cautions(problem)) == 1
    assert "b = 0.0324" in strategy.cautions(problem)[0]
    history = list(phases(strategy, problem, truth, np.random.default_rng(0)))
    state, outcome, decision = history[-1]
    state = strategy.apply(state, decision)
    (reason,) = strategy.stop(state)
    assert reason.name == "undecidable"
    least = decision.numbers["model_error_half_width"]
    assert outcome.allocation.radius < least
    assert all(o.allocation.radius >= d.numbers["model_error_half_width"] for _, o, d in history[:-1])
    undecided = int((state.status == UNDECIDED).sum())
    assert 0 < undecided < 9
    assert reason.numbers["undecidable"] == undecided
    assert f"{undecided} compound" in reason.text
    assert "cannot be decided at a model error of 0.01" in reason.text
    # What is well apart was decided.
    assert state.status[8] == OUT
    assert state.status[0] == IN


def test_slack_ends_every_campaign_it_does_not_refuse():
    features = SiteFeatures(product((3, 2)), (3, 2))
    b = 0.02 * (1 + math.sqrt(4))
    problem = problem_of(features, slack=4.01 * b, sd=0.1, model_error=0.02)
    assert strategy.cautions(problem) == ()
    state = strategy.start(problem)
    last = strategy.last_radius(problem)
    assert 4 * (last + b) == pytest.approx(4.01 * b)
    steps = math.log2(state.first_radius / last)
    assert steps == pytest.approx(round(steps))
    for slack in (4.0, 1.0):
        with pytest.raises(AssayPilotError, match=r"b = 0\.06") as refused:
            strategy.start(problem_of(features, slack=slack * 0.02, model_error=0.02))
        assert "is not above 4 b" in str(refused.value)
        assert "Raise slack" in refused.value.mend
