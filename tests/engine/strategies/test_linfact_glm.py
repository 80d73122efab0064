"""LinFACT-GLM: bounds by the plain reference, measurements by eq. 40, errors by simulation, and its refusals."""

import math

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.linfact.extensions import LinFactGlm
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.strategies.protocol import Outcome
from tests.oracles import glm as oracle
from tests.oracles import linfact as linear
from tests.oracles import linfact_mis as sets
from tests.strategies import came_back, dense, phases, problem_of, product, random_table

strategy = LinFactGlm()


def yes_or_no(predictors, allocation, rng, n_arms, spent=0):
    """Shares of yes among the measurements of a phase."""
    counts = np.zeros(n_arms)
    counts[allocation.arms] = allocation.counts
    shares = rng.binomial(counts.astype(int), 1 / (1 + np.exp(-predictors))) / np.maximum(counts, 1)
    return Outcome(allocation, counts[None], shares[None], spent + allocation.total)


def counted(predictors, allocation, rng, n_arms, spent=0):
    """Mean counts of the measurements of a phase."""
    counts = np.zeros(n_arms)
    counts[allocation.arms] = allocation.counts
    means = rng.poisson(counts * np.exp(predictors)) / np.maximum(counts, 1)
    return Outcome(allocation, counts[None], means[None], spent + allocation.total)


@pytest.mark.parametrize("link", ["logit", "log"])
@pytest.mark.parametrize("seed", range(5))
def test_bounds_and_sets_of_the_reference(link, seed):
    rng = np.random.default_rng((60, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=12)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    bound = 1.5
    u = x @ rng.normal(0.0, 0.5, x.shape[1])
    u *= bound / max(np.abs(u).max(), bound)
    mode = ("realised", "planned")[seed % 2]
    problem = problem_of(features, epsilon=0.5, slack=1.5, delta=0.2, sd=0.4, link=link, bound=bound, decide=mode)
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    sigma = (0.5 if link == "logit" else 0.4) / oracle.least_slope(link, bound, 201)
    log = linear.log_term(len(x), 1, 0.2)
    asked = 2 * allocation.certificate.value * (sigma / allocation.radius) ** 2 * log
    assert asked * (1 - 1e-6) - 1 <= allocation.total <= asked * (1 + 1e-6) + len(allocation.arms)
    outcome = (yes_or_no if link == "logit" else counted)(u, allocation, rng, len(x))
    decision = strategy.decide(state, outcome)
    counts = outcome.counts[0]
    measured = counts > 0
    theirs = oracle.maximised(link, x[measured], counts[measured], outcome.means[0, measured], bound)
    theta = np.linalg.lstsq(x[measured], theirs, rcond=1e-10)[0]
    bounded = {}
    for i in np.flatnonzero(state.active):
        half = sigma * linear.norm(x[i], x[measured], counts[measured]) * math.sqrt(2 * log)
        if mode == "planned":
            half = allocation.radius
        bounded[int(i)] = float(np.clip(x[i] @ theta, -bound, bound)), half
        np.testing.assert_allclose(decision.low[0, i], bounded[i][0] - half, atol=2e-3)
        np.testing.assert_allclose(decision.high[0, i], bounded[i][0] + half, atol=2e-3)
    good, bad = sets.sort(bounded, 0.5, 1.5)
    assert set(decision.ins.tolist()) == good
    assert set(decision.outs.tolist()) == bad


@pytest.mark.parametrize("mode", ["realised", "planned"])
def test_the_identity_is_linfact_g(mode):
    features = SiteFeatures(product((3, 4)), (3, 4))
    truth = dense(features) @ np.linspace(0.0, 2.0, 8)
    problem = problem_of(features, decide=mode)
    one, two = LinFactG().start(problem), strategy.start(problem)
    assert one.first_radius == two.first_radius
    for state, outcome, decision in phases(LinFactG(), problem, truth, np.random.default_rng(0)):
        ours = strategy.decide(state, outcome)
        assert ours.ins.tolist() == decision.ins.tolist()
        assert ours.outs.tolist() == decision.outs.tolist()
        np.testing.assert_allclose(ours.low, decision.low, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(strategy.ask(state).counts, LinFactG().ask(state).counts)


def test_guarantee_matches_the_proof():
    features = DenseFeatures(np.eye(2))
    assert "proof is incomplete" in strategy.info.guarantee
    assert strategy.void(problem_of(features, link="identity")) == ()
    assert strategy.void(problem_of(features, link="logit", bound=2.0)) == ()
    (why,) = strategy.void(problem_of(features, link="log", bound=2.0))
    assert "no error probability is promised" in why


def test_values_that_a_link_cannot_have_are_refused():
    features = SiteFeatures(product((2, 2)), (2, 2))
    for link, value, text in (("logit", 1.2, r"values from 0 to 1, got 1\.2"), ("log", -0.5, r"0 or more, got -0\.5")):
        problem = problem_of(features, link=link, bound=2.0)
        state = strategy.start(problem)
        outcome = came_back(problem, np.full(4, 0.5), strategy.ask(state), np.random.default_rng(0))
        means = outcome.means.copy()
        means[0, outcome.allocation.arms] = value
        with pytest.raises(AssayPilotError, match=text):
            strategy.decide(state, Outcome(outcome.allocation, outcome.counts, means))


@pytest.mark.parametrize(
    ("link", "bound", "times", "place"), [("logit", 4.0, "200", "a share of one half"), ("log", 2.0, "55", "a count")]
)
def test_cost_of_a_bound_is_stated(link, bound, times, place):
    """c_min by hand: p (1 - p) at the bound against 1/4 in the middle; exp(-S) against 1."""
    strategy = LinFactGlm()
    features = SiteFeatures(product((2, 2)), (2, 2))
    (said,) = strategy.cautions(problem_of(features, link=link, bound=bound))
    assert f"{times} times the measurements" in said
    assert place in said
    far = strategy.noise(problem_of(features, sd=0.5, link=link, bound=bound))
    near = strategy.noise(problem_of(features, sd=0.5, link=link, bound=1e-9))
    assert (far / near) ** 2 == pytest.approx(float(times), rel=0.01)
    assert strategy.cautions(problem_of(features, link=link, bound=0.5)) == ()
    assert strategy.cautions(problem_of(features)) == ()
