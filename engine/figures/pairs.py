"""What is known of every pair of substituents at two sites: sums over compounds, never a loop over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints

MOST = 120
"""Substituents of one site that a map shows; of more the best are shown."""


@dataclass(frozen=True, slots=True, eq=False)
class PairMap:
    """One cell for each pair; rows and columns in the order they are shown."""

    rows: Ints
    """``(r,)``, codes of the substituents of the site that goes down."""
    columns: Ints
    """``(c,)``, codes of the site that goes across."""
    mean: Floats
    """``(r, c)``, the mean estimate of the pair's compounds; NaN where none can be estimated."""
    compounds: Ints
    """``(r, c)``, how many compounds carry the pair; 0 is a gap."""
    measured: Ints
    """``(r, c)``, how many of them were measured, those known only as bounds included."""
    best: Ints
    """``(r, c)``, the compound with the best estimate, without one the first; -1 in a gap."""
    left_out: tuple[int, int]
    """Substituents of either site that carry a compound and are not shown."""
    bounded: Ints
    """``(r, c)``, how many of those measured are known only as bounds."""

    @property
    def gaps(self) -> int:
        """Pairs that no compound carries."""
        return int((self.compounds == 0).sum())

    def cell_of(self, down: int, across: int) -> tuple[int, int] | None:
        """Row and column of a pair of codes; None when it is not shown."""
        row, column = np.flatnonzero(self.rows == down), np.flatnonzero(self.columns == across)
        return (int(row[0]), int(column[0])) if row.size and column.size else None


def pair_map(
    codes: NDArray[np.integer],
    sizes: tuple[int, ...],
    sites: tuple[int, int],
    estimate: Floats,
    measured: NDArray[np.integer],
    *,
    sign: float = 1.0,
    fixed: Mapping[int, int] | None = None,
    by_effect: bool = True,
    bounded: NDArray[np.integer] | None = None,
) -> PairMap:
    """The map of two sites (down, across) of a library: ``codes`` ``(n, n_sites)`` of ``sizes`` substituents.

    ``estimate`` ``(n,)`` with NaN where unknown, ``measured`` ``(n,)`` determinations. Only compounds that carry what
    ``fixed`` says (code by site) are counted; over all other sites is averaged. ``sign`` -1 when smaller is better.
    ``by_effect``: the best substituents first, what is not known last; else in the library's order. Substituents that
    no counted compound carries are left out, and so is what goes beyond ``MOST``. ``bounded`` ``(n,)``: determinations
    of which only a bound is known.
    """
    down, across = sites
    if down == across:
        raise ValueError("a map needs two different sites")
    shape = (sizes[down], sizes[across])
    cells = codes[:, down].astype(np.intp) * shape[1] + codes[:, across]
    here: Flags | None = None
    for site, code in (fixed or {}).items():
        if site not in sites:
            same = codes[:, site] == code
            here = same if here is None else here & same
    places = np.arange(len(cells)) if here is None else np.flatnonzero(here)
    cells, values = cells[places], estimate[places]
    n = shape[0] * shape[1]
    compounds = np.bincount(cells, minlength=n)
    only = np.zeros(len(places), dtype=bool) if bounded is None else (bounded[places] > 0) & (measured[places] == 0)
    seen = np.bincount(cells[(measured[places] > 0) | only], minlength=n)
    bound = np.bincount(cells[only], minlength=n)
    known = np.isfinite(values)
    with_value = np.bincount(cells[known], minlength=n)
    total = np.bincount(cells[known], values[known], n)
    mean = np.full(n, np.nan)
    np.divide(total, with_value, out=mean, where=with_value > 0)
    best = _best(cells, places, np.where(known, sign * values, -np.inf), n)
    table = mean.reshape(shape)
    number, counted, first, cut = (part.reshape(shape) for part in (compounds, seen, best, bound))
    rows, columns = np.flatnonzero(number.any(axis=1)), np.flatnonzero(number.any(axis=0))
    if by_effect:
        effects = _effects(sign * table[np.ix_(rows, columns)])
        rows, columns = (
            part[np.argsort(-effect, kind="stable")] for part, effect in zip((rows, columns), effects, strict=True)
        )
    left_out = (max(len(rows) - MOST, 0), max(len(columns) - MOST, 0))
    rows, columns = rows[:MOST], columns[:MOST]
    chosen = np.ix_(rows, columns)
    return PairMap(rows, columns, table[chosen], number[chosen], counted[chosen], first[chosen], left_out, cut[chosen])


def _best(cells: Ints, places: Ints, values: Floats, n: int) -> Ints:
    """Of each cell the place of the largest value, the first of equal ones; -1 for empty cells."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, cells, values)
    first = np.full(n, -1, dtype=np.intp)
    is_top = np.flatnonzero(values == top[cells])[::-1]
    first[cells[is_top]] = places[is_top]  # backwards, so that the first one stays
    return first


def _effects(mean: Floats) -> tuple[Floats, Floats]:
    """What each row, and each column, has over the average of the cells it is in; -inf where nothing is known.

    Cells are compared within their column (row), so that a row is not called good because its columns are.
    """
    known = np.isfinite(mean)
    filled = np.where(known, mean, 0.0)

    def over(axis: int) -> Floats:
        number = known.sum(axis=1 - axis, keepdims=True)
        middle = filled.sum(axis=1 - axis, keepdims=True) / np.maximum(number, 1)
        own = known.sum(axis=axis)
        lead = np.where(known, filled - middle, 0.0).sum(axis=axis)
        found: Floats = np.where(own > 0, lead / np.maximum(own, 1), -np.inf)
        return found

    return over(1), over(0)
