"""Limits of walks: exact where that can be worked out otherwise, and never passed more often than promised."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from assaypilot.engine.strategies.adaptive.sequential_tests import LOOKS, limits, spent
from tests.oracles.adaptive import plain_limits


@pytest.mark.parametrize("alpha", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("expected", [1, 3])
def test_two_looks_are_exact(alpha, expected):
    first, second = limits(alpha, expected, 2)
    assert norm.sf(first) == pytest.approx(alpha * spent(1, expected), rel=1e-9)
    height = second * np.sqrt(2)
    later, _ = quad(lambda x: norm.pdf(x) * norm.sf(height - x), -12, first, epsabs=0, epsrel=1e-11, limit=200)
    assert later == pytest.approx(alpha * (spent(2, expected) - spent(1, expected)), rel=1e-8)


@pytest.mark.parametrize(("alpha", "expected"), [(0.3, 2), (1e-3, 5), (5e-5, 3), (1e-9, 4)])
def test_limits_are_those_of_a_plain_integration(alpha, expected):
    np.testing.assert_allclose(limits(alpha, expected, 8), plain_limits(alpha, expected, 8), rtol=2e-5)


def test_walks_pass_their_limits_as_often_as_promised():
    """A quarter of a million walks of 40 steps, limits past the exact ones included."""
    alpha, runs, steps = 0.2, 250_000, 40
    assert steps > LOOKS
    heights = limits(alpha, 4, steps) * np.sqrt(np.arange(1, steps + 1))
    rng = np.random.default_rng(5)
    walk, passed = np.zeros(runs), np.zeros(runs, dtype=bool)
    by_look = []
    for height in heights:
        walk += rng.standard_normal(runs)
        passed |= walk > height
        by_look.append(passed.mean())
    error = np.sqrt(alpha * (1 - alpha) / runs)
    assert by_look[3] == pytest.approx(alpha * spent(4, 4), abs=4 * error)
    assert by_look[LOOKS - 1] == pytest.approx(alpha * spent(LOOKS, 4), abs=4 * error)
    assert by_look[-1] <= alpha + 3 * error


@pytest.mark.parametrize("alpha", [0.25, 1e-4, 1e-11])
@pytest.mark.parametrize("expected", [1, 2, 9, 500])
def test_limits_do_not_depend_on_how_many_are_asked_for_and_loosen_with_alpha(alpha, expected):
    many = limits(alpha, expected, 90)
    assert np.isfinite(many).all()
    assert (many > 0).all()
    np.testing.assert_array_equal(limits(alpha, expected, 5), many[:5])
    np.testing.assert_array_equal(limits(alpha, expected, LOOKS), many[:LOOKS])
    assert (limits(alpha / 3, expected, 90) > many).all()
    # The first passage at a look is no more likely than being beyond its limit, which is no more than passing by then.
    by_then = np.array([spent(k, min(expected, LOOKS)) for k in range(91)])
    assert (many <= -norm.ppf(alpha * np.diff(by_then)) + 1e-6).all()
    assert (many >= -norm.ppf(alpha * by_then[1:]) - 1e-6).all()


@pytest.mark.parametrize(("alpha", "expected"), [(0.0, 3), (1.0, 3), (0.1, 0)])
def test_levels_that_make_no_sense_are_refused(alpha, expected):
    with pytest.raises(ValueError, match="alpha must lie between"):
        limits(alpha, expected, 2)


@pytest.mark.parametrize("expected", [1, 4, 32])
def test_looks_beyond_the_exact_ones_spend_no_more_than_is_left(expected):
    alpha = 0.05
    later = norm.sf(limits(alpha, expected, 4000)[LOOKS:])
    left = alpha * (1.0 - spent(LOOKS, expected))
    assert 0.99 * left <= later.sum() + alpha * (1.0 - spent(4000, expected)) <= left * (1.0 + 1e-9)


@pytest.mark.slow
def test_a_larger_level_has_nearer_limits_at_every_look():
    """Holm's procedure counts on it, and so do all who go to another level after results."""
    for expected in (1, 3, 8, 32):
        found = np.array([limits(float(alpha), expected, 40) for alpha in 0.5 * 0.8 ** np.arange(0, 60, 6)])
        assert (np.diff(found, axis=0) > 0.0).all()
