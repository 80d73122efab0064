"""The lemma behind SDs by class that nobody knows: one scale for all, and limits that smaller steps keep to."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import norm

from assaypilot.engine.models.sd_bound import upper_factor
from assaypilot.engine.models.sd_classes import of_walk, scale, weighing, worth
from assaypilot.engine.strategies.adaptive.boundary import limits, spent
from assaypilot.engine.strategies.adaptive.one import Adaptive


def test_no_direction_scatters_more_than_the_scale_says():
    rng = np.random.default_rng(3)
    for _ in range(200):
        x = rng.standard_normal((12, 4))
        n = rng.integers(1, 5, 12)
        of = rng.integers(0, 3, 12)
        sds, weights = rng.uniform(0.1, 1.0, 3), rng.uniform(0.1, 1.0, 3)
        counted = n * worth(weights)[of]
        inverse = np.linalg.inv((x * counted[:, None]).T @ x)
        variance = inverse @ ((x * (counted**2 * sds[of] ** 2 / n)[:, None]).T @ x) @ inverse
        least = np.linalg.eigvalsh(scale(sds, weights) ** 2 * inverse - variance).min()
        assert least >= -1e-9
        # One class alone is as exact as ever.
        only = (x * (counted**2 * 0.04 / n)[:, None]).T @ x
        assert scale([0.2 * w for w in weights], weights) ** 2 == pytest.approx((0.2 * weights.max()) ** 2)
        assert only.shape == (4, 4)


def test_scale_and_worth_are_in_units_of_the_least_weight():
    assert scale([0.6, 0.2], [0.3, 0.1]) == pytest.approx(0.6)
    assert scale([0.6, 0.3], [0.3, 0.1]) == pytest.approx(0.9)
    assert scale([0.6, np.inf], [0.3, 0.1]) == np.inf
    assert scale([], []) == np.inf
    assert worth([0.3, 0.1]) == pytest.approx([1.0, 9.0])


def test_weights_are_guesses_until_replicates_say_more():
    assert weighing(0.3, 0.0, 0, 0.01) == weighing(0.3, 4 * 0.09, 4, 0.01)
    assert weighing(0.3, 100 * 0.36, 100, 0.01) / weighing(0.3, 100 * 0.04, 100, 0.01) == pytest.approx(3.0, rel=0.05)


def _passed(level, expected, looks, sizes):
    """How often a walk passes some limit, at most, when each step has the best of these sizes (backward induction)."""
    step = 0.05
    heights = limits(level, expected, looks) * np.sqrt(np.arange(1.0, looks + 1.0))
    grid = np.arange(-4.0 * np.sqrt(looks), heights.max() + 0.5, step)
    value = np.zeros(len(grid))
    for height in heights[::-1]:
        below = grid <= height
        last = int(np.flatnonzero(below)[-1])
        found = np.where(below, value, 1.0) if 0.0 in sizes else np.zeros(len(grid))
        for rho in filter(None, sizes):
            z = step * np.arange(-int(8 * rho / step) - 1, int(8 * rho / step) + 2)
            inside = np.convolve(np.where(below, value, 0.0), _share(z - step / 2, z + step / 2, rho), mode="same")
            # The last cell below the limit ends there.
            inside += value[last] * _share(grid[last] + step / 2 - grid, height - grid, rho)
            found = np.maximum(found, inside + norm.sf((height - grid) / rho))
        value = found
    return float(np.interp(0.0, grid, value))


def _share(low, high, rho):
    return norm.cdf(high / rho) - norm.cdf(low / rho)


SIZES = (0.0, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0)


@pytest.mark.parametrize(("level", "expected", "looks"), [(0.1, 3, 8), (0.1, 12, 24), (0.02, 6, 12), (0.28, 6, 12)])
def test_no_choice_of_smaller_steps_passes_more_often_than_the_level(level, expected, looks):
    whole = _passed(level, expected, looks, (1.0,))
    assert whole == pytest.approx(spent(looks, expected) * level, rel=2e-3)
    best = _passed(level, expected, looks, SIZES)
    assert whole <= best <= 2.0 * whole
    assert _passed(of_walk(level), expected, looks, SIZES) <= spent(looks, expected) * level
    # Without that it would, at large levels.
    assert (best > 1.05 * whole) == (level > 0.1)


def test_bounds_of_classes_hold_together_at_all_looks_and_smaller_ones_do_not():
    rng, alpha, runs = np.random.default_rng(8), 0.1, 1500
    freedom = np.arange(2, 200, 2)
    factors = np.array([upper_factor(int(nu), alpha / 3) for nu in freedom])
    squares = rng.standard_normal((runs, 3, 200)) ** 2
    sums = np.cumsum(squares, axis=2)[:, :, freedom - 1]
    for shrunk, rate in ((1.0, (0.05, 0.1)), (1.3, (0.5, 1.0))):
        below = (np.sqrt(sums / freedom) * factors / shrunk < 1.0).any(axis=(1, 2)).mean()
        assert rate[0] * 0.8 <= below <= rate[1] * 1.2


@pytest.mark.parametrize("by_class", [False, True])
def test_adaptive_has_these_limits_where_classes_are_not_known(by_class):
    problem = SimpleNamespace(estimated=by_class, by_class=by_class)
    state = SimpleNamespace(memory={"expected": np.array([3])}, problem=problem)
    for level in (0.2, 0.01):
        own = of_walk(level) if by_class else level
        assert Adaptive.walk_limits(state, level, 5) == pytest.approx(limits(own, 3, 5))
    found = [of_walk(level) for level in np.linspace(0.01, 0.5, 50)]
    assert (np.diff(found) >= 0.0).all()


def test_a_larger_level_than_the_induction_is_about_keeps_half():
    """That much holds for steps of any size, whoever chose them."""
    for level in np.linspace(0.1001, 0.9, 40):
        assert of_walk(level) <= max(0.5 * level, 0.095) * (1.0 + 1e-12)


def test_limits_for_a_bound_on_the_noise_are_not_below_0():
    """A walk that a bound makes shorter would come nearer to one that is."""
    state = SimpleNamespace(memory={"expected": np.array([1])}, problem=SimpleNamespace(estimated=True, by_class=False))
    own = limits(0.9, 1, 6)
    assert own.min() < 0.0
    assert Adaptive.walk_limits(state, 0.9, 6) == pytest.approx(np.maximum(own, 0.0))
