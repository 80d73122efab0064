"""XY-optimal designs: the least worst variance over any finite set of directions, with a proven lower bound."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.linalg import LinAlgError

from ..arrays import Floats
from ..domain.features import ProjectedFeatures, SiteFeatures
from ..errors import AssayPilotError
from ..models.ols import positive_inverse
from ..system.progress import Report, silent
from .allowed import fewest, room_for
from .closed_forms import even_design
from .criteria import Design, Weighted
from .directions import Directions
from .fewer_xy import on_at_most, tidied
from .g import g_optimal
from .pairs import Pairs
from .soft_xy import settled
from .table import Table
from .xy_search import XYSearch, XYState

_TIGHT = 0.1
"""The part of the gap to which a full product's information is found where its best value is known."""


def xy_optimal(
    candidates: ProjectedFeatures,
    directions: Directions,
    *,
    gap: float = 1e-3,
    upper: float | None = None,
    warm: Weighted | None = None,
    max_support: int | None = None,
    report: Report = silent,
) -> Design:
    """Return a design that minimises the largest y'V(w)^-1 y over the directions y, to a relative gap.

    V(w) is the sum of w x x' over the candidates. ``value`` is that largest variance, over all directions, and
    ``lower_bound`` a proven bound on it for every allowed design (``dual_bound``); ``converged`` says that
    value / lower_bound - 1, which is ``gap`` of the design, is at most the requested one.

    ``directions``: in the coordinates of the candidates, e.g. ``Pairs(candidates)`` for all differences.
    ``upper``: the largest share of any candidate.
    ``warm``: a design to start from. ``max_support``: the most candidates with weight; the best found on so many is
    returned, converged or not.

    The support has at most d (d + 1) / 2 candidates beyond those at their bound. It may leave inestimable
    effects that no direction involves: V is then singular and the variances are those of its generalised inverse.
    Deterministic. Raises AssayPilotError for bounds that cannot be met, directions that no allowed candidates
    estimate, and nothing to compare.
    """
    begun = time.perf_counter()
    if not (math.isfinite(gap) and gap > 0):
        raise ValueError(f"gap must be above 0, got {gap}")
    if directions.dimension != candidates.rank:
        raise ValueError(f"the directions have {directions.dimension} coordinates, the candidates {candidates.rank}")
    if candidates.n_rows == 0 or candidates.rank == 0:
        raise AssayPilotError("there is nothing to measure", mend="Allow at least one compound with known parts.")
    room = room_for(candidates.n_rows, upper)
    if isinstance(directions, Pairs) and _of_all(directions, candidates):
        even = even_design(candidates, room, max_support, gap, pairs=True)
        if even is not None:
            report(1.0, "design ready")
            seconds = time.perf_counter() - begun
            return Design("xy", even.support, even.weights, even.value, even.lower, True, 1, seconds, even.gap)
    _refuse_nothing(directions)
    try:
        table = Table(candidates)
    except ValueError:
        raise _unlike() from None
    scale = _largest(directions, table.outside(np.eye(table.d)))
    free = max_support is None and upper is None
    if free:
        known = full_product_value(candidates, directions)
        if known is not None:
            found = _of_product(candidates, directions, known, gap, report)
            if found is not None:
                return replace(found, seconds=time.perf_counter() - begun)
    search = XYSearch(table, directions, room, gap, report, scale)
    if max_support is not None and max_support < fewest(room):
        raise AssayPilotError(
            f"{max_support:,} compounds are too few for the shares allowed",
            mend=f"Allow at least {fewest(room):,} compounds.",
        )
    state = _only_allowed(search) or _found(search, warm, max_support)
    report(1.0, "design ready")
    return _finished(search, state, gap, time.perf_counter() - begun)


def _of_all(pairs: Pairs, candidates: ProjectedFeatures) -> bool:
    """Return whether the pairs are those of the candidates themselves."""
    table = pairs.table
    return table is candidates or (
        table.features is candidates.features and np.array_equal(table.rows, candidates.rows)
    )


def _refuse_nothing(directions: Directions) -> None:
    """Raise AssayPilotError when there is nothing to compare, or with features that are no numbers."""
    longest = _largest(directions, np.eye(directions.dimension))
    if not math.isfinite(longest):
        raise AssayPilotError("the compounds to compare have features that are missing or infinite")
    if longest <= 0.0:
        raise AssayPilotError(
            "there is nothing to distinguish: all compounds to compare are equal",
            mend="Name at least two compounds that differ.",
        )


def _largest(directions: Directions, metric: Floats) -> float:
    """Return about the largest length of a direction; 0 only when all are 0."""
    quick = float(directions.some(metric)[1][0])
    return float(directions.find(metric)[1][0]) if quick == 0.0 else quick


def _found(search: XYSearch, warm: Weighted | None, max_support: int | None) -> XYState:
    """Return the best design found, on few candidates.

    Raises AssayPilotError where its numbers cannot be computed with.
    """
    try:
        state = tidied(search, settled(search, warm))
        return state if max_support is None else on_at_most(search, state, max_support)
    except LinAlgError:
        raise _unlike() from None


def _unlike() -> AssayPilotError:
    return AssayPilotError(
        "the features are too unlike in size to find a design by",
        mend="Scale them alike, for example to a standard deviation of 1.",
    )


def _only_allowed(search: XYSearch) -> XYState | None:
    """Return the only allowed design where bounds leave no choice; its value is then the bound."""
    n = search.table.candidates.n_rows
    if n * search.room > 1.0 + 1e-9:
        return None
    support, w = np.arange(n), np.full(n, 1.0 / n)
    state = XYState(support, w, search.worth(support, w))
    search.lower = state.value
    return state


def _finished(search: XYSearch, state: XYState, gap: float, seconds: float) -> Design:
    if not math.isfinite(state.value):
        raise AssayPilotError(
            "the shares allowed leave comparisons that cannot be estimated",
            mend="Allow more, or leave those comparisons out.",
        )
    reached = max(state.value / search.lower - 1.0, 0.0) if search.lower > 0.0 else math.inf
    order = np.argsort(state.support, kind="stable")
    return Design(
        criterion="xy",
        support=state.support[order],
        weights=state.w[order] / state.w.sum(),
        value=state.value,
        lower_bound=min(search.lower, state.value),
        converged=bool(reached <= gap),
        iterations=search.looks,
        seconds=seconds,
        gap=reached,
    )


def full_product_value(candidates: ProjectedFeatures, directions: Directions) -> float | None:
    """Return the least worst variance over all pairs of a full product of sites, sum of 2 l_n; None for anything else.

    Sites of l_n > 1 substituents count. Even weights are optimal by symmetry: exchanging the substituents of a site
    maps the problem onto itself, so the average of an optimal design over all exchanges, which is even, is no worse.
    There a pair that differs at a set of sites has the variance sum of 2 l_n over these.
    """
    if not isinstance(directions, Pairs):
        return None
    shapes = []
    for table in (candidates, directions.table):
        features = table.features
        if not isinstance(features, SiteFeatures):
            return None
        codes = features.codes[table.rows]
        levels = [np.unique(column) for column in codes.T]
        size = math.prod(len(level) for level in levels)
        if size != len(codes) or len(np.unique(codes, axis=0)) != size:
            return None
        shapes.append([level.tolist() for level in levels])
    if shapes[0] != shapes[1]:
        return None
    return float(sum(2 * len(level) for level in shapes[0] if len(level) > 1))


def _of_product(
    candidates: ProjectedFeatures, directions: Directions, known: float, gap: float, report: Report
) -> Design | None:
    """Return a design with a full product's even information, on few compounds.

    None when it is not found closely enough.
    """
    design = g_optimal(candidates, gap=_TIGHT * gap, report=report)
    x = candidates.coordinates(design.support)
    try:
        inverse = positive_inverse((x * design.weights[:, None]).T @ x)
    except LinAlgError:
        return None
    value = float(directions.find(inverse)[1][0])
    reached = max(value / known - 1.0, 0.0)
    if reached > gap:
        return None
    return replace(design, criterion="xy", value=max(value, known), lower_bound=known, converged=True, gap=reached)
