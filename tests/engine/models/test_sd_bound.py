"""The bound on an SD from replicates: too small as often as promised, at all degrees of freedom together."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

from assaypilot.engine.models.sd_bound import LAST, TARGET, planning_sd, spent, upper_factor, upper_sd


def crossings(alpha, runs, seed, shrunk=1.0):
    """How many of so many sequences of contrasts have a bound below the true SD, ``shrunk`` times as large, by then."""
    checked = np.arange(2, LAST + 1, 2)
    limits = np.array([n / upper_factor(int(n), alpha) ** 2 for n in checked]) * shrunk**2
    rng = np.random.default_rng(seed)
    passed = np.zeros(LAST // 2)
    for _ in range(10):
        squares = np.cumsum(2.0 * rng.standard_exponential((runs // 10, LAST // 2)), axis=1)
        wrong = squares <= limits
        first = np.where(wrong.any(axis=1), wrong.argmax(axis=1), LAST)
        passed += (first[:, None] <= np.arange(LAST // 2)).sum(axis=0)
    return dict(zip(checked.tolist(), (passed / runs).tolist(), strict=True))


def test_the_bound_is_too_small_exactly_as_often_as_was_spent():
    alpha, runs = 0.3, 20_000
    found = crossings(alpha, runs, 1)
    for freedom in (16, 64, 256, LAST):
        wanted = alpha * spent(freedom)
        error = math.sqrt(wanted * (1 - wanted) / runs)
        # Limits are rounded down to the next step of the integration: a little less than what may be spent.
        assert wanted - 4 * error - 0.02 * wanted < found[freedom] < wanted + 3 * error
    assert found[LAST] < alpha


def test_a_bound_shrunk_by_a_third_is_noticed():
    assert crossings(0.3, 5_000, 1, shrunk=1.3)[LAST] > 0.5


def test_bound_holds_under_optional_stopping_where_a_quantile_fails():
    """Who stops repeating when the scatter happens to look small fools the chi-square quantile, not this bound."""
    alpha, runs = 0.05, 4_000
    rng = np.random.default_rng(4)
    looks = np.arange(8, 258, 10)
    squares = np.cumsum(rng.standard_normal((runs, 258)) ** 2, axis=1)[:, looks - 1]
    at_best = (squares / chi2.ppf(alpha, looks) < 1.0).any(axis=1).mean()
    ours = np.array([upper_factor(int(n), alpha) ** 2 / n for n in looks])
    assert at_best > 2.5 * alpha
    assert (squares * ours < 1.0).any(axis=1).mean() < alpha


def test_the_factor_falls_with_replicates_and_says_nothing_without():
    factors = [upper_factor(n, 0.005) for n in range(16, LAST, 2)]
    assert (np.diff(factors) < 1e-2).all()
    assert upper_factor(0, 0.005) == upper_factor(1, 0.005) == math.inf
    assert upper_factor(33, 0.005) > upper_factor(32, 0.005)
    # What the documents say of 32, 64, 128 and 256 degrees of freedom.
    told = [round(upper_factor(n, 0.005) ** 2, 1) for n in (32, 64, 128, 256)]
    assert told == [2.8, 2.0, 1.6, 1.4]


def test_plans_start_from_the_guess_and_end_with_the_bound():
    assert planning_sd(0.3, 0.0, 0, 0.005) == pytest.approx(0.3 * upper_factor(TARGET, 0.005))
    late = planning_sd(0.3, 0.04 * 400, 400, 0.005)
    assert late == pytest.approx(upper_sd(0.04 * 400, 400, 0.005), rel=0.01)
