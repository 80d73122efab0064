"""Small tables, as in the papers' Tables 2: processor time of closed forms and short cuts over that of the general way.

By hand: ``python -m tests.benchmarks.small``. Both are measured in turn, so that a busy machine slows both.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from assaypilot.engine.design import Pairs, Rows, g_optimal, xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures
from assaypilot.engine.domain.pareto import beaten, lead
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies import designs

TIMES = 60


def turns(ours: Callable[[], Any], general: Callable[[], Any]) -> tuple[float, float, float]:
    """Medians of both in microseconds, and the median of their ratio."""
    one, other = [], []
    ours(), general()
    for _ in range(TIMES):
        for action, into in ((ours, one), (general, other)):
            begun = time.process_time_ns()
            action()
            into.append((time.process_time_ns() - begun) / 1e3)
    ratio = statistics.median(b / max(a, 1e-3) for a, b in zip(one, other, strict=True))
    return statistics.median(one), statistics.median(other), ratio


def line(name: str, ours: Callable[[], Any], general: Callable[[], Any]) -> None:
    found = turns(ours, general)
    print(f"{name:<52}{found[0]:>12.0f}{found[1]:>12.0f}{found[2]:>10.1f}", flush=True)


def linfact_arms(d: int) -> ProjectedFeatures:
    """Unit vectors and one more between two of them."""
    return ProjectedFeatures(DenseFeatures(np.vstack([np.eye(d), 0.6 * np.eye(d)[0] + 0.8 * np.eye(d)[1]])))


def designed() -> None:
    rng = np.random.default_rng(0)
    for d in (8, 12):
        for name, table in (
            (f"{d} independent arms", ProjectedFeatures(DenseFeatures(rng.normal(size=(d, d))))),
            (f"{d} effects, one arm more", linfact_arms(d)),
        ):
            x = table.coordinates()
            # Bounds that bind nobody, and differences as given directions, are not what the closed form is for.
            line(f"G, {name}", lambda t=table: g_optimal(t), lambda t=table: g_optimal(t, upper=np.ones(t.n_rows)))
            listed = Rows(np.array([a - b for a, b in itertools.combinations(x, 2)]))
            line(
                f"XY, {name}",
                lambda t=table: xy_optimal(t, Pairs(t)),
                lambda t=table, listed=listed: xy_optimal(t, listed),
            )


def fitted() -> None:
    rng = np.random.default_rng(1)
    features = DenseFeatures(rng.normal(size=(8, 8)))
    rows, counts, means = np.arange(8), rng.integers(1, 9, 8).astype(float), rng.normal(size=8)
    designs.table(features, rows)

    def plainly() -> None:
        found = least_squares(features, rows, counts, means)
        found.means(rows), found.half_norms(rows)

    line(
        "8 arms measured, 8 effects: estimates", lambda: designs.estimated(features, rows, counts, means, rows), plainly
    )


def compared() -> None:
    """500 arms in 8 endpoints, with bounds as wide as after a first phase, as in the middle, and as at the end."""
    rng = np.random.default_rng(2)
    means, own = rng.normal(size=(8, 500)), np.arange(500)
    for half in (3.0, 0.5, 0.05):
        low, high = means - half, means + half
        line(
            f"out of 500, bounds +- {half:g}", lambda a=low, b=high: beaten(a, b), lambda a=low, b=high: lead(a, b) > 0
        )
        line(
            f"may be beaten, bounds +- {half:g}",
            lambda a=high, b=low: beaten(a, b, own),
            lambda a=high, b=low: lead(a, b, own) > 0,
        )


def main() -> None:
    print(f"{'microseconds of processor time':<52}{'ours':>12}{'general':>12}{'ratio':>10}")
    designed()
    fitted()
    compared()


if __name__ == "__main__":
    main()
