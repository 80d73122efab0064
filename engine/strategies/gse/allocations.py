"""How a stage of GSE spreads its measurements: evenly, by a G-optimal design, or step by step.

Source: "Fixed-budget best-arm identification in structured bandits", sections 6 and 8 and appendix H.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...arrays import Floats, Ints
from ...design import achieved, round_design
from ...design.budget_supports import independent
from ...domain.features import ProjectedFeatures
from ...errors import AssayPilotError
from ..designs import g_design

MOST_FOR_GREEDY = 3000
"""The greedy allocation compares all compounds with all at every step."""
_GAP = 1e-3


def allocate(
    name: str, candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator
) -> Ints:
    """Return measurements of each candidate ``(n_rows,)``, ``n`` in all; they estimate every effect when n >= d.

    ``targets``: the compounds still in, in the candidates' coordinates (``fwg`` and ``greedy`` look at their means).
    """
    counts = ALLOCATIONS[name](candidates, targets, n, rng)
    used = np.flatnonzero(counts)
    if n >= candidates.rank and not math.isfinite(achieved(candidates, used, counts[used])):
        counts = _spanning(candidates, counts, n, rng)
    return counts


def _evenly(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Return the same for all; what is left over goes to compounds drawn at random."""
    counts = np.full(candidates.n_rows, n // candidates.n_rows, dtype=np.intp)
    counts[rng.permutation(candidates.n_rows)[: n - int(counts.sum())]] += 1
    return counts


def _design(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Return the G-optimal design that Algorithm 2 (FWG) approaches, rounded by Allen-Zhu's swaps as there.

    Algorithm 2's Frank-Wolfe steps are replaced by a solver that reaches the optimum they converge to.
    """
    design = g_design(candidates.features, candidates.rows, gap=_GAP).design
    try:
        made = round_design(design, candidates, n, method="swap")
    except AssayPilotError:
        # Too few for every effect: the heaviest of the design.
        support, counts = design.support, np.zeros(candidates.n_rows, dtype=np.intp)
        counts[support[np.argsort(-design.weights, kind="stable")[:n]]] = 1
        return counts
    if not math.isfinite(made.value):
        made = round_design(design, candidates, n, method="best")
    counts = np.zeros(candidates.n_rows, dtype=np.intp)
    counts[made.support] = made.counts
    return counts


def _one_by_one(candidates: ProjectedFeatures, n: int, rng: np.random.Generator, pick: Callable[[Floats], int]) -> Ints:
    """Start from spanning compounds drawn at random, then add single measurements where ``pick`` chooses by V^-1."""
    counts = np.zeros(candidates.n_rows, dtype=np.intp)
    start = independent(candidates, rng.permutation(candidates.n_rows))[:n]
    counts[start] = 1
    if n <= len(start):
        return counts
    rows = candidates.coordinates(start)
    inverse = np.asarray(np.linalg.inv(rows.T @ rows), dtype=np.float64)
    for _ in range(n - len(start)):
        chosen = pick(inverse)
        counts[chosen] += 1
        x = candidates.coordinates(np.array([chosen]))[0]
        step = inverse @ x
        inverse = inverse - np.outer(step, step) / (1.0 + float(x @ step))
    return counts


def _greedy(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Soare et al. (2014): the measurement that leaves the smallest largest variance of a mean."""
    if max(candidates.n_rows, targets.n_rows) > MOST_FOR_GREEDY:
        raise AssayPilotError(
            f"the greedy allocation compares all compounds with all: {candidates.n_rows:,} are too many",
            option="--parameter allocation",
            mend=f"Choose fwg or wynn; greedy takes up to {MOST_FOR_GREEDY:,}.",
        )
    x, z = candidates.coordinates(), targets.coordinates()

    def pick(inverse: Floats) -> int:
        half = x @ inverse
        own = np.einsum("ij,ij->i", half, x)
        before = np.einsum("ij,ij->i", z @ inverse, z)
        worst = np.empty(len(x))
        step = max(1, 1_000_000 // len(z))
        for first in range(0, len(x), step):
            part = slice(first, first + step)
            after = before - (half[part] @ z.T) ** 2 / (1.0 + own[part, None])
            worst[part] = after.max(axis=1)
        # Where several variances are equally large no single measurement lowers the worst; then the largest goes first.
        tied = np.flatnonzero(worst <= float(worst.min()) * (1.0 + 1e-9))
        return int(tied[np.argmax(own[tied])])

    return _one_by_one(candidates, n, rng, pick)


def _wynn(candidates: ProjectedFeatures, targets: ProjectedFeatures, n: int, rng: np.random.Generator) -> Ints:
    """Wynn (Fedorov 1972): always the compound whose mean has the largest variance."""
    return _one_by_one(candidates, n, rng, lambda inverse: int(np.argmax(candidates.quadratic(inverse))))


def _spanning(candidates: ProjectedFeatures, counts: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Return counts near those given that estimate every effect: compounds that span have one, the rest as it was."""
    order = rng.permutation(candidates.n_rows)
    # Those that are measured anyway first.
    order = order[np.argsort(-counts[order], kind="stable")]
    needed = independent(candidates, order)
    made = counts.copy()
    made[needed] = np.maximum(made[needed], 1)
    free = made.copy()
    free[needed] -= 1
    while made.sum() > n:
        most = int(np.argmax(free))
        made[most] -= 1
        free[most] -= 1
    return made


ALLOCATIONS: dict[str, Callable[[ProjectedFeatures, ProjectedFeatures, int, np.random.Generator], Ints]] = {
    "uniform": _evenly,
    "fwg": _design,
    "greedy": _greedy,
    "wynn": _wynn,
}
"""The allocations by name."""
