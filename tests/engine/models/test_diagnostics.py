import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.models.diagnostics import additive_fit


@given(st.integers(0, 2**32 - 1), st.integers(2, 25), st.lists(st.integers(1, 5), min_size=1, max_size=3))
def test_q2_is_what_leaving_out_one_row_after_another_gives(seed, n, sizes):
    rng = np.random.default_rng(seed)
    features = SiteFeatures(np.column_stack([rng.integers(0, size, n) for size in sizes]), tuple(sizes))
    y = 6 + rng.normal(size=n)
    x = features.dense(np.arange(n))
    press = alone = 0.0
    exact = 0
    for left in range(n):
        others = np.delete(np.arange(n), left)
        if np.linalg.matrix_rank(x[others]) < np.linalg.matrix_rank(x):
            exact += 1
            continue
        theta = np.linalg.lstsq(x[others], y[others], rcond=1e-10)[0]
        press += (y[left] - x[left] @ theta) ** 2
        alone += (y[left] - y[others].mean()) ** 2
    fit = additive_fit(features, np.arange(n), y)
    assert fit.leverage_one == exact
    if exact == n:
        assert fit.q2 is None
    else:
        assert fit.q2 == pytest.approx(1 - press / alone, rel=1e-6, abs=1e-6)
    fitted = x @ np.linalg.lstsq(x, y, rcond=1e-10)[0]
    assert fit.r2 == pytest.approx(1 - ((y - fitted) ** 2).sum() / ((y - y.mean()) ** 2).sum(), abs=1e-8)
    freedom = n - np.linalg.matrix_rank(x)
    if freedom:
        assert fit.residual_sd == pytest.approx(np.sqrt(((y - fitted) ** 2).sum() / freedom), abs=1e-8)
    else:
        assert fit.residual_sd is None


def test_without_rows_or_spread_there_is_no_figure():
    features = SiteFeatures(np.array([[0], [0], [1], [1]]), (2,))
    empty = additive_fit(features, np.zeros(0, dtype=int), np.zeros(0))
    assert (empty.rows, empty.r2, empty.q2, empty.residual_sd, empty.leverage_one) == (0, None, None, None, 0)
    flat = additive_fit(features, np.arange(4), np.full(4, 7.3))
    assert (flat.r2, flat.q2) == (None, None)
    assert flat.residual_sd == pytest.approx(0, abs=1e-12)
    one = additive_fit(features, np.array([0]), np.array([7.3]))
    assert (one.r2, one.q2, one.residual_sd, one.leverage_one) == (None, None, None, 1)
