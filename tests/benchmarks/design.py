"""Seconds, compounds, gaps and memory of the G-optimal designs. By hand: ``python -m tests.benchmarks.design``.

``--growth growth.png``: instead, fits and draws the growth in rows and rank, with a report beside the picture.
Set OPENBLAS_NUM_THREADS=1 for one thread.
"""

import argparse
import itertools
import resource
import statistics
import time

import numpy as np

from assaypilot.engine.design import g_optimal
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from tests.benchmarks.design_growth import growth

PRACTICE = (4, 5, 4, 3, 4)


def product(sizes):
    return np.array(list(itertools.product(*map(range, sizes))))


def distinct_rows(n, sites, substituents):
    rng = np.random.default_rng(0)
    places = rng.choice(substituents**sites, n, replace=False)
    return np.column_stack(np.unravel_index(places, (substituents,) * sites))


def sample(n, sites, substituents):
    return ProjectedFeatures(SiteFeatures(distinct_rows(n, sites, substituents), (substituents,) * sites))


def part_of_practice(seed):
    chosen = np.sort(np.random.default_rng(seed).choice(960, 300, replace=False))
    return ProjectedFeatures(SiteFeatures(product(PRACTICE)[chosen], PRACTICE))


def timed(candidates, times, **asked):
    """A design, and the medians of wall-clock and of the process's own seconds."""
    wall, own = [], []
    for _ in range(times):
        begun, used = time.perf_counter(), time.process_time()
        design = g_optimal(candidates, **asked)
        wall.append(time.perf_counter() - begun)
        own.append(time.process_time() - used)
    return design, statistics.median(wall), statistics.median(own)


def cases():
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


def table():
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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", metavar="FILE")
    asked = parser.parse_args()
    if asked.growth:
        growth(asked.growth)
    else:
        table()


if __name__ == "__main__":
    main()
