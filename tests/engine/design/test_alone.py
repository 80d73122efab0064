"""Sparse series: candidates that alone carry a substituent are designed apart from all others."""

import numpy as np
import pytest

from assaypilot.engine.design import closed_forms
from assaypilot.engine.design.closed_forms import separated
from assaypilot.engine.design.g import g_optimal
from assaypilot.engine.design.rounding import round_design
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures


def sparse(seed: int, n: int = 170) -> ProjectedFeatures:
    """A series in which few substituents are frequent and most occur once or twice."""
    rng = np.random.default_rng(seed)
    drawn = np.stack([rng.zipf(1.4, n) % size for size in (30, 4, 90)], axis=1)
    drawn = np.unique(drawn, axis=0)
    codes = np.stack([np.unique(column, return_inverse=True)[1] for column in drawn.T], axis=1)
    return ProjectedFeatures(SiteFeatures(codes, tuple(int(column.max()) + 1 for column in codes.T)))


def worst(candidates: ProjectedFeatures, positions, weights) -> float:
    """The largest leverage, by nothing but its definition."""
    x = candidates.coordinates()
    information = (x[positions] * np.asarray(weights, dtype=float)[:, None]).T @ x[positions]
    return float(np.einsum("ij,ij->i", x @ np.linalg.inv(information), x).max())


@pytest.fixture
def whole(monkeypatch):
    """Calls a function as if nothing were ever taken apart."""

    def call(function, *arguments, **options):
        with monkeypatch.context() as patch:
            patch.setattr(closed_forms, "_WORTH", 10**9)
            return function(*arguments, **options)

    return call


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_design_taken_apart_is_as_good_as_one_of_all_together(seed, monkeypatch, whole):
    monkeypatch.setattr(closed_forms, "_WORTH", 10)
    candidates = sparse(seed)
    parts = separated(candidates)
    assert parts is not None
    assert len(parts.alone) >= 10
    assert parts.rank == candidates.rank
    design, together = g_optimal(candidates), whole(g_optimal, candidates)
    assert design.weights.sum() == pytest.approx(1.0)
    assert design.value == pytest.approx(worst(candidates, design.support, design.weights), rel=1e-9)
    assert design.value <= candidates.rank * 1.001
    shares = dict(zip(design.support.tolist(), design.weights.tolist(), strict=True))
    assert [shares[position] for position in parts.alone.tolist()] == pytest.approx(
        [1 / candidates.rank] * len(parts.alone)
    )
    n = 3 * candidates.rank + 7
    counts = round_design(design, candidates, n, most=8)
    assert counts.counts.sum() == n
    assert counts.counts.max() <= 8
    assert counts.value == pytest.approx(n * worst(candidates, counts.support, counts.counts), rel=1e-9)
    assert counts.value <= 1.01 * whole(round_design, together, candidates, n, most=8).value


def test_what_cannot_be_shared_out_evenly_is_still_shared_out():
    """One measurement too many for two each, and no core to take it."""
    n = 60
    codes = np.stack([np.arange(n), np.zeros(n, dtype=int)], axis=1)
    candidates = ProjectedFeatures(SiteFeatures(codes, (n, 1)))
    counts = round_design(g_optimal(candidates), candidates, 2 * n + 1)
    assert counts.counts.sum() == 2 * n + 1
    assert counts.counts.min() == 2


def test_what_the_core_cannot_hold_goes_to_those_that_stand_alone(monkeypatch):
    """A core of nine takes 18 at two of each; six for it instead would leave one of its means at twice the variance."""
    monkeypatch.setattr(closed_forms, "_WORTH", 10)
    core = [[a, b] for a in range(3) for b in range(3)]
    candidates = ProjectedFeatures(SiteFeatures(np.array(core + [[3 + k, 0] for k in range(20)]), (23, 3)))
    parts = separated(candidates)
    assert parts is not None
    assert (len(parts.alone), parts.rank) == (20, 25)
    counts = round_design(g_optimal(candidates), candidates, 46, most=2)
    assert counts.counts.sum() == 46
    assert counts.counts.max() == 2
    assert counts.value == pytest.approx(46.0)
    assert worst(candidates, counts.support, counts.counts) == pytest.approx(1.0)
