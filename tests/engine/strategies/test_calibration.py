"""The promises of LinFACT-G by simulation, and that the checks would notice a radius 1.3 times too small."""

import numpy as np
import pytest

from tests.published import calibration as c

RUNS = 100


@pytest.mark.slow
@pytest.mark.parametrize("mode", c.MODES)
@pytest.mark.parametrize("instance", c.INSTANCES, ids=lambda i: i.name)
def test_wrong_at_most_delta_and_errors_of_the_size_it_says(instance, mode):
    found = c.calibrate(instance, mode, RUNS)
    assert c.complaints(found) == []
    assert len(found.errors) > 1000
    # Without slack a gap of exactly epsilon is never resolved; with it every campaign ends.
    assert found.unfinished == (RUNS if instance.slack == 0 else 0)


@pytest.mark.slow
@pytest.mark.parametrize("instance", c.INSTANCES, ids=lambda i: i.name)
def test_losing_measurements_whatever_their_values_costs_no_validity(instance):
    found = c.calibrate(instance, "realised", RUNS // 2, first=10**6, lost=0.25)
    assert c.complaints(found) == []


@pytest.mark.slow
@pytest.mark.parametrize("mode", c.MODES)
@pytest.mark.parametrize("instance", c.INSTANCES, ids=lambda i: i.name)
def test_a_radius_too_small_is_noticed(instance, mode):
    with c.shrunk():
        found = c.calibrate(instance, mode, RUNS // 2)
    assert ("standardised errors" if mode == "realised" else "promise") in c.complaints(found)


@pytest.mark.slow
def test_far_too_small_a_radius_is_wrong_too_often():
    """What it takes for the plain rate of errors to notice."""
    with c.shrunk(8.0):
        found = c.calibrate(c.INSTANCES[0], "realised", 200)
    assert "errors" in c.complaints(found)


@pytest.mark.slow
@pytest.mark.parametrize("mode", c.MODES)
@pytest.mark.parametrize("side", ["out", "in"])
def test_mirrored_compounds_go_wrong_as_often_as_they_should(mode, side):
    found = c.mirror(mode, side, 2000)
    assert found.passes, found
    broken = c.mirror(mode, side, 2000, broken=c.SHRUNK)
    assert not broken.passes, broken


@pytest.mark.slow
@pytest.mark.parametrize("mode", c.MODES)
def test_whole_campaigns_in_files_with_rounds_that_come_back_in_part(mode):
    found = c.calibrate_files(c.INSTANCES[0], mode, 4)
    assert c.limits(found.wrong, found.runs)[0] <= found.delta
    assert found.unfinished == 0
    if mode == "realised":
        assert c.complaints(found) == []
        assert len(found.errors) > 50


def test_limits_of_a_rate():
    """Against the binomial tails that define them."""
    from scipy.stats import binom

    for wrong, runs in ((0, 500), (3, 100), (40, 500), (20, 20)):
        lower, upper = c.limits(wrong, runs)
        if wrong:
            assert binom.sf(wrong - 1, runs, lower) == pytest.approx(0.05)
        if wrong < runs:
            assert binom.cdf(wrong, runs, upper) == pytest.approx(0.05)
    assert c.limits(0, 500) == pytest.approx((0.0, 1 - 0.05 ** (1 / 500)))
    assert c.limits(20, 20)[1] == 1.0


def test_standardised_errors_are_independent_and_normal():
    """The whitening itself, on rows that depend on each other, by its covariance over many draws."""
    rng = np.random.default_rng(0)
    x = c.dense(c.INSTANCES[1].features)
    counts = np.array([3.0, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    sds = c.own_sds(x, counts, 2.0)
    draws = []
    for _ in range(4000):
        values = rng.standard_normal(len(x)) * 2.0 / np.sqrt(counts)
        theta = np.linalg.lstsq(np.sqrt(counts)[:, None] * x, np.sqrt(counts) * values, rcond=1e-10)[0]
        draws.append(c.standardised(x, counts, x @ theta, sds))
    assert np.array(draws).shape[1] == np.linalg.matrix_rank(x)
    np.testing.assert_allclose(np.cov(np.array(draws).T), np.eye(8), atol=0.12)


@pytest.mark.full
@pytest.mark.timeout(3600)
def test_the_long_statistics_pass():
    """Those of the committed report, which ``python -m tests.published.calibration`` writes."""
    plain, losing, whole, exact, broken, broken_exact = c.everything()
    for found in (*plain, *losing):
        assert c.complaints(found) == [], found.name
    for found in whole:
        assert c.limits(found.wrong, found.runs)[0] <= found.delta
        assert not found.errors or found.ks >= c.KS_FLOOR
    assert all(one.passes for one in exact)
    assert all(c.complaints(found) for found in broken)
    assert not any(one.passes for one in broken_exact)
    made = c.report(plain, losing, whole, exact, broken, broken_exact)
    # Counts of errors and compounds are the same everywhere; the last digits of p values need not be.
    assert made.split("\n")[0] == c.REPORT.read_text(encoding="utf-8").split("\n")[0]
