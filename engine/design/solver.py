"""G-optimal designs: column generation with Newton steps, then as few compounds as the requested gap allows."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from assaypilot.engine.design.criteria import Design, Weighted, minimax_bound
from assaypilot.engine.design.newton import box_projection, greatest_average, maximise_log_det
from assaypilot.engine.design.support import same_information_on_fewer, without_least_needed
from assaypilot.engine.design.table import Table
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import ProjectedFeatures
from assaypilot.engine.progress import Report, silent

__all__ = ["g_optimal"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROUNDS = 400
"""Looks at all candidates before the best so far is returned with its honest gap."""
_SEARCH_SHARE = 0.5
"""The part of the requested gap the search aims at; the rest pays for fewer compounds."""
_LEAST_BATCH = 8
"""Candidates that may come in at one look; the rank where that is more."""
_SHORTLIST = 16
"""Candidates looked at for each that may come in."""
_REMOVED_AT_ONCE = 0.15
"""The share of what the support has beyond the least possible that is removed at once; halved at each failure."""
_EXCHANGES = 20
_EXCHANGE_TOLERANCE = 1e-4
"""The gap on the support alone to which weights are solved while compounds are exchanged."""
_TIGHTEST = 1e-12
"""No smaller tolerance is asked of the inner solver: leverages carry rounding of that size."""


@dataclass(slots=True)
class _State:
    """A design on the way, with its certificate."""

    support: Ints
    x: Floats
    w: Floats
    inverse: Floats
    leverages: Floats
    gap: float


def g_optimal(
    candidates: ProjectedFeatures,
    *,
    targets: ProjectedFeatures | None = None,
    gap: float = 1e-3,
    upper: float | None = None,
    warm: Weighted | None = None,
    max_support: int | None = None,
    report: Report = silent,
) -> Design:
    """A design on few candidates that is D-optimal, hence G-optimal (Kiefer and Wolfowitz 1960), to a relative gap.

    Without ``upper`` the optimum of g over the candidates is exactly their rank d, and ``value <= d (1 + gap)`` when
    converged. The support has at most d (d + 1) / 2 positions, usually far fewer the larger the gap.

    ``targets``: rows in the same coordinates whose worst variance ``value`` reports; the weights stay D-optimal over
    the candidates, ``gap`` is about that, and ``lower_bound`` says how much better any design could do for the targets.
    ``upper``: the largest share any candidate may get; the weights are then D-optimal under it.
    ``warm``: positions among these candidates with weights to start from, e.g. the design of the phase before.
    ``max_support``: the most positions to use; the best found on so many is returned, converged or not.

    Deterministic; ties go to the earlier position. Raises AssayPilotError for an ``upper`` or ``max_support`` that
    cannot be met, ValueError for candidates of less than full column rank.
    """
    begun = time.perf_counter()
    if not (np.isfinite(gap) and gap > 0):
        raise ValueError(f"gap must be above 0, got {gap}")
    table = Table(candidates)
    bound = _checked_bound(table, upper, max_support)
    search = _Search(table, bound, gap, report)
    state = search.converge(search.start(warm))
    state = search.thin(state, max_support)
    report(1.0, "design ready")
    value, lower = _worth(table, state, targets, bound)
    order = np.argsort(state.support, kind="stable")
    return Design(
        criterion="g",
        support=state.support[order],
        weights=state.w[order] / state.w.sum(),
        value=value,
        lower_bound=lower,
        converged=bool(state.gap <= gap),
        iterations=search.looks,
        seconds=time.perf_counter() - begun,
        gap=max(state.gap, 0.0),
    )


def _checked_bound(table: Table, upper: float | None, max_support: int | None) -> float:
    bound = 1.0 if upper is None else min(float(upper), 1.0)
    if not bound * table.n >= 1.0 - 1e-12:
        raise AssayPilotError(
            f"a share of at most {bound:g} of the measurements per compound is too little for {table.n:,} compounds",
            mend=f"The smallest share that can be met is 1/{table.n} = {1.0 / table.n:.4g}.",
        )
    bound = max(bound, 1.0 / table.n)
    if max_support is not None and (max_support < table.d or max_support * bound < 1.0 - 1e-12):
        least = _least_support(table, bound)
        raise AssayPilotError(
            f"{max_support:,} compounds are too few to estimate every effect",
            mend=f"Allow at least {least:,} compounds.",
        )
    return bound


def _least_support(table: Table, bound: float) -> int:
    """The fewest candidates any design needs: for the rank, and to hold all the weight under the bound."""
    return max(table.d, int(np.ceil(1.0 / bound - 1e-9)))


def _worth(table: Table, state: _State, targets: ProjectedFeatures | None, bound: float) -> tuple[float, float]:
    """The value of a design and a lower bound on the best value."""
    inverse = table.outside(state.inverse)
    if targets is None:
        # The weighted average of the leverages is d for any weights, so rounding alone can bring the largest below.
        value = max(float(state.leverages.max()), float(table.d))
        lower = float(table.d)
        if bound < 1.0:
            lower = max(lower, minimax_bound(table.candidates, table.candidates, inverse, bound))
    else:
        value = float(targets.quadratic(inverse).max())
        lower = minimax_bound(table.candidates, targets, inverse, bound)
    return value, min(lower, value)


class _Search:
    """One run of the solver: the table, what is asked for, and how often all candidates were looked at."""

    def __init__(self, table: Table, bound: float, gap: float, report: Report) -> None:
        self.table = table
        self.bound = bound
        self.gap = gap
        self.report = report
        self.looks = 0
        self.batch = max(_LEAST_BATCH, table.d)
        self.least = _least_support(table, bound)
        self._done = 0.0

    def look(self, support: Ints, x: Floats, w: Floats) -> _State:
        """The state of some weights, with the leverages of every candidate and the gap over all of them."""
        used = w > 0
        support, x, w = support[used], x[used], w[used]
        inverse = np.asarray(np.linalg.inv((x * w[:, None]).T @ x), dtype=np.float64)
        leverages = self.table.leverages(inverse)
        self.looks += 1
        gap = greatest_average(leverages, self.bound) / self.table.d - 1.0
        return _State(support, x, w, inverse, leverages, gap)

    def tell(self, fraction: float, message: str) -> None:
        """Report progress that never goes back."""
        self._done = max(self._done, min(fraction, 1.0))
        self.report(self._done, message)

    def start(self, warm: Weighted | None) -> _State:
        """Weights to start from: those given where they span, else d candidates that do, evenly."""
        self.tell(0.0, "choosing first compounds")
        if warm is not None and len(warm.support):
            support = np.asarray(warm.support, dtype=np.intp)
            w = np.maximum(np.asarray(warm.weights, dtype=float), 0.0)
            if len(support) * self.bound >= 1.0 and w.sum() > 0:
                w = box_projection(w / w.sum(), self.bound, 1.0)
                used = w > 0
                x = self.table.rows(support[used])
                if np.linalg.matrix_rank(x * np.sqrt(w[used])[:, None], tol=1e-5) == self.table.d:
                    return self.look(support[used], x, w[used])
        support = self.table.spanning()
        needed = self.least
        if needed > len(support):
            # Candidates at the bound are no unknowns of the Newton step, so all but one of them start there.
            others = np.setdiff1d(np.arange(self.table.n), support)
            extra = np.linspace(0, len(others) - 1, needed - len(support)).astype(np.intp)
            support = np.concatenate([support, others[extra]])
            w = np.full(needed, self.bound)
            w[-1] = max(1.0 - self.bound * (needed - 1), 0.0)
        else:
            w = np.full(len(support), 1.0 / len(support))
        return self.look(support, self.table.rows(support), w)

    def converge(self, state: _State) -> _State:
        """The state when its gap is small enough, or when nothing gains any more."""
        aim = self.gap * _SEARCH_SHARE
        first = max(state.gap, 2.0 * aim)
        best = state
        while best.gap > aim and self.looks < _ROUNDS:
            done = np.log(first / max(best.gap, aim)) / np.log(first / aim)
            self.tell(
                0.8 * float(done), f"{100 * best.gap:.2g} % above the best possible, {len(state.w):,} compounds in use"
            )
            tolerance = max(0.2 * aim, min(0.1, 0.1 * state.gap), _TIGHTEST)
            support, x, w, added = self.enter(state, self.batch)
            w, steps = maximise_log_det(x, w, upper=self.bound, tolerance=tolerance)
            if not added and not steps:
                break
            state = self.look(support, x, w)
            if state.gap < best.gap:
                best = state
        return best

    def enter(self, state: _State, batch: int) -> tuple[Ints, Floats, Floats, int]:
        """The support, rows and weights after the most violating candidates came in, and how many did.

        One after the other on a shortlist: each gets the step t that maximises log det(V + t xx') - level * t, and the
        leverages of the others fall by what it already tells.
        """
        d, bound = self.table.d, self.bound
        level = float(d)
        margin = 1.0 + min(0.25 * self.gap, 0.5 * max(state.gap, 0.0))
        threshold = level * margin
        if bound < 1.0:
            # What the support would give for it, and at least what the last place in the best allowed average is worth.
            level = max(float(state.leverages[state.support].min()), _TIGHTEST * d)
            place = self.table.n - int(np.ceil(1.0 / bound - 1e-9))
            threshold = max(level * margin, float(np.partition(state.leverages, place)[place]) * (1.0 - _TIGHTEST))
        eligible = state.leverages > threshold
        eligible[state.support] = False
        shortlist = np.flatnonzero(eligible)
        if len(shortlist) > _SHORTLIST * batch:
            highest = np.argsort(-state.leverages[shortlist], kind="stable")[: _SHORTLIST * batch]
            shortlist = np.sort(shortlist[highest])
        if not len(shortlist):
            return state.support, state.x, state.w, 0
        x = self.table.rows(shortlist)
        leverages = state.leverages[shortlist].copy()
        inverse = state.inverse.copy()
        steps = np.zeros(len(shortlist))
        for _ in range(batch):
            i = int(np.argmax(leverages))
            now = float(leverages[i])
            if now <= threshold:
                break
            step = min(1.0 / level - 1.0 / now, bound - steps[i])
            if step <= 0:
                leverages[i] = -np.inf
                continue
            steps[i] += step
            u = inverse @ x[i]
            shrink = step / (1.0 + step * now)
            inverse -= shrink * np.outer(u, u)
            leverages -= shrink * (x @ u) ** 2
        new = steps > 0
        w = np.concatenate([state.w, steps[new]])
        w = w / w.sum() if bound >= 1.0 else box_projection(w, bound, 1.0)
        support = np.concatenate([state.support, shortlist[new]])
        return support, np.concatenate([state.x, x[new]]), w, int(new.sum())

    def thin(self, state: _State, max_support: int | None) -> _State:
        """The state on fewer candidates, its gap still what was asked for; on ``max_support`` at whatever gap."""
        most = self.table.d * (self.table.d + 1) // 2
        if len(state.w) > most:
            state = self.look(state.support, state.x, same_information_on_fewer(state.x, state.w, upper=self.bound))
        full = state
        remove = max(1, int((len(state.w) - self.least) * _REMOVED_AT_ONCE))
        while remove and state.gap <= self.gap and len(state.w) > self.least:
            self.tell(0.9, f"as few compounds as possible, {len(state.w):,} now")
            fewer = self.removed(state, min(remove, len(state.w) - self.least), max(0.1 * self.gap, _TIGHTEST))
            if fewer is not None and fewer.gap <= self.gap:
                state = fewer
            else:
                remove //= 2
        if max_support is None or len(state.w) <= max_support:
            return state
        best = self.down_to(full, max_support)
        batch = self.batch
        for _ in range(_EXCHANGES):
            # Compounds that would help most come in and the least needed go; fewer at once when that gains nothing.
            self.tell(0.95, f"exchanging compounds, {100 * best.gap:.2g} % above the best possible")
            support, x, w, _ = self.enter(best, batch)
            w, _ = maximise_log_det(x, w, upper=self.bound, tolerance=_EXCHANGE_TOLERANCE)
            state = self.down_to(self.look(support, x, w), max_support)
            if state.gap < best.gap:
                best = state
            elif batch == 1:
                break
            else:
                batch //= 2
        return best

    def removed(self, state: _State, remove: int, tolerance: float) -> _State | None:
        """The state without its least needed candidates; None when the rest cannot be a design."""
        try:
            kept, w = without_least_needed(state.x, state.w, remove, upper=self.bound, tolerance=tolerance)
            return self.look(state.support[kept], state.x[kept], w)
        except (np.linalg.LinAlgError, ValueError):
            return None

    def down_to(self, state: _State, size: int) -> _State:
        """The state on at most ``size`` candidates."""
        step = max(1, int((len(state.w) - self.least) * _REMOVED_AT_ONCE))
        while len(state.w) > size:
            fewer = self.removed(state, min(step, len(state.w) - size), _EXCHANGE_TOLERANCE)
            if fewer is not None:
                state = fewer
            elif step > 1:
                step //= 2
            else:
                # The least needed one is needed for the rank; the spanning ones always do.
                support = self.spanning_within(state, size)
                w = np.full(len(support), 1.0 / len(support))
                return self.look(state.support[support], state.x[support], w)
        return state

    def spanning_within(self, state: _State, size: int) -> Ints:
        """Rows of the state's support that span, ``size`` of them, by pivoting."""
        order = qr((state.x * np.sqrt(state.w)[:, None]).T, mode="economic", pivoting=True)[2]
        return np.sort(order[:size]).astype(np.intp)
