"""Single steps of ``adaptive``'s walks to the digit: what a bound takes off, where others end it, and hard phases."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from assaypilot.engine.features import DenseFeatures, SiteFeatures
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies.adaptive import evidence
from assaypilot.engine.strategies.adaptive.evidence import Evidence, Steps, least_mean
from assaypilot.engine.strategies.censored import LEAST_STEP, Doubt, in_steps
from assaypilot.engine.strategies.closing import closed


def test_a_step_with_a_doubt_counts_as_its_least():
    difference, precision = np.array([[1.0, 1.0], [0.5, -3.0]]), np.array([[2.0, 2.0], [4.0, 4.0]])
    doubt = np.array([[0.25, np.inf], [0.0, 0.5]])
    steps = Steps(difference, precision, np.zeros(2, dtype=bool), doubt)
    assert steps.walk(0.1) == pytest.approx([2.0 * (1.1 - 0.25) + 4.0 * 0.6, 2 * LEAST_STEP])


def test_a_mean_has_the_better_of_two_bounds():
    """One step with a doubt of 0.5, one without: counted with it, or as the least of any."""
    steps = Steps(np.array([[2.0], [2.4]]), np.array([[10.0], [10.0]]), np.zeros(1, dtype=bool))
    for doubt in (0.5, 0.02, np.inf):
        told = [] if np.isinf(doubt) else [((2.0 - doubt) * 10.0 + 24.0 - 3.0) / 20.0]
        told.append((24.0 + LEAST_STEP - 3.0) / 10.0)
        found = least_mean(steps, np.array([[doubt], [0.0]]), np.array([3.0]))
        assert found == pytest.approx([max(told)])


def test_a_bound_counts_on_the_side_that_makes_a_combination_least():
    doubt = Doubt(np.eye(2), np.array([-1.0, 0.0]), np.array([0.0, 3.0]))
    shares = [np.array([0.5, -0.5, 0.0]), np.array([0.0, -2.0, 2.0])]
    assert doubt.least(shares) == pytest.approx([0.5, 6.0, 0.0])
    assert doubt.turned.least(shares) == pytest.approx([0.0, 0.5, 6.0])


def test_where_others_end_a_bound_is_by_chi_square_with_what_is_left_of_the_cells():
    """Four values of one compound, one of which is known only as 5 or less: the other three say where it is."""
    features, n = DenseFeatures(np.ones((4, 1))), np.array([2.0, 1.0, 1.0, 3.0])
    means, arms, level, sigma = np.array([6.0, 6.5, 6.2, 5.0]), np.arange(4), 0.03, 0.4
    whole = least_squares(features, arms, n, means)
    ball = closed(features, (arms, n, means), np.array([3]), whole, sigma, level)
    others = float(n[:3] @ means[:3] / n[:3].sum())
    least = float(n[:3] @ (means[:3] - others) ** 2)
    precise = 1.0 / (1.0 / n[:3].sum() + 1.0 / n[3])
    far = np.sqrt((chi2.isf(level, 3) * sigma**2 - least) / precise)
    assert ball is not None
    assert ball.centre == pytest.approx([others - 5.0])
    assert ball.below(np.array([[1.0, -2.0]])) == pytest.approx([0.0, 2.0 * (others - 5.0 + far)])
    assert ball.turned.below(np.array([[1.0]])) == pytest.approx([others - 5.0 + far])
    # Where even the likeliest place is too far from all else nothing is said.
    assert closed(features, (arms, n, means + 3.0 * np.eye(4)[1]), np.array([3]), whole, sigma, level) is None


def test_each_phase_has_its_share_of_how_often_others_may_be_wrong(monkeypatch):
    levels = []
    monkeypatch.setattr(evidence, "closed", lambda *args, level, **_: levels.append(level))
    at, arms = np.repeat([0, 1, 2], 3), np.tile(np.arange(3), 3)
    means = np.full(9, 5.0)
    memory = {"at": at, "arms": arms, "counts": np.ones(9), "means": means, "leaders": np.zeros(3, dtype=np.intp)}
    memory |= {"low": means - np.tile([1.0, 0.0, 0.0], 3), "high": means, "shy": np.zeros(9, dtype=np.int8)}
    found = Evidence(DenseFeatures(np.ones((3, 1))), memory, 0.3, 0.12)
    assert len(found.phases) == 3
    assert levels == pytest.approx([0.12 / 2.0, 0.12 / 6.0, 0.12 / 12.0])


def test_shy_cells_leave_an_estimate_without_bias():
    rng = np.random.default_rng(5)
    features = SiteFeatures(np.array([(a, b) for a in range(3) for b in range(3)]), (3, 3))
    arms, counts = np.array([0, 1, 3, 4, 5, 7, 8]), rng.integers(1, 4, 7).astype(float)
    shy = np.array([0, 0, 0, 0, 1, 0, 2], dtype=np.int8)
    theta = rng.standard_normal(features.n_columns)
    truth = features.times(theta)
    found, weights = in_steps(features, (arms, counts, truth[arms]), shy)
    assert found.means(arms) == pytest.approx(truth[arms])
    assert features.dense(arms) @ weights @ truth[arms] == pytest.approx(truth[arms])
    # What the first cells tell does not hang on the others.
    assert weights[:, 4] @ (features.dense(np.array([0]))[0] - features.dense(np.array([4]))[0]) == pytest.approx(0.0)


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


def _two_phases(came):
    """Three compounds with effects of their own, each measured once, then four times; the third led, then the first."""
    arms, counts = np.tile(np.arange(3), 2), np.repeat([1.0, 4.0], 3)
    means = np.array([1.0, 2.0, 4.0, 1.5, 2.5, 3.5])
    memory = {"at": np.repeat([0, 1], 3), "arms": arms, "counts": counts, "means": means, "leaders": np.array([2, 0])}
    return Evidence(DenseFeatures(np.eye(3)), memory | ({} if came is None else {"came": np.array(came)}), 0.5)


def test_bounds_of_means_are_those_of_their_walks():
    """Steps of precision 1 / 0.5 and 2 / 0.5: after both a walk may be sqrt(2) times its limit off."""
    limits = np.array([3.0, 2.0])
    mean, low, high = _two_phases(None).bounded(np.array([0, 2]), limits)
    assert mean == pytest.approx([(2.0 * 1.0 + 4.0 * 1.5) / 6.0, (2.0 * 4.0 + 4.0 * 3.5) / 6.0])
    assert high - mean == pytest.approx(2.0 * np.sqrt(2.0) / 6.0)
    assert mean - low == pytest.approx(2.0 * np.sqrt(2.0) / 6.0)
    mean, low, high = _two_phases([0, 0, 1]).bounded(np.array([2]), limits)
    assert (float(mean[0]), float(low[0]), float(high[0])) == pytest.approx((3.5, 3.5 - 0.75, 3.5 + 0.75))


@pytest.mark.parametrize("came", [[0, 0, 0], [0, 0, 1], [1, 0, 0], [0, 2, 1]])
def test_no_phase_says_anything_of_a_compound_that_came_after_it(came):
    found, everyone, last = _two_phases(came), np.arange(3), np.array([2, 2, 2])
    told = np.array(came)[None, :] <= np.arange(2)[:, None]
    both = told & told[:, [2]] & (everyone != 2)
    assert np.array_equal(found.between(everyone, last).precision > 0.0, both)
    assert np.array_equal(found.between(last, everyone).precision > 0.0, both)
    assert np.array_equal(found.pairs(everyone, everyone).precision[:, :, 2] > 0.0, both)
    assert np.array_equal(found.behind(everyone, 2).precision > 0.0, both)
    # Who led a phase was there before it.
    leaders = _two_phases(came).leaders
    assert np.array_equal(found.behind(everyone).precision > 0.0, told & (everyone != leaders[:, None]))


def test_a_walk_passes_at_the_look_that_its_own_steps_have_reached():
    """A phase without a word is no look: the limit after one step is the first one, whenever it came."""
    difference = np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    steps = Steps(difference, np.array([[0.0, 2.9], [2.9, 0.0], [0.0, 0.1]]), np.zeros(2, dtype=bool))
    assert steps.looks.tolist() == [1, 2]
    assert steps.passed(0.0, np.array([2.8, 9.0, 9.0])).tolist() == [True, True]
    assert steps.passed(0.0, np.array([3.0, 2.0, 0.0])).tolist() == [False, True]
    assert steps.passed(0.0, np.array([3.0, 2.1, 0.0])).tolist() == [False, False]
