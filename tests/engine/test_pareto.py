import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from assaypilot.engine.domain.goals import dominated
from assaypilot.engine.domain.pareto import beaten, gaps, lead
from tests.oracles import gege as oracle
from tests.strategies import seeds


@st.composite
def tables(draw, most=14):
    """Means of 1 to 5 endpoints, often on a coarse grid so that ties and equal compounds abound."""
    shape = (draw(st.integers(1, 5)), draw(st.integers(1, most)))
    entries = draw(
        st.sampled_from([st.integers(0, 3).map(float), st.integers(-1, 1).map(lambda v: v / 4), st.floats(-9, 9)])
    )
    return draw(arrays.arrays(float, shape, elements=entries))


@given(tables())
def test_gaps_and_the_set_are_those_of_equation_1(means):
    found = gaps(means)
    assert found.pareto.tolist() == oracle.pareto(means.T)
    np.testing.assert_allclose(found.values, oracle.gaps(means.T), atol=1e-12)
    assert (found.values >= 0).all()


@given(tables(), st.floats(0, 2))
def test_beaten_by_more_than_a_margin(means, margin):
    margins = tuple(margin for _ in means)
    expected = [
        any((means[:, j] > means[:, i] + margin).all() for j in range(means.shape[1])) for i in range(means.shape[1])
    ]
    assert dominated(means, margins).tolist() == expected
    assert beaten(means, means + margin).tolist() == expected
    if margin == 0:
        assert gaps(means).pareto.tolist() == [not out for out in expected]


@pytest.mark.parametrize(
    ("means", "pareto", "values"),
    [
        ([[1.0], [2.0]], [True], [np.inf]),
        ([[1.0, 1.0], [2.0, 2.0]], [True, True], [0.0, 0.0]),
        ([[1.0, 1.0], [2.0, 1.0]], [True, True], [0.0, 0.0]),
        ([[1.0, 0.0], [2.0, 0.5]], [True, False], [1.0, 1.0]),
        ([[1.0, 0.0], [0.0, 2.0]], [True, True], [1.0, 1.0]),
        ([[], []], [], []),
    ],
)
def test_few_compounds(means, pareto, values):
    found = gaps(np.array(means, dtype=float))
    assert found.pareto.tolist() == pareto
    assert found.values.tolist() == values


def scattered(rng, kind, endpoints, n):
    means = rng.normal(size=(endpoints, n))
    if kind == "front":
        means = np.abs(means) / np.linalg.norm(means, axis=0)
    if kind == "ties":
        means = np.round(means, 1)
    return means


@pytest.mark.parametrize("kind", ["cloud", "front", "ties"])
@pytest.mark.parametrize("endpoints", [2, 3, 5])
def test_boxes_leave_out_nothing_that_matters(kind, endpoints):
    """Enough compounds for boxes: the same to the last bit as a plain loop over all pairs."""
    rng = np.random.default_rng(endpoints)
    means = scattered(rng, kind, endpoints, 1500)
    least = (means[:, None, :] - means[:, :, None]).min(axis=0)
    np.testing.assert_array_equal(beaten(means, means), (least > 0).any(axis=1))
    np.testing.assert_array_equal(lead(means, means), least.max(axis=1))
    np.fill_diagonal(least, -np.inf)
    found = lead(means, means, np.arange(1500))
    np.testing.assert_array_equal(found, least.max(axis=1))
    pareto = ~(least > 0).any(axis=1)
    star = np.maximum(least.max(axis=1), 0.0)
    around = (np.maximum(-least.T, 0.0) + np.where(pareto, 0.0, star)).min(
        axis=1, where=~np.eye(1500, dtype=bool), initial=np.inf
    )
    expected = np.where(pareto, np.minimum(-least.max(axis=1), around), star)
    np.testing.assert_allclose(gaps(means).values, expected, atol=1e-12)


@given(seeds)
def test_infinite_and_missing_values(seed):
    rng = np.random.default_rng(seed)
    d, n, m = rng.integers(1, 4), rng.integers(1, 8), rng.integers(1, 8)
    points, queries = rng.integers(0, 4, (d, n)).astype(float), rng.integers(0, 4, (d, m)).astype(float)
    for values in (points, queries):
        values[rng.random(values.shape) < 0.2] = rng.choice([np.nan, np.inf, -np.inf])
    q = np.where(np.isnan(queries), -np.inf, queries)
    expected = [
        bool(any((points[:, j] > q[:, i]).all() for j in range(n) if not np.isneginf(points[:, j]).any()))
        for i in range(m)
    ]
    assert beaten(points, queries).tolist() == expected


@pytest.mark.parametrize("seed", range(4))
def test_infinite_values_among_many(seed):
    rng = np.random.default_rng(seed)
    points, queries = rng.integers(0, 9, (3, 300)).astype(float), rng.integers(0, 9, (3, 200)).astype(float)
    points[rng.random(points.shape) < 0.1] = np.inf
    points[rng.random(points.shape) < 0.1] = -np.inf
    queries[rng.random(queries.shape) < 0.2] = rng.choice([np.inf, -np.inf])
    able = points[:, (points > -np.inf).all(axis=0)]
    above = (able[:, None, :] > queries[:, :, None]).all(axis=0)
    np.testing.assert_array_equal(beaten(points, queries), above.any(axis=1))


@pytest.mark.slow
@pytest.mark.parametrize("endpoints", [2, 3])
@pytest.mark.parametrize("kind", ["cloud", "front"])
def test_time_grows_far_slower_than_pairs_and_memory_stays_small(endpoints, kind):
    rng = np.random.default_rng(0)

    def seconds(n):
        means = scattered(rng, kind, endpoints, n)
        begun = time.process_time()
        gaps(means)
        return time.process_time() - begun

    small = max(min(seconds(2000) for _ in range(3)), 5e-3)
    # Ten times the compounds are a hundred times the pairs.
    assert seconds(20_000) < 40 * small
    means = scattered(rng, kind, endpoints, 8000)
    tracemalloc.start()
    gaps(means)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
