"""Own deviations of compounds: exact tests and bounds, against dense algebra and by simulation."""

import numpy as np
import pytest
from scipy import stats

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.models.additivity import additivity, interactions

SIZES = (4, 3, 4)
NOISE = 0.2


def drawn(seed, tau, n=40):
    """Features, means, counts, and the deviations behind them."""
    rng = np.random.default_rng((3, seed))
    codes = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    counts = rng.integers(1, 4, n).astype(float)
    own = tau * rng.standard_normal(n)
    means = sum(rng.normal(size=size)[codes[:, k]] for k, size in enumerate(SIZES)) + own
    return SiteFeatures(codes, SIZES), means + NOISE * rng.standard_normal(n) / np.sqrt(counts), counts, own


def judged(seed, tau):
    features, means, counts, own = drawn(seed, tau)
    return additivity(features, np.arange(len(means)), means, counts, NOISE), own


@pytest.mark.parametrize("tau", [0.0, 0.3])
def test_lack_of_fit_tau_and_cliffs_are_those_of_dense_weighted_least_squares(tau):
    features, means, counts, _ = drawn(1, tau)
    found = additivity(features, np.arange(len(means)), means, counts, NOISE)
    x = features.dense(np.arange(len(means)))

    def left(square):
        root = 1.0 / np.sqrt(square + NOISE**2 / counts)
        half = x * root[:, None]
        hat = half @ np.linalg.pinv(half)
        residuals = root * means - hat @ (root * means)
        return float(residuals @ residuals), residuals / np.sqrt(1.0 - np.diagonal(hat)), residuals / root

    freedom = len(means) - np.linalg.matrix_rank(x)
    statistic, standard, residuals = left(0.0)
    assert found.freedom == freedom
    assert found.p == pytest.approx(stats.chi2.sf(statistic, freedom))
    assert found.seen == pytest.approx(np.abs(residuals).max())
    worst = int(np.argmax(np.abs(standard)))
    assert found.cliffs[0].place == worst
    assert found.cliffs[0].p == pytest.approx(min(1.0, len(means) * 2 * stats.norm.sf(abs(standard[worst]))))
    for bound, level in ((found.tau_low, 0.95), (found.tau_high, 0.05)):
        if bound > 0:
            assert left(bound**2)[0] == pytest.approx(stats.chi2.ppf(level, freedom), rel=1e-6)
        else:
            assert statistic <= stats.chi2.ppf(level, freedom)


def test_bounds_of_tau_and_of_the_largest_deviation_hold_as_often_as_they_say_and_no_more():
    runs, tau = 400, 0.15
    found = [judged(seed, tau) for seed in range(runs)]
    low = sum(one.tau_low > tau for one, _ in found)
    high = sum(one.tau_high < tau for one, _ in found)
    # Exact bounds: neither above 5 % nor far below it; a quantile taken at the wrong end would be 95 %.
    for wrong in (low, high):
        assert stats.binomtest(wrong, runs, 0.05).pvalue > 0.001
    over = sum(one.error_low > np.abs(own).max() for one, own in found)
    assert stats.binomtest(over, runs, 0.05, alternative="greater").pvalue > 0.01
    assert any(one.error_low > 0.0 for one, _ in found), "a bound that says something"
    # Shrunk by 1.3 the upper bound fails much more often than it may.
    shrunk = sum(one.tau_high / 1.3 < tau for one, _ in found)
    assert stats.binomtest(shrunk, runs, 0.05, alternative="greater").pvalue < 0.001


def test_additive_values_give_uniform_p_values_and_rarely_a_cliff():
    found = [judged(seed, 0.0)[0] for seed in range(300)]
    assert stats.kstest([one.p for one in found], "uniform").pvalue > 0.001
    assert stats.binomtest(sum(one.cliffs[0].p < 0.05 for one in found), 300, 0.05).pvalue > 0.001


def test_compound_without_cross_check_is_no_cliff():
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0]])
    found = additivity(SiteFeatures(codes, (3, 2)), np.arange(5), np.array([0.0, 1.0, 1.0, 3.0, 50.0]), np.ones(5), 0.1)
    assert found.compared == 4
    assert 4 not in [cliff.place for cliff in found.cliffs]
    assert found.seen == pytest.approx(0.25)


def table(pairs=()):
    sites = [Site(f"R{k + 1}", tuple("ABCD"[:n])) for k, n in enumerate((4, 3, 3, 2))]
    product = Library.product(sites)
    return Library(product.sites, product.codes, product.ids, interactions=pairs)


def test_the_pair_that_acts_together_is_found_and_no_other_is_proposed():
    library, rng = table(), np.random.default_rng(8)
    effects = [rng.normal(size=len(site.substituents)) for site in library.sites]
    means = sum(effect[library.codes[:, k]] for k, effect in enumerate(effects))
    means = means + 0.5 * rng.normal(size=(4, 3))[library.codes[:, 0], library.codes[:, 2]]
    means = means + NOISE * rng.normal(size=len(library))
    rows, counts = np.arange(len(library)), np.ones(len(library))
    found = interactions(library, rows, means, counts, NOISE)
    assert [one.sites for one in found if one.worth] == [("R1", "R3")]
    best = found[0]
    assert (best.rank_before, best.rank_after) == (9, 15)
    assert best.lack_before is not None
    assert best.lack_after is not None
    assert best.lack_before < 1e-6 < 0.01 < best.lack_after
    # The F test of the nested dense models.
    one, both = (np.linalg.pinv(SiteFeatures.of(t).dense(rows)) for t in (library, table((("R1", "R3"),))))
    squares = [
        float(((means - SiteFeatures.of(t).dense(rows) @ (inverse @ means)) ** 2).sum())
        for t, inverse in ((library, one), (table((("R1", "R3"),)), both))
    ]
    gained, freedom = 6, len(rows) - 15
    f = (squares[0] - squares[1]) / gained / (squares[1] / freedom)
    assert best.p == pytest.approx(6 * stats.f.sf(f, gained, freedom), rel=1e-6)
    assert best.explained == pytest.approx(1.0 - squares[1] / squares[0])
    # Taken as one, nothing more is to be found.
    assert not any(one.worth for one in interactions(table((("R1", "R3"),)), rows, means, counts, NOISE))
