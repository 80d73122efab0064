"""Seconds, compounds and gaps of the G-optimal designs. By hand: ``python -m tests.benchmarks.design``."""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from assaypilot.engine.design import g_optimal
from assaypilot.engine.features import ProjectedFeatures, SiteFeatures

PRACTICE = (4, 5, 4, 3, 4)


def product(sizes: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))))


def distinct_rows(n: int, sites: int, substituents: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    places = rng.choice(substituents**sites, n, replace=False)
    return np.column_stack(np.unravel_index(places, (substituents,) * sites))


def cases() -> Iterator[tuple[str, ProjectedFeatures, dict[str, Any], int]]:
    """Name, candidates, what is asked for, how often it is timed."""
    full = ProjectedFeatures(SiteFeatures(product(PRACTICE), PRACTICE))
    for gap in (0.06, 1e-2, 1e-3, 1e-6):
        yield "960, full product", full, {"gap": gap}, 15
    for size in (32, 48, 64, 96):
        yield "960, full product", full, {"max_support": size}, 7
    for upper in (0.005, 0.01, 0.02, 0.04):
        yield "960, full product", full, {"upper": upper}, 7
    for seed in range(3):
        chosen = np.sort(np.random.default_rng(seed).choice(960, 300, replace=False))
        part = ProjectedFeatures(SiteFeatures(product(PRACTICE)[chosen], PRACTICE))
        for gap in (1e-2, 1e-3, 1e-6):
            yield f"300 of 960, draw {seed}", part, {"gap": gap}, 15
    large = ProjectedFeatures(SiteFeatures(distinct_rows(100_000, 5, 12), (12,) * 5))
    for gap in (0.06, 1e-2, 1e-3):
        yield "100,000 of 5 sites x 12", large, {"gap": gap}, 3
    largest = ProjectedFeatures(SiteFeatures(distinct_rows(1_000_000, 5, 20), (20,) * 5))
    yield "1,000,000 of 5 sites x 20", largest, {"gap": 1e-2}, 1


def main() -> None:
    print(f"{'candidates':<27}{'asked':<20}{'rank':>5}{'compounds':>11}{'over rank':>11}{'gap':>10}{'median s':>10}")
    for name, candidates, asked, times in cases():
        seconds = []
        for _ in range(times):
            start = time.perf_counter()
            design = g_optimal(candidates, **asked)
            seconds.append(time.perf_counter() - start)
        over = design.value / candidates.rank - 1
        told = ", ".join(f"{key} {value:g}" for key, value in asked.items())
        print(
            f"{name:<27}{told:<20}{candidates.rank:>5}{len(design.support):>11}{over:>11.2e}{design.gap:>10.1e}"
            f"{statistics.median(seconds):>10.4f}"
        )


if __name__ == "__main__":
    main()
