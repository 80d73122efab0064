"""The search for a D-optimal design: column generation with Newton steps, then as few compounds as the gap allows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr

from assaypilot.engine.design.allowed import Allowed
from assaypilot.engine.design.criteria import Weighted
from assaypilot.engine.design.newton import greatest_average, information, maximise_log_det
from assaypilot.engine.design.support import Elimination, elimination, same_information_on_fewer, without_least_needed
from assaypilot.engine.design.table import Table
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report

__all__ = ["Search", "State"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROUNDS = 400
"""Looks at all candidates before the best so far is returned with its honest gap."""
_SEARCH_SHARE = 0.65
"""The part of the requested gap the search aims at; the rest pays for fewer compounds."""
_ROUNDS_BEYOND = 6
"""Looks after the requested gap is reached, to get to that part of it."""
_LEAST_BATCH = 8
"""Candidates that may come in at one look; the rank where that is more."""
_SHORTLIST = 16
"""Candidates looked at for each that may come in."""
_REMOVED_AT_ONCE = 0.15
"""The share of what the support has beyond the least possible that is removed at once; halved at each failure."""
_THINNING_WORK = 2e10
"""The sum over attempts to remove compounds of the cube of the compounds there: about two seconds."""
_COARSE = 150
"""Fewer compounds than this part of a support are not worth removing."""
_EXCHANGES = 20
_EXCHANGE_TOLERANCE = 1e-4
"""The gap on the support alone to which weights are solved while compounds are exchanged."""
_TIGHTEST = 1e-12
"""No smaller tolerance is asked of the inner solver: leverages carry rounding of that size."""
_SINGULAR = 1e-11
"""Eigenvalues of the information below this share of the largest count as 0."""


@dataclass(slots=True)
class State:
    """A design on the way, with its certificate: free weights as ``Allowed`` has them."""

    support: Ints
    x: Floats
    w: Floats
    inverse: Floats
    leverages: Floats
    gap: float


class Search:
    """One run of the solver: the table, what is asked for, and how often all candidates were looked at."""

    def __init__(self, table: Table, allowed: Allowed, gap: float, report: Report) -> None:
        self.table = table
        self.allowed = allowed
        self.gap = gap
        self.report = report
        self.looks = 0
        self.batch = max(_LEAST_BATCH, table.d)
        self.base = None if allowed.base is None else table.inside(allowed.base)
        self.least = max(table.d - self._known(), allowed.fewest())
        self._done = 0.0

    def _known(self) -> int:
        if self.base is None:
            return 0
        values = np.linalg.eigvalsh(self.base)
        return int((values > _SINGULAR * values[-1]).sum())

    def look(self, support: Ints, x: Floats, w: Floats) -> State:
        """The state of some weights, with the leverages of every candidate and the gap over all of them."""
        used = w > 0
        support, x, w = support[used], x[used], w[used]
        inverse = np.asarray(np.linalg.inv(information(x, w, self.base)), dtype=np.float64)
        leverages = self.table.leverages(inverse)
        self.looks += 1
        reached = greatest_average(leverages, self.allowed.room)
        if self.base is not None:
            reached += float(np.vdot(inverse, self.base))
        return State(support, x, w, inverse, leverages, reached / self.table.d - 1.0)

    def tell(self, fraction: float, message: str) -> None:
        """Report progress that never goes back."""
        self._done = max(self._done, min(fraction, 1.0))
        self.report(self._done, message)

    def start(self, warm: Weighted | None) -> State:
        """Weights to start from: those given where they span, else candidates that do, evenly."""
        self.tell(0.0, "choosing first compounds")
        given = None if warm is None else self._from(warm)
        if given is not None:
            return given
        allowed, is_open = self.allowed, self.allowed.open
        among = None if is_open is None or is_open.all() else np.flatnonzero(is_open)
        support = self.table.spanning(among)
        short = allowed.fewest() - len(support)
        room = allowed.room_of(support)
        if short > 0 or float(np.sum(np.broadcast_to(room, support.shape))) < 1.0:
            # Candidates at the bound are no unknowns of the Newton step, so all but one of them start there.
            others = np.setdiff1d(np.arange(self.table.n) if among is None else among, support)
            while True:
                extra = others[np.linspace(0, len(others) - 1, min(max(short, 1), len(others))).astype(np.intp)]
                held = np.cumsum(
                    np.broadcast_to(allowed.room_of(np.concatenate([support, extra])), len(support) + len(extra))
                )
                if held[-1] >= 1.0 - 1e-9 or len(extra) == len(others):
                    break
                short = 2 * max(short, 1)
            support = np.concatenate([support, extra])
            w = np.diff(np.minimum(held / max(held[-1], 1e-300) if held[-1] < 1.0 else held, 1.0), prepend=0.0)
            support, w = support[w > 0], w[w > 0]
        else:
            w = allowed.nearest(np.full(len(support), 1.0 / max(len(support), 1)), support)
        x = self.table.rows(support)
        if not self._spans(x, w):
            raise AssayPilotError(
                "the compounds that may be measured cannot estimate every effect",
                mend="Allow some that carry the missing substituents, or leave out the compounds that need them.",
            )
        return self.look(support, x, w)

    def _spans(self, x: Floats, w: Floats) -> bool:
        values = np.linalg.eigvalsh(information(x, w, self.base))
        return bool(values[0] > _SINGULAR * values[-1])

    def _from(self, warm: Weighted) -> State | None:
        """The state of weights given, moved into their bounds; None when they cannot be a design."""
        support = np.asarray(warm.support, dtype=np.intp)
        w = np.asarray(warm.weights, dtype=float)
        if not len(support) or support.min() < 0 or support.max() >= self.table.n or not np.isfinite(w).all():
            return None
        if self.allowed.required is not None:
            w = w - self.allowed.required[support]
        w = np.maximum(w, 0.0)
        if not w.sum() > 0 or float(np.sum(np.broadcast_to(self.allowed.room_of(support), w.shape))) < 1.0:
            return None
        w = self.allowed.nearest(w / w.sum(), support)
        support, w = support[w > 0], w[w > 0]
        x = self.table.rows(support)
        return self.look(support, x, w) if self._spans(x, w) else None

    def converge(self, state: State) -> State:
        """The state when its gap is small enough, or when nothing gains any more."""
        aim = self.gap * _SEARCH_SHARE
        first = max(state.gap, 2.0 * aim)
        best = state
        more = _ROUNDS_BEYOND
        while best.gap > aim and self.looks < _ROUNDS and more:
            # Good enough is not left waiting for better: on hard tables the last part takes longest.
            more -= best.gap <= self.gap
            done = np.log(first / max(best.gap, aim)) / np.log(first / aim)
            self.tell(
                0.8 * float(done), f"{100 * best.gap:.2g} % above the best possible, {len(state.w):,} compounds in use"
            )
            tolerance = max(0.2 * aim, min(0.1, 0.1 * state.gap), _TIGHTEST)
            support, x, w, added = self.enter(state, self.batch)
            w, steps = maximise_log_det(x, w, upper=self.allowed.room_of(support), base=self.base, tolerance=tolerance)
            if not added and not steps:
                break
            state = self.look(support, x, w)
            if state.gap < best.gap:
                best = state
        return best

    def enter(self, state: State, batch: int) -> tuple[Ints, Floats, Floats, int]:
        """The support, rows and weights after the most violating candidates came in, and how many did.

        One after the other on a shortlist: each gets the step t that maximises log det(V + t xx') - level * t, and the
        leverages of the others fall by what it already tells.
        """
        d, room = self.table.d, self.allowed.room
        level = float(d)
        if self.base is not None:
            level = float(state.w @ state.leverages[state.support])
        margin = 1.0 + min(0.25 * self.gap, 0.5 * max(state.gap, 0.0))
        threshold = level * margin
        if isinstance(room, np.ndarray) or room < 1.0:
            # What the support would give for it, and at least what the last place in the best allowed average is worth.
            level = max(float(state.leverages[state.support].min()), _TIGHTEST * d)
            threshold = max(level * margin, self._last_place(state.leverages) * (1.0 - _TIGHTEST))
        eligible = state.leverages > threshold
        if isinstance(room, np.ndarray):
            eligible &= room > 0
        eligible[state.support] = False
        shortlist = np.flatnonzero(eligible)
        if len(shortlist) > _SHORTLIST * batch:
            size = _SHORTLIST * batch
            # Equal leverages are common; the last of them would otherwise be any, so ties go to the earlier position.
            least = float(np.partition(state.leverages[shortlist], len(shortlist) - size)[len(shortlist) - size])
            above = shortlist[state.leverages[shortlist] > least]
            level_with = shortlist[state.leverages[shortlist] == least][: size - len(above)]
            shortlist = np.sort(np.concatenate([above, level_with]))
        if not len(shortlist):
            return state.support, state.x, state.w, 0
        x = self.table.rows(shortlist)
        leverages = state.leverages[shortlist].copy()
        inverse = state.inverse.copy()
        steps = np.zeros(len(shortlist))
        most = np.broadcast_to(self.allowed.room_of(shortlist), len(shortlist))
        for _ in range(batch):
            i = int(np.argmax(leverages))
            now = float(leverages[i])
            if now <= threshold:
                break
            step = min(1.0 / level - 1.0 / now, float(most[i]) - steps[i])
            if step <= 0:
                leverages[i] = -np.inf
                continue
            steps[i] += step
            u = inverse @ x[i]
            shrink = step / (1.0 + step * now)
            inverse -= shrink * np.outer(u, u)
            leverages -= shrink * (x @ u) ** 2
        new = steps > 0
        support = np.concatenate([state.support, shortlist[new]])
        w = self.allowed.nearest(np.concatenate([state.w, steps[new]]), support)
        return support, np.concatenate([state.x, x[new]]), w, int(new.sum())

    def _last_place(self, leverages: Floats) -> float:
        """The smallest leverage in the best allowed average."""
        room = self.allowed.room
        if not isinstance(room, np.ndarray):
            place = self.table.n - int(np.ceil(1.0 / room - 1e-9))
            return float(np.partition(leverages, place)[place])
        order = np.argsort(-leverages, kind="stable")
        last = int(np.searchsorted(np.cumsum(room[order]), 1.0 - 1e-9))
        return float(leverages[order[min(last, len(order) - 1)]])

    def thin(self, state: State, max_support: int | None) -> State:
        """The state on fewer candidates, its gap still what was asked for; on ``max_support`` at whatever gap."""
        if len(state.w) > self.table.moments:
            room = self.allowed.room_of(state.support)
            w = same_information_on_fewer(state.x, state.w, upper=room, base=self.base)
            state = self.look(state.support, state.x, w)
        full = state
        remove = max(1, int((len(state.w) - self.least) * _REMOVED_AT_ONCE))
        work = 0.0
        while remove and state.gap <= self.gap and work < _THINNING_WORK:
            self.tell(0.9, f"as few compounds as possible, {len(state.w):,} now")
            work += float(len(state.w)) ** 3
            fewer = self.thinner(state, min(remove, len(state.w) - self.least))
            if fewer is None:
                break
            remove, state = len(state.w) - len(fewer.w), fewer
        if max_support is None or len(state.w) <= max_support:
            return state
        best = self.down_to(full, max_support)
        batch = self.batch
        for _ in range(_EXCHANGES):
            # Compounds that would help most come in and the least needed go; fewer at once when that gains nothing.
            self.tell(0.95, f"exchanging compounds, {100 * best.gap:.2g} % above the best possible")
            support, x, w, _ = self.enter(best, batch)
            w, _ = maximise_log_det(
                x, w, upper=self.allowed.room_of(support), base=self.base, tolerance=_EXCHANGE_TOLERANCE
            )
            state = self.down_to(self.look(support, x, w), max_support)
            if state.gap < best.gap:
                best = state
            elif batch == 1:
                break
            else:
                batch //= 2
        return best

    def thinner(self, state: State, remove: int) -> State | None:
        """The state on up to ``remove`` fewer candidates, its gap still what was asked for; None when no fewer do."""
        plan = self.planned(state, remove)
        # On large supports the last few compounds are not worth the work of finding them.
        while plan is not None and remove > len(state.w) // _COARSE:
            fewer = self.removed(state, plan, remove, max(0.1 * self.gap, _TIGHTEST))
            if fewer is not None and fewer.gap <= self.gap:
                return fewer
            remove //= 2
        return None

    def planned(self, state: State, remove: int) -> Elimination | None:
        """Which candidates could go; None when none can."""
        if remove < 1:
            return None
        try:
            return elimination(state.x, state.w, remove, base=self.base)
        except np.linalg.LinAlgError:
            return None

    def removed(self, state: State, plan: Elimination, remove: int, tolerance: float) -> State | None:
        """The state without its least needed candidates; None when the rest cannot be a design."""
        room = self.allowed.room_of(state.support)
        try:
            kept, w = without_least_needed(state.x, plan, remove, upper=room, base=self.base, tolerance=tolerance)
            return self.look(state.support[kept], state.x[kept], w)
        except (np.linalg.LinAlgError, ValueError):
            return None

    def down_to(self, state: State, size: int) -> State:
        """The state on at most ``size`` candidates."""
        step = max(1, int((len(state.w) - self.least) * _REMOVED_AT_ONCE))
        while len(state.w) > size:
            remove = min(step, len(state.w) - size)
            plan = self.planned(state, remove)
            fewer = None
            while plan is not None and remove and fewer is None:
                fewer = self.removed(state, plan, remove, _EXCHANGE_TOLERANCE)
                if fewer is None:
                    remove //= 2
            if fewer is None:
                # The least needed one is needed for the rank; the spanning ones always do.
                support = self.spanning_within(state, size)
                w = self.allowed.nearest(np.full(len(support), 1.0 / len(support)), state.support[support])
                return self.look(state.support[support], state.x[support], w)
            step, state = min(step, max(remove, 1)), fewer
        return state

    def spanning_within(self, state: State, size: int) -> Ints:
        """Rows of the state's support that span, ``size`` of them, by pivoting."""
        order = qr((state.x * np.sqrt(state.w)[:, None]).T, mode="economic", pivoting=True)[2]
        return np.sort(order[:size]).astype(np.intp)
