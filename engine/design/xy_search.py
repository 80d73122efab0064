"""The search for an XY-optimal design: candidates and directions enter as the saddle point of the others requires."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats, Ints
from ..system.progress import Report
from ..text import percent
from .allowed import greatest_average, nearest
from .criteria import Weighted, dual_bound
from .directions import Directions
from .interior_point import solve_saddle, starting_point
from .subspace import may_be_singular, unseen_lengths
from .table import Table

_ROUNDS = 300
"""Rounds before the best so far is returned with its honest gap."""
_SEARCH_SHARE = 0.8
"""The part of the requested gap the search targets; the rest pays for fewer compounds."""
_LOCAL_SHARE = 0.05
"""How much of the gap there is now the working sets are solved to."""
_FIRST, _SECOND = 0.1, 3e-3
_TIGHTEST = 1e-10
"""Gaps that the working sets are solved to: at first, where another search went before, and at the least (variances
carry rounding)."""
_DIRECTIONS = 3
"""Directions that come in at once, in multiples of the rank."""
_QUICK = 50_000_000
"""More directions than this are not all evaluated before the working sets have settled."""
_IDLE = 3
"""Rounds in which nothing comes in before the search gives up on a smaller gap."""
_NEEDED = 1e-4
"""A weight or share below this part of an even one, times the gap, may leave."""
_ENTERS = 0.1
"""The part of the requested gap by which a candidate or direction must violate the optimum to come in."""
_FLAT = 1e-11
"""Eigenvalues of V below this share of the largest are raised to it while searching, to keep digits."""
_SINGULAR = 1e-10
"""Eigenvalues of V below this share of the largest count as zero for the value of a design."""
_ROUNDING = 1e-15
"""Where a direction needs them, eigenvalues down to this share count after all."""
_UNSEEN = 1e-11
"""A direction with more than this share of its length outside the span of V is not estimable."""
_ANCHOR = 0.05
_ANCHORS = 1e-9, 1e-3
"""The share of a design that estimates all effects, mixed in where the optimum may leave some alone: in parts of the
requested gap, as that is what it costs at most, and its limits."""
_TRACES = (1e-3, 0.0)
"""Parts of an even weight below which weights are left out for a design without that share."""


@dataclass(slots=True)
class XYState:
    """Weights on some candidates and their worst variance over all directions."""

    support: Ints
    w: Floats
    value: float
    exact: bool = False
    """Whether the value is that of ``XYSearch.worth``."""


class XYSearch:
    """One run: the working sets of candidates and directions, the best design and the best proven bound so far."""

    def __init__(
        self, table: Table, directions: Directions, room: float, gap: float, report: Report, scale: float
    ) -> None:
        self.table, self.directions, self.room = table, directions, room
        self.gap, self.report = gap, report
        self.scale = np.sqrt(scale)
        """The square root of a typical variance: directions are divided by it."""
        self.lower = 0.0
        self.count = _DIRECTIONS * table.d
        self.looks = 0
        self.keys = np.zeros((0, 1), dtype=np.intp)
        self.y: Floats = np.zeros((0, table.d))
        self.share = np.zeros(0)
        self._have: set[tuple[int, ...]] = set()
        self._done = 0.0
        self.fixed = np.zeros((table.d, table.d))
        """Lower bound of V while searching."""
        self.anchor: XYState | None = None
        self.anchored = 0.0
        """The weight of the anchor, in addition to weights of sum 1."""
        if may_be_singular(table, directions):
            self.regularise()

    def holds(self, count: int) -> bool:
        """Return whether so many candidates can hold all the weight."""
        return count * self.room >= 1.0

    def progress(self, done: float, message: str) -> None:
        """Report progress, which never goes back."""
        self._done = max(self._done, min(done, 0.99))
        self.report(self._done, message)

    def regularise(self) -> None:
        """Keep V regular from now on by a small share of an allowed design that estimates all effects.

        With it added, V(w) + a V(s), the best possible is no worse than without; and the design (w + a s) / (1 + a)
        has a variance of at most 1 + a times it. Bounds are of V(w) without it.
        """
        support = self.table.spanning()
        w = np.full(len(support), 1.0 / len(support))
        if self.room < 1.0:
            support = self.roomy(support)
            w = nearest(np.full(len(support), 1.0 / len(support)), self.room)
        self.anchor = XYState(support, w, np.inf)
        self.anchored = float(np.clip(_ANCHOR * self.gap, *_ANCHORS))
        x = self.table.rows(support)
        self.fixed = self.anchored * ((x * w[:, None]).T @ x)

    def released(self, state: XYState) -> XYState:
        """Return a design that has the value of a state found with the anchor: without it, or with it mixed in."""
        anchor = self.anchor
        if anchor is None:
            return state
        for least in _TRACES:
            used = state.w > least / len(state.w)
            if not self.holds(int(used.sum())):
                continue
            w = nearest(state.w[used], self.room)
            bare = XYState(state.support[used], w, self.worth(state.support[used], w), exact=True)
            if bare.value < np.inf and bare.value <= max(self.lower * (1.0 + self.gap), state.value):
                return bare
        support = np.union1d(state.support, anchor.support)
        w = np.zeros(len(support))
        w[np.searchsorted(support, state.support)] = state.w
        w[np.searchsorted(support, anchor.support)] += self.anchored * anchor.w
        w /= 1.0 + self.anchored
        return XYState(support, w, self.worth(support, w), exact=True)

    def worth(self, support: Ints, w: Floats) -> float:
        """Return the worst variance over all directions, exactly; inf when some direction is not estimable."""
        x = self.table.rows(support)
        values, vectors = np.linalg.eigh((x * w[:, None]).T @ x)
        for least in (_SINGULAR, _ROUNDING):
            kept = values > least * max(float(values[-1]), 0.0)
            blind = vectors[:, ~kept]
            if not blind.shape[1] or not self.sees_beyond(blind):
                half = vectors[:, kept] / np.sqrt(values[kept])
                return float(self.directions.find(self.table.outside(half @ half.T))[1][0])
        return float("inf")

    def sees_beyond(self, blind: Floats) -> bool:
        """Return whether some direction has a part along the columns of ``blind``."""
        there = self.table.to_here @ blind
        return bool(unseen_lengths(self.directions, there, self.count)[1].max() > _UNSEEN * self.scale)

    def half_inverse(self, x: Floats, w: Floats) -> Floats:
        """Return H with H H' = V^-1; a nearly singular V gets its least eigenvalues raised: any H gives bounds."""
        values, vectors = np.linalg.eigh(self.fixed + (x * w[:, None]).T @ x)
        found: Floats = vectors / np.sqrt(np.maximum(values, _FLAT * float(values[-1])))
        return found

    def local_worth(self, half: Floats) -> Floats:
        """Return the variances of the directions in the working set, for V^-1 = half half'."""
        seen = self.y @ half
        worth: Floats = np.einsum("ij,ij->i", seen, seen) * self.scale**2
        return worth

    def start(self, warm: Weighted | None) -> tuple[Ints, Floats]:
        """Return candidates that span all and can hold the weight, and weights for them."""
        inside = self.table.spanning()
        w = np.full(len(inside), 1.0 / len(inside))
        if warm is not None:
            given = np.zeros(self.table.candidates.n_rows)
            given[warm.support] = np.maximum(warm.weights, 0.0)
            if given.sum() > 0:
                inside = np.union1d(inside, np.flatnonzero(given > 0))
                w = 0.9 * given[inside] / given.sum() + 0.1 / len(inside)
        if self.room < 1.0:
            inside = self.roomy(inside)
            w = np.full(len(inside), 1.0 / len(inside)) if warm is None else np.pad(w, (0, len(inside) - len(w)))
        return inside, w

    def roomy(self, inside: Ints) -> Ints:
        """Return the candidates, and more where these have hardly room for all the weight."""
        others = np.setdiff1d(np.arange(self.table.candidates.n_rows), inside)
        lacking = max(math.ceil(2.0 / self.room) - len(inside), 0)
        spread = others[np.argsort(np.arange(len(others)) % 7, kind="stable")]
        return np.concatenate([inside, spread[:lacking]])

    def take(self, keys: Ints, values: Floats, above: float, most: int | None = None) -> int:
        """Let the directions with variances ``above`` into the working set; returns how many were new."""
        names = [tuple(key) for key in keys.tolist()]
        new = [i for i, (name, v) in enumerate(zip(names, values, strict=True)) if v > above and name not in self._have]
        if not new:
            return 0
        singles = new[: self.count if most is None else most]
        self._have.update(names[i] for i in singles)
        added = keys[singles]
        small = 1e-3 / max(len(self.share), 1)
        self.keys = added if not len(self.share) else np.concatenate([self.keys, added])
        y = self.directions.vectors(added) @ self.table.to_here / self.scale
        self.y = np.concatenate([self.y, y])
        self.share = np.concatenate([self.share, np.full(len(added), small)])
        return len(new)

    def given(self, keys: Ints, shares: Floats) -> None:
        """Begin with these directions and their shares."""
        self.take(keys, np.ones(len(keys)), above=0.0, most=len(keys))
        self.share = shares / shares.sum()

    def solve(self, x: Floats, w: Floats, tolerance: float) -> tuple[Floats, float]:
        """Return the weights of the working sets' saddle point and the value of weight there; the shares are kept.

        Raises LinAlgError where these rows do not estimate all effects, with the anchor, if any.
        """
        start = starting_point(x, self.y, self.fixed, self.room, w, self.share)
        point = solve_saddle(x, self.y, self.fixed, self.room, start, tolerance)
        total = float(point.share.sum())
        self.share = point.share / total
        return nearest(point.w, self.room), point.level / total

    def look(self, x: Floats, w: Floats) -> tuple[Floats, Floats]:
        """Return H with H H' = S = V^-1 and the score x'S M S x of every candidate; record the proven bound."""
        table = self.table
        half = self.half_inverse(x, w)
        seen = self.y @ half
        spread = (seen * self.share[:, None]).T @ seen
        slope = half @ spread @ half.T
        scores = table.leverages(slope)
        reachable = greatest_average(scores, self.room)
        self.lower = max(self.lower, dual_bound(float(np.trace(spread)), reachable) * self.scale**2)
        return half, scores

    def converge(self, warm: Weighted | None) -> XYState:
        """Return the best design when its gap is small enough, or when nothing comes in any more."""
        table, d = self.table, self.table.d
        inside, w = self.start(warm)
        known = len(self.y) > 0
        x = table.rows(inside)
        half = self.half_inverse(x, w)
        self.take(*self.find(half, 0.0), above=-1.0)
        best = XYState(inside, w, np.inf)
        target = self.gap * _SEARCH_SHARE
        tolerance, first, idle, before = _SECOND if known else _FIRST, 0.0, 0, np.inf
        while self.looks < _ROUNDS:
            self.looks += 1
            try:
                w, level = self.solve(x, w, tolerance)
            except LinAlgError:
                if self.anchor is not None:
                    break
                self.regularise()
                continue
            half, scores = self.look(x, w)
            local = self.local_worth(half)
            worst = float(local.max())
            keys, values = self.find(half, worst * (1.0 + _ENTERS * self.gap))
            if values[0] * (1.0 + self.anchored) <= self.lower * (1.0 + target):
                # As good as requested on the directions seen so far: now evaluate all.
                keys, values = self.find(half, np.inf)
            value = float(values[0]) * (1.0 + self.anchored)
            if value < best.value:
                best = XYState(inside.copy(), w.copy(), value)
            gap, now = best.value / self.lower - 1.0, value / self.lower - 1.0
            first = first or max(now, 2.0 * target)
            done = 0.8 * float(np.log(first / max(gap, target)) / np.log(first / target))
            self.progress(done, f"{percent(gap, 2)} above the best possible, {len(w):,} compounds in use")
            if gap <= target:
                break
            tolerance = max(min(_LOCAL_SHARE * now, tolerance), 0.3 * target, _TIGHTEST)
            inside, x, w = self.leave(inside, x, w, scores, local, now)
            added = self.take(keys, values, worst * (1.0 + _ENTERS * self.gap))
            inside, x, w, more = self.enter(inside, x, w, scores, level, d)
            idle = 0 if added or more or gap < 0.5 * before else idle + 1
            before = gap
            if idle > _IDLE:
                break
        return self.released(best)

    def find(self, half: Floats, above: float) -> tuple[Ints, Floats]:
        """Return directions with large variances, the largest first; of very many only when quick looks find none."""
        return self.look_for(self.table.outside(half @ half.T), above)

    def look_for(self, there: Floats, above: float) -> tuple[Ints, Floats]:
        """Return the same for V^-1 in the candidates' own coordinates."""
        if self.directions.n > _QUICK:
            keys, values = self.directions.some(there, self.count)
            if values[0] > above:
                return keys, values
        return self.directions.find(there, self.count)

    def leave(
        self, inside: Ints, x: Floats, w: Floats, scores: Floats, local: Floats, now: float
    ) -> tuple[Ints, Floats, Floats]:
        """Return the working sets without what has next to no weight and no pull."""
        least = _NEEDED * min(now, 1.0)
        level = float(w @ scores[inside])
        keep = (w > least / len(w)) | (scores[inside] > (1.0 - 2.0 * now) * level)
        stays = (self.share > least / len(self.share)) | (local > (1.0 - 2.0 * now) * float(local.max()))
        if keep.sum() >= self.table.d and keep.sum() * self.room > 1.5:
            inside, x, w = inside[keep], x[keep], w[keep] / w[keep].sum()
        self._have.difference_update(tuple(key) for key in self.keys[~stays].tolist())
        self.keys, self.y, self.share = self.keys[stays], self.y[stays], self.share[stays]
        return inside, x, w

    def enter(
        self, inside: Ints, x: Floats, w: Floats, scores: Floats, level: float, count: int
    ) -> tuple[Ints, Floats, Floats, int]:
        """Return the working set with the candidates that would help most; ``level`` is the value of weight there."""
        worth = scores.copy()
        worth[inside] = -np.inf
        new = np.flatnonzero(worth > level * (1.0 + _ENTERS * self.gap))
        if len(new) > count:
            new = new[np.argsort(-worth[new], kind="stable")[:count]]
        if not len(new):
            return inside, x, w, 0
        small = np.full(len(new), 1e-3 / len(w))
        w = np.concatenate([w, small])
        inside = np.concatenate([inside, new])
        return inside, np.concatenate([x, self.table.rows(new)]), w / w.sum(), len(new)
