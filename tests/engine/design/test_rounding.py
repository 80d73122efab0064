import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import apportion, ceilings

weights = st.lists(st.integers(1, 1000), min_size=1, max_size=25)


@given(weights, st.integers(0, 3000))
def test_apportioned_counts_sum_to_n_and_leave_nobody_out(parts, n):
    w = np.array(parts) / sum(parts)
    counts = apportion(w, n)
    assert counts.sum() == n
    assert counts.min() >= (1 if n >= len(parts) else 0)


@given(weights, st.integers(0, 500))
def test_apportionment_is_efficient(parts, n):
    """Theorem 12.6 (Pukelsheim): efficient if and only if max (n_i - 1) / w_i <= min n_i / w_i."""
    n += len(parts)
    counts = apportion(np.array(parts) / sum(parts), n)
    largest = max(Fraction(int(c) - 1, p) for c, p in zip(counts, parts, strict=True))
    smallest = min(Fraction(int(c), p) for c, p in zip(counts, parts, strict=True))
    assert largest <= smallest * (1 + Fraction(1, 10**12))


@given(weights, st.integers(0, 500))
def test_one_measurement_more_takes_none_away(parts, n):
    w = np.array(parts) / sum(parts)
    fewer, more = apportion(w, n), apportion(w, n + 1)
    assert np.sum(more - fewer) == 1
    # From one measurement each on: below, counts follow the order of the weights alone, and that is monotone too.
    assert np.all(more >= fewer)


@given(weights, st.integers(0, 200))
def test_larger_weights_never_get_fewer(parts, n):
    w = np.array(sorted(parts)) / sum(parts)
    # Equal weights may differ by one: ties go to the earlier position.
    counts = apportion(w, n)
    for i in range(len(w) - 1):
        assert counts[i] <= counts[i + 1] + (1 if w[i] == w[i + 1] else 0)


def test_apportionment_by_hand():
    assert apportion([0.5, 0.3, 0.2], 10).tolist() == [5, 3, 2]
    assert apportion([0.25, 0.25, 0.25, 0.25], 6).tolist() == [2, 2, 1, 1]
    assert apportion([0.0, 0.9, 0.1], 2).tolist() == [0, 1, 1]
    assert apportion([0.2, 0.5, 0.3], 2).tolist() == [0, 1, 1]
    assert apportion([1e-9, 1.0], 100).tolist() == [1, 99]


@given(weights, st.floats(0.01, 1e5))
def test_ceilings_are_the_least_whole_numbers_not_below(parts, total):
    w = np.array(parts) / sum(parts)
    counts = ceilings(w, total)
    assert np.all(counts >= w * total * (1 - 2e-9))
    assert np.all(counts - 1 < w * total)
    assert counts.sum() <= total * (1 + 1e-12) + len(parts)


def test_a_rounding_error_is_no_measurement():
    assert 3 * 0.1 * 10 > 3
    assert ceilings([0.1 * 3, 0.7], 10.0).tolist() == [3, 7]
    assert ceilings([0.5, 0.5], 3.0).tolist() == [2, 2]
    assert ceilings([1e-12, 1.0, 0.0], 5.0).tolist() == [1, 5, 0]
    assert ceilings([1.0], 0.0).tolist() == [0]


@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [-0.1, 1.1], [0.0, 0.0], [math.inf]])
def test_weights_that_are_none(bad):
    with pytest.raises(ValueError, match="weights must be finite"):
        apportion(bad, 5)
    with pytest.raises(ValueError, match="weights must be finite"):
        ceilings(bad, 5.0)


def test_counts_that_are_none():
    with pytest.raises(ValueError, match="n must not be negative"):
        apportion([1.0], -1)
    for total in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="total must be finite"):
            ceilings([1.0], total)
