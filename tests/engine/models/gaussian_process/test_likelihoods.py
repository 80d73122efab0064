"""Yes and no, and counts: moments against quadrature, and intervals that hold over simulated series."""

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from assaypilot.engine.models.gaussian_process.likelihoods import counts, yes_or_no
from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.series import fit_series


def moments(log_likelihood, center, variance):
    """Mean and variance of a normal variable times a likelihood, by adaptive quadrature."""

    def density(at, power):
        return at**power * math.exp(log_likelihood(at) - 0.5 * (at - center) ** 2 / variance)

    reach = 12.0 * math.sqrt(variance)
    mass, first, second = (
        quad(density, center - reach, center + reach, args=(power,), limit=400, points=[center])[0]
        for power in range(3)
    )
    return first / mass, second / mass - (first / mass) ** 2


@pytest.mark.parametrize(
    ("yes", "trials", "center", "variance"),
    [(1, 1, 0.0, 1.0), (0, 1, -3.0, 4.0), (0, 1, 3.0, 4.0), (7, 9, 0.5, 2.0), (40, 40, 0.0, 1.0), (0.5, 1, 1.0, 0.3)],
)
def test_answers_give_the_moments_of_quadrature(yes, trials, center, variance):
    told = yes_or_no(np.array([float(yes)]), np.array([float(trials)]))
    mean, spread = told(np.array([center]), np.array([variance]))
    wanted = moments(
        lambda f: -yes * math.log1p(math.exp(-f)) - (trials - yes) * math.log1p(math.exp(f)), center, variance
    )
    assert (mean[0], spread[0]) == pytest.approx(wanted, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(
    ("total", "samples", "center", "variance"),
    [(0, 1, 0.0, 1.0), (3, 1, 0.0, 1.0), (250, 1, 2.0, 4.0), (0, 4, 2.0, 1.0), (12, 3, 6.0, 0.5)],
)
def test_counts_give_the_moments_of_quadrature(total, samples, center, variance):
    told = counts(np.array([float(total)]), np.array([float(samples)]))
    mean, spread = told(np.array([center]), np.array([variance]))
    top = mean[0]
    highest = total * top - samples * math.exp(top)
    wanted = moments(lambda f: total * f - samples * math.exp(f) - highest, center, variance)
    assert (mean[0], spread[0]) == pytest.approx(wanted, rel=1e-3, abs=1e-3)


@pytest.mark.parametrize(("kind", "level", "error"), [("yes-no", -1.0, 0.95), ("count", 2.0, 0.7)])
def test_intervals_hold_and_compounds_that_nobody_measured_are_predicted(kind, level, error):
    sizes, held, errors = (6, 7, 5), [], []
    codes = np.array(list(itertools.product(*map(range, sizes))))
    for seed in range(6):
        rng = np.random.default_rng(seed)
        scaled = level + sum(rng.normal(0, 0.8, size)[codes[:, site]] for site, size in enumerate(sizes))
        scaled += rng.normal(0, 0.3, len(codes))
        arms = rng.permutation(len(codes))[:80]
        truth = 1.0 / (1.0 + np.exp(-scaled)) if kind == "yes-no" else np.exp(scaled)
        came = rng.binomial(1, truth[arms]) if kind == "yes-no" else rng.poisson(truth[arms])
        measured = Measured.exact(arms, came.astype(float), np.ones(80))
        drawn = fit_series(codes, sizes, measured, noise_sd=0.5, seed=seed, kind=kind).draw(
            np.arange(len(codes)), 400, rng
        )
        assert drawn.min() >= 0.0
        left = np.setdiff1d(np.arange(len(codes)), arms)
        low, high = np.quantile(drawn[:, left], (0.025, 0.975), axis=0)
        held.append(((truth[left] >= low) & (truth[left] <= high)).mean())
        blind = float(came.mean()) if kind == "yes-no" else float(np.median(truth))
        errors.append(
            np.mean(np.abs(np.median(drawn[:, left], axis=0) - truth[left])) / np.mean(np.abs(blind - truth[left]))
        )
    assert 0.92 <= np.mean(held) <= 0.985
    assert np.mean(errors) < error


@pytest.mark.parametrize(("kind", "value"), [("yes-no", 0.0), ("yes-no", 1.0), ("count", 0.0)])
def test_answers_that_are_all_the_same_leave_others_possible(kind, value):
    sizes = (4, 5)
    codes = np.array(list(itertools.product(*map(range, sizes))))
    arms = np.arange(0, 20, 2)
    measured = Measured.exact(arms, np.full(10, value), np.ones(10))
    drawn = fit_series(codes, sizes, measured, noise_sd=0.5, seed=1, kind=kind).draw(
        np.arange(20), 2000, np.random.default_rng(2)
    )
    other = np.abs(drawn - value)[:, 1::2]
    assert np.isfinite(drawn).all()
    # Ten times nothing: one in a hundred to one in four is what that leaves for the next.
    assert 0.01 < other.mean() < 0.3
