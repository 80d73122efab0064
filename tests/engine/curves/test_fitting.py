"""Four-parameter logistic fits beside scipy's own and a published one, and the coverage of their intervals."""

import numpy as np
import pytest
from scipy.optimize import OptimizeWarning, curve_fit

from assaypilot.engine.curves.fitting import fit_curve, logistic

DOSES = np.repeat(np.log10(1e-5 / 3.0 ** np.arange(10)), 2)


def simulated(rng, n, sd=5.0, plateau_sd=4.0):
    """Return true inflections and curves in percent effect, as an assay of ten concentrations in duplicate gives."""
    centres = rng.uniform(-8.5, -6.0, n)
    curves = []
    for centre in centres:
        start, end = rng.normal(0.0, plateau_sd), rng.normal(100.0, plateau_sd)
        slope = float(np.exp(rng.normal(0.0, 0.25)))
        curves.append((DOSES, logistic(DOSES, centre, slope, start, end) + rng.normal(0.0, sd, len(DOSES))))
    return centres, curves


def fit_curves(curves, **options):
    return [fit_curve(x, y, **options) for x, y in curves]


def covered(fits, centres):
    return np.mean([fit.low <= centre <= fit.high for fit, centre in zip(fits, centres, strict=True)])


def reference(x, y):
    """Return the least sum of squares that scipy's unbounded fit reaches, its inflection and standard error."""
    best = None
    for start in np.linspace(x.min(), x.max(), 5):
        for slope in (0.7, 1.5):
            try:
                found, covariance = curve_fit(logistic, x, y, (start, slope, y.min(), y.max()), maxfev=5000)
            except (RuntimeError, OptimizeWarning):  # no convergence from here
                continue
            loss = float(((logistic(x, *found) - y) ** 2).sum())
            if best is None or loss < best[0]:
                best = loss, found[0], float(np.sqrt(covariance[0, 0]))
    return best


def test_ryegrass_gives_what_drc_prints():
    # The example of R's drc: root length of ryegrass (cm) under ferulic acid (mM), drm(..., fct = LL.4()):
    # e 3.05795 (SE 0.18573), b 2.98222, c 0.48141, d 7.79296, residual SE 0.5196 on 20 degrees of freedom.
    dose = np.repeat([1e-9, 0.94, 1.88, 3.75, 7.5, 15.0, 30.0], [6, 3, 3, 3, 3, 3, 3])
    length = np.array([
        7.58, 8.0, 8.3285714, 7.25, 7.375, 7.9625, 8.3555556, 6.9142857, 7.75, 6.8714286, 6.45, 5.9222222, 1.925,
        2.8857143, 4.2333333, 1.1875, 0.8571429, 1.0571429, 0.6875, 0.525, 0.825, 0.25, 0.22, 0.44,
    ])  # fmt: skip
    fit = fit_curve(np.log10(dose), length)
    ed50 = 10.0**fit.log_c50
    assert ed50 == pytest.approx(3.05795, abs=2e-4)
    assert fit.se * ed50 * np.log(10.0) == pytest.approx(0.18573, abs=2e-4)
    assert (fit.slope, fit.start, fit.end) == pytest.approx((2.98222, 7.79296, 0.48141), abs=2e-3)
    assert fit.freedom == 20


def test_inflections_are_those_of_scipys_unbounded_fit():
    rng = np.random.default_rng(20)
    _, curves = simulated(rng, 40)
    for (x, y), fit in zip(curves, fit_curves(curves), strict=True):
        loss, centre, se = reference(x, y)
        assert float(((fit.fitted - y) ** 2).sum()) <= loss * (1.0 + 1e-6)
        assert fit.log_c50 == pytest.approx(centre, abs=0.01)
        assert fit.se == pytest.approx(se, rel=0.02, abs=1e-4)


def test_expected_plateaus_make_intervals_hold_where_a_plateau_is_not_reached():
    rng = np.random.default_rng(22)
    centres = rng.uniform(DOSES.min() + 0.25, DOSES.min() + 0.75, 200)
    curves = [
        (DOSES, logistic(DOSES, c, 1.0, rng.normal(0.0, 4.0), 100.0) + rng.normal(0.0, 5.0, len(DOSES)))
        for c in centres
    ]
    expected = fit_curves(curves, expected=(0.0, 100.0))
    errors = [
        np.sqrt(np.mean((np.array([fit.log_c50 for fit in fits]) - centres) ** 2))
        for fits in (expected, fit_curves(curves))
    ]
    assert covered(expected, centres) >= 0.93
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.slow
def test_intervals_cover_the_true_inflection():
    centres, curves = simulated(np.random.default_rng(4), 1000)
    # Binomial: 3 SDs of 1,000 intervals are 0.02.
    assert 0.93 <= covered(fit_curves(curves), centres) <= 0.97


@pytest.mark.full
@pytest.mark.parametrize("options", [{}, {"expected": (0.0, 100.0)}])
def test_intervals_of_ten_thousand_curves_cover_93_to_97_percent(options):
    centres, curves = simulated(np.random.default_rng(5), 10_000)
    assert 0.93 <= covered(fit_curves(curves, **options), centres) <= 0.97


def test_fixed_plateaus_narrow_intervals_and_cover():
    centres, curves = simulated(np.random.default_rng(6), 60, plateau_sd=0.0)
    fixed, free = fit_curves(curves, fixed=(0.0, 100.0)), fit_curves(curves)
    assert {(fit.start, fit.end) for fit in fixed} == {(0.0, 100.0)}
    assert np.median([fit.se for fit in fixed]) < 0.8 * np.median([fit.se for fit in free])
    assert covered(fixed, centres) > 0.85


def test_one_far_point_is_flagged():
    rng = np.random.default_rng(8)
    _, curves = simulated(rng, 200)
    far = rng.integers(len(DOSES), size=len(curves))
    for (_, y), place in zip(curves, far, strict=True):
        y[place] += 40.0
    assert np.mean([fit.outliers[place] for fit, place in zip(fit_curves(curves), far, strict=True)]) > 0.9


@pytest.mark.slow
def test_few_clean_curves_have_a_flagged_point():
    _, curves = simulated(np.random.default_rng(9), 300)
    assert np.mean([fit.outliers.any() for fit in fit_curves(curves)]) < 0.03
