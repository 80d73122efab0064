"""XY designs over all pairs: seconds and gaps, and how much faster than the paper's Frank-Wolfe.

By hand: ``python -m tests.benchmarks.design_xy``; ``--seconds 60`` for the reference; ``--large`` for 100,000 rows
and for 96 effects.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
import time

import numpy as np

from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from tests.oracles import xy as reference

PRACTICE = (4, 5, 4, 3, 4)


def product(sizes: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, sizes))))


def part(seed: int, size: int) -> ProjectedFeatures:
    chosen = np.sort(np.random.default_rng(seed).choice(960, size, replace=False))
    return ProjectedFeatures(SiteFeatures(product(PRACTICE)[chosen], PRACTICE))


def timed(candidates, times: int, **asked):
    """The last design, and the medians of seconds and of processor seconds."""
    wall, processor = [], []
    pairs = Pairs(candidates)
    for _ in range(times):
        begun, used = time.perf_counter(), time.process_time()
        design = xy_optimal(candidates, pairs, **asked)
        wall.append(time.perf_counter() - begun)
        processor.append(time.process_time() - used)
    return design, statistics.median(wall), statistics.median(processor)


def line(name: str, asked: str, design, wall: float, processor: float) -> None:
    print(
        f"{name:<30}{asked:<18}{design.value:>12.6f}{design.gap:>10.1e}{len(design.support):>10}"
        f"{wall:>10.4f}{processor:>12.4f}",
        flush=True,
    )


def against_frank_wolfe(seconds: float) -> None:
    """How long ours takes to the value that 2/(k+2) Frank-Wolfe reaches in the seconds."""
    candidates = part(0, 300)
    x = candidates.coordinates()
    _, value, steps = reference.frank_wolfe(x, reference.pairs(x), seconds=seconds)
    best = xy_optimal(candidates, Pairs(candidates), gap=1e-8)
    gap = value / best.lower_bound - 1
    design, wall, processor = timed(candidates, 15, gap=gap, recognise=False)
    line("300 of 960", f"gap {gap:.2g}", design, wall, processor)
    print(f"Frank-Wolfe 2/(k+2): {value:.4f} after {steps:,} steps and {seconds:g} processor seconds")
    if math.isfinite(gap):
        print(f"ratio of processor seconds: {seconds / processor:,.0f}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    print(
        f"{'candidates':<30}{'asked':<18}{'value':>12}{'gap':>10}{'compounds':>10}{'median s':>10}{'processor s':>12}"
    )
    for seed in range(3):
        for gap in (1e-2, 1e-3, 1e-6):
            line(f"300 of 960, draw {seed}", f"gap {gap:g}", *timed(part(seed, 300), 9, gap=gap))
    full = ProjectedFeatures(SiteFeatures(product(PRACTICE), PRACTICE))
    line("960, recognised", "gap 1e-6", *timed(full, 5, gap=1e-6))
    line("960, not recognised", "gap 1e-6", *timed(full, 5, gap=1e-6, recognise=False))
    for size in (105, 96, 64, 48, 32):
        line("300 of 960, draw 0", f"{size} compounds", *timed(part(0, 300), 1, gap=1e-3, max_support=size))
    if options.large:
        for rows, size in ((100_000, 12), (10_000, 20)):
            places = np.unique(np.random.default_rng(0).integers(0, size**5, rows))
            codes = np.column_stack(np.unravel_index(places, (size,) * 5))
            large = ProjectedFeatures(SiteFeatures(codes, (size,) * 5))
            line(f"{len(places):,} of 5 sites x {size}", "gap 0.01", *timed(large, 1, gap=0.01))
    against_frank_wolfe(options.seconds)


if __name__ == "__main__":
    main()
