"""As few compounds as a design's gap allows, or a given number of them.

Weights move off compounds that others can stand in for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack, qr, solve_triangular

from ..arrays import Floats, Ints
from ..models.ols import positive_inverse
from ..text import percent
from .allowed import box_projection, nearest
from .g_search import Search, State
from .log_det import diagonal_of, maximise_log_det, whitened
from .table import moments

_RIDGE = 1e-9
"""Share of the largest diagonal entry added to the Hessian, so that rows that can replace each other cost nothing."""
_BLOCKS = 24
"""Blocks in which rows go when many do: the model is brought up to date after each."""
_DEPENDENT = 1e-10
"""Pivots of the moments below this share of the largest count as zero."""
_SQUARED = 1e-11
"""The same for the products of the moments with each other."""
_PIVOTING = 2e9
"""Rows times the square of the number of their moments up to which dependences are exact to rounding."""
_LEAST_SHARE = 1e-4
"""Weights that surgery leaves at or below 0 restart at this share of an even weight."""
_MODELLED = 1800
"""The most compounds among which a second-order model, cubic in their number, finds the least needed."""
_LIGHTEST = 1000
"""Compounds from which on the lightest go first, as long as that helps: it costs next to nothing."""
_REMOVED_AT_ONCE = 0.15
"""The share of the support that is removed at once; halved at each failure."""
_THINNING_WORK = 1e10
"""The sum over attempts to remove compounds of the cube of the compounds there: about a second."""
_COARSE = 150
"""Fewer compounds than this part of a support are not worth removing."""
_COARSE_MANY = 100
"""The same while the support is too large for the model."""
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


@dataclass(frozen=True, slots=True)
class Elimination:
    """An order in which rows can go, least needed first, with what a second-order model makes of the rest."""

    gone: Ints
    """Positions in the order of going."""
    weights: list[tuple[int, Floats]]
    """How many have gone, and the weights of all rows then (of those that stay: may be slightly below 0)."""


def elimination(x: Floats, weights: Floats, remove: int) -> Elimination:
    """Return the ``remove`` rows of ``x`` needed least, in order; raises LinAlgError when V is singular.

    They are picked one by one or in small blocks, by the loss of log det in its second-order model, with all other
    weights adjusted and their sum fixed: w_i^2 / (2 [H^-1]_ii), H = (x_i' V^-1 x_j)^2 (the saliency of Hassibi and
    Stork's Optimal Brain Surgeon).
    """
    m = len(x)
    y, _ = whitened(x, weights)
    hessian = y @ y.T
    hessian *= hessian
    diagonal = diagonal_of(hessian)
    diagonal += _RIDGE * float(diagonal.max())
    inverse = positive_inverse(hessian)
    total = inverse.sum(axis=1)
    inverse -= (total / total.sum())[:, None] * total
    w = weights.copy()
    alive = np.ones(m, dtype=bool)
    order: list[Ints] = []
    at: list[tuple[int, Floats]] = []
    block = max(1, remove // _BLOCKS)
    for begun in range(0, remove, block):
        loss = w**2 / np.maximum(np.diagonal(inverse), 1e-300)
        loss = np.where(alive, loss, np.inf)
        size = min(block, remove - begun)
        gone = np.argpartition(loss, size - 1)[:size] if size > 1 else np.array([np.argmin(loss)])
        alive[gone] = False
        columns = inverse[:, gone]
        if size == 1:
            shift = columns.T / max((1.0 + 1e-12) * float(columns[gone[0], 0]), 1e-300)
        else:
            pivots = columns[gone]
            pivots[np.diag_indices(size)] += max(1e-12 * float(np.abs(np.diagonal(pivots)).max()), 1e-300)
            shift = np.linalg.solve(pivots, columns.T)
        w = w - w[gone] @ shift
        inverse -= columns @ shift
        order.append(gone)
        at.append((begun + size, w))
    return Elimination(np.concatenate(order), at)


def without_least_needed(
    x: Floats,
    plan: Elimination,
    remove: int,
    *,
    upper: float | Floats,
    tolerance: float,
) -> tuple[Ints, Floats]:
    """Return the kept positions in ``x`` and their D-optimal weights without the first ``remove`` rows of the plan.

    Raises LinAlgError when the rest does not span, ValueError when it cannot hold all the weight under the bounds.
    """
    m = len(x)
    bounds = np.full(m, upper)
    alive = np.ones(m, dtype=bool)
    alive[plan.gone[:remove]] = False
    kept = np.flatnonzero(alive)
    if bounds[kept].sum() < 1.0:
        raise ValueError("too few rows for the upper bound")
    w = next((weights for count, weights in plan.weights if count >= remove), plan.weights[-1][1])
    start = np.maximum(w[kept], _LEAST_SHARE / m)
    start = box_projection(start, bounds[kept], 1.0) if bounds.min() < 1.0 else start / start.sum()
    best, _ = maximise_log_det(x[kept], start, upper=bounds[kept], tolerance=tolerance)
    return kept[best > 0], best[best > 0]


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


def same_information_on_fewer(x: Floats, weights: Floats, *, upper: float | Floats) -> Floats:
    """Return weights on at most d (d + 1) / 2 rows whose information is no smaller (Caratheodory); others become 0.

    Fewer still where the products x x' span less, as those of a site table do. Moves along null directions of
    w -> V(w), so V stays as it is until the sum of the weights has fallen, which is then given back to all. With an
    upper bound the sum stays as it is, and rows at the bound do not count.
    """
    w = weights.copy()
    bounds = np.broadcast_to(np.asarray(upper, dtype=float), w.shape)
    keep_sum = bool(bounds.min() < 1.0)
    movable = np.flatnonzero((w > 0) & (w < bounds))
    null = _dependences(x[movable], keep_sum)
    v, top = w[movable], np.where(bounds >= 1.0, np.inf, bounds)[movable]
    while null.shape[1]:
        direction = null[:, 0]
        if direction.sum() > 0 and not keep_sum:
            direction = -direction
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(direction < 0, -v / direction, (top - v) / direction)
        room = np.where(direction == 0, np.inf, room)
        hit = int(np.argmin(room))
        v = np.clip(v + room[hit] * direction, 0.0, top)
        v[hit] = 0.0 if direction[hit] < 0 else top[hit]
        # The other null directions must leave what was hit where it is.
        with_entry = int(np.argmax(np.abs(null[hit])))
        column = null[:, with_entry] / null[hit, with_entry]
        null = np.delete(null - np.outer(column, null[hit]), with_entry, axis=1)
        null[hit] = 0.0
    w[movable] = v
    return w if keep_sum else w / w.sum()


def thin(search: Search, state: State, max_support: int | None) -> State:
    """Return the state on fewer candidates, its gap still the requested one; on ``max_support`` at any gap."""
    if len(state.w) > _LIGHTEST:
        state = _without_lightest(search, state)
    state = _independent(search, state)
    full = state
    remove = max(1, int((len(state.w) - search.least) * _REMOVED_AT_ONCE))
    work = 0.0
    while remove and state.gap <= search.gap and work < _THINNING_WORK and len(state.w) <= _MODELLED:
        search.progress(0.9, f"as few compounds as possible, {len(state.w):,} now")
        work += float(len(state.w)) ** 3
        fewer = _thinner(search, state, min(remove, len(state.w) - search.least))
        if fewer is None:
            break
        remove, state = len(state.w) - len(fewer.w), fewer
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


def _without_lightest(search: Search, state: State) -> State:
    """Return the state on fewer candidates: those of least weight go, a few come back where the gap requires it."""
    share = _REMOVED_AT_ONCE
    while state.gap <= search.gap and len(state.w) > _LIGHTEST:
        remove = min(int(share * len(state.w)), len(state.w) - search.least)
        if remove <= len(state.w) // _COARSE_MANY:
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
    if float(np.full(len(support), search.room).sum()) < 1.0:
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


def _thinner(search: Search, state: State, remove: int) -> State | None:
    """Return the state on up to ``remove`` fewer candidates, its gap still the requested one.

    None when no fewer do.
    """
    plan = _planned(state, remove)
    # On large supports the last few compounds are not worth the work of finding them.
    while plan is not None and remove > len(state.w) // _COARSE:
        fewer = _removed(search, state, plan, remove, max(0.1 * search.gap, _TIGHTEST), search.gap)
        if fewer is not None and fewer.gap <= search.gap:
            return fewer
        remove //= 2
    return None


def _planned(state: State, remove: int) -> Elimination | None:
    """Return which candidates could go; None when none can."""
    if remove < 1:
        return None
    try:
        if len(state.w) > _MODELLED:
            # Too many for the model: the lightest go.
            order = np.argsort(state.w, kind="stable")[:remove].astype(np.intp)
            return Elimination(order, [(remove, state.w)])
        return elimination(state.x, state.w, remove)
    except np.linalg.LinAlgError:
        return None


def _removed(
    search: Search, state: State, plan: Elimination, remove: int, tolerance: float, within: float | None = None
) -> State | None:
    """Return the state without its least needed candidates; None when the rest cannot be a design."""
    try:
        kept, w = without_least_needed(state.x, plan, remove, upper=search.room, tolerance=tolerance)
        return search.look(state.support[kept], state.x[kept], w, within)
    except (np.linalg.LinAlgError, ValueError):
        return None


def _down_to(search: Search, state: State, size: int) -> State:
    """Return the state on at most ``size`` candidates."""
    step = max(1, int((len(state.w) - search.least) * _REMOVED_AT_ONCE))
    while len(state.w) > size:
        remove = min(step, len(state.w) - size)
        plan = _planned(state, remove)
        fewer = None
        while plan is not None and remove and fewer is None:
            fewer = _removed(search, state, plan, remove, _EXCHANGE_TOLERANCE)
            if fewer is None:
                remove //= 2
        if fewer is None:
            # The least needed one is needed for the rank; the spanning ones always do.
            support = _spanning_within(state, size)
            w = nearest(np.full(len(support), 1.0 / len(support)), search.room)
            return search.look(state.support[support], state.x[support], w)
        step, state = min(step, max(remove, 1)), fewer
    return state


def _spanning_within(state: State, size: int) -> Ints:
    """Return rows of the state's support that span, ``size`` of them, by pivoting."""
    order = qr((state.x * np.sqrt(state.w)[:, None]).T, mode="economic", pivoting=True)[2]
    return np.sort(order[:size]).astype(np.intp)
