"""Forced, forbidden and bounded compounds, and information already there."""

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


def limits_of(seed, n, d):
    """Random bounds, smallest shares and information, each sometimes absent."""
    rng = np.random.default_rng(seed)
    upper = rng.uniform(1.5, 6.0, n) / n if seed % 2 else np.ones(n)
    if seed % 3 == 0:
        upper[rng.choice(n, n // 4, replace=False)] = 0.0
    required = np.zeros(n)
    if seed % 5 < 3:
        allowed = np.flatnonzero(upper > 0)
        forced = rng.choice(allowed, min(3, len(allowed)), replace=False)
        required[forced] = np.minimum(upper[forced], rng.uniform(0.01, 0.1, len(forced)))
    half = rng.normal(size=(d, 1 + seed % 3))
    base = 0.3 * half @ half.T if seed % 4 == 1 else None
    return upper, required, base


@pytest.mark.parametrize("seed", range(40))
def test_limits_agree_with_a_slow_reference(seed):
    rng = np.random.default_rng(100 + seed)
    rows = rng.normal(size=(20 + seed % 10, 2 + seed % 3))
    candidates = ProjectedFeatures(DenseFeatures(rows))
    n, d = candidates.n_rows, candidates.rank
    upper, required, base = limits_of(seed, n, d)
    design = g_optimal(candidates, gap=1e-7, upper=upper, required=required, base=base)
    w = np.zeros(n)
    w[design.support] = design.weights
    assert w.sum() == pytest.approx(1.0)
    assert np.all(w <= upper + 1e-9)
    assert np.all(w >= required - 1e-9)
    assert design.converged
    x = candidates.coordinates()
    information = x.T @ (x * w[:, None]) + (0.0 if base is None else base)
    leverages = np.einsum("ij,jk,ik->i", x, np.linalg.inv(information), x)
    assert design.value == pytest.approx(leverages.max(), rel=1e-8)
    # The certificate anew: the best allowed weights for these leverages, by filling from the largest.
    best, left = required.copy(), 1.0 - required.sum()
    for i in np.argsort(-leverages):
        step = min(left, upper[i] - best[i])
        best[i] += step
        left -= step
    assert (best - w) @ leverages <= d * design.gap + 1e-7
    assert design.lower_bound <= oracle.limited_minimax(x, upper, required, base) * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_what_is_made_already_is_not_made_again(seed):
    """Half of the optimal design is there: the other half is what is missing, and together they are optimal."""
    half = 0.5 * np.array(np.random.default_rng(seed).permutation(36) < 18, dtype=float) / 18
    base = FULL.information(half)
    design = g_optimal(FULL, gap=1e-8, base=2 * base, max_support=None)
    together = base + 0.5 * FULL.information(design.weights, design.support)
    alone = g_optimal(FULL, gap=1e-8)
    best = np.linalg.slogdet(FULL.information(alone.weights, alone.support))[1]
    assert np.linalg.slogdet(together)[1] <= best + 1e-9
    assert (
        np.linalg.slogdet(together)[1]
        >= np.linalg.slogdet(base + 0.5 * FULL.information(np.full(36, 1 / 36)))[1] - 1e-9
    )


def test_forbidden_compounds_get_nothing_but_count():
    upper = np.ones(36)
    upper[::3] = 0.0
    upper[1] = 1.0
    upper[[3, 6]] = 1.0
    design = g_optimal(FULL, gap=1e-6, upper=upper)
    assert not (upper[design.support] == 0).any()
    assert design.value == pytest.approx(achieved(FULL, design.support, design.weights))
    assert design.value > 8.0


def test_required_compounds_come_first_and_count_towards_the_largest_support():
    required = np.zeros(36)
    required[[0, 35]] = 0.2
    design = g_optimal(FULL, required=required, max_support=14)
    assert {0, 35} <= set(design.support.tolist())
    assert len(design.support) <= 14
    everything = np.full(36, 1 / 36)
    fixed = g_optimal(FULL, required=everything)
    assert fixed.weights == pytest.approx(everything)
    assert fixed.value == fixed.lower_bound == pytest.approx(8.0)


def test_a_warm_start_is_moved_into_its_limits():
    cold = g_optimal(FULL)
    upper = np.ones(36)
    upper[cold.support[:4]] = 0.0
    warm = g_optimal(FULL, upper=upper, warm=cold, gap=1e-6)
    assert warm.converged
    assert not set(cold.support[:4].tolist()) & set(warm.support.tolist())


def share(*pairs):
    out = np.zeros(36)
    for position, value in pairs:
        out[position] = value
    return out


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({"upper": np.zeros(36)}, "all 36 compounds are forbidden"),
        ({"upper": np.full(36, 0.02)}, r"add up to 0\.72"),
        ({"upper": np.ones(35)}, "36 compounds but 35 largest shares"),
        ({"upper": np.r_[np.nan, np.ones(35)]}, "largest share of the compound at position 0 is nan"),
        ({"upper": np.r_[np.ones(35), -1.0]}, "position 35 is -1"),
        ({"required": share((3, np.inf))}, "smallest share of the compound at position 3 is inf"),
        ({"required": share((3, 0.6), (4, 0.5))}, r"add up to 1\.1"),
        ({"required": share((3, 0.6)), "upper": 0.5}, "position 3 is required with a share of 0.6 but allowed"),
        ({"required": share((0, 0.5), (1, 0.5))}, "cannot estimate every effect"),
        ({"upper": np.r_[np.ones(12), np.zeros(24)]}, "cannot estimate every effect.*missing substituents"),
        ({"base": np.eye(3)}, "8 by 8 finite numbers"),
        ({"base": np.full((8, 8), np.nan)}, "finite numbers"),
        ({"base": -np.eye(8)}, "no negative direction"),
        ({"required": share((0, 0.1), (1, 0.1)), "max_support": 6}, "6 compounds are too few"),
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


def convex_instance(seed):
    """Sparse site tables and numeric rows of full and deficient rank, d from 1 to 12."""
    rng = np.random.default_rng(seed)
    if seed % 2:
        sizes = [(3, 3), (4, 3, 2), (5, 4, 3), (2, 2, 2, 2), (4, 4, 4)][seed // 2 % 5]
        every = np.array(list(itertools.product(*map(range, sizes))))
        some = every[np.sort(rng.choice(len(every), min(len(every), int(rng.integers(5, 22))), replace=False))]
        return SiteFeatures(some, sizes)
    d = 1 + seed // 2 % 12
    rows = rng.normal(size=(d + int(rng.integers(2, 10)), d))
    if seed % 4 == 0 and d > 2:
        rows[:, -1] = rows[:, 0] - rows[:, 1]
    return DenseFeatures(rows)


@pytest.mark.parametrize("seed", range(200))
def test_agrees_with_an_independent_convex_solver(seed):
    pytest.importorskip("cvxpy")
    from tests.oracles import convex

    candidates = ProjectedFeatures(convex_instance(seed))
    x = candidates.coordinates()
    design = g_optimal(candidates, gap=1e-7)
    assert candidates.rank <= 12
    assert design.value == pytest.approx(candidates.rank, rel=1e-6)
    best, weights = convex.minimax(x, x)
    if best is None:
        pytest.skip("the independent solver is not sure")
    assert design.value == pytest.approx(best, rel=1e-5)
    ours = np.linalg.slogdet(candidates.information(design.weights, design.support))[1]
    theirs = np.linalg.slogdet(candidates.information(np.maximum(weights, 0.0) / np.maximum(weights, 0.0).sum()))[1]
    assert ours >= theirs - 1e-6
