"""Even weights on as many candidates as effects: what they reach, what is proven, and where they are the answer."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.design import Pairs, Rows, g_optimal, xy_optimal
from assaypilot.engine.design.allowed import room_for
from assaypilot.engine.design.closed_forms import even_design
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures


def table(x) -> ProjectedFeatures:
    return ProjectedFeatures(DenseFeatures(np.asarray(x, dtype=float)))


def asked(candidates, gap, *, pairs, most=None, upper=None):
    return even_design(candidates, room_for(candidates.n_rows, upper), most, gap, pairs=pairs)


def reached(x, support, pairs: bool) -> float:
    """The largest variance under even weights, straight from the definition."""
    chosen = x[support]
    inverse = np.linalg.inv(chosen.T @ chosen / len(support))
    y = np.array([a - b for a, b in itertools.combinations(x, 2)]) if pairs else x
    return max(float(v @ inverse @ v) for v in y)


def differences(x) -> Rows:
    """All pairs as given directions, which the closed form does not know."""
    return Rows(np.array([a - b for a, b in itertools.combinations(x, 2)]))


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 5), st.booleans())
def test_value_and_bound(seed, d, more, pairs):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(min(d + more, 2 * d), d)) * 10.0 ** rng.integers(-1, 2, d)
    candidates = table(x)
    assume(candidates.rank == d and d > pairs)
    found = asked(candidates, 1e9, pairs=pairs)
    assert found is not None
    assert len(found.support) == d
    assert found.value == pytest.approx(reached(x, found.support, pairs), rel=1e-6)
    there = candidates.coordinates()
    best = xy_optimal(candidates, differences(there), gap=1e-4) if pairs else g_optimal(candidates, gap=1e-6)
    assert found.lower <= best.value * (1 + 1e-9)
    assert found.value >= best.lower_bound * (1 - 1e-9)
    assert found.gap == pytest.approx(found.value / found.lower - 1)


@pytest.mark.parametrize("d", [2, 3, 8, 16])
def test_independent_candidates_leave_no_choice(d):
    x = np.random.default_rng(d).normal(size=(d, d + 3))
    candidates = table(x)
    for design, value in (
        (g_optimal(candidates, gap=1e-9), d),
        (xy_optimal(candidates, Pairs(candidates), gap=1e-9), 2 * d),
    ):
        assert (design.value, design.lower_bound, design.gap, design.converged) == (value, value, 0.0, True)
        assert design.support.tolist() == list(range(d))
        np.testing.assert_array_equal(design.weights, 1 / d)
        assert reached(candidates.coordinates(), design.support, design.criterion == "xy") == pytest.approx(value)


@pytest.mark.parametrize(("turned", "even"), [(0.3, True), (-0.3, False)])
def test_one_more_than_effects(turned, even):
    """LinFACT's disturbing arm: between two others it needs no measurement, beyond them it does."""
    d = 8
    x = np.vstack([np.eye(d), np.cos(turned) * np.eye(d)[0] + np.sin(turned) * np.eye(d)[1]])
    candidates = table(x)
    assert (asked(candidates, 1e-3, pairs=True) is not None) == even
    design = xy_optimal(candidates, Pairs(candidates), gap=1e-4)
    other = xy_optimal(candidates, differences(candidates.coordinates()), gap=1e-4)
    assert design.converged
    assert design.value == pytest.approx(other.value, rel=2e-4)
    if even:
        assert design.support.tolist() == list(range(d))
    # Leverages are at most d either way.
    assert g_optimal(candidates, gap=1e-9).value == pytest.approx(d)
