"""Scales: inverse, slope, and which one the evidence chooses."""

import math

import numpy as np
import pytest

from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.scales import IDENTITY, Scale, candidate_scales
from assaypilot.engine.models.gaussian_process.series import fit_series

SOFT = Scale(-5.0, 105.0).softened()
SCALES = (IDENTITY, Scale(-5.0), Scale(-5.0, 105.0), Scale(high=105.0), SOFT)


@pytest.mark.parametrize("scale", SCALES)
def test_inverse_undoes_forward_and_order_stays(scale):
    values = np.linspace(-4.0, 104.0, 50)
    there = scale.forward(values)
    assert (np.diff(there) > 0).all()
    np.testing.assert_allclose(scale.inverse(there), values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("scale", SCALES)
def test_slope_is_the_derivative_of_forward(scale):
    values = np.linspace(-4.0, 104.0, 50)
    step = 1e-5
    numeric = (scale.forward(values + step) - scale.forward(values - step)) / (2 * step)
    np.testing.assert_allclose(scale.slope(values), numeric, rtol=1e-6)


def test_compounds_measured_surely_beyond_a_known_end_are_believed():
    rng, sizes = np.random.default_rng(6), (10, 10, 5)
    codes = np.array(list(np.ndindex(*sizes)))
    sums = sum(rng.normal(0, 1.4, size)[codes[:, site]] for site, size in enumerate(sizes))
    truth = 100.0 / (1.0 + np.exp(-sums))
    best = np.argsort(truth)[-4:]
    truth[best] += 9.0  # all others are below 100 %, these near 108 %
    arms = np.union1d(rng.permutation(len(truth))[:120], best)
    seen = truth[arms] + 1.5 * rng.standard_normal(len(arms))
    measured = Measured.exact(arms, seen, np.ones(len(arms)))
    found = fit_series(codes, sizes, measured, noise_sd=1.5, seed=3, ends=(0.0, 100.0))
    high = np.quantile(found.draw(best, 2000, rng), 0.975, axis=0)
    assert (high > seen[np.searchsorted(arms, best)] - 4.0).all()


def test_candidate_scales_hold_the_known_ends_and_some_hold_every_value():
    values = np.array([3.0, 40.0, 112.0])
    bent = candidate_scales(values, 1.0, (0.0, 100.0))[1:]
    for scale in bent:
        assert scale.low < 0.0
        assert scale.high > 100.0
        assert scale.log_prior < 0.0
    assert {bool(scale.high > 112.0) for scale in bent} == {True, False}  # 112 may be 100 and noise


def test_no_draw_goes_beyond_an_end_that_reported_values_pile_up_at():
    rng, sizes = np.random.default_rng(8), (10, 8, 4)
    codes = np.array(list(np.ndindex(*sizes)))
    sums = sum(rng.normal(0.5, 1.3, size)[codes[:, site]] for site, size in enumerate(sizes))
    truth = 100.0 / (1.0 + np.exp(-sums))
    arms = rng.permutation(len(truth))[:160]
    seen = truth[arms] + 3.0 * rng.standard_normal(len(arms))
    highest = []
    for values in (np.minimum(seen, 100.0), seen):  # a yield is reported as 100 at most, or as it was read
        measured = Measured.exact(arms, values, np.ones(len(arms)))
        found = fit_series(codes, sizes, measured, noise_sd=3.0, seed=3, ends=(0.0, 100.0))
        highest.append(np.median(found.draw(np.arange(len(truth)), 200, rng).max(axis=1)))
    assert highest[0] < 100.2
    assert highest[1] > 101.0


@pytest.mark.parametrize("noise_sd", [1.0, None])
@pytest.mark.parametrize("bent", [False, True])
def test_evidence_chooses_the_scale_on_which_effects_add_up(bent, noise_sd):
    rng = np.random.default_rng(11)
    sizes = (8, 8, 6)
    codes = np.array([(a, b, c) for a in range(8) for b in range(8) for c in range(6)])
    sums = sum(rng.normal(0, 1.3, size)[codes[:, site]] for site, size in enumerate(sizes))
    truth = 100.0 / (1.0 + np.exp(-sums)) if bent else 50.0 + 10.0 * sums
    arms = np.tile(rng.permutation(len(truth))[:120], 2)
    seen = truth[arms] + rng.standard_normal(240)
    found = fit_series(
        codes, sizes, Measured.exact(arms, seen, np.ones(240)), noise_sd=noise_sd, seed=2, ends=(0.0, 100.0)
    )
    assert found.scale.is_identity != bent
    assert math.isfinite(found.own_sd)
    assert found.noise_sd == pytest.approx(1.0, rel=0.45 if noise_sd is None else 1e-9)
