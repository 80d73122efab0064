"""G and XY designs against an independent convex solver on random small tables."""

import itertools

import numpy as np
import pytest

from assaypilot.engine.design import g_optimal
from assaypilot.engine.design.directions import Between, Rows, against
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.strategies import few

convex = pytest.importorskip("tests.oracles.convex", reason="cvxpy is not installed", exc_type=ImportError)

SEEDS = few(15, of=200)


def features(seed):
    """Sparse site tables, numbers, numbers of deficient rank, duplicates with a zero row and unequal columns."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        sizes = [(3, 4, 3), (5, 4), (2, 2, 3, 2), (4, 4, 3)][seed // 4 % 4]
        full = np.array(list(itertools.product(*map(range, sizes))))
        return SiteFeatures(full[np.sort(rng.choice(len(full), rng.integers(5, min(len(full), 26)), False))], sizes)
    rows = rng.normal(size=(int(rng.integers(6, 26)), int(rng.integers(1, 13))))
    if kind == 2:
        rows = rows @ rng.normal(size=(rows.shape[1], rows.shape[1] + 3))
    if kind == 3:
        rows = np.vstack([rows, rows[:4], np.zeros((1, rows.shape[1]))]) * np.logspace(-1, 1, rows.shape[1])
    return DenseFeatures(rows)


def limits(seed, candidates):
    """What is asked of the weights."""
    n = candidates.n_rows
    share = (None, 0.15, 0.6, 0.08, None)[seed // 20 % 5]
    return {} if share is None else {"upper": max(share, 1.5 / n)}


def directions(seed, x, candidates):
    """A set of directions, for us and as rows for the oracle."""
    rng = np.random.default_rng(1000 + seed)
    n = len(x)
    active = np.sort(rng.choice(n, min(n, int(rng.integers(2, 8))), replace=False))
    table = candidates.onto(active)
    form = seed // 4 % 5
    if form == 0:
        return Pairs(table), convex.pairs(x[active])
    if form == 1:
        return Rows(table), x[active]
    if form == 2:
        return against(table, 0), x[active[:1]] - x[active[1:]]
    if form == 3:
        gaps = rng.uniform(0.2, 3, len(active))
        return against(table, 0, gaps=gaps), (x[active[:1]] - x[active[1:]]) / gaps[1:, None]
    a, b = rng.uniform(1, 2, 2), rng.uniform(-1, 0.5, n)
    rows = [(x[i] - x[j]) / (a[q] - b[j]) for q, i in enumerate(active[:2]) for j in range(n) if j != i]
    return Between(candidates.onto(active[:2]), candidates, gaps=(a, b)), np.array(rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_xy(seed):
    table = features(seed)
    candidates = ProjectedFeatures(table)
    x = table.dense(np.arange(table.n_rows))
    ours, raw = directions(seed, x, candidates)
    if not raw.any():
        pytest.skip("the rows drawn are equal")
    asked = limits(seed, candidates)
    design = xy_optimal(candidates, ours, gap=1e-6, **asked)
    value, _ = convex.minimax(x, raw, **asked)
    if value is None:
        pytest.skip("the oracle is not sure")
    assert design.converged
    assert design.value == pytest.approx(value, rel=1e-5)
    assert design.lower_bound <= value * (1 + 3e-6)
    assert design.value >= value * (1 - 3e-6)
    w = np.zeros(len(x))
    w[design.support] = design.weights
    check_weights(w, asked)
    # The value is that of these weights: by a pseudo-inverse in raw features.
    information = x.T @ (x * w[:, None])
    reached = np.einsum("ij,jk,ik->i", raw, np.linalg.pinv(information, rcond=1e-11, hermitian=True), raw).max()
    assert reached == pytest.approx(design.value, rel=1e-5)


def check_weights(w, asked):
    assert w.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.all(w <= asked.get("upper", 1.0) + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_g(seed):
    table = features(seed)
    candidates = ProjectedFeatures(table)
    asked = limits(seed, candidates)
    design = g_optimal(candidates, gap=1e-6, **asked)
    assert design.converged
    if not asked:
        x = table.dense(np.arange(table.n_rows))
        value, _ = convex.minimax(x, x)
        assert value is None or value == pytest.approx(design.value, rel=1e-5)
        return
    best = convex.log_det(candidates.coordinates(), **asked)
    if best is None:
        pytest.skip("the oracle is not sure")
    w = np.zeros(candidates.n_rows)
    w[design.support] = design.weights
    check_weights(w, asked)
    reached = np.linalg.slogdet(candidates.information(w))[1]
    assert best - 1e-5 <= reached <= best + 1e-5 * max(1.0, abs(best))
