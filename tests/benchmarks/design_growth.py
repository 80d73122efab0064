"""How the time of optimal designs grows with the candidates and with their rank: measured, fitted, drawn, reported.

``python -m tests.benchmarks.design --growth FILE``: the picture (svg or png), and REPORT-designs.md beside it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from assaypilot.engine.design import Pairs, g_optimal, xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures

ALL_ROWS = (1_000, 10_000, 100_000, 1_000_000)


@dataclass(frozen=True)
class Case:
    """One design to time."""

    series: str
    criterion: str
    against: str
    """What grows: "K" or "d"."""
    gap: float
    rows: int
    make: Callable[[], ProjectedFeatures]


@dataclass(frozen=True)
class Timed:
    """What one design took."""

    case: Case
    rank: int
    compounds: int
    reached: float
    seconds: float


def sites(rows, n_sites, substituents):
    """Different compounds drawn evenly from all combinations."""
    places = np.random.default_rng(0).choice(substituents**n_sites, rows, replace=False)
    sizes = (substituents,) * n_sites
    return ProjectedFeatures(SiteFeatures(np.column_stack(np.unravel_index(places, sizes)), sizes))


def numbers(rows, rank):
    """Normally distributed features."""
    return ProjectedFeatures(DenseFeatures(np.random.default_rng(0).normal(size=(rows, rank))))


def cases():
    """Everything that is measured, quick ones first within a series."""
    for gap in (1e-2, 1e-3):
        for rows in ALL_ROWS:
            yield Case("G, sites: 5 x 20", "g", "K", gap, rows, lambda rows=rows: sites(rows, 5, 20))
        for rows in ALL_ROWS:
            yield Case("G, 20 numbers", "g", "K", gap, rows, lambda rows=rows: numbers(rows, 20))
        for n_sites, size in ((10, 3), (5, 11), (5, 21), (5, 41)):
            yield Case("G, sites", "g", "d", gap, 50_000, lambda n=n_sites, size=size: sites(50_000, n, size))
        for rank in (10, 20, 50, 100, 200):
            yield Case("G, numbers", "g", "d", gap, 50_000, lambda rank=rank: numbers(50_000, rank))
    for rows in (1_000, 10_000, 100_000):
        yield Case("XY, sites: 5 x 11", "xy", "K", 1e-2, rows, lambda rows=rows: sites(rows, 5, 11))
    for size in (5, 9, 13, 17):
        yield Case("XY, sites", "xy", "d", 1e-2, 3_000, lambda size=size: sites(3_000, 5, size))


def measure(case):
    """One design of one case, timed from candidates that are ready; short ones as the best of three."""
    candidates = case.make()
    best = np.inf
    design = None
    for _ in range(3):
        used = time.process_time()
        if case.criterion == "g":
            design = g_optimal(candidates, gap=case.gap)
        else:
            design = xy_optimal(candidates, Pairs(candidates), gap=case.gap)
        best = min(best, time.process_time() - used)
        if best > 0.5:
            break
    return Timed(case, candidates.rank, len(design.support), design.gap, best)


def exponent(points, against):
    """The slope of log seconds on log rows or log rank."""
    grown = [point.case.rows if against == "K" else point.rank for point in points]
    return float(np.polyfit(np.log(grown), np.log([point.seconds for point in points]), 1)[0])


def yardstick():
    """Seconds of a product of two 1,000 x 1,000 matrices, the best of five."""
    a = np.random.default_rng(0).normal(size=(1_000, 1_000))
    best = np.inf
    for _ in range(5):
        begun = time.process_time()
        a @ a
        best = min(best, time.process_time() - begun)
    return best


def growth(picture):
    """Measure every case, print as it goes, draw the picture and write the report beside it."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("for figures of one thread set OPENBLAS_NUM_THREADS=1", flush=True)
    done = []
    for case in cases():
        done.append(measure(case))
        now = done[-1]
        print(
            f"{case.series:<20} gap {case.gap:g}  K {case.rows:>9,}  rank {now.rank:>3}"
            f"  {now.compounds:>6,} compounds  {now.seconds:8.3f} s",
            flush=True,
        )
    series = {}
    for point in done:
        series.setdefault((point.case.series, point.case.gap), []).append(point)
    target = Path(picture)
    draw(series, target)
    report(series, target)


def draw(series, target):
    """Seconds against rows and against the rank, both on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    # Letters as letters and no random names: small, and the same each time.
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "designs"})
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), layout="constrained", sharey=True)
    for axis, against, label in zip(axes, "Kd", ("candidates K", "rank d"), strict=True):
        for (name, gap), points in series.items():
            if points[0].case.against != against:
                continue
            x = [point.case.rows if against == "K" else point.rank for point in points]
            told = f"{name}, gap {gap:g}: {label[-1]}^{exponent(points, against):.2f}"
            axis.loglog(x, [point.seconds for point in points], "o-", label=told, markersize=4)
        axis.set(xlabel=label, title=f"growth in the {'candidates' if against == 'K' else 'rank'}")
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    axes[0].set_ylabel("processor seconds, one thread")
    figure.savefig(target, dpi=110, metadata={"Date": None} if target.suffix == ".svg" else None)


def report(series, target):
    """REPORT-designs.md beside the picture."""
    unit = yardstick()
    lines = [
        "# Optimal designs: how their time grows",
        "",
        f"Made by `OPENBLAS_NUM_THREADS=1 python -m tests.benchmarks.design --growth {target.name}`; the picture and",
        "this report are written together. Seeds are fixed. Processor seconds of one thread from candidates that are",
        "ready to a certified design; the best of three where that is short.",
        f"On the machine of these figures a product of two 1,000 x 1,000 matrices takes {1e3 * unit:.0f} ms with one",
        "thread; elsewhere seconds scale roughly with that, and the exponents stay.",
        "",
        "Sites: different compounds drawn evenly from all combinations of the substituents (rank 21 from 10 sites x 3,",
        "51, 101 and 201 from 5 sites x 11, 21 and 41). Numbers: normally distributed features. Gap: the largest",
        "variance over **all** candidates is at most this share above the best possible. XY: over all pairs.",
        "Compounds: how many the design uses. Exponents: the slope of log seconds on log K or log d, all points of a",
        "series; where few candidates are nearly all needed a design is no quicker than on many.",
        "",
        f"![seconds against candidates and rank]({target.name})",
        "",
        "## Exponents",
        "",
        "| series | gap | grows | from | to | exponent |",
        "|---|---|---|---|---|---|",
    ]
    for (name, gap), points in series.items():
        against = points[0].case.against
        grown = [point.case.rows if against == "K" else point.rank for point in points]
        lines.append(
            f"| {name} | {gap:g} | {against} | {grown[0]:,} | {grown[-1]:,} | {exponent(points, against):.2f} |"
        )
    lines += [
        "",
        "## All measurements",
        "",
        "| series | gap asked | candidates K | rank d | compounds | gap reached | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {gap:g} | {point.case.rows:,} | {point.rank} | {point.compounds:,} | {point.reached:.1e} "
        f"| {point.seconds:.3f} |"
        for (name, gap), points in series.items()
        for point in points
    ]
    target.with_name("REPORT-designs.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
