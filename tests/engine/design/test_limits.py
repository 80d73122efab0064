"""Forbidden and bounded compounds."""

import itertools

import numpy as np
import pytest

from assaypilot.engine.design import achieved, g_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.oracles import design as oracle

SIZES = (3, 4, 3)
PRODUCT = np.array(list(itertools.product(*map(range, SIZES))))
FULL = ProjectedFeatures(SiteFeatures(PRODUCT, SIZES))


def limits_of(seed, n):
    """Random bounds, some of 0."""
    rng = np.random.default_rng(seed)
    upper = rng.uniform(1.5, 6.0, n) / n if seed % 2 else np.ones(n)
    if seed % 3 == 0:
        upper[rng.choice(n, n // 4, replace=False)] = 0.0
    return upper


@pytest.mark.parametrize("seed", range(40))
def test_limits_agree_with_a_slow_reference(seed):
    rng = np.random.default_rng(100 + seed)
    rows = rng.normal(size=(20 + seed % 10, 2 + seed % 3))
    candidates = ProjectedFeatures(DenseFeatures(rows))
    n, d = candidates.n_rows, candidates.rank
    upper = limits_of(seed, n)
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
        step = min(left, upper[i] - best[i])
        best[i] += step
        left -= step
    assert (best - w) @ leverages <= d * design.gap + 1e-7
    assert design.lower_bound <= oracle.limited_minimax(x, upper) * (1 + 1e-6)


def test_forbidden_compounds_get_nothing_but_count():
    upper = np.ones(36)
    upper[::3] = 0.0
    upper[1] = 1.0
    upper[[3, 6]] = 1.0
    design = g_optimal(FULL, gap=1e-6, upper=upper)
    assert not (upper[design.support] == 0).any()
    assert design.value == pytest.approx(achieved(FULL, design.support, design.weights))
    assert design.value > 8.0


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"upper": np.zeros(36)}, "all 36 compounds are forbidden"),
        ({"upper": np.full(36, 0.02)}, r"add up to 0\.72"),
        ({"upper": np.ones(35)}, "36 compounds but 35 largest shares"),
        ({"upper": np.r_[np.nan, np.ones(35)]}, "largest share of the compound at position 0 is nan"),
        ({"upper": np.r_[np.ones(35), -1.0]}, "position 35 is -1"),
        ({"upper": np.r_[np.ones(12), np.zeros(24)]}, "cannot estimate every effect.*missing substituents"),
    ],
)
def test_limits_that_cannot_be_met_are_refused_in_plain_words(asked, text):
    with pytest.raises(AssayPilotError, match=text):
        g_optimal(FULL, **asked)


def test_candidates_without_any_feature():
    with pytest.raises(AssayPilotError, match="nothing to estimate"):
        g_optimal(ProjectedFeatures(DenseFeatures(np.zeros((3, 2)))))


def test_sites_that_always_change_together():
    codes = np.array([(i, i, j) for i in range(4) for j in range(3)])
    candidates = ProjectedFeatures(SiteFeatures(codes, (4, 4, 3)))
    design = g_optimal(candidates, gap=1e-8)
    assert candidates.rank == 6
    assert design.value == pytest.approx(6.0)
