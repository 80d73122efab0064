"""``likelihood``: its set against a plain reference, its errors by simulation, and what a smaller set would do."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import Best
from assaypilot.engine.models import likelihood_set as sets
from assaypilot.engine.models.likelihood_set import Data, likelihood_set, prior_of
from assaypilot.engine.strategies.likelihood.comparing import Compared
from assaypilot.engine.strategies.likelihood.likelihood import Likelihood
from assaypilot.engine.strategies.protocol import UNDECIDED, Capacity, Outcome
from tests.published.calibration_checks import is_wrong, limits
from tests.strategies import dense, problem_of, product

strategy = Likelihood()


def coordinates(sizes):
    x = dense(SiteFeatures(product(sizes), sizes))
    _, size, directions = np.linalg.svd(x, full_matrices=False)
    return x @ directions[size > 1e-9 * size[0]].T


def drawn(z, link, n, rng, spread=0.7):
    """Values of n measurements of random rows when effects are normal: their data, and the true predictors."""
    theta = rng.normal(0.0, spread, z.shape[1])
    u = z @ theta
    arms, counts = np.unique(rng.integers(0, len(z), n), return_counts=True)
    if link == "logit":
        sums = rng.binomial(counts, 1 / (1 + np.exp(-u[arms])))
    elif link == "log":
        sums = rng.poisson(counts * np.exp(u[arms]))
    else:
        sums = counts * u[arms] + np.sqrt(counts) * rng.normal(size=len(arms))
    return Data(z[arms], counts.astype(float), sums / counts, link), u


def prior(z, link):
    second = z.T @ z / len(z)
    return prior_of(second, np.linalg.solve(second, z.mean(axis=0)), link)


@pytest.mark.parametrize("link", ["identity", "logit", "log"])
def test_the_highest_value_of_a_direction_is_that_of_a_plain_solver(link):
    rng = np.random.default_rng(3)
    z = coordinates((3, 2))
    data, _ = drawn(z, link, 150, rng)
    found = likelihood_set(data, prior(z, link), 0.1)
    highest = found.highest(z)
    for y, high in zip(z, highest, strict=True):
        plain = minimize(
            lambda theta, y=y: -y @ theta, found.centre, jac=lambda _, y=y: -y, method="SLSQP",
            constraints={"type": "ineq", "fun": lambda theta: found.most - data.losses(data.z @ theta)},
            options={"ftol": 1e-12, "maxiter": 500},
        )  # fmt: skip
        assert high == pytest.approx(-plain.fun, abs=2e-4)


def test_normal_values_have_the_mixture_in_closed_form():
    rng = np.random.default_rng(1)
    z = coordinates((3, 3))
    data, _ = drawn(z, "identity", 40, rng)
    before = prior(z, "identity")
    found = likelihood_set(data, before, 0.05)
    # log of the mixture: values are normal with the prior's covariance and 1 / n.
    covariance = data.z @ np.linalg.inv(before.precision) @ data.z.T + np.diag(1.0 / data.counts)
    off = data.means - data.z @ before.mean
    mixture = -0.5 * (np.linalg.slogdet(covariance)[1] + off @ np.linalg.solve(covariance, off))
    own = 0.5 * np.log(data.counts).sum()
    assert found.most == pytest.approx(np.log(1 / 0.05) - (mixture - own), abs=1e-6)


@pytest.mark.parametrize("link", ["identity", "logit", "log"])
def test_the_evidence_is_below_the_mixture(link):
    """By importance sampling of the integral, in few dimensions: what the proof needs, and not by much."""
    rng = np.random.default_rng(2)
    z = coordinates((2, 2))
    data, _ = drawn(z, link, 25, rng)
    before = prior(z, link)
    found = likelihood_set(data, before, 0.5)
    factor = np.linalg.cholesky(2.0 * found.covariance)
    draws = rng.normal(size=(200_000, z.shape[1]))
    theta = found.centre + draws @ factor.T
    off = theta - before.mean
    log_prior = 0.5 * before.log_determinant - 0.5 * np.einsum("ij,jk,ik->i", off, before.precision, off)
    log_q = -0.5 * (draws**2).sum(axis=1) - np.log(np.diag(factor)).sum()
    logs = log_prior - log_q - data.losses(theta @ data.z.T)
    mixture = float(np.log(np.mean(np.exp(logs - logs.max()))) + logs.max())
    evidence = np.log(2.0) - found.most
    assert evidence <= mixture + 0.02
    assert evidence >= mixture - 0.3


@pytest.mark.parametrize("link", ["logit", "log"])
def test_the_set_holds_the_truth_at_all_times_together(link):
    """Asked after every 20 of 200 measurements, chosen by what was seen; and one without the evidence does not."""
    missed, missed_by_less = 0, 0
    runs, z = 120, coordinates((2, 2))
    before = prior(z, link)
    for run in range(runs):
        rng = np.random.default_rng((9, run))
        theta = rng.normal(0.0, 0.7, z.shape[1])
        u = z @ theta
        counts, sums = np.zeros(len(z)), np.zeros(len(z))
        ever, ever_less = False, False
        for _ in range(10):
            looks = np.where(counts > 0, sums / np.maximum(counts, 1), np.inf)
            arms = np.argsort(-looks)[:2]
            for arm in np.repeat(arms, 10):
                chance = 1 / (1 + np.exp(-u[arm]))
                counts[arm] += 1
                sums[arm] += rng.random() < chance if link == "logit" else rng.poisson(np.exp(u[arm]))
            seen = counts > 0
            data = Data(z[seen], counts[seen], sums[seen] / counts[seen], link)
            found = likelihood_set(data, before, 0.2)
            loss = float(data.losses(data.z @ theta))
            ever |= loss > found.most
            least = float(data.losses(data.z @ sets._most_likely(data, before)[0]))
            ever_less |= loss > least + 0.5 * 1.28**2
        missed += ever
        missed_by_less += ever_less
    assert limits(missed, runs)[0] <= 0.2
    assert limits(missed_by_less, runs)[0] > 0.2


@pytest.mark.parametrize("link", ["logit", "identity"])
def test_leads_lie_within_their_ends(link):
    """Against random effects of the set itself."""
    rng = np.random.default_rng(5)
    z = coordinates((3, 3))
    data, _ = drawn(z, link, 400, rng)
    found = likelihood_set(data, prior(z, link), 0.1)
    compared = Compared.of(found, z)
    draws = found.radius * rng.uniform(0, 1.3, (20_000, 1)) * _unit(rng, z.shape[1])
    theta = found.centre + draws @ np.linalg.cholesky(found.covariance).T
    theta = theta[data.losses(theta @ data.z.T) <= found.most]
    assert len(theta) > 1000
    values = compared.shown(theta @ z.T)
    first, second = (grid.ravel() for grid in np.meshgrid(np.arange(len(z)), np.arange(len(z))))
    leads = values[:, first] - values[:, second]
    most, least = compared.most(first, second), compared.least(first, second)
    assert (leads.max(axis=0) <= most + 1e-9).all()
    ahead = least > 0
    assert (leads.min(axis=0)[ahead] >= least[ahead] - 1e-9).all()
    assert np.median(most - leads.max(axis=0)) < 0.3 * np.median(most.clip(0.0))


def _unit(rng, d):
    draws = rng.normal(size=(20_000, d))
    return draws / np.linalg.norm(draws, axis=1, keepdims=True)


def campaign(link, truth_of, seed, *, delta=0.3, budget=6000, goal=None, sizes=(2, 2), wrong=None):
    """The last state of a campaign and the truth on the scale of the goal."""
    rng = np.random.default_rng((4, seed))
    features = SiteFeatures(product(sizes), sizes)
    u = truth_of(dense(features), rng)
    problem = problem_of(
        features, epsilon=0.2, slack=0.2, goal=goal, delta=delta, sd=0.5, capacity=Capacity(200, 200, budget=budget),
        link=link,
    )  # fmt: skip
    state = strategy.start(problem)
    while not strategy.stop(state):
        asked = strategy.ask(state)
        counts = np.zeros(len(u))
        counts[asked.arms] = asked.counts
        n = counts.astype(int)
        sums = rng.binomial(n, 1 / (1 + np.exp(-u))) if link == "logit" else rng.poisson(counts * np.exp(u))
        outcome = Outcome(asked, counts[None], (sums / np.maximum(counts, 1))[None], state.spent + asked.total)
        state = strategy.tell(state, outcome)
    return problem, state, 1 / (1 + np.exp(-u)) if link == "logit" else u / np.log(10.0)


def usual(x, rng):
    return x @ rng.normal(0.0, 0.7, x.shape[1])


@pytest.mark.parametrize("link", ["logit", "log"])
@pytest.mark.parametrize("goal", [None, Best(0.2)])
def test_campaigns_are_wrong_at_most_as_often_as_they_say(link, goal):
    wrong, open_ = 0, 0
    for seed in range(12):
        problem, state, truth = campaign(link, usual, seed, goal=goal)
        wrong += is_wrong(problem.goal, state.status, truth)
        open_ += bool((state.status == UNDECIDED).any())
    assert limits(wrong, 12)[0] <= 0.3
    assert open_ <= 4


def test_a_set_too_small_is_noticed(monkeypatch):
    """A compound just within the distance must be in; a set of half a standard error puts it out far too often."""

    def just_inside(x, rng):
        chance = np.array([0.3, 0.49, 0.3, 0.49])
        return np.log(chance / (1 - chance))

    def errors():
        played = (campaign("logit", just_inside, seed, delta=0.05) for seed in range(20))
        return sum(is_wrong(problem.goal, state.status, truth) for problem, state, truth in played)

    assert limits(errors(), 20)[0] <= 0.05
    whole = sets.likelihood_set

    def smaller(data, before, delta):
        found = whole(data, before, delta)
        return replace(found, most=float(data.losses(data.z @ found.centre)) + 0.1)

    monkeypatch.setattr("assaypilot.engine.strategies.likelihood.likelihood.likelihood_set", smaller)
    assert limits(errors(), 20)[0] > 0.05
