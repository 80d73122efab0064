"""Seconds, compounds, gaps and memory of the G-optimal designs. By hand: ``python -m tests.benchmarks.design``.

``--seconds 5``: what each reference solver gets. ``--growth growth.png``: instead, fits and draws the growth in rows
and rank, with a report beside the picture.
Set OPENBLAS_NUM_THREADS=1 for one thread.
"""

from __future__ import annotations

import argparse
import itertools
import resource
import statistics
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from assaypilot.engine.design import Design, g_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.benchmarks.design_growth import growth
from tests.benchmarks.design_references import SOLVERS, run

PRACTICE = (4, 5, 4, 3, 4)


def product(sizes: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))))


def distinct_rows(n: int, sites: int, substituents: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    places = rng.choice(substituents**sites, n, replace=False)
    return np.column_stack(np.unravel_index(places, (substituents,) * sites))


def sample(n: int, sites: int, substituents: int) -> ProjectedFeatures:
    return ProjectedFeatures(SiteFeatures(distinct_rows(n, sites, substituents), (substituents,) * sites))


def part_of_practice(seed: int) -> ProjectedFeatures:
    chosen = np.sort(np.random.default_rng(seed).choice(960, 300, replace=False))
    return ProjectedFeatures(SiteFeatures(product(PRACTICE)[chosen], PRACTICE))


def timed(candidates: ProjectedFeatures, times: int, **asked: Any) -> tuple[Design, float, float]:
    """A design, and the medians of wall-clock and of the process's own seconds."""
    wall, own = [], []
    for _ in range(times):
        begun, used = time.perf_counter(), time.process_time()
        design = g_optimal(candidates, **asked)
        wall.append(time.perf_counter() - begun)
        own.append(time.process_time() - used)
    return design, statistics.median(wall), statistics.median(own)


def cases() -> Iterator[tuple[str, ProjectedFeatures, dict[str, Any], int]]:
    """Name, candidates, what is asked for, how often it is timed."""
    full = ProjectedFeatures(SiteFeatures(product(PRACTICE), PRACTICE))
    for gap in (1e-2, 1e-3, 1e-6):
        yield "960, full product", full, {"gap": gap}, 15
    for size in (48, 96):
        yield "960, full product", full, {"max_support": size}, 7
    for upper in (0.005, 0.02):
        yield "960, full product", full, {"upper": upper}, 7
    for seed in range(3):
        for gap in (1e-3, 1e-6):
            yield f"300 of 960, draw {seed}", part_of_practice(seed), {"gap": gap}, 25
    yield "100,000 of 5 sites x 12", sample(100_000, 5, 12), {"gap": 1e-3}, 3
    yield "1,000,000 of 5 sites x 20", sample(1_000_000, 5, 20), {"gap": 1e-2}, 1


def table() -> None:
    print(
        f"{'candidates':<28}{'asked':<26}{'rank':>5}{'compounds':>11}{'over rank':>11}{'gap':>10}"
        f"{'wall s':>10}{'own s':>10}{'peak MB':>9}"
    )
    for name, candidates, asked, times in cases():
        design, wall, own = timed(candidates, times, **asked)
        told = ", ".join(f"{key} {value:g}" for key, value in asked.items() if isinstance(value, int | float))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"{name:<28}{told:<26}{candidates.rank:>5}{len(design.support):>11}"
            f"{design.value / candidates.rank - 1:>11.2e}{design.gap:>10.1e}{wall:>10.4f}{own:>10.4f}{peak:>9.0f}",
            flush=True,
        )


def against(seconds: float) -> None:
    """Ours and the papers' solvers on the same rows, to the gap that each of those reaches in its time."""
    numeric = ProjectedFeatures(DenseFeatures(np.random.default_rng(0).normal(size=(1000, 20))))
    inputs = [
        ("300 of 960", part_of_practice(0)),
        ("960, full product less one", ProjectedFeatures(SiteFeatures(product(PRACTICE)[1:], PRACTICE))),
        ("1000 normal rows, d 20", numeric),
        ("10,000 of 5 sites x 12", sample(10_000, 5, 12)),
    ]
    print(f"\n{'rows':<28}{'reference':<26}{'its gap':>10}{'its s':>9}{'steps':>8}{'our s':>9}{'ratio':>9}")
    for name, candidates in inputs:
        x = candidates.coordinates()
        for solver in SOLVERS:
            gap, took, steps = run(solver, x, seconds, 1e-6)
            _, wall, _ = timed(candidates, 3, gap=max(gap, 1e-6))
            print(
                f"{name:<28}{solver:<26}{gap:>10.1e}{took:>9.3f}{steps:>8}{wall:>9.4f}{took / wall:>9.0f}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--growth", metavar="FILE")
    asked = parser.parse_args()
    if asked.growth:
        growth(asked.growth)
    if not (asked.growth):
        table()
        against(asked.seconds)


if __name__ == "__main__":
    main()
