import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import g_optimal
from assaypilot.engine.design.allowed import greatest_average
from assaypilot.engine.design.criteria import minimax_bound
from assaypilot.engine.design.table import Table
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.oracles import design as oracle

values = st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=12)


@given(values, st.floats(0, 3))
def test_greatest_average_fills_the_largest_to_the_bound(numbers, room):
    x = np.array(numbers)
    upper = min(1.0, (1 + room) / len(x))
    left, total = 1.0, 0.0
    for value in sorted(numbers, reverse=True):
        share = min(upper, left)
        total += share * value
        left -= share
    assert greatest_average(x, upper) == pytest.approx(total, abs=1e-9)


def test_rare_substituents_of_a_large_table_are_found():
    """Fifty substituents that occur once among 60,000 rows: a sample without them would not span."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, (60_000, 3))
    codes[rng.choice(60_000, 50, replace=False), 0] = np.arange(8, 58)
    table = Table(ProjectedFeatures(SiteFeatures(codes, (58, 8, 8))))
    assert table.d == 1 + 57 + 7 + 7
    chosen = table.spanning()
    assert len(set(chosen.tolist())) == table.d
    assert np.linalg.matrix_rank(table.rows(chosen)) == table.d


@pytest.mark.parametrize("upper", [1.0, 0.1])
def test_the_dual_bound_holds_for_any_information(upper):
    rng = np.random.default_rng(5)
    for _ in range(10):
        rows = rng.normal(size=(13, 3))
        candidates = ProjectedFeatures(DenseFeatures(rows))
        optimum = oracle.minimax(rows, rows, upper)
        basis = candidates.basis
        for _ in range(5):
            # Anything positive definite proves something, the optimum's own information the most.
            root = rng.normal(size=(3, 3))
            assert minimax_bound(candidates, candidates, root @ root.T, upper) <= optimum * (1 + 1e-9)
        weights, _ = oracle.d_optimal(rows, upper)
        inverse = basis.T @ np.linalg.inv(oracle.information(rows, weights)) @ basis
        assert 0.3 * optimum <= minimax_bound(candidates, candidates, inverse, upper) <= optimum * (1 + 1e-9)


def test_odd_questions_end_with_a_design():
    """Bounds, largest supports and tight gaps together, on sparse tables and dependent rows."""
    rng = np.random.default_rng(6)
    full = np.array(list(itertools.product(range(3), range(4), range(3))))
    for trial in range(24):
        codes = full[rng.choice(36, int(rng.integers(2, 36)), replace=bool(trial % 3 == 0))]
        candidates = ProjectedFeatures(SiteFeatures(codes, (3, 4, 3)))
        n, d = candidates.n_rows, candidates.rank
        upper = [None, min(1.0, 1.01 / n), min(1.0, 2.0 / n), 1.0 / d][trial % 4]
        size = [None, d, d + 2][trial // 4 % 3]
        if upper is not None and size is not None and size * upper < 1:
            size = None
        if upper is not None and n * upper < 1:
            upper = 1.0
        design = g_optimal(candidates, gap=10.0 ** -rng.integers(1, 9), upper=upper, max_support=size)
        assert np.isfinite(design.value)
        assert design.weights.sum() == pytest.approx(1.0)
        assert len(design.support) <= (n if size is None else size)
        assert upper is None or design.weights.max() <= upper * (1 + 1e-9)
        assert design.lower_bound <= design.value
        assert design.converged or size is not None
