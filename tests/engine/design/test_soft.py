"""Designs of high rank: soft maxima and their slopes, descents of very many weights, the whole by brute force."""

import itertools

import numpy as np
import pytest

from assaypilot.engine.design import soft_xy as xy_smooth
from assaypilot.engine.design import xy
from assaypilot.engine.design.directions import Rows, against
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.smooth import even_leverages, softened
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.strategies import few


def some_rows(sizes, n, seed):
    total = int(np.prod(sizes))
    places = np.sort(np.random.default_rng(seed).choice(total, n, replace=False))
    return ProjectedFeatures(SiteFeatures(np.column_stack(np.unravel_index(places, sizes)), sizes))


def farthest(z, inverse):
    u = z @ np.linalg.cholesky(inverse)
    q = (u * u).sum(axis=1)
    return float((q[:, None] + q - 2 * u @ u.T).max())


def soft_by_hand(z, prior, inverse, sharpness):
    value, average, total = 0.0, 0.0, 0.0
    pairs = list(itertools.permutations(range(len(z)), 2))
    top = max(float((z[i] - z[j]) @ inverse @ (z[i] - z[j])) for i, j in pairs)
    for i, j in pairs:
        y = z[i] - z[j]
        weight = prior[i] * prior[j] * np.exp(sharpness * (y @ inverse @ y - top))
        total += weight
        average = average + weight * np.outer(y, y)
    value = top + np.log(total) / sharpness
    return top, value, average / total


def test_soft_maximum_of_pairs_is_the_sum_over_all_of_them():
    rng = np.random.default_rng(3)
    table = ProjectedFeatures(DenseFeatures(rng.normal(size=(9, 4))))
    prior = rng.dirichlet(np.ones(7))
    rows = np.array([0, 1, 3, 4, 6, 7, 8])
    half = rng.normal(size=(4, 4))
    inverse = half @ half.T
    soft = softened(Pairs(table), inverse, rows, prior)
    found = soft.at(inverse, 0.3)
    top, value, average = soft_by_hand(table.coordinates(rows), prior, inverse, 0.3)
    assert found.largest == pytest.approx(top, rel=1e-5)
    assert found.value == pytest.approx(value, rel=1e-5)
    assert found.average == pytest.approx(average, rel=1e-4, abs=1e-5)
    # A convex combination of y y' to the last digit, whatever the weights: trace between the extremes of |y|^2.
    soft.take(np.array([[2, 5]]))
    more = soft.at(inverse, 0.3)
    assert more.largest >= top * (1 - 1e-5)


def test_even_leverages_are_the_rank_everywhere():
    table = some_rows((6, 5, 4), 90, 1)
    x = table.coordinates()
    w = even_leverages(x, np.full(90, 1 / 90), None, 1e-3, 300)
    inverse = np.linalg.inv((x * w[:, None]).T @ x)
    assert table.quadratic(inverse).max() <= table.rank * (1 + 2e-3)


@pytest.mark.parametrize("held", [0, pytest.param(4000, marks=pytest.mark.slow)])
def test_a_whole_product_that_is_not_recognised_reaches_its_known_value(monkeypatch, held):
    """Also when few candidates are held at first: the bound counts those that are not."""
    monkeypatch.setattr(xy_smooth, "_LEAST", held)
    monkeypatch.setattr(xy_smooth, "_AMPLE", 0)
    monkeypatch.setattr(xy_smooth, "_MANY", 1000)
    monkeypatch.setattr(xy_smooth, "_MANY_MOMENTS", 100)
    monkeypatch.setattr(xy, "full_product_value", lambda *_: None)
    sizes = (9, 8, 7, 6)
    codes = np.array(list(itertools.product(*map(range, sizes))))
    table = ProjectedFeatures(SiteFeatures(codes, sizes))
    design = xy_optimal(table, Pairs(table), gap=1e-2)
    assert design.converged
    assert design.lower_bound <= 60.0 * (1 + 1e-9) <= design.value * (1 + 2e-9) <= 60.0 * 1.01
    assert len(design.support) <= table.rank * (table.rank + 1) // 2


@pytest.mark.slow
@pytest.mark.parametrize("seed", few(1, of=2))
def test_certificates_of_large_tables_hold_by_brute_force(seed):
    table = some_rows((12, 12, 11, 12), 1500, seed)
    x = table.coordinates()
    rng = np.random.default_rng(seed)
    part = table.onto(np.sort(rng.choice(table.rows, 200, replace=False)))
    cases = [
        (Pairs(table), lambda inverse: farthest(x, inverse)),
        (Pairs(part), lambda inverse: farthest(part.coordinates(), inverse)),
        (against(table, 7), lambda inverse: float((((x[7] - x) @ inverse) * (x[7] - x)).sum(axis=1).max())),
        (Rows(table), lambda inverse: float(((x @ inverse) * x).sum(axis=1).max())),
    ]
    rank = table.rank
    for directions, by_hand in cases:
        design = xy_optimal(table, directions, gap=2e-2)
        inverse = np.linalg.inv((x[design.support] * design.weights[:, None]).T @ x[design.support])
        assert design.converged
        assert design.value == pytest.approx(by_hand(inverse), rel=1e-9)
        assert design.lower_bound <= design.value <= design.lower_bound * 1.02 * (1 + 1e-9)
        assert len(design.support) <= rank * (rank + 1) // 2
        # No weights may beat the bound; nearly D-optimal and perturbed ones are tried.
        for scale in (0.0, 0.3):
            w = np.exp(scale * rng.normal(size=1500))
            w = even_leverages(x, w / w.sum(), None, 1e-3, 25)
            assert by_hand(np.linalg.inv((x * w[:, None]).T @ x)) >= design.lower_bound


@pytest.mark.slow
@pytest.mark.parametrize("size", [420, 150])
def test_few_of_thousands_of_candidates(size):
    table = some_rows((12, 12, 12, 12), 1500, 2)
    design = xy_optimal(table, Pairs(table), gap={420: 0.02, 150: 0.25}[size], max_support=size)
    x = table.coordinates()
    inverse = np.linalg.inv((x[design.support] * design.weights[:, None]).T @ x[design.support])
    assert len(design.support) <= size
    assert design.value == pytest.approx(farthest(x, inverse), rel=1e-9)
    assert design.lower_bound <= design.value
    assert design.gap < {420: 0.12, 150: 0.6}[size]
