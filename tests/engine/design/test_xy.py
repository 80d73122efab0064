import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import xy
from assaypilot.engine.design.directions import Rows
from assaypilot.engine.design.interior_point import dual_bound
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled
from tests.oracles import xy as oracle
from tests.strategies import product

PRACTICE = (4, 5, 4, 3, 4)


def sites(codes, sizes):
    return ProjectedFeatures(SiteFeatures(codes, tuple(sizes)))


def part(seed, size, sizes=PRACTICE):
    full = product(sizes)
    return sites(full[np.sort(np.random.default_rng(seed).choice(len(full), size, replace=False))], sizes)


def dense_weights(design, n):
    w = np.zeros(n)
    w[design.support] = design.weights
    return w


def check_is_design(design, candidates):
    assert design.criterion == "xy"
    assert np.all(design.weights > 0)
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.all(np.diff(design.support) > 0)
    assert 0 <= design.support[0] <= design.support[-1] < candidates.n_rows
    assert 0 < design.lower_bound <= design.value < math.inf
    assert design.gap == pytest.approx(design.value / design.lower_bound - 1, abs=1e-9)


def reached(candidates, design):
    x = candidates.features.dense(candidates.rows)
    return oracle.worst(x, oracle.pairs(x), dense_weights(design, candidates.n_rows))


@pytest.mark.parametrize("sizes", [PRACTICE, (2,), (3, 3), (5, 2), (2, 2, 2, 2, 2), (4, 3, 2), (20, 3), (1, 4, 1)])
@pytest.mark.parametrize("recognise", [True, False])
def test_full_products_have_twice_their_substituents(monkeypatch, sizes, recognise):
    if not recognise:
        monkeypatch.setattr(xy, "full_product_value", lambda *_: None)
    candidates = sites(product(sizes), sizes)
    best = sum(2 * n for n in sizes if n > 1)
    design = xy_optimal(candidates, Pairs(candidates), gap=1e-9)
    check_is_design(design, candidates)
    assert design.converged
    assert design.value == pytest.approx(best, rel=1e-9)
    assert best * (1 - 2e-9) <= design.lower_bound <= best * (1 + 1e-12)
    if candidates.n_rows < 100:
        assert reached(candidates, design) == pytest.approx(best, rel=1e-8)
    d = candidates.rank
    assert len(design.support) <= d * (d + 1) // 2


@given(seed=st.integers(0, 2**32 - 1))
def test_the_dual_bound_holds_for_any_weights_shares_and_metric(seed):
    rng = np.random.default_rng(seed)
    n, m, d = int(rng.integers(1, 12)), int(rng.integers(1, 6)), int(rng.integers(1, 5))
    x, y = rng.normal(size=(n, d)), rng.normal(size=(m, d))
    half = rng.normal(size=(d, d))
    metric = (half + half.T) / 2
    share = rng.dirichlet(np.ones(m))
    base = np.outer(x[0], x[0]) * rng.integers(0, 2)
    spread = (y * share[:, None]).T @ y
    slope = metric @ spread @ metric
    reachable = np.einsum("ij,jk,ik->i", x, slope, x).max() + np.vdot(slope, base)
    bound = dual_bound(float(np.vdot(spread, metric)), float(reachable))
    for w in rng.dirichlet(np.full(n, 0.3), 5):
        information = x.T @ (x * w[:, None]) + base
        if np.linalg.cond(information) < 1e10:
            assert bound <= np.einsum("ij,jk,ik->i", y, np.linalg.inv(information), y).max() * (1 + 1e-9)


def test_one_comparison_needs_only_its_two_compounds():
    # Measuring the two, half each, gives variance 4; a plan for it tells nothing about anything else.
    rows = np.random.default_rng(0).normal(size=(6, 6))
    candidates = ProjectedFeatures(DenseFeatures(rows))
    design = xy_optimal(candidates, Pairs(candidates.onto(np.array([1, 4]))), gap=1e-6)
    assert design.converged
    assert design.support.tolist() == [1, 4]
    assert design.weights == pytest.approx([0.5, 0.5], abs=1e-5)
    assert design.value == pytest.approx(4.0, rel=1e-6)


def test_measure_some_compare_others():
    full = product((3, 3, 3))
    features = SiteFeatures(full, (3, 3, 3))
    stock = np.flatnonzero(full.sum(axis=1) < 4)
    candidates = ProjectedFeatures(features, stock)
    everything = candidates.onto(np.arange(27))
    design = xy_optimal(candidates, Pairs(everything), gap=1e-6)
    assert design.converged
    whole = sites(full, (3, 3, 3))
    assert design.value > xy_optimal(whole, Pairs(whole)).value


def test_bounded_shares():
    candidates = part(1, 80)
    pairs = Pairs(candidates)
    free = xy_optimal(candidates, pairs, gap=1e-5)
    capped = xy_optimal(candidates, pairs, gap=1e-5, upper=0.02)
    assert capped.converged
    assert capped.weights.max() <= 0.02 * (1 + 1e-9)
    assert capped.lower_bound > free.value
    assert reached(candidates, capped) == pytest.approx(capped.value, rel=1e-8)
    every = xy_optimal(candidates, pairs, upper=1 / 80)
    assert every.converged
    assert every.weights == pytest.approx(np.full(80, 1 / 80))
    assert every.lower_bound == every.value


def test_limits_on_the_compounds_refused_in_plain_words():
    candidates = part(0, 30, (3, 3, 4))
    pairs = Pairs(candidates)
    with pytest.raises(AssayPilotError, match="4 compounds are too few for the shares allowed") as refusal:
        xy_optimal(candidates, pairs, max_support=4, upper=0.2)
    assert "Allow at least 5 compounds" in str(refusal.value)
    with pytest.raises(AssayPilotError, match="too little for 30 compounds"):
        xy_optimal(candidates, pairs, upper=0.01)
    with pytest.raises(ValueError, match="gap must be above 0"):
        xy_optimal(candidates, pairs, gap=0.0)
    with pytest.raises(ValueError, match="coordinates"):
        xy_optimal(candidates, Rows(np.ones((2, 3))))


def test_nothing_to_tell_apart():
    equal = sites(np.array([[0, 1], [0, 1], [1, 0]]), (2, 2))
    with pytest.raises(AssayPilotError, match="all compounds to compare are equal"):
        xy_optimal(equal, Pairs(equal.onto(np.array([0, 1]))))
    with pytest.raises(AssayPilotError, match="all compounds to compare are equal"):
        xy_optimal(equal, Rows(np.zeros((2, equal.rank))))
    with pytest.raises(AssayPilotError, match="nothing to measure"):
        xy_optimal(ProjectedFeatures(DenseFeatures(np.zeros((3, 2)))), Rows(np.zeros((1, 0))))


def test_progress_rises_and_stops_on_cancel():
    candidates = part(0, 300)
    told = []
    xy_optimal(candidates, Pairs(candidates), gap=1e-5, report=lambda fraction, _: told.append(fraction))
    assert told == sorted(told)
    assert told[-1] == 1.0
    assert len(told) > 3

    def stop(fraction, message):
        raise Cancelled

    with pytest.raises(Cancelled):
        xy_optimal(candidates, Pairs(candidates), report=stop)
