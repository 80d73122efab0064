import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import Product, g_optimal
from assaypilot.engine.design import g as solver_module
from assaypilot.engine.design import largest_sum as extremes_module
from assaypilot.engine.design.largest_sum import largest_quadratic
from assaypilot.engine.design.products import (
    orthogonal_array,
    orthogonal_rows,
    orthogonal_start,
    product_design,
    recognised,
)
from assaypilot.engine.design.table import Lookups, grouped
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.oracles import design as oracle

SHAPES = [(4, 5, 4, 3, 4), (2,), (2, 2), (6, 6, 6), (2,) * 6, (8, 4, 2, 2), (1, 3, 3), (9, 3, 3), (12, 6), (5, 7)]


def rows_of(sizes):
    return np.array(list(itertools.product(*map(range, sizes))))


@pytest.mark.parametrize("sizes", [*SHAPES, (12,) * 5, (20,) * 5, (25, 5, 5), (100,) * 3])
def test_orthogonal_arrays_are_balanced(sizes):
    codes = orthogonal_array(sizes)
    assert len(codes) == orthogonal_rows(sizes)
    for a in range(len(sizes)):
        assert set(np.bincount(codes[:, a], minlength=sizes[a])) == {len(codes) // sizes[a]}
        for b in range(a):
            counts = np.bincount(codes[:, a] * sizes[b] + codes[:, b], minlength=sizes[a] * sizes[b])
            assert set(counts) == {len(codes) // (sizes[a] * sizes[b])}


def test_known_sizes_of_orthogonal_arrays():
    # Hamming's eight rows for up to seven sites of two; six by six needs no Graeco-Latin square for three sites.
    known = {(2,) * 7: 8, (2,) * 8: 16, (3,) * 4: 9, (6, 6, 6): 36, (20,) * 5: 400, (4, 5, 4, 3, 4): 240}
    for sizes, rows in known.items():
        assert orthogonal_rows(sizes) == rows


@pytest.mark.parametrize("sizes", SHAPES)
def test_products_reach_their_rank_exactly(sizes):
    design = g_optimal(Product(sizes), gap=1e-9)
    d = 1 + sum(n - 1 for n in sizes)
    every = rows_of(sizes)
    dense = SiteFeatures(every, sizes).dense(np.arange(len(every)))
    true = oracle.leverages(dense[design.support], design.weights, dense).max()
    assert design.converged
    assert design.lower_bound == d
    assert true == pytest.approx(d, rel=1e-9)
    assert len(design.support) <= d * (d + 1) // 2


@pytest.mark.parametrize("gap", [1e-9, 1e-3, 0.05, 0.3])
def test_unlisted_products_tell_the_truth(gap):
    # The same function that plans a thousand million compounds, on one small enough to check row by row.
    sizes = (16, 13, 16)
    design = product_design(Product(sizes), gap=gap, max_support=None)
    every = rows_of(sizes)
    dense = SiteFeatures(every, sizes).dense(np.arange(len(every)))
    x = dense[design.support]
    inverse = np.linalg.pinv(x.T @ (x * design.weights[:, None]), rcond=1e-11, hermitian=True)
    true = np.einsum("ij,jk,ik->i", dense, inverse, dense).max()
    assert design.value == pytest.approx(true, rel=1e-8)
    assert design.converged == (design.value <= 43 * (1 + gap))
    assert design.converged
    assert design.weights.sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_a_thousand_million_compounds():
    product = Product((1000,) * 3)
    design = g_optimal(product)
    assert design.value == design.lower_bound == product.rank == 2998
    codes = product.codes(design.support)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert len(np.unique(codes[:, a].astype(np.int64) * 1000 + codes[:, b])) == 1_000_000
    assert design.weights == pytest.approx(np.full(1_000_000, 1e-6))


def test_fewer_compounds_of_an_unlisted_product():
    design = g_optimal(Product((100,) * 4), max_support=5_000)
    assert len(design.support) <= 5_000
    assert design.lower_bound == 397
    assert 397 < design.value < 397 * 1.5
    assert not design.converged
    with pytest.raises(AssayPilotError, match=r"no design of at most 400 compounds.*Allow"):
        g_optimal(Product((100,) * 4), max_support=400)
    with pytest.raises(AssayPilotError, match=r"300 compounds are too few.*at least 397"):
        g_optimal(Product((100,) * 4), max_support=300)


def test_what_an_unlisted_product_cannot_take():
    with pytest.raises(AssayPilotError, match="List the compounds instead"):
        g_optimal(Product((100,) * 4), upper=0.1)
    with pytest.raises(AssayPilotError, match="at least one site"):
        Product(())
    with pytest.raises(AssayPilotError, match="too large to number"):
        Product((10,) * 20)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5), st.integers(0, 1000), st.sampled_from([1.0, 1e-2, 1e-6]))
def test_extremes_are_those_of_all_rows(sizes, seed, size):
    rng = np.random.default_rng(seed)
    columns = 1 + sum(sizes)
    matrix = size * rng.normal(size=(columns, columns)) + np.eye(columns)
    matrix = matrix + matrix.T
    codes = rows_of(sizes)
    values = SiteFeatures(codes, tuple(sizes)).quadratic(matrix)
    found = largest_quadratic(matrix, tuple(sizes))
    assert found.value == pytest.approx(values.max(), rel=1e-10, abs=1e-10)
    assert found.bound == found.value
    place = np.flatnonzero((codes == found.codes).all(axis=1))[0]
    assert values[place] == pytest.approx(found.value, rel=1e-10, abs=1e-10)


def test_a_search_cut_short_still_proves_a_bound(monkeypatch):
    monkeypatch.setattr(extremes_module, "_LEAVES", 2)
    rng = np.random.default_rng(0)
    loose = 0
    for _ in range(20):
        matrix = rng.normal(size=(26, 26))
        matrix = matrix + matrix.T
        values = SiteFeatures(rows_of((5,) * 5), (5,) * 5).quadratic(matrix)
        found = largest_quadratic(matrix, (5,) * 5)
        assert found.value <= values.max() + 1e-9
        assert found.bound >= values.max() - 1e-9
        loose += found.bound > values.max() + 1e-9
    assert loose


class TestRecognition:
    def test_a_shuffled_product_with_doubles_and_an_unused_substituent(self):
        rng = np.random.default_rng(0)
        codes = rows_of((3, 4, 2)) + np.array([1, 0, 0])
        codes = np.vstack([codes, codes[:5]])[rng.permutation(29)]
        candidates = ProjectedFeatures(SiteFeatures(codes, (5, 4, 2)))
        sizes, row_of = recognised(candidates)
        assert sizes == (3, 4, 2)
        assert np.array_equal(codes[row_of] - np.array([1, 0, 0]), rows_of((3, 4, 2)))
        start = orthogonal_start(sizes, row_of)
        rows = candidates.features.dense(np.arange(29))
        assert oracle.leverages(rows[start.support], start.weights, rows).max() == pytest.approx(7)

    def test_one_row_less_is_no_product(self):
        assert recognised(ProjectedFeatures(SiteFeatures(rows_of((3, 4))[1:], (3, 4)))) is None

    def test_switched_off_it_is_not_used(self, monkeypatch):
        candidates = ProjectedFeatures(SiteFeatures(rows_of((4, 3, 4)), (4, 3, 4)))
        plain = g_optimal(candidates, gap=1e-6)

        def refuse(_):
            raise AssertionError

        monkeypatch.setattr(solver_module, "recognised", refuse)
        slow = g_optimal(candidates, gap=1e-6, recognise=False)
        assert slow.value == pytest.approx(plain.value, rel=1e-6)
        with pytest.raises(AssertionError):
            g_optimal(candidates, gap=1e-6)


@pytest.mark.parametrize(("sizes", "n"), [((7, 3, 5), 60), ((40,), 25), ((12,) * 4, 3000), ((30, 2, 2, 30), 2000)])
def test_look_ups_over_groups_are_the_quadratic_form(sizes, n):
    rng = np.random.default_rng(1)
    codes = np.column_stack([rng.integers(0, size, n) for size in sizes])
    features = SiteFeatures(codes, sizes)
    matrix = rng.normal(size=(features.n_columns,) * 2)
    matrix = matrix + matrix.T
    for rows in (np.arange(n), np.sort(rng.choice(n, n // 2, replace=False))):
        table = Lookups(features, rows)
        assert table.quadratic(matrix) == pytest.approx(features.quadratic(matrix, rows), abs=1e-10)
        even = features.gram(np.full(len(rows), 1 / len(rows)), rows)
        assert table.information() == pytest.approx(even, abs=1e-12)


def test_groups_keep_to_the_largest_table():
    for sizes, limit in (((20,) * 5, 1 << 18), ((12,) * 5, 100_000), ((1000, 1000), 10), ((2,) * 9, 512)):
        groups = grouped(sizes, limit)
        assert sorted(itertools.chain(*groups)) == list(range(len(sizes)))
        levels = sorted(math.prod(sizes[site] for site in group) for group in groups)
        assert len(groups) == len(sizes) or levels[-1] * levels[-2] <= limit
