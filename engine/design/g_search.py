"""The search for a D-optimal design: column generation with Newton steps on the candidates in use."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..errors import AssayPilotError
from ..models.ols import positive_inverse
from ..system.progress import Report
from ..text import percent
from .allowed import fewest, greatest_average, nearest
from .log_det import information, maximise_log_det
from .table import SummedRows, Table

_ROUNDS = 400
"""Looks at all candidates before the best so far is returned with its honest gap."""
_SEARCH_SHARE = 0.65
"""The part of the requested gap the search targets; the rest pays for fewer compounds."""
_ROUNDS_BEYOND = 6
"""Looks after the requested gap is reached, to get to that part of it."""
_LEAST_BATCH = 8
"""Candidates that may come in at one look; the rank where that is more."""
_SHORTLIST = 16
"""Candidates evaluated for each that may come in."""
_COSTLY = 2_000_000
"""Entries of all candidates from which on not all of them are evaluated each time."""
_NEAR = 0.5
"""Candidates with leverages below d (1 - this share of the root of the gap) do not come in soon: at the share 1 about
none of them ever does (Harman and Pronzato 2007)."""
_FEW = 0.35
"""The share of all candidates that the others may be, to be worth treating separately."""
_CROWD = 1600
"""From so many compounds on, an eighth as many more may come in at one look, without regard to what they share."""
_MANY = 800
"""Rows of sites from which on look-ups sum them up faster than products do."""
_TIGHTEST = 1e-12
"""The inner solver gets no smaller tolerance: leverages carry rounding of that size."""
_SINGULAR = 1e-11
"""Eigenvalues of the information below this share of the largest count as 0."""


@dataclass(slots=True)
class State:
    """A design on the way, with its certificate."""

    support: Ints
    x: Floats
    w: Floats
    inverse: Floats
    leverages: Floats
    """Of every candidate; 0 for those not evaluated."""
    gap: float
    """Over the evaluated candidates: of a state that is not whole it can only be larger."""
    whole: bool = True
    """Whether every candidate was evaluated."""


class Search:
    """One run of the solver: the table, the request, and how often all candidates were evaluated."""

    def __init__(self, table: Table, room: float, gap: float, report: Report) -> None:
        self.table = table
        self.room = room
        """The largest weight of a candidate."""
        self.gap = gap
        self.report = report
        self.looks = 0
        self.batch = max(_LEAST_BATCH, table.d)
        self.least = max(table.d, fewest(room))
        self._done = 0.0
        self._choosy = room >= 1.0 and table.n * table.d >= _COSTLY
        self._near: tuple[Ints, SummedRows] | None = None

    def look(self, support: Ints, x: Floats, w: Floats, within: float | None = None) -> State:
        """Return the state of some weights, with the leverages of every candidate and the gap over all of them.

        ``within``: where the candidates that were large at the last evaluation of all already show a larger gap than
        this, the others are not evaluated.
        """
        used = w > 0
        support, x, w = support[used], x[used], w[used]
        inverse = positive_inverse(information(x, w))
        if within is not None and self._near is not None:
            near, rows = self._near
            some = rows.quadratic(inverse)
            gap = float(some.max()) / self.table.d - 1.0
            if gap > within:
                leverages = np.zeros(self.table.n)
                leverages[near] = some
                return State(support, x, w, inverse, leverages, gap, whole=False)
        leverages = self.table.leverages(inverse)
        self.looks += 1
        reached = greatest_average(leverages, self.room)
        gap = reached / self.table.d - 1.0
        if self._choosy:
            near = np.flatnonzero(leverages > self.table.d * (1.0 - _NEAR * np.sqrt(max(gap, 0.0))))
            few = len(near) <= _FEW * self.table.n
            self._near = (near, self.table.part(near, None)) if few else None
        return State(support, x, w, inverse, leverages, gap)

    def progress(self, fraction: float, message: str) -> None:
        """Report progress that never goes back."""
        self._done = max(self._done, min(fraction, 1.0))
        self.report(self._done, message)

    def start(self) -> State:
        """Return weights to start from: candidates that span, evenly."""
        self.progress(0.0, "choosing first compounds")
        support = self.table.spanning()
        short = fewest(self.room) - len(support)
        if short > 0 or len(support) * self.room < 1.0:
            # Candidates at the bound are no unknowns of the Newton step, so all but one of them start there.
            others = np.setdiff1d(np.arange(self.table.n), support)
            extra = others[np.linspace(0, len(others) - 1, min(max(short, 1), len(others))).astype(np.intp)]
            support = np.concatenate([support, extra])
            held = np.cumsum(np.full(len(support), self.room))
            w = np.diff(np.minimum(held / max(held[-1], 1e-300) if held[-1] < 1.0 else held, 1.0), prepend=0.0)
            support, w = support[w > 0], w[w > 0]
        else:
            w = nearest(np.full(len(support), 1.0 / len(support)), self.room)
        x = self.table.rows(support)
        if not self._spans(x, w):
            raise AssayPilotError(
                "the compounds that may be measured cannot estimate every effect",
                mend="Allow some that carry the missing substituents, or leave out the compounds that need them.",
            )
        return self.look(support, x, w)

    def _spans(self, x: Floats, w: Floats) -> bool:
        values = np.linalg.eigvalsh(information(x, w))
        return bool(values[0] > _SINGULAR * values[-1])

    def converge(self, state: State) -> State:
        """Return the state when its gap is small enough, or when nothing gains any more."""
        target = self.gap * _SEARCH_SHARE
        first = max(state.gap, 2.0 * target)
        best = state
        more = _ROUNDS_BEYOND
        for _ in range(_ROUNDS):
            if best.gap <= target or not more:
                break
            # Good enough is not left waiting for better: on hard tables the last part takes longest.
            more -= best.gap <= self.gap
            done = np.log(first / max(state.gap, target)) / np.log(first / target)
            self.progress(
                0.8 * float(done), f"{percent(state.gap, 2)} above the best possible, {len(state.w):,} compounds in use"
            )
            tolerance = max(0.2 * target, min(0.1, 0.1 * state.gap), _TIGHTEST)
            support, x, w, added = self.enter(state, self.batch)
            try:
                w, steps = self.balanced(support, x, w, tolerance)
            except np.linalg.LinAlgError:
                # Within bounds the room for those that came in may have been all the room of others.
                support, x, w = self._halfway(state, support, w)
                w, steps = self.balanced(support, x, w, tolerance)
            if not added and not steps:
                if state.whole:
                    break
                state = self.look(support, x, w)
            else:
                state = self.look(support, x, w, self.gap)
            if state.whole and state.gap < best.gap:
                best = state
        if not state.whole:
            state = self.look(state.support, state.x, state.w)
            best = state if state.gap < best.gap else best
        return best

    def _halfway(self, state: State, support: Ints, w: Floats) -> tuple[Ints, Floats, Floats]:
        """Return half of these weights and half of the state's: within the bounds, and of full rank as the state."""
        mixed = np.zeros(self.table.n)
        mixed[support] += 0.5 * w
        mixed[state.support] += 0.5 * state.w
        both = np.flatnonzero(mixed)
        return both, self.table.rows(both), mixed[both]

    def balanced(self, support: Ints, x: Floats, w: Floats, tolerance: float) -> tuple[Floats, int]:
        """Return the D-optimal weights on a support to a tolerance, and the steps they took."""
        rows = self.table.part(support, x) if len(support) > _MANY else None
        return maximise_log_det(x, w, upper=self.room, tolerance=tolerance, rows=rows)

    def enter(self, state: State, batch: int, above: float | None = None) -> tuple[Ints, Floats, Floats, int]:
        """Return the support, rows and weights after the most violating candidates came in, and how many did.

        One after the other on a shortlist: each gets the step t that maximises log det(V + t xx') - level * t, and the
        leverages of the others fall by the information it already gives. With a large support many come in at once.
        ``above``: the share of the average leverage by which theirs must be larger.
        """
        d, room = self.table.d, self.room
        level = float(d)
        margin = 1.0 + (min(0.25 * self.gap, 0.5 * max(state.gap, 0.0)) if above is None else above)
        threshold = level * margin
        if room < 1.0:
            # What the support would give for it.
            level = max(float(state.leverages[state.support].min()), _TIGHTEST * d)
            threshold = level * margin
        eligible = state.leverages > threshold
        eligible[state.support] = False
        shortlist = np.flatnonzero(eligible)
        many = len(state.w) >= _CROWD
        size = len(state.w) // 8 if many else _SHORTLIST * batch
        if len(shortlist) > size:
            # Equal leverages are common; the last of them would otherwise be any, so ties go to the earlier position.
            least = float(np.partition(state.leverages[shortlist], len(shortlist) - size)[len(shortlist) - size])
            larger = shortlist[state.leverages[shortlist] > least]
            level_with = shortlist[state.leverages[shortlist] == least][: size - len(larger)]
            shortlist = np.sort(np.concatenate([larger, level_with]))
        if not len(shortlist):
            return state.support, state.x, state.w, 0
        x = self.table.rows(shortlist)
        if many:
            support = np.concatenate([state.support, shortlist])
            share = len(shortlist) / len(support)
            w = np.concatenate([(1.0 - share) * state.w, np.full(len(shortlist), 1.0 / len(support))])
            return support, np.concatenate([state.x, x]), nearest(w, room), len(shortlist)
        leverages = state.leverages[shortlist].copy()
        inverse = state.inverse.copy()
        steps = np.zeros(len(shortlist))
        for _ in range(batch):
            i = int(np.argmax(leverages))
            now = float(leverages[i])
            if now <= threshold:
                break
            step = min(1.0 / level - 1.0 / now, room - steps[i])
            if step <= 0:
                leverages[i] = -np.inf
                continue
            steps[i] += step
            u = inverse @ x[i]
            shrink = step / (1.0 + step * now)
            inverse -= (shrink * u)[:, None] * u
            leverages -= shrink * (x @ u) ** 2
        new = steps > 0
        support = np.concatenate([state.support, shortlist[new]])
        w = nearest(np.concatenate([state.w, steps[new]]), room)
        return support, np.concatenate([state.x, x[new]]), w, int(new.sum())
