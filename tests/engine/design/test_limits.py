"""Bounded shares of compounds, and tables that leave effects together."""

import numpy as np
import pytest

from assaypilot.engine.design import g_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.oracles import design as oracle


@pytest.mark.parametrize("seed", range(20))
def test_limits_agree_with_a_slow_reference(seed):
    rng = np.random.default_rng(100 + seed)
    rows = rng.normal(size=(20 + seed % 10, 2 + seed % 3))
    candidates = ProjectedFeatures(DenseFeatures(rows))
    n, d = candidates.n_rows, candidates.rank
    upper = float(rng.uniform(1.1, 6.0)) / n
    design = g_optimal(candidates, gap=1e-7, upper=upper)
    w = np.zeros(n)
    w[design.support] = design.weights
    assert w.sum() == pytest.approx(1.0)
    assert np.all(w <= upper + 1e-9)
    assert design.converged
    x = candidates.coordinates()
    information = x.T @ (x * w[:, None])
    leverages = np.einsum("ij,jk,ik->i", x, np.linalg.inv(information), x)
    assert design.value == pytest.approx(leverages.max(), rel=1e-8)
    # The certificate anew: the best allowed weights for these leverages, by filling from the largest.
    best, left = np.zeros(n), 1.0
    for i in np.argsort(-leverages):
        step = min(left, upper)
        best[i] += step
        left -= step
    assert (best - w) @ leverages <= d * design.gap + 1e-7
    assert design.lower_bound <= oracle.limited_minimax(x, np.full(n, upper)) * (1 + 1e-6)


def test_candidates_without_any_feature():
    with pytest.raises(AssayPilotError, match="nothing to estimate"):
        g_optimal(ProjectedFeatures(DenseFeatures(np.zeros((3, 2)))))


def test_sites_that_always_change_together():
    codes = np.array([(i, i, j) for i in range(4) for j in range(3)])
    candidates = ProjectedFeatures(SiteFeatures(codes, (4, 4, 3)))
    design = g_optimal(candidates, gap=1e-8)
    assert candidates.rank == 6
    assert design.value == pytest.approx(6.0)
