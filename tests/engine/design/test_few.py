import itertools
import math

import numpy as np
import pytest

from assaypilot.engine.design import g_optimal
from assaypilot.engine.design.few import g_on_few, support_curve
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.oracles import design as oracle

SIZES = (4, 5, 4, 3, 4)
PRODUCT = np.array(list(itertools.product(*map(range, SIZES))))
FULL = ProjectedFeatures(SiteFeatures(PRODUCT, SIZES))


def test_the_bars_of_the_practice_table():
    exact = g_optimal(FULL, gap=1e-9)
    assert exact.converged
    assert len(exact.support) <= 105
    curve = support_curve(FULL, [96, 80, 64, 48, 32])
    losses = [point.loss for point in curve]
    for point, loss in zip(curve, (0.02, 0.01, 0.02, 0.09, 0.25), strict=True):
        assert len(point.design.support) <= point.compounds
        assert point.loss <= loss
        rows = FULL.features.dense(np.arange(960))
        true = oracle.leverages(rows[point.design.support], point.design.weights, rows).max()
        assert true == pytest.approx(point.design.value, rel=1e-8)
        assert point.loss == pytest.approx(true / 16 - 1, abs=1e-8)
    assert losses == sorted(losses)
    assert curve[3].d_efficiency > 0.99
    assert [point.compounds for point in curve] == [96, 80, 64, 48, 32]


def test_weights_on_a_given_support_are_the_minimax_ones():
    """On as many rows as allowed nothing can be exchanged: an independent minimax solver finds the same value."""
    rng = np.random.default_rng(0)
    for _ in range(6):
        rows = rng.normal(size=(9, 3))
        candidates = ProjectedFeatures(DenseFeatures(rows))
        for size in (3, 4, 5):
            design = g_on_few(candidates, size, restarts=2)
            best = oracle.minimax(rows[design.support], rows)
            # What is optimal to a thousandth is not polished further.
            assert design.value <= best * (1 + (1e-3 if design.converged else 1e-4))
            assert design.value >= 3 - 1e-9


def test_near_the_best_of_every_support():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(9, 3))
    candidates = ProjectedFeatures(DenseFeatures(rows))
    best = math.inf
    for support in itertools.combinations(range(9), 4):
        chosen = rows[list(support)]
        if abs(np.linalg.svd(chosen, compute_uv=False)[-1]) > 1e-3:
            best = min(best, oracle.minimax(chosen, rows))
    assert g_on_few(candidates, 4, restarts=6).value <= best * (1 + 1e-3)


def test_it_is_the_same_every_time():
    part = FULL.onto(np.sort(np.random.default_rng(0).choice(960, 200, replace=False)))
    first, second = (g_on_few(part, 30, restarts=1) for _ in range(2))
    assert np.array_equal(first.support, second.support)
    assert np.array_equal(first.weights, second.weights)


def test_what_a_curve_refuses():
    with pytest.raises(AssayPilotError, match="no numbers of compounds"):
        support_curve(FULL, [])
    with pytest.raises(ValueError, match="criterion"):
        support_curve(FULL, [20], criterion="e")
    with pytest.raises(AssayPilotError, match=r"too few.*at least 16"):
        support_curve(FULL, [12])
