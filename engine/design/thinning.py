"""As few compounds as a design's gap allows, or a given number of them.

Weights move off compounds that others can stand in for.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from ..arrays import Floats, Ints
from ..text import percent
from .allowed import nearest
from .g_search import Search, State
from .table import moments

_DEPENDENT = 1e-10
"""Pivots of the moments below this share of the largest count as zero."""
_SQUARED = 1e-11
"""The same for the products of the moments with each other."""
_PIVOTING = 2e9
"""Rows times the square of the number of their moments up to which dependences are exact to rounding."""
_MANY = 1000
"""Compounds from which on the lightest go before dependent ones are looked for."""
_REMOVED_AT_ONCE = 0.15
"""The share of the support that is removed at once; halved at each failure."""
_DROPPED_AT_ONCE = 0.05
"""The same where a number of compounds is given, which costs some of the gap."""
_COARSE = 100
"""Fewer compounds than this part of a support are not worth removing."""
_REPAIRS = 4
"""Times that compounds may come back after others went."""
_BACK = 0.9
"""Those that come back are at most this share of those that went."""
_INSIDE = 0.7
"""Compounds come back above this share of the gap, so that the next look finds it kept."""
_MOST_DEPENDENT = 6000
"""The most compounds among which dependent ones are looked for; the work is cubic in their number."""
_DEPENDENT_WORK = 5e9
"""Compounds times the square of how many too many they are, likewise."""
_EXCHANGES = 20
_EXCHANGE_TOLERANCE = 1e-4
"""The gap on the support alone to which weights are solved while compounds are exchanged."""
_TIGHTEST = 1e-12
"""The inner solver gets no smaller tolerance: leverages carry rounding of that size."""


def _dependences(x: Floats, keep_sum: bool) -> Floats:
    """Return directions ``(m, k)`` of weights that keep the sum of w x x', and their own sum when ``keep_sum``."""
    m, d = x.shape
    if m * (d * (d + 1) / 2) ** 2 <= _PIVOTING:
        first, second = np.triu_indices(d)
        products = x[:, first] * x[:, second]
        if keep_sum:
            products = np.column_stack([products, np.ones(m)])
        orthogonal, triangle, _ = qr(products, pivoting=True, check_finite=False)
        pivots = np.abs(np.diagonal(triangle))
        rank = int((pivots > _DEPENDENT * pivots[0]).sum()) if len(pivots) else 0
        return np.array(orthogonal[:, rank:], dtype=np.float64)
    # Many rows: from their products with each other, faster but half as exact.
    gram = x @ x.T
    gram *= gram
    if keep_sum:
        gram += 1.0
    factor, order, rank, _ = lapack.dpstrf(gram, tol=_SQUARED * float(np.diagonal(gram).max()), lower=1, overwrite_a=1)
    null = np.zeros((m, m - rank))
    null[order[:rank] - 1] = -solve_triangular(
        factor[:rank, :rank], factor[rank:, :rank].T, lower=True, trans=1, check_finite=False
    )
    null[order[rank:] - 1] = np.eye(m - rank)
    return null


def same_information_on_fewer(x: Floats, weights: Floats, *, upper: float) -> Floats:
    """Return weights on at most d (d + 1) / 2 rows whose information is no smaller (Caratheodory); others become 0.

    Fewer still where the products x x' span less, as those of a site table do. Moves along null directions of
    w -> V(w), so V stays as it is until the sum of the weights has fallen, which is then given back to all. With an
    upper bound the sum stays as it is, and rows at the bound do not count.
    """
    w = weights.copy()
    keep_sum = upper < 1.0
    movable = np.flatnonzero((w > 0) & (w < upper))
    null = _dependences(x[movable], keep_sum)
    v, top = w[movable], upper if keep_sum else np.inf
    while null.shape[1]:
        direction = null[:, 0]
        if direction.sum() > 0 and not keep_sum:
            direction = -direction
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0, -v / direction, (top - v) / direction)
        room = np.where(direction == 0, np.inf, room)
        hit = int(np.argmin(room))
        v = np.clip(v + room[hit] * direction, 0.0, top)
        v[hit] = 0.0 if direction[hit] < 0 else top
        # The other null directions must leave what was hit where it is.
        with_entry = int(np.argmax(np.abs(null[hit])))
        column = null[:, with_entry] / null[hit, with_entry]
        null = np.delete(null - np.outer(column, null[hit]), with_entry, axis=1)
        null[hit] = 0.0
    w[movable] = v
    return w if keep_sum else w / w.sum()


def thin(search: Search, state: State, max_support: int | None) -> State:
    """Return the state on fewer candidates, its gap still the requested one; on ``max_support`` at any gap."""
    if len(state.w) > _MANY:
        state = _thinned(search, state)
    full = _independent(search, state)
    state = _thinned(search, full)
    if max_support is None or len(state.w) <= max_support:
        return state
    return _on_few(search, full, max_support)


def _on_few(search: Search, full: State, size: int) -> State:
    """Return the state on at most ``size`` candidates, exchanged for others while that helps."""
    best = _down_to(search, full, size)
    batch = search.batch
    for _ in range(_EXCHANGES):
        # Compounds that would help most come in and the least needed go; fewer at once when that gains nothing.
        search.progress(0.95, f"exchanging compounds, {percent(best.gap, 2)} above the best possible")
        support, x, w, _ = search.enter(best, batch)
        w, _ = search.balanced(support, x, w, _EXCHANGE_TOLERANCE)
        state = _down_to(search, search.look(support, x, w), size)
        if state.gap < best.gap:
            best = state
        elif batch == 1:
            break
        else:
            batch //= 2
    return best


def _thinned(search: Search, state: State) -> State:
    """Return the state on fewer candidates: those of least weight go, a few come back where the gap requires it."""
    share = _REMOVED_AT_ONCE
    while state.gap <= search.gap:
        remove = min(int(share * len(state.w)), len(state.w) - search.least)
        if remove <= len(state.w) // _COARSE:
            break
        search.progress(0.9, f"as few compounds as possible, {len(state.w):,} now")
        fewer = _lighter(search, state, remove)
        if fewer is None:
            share /= 2.0
        else:
            state = fewer
    return state


def _independent(search: Search, state: State) -> State:
    """Return the state on candidates whose moments x x' are independent, unless they are very many."""
    count = int(np.count_nonzero(state.w < search.room))
    most = moments(search.table.candidates)
    surplus = len(state.w) - most
    if surplus <= 0 or count > _MOST_DEPENDENT or float(count) * max(count - most, 1) ** 2 > _DEPENDENT_WORK:
        return state
    search.progress(0.9, f"as few compounds as possible, {len(state.w):,} now")
    w = same_information_on_fewer(state.x, state.w, upper=search.room)
    fewer = search.look(state.support, state.x, w)
    if fewer.gap > max(search.gap, state.gap):
        w, _ = search.balanced(fewer.support, fewer.x, fewer.w, max(0.1 * search.gap, _TIGHTEST))
        again = search.look(fewer.support, fewer.x, w)
        fewer = again if again.gap < fewer.gap else fewer
    return fewer if fewer.gap <= max(search.gap, 1.01 * state.gap) else state


def _lighter(search: Search, state: State, remove: int) -> State | None:
    """Return the state without its ``remove`` lightest candidates but some others; None when its gap gets too large."""
    most = len(state.w) - int((1.0 - _BACK) * remove)
    kept = np.sort(np.argsort(-state.w, kind="stable")[: len(state.w) - remove])
    support, x = state.support[kept], state.x[kept]
    if len(support) * search.room < 1.0:
        return None
    w = nearest(state.w[kept] / state.w[kept].sum(), search.room)
    for _ in range(_REPAIRS):
        try:
            w, _ = search.balanced(support, x, w, max(0.3 * search.gap, _TIGHTEST))
            trial = search.look(support, x, w, search.gap)
        except np.linalg.LinAlgError:
            return None
        if trial.gap <= search.gap:
            return trial
        support, x, w, added = search.enter(trial, search.batch, _INSIDE * search.gap)
        if not added or len(support) >= most:
            return None
    return None


def _down_to(search: Search, state: State, size: int) -> State:
    """Return the state on at most ``size`` candidates: those of least weight go, a part at a time."""
    step = max(1, int((len(state.w) - search.least) * _DROPPED_AT_ONCE))
    while len(state.w) > size:
        remove = min(step, len(state.w) - size)
        kept = np.sort(np.argsort(-state.w, kind="stable")[: len(state.w) - remove])
        support, x, w = state.support[kept], state.x[kept], state.w[kept]
        try:
            w, _ = search.balanced(support, x, nearest(w, search.room), _EXCHANGE_TOLERANCE)
            state = search.look(support, x, w)
        except np.linalg.LinAlgError:
            step = remove // 2
            if not step:
                # The lightest is needed for the rank; the spanning ones always do.
                support = _spanning_within(state, size)
                w = nearest(np.full(len(support), 1.0 / len(support)), search.room)
                return search.look(state.support[support], state.x[support], w)
    return state


def _spanning_within(state: State, size: int) -> Ints:
    """Return rows of the state's support that span, ``size`` of them, by pivoting."""
    order = qr((state.x * np.sqrt(state.w)[:, None]).T, mode="economic", pivoting=True)[2]
    return np.sort(order[:size]).astype(np.intp)
