"""The best design on few compounds: the worst variance itself made small on a support that is exchanged."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.design.criteria import Design, information_inverse
from assaypilot.engine.design.saddle import Bundles, solve_saddle, starting_point
from assaypilot.engine.design.solver import g_optimal
from assaypilot.engine.design.table import Table
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import ProjectedFeatures
from assaypilot.engine.percentages import percent
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.threads import algebra_on_one_thread

__all__ = ["OnFew", "g_on_few", "support_curve"]


_REFERENCE_GAP = 1e-6
"""The gap of the design that D-efficiency is measured against."""
_TARGETS = 1_500
"""Candidates whose variances are held down at once; others join when they become the worst."""
_JOINING = 200
_ROUNDS = 12
_COARSE, _FINE = 1e-3, 1e-6
"""Gaps to which weights are solved on given compounds, while they are exchanged and at the end."""
_TRIED = 6
"""Candidates tried one by one where exchanging several at once no longer helps."""
_EXCHANGE_WORK = 1e9
"""Exchanges of a descent: this over the cube of the compounds. From about 300 on they gain little over the weights."""
_KICKED = 0.2
"""The share of the compounds that is replaced at random before another descent."""
_GAIN = 1e-4
"""A smaller share gained is no progress."""


@dataclass(frozen=True, slots=True)
class OnFew:
    """The best design found on so many compounds, and what it loses."""

    compounds: int
    """The most compounds that were allowed."""
    design: Design
    loss: float
    """value / best possible value on any number of compounds - 1 (against its proven lower bound)."""
    d_efficiency: float
    """(det V / det V of the D-optimal design) ^ (1 / d): the share of the measurements that is not lost on average."""


@dataclass(slots=True)
class _Found:
    """A support with the weights of least worst variance found on it, and how much each candidate would help."""

    support: Ints
    w: Floats
    value: float
    scores: Floats


class _Minimax:
    """The least worst variance over all candidates on given supports."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.every = np.arange(table.n)

    def worth(self, support: Ints, w: Floats) -> tuple[float, Floats, Floats] | None:
        """The worst variance, all variances and V^-1; None when V is singular."""
        inverse = information_inverse(self.table.rows(support), w)
        if inverse is None:
            return None
        leverages = self.table.leverages(inverse)
        return float(leverages.max()), leverages, inverse

    def solve(self, support: Ints, w: Floats, tolerance: float) -> _Found | None:
        """The best weights on the support, by an interior point over the candidates that are worst."""
        start = self.worth(support, w)
        if start is None:
            return None
        x = self.table.rows(support)
        base = np.zeros((self.table.d, self.table.d))
        room = np.full(len(support), 2.0)
        targets = self._worst(start[1], _TARGETS)
        best: _Found | None = None
        for _ in range(_ROUNDS):
            y = self.table.rows(targets)
            try:
                each = Bundles(y, np.arange(len(y)))
                start_here = starting_point(x, each, base, room, 1.0, w)
                point, _ = solve_saddle(x, each, base, room, 1.0, start_here, tolerance=tolerance)
            except np.linalg.LinAlgError:
                return best
            w = np.maximum(point.w, 0.0) / point.w.sum()
            now = self.worth(support, w)
            if now is None:
                return best
            value, leverages, inverse = now
            if best is None or value < best.value:
                share = point.share / point.share.sum()
                spread = (y * share[:, None]).T @ y
                best = _Found(support, w, value, self.table.leverages(inverse @ spread @ inverse))
            if len(targets) == self.table.n or value <= float(leverages[targets].max()) * (1.0 + tolerance):
                return best
            targets = np.union1d(targets, self._worst(leverages, _JOINING))
        return best

    def _worst(self, leverages: Floats, count: int) -> Ints:
        if count >= self.table.n:
            return self.every
        return np.sort(np.argpartition(-leverages, count)[:count]).astype(np.intp)

    def exchanged(self, found: _Found, size: int, batch: int, offset: int = 0) -> _Found | None:
        """With ``batch`` candidates that would help most, and as many of least weight gone again."""
        scores = found.scores.copy()
        scores[found.support] = -np.inf
        new = np.argsort(-scores, kind="stable")[offset : offset + batch]
        support = np.concatenate([found.support, new])
        w = np.concatenate([0.95 * found.w, np.full(len(new), 0.05 / len(new))])
        wider = self.solve(support, w, _COARSE)
        return None if wider is None else self.down_to(wider, size)

    def down_to(self, found: _Found, size: int) -> _Found | None:
        """On ``size`` candidates: those of least weight go, in two steps."""
        while len(found.support) > size:
            surplus = len(found.support) - size
            stay = len(found.support) - (surplus if surplus <= 2 else (surplus + 1) // 2)
            kept = np.sort(np.argsort(-found.w, kind="stable")[:stay])
            fewer = self.solve(found.support[kept], found.w[kept] / found.w[kept].sum(), _COARSE)
            if fewer is None:
                return None
            found = fewer
        return found

    def descended(self, found: _Found, size: int) -> _Found:
        """After exchanges of ever fewer candidates at once, until none of the most promising ones helps."""
        batch = max(1, size // 4)
        left = _EXCHANGE_WORK / size**3
        while batch >= 1 and left >= 1.0:
            tried = range(_TRIED) if batch == 1 else range(2)
            for offset in tried:
                left -= 1.0
                trial = self.exchanged(found, size, batch, offset * batch)
                if trial is not None and trial.value < found.value * (1.0 - _GAIN):
                    found = trial
                    break
            else:
                batch //= 2
        return found


def g_on_few(
    candidates: ProjectedFeatures,
    size: int,
    *,
    starts: Sequence[Design] = (),
    restarts: int = 0,
    report: Report = silent,
) -> Design:
    """The design of least worst variance found on at most ``size`` compounds; ``converged`` when it is optimal to 1e-3.

    From the D-optimal design on so many compounds (and any ``starts``), the weights minimise the worst variance itself
    over all candidates, and compounds are exchanged for those that would lower it most. ``restarts``: further descents
    from the best one with some compounds replaced, in a fixed order. No proof that no other ``size`` compounds do
    better; ``lower_bound`` is the optimum on any number of compounds.
    """
    with algebra_on_one_thread():
        return _on_few(candidates, size, starts, restarts, report)


def _on_few(
    candidates: ProjectedFeatures, size: int, starts: Sequence[Design], restarts: int, report: Report
) -> Design:
    """The design asked of ``g_on_few``."""
    begun = time.perf_counter()
    report(0.0, "choosing compounds")
    table = Table(candidates)
    first = g_optimal(candidates, gap=_COARSE, max_support=size)
    if first.converged:
        return first
    search = _Minimax(table)
    best: _Found | None = None
    for design in (first, *starts):
        found = search.solve(design.support, design.weights, _COARSE)
        if found is not None and len(found.support) > size:
            found = search.down_to(found, size)
        if found is not None:
            found = search.descended(found, size)
            if best is None or found.value < best.value:
                best = found
    if best is None:
        return first
    rng = np.random.default_rng(size)
    for number in range(restarts):
        report((number + 1) / (restarts + 1), f"exchanging compounds, {percent(best.value / table.d - 1, 2)} lost")
        trial = _kicked(search, best, size, rng)
        if trial is not None and trial.value < best.value * (1.0 - _GAIN):
            best = trial
    fine = search.solve(best.support, best.w, _FINE)
    if fine is not None and fine.value < best.value:
        best = fine
    report(1.0, "design ready")
    d = float(table.d)
    order = np.argsort(best.support, kind="stable")
    value = max(best.value, d)
    return Design(
        criterion="g",
        support=best.support[order],
        weights=best.w[order] / best.w.sum(),
        value=value,
        lower_bound=d,
        converged=bool(value <= d * (1.0 + _COARSE)),
        iterations=restarts + 1,
        seconds=time.perf_counter() - begun,
        gap=value / d - 1.0,
    )


def _kicked(search: _Minimax, best: _Found, size: int, rng: np.random.Generator) -> _Found | None:
    """A descent from the best support with some of it replaced."""
    out = max(1, int(_KICKED * size))
    kept = np.sort(rng.permutation(len(best.support))[out:])
    others = np.setdiff1d(search.every, best.support)
    new = np.sort(rng.choice(others, min(2 * out, len(others)), replace=False))
    support = np.concatenate([best.support[kept], new])
    w = np.full(len(support), 1.0 / len(support))
    found = search.solve(support, w, _COARSE)
    found = None if found is None else search.down_to(found, size)
    return None if found is None else search.descended(found, size)


def support_curve(
    candidates: ProjectedFeatures,
    sizes: Sequence[int],
    *,
    criterion: str = "g",
    restarts: int = 0,
    report: Report = silent,
) -> tuple[OnFew, ...]:
    """For each number of compounds the best design found, with its loss in ``criterion`` (g or xy) and in D.

    Larger sizes first, so that none does worse than a smaller one. ``"xy"`` is over all pairs of the candidates.
    """
    if criterion not in ("g", "xy"):
        raise ValueError(f'criterion must be "g" or "xy", got {criterion!r}')
    if not sizes:
        raise AssayPilotError("no numbers of compounds were given", mend="Give at least one.")
    reference = g_optimal(candidates, gap=_REFERENCE_GAP)
    best_log = _log_det(candidates, reference)
    if criterion == "xy":
        from assaypilot.engine.design.pairs import Pairs
        from assaypilot.engine.design.xy import xy_optimal

        pairs = Pairs(candidates)
        optimum = xy_optimal(candidates, pairs, gap=_COARSE).lower_bound
    else:
        optimum = float(candidates.rank)
    out: dict[int, OnFew] = {}
    above: list[Design] = []
    order = sorted(set(sizes), reverse=True)
    for number, size in enumerate(order):
        report(number / len(order), f"the best design on {size:,} compounds")
        if criterion == "xy":
            design = xy_optimal(candidates, pairs, gap=_COARSE, max_support=size)
        else:
            design = g_on_few(candidates, size, starts=above[-1:], restarts=restarts)
        above.append(design)
        efficiency = math.exp(min(0.0, (_log_det(candidates, design) - best_log) / candidates.rank))
        out[size] = OnFew(size, design, max(design.value / optimum - 1.0, 0.0), efficiency)
    for smaller, size in zip(sorted(out), sorted(out)[1:], strict=False):
        # More compounds may always be used as fewer are.
        if out[size].loss > out[smaller].loss:
            out[size] = OnFew(size, out[smaller].design, out[smaller].loss, out[smaller].d_efficiency)
    report(1.0, "curve ready")
    return tuple(out[size] for size in sizes)


def _log_det(candidates: ProjectedFeatures, design: Design) -> float:
    sign, value = np.linalg.slogdet(candidates.information(design.weights, design.support))
    return float(value) if sign > 0 else -math.inf
