import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design.allowed import greatest_average
from assaypilot.engine.design.criteria import minimax_bound
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures
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
