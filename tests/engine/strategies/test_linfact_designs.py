"""What is remembered: the same designs and fits as without, bounded, safe in threads, and never of something else."""

import threading

import numpy as np
import pytest

from assaypilot.engine.design import Pairs, g_optimal, xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies import designs
from tests.strategies import product, random_table


@pytest.fixture(autouse=True)
def nothing_remembered():
    designs.clear()
    yield
    designs.clear()


def tables(seed=0):
    rng = np.random.default_rng((70, seed))
    codes, sizes = random_table(rng, "sparse", most=20)
    return SiteFeatures(codes, sizes), rng


def equal(one, two):
    return np.array_equal(one.support, two.support) and np.array_equal(one.weights, two.weights)


def test_the_same_design_as_without_memory():
    for seed in range(4):
        features, rng = tables(seed)
        rows = np.flatnonzero(rng.random(features.n_rows) < 0.7)
        candidates = ProjectedFeatures(features, rows)
        for options in ({}, {"gap": 0.1}, {"max_support": 3 * candidates.rank}, {"upper": 0.5}):
            for _ in range(2):
                assert equal(designs.g_design(features, rows, **options).design, g_optimal(candidates, **options))
        if len(rows) > 1:
            assert equal(designs.xy_design(features, rows).design, xy_optimal(candidates, Pairs(candidates)))
        inside = rows[: max(2, len(rows) // 2)]
        plan = designs.g_design(features, rows, inside)
        assert plan.design.value == g_optimal(candidates, targets=candidates.onto(inside)).value
        assert np.array_equal(plan.candidates.rows, rows)


def test_a_design_is_solved_once_and_by_content(monkeypatch):
    solved = []
    monkeypatch.setattr(
        designs, "g_optimal", lambda *given, **options: solved.append(1) or g_optimal(*given, **options)
    )
    codes, sizes = product((3, 4)), (3, 4)
    rows = np.arange(12)
    for _ in range(3):
        designs.g_design(SiteFeatures(codes.copy(), sizes), rows.copy())
    assert len(solved) == 1
    # Anything else is another question.
    designs.g_design(SiteFeatures(codes[::-1].copy(), sizes), rows)
    designs.g_design(SiteFeatures(codes, sizes), rows[:-1])
    designs.g_design(SiteFeatures(codes, sizes), rows, rows[:5])
    designs.g_design(SiteFeatures(codes, sizes), rows, gap=0.01)
    designs.g_design(SiteFeatures(codes, sizes), rows, upper=0.5)
    designs.g_design(SiteFeatures(codes, sizes), rows, max_support=8)
    designs.g_design(DenseFeatures(np.eye(12)), rows)
    assert len(solved) == 8


@pytest.mark.parametrize("seed", range(6))
def test_estimates_are_those_of_least_squares(seed):
    """Also of several endpoints at once, and where as many rows as effects were measured: each speaks for itself."""
    rng = np.random.default_rng((71, seed))
    features, _ = tables(seed)
    dense = DenseFeatures(rng.normal(size=(9, 5)) * 10.0 ** rng.integers(-2, 3, 5))
    for table, measured in (
        (features, np.flatnonzero(rng.random(features.n_rows) < 0.6)),
        (dense, np.array([0, 2, 3, 5, 8])),
        (dense, np.array([1, 4, 7])),
        (dense, np.array([0, 1, 2, 3, 4, 5, 6])),
        # Equal rows are one effect.
        (DenseFeatures(np.vstack([np.eye(3), np.eye(3)])), np.array([0, 1, 3])),
    ):
        counts = rng.integers(1, 9, len(measured)).astype(float)
        means = rng.normal(3.0, 1.0, (len(measured), 3))
        theirs = [least_squares(table, measured, counts, column) for column in means.T]
        for rows in (measured, np.arange(table.n_rows)):
            norms = theirs[0].half_norms(rows)
            known = np.isfinite(norms)
            expected = np.array([one.means(rows) for one in theirs]).T
            for values, wanted in ((means, expected), (means[:, 1], expected[:, 1])):
                found, half = designs.estimated(table, measured, counts, values, rows)
                np.testing.assert_allclose(half, norms, rtol=1e-7)
                np.testing.assert_allclose(found[known], wanted[known], rtol=1e-7, atol=1e-7)
    assert designs.saturated(dense, np.array([0, 2, 3, 5, 8]), np.array([0, 2, 3, 5, 8]))
    assert not designs.saturated(dense, np.array([0, 2, 3, 5, 8]), np.array([0, 2, 3, 5]))
    assert not designs.saturated(dense, np.arange(6), np.arange(6))


def test_cache_is_bounded_and_drops_the_oldest():
    memo = designs.Memo(100_000)
    made = []

    def make(i):
        return lambda: made.append(i) or i

    def is_made(key, i, size):
        before = len(made)
        assert memo.get(key, make(i), size) == i
        return len(made) > before

    for i in range(50):
        assert is_made(("a", bytes(10), i), i, 9_000)
        assert memo.bytes <= 100_000
    assert not is_made(("a", bytes(10), 49), 49, 9_000)
    assert is_made(("a", bytes(10), 0), 0, 9_000)
    # Too large to keep; what cannot be made is not kept either.
    assert is_made(("large",), 1, 90_000)
    assert is_made(("large",), 1, 90_000)
    with pytest.raises(ZeroDivisionError):
        memo.get(("broken",), lambda: 1 // 0, 1)
    assert is_made(("broken",), 7, 1)
    memo.clear()
    assert memo.bytes == 0


def test_cache_is_safe_in_threads():
    """Eight threads, few questions, a memory so small that it forgets all the time."""
    memo = designs.Memo(20_000)
    wrong = []

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(2000):
            i = int(rng.integers(12))
            value = memo.get((i,), lambda i=i: np.full(4, i), 3_000)
            if value[0] != i:
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 0 <= memo.bytes <= 20_000
