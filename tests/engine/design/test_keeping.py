"""Plates that keep what a phase is for: beside all ways to deal tiny tables, and where another filling is needed."""

import numpy as np
import pytest

from assaypilot.engine.design.dealing import dealt
from assaypilot.engine.design.keeping import dealt_for, left_of
from assaypilot.engine.features import SiteFeatures
from tests.engine.design.test_dealing import all_ways, table

LAST = SiteFeatures(
    np.array([[0, 0, 0, 1, 0], [0, 0, 1, 0, 0], [0, 0, 1, 0, 1], [0, 0, 1, 0, 2], [0, 1, 0, 1, 0], [0, 1, 1, 0, 0],
              [0, 1, 1, 0, 1], [1, 0, 0, 2, 0], [1, 1, 0, 2, 0], [1, 1, 0, 2, 1], [1, 1, 0, 2, 2]]),
    (2, 2, 2, 3, 3),
)  # fmt: skip
COUNTS = np.array([1, 2, 1, 1, 1, 4, 1, 4, 2, 2, 1])
"""The last phase but one of a campaign on the practice table: 20 measurements, most effects left alone."""
X = LAST.dense(np.arange(11))


def site(*changes):
    """A difference in some sites: (site, substituent, other)."""
    sizes = (2, 2, 2, 3, 3)
    y = np.zeros(X.shape[1])
    for k, first, second in changes:
        start = 1 + sum(sizes[:k])
        y[start + first], y[start + second] = 1.0, -1.0
    return y


def without_plates(x, counts, y):
    """The exact variance of a difference, by a pseudo-inverse; None where nothing tells of it."""
    inverse = np.linalg.pinv((x * counts[:, None]).T @ x, rcond=1e-10, hermitian=True)
    inside = x.T @ np.linalg.pinv(x.T, rcond=1e-10)
    return float(y @ inverse @ y) if np.linalg.norm(y - inside @ y) < 1e-9 else None


def test_a_small_phase_on_plates_of_eight_without_a_control_keeps_what_it_is_for():
    """It is for a difference in two sites, and tells nothing of others: none can be lost of these."""
    aims = np.array([site((0, 0, 1), (3, 1, 2))])
    apart = np.array([site((2, 0, 1)), site((3, 1, 2))])
    for controls in (0.0, 2.0):
        shares = dealt_for(X, COUNTS, (3, 8), directions=aims, controls=controls)
        assert np.array_equal(shares.sum(axis=0), COUNTS)
        assert shares.sum(axis=1).max() <= 8
        on_each = np.full(3, controls)
        assert left_of(X, shares, on_each, aims).min() > 0.97
        assert np.isnan(left_of(X, shares, on_each, apart)).all()
        assert without_plates(X, COUNTS, apart[0]) is None


def test_what_is_left_is_that_of_the_exact_variances():
    """By least squares with a column for every plate, and controls as rows of nothing but their plate."""
    rng = np.random.default_rng(2)
    for seed in range(10):
        features = table(np.random.default_rng(seed), 9, (3, 2, 2))
        x, counts = features.dense(np.arange(9)), rng.integers(1, 4, 9)
        shares = np.zeros((3, 9), dtype=int)
        for i, n in enumerate(counts):
            np.add.at(shares, (rng.integers(0, 3, n), i), 1)
        controls = rng.integers(0, 3, 3).astype(float)
        plates, arms = np.nonzero(shares)
        rows = np.hstack([x[arms], np.eye(3)[plates]]) * np.sqrt(shares[plates, arms])[:, None]
        extra = np.hstack([np.zeros((3, x.shape[1])), np.eye(3)]) * np.sqrt(controls)[:, None]
        whole = np.vstack([rows, extra])
        aims = x[1:4] - x[4:7]
        for y, own in zip(aims, left_of(x, shares, controls, aims), strict=True):
            alone = without_plates(x, counts, y)
            beside = without_plates(whole, np.ones(len(whole)), np.concatenate([y, np.zeros(3)]))
            assert alone is not None
            if np.abs(y).max() > 0:
                assert own == pytest.approx(0.0 if beside is None else alone / beside, abs=1e-7)


@pytest.mark.parametrize(
    ("n", "n_plates", "sizes"), [(8, 2, (3, 3)), (8, 2, (3, 4)), (10, 2, (3, 3, 2)), (9, 3, (3, 2))]
)
def test_nothing_is_lost_that_any_way_keeps(n, n_plates, sizes):
    """One comparison, no controls: nearly the best of all ways; dealt for all alike it is far from that."""
    short, plain = [], []
    for seed in range(12):
        rng = np.random.default_rng((n, seed))
        x = table(rng, n, sizes).dense(np.arange(n))
        first, second = rng.choice(n, 2, replace=False)
        aims = x[[first]] - x[[second]]
        if not np.abs(aims).max():
            continue
        best, none = 0.0, np.zeros(n_plates)
        for groups in all_ways(list(range(n)), n_plates):
            shares = np.zeros((n_plates, n), dtype=int)
            for plate, group in enumerate(groups):
                shares[plate, list(group)] = 1
            best = max(best, float(left_of(x, shares, none, aims)[0]))
        ones = np.ones(n, dtype=int)
        own = float(left_of(x, dealt_for(x, ones, (n_plates, n), directions=aims), none, aims)[0])
        assert own > 0.0 or best <= 0.0
        short.append(best - own)
        plain.append(best - float(left_of(x, dealt(x, ones, n_plates), none, aims)[0]))
    assert max(short) < 0.1
    assert np.mean(short) < 0.01
    assert np.mean(plain) > 0.02


def test_what_is_filled_evenly_is_filled_otherwise_where_that_would_lose_what_is_compared():
    """The ends of a chain of ten, which count in turns as one and minus one: halves of five would tell nothing."""
    codes = np.array([[(k + 1) // 2, k // 2] for k in range(10)])
    x, ones, none = SiteFeatures(codes, (6, 5)).dense(np.arange(10)), np.ones(10, dtype=int), np.zeros(2)
    aims = np.zeros((1, x.shape[1]))
    aims[0, 1], aims[0, 6] = 1.0, -1.0
    assert left_of(x, dealt(x, ones, 2, directions=aims), none, aims).tolist() == [0.0]
    found = dealt_for(x, ones, (2, 8), directions=aims)
    assert left_of(x, found, none, aims)[0] == pytest.approx(1.0)
    assert sorted(found.sum(axis=1).tolist()) in ([2, 8], [4, 6])
    # One plate more than holds them all evenly is never filled.
    assert dealt_for(x, ones, (2, 5), directions=aims).sum(axis=1).tolist() == [5, 5]


def test_many_comparisons_are_not_lost_to_the_weight_of_a_few():
    """Plates of two: dealt for eight comparisons at once some would be lost, dealt for all alike none is."""
    codes = np.array([[a, b] for a in range(3) for b in range(3)])
    x = SiteFeatures(codes, (3, 3)).dense(np.arange(9))
    counts, none, lost = np.full(9, 2), np.zeros(9), 0
    for seed in range(20):
        needed = np.exp(np.random.default_rng(seed).uniform(np.log(0.05), np.log(4.0), (8, 1)))
        aims = (x[np.arange(9) != 4] - x[4]) * needed
        assert left_of(x, dealt_for(x, counts, (9, 2), directions=aims), none, aims).min() > 0.7
        lost += left_of(x, dealt(x, counts, 9, directions=aims), none, aims).min() <= 0.0
    assert lost > 0
