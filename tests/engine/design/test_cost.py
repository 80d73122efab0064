import itertools
import math

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from assaypilot.engine.design.cost import Priced, Prices, cheapest_spanning, cost_frontier
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import plain


def one_hot(*sizes: int) -> ProjectedFeatures:
    return ProjectedFeatures(SiteFeatures(np.array(list(itertools.product(*map(range, sizes)))), sizes))


def variance_of(x: np.ndarray, counts: np.ndarray, ratio: float = 0.0) -> float:
    v = (x * (counts / (1 + counts * ratio))[:, None]).T @ x
    if np.linalg.matrix_rank(v) < x.shape[1]:
        return math.inf
    return float(np.einsum("ij,ij->i", x, np.linalg.solve(v, x.T).T).max())


def whole(point: Priced, m: int) -> np.ndarray:
    counts = np.zeros(m, dtype=int)
    counts[point.support] = point.counts
    return counts


def check(points: tuple[Priced, ...], x: np.ndarray, prices: Prices, budget: float, ratio: float = 0.0) -> None:
    """What must hold of every frontier: costs and variances are what they say, and it is one."""
    for point in points:
        counts = whole(point, len(x))
        assert counts.sum() == point.measurements
        assert point.cost == pytest.approx(prices.compounds[counts > 0].sum() + prices.measurement * counts.sum())
        assert point.cost <= budget * (1 + 1e-6)
        assert point.variance == pytest.approx(variance_of(x, counts, ratio), rel=1e-6)
        assert point.made == np.sum(prices.compounds[counts > 0] > 0)
    assert all(a.cost < b.cost and a.variance > b.variance for a, b in itertools.pairwise(points))


@pytest.mark.slow
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 2), st.sampled_from([0.0, 1.0]))
def test_against_everything_that_could_be_bought(seed, m, d, ratio):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(m, d))
    prices = Prices(rng.integers(0, 4, m).astype(float), 1.0)
    # All counts of at most 7 measurements, with their cost and variance.
    offers = []
    for counts in itertools.product(range(8), repeat=m):
        c = np.array(counts)
        if 0 < c.sum() <= 7:
            offers.append((prices.compounds[c > 0].sum() + c.sum(), variance_of(x, c, ratio)))
    cheapest = min(cost for cost, variance in offers if variance < 1e12)
    budget = cheapest + float(rng.integers(0, 5))
    best = min(variance for cost, variance in offers if cost <= budget)
    points = cost_frontier(plain(x), prices, budget, measurements=7, ratio=ratio)
    check(points, x, prices, budget, ratio)
    assert points[0].cost >= cheapest - 1e-9
    assert points[-1].variance >= best * (1 - 1e-9)
    event(f"within 2 %: {points[-1].variance <= best * 1.02}")
    with pytest.raises(AssayPilotError, match=f"too little to estimate {d} effect"):
        cost_frontier(plain(x), prices, cheapest - 0.5, measurements=7, ratio=ratio)


def test_most_small_budgets_are_spent_in_the_best_way():
    """The points are the best found, not the best: how often they are, and how far off the others."""
    rng = np.random.default_rng(2)
    over = []
    for money in range(4, 10):
        for _ in range(5):
            x = rng.normal(size=(4, 2))
            prices = Prices(rng.integers(0, 4, 4).astype(float), 1.0)
            best = min(
                variance_of(x, np.array(c))
                for c in itertools.product(range(money + 1), repeat=4)
                if prices.compounds[np.array(c) > 0].sum() + sum(c) <= money
            )
            if best < 1e6:
                over.append(cost_frontier(plain(x), prices, float(money))[-1].variance / best)
    assert len(over) > 22
    assert np.mean(np.array(over) < 1.02) > 0.85
    assert np.median(over) == pytest.approx(1.0)


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 3))
def test_the_cheapest_that_span_are_the_cheapest(seed, m, d):
    rng = np.random.default_rng(seed)
    d = min(m, d)
    x = rng.integers(-1, 2, (m, d)).astype(float)
    price = rng.integers(0, 5, m).astype(float)
    sets = [s for s in itertools.combinations(range(m), d) if abs(np.linalg.det(x[list(s)])) > 0.5]
    if not sets:
        with pytest.raises(AssayPilotError, match=f"of {d} effects"):
            cheapest_spanning(plain(x), price)
        return
    found = cheapest_spanning(plain(x), price)
    assert price[found].sum() == min(price[list(s)].sum() for s in sets)
    assert np.linalg.matrix_rank(x[found]) == d
    given_rows = np.array([0], dtype=np.intp)
    more = cheapest_spanning(plain(x), price, given_rows)
    least = min(
        price[list(s)].sum()
        for k in range(d + 1)
        for s in itertools.combinations(range(m), k)
        if np.linalg.matrix_rank(x[[0, *s]]) == d
    )
    assert price[more].sum() == least


def test_made_compounds_are_free():
    """Six of nine are made and span: without money for a seventh they are all that is measured."""
    candidates = one_hot(3, 3)
    made = np.array([0, 1, 2, 3, 4, 6])
    price = np.full(9, 100.0)
    price[made] = 0.0
    prices = Prices(price, 1.0)
    points = cost_frontier(candidates, prices, 50.0)
    check(points, candidates.coordinates(), prices, 50.0)
    assert all(set(point.support) <= set(made) and point.made == 0 for point in points)
    assert points[-1].measurements == 50
    rich = cost_frontier(candidates, prices, 1000.0)
    assert rich[-1].made > 0
    assert rich[-1].variance < points[-1].variance


def test_free_measurements_are_limited_by_their_number():
    candidates = one_hot(3, 3)
    prices = Prices(np.full(9, 10.0))
    points = cost_frontier(candidates, prices, 90.0, measurements=18)
    check(points, candidates.coordinates(), prices, 90.0)
    assert points[-1].measurements == 18
    assert points[-1].variance == pytest.approx(5 / 18)
    assert points[0].cost == 50.0
    with pytest.raises(AssayPilotError, match="Say how many are planned"):
        cost_frontier(candidates, prices, 90.0)


@pytest.mark.parametrize(
    ("price", "each", "budget", "said"),
    [
        ([1.0, math.nan], 1.0, 9.0, "every compound needs a price that is a number of 0 or more"),
        ([1.0, -1.0], 1.0, 9.0, "every compound needs a price"),
        ([1.0], 1.0, 9.0, "every compound needs a price"),
        ([1.0, 1.0], math.nan, 9.0, "price of a measurement"),
        ([1.0, 1.0], 1.0, math.inf, "the budget must be a number"),
        ([1.0, 1.0], 1.0, -1.0, "the budget must be a number"),
        ([5.0, 2.0], 1.0, 8.0, r"8 is too little to estimate 2 effects. The cheapest way takes 9"),
    ],
)
def test_what_cannot_be_bought(price, each, budget, said):
    with pytest.raises(AssayPilotError, match=said):
        cost_frontier(plain(np.eye(2)), Prices(np.array(price), each), budget, measurements=8)
