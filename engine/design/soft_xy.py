"""XY designs of high rank: a soft maximum over very many directions, minimised over very many candidates at once.

With hundreds of effects an XY optimum balances thousands of candidates against thousands of directions, more than
Newton steps on working sets of both can hold. A soft maximum of the variances is smooth, needs no list of directions,
and its slope is the average of y y' from which the proven bound comes: where the slope is level over the candidates,
the bound is that average's own variance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats, Ints
from ..domain.features import SiteFeatures
from ..models.ols import positive_inverse
from ..text import percent
from .allowed import greatest_average
from .criteria import Shares, Weighted, dual_bound
from .g import g_optimal
from .pairs import Pairs
from .smooth import Sample, Soft, even_leverages, minimised, same_information, softened
from .table import moments
from .xy_search import XYSearch, XYState

_MANY_MOMENTS = 500
"""The soft maximum comes first for site tables from this dimension of all x x' on, which is about the candidates that
an optimum needs, and as many directions. Of other features a few times the rank are enough, which Newton steps hold."""
_AMPLE = 3
"""Candidates at once, in multiples of the dimension of all x x': from twice that many on, a symmetric cloud of points
has its centre inside (Wendel 1962), so that a chosen few can do nearly what all can."""
_LEAST = 4000
_ENTRIES = 6_000_000
"""Entries of their rows held at most."""
_ROWS = 12
"""Rows whose pairs represent all pairs, in multiples of the rank."""
_SHARPNESS = (10.0, 30.0, 100.0, 300.0, 600.0, 1200.0, 2400.0)
"""Over the largest variance: how much more large variances weigh."""
_UNEVEN = 1.5
"""The first sharpness is the largest at which no candidate's slope is this many times the average."""
_LOOKS = 40
"""Looks at the soft maximum before candidates and directions come in."""
_REFRESHES = 40
_SLOW = 0.8
"""A refresh that leaves more than this part of the gap is slow: Newton steps on at most ``_HELD`` candidates take over
once the gap is below ``_NEAR``, and a gap a little above the target will do."""
_NEAR = 0.1
_HELD = 2000
_STALLED = 4
"""Refreshes without progress before the method gives up."""
_EVEN = 60
"""Looks in which candidates are weighted evenly."""
_TARGET = 0.75
"""The part of the requested gap the search targets."""
_ROUGHLY = 0.9
"""The part of it that will do where progress is slow."""
_KEPT = 0.8
"""The share of the candidates that stays at each attempt to do with fewer."""
_THINNING = 60
"""Passes in which they come to represent what all did."""
_RETHINK = 12
"""Passes in which fewer rows of pairs come to represent it."""
_MANY = 8
"""Of so many candidates, in multiples of the dimension of all x x', a G design is found sooner than all weights."""
_NEW_ROWS = 40
"""Rows of far pairs that come in at once."""
_HANDED = 12
"""Directions that another search begins with, in multiples of the rank."""
_ROOM = 1e-3
"""Where candidates may have less weight than this, the best design without such limits is no start."""
_NEGLIGIBLE = 0.05
"""Weights below this part of an even one go before another search takes over."""


def settled(search: XYSearch, warm: Weighted | None) -> XYState:
    """Return the best state found: of high rank by a soft maximum first, then by the search on working sets."""
    candidates = search.table.candidates
    many = isinstance(candidates.features, SiteFeatures) and moments(candidates) >= _MANY_MOMENTS
    if not many or search.directions.n < _MANY_MOMENTS or search.room < _ROOM or candidates.n_rows <= search.table.d:
        return search.converge(warm)
    try:
        smooth = _Smooth(search, warm)
        state = smooth.run()
        fits = bool((state.w <= search.room).all())
        if fits and state.value <= search.lower * (1.0 + search.gap):
            return state
        smooth.hand_over()
    except LinAlgError:
        return search.converge(warm)
    other = search.converge(Shares(state.support, state.w))
    return min(state, other, key=lambda one: one.value) if fits else other


class _Smooth:
    """One run: candidates held, directions that stand for all, and the best of both sides so far."""

    def __init__(self, search: XYSearch, warm: Weighted | None) -> None:
        self.search, self.table = search, search.table
        self.inside = self._chosen(warm)
        self.x = self.table.rows(self.inside)
        self.base = search.fixed if search.fixed.any() else None
        even = np.full(len(self.inside), 1.0 / len(self.inside))
        search.progress(0.0, f"weighing {len(even):,} compounds")
        self.w = even_leverages(self.x, even, self.base, 0.3 * search.gap, _EVEN)
        self.sparse = self._of_g()
        rows, weights = self._pair_rows()
        inverse = self.table.outside(self._inverse(self.x, self.w))
        self.soft: Soft = softened(search.directions, inverse, rows, weights)
        if warm is not None:
            self.w = 0.5 * self.w + 0.5 * self._given(warm)
        self.scale = self.soft.at(inverse, 1.0).largest
        self.sharpness = 0
        self.best = self.sparse
        self.trial: tuple[float, Floats] = (math.inf, self.w)
        self.proof: tuple[float, float, Floats] = (0.0, 0.0, np.zeros((0, 0)))
        self.level = False

    def _chosen(self, warm: Weighted | None) -> Ints:
        """Return candidates to begin with: an even choice, those that span all, and those given."""
        candidates = self.table.candidates
        free = np.arange(candidates.n_rows)
        most = max(min(max(_AMPLE * moments(candidates), _LEAST), _ENTRIES // self.table.d), 4 * self.table.d)
        if len(free) <= most:
            return free
        chosen = free[np.linspace(0, len(free) - 1, most).astype(np.intp)]
        chosen = np.union1d(chosen, self.table.spanning())
        if warm is not None:
            chosen = np.union1d(chosen, warm.support)
        return chosen.astype(np.intp)

    def _of_g(self) -> XYState | None:
        """Of very many candidates, a G design on few of them: as good for pairs where tables are nearly whole."""
        table, search = self.table, self.search
        candidates = table.candidates
        if table.candidates.n_rows < _MANY * moments(candidates) or not isinstance(search.directions, Pairs):
            return None
        if self.base is not None:
            return None
        design = g_optimal(candidates, gap=0.25 * search.gap)
        inverse = table.outside(self._inverse(table.rows(design.support), design.weights))
        return XYState(design.support, design.weights, float(search.directions.some(inverse, search.count)[1][0]))

    def _given(self, warm: Weighted) -> Floats:
        """Return the weights given, on the candidates held."""
        every = np.zeros(self.table.candidates.n_rows)
        every[warm.support] = np.maximum(warm.weights, 0.0)
        found = every[self.inside]
        return found / found.sum() if found.sum() > 0 else self.w

    def _pair_rows(self) -> tuple[Ints, Floats]:
        """Return rows of the table of pairs, weighted to inform about equally on every effect."""
        directions = self.search.directions
        if not isinstance(directions, Pairs):
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        table, mine = directions.table, self.table.candidates
        most_rows = max(_ROWS * self.table.d, 600)
        if table.features is mine.features and np.array_equal(table.rows, mine.rows):
            rows, x, w = self.inside, self.x, self.w
            if self.sparse is not None:
                rows, x, w = self.sparse.support, self.table.rows(self.sparse.support), self.sparse.w
        else:
            n = table.n_rows
            most = max(_LEAST, _ENTRIES // (4 * self.table.d))
            rows = np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)
            x = table.coordinates(rows) @ self.table.to_here
            w = np.full(len(rows), 1.0 / len(rows))
            if n > most_rows:
                w = even_leverages(x, w, None, 0.02, _EVEN)
        while len(rows) > most_rows:
            kept = np.sort(np.argsort(-w, kind="stable")[: max(most_rows, int(_KEPT * len(w)))])
            rows, x = rows[kept], x[kept]
            w = even_leverages(x, w[kept] / w[kept].sum(), None, 0.02, _RETHINK)
        return rows, w

    def _inverse(self, x: Floats, w: Floats) -> Floats:
        information = (x * w[:, None]).T @ x
        if self.base is not None:
            information += self.base
        return positive_inverse(information)

    def run(self) -> XYState:
        """Return the best design found, on few candidates when it is as good as requested."""
        stalled, before = 0, math.inf
        for refresh in range(_REFRESHES):
            if refresh == 0:
                self._sharpen()
            self._glide(_LOOKS)
            gap, new = self._refresh()
            self.search.progress(0.8 * refresh / _REFRESHES, f"{percent(gap, 2)} above the best possible")
            if gap <= _TARGET * self.search.gap:
                break
            stalled = 0 if gap < 0.95 * before else stalled + 1
            slow = gap > _SLOW * before
            if slow and gap <= _ROUGHLY * self.search.gap:
                break
            if slow and gap < _NEAR and self.best is not None and len(self._used(self.best)) <= _HELD:
                break
            before = min(gap, before)
            if (stalled >= 2 and self.level and not new) or stalled >= _STALLED:
                break
            if self.level and self.sharpness < len(_SHARPNESS) - 1:
                self.sharpness += 1
                self.trial = (math.inf, self.w)
        assert self.best is not None
        if self.search.room >= 1.0 and self.best.value <= self.search.lower * (1.0 + self.search.gap):
            return self._on_fewer(self.best)
        used = self._used(self.best)
        return XYState(self.best.support[used], self.best.w[used] / self.best.w[used].sum(), self.best.value)

    @staticmethod
    def _used(state: XYState) -> Ints:
        """Return places of the candidates that matter to a state."""
        return np.flatnonzero(state.w > _NEGLIGIBLE / len(state.w)).astype(np.intp)

    def hand_over(self) -> None:
        """Give the search on working sets the directions that matter now, by how much they do."""
        inverse = self.table.outside(self._inverse(self.x, self.w))
        sharpness = _SHARPNESS[self.sharpness] / self.scale
        self.search.given(*self.soft.heaviest(inverse, sharpness, _HANDED * self.table.d))

    def _sharpen(self) -> None:
        """Set the first sharpness."""
        for step in reversed(range(len(_SHARPNESS) - 2)):
            self.sharpness = step
            found = self._look(self.x, self.w)
            if found is not None and float(-found.slope.min()) <= _UNEVEN * float(-found.slope @ self.w):
                return

    def _look(self, x: Floats, w: Floats) -> Sample | None:
        """Return the soft maximum at some weights; the best bound on the way is kept."""
        try:
            inverse = self._inverse(x, w)
        except LinAlgError:
            return None
        table = self.table
        found = self.soft.at(table.outside(inverse), _SHARPNESS[self.sharpness] / self.scale)
        average = table.to_here.T @ found.average @ table.to_here
        slope = inverse @ average @ inverse
        scores = np.einsum("ij,ij->i", x @ slope, x)
        trace = float(np.vdot(average, inverse))
        bound = dual_bound(trace, float(scores.max()))
        if bound > self.proof[0]:
            self.proof = bound, trace, slope
        if found.largest < self.trial[0]:
            self.trial = found.largest, w
        self.level = bound >= trace - 0.5 * (found.largest - trace)
        good = min(found.largest, self.trial[0]) <= self.proof[0] * (1.0 + 0.9 * _TARGET * self.search.gap)
        return Sample(found.value, -scores, self.level or good)

    def _glide(self, looks: int) -> None:
        self.proof = 0.0, 0.0, np.zeros((0, 0))
        self.w = minimised(lambda w: self._look(self.x, w), self.w, looks)

    def _refresh(self) -> tuple[float, bool]:
        """Return the true gap; candidates and directions that matter more than was known come in."""
        search, table = self.search, self.table
        search.looks += 1
        new = False
        _, trace, slope = self.proof
        if trace > 0.0:
            scores = table.leverages(slope)
            reachable = greatest_average(scores, search.room)
            search.lower = max(search.lower, dual_bound(trace, reachable))
        for w in (self.trial[1], self.w):
            inverse = table.outside(self._inverse(self.x, w))
            keys, values = search.look_for(inverse, search.lower * (1.0 + _TARGET * search.gap))
            value = float(values[0]) * (1.0 + search.anchored)
            if self.best is None or value < self.best.value:
                self.best = XYState(self.inside, w, value)
            far = keys[values > self.trial[0] * (1.0 + 0.05 * search.gap)]
            if len(far):
                new = True
                self.soft.take(far[:_NEW_ROWS])
            if w is self.w:
                break
        assert self.best is not None
        gap = self.best.value / search.lower - 1.0 if search.lower > 0.0 else math.inf
        if trace > 0.0 and gap > _TARGET * search.gap:
            scores[self.inside] = 0.0
            helpful = np.flatnonzero(scores > reachable * (1.0 - 0.5 * min(gap, 0.5)))
            helpful = helpful[np.argsort(-scores[helpful], kind="stable")[: 2 * table.d]]
            if len(helpful) and scores.max() > 0.999 * reachable:
                new = True
                self.inside = np.concatenate([self.inside, helpful])
                self.x = np.concatenate([self.x, table.rows(helpful)])
                small = np.full(len(helpful), 0.1 / len(self.inside))
                self.w = np.concatenate([self.w, small])
                self.w /= self.w.sum()
        if new:
            self.trial = (math.inf, self.w)
        return gap, new

    def _on_fewer(self, state: XYState) -> XYState:
        """Return the state on fewer candidates, as long as it stays as good as requested."""
        search = self.search
        most = search.lower * (1.0 + 0.97 * search.gap)
        if self.sparse is not None and self.sparse.value <= most:
            state = self.sparse
        inverse = self._inverse(self.table.rows(state.support), state.w)
        share = _KEPT
        while len(state.w) > 4 * self.table.d and state is not self.sparse:
            kept = np.sort(np.argsort(-state.w, kind="stable")[: int(share * len(state.w))])
            support, w = state.support[kept], state.w[kept] / state.w[kept].sum()
            x = self.table.rows(support)
            w = same_information(x, w, inverse, self.base, 0.05 * search.gap, _THINNING)
            value = float(search.directions.some(self.table.outside(self._inverse(x, w)), search.count)[1][0])
            value *= 1.0 + search.anchored
            search.progress(0.9, f"trying {len(w):,} compounds, {percent(value / search.lower - 1, 2)}")
            if value <= most:
                state = XYState(support, w, value)
            elif share > _KEPT:
                break
            else:
                share = (1.0 + _KEPT) / 2.0
        if search.anchor is not None:
            return search.released(state)
        return XYState(state.support, state.w, search.worth(state.support, state.w), exact=True)
