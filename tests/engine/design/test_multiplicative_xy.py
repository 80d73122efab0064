"""Designs by balance, and whole measurements by completion: what they prove, reach and refuse."""

import itertools
import time
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from assaypilot.engine.design import Rows, round_design, xy_optimal
from assaypilot.engine.design.multiplicative_xy import fast_xy, multiplicative_xy
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from assaypilot.engine.system.progress import Cancelled

GAP = 0.05


def table(sizes: tuple[int, ...], share: float = 1.0, seed: int = 0) -> ProjectedFeatures:
    """A share of all products of some sites, every substituent among them."""
    codes = np.array(list(itertools.product(*map(range, sizes))), dtype=np.int32)
    rng = np.random.default_rng(seed)
    kept = rng.random(len(codes)) < share
    for site in range(len(sizes)):
        kept[np.unique(codes[:, site], return_index=True)[1]] = True
    return ProjectedFeatures(SiteFeatures(codes[kept], sizes))


def comparisons(candidates: ProjectedFeatures, m: int, seed: int = 1) -> Rows:
    """Differences of compounds, some of which have to be known better than others."""
    rng = np.random.default_rng(seed)
    first, second = (candidates.coordinates(rng.integers(0, candidates.n_rows, m)) for _ in range(2))
    apart = (first - second)[np.abs(first - second).sum(axis=1) > 0]
    return Rows(apart * rng.lognormal(0.0, 0.4, len(apart))[:, None])


def worst(candidates: ProjectedFeatures, directions: Rows, weights: NDArray[Any]) -> float:
    """The largest variance, by the plainest arithmetic; infinite when a direction is not told."""
    x, y = candidates.coordinates(), directions.vectors(np.arange(directions.n)[:, None])
    information = (x * weights[:, None]).T @ x
    solved, *_ = np.linalg.lstsq(information, y.T, rcond=1e-11)
    if not np.allclose(information @ solved, y.T, atol=1e-6):
        return float("inf")
    return float((y * solved.T).sum(axis=1).max())


TABLES = [((10, 6, 4), 1.0, 300), ((14, 9, 3), 0.6, 120), ((6, 5, 4, 4), 0.4, 40), ((16, 12), 0.5, 200)]


@pytest.mark.parametrize(("sizes", "share", "m"), TABLES)
def test_the_gap_is_reached_and_proven(sizes: tuple[int, ...], share: float, m: int) -> None:
    candidates = table(sizes, share)
    directions = comparisons(candidates, m)
    found = multiplicative_xy(candidates, directions, gap=GAP)
    assert found is not None
    assert found.converged
    assert found.gap <= GAP
    weights = np.zeros(candidates.n_rows)
    weights[found.support] = found.weights
    assert weights.sum() == pytest.approx(1.0)
    assert weights.min() >= 0
    assert worst(candidates, directions, weights) == pytest.approx(found.value, rel=1e-6)
    # The other solver's design is allowed, too: nothing that is proven may lie above it, and the other way round.
    close = xy_optimal(candidates, directions, gap=0.01)
    assert found.lower_bound <= close.value * (1.0 + 1e-9)
    assert close.lower_bound <= found.value * (1.0 + 1e-9)


@pytest.mark.parametrize(("sizes", "share", "m"), TABLES)
@pytest.mark.parametrize("most", [2, None])
def test_whole_measurements_are_as_good_as_careful_ones(
    sizes: tuple[int, ...], share: float, m: int, most: int | None
) -> None:
    candidates = table(sizes, share)
    directions = comparisons(candidates, m)
    design = multiplicative_xy(candidates, directions, gap=GAP)
    assert design is not None
    n = 3 * candidates.rank
    found = round_design(design, candidates, n, directions=directions, most=most)
    assert found.method == "completion"
    assert found.counts.sum() == n
    assert found.counts.min() >= 1
    assert most is None or found.counts.max() <= most
    counts = np.zeros(candidates.n_rows)
    counts[found.support] = found.counts
    assert worst(candidates, directions, counts) * n == pytest.approx(found.value, rel=1e-6)
    assert found.value >= design.lower_bound
    careful = round_design(xy_optimal(candidates, directions, gap=GAP), candidates, n, directions=directions, most=most)
    assert found.value <= 1.03 * careful.value


def test_a_large_table_is_planned_the_same_every_time_and_soon() -> None:
    candidates = table((25, 20, 20))
    directions = comparisons(candidates, 1000)
    begun = time.process_time()
    plans = []
    for _ in range(2):
        design = fast_xy(candidates, directions, gap=GAP)
        assert design.shares is not None
        plans.append(round_design(design, candidates, 500, directions=directions, most=4))
    assert time.process_time() - begun < 5.0  # about 0.7 s; careful ways take half a minute
    assert plans[0].method == "completion"
    assert plans[0].value < 1.12 * design.lower_bound
    assert np.array_equal(plans[0].support, plans[1].support)
    assert np.array_equal(plans[0].counts, plans[1].counts)


@pytest.mark.parametrize("at", [0.0, 0.15, 0.7])
def test_both_can_be_stopped(at: float) -> None:
    candidates = table((12, 8, 6, 4))
    directions = comparisons(candidates, 300)
    design = multiplicative_xy(candidates, directions, gap=GAP)
    assert design is not None

    def stop(fraction: float, message: str) -> None:
        if fraction >= at:
            raise Cancelled

    with pytest.raises(Cancelled):
        multiplicative_xy(candidates, directions, gap=1e-3 if at < 0.7 else GAP, report=stop)
    with pytest.raises(Cancelled):
        round_design(design, candidates, 200, directions=directions, report=stop)
