"""Single steps of ``adaptive``'s walks to the digit: what a bound takes off, where others end it, and hard phases."""

from fractions import Fraction

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.strategies.adaptive.evidence import Evidence, Steps


def _exact(rows, counts, y):
    """The variance of y'theta at a noise SD of 1, in fractions; None where nothing tells it."""
    n = len(y)
    m = [[Fraction(0)] * n + [Fraction(int(v))] for v in y]
    for row, count in zip(rows, counts, strict=True):
        own = [k for k in range(n) if row[k]]
        for a in own:
            for b in own:
                m[a][b] += Fraction(float(count))
    pivots = []
    for column in range(n):
        at = next((k for k in range(len(pivots), n) if m[k][column] != 0), None)
        if at is None:
            continue
        here = len(pivots)
        m[here], m[at] = m[at], m[here]
        for k in range(n):
            if k != here and m[k][column] != 0:
                times = m[k][column] / m[here][column]
                m[k] = [u - times * w for u, w in zip(m[k], m[here], strict=True)]
        pivots.append(column)
    if any(m[k][n] != 0 for k in range(len(pivots), n)):
        return None
    return float(sum(Fraction(int(y[c])) * m[k][n] / m[k][c] for k, c in enumerate(pivots)))


def _doubling(n):
    """Each effect is twice the one before, by what is measured of it: the last one is known 2^n times as badly."""
    rows, a, b, c = [(0, 0, 0), (1, 0, 0)], 1, 0, 0
    for _ in range(n):
        b, c = b + 1, c + 2
        rows += [(a, 0, c - 1), (0, b, c - 1), (a, b, c), (a + 1, 0, c)]
        a += 1
    return np.array(rows), (a + 1, b + 1, c + 1)


def _nested():
    """A second site that only tells more of the first, one substituent for all, and effects that go together."""
    rows = np.array([(a, 2 * a + k, 0, (a + 1) % 3) for a in range(3) for k in range(2)] * 2)
    return rows, (3, 6, 1, 3)


@pytest.mark.parametrize("table", [_doubling(3), _doubling(5), _nested()])
@pytest.mark.parametrize("most", [1.0, 1e4, 1e8])
def test_standard_errors_of_hard_phases_are_exact(table, most):
    """Some rows measured, fewer than effects, some of them 1e8 times as well: as classes of noise may have it."""
    codes, sizes = table
    features, rng = SiteFeatures(codes, sizes), np.random.default_rng(len(codes))
    everyone = np.arange(len(codes))
    arms = np.sort(rng.choice(everyone, size=len(codes) - 3, replace=False))
    counts = np.where(codes[arms, 0] <= 1, most, 1.0) * rng.integers(1, 4, len(arms))
    memory = {"at": np.zeros(len(arms), dtype=np.intp), "arms": arms, "counts": counts, "means": np.zeros(len(arms))}
    found = Evidence(features, {**memory, "leaders": np.array([everyone[0]])}, 1.0)
    i, j = rng.choice(everyone, 8), rng.choice(everyone, 8)
    x = features.dense(everyone)
    wanted = []
    for a, b in zip(i, j, strict=True):
        variance = _exact(features.dense(arms), counts, x[a] - x[b])
        wanted.append(0.0 if not variance else 1.0 / np.sqrt(variance))
    ways = (found.between(i, j).precision[0], np.diagonal(found.pairs(i, j).precision[0]))
    ways = (*ways, [found.behind(j[k : k + 1], int(a)).precision[0, 0] for k, a in enumerate(i)])
    assert any(one > 0.0 for one in wanted)
    for way in ways:
        assert way == pytest.approx(wanted, rel=1e-5)


def _two_phases():
    """Three compounds with effects of their own, each measured once, then four times; the third led, then the first."""
    arms, counts = np.tile(np.arange(3), 2), np.repeat([1.0, 4.0], 3)
    means = np.array([1.0, 2.0, 4.0, 1.5, 2.5, 3.5])
    memory = {"at": np.repeat([0, 1], 3), "arms": arms, "counts": counts, "means": means, "leaders": np.array([2, 0])}
    return Evidence(DenseFeatures(np.eye(3)), memory, 0.5)


def test_bounds_of_means_are_those_of_their_walks():
    """Steps of precision 1 / 0.5 and 2 / 0.5: after both a walk may be sqrt(2) times its limit off."""
    limits = np.array([3.0, 2.0])
    mean, low, high = _two_phases().bounded(np.array([0, 2]), limits)
    assert mean == pytest.approx([(2.0 * 1.0 + 4.0 * 1.5) / 6.0, (2.0 * 4.0 + 4.0 * 3.5) / 6.0])
    assert high - mean == pytest.approx(2.0 * np.sqrt(2.0) / 6.0)
    assert mean - low == pytest.approx(2.0 * np.sqrt(2.0) / 6.0)


def test_a_walk_passes_at_the_look_that_its_own_steps_have_reached():
    """A phase without a word is no look: the limit after one step is the first one, whenever it came."""
    difference = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    steps = Steps(difference, np.array([[0.0, 2.9], [2.9, 0.0], [0.0, 0.1]]), np.zeros(2, dtype=bool))
    assert steps.looks.tolist() == [1, 2]
    assert steps.passed(0.0, np.array([2.8, 9.0, 9.0])).tolist() == [True, True]
    assert steps.passed(0.0, np.array([3.0, 2.0, 0.0])).tolist() == [False, True]
    assert steps.passed(0.0, np.array([3.0, 2.1, 0.0])).tolist() == [False, False]
