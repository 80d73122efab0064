"""XY designs on fewer compounds: what has next to no weight goes, then what is needed least."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Ints
from ..errors import AssayPilotError
from .allowed import nearest
from .g import g_optimal
from .smooth import same_information
from .thinning import same_information_on_fewer
from .xy_search import XYSearch, XYState

_SMALL_SHARES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
"""Parts of an even weight below which all weights are tried to be dropped at once."""
_REMOVED_AT_ONCE = 0.15
"""The share of the surplus that goes at once; halved where that cannot be done."""
_LOCAL = 1e-3
"""The gap to which weights are solved on given compounds while they are exchanged."""
_LOCAL_ROUNDS = 8
_FEW = 400
"""Of no more candidates than this, those that others can do without are always looked for."""
_SOLVED = 1000
"""Candidates on which weights are solved for once more."""
_THINNED = 0.85
"""The share of many candidates that stays at a time."""
_LOOKS = 60
"""Passes in which they come to represent what all did."""
_TRIED = 4
"""Candidates, in multiples of the rank, that are tried to be left out where the one of least weight cannot be."""
_NEAR_RANK = 8
"""Up to this multiple of the rank a G design on few compounds is tried as a start, too."""


def tidied(search: XYSearch, state: XYState) -> XYState:
    """Return the state without negligible weights, and on at most d (d + 1) / 2 candidates, still within the gap."""
    exact = state.value if state.exact else search.worth(state.support, state.w)
    most = max(search.lower * (1.0 + search.gap), exact)
    state = XYState(state.support, state.w, exact, exact=True)
    if _FEW < len(state.w) <= search.table.d * (search.table.d + 1) // 2:
        # Looks at all directions, or eliminations in a space of thousands, would take longer than all before.
        return state
    for small in _SMALL_SHARES:
        kept = state.w > small / len(state.w)
        if kept.all():
            continue
        fewer = _evaluated(search, state.support[kept], state.w[kept])
        if fewer is not None and fewer.value <= most:
            state = fewer
            break
    x = search.table.rows(state.support)
    w = same_information_on_fewer(x, state.w, upper=search.room)
    if (w > 0).sum() < len(w):
        fewer = _evaluated(search, state.support[w > 0], w[w > 0])
        if fewer is not None and fewer.value <= most:
            return fewer
    return state


def _evaluated(search: XYSearch, support: Ints, w: Floats) -> XYState | None:
    """Return a state of these weights, made allowed; None when they cannot be."""
    if not search.holds(len(support)):
        return None
    w = nearest(w, search.room)
    used = w > 0
    return XYState(support[used], w[used], search.worth(support[used], w[used]))


def on_at_most(search: XYSearch, state: XYState, size: int) -> XYState:
    """Return the best state found on at most ``size`` candidates."""
    if len(state.w) > max(size, _FEW) and search.room >= 1.0:
        state = _thinned(search, state, max(size, _FEW))
        if len(state.w) <= size:
            solved = _solved_on(search, state.support, state.w) if size <= _SOLVED else None
            return state if solved is None else min(state, solved, key=lambda one: one.value)
    best = _down_to(search, state, size)
    if len(best.support) > size:
        raise AssayPilotError(
            f"{size:,} compounds are too few to estimate every comparison",
            mend=f"{len(best.support):,} are enough.",
        )
    other = _of_g(search, size)
    return best if other is None else min(best, other, key=lambda one: one.value)


def _thinned(search: XYSearch, state: XYState, size: int) -> XYState:
    """Return about the same information on ``size`` candidates of many: those of least weight are replaced."""
    table = search.table
    x, w, support = table.rows(state.support), state.w, state.support
    half = search.half_inverse(x, w)
    while len(w) > size:
        search.progress(0.9, f"leaving compounds out, {len(w):,} in use")
        kept = np.sort(np.argsort(-w, kind="stable")[: max(size, int(_THINNED * len(w)))])
        support, x = support[kept], x[kept]
        w = same_information(x, w[kept] / w[kept].sum(), half @ half.T, None, _LOCAL, _LOOKS)
    return XYState(support, w, search.worth(support, w), exact=True)


def _of_g(search: XYSearch, size: int) -> XYState | None:
    """Return the best weights on the compounds of a G design on so few, the better start near the rank.

    None with limits.
    """
    table = search.table
    if search.room < 1.0 or not table.d <= size < _NEAR_RANK * table.d:
        return None
    design = g_optimal(table.candidates, gap=_LOCAL, max_support=size)
    return _solved_on(search, design.support, design.weights)


def _solved_on(search: XYSearch, support: Ints, w: Floats) -> XYState | None:
    """Return the best weights on these candidates alone, over all directions; None when they cannot be a design."""
    if not search.holds(len(support)):
        return None
    x = search.table.rows(support)
    if not search.y:
        # The state came from a search that needed no list of directions.
        half = search.half_inverse(x, w)
        search.take(*search.find(half, 0.0), above=-1.0)
    found: XYState | None = None
    for _ in range(_LOCAL_ROUNDS):
        try:
            w, _ = search.solve(x, w, _LOCAL)
        except np.linalg.LinAlgError:
            return found
        half = search.half_inverse(x, w)
        worst = float(search.local_worth(half).max())
        keys, values = search.find(half, worst * (1.0 + _LOCAL))
        state = XYState(support, w, float(values[0]))
        if found is None or state.value < found.value:
            found = state
        if values[0] <= worst * (1.0 + _LOCAL) or not search.take(keys, values, worst):
            break
    if found is None:
        return None
    # What was seen while solving may be helped by the anchor, or not be estimable at all.
    value = search.worth(found.support, found.w)
    return XYState(found.support, found.w, value, exact=True) if value < np.inf else None


def _down_to(search: XYSearch, state: XYState, size: int) -> XYState:
    """Return the state on at most ``size`` candidates: those of least weight go, a few at a time."""
    step = 0
    while len(state.w) > size:
        step = min(step or max(1, int(_REMOVED_AT_ONCE * len(state.w))), len(state.w) - size)
        order = np.argsort(-state.w, kind="stable")
        kept = np.sort(order[: len(state.w) - step])
        fewer = _solved_on(search, state.support[kept], state.w[kept] / state.w[kept].sum())
        if fewer is not None:
            state = fewer
            step = 0
        elif step > 1:
            step //= 2
        else:
            without = _without_another(search, state, order[::-1][1:])
            if without is None:
                break
            state, step = without, 0
    return state


def _without_another(search: XYSearch, state: XYState, order: Ints) -> XYState | None:
    """Return the state without the first candidate in the order that comparisons can do without."""
    for place in order[: _TRIED * search.table.d]:
        support, w = np.delete(state.support, place), np.delete(state.w, place)
        if len(support) and search.worth(support, np.full(len(support), 1.0 / len(support))) < np.inf:
            fewer = _solved_on(search, support, w / w.sum())
            if fewer is not None:
                return fewer
    return None
