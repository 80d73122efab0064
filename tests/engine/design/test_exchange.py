import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import Rows
from assaypilot.engine.design.exchange import exchange
from assaypilot.engine.design.moves import Bounds
from tests.strategies import plain


def free(m: int, n: int) -> Bounds:
    return Bounds(np.zeros(m, dtype=np.intp), np.full(m, n, dtype=np.intp))


def worst_of(
    x: np.ndarray, y: np.ndarray, counts: np.ndarray, ratio: float = 0.0, base: np.ndarray | None = None
) -> float:
    """The largest y'V^-1y by a dense inverse; inf when V is singular."""
    v = sum(c / (1 + c * ratio) * np.outer(a, a) for a, c in zip(x, counts, strict=True))
    v = v + (0.0 if base is None else base)
    if np.linalg.matrix_rank(v, tol=1e-9) < x.shape[1]:
        return math.inf
    return float(max(b @ np.linalg.solve(v, b) for b in y))


def single_moves(counts: np.ndarray, bounds: Bounds) -> list[np.ndarray]:
    out = []
    for i, j in itertools.permutations(range(len(counts)), 2):
        if counts[i] > bounds.low[i] and counts[j] < bounds.high[j]:
            moved = counts.copy()
            moved[i] -= 1
            moved[j] += 1
            out.append(moved)
    return out


def case(seed: int, m: int, d: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, d))
    counts = np.bincount(rng.integers(0, m, n), minlength=m).astype(np.intp)
    return x, counts


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 3), st.integers(0, 6), st.sampled_from([0.0, 0.5, 4.0]))
def test_no_single_move_gains_after_it(seed, m, d, extra, ratio):
    d = min(d, m)
    x, counts = case(seed, m, d, d + extra)
    bounds = free(m, d + extra)
    before = worst_of(x, x, counts, ratio)
    found = exchange(x, counts, Rows(plain(x)), bounds, ratio=ratio)
    assert found.counts.sum() == counts.sum()
    assert found.counts.min() >= 0
    value = worst_of(x, x, found.counts, ratio)
    if not found.finished:
        assert math.isinf(found.value)
        return
    assert found.value == pytest.approx(value, rel=1e-6)
    assert value <= before * (1 + 1e-9)
    for moved in single_moves(found.counts, bounds):
        assert worst_of(x, x, moved, ratio) >= value * (1 - 1e-6)


@given(st.integers(0, 10**6), st.integers(2, 7), st.integers(1, 3), st.integers(0, 6), st.sampled_from([0.0, 0.5]))
def test_no_single_move_raises_the_determinant_after_it(seed, m, d, extra, ratio):
    d = min(d, m)
    x, counts = case(seed, m, d, d + extra)
    found = exchange(x, counts, None, free(m, d + extra), ratio=ratio)

    def log_det(c: np.ndarray) -> float:
        return float(np.linalg.slogdet((x * (c / (1 + c * ratio))[:, None]).T @ x)[1])

    assert found.finished
    assert -found.value == pytest.approx(log_det(found.counts), abs=1e-6)
    for moved in single_moves(found.counts, free(m, d + extra)):
        assert log_det(moved) <= log_det(found.counts) + 1e-6


@given(st.integers(0, 10**6), st.integers(3, 6), st.integers(2, 3))
def test_bounds_are_kept_and_never_block_a_move_they_allow(seed, m, d):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, d))
    low = rng.integers(0, 2, m).astype(np.intp)
    high = (low + rng.integers(0, 3, m)).astype(np.intp)
    high[:d] = np.maximum(high[:d], 1)
    room = high - low
    n = int(low.sum() + rng.integers(0, room.sum() + 1))
    counts = low.copy()
    for i in rng.permutation(np.repeat(np.arange(m), room))[: n - int(low.sum())]:
        counts[i] += 1
    bounds = Bounds(low, high)
    found = exchange(x, counts, Rows(plain(x)), bounds)
    assert found.counts.sum() == n
    assert np.all(found.counts >= low)
    assert np.all(found.counts <= high)
    if found.finished:
        value = worst_of(x, x, found.counts)
        assert all(worst_of(x, x, moved) >= value * (1 - 1e-6) for moved in single_moves(found.counts, bounds))


def test_singular_counts_are_given_a_rank_first():
    x = np.eye(3)
    found = exchange(x, np.array([3, 0, 0], dtype=np.intp), Rows(plain(x)), free(3, 3))
    assert found.counts.tolist() == [1, 1, 1]
    # No move reaches the third row, which is forbidden.
    closed = Bounds(np.zeros(3, dtype=np.intp), np.array([3, 3, 0], dtype=np.intp))
    stuck = exchange(x, np.array([3, 0, 0], dtype=np.intp), Rows(plain(x)), closed)
    assert math.isinf(stuck.value)
    assert not stuck.finished
    assert stuck.counts.sum() == 3
