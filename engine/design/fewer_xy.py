"""XY designs on fewer compounds: what has next to no weight goes, then what has least."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Ints
from ..errors import AssayPilotError
from .allowed import nearest
from .g import g_optimal
from .thinning import same_information_on_fewer
from .xy_search import XYSearch, XYState

_SMALL_SHARES = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
"""Parts of an even weight below which all weights are tried to be dropped at once."""
_LOCAL = 1e-3
"""The gap to which weights are solved on given compounds while they are exchanged."""
_LOCAL_ROUNDS = 8
_FEW = 400
"""Of no more candidates than this, those that others can do without are always looked for."""
_SOLVED = 1000
"""Candidates on which weights are solved for once more."""
_KEPT = 0.7
"""The share of the candidates that stays at a time."""


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
    """Return the best state found on at most ``size`` candidates: those of a G design, or of the most weight."""
    if len(state.w) <= size:
        return state
    solved = _solved_on if size <= _SOLVED else _evaluated
    found: list[XYState | None] = []
    if size >= search.table.d:
        design = g_optimal(search.table.candidates, gap=_LOCAL, max_support=size)
        found.append(solved(search, design.support, design.weights))
    fewer: XYState | None = state
    while fewer is not None and len(fewer.w) > size:
        search.progress(0.9, f"leaving compounds out, {len(fewer.w):,} in use")
        most = max(size, min(int(_KEPT * len(fewer.w)), _FEW))
        kept = np.sort(np.argsort(-fewer.w, kind="stable")[:most])
        fewer = solved(search, fewer.support[kept], fewer.w[kept] / fewer.w[kept].sum())
    possible = [one for one in (*found, fewer) if one is not None]
    if not possible:
        raise AssayPilotError(
            f"{size:,} compounds are too few to estimate every comparison",
            mend=f"{search.table.d:,} are enough.",
        )
    return min(possible, key=lambda one: one.value)


def _solved_on(search: XYSearch, support: Ints, w: Floats) -> XYState | None:
    """Return the best weights on these candidates alone, over all directions; None when they cannot be a design."""
    if not search.holds(len(support)):
        return None
    x = search.table.rows(support)
    if not len(search.y):
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
