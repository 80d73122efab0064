"""G-optimal designs: the public question, its checks, and what is proven about the answer."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..system.threads import algebra_on_one_thread
from .allowed import Allowed, allowed
from .alone import apart
from .criteria import Design, Weighted, minimax_bound
from .products import Product, orthogonal_start, product_design, recognised
from .search import Search
from .simplex import even_design
from .table import Table, refuse_nothing
from .thinning import thin

__all__ = ["g_optimal"]


_LISTED = 1_000_000
_LISTED_ENTRIES = 30_000_000
"""Rows, and entries of their features, up to which a whole product is listed for the sake of fewer compounds."""


def g_optimal(
    candidates: ProjectedFeatures | Product,
    *,
    targets: ProjectedFeatures | None = None,
    gap: float = 1e-3,
    upper: ArrayLike | None = None,
    required: ArrayLike | None = None,
    base: ArrayLike | None = None,
    warm: Weighted | None = None,
    max_support: int | None = None,
    recognise: bool = True,
    report: Report = silent,
) -> Design:
    """A design on few candidates that is D-optimal, hence G-optimal (Kiefer and Wolfowitz 1960), to a relative gap.

    Without bounds or ``base`` the optimum of g over the candidates is exactly their rank d, and ``value <= d (1 +
    gap)`` when converged. The support has at most d (d + 1) / 2 positions (more only where that is
    thousands), usually far fewer the larger the gap.

    ``candidates``: rows, or a whole ``Product`` of sites that is never written out.
    ``targets``: rows in the same coordinates whose worst variance ``value`` reports; the weights stay D-optimal over
    the candidates, ``gap`` is about that, and ``lower_bound`` says how much better any design could do for the targets.
    ``upper``: the largest share any candidate may get, one number or one per candidate (0 forbids it).
    ``required``: the smallest share of each candidate. ``base``: ``(d, d)`` information already there, in the
    candidates' coordinates, per measurement of this design: V(w) = base + sum w x x'. The weights are then D-optimal
    under all of these; forbidden candidates still count in ``value``.
    ``warm``: positions among these candidates with weights to start from, e.g. the design of the phase before.
    ``max_support``: the most positions to use; the best found on so many is returned, converged or not.
    ``recognise``: whether a whole product of sites may start from its closed form.

    Deterministic; ties go to the earlier position. Raises AssayPilotError for bounds that cannot be met and for
    candidates that cannot be a design, ValueError for candidates of less than full column rank.
    """
    if not (np.isfinite(gap) and gap > 0):
        raise ValueError(f"gap must be above 0, got {gap}")
    with algebra_on_one_thread():
        return _optimal(candidates, targets, gap, upper, required, base, warm, max_support, recognise, report)


def _optimal(
    candidates: ProjectedFeatures | Product,
    targets: ProjectedFeatures | None,
    gap: float,
    upper: ArrayLike | None,
    required: ArrayLike | None,
    base: ArrayLike | None,
    warm: Weighted | None,
    max_support: int | None,
    recognise: bool,
    report: Report,
) -> Design:
    """The design asked of ``g_optimal``."""
    begun = time.perf_counter()
    if isinstance(candidates, Product):
        if any(given is not None for given in (targets, upper, required, base, warm)):
            raise AssayPilotError(
                "a whole product of sites is planned without targets, bounds or compounds already made",
                mend="List the compounds instead.",
            )
        if candidates.n_rows > _LISTED or candidates.n_rows * candidates.rank > _LISTED_ENTRIES:
            return product_design(candidates, gap=gap, max_support=max_support, report=report)
        candidates = candidates.listed()
    refuse_nothing(candidates)
    limits = allowed(candidates, upper, required, base)
    even = None if targets is not None else even_design(candidates, limits, max_support, gap, pairs=False)
    if even is not None:
        report(1.0, "design ready")
        seconds = time.perf_counter() - begun
        return Design("g", even.support, even.weights, even.value, even.lower, True, 1, seconds, even.gap)
    free = all(given is None for given in (targets, upper, required, base, warm, max_support))
    if free and (parts := apart(candidates)) is not None:

        def of_core(core: ProjectedFeatures) -> Design:
            return _optimal(core, None, gap, None, None, None, None, None, recognise, report)

        return replace(parts.design(of_core), seconds=time.perf_counter() - begun)
    table = Table(candidates)
    if limits.free == 0.0:
        return _all_required(table, limits, targets, begun)
    search = Search(table, limits, gap, report)
    most = _most_chosen(search, limits, max_support)
    start = warm
    closed = recognise and limits.base is None and not isinstance(limits.room, np.ndarray)
    if closed and warm is None and (product := recognised(candidates)) is not None:
        start = orthogonal_start(*product)
    state = search.converge(search.start(start))
    state = thin(search, state, most)
    report(1.0, "design ready")
    value, lower = _worth(table, state.inverse / limits.free, targets, limits, state.leverages / limits.free)
    support, weights = limits.whole(state.support, state.w)
    return Design(
        criterion="g",
        support=support,
        weights=weights,
        value=value,
        lower_bound=lower,
        converged=bool(state.gap <= gap),
        iterations=search.looks,
        seconds=time.perf_counter() - begun,
        gap=max(state.gap, 0.0),
    )


def _most_chosen(search: Search, limits: Allowed, max_support: int | None) -> int | None:
    """The most candidates that may get free weight, beside those that are required anyway."""
    if max_support is None:
        return None
    forced = 0 if limits.required is None else int(np.count_nonzero(limits.required))
    chosen = max_support - forced
    if chosen < search.least or limits.most(chosen) < 1.0 - 1e-12:
        least = search.least + forced
        raise AssayPilotError(
            f"{max_support:,} compounds are too few to estimate every effect",
            mend=f"Allow at least {least:,} compounds.",
        )
    return chosen


def _all_required(table: Table, limits: Allowed, targets: ProjectedFeatures | None, begun: float) -> Design:
    """The design when the smallest shares required leave nothing to choose."""
    assert limits.required is not None
    support, weights = limits.whole(np.zeros(0, dtype=np.intp), np.zeros(0))
    x = table.rows(support)
    total = (x * weights[:, None]).T @ x
    if limits.base is not None:
        total = total + table.inside(limits.base)
    values = np.linalg.eigvalsh(total)
    if values[0] <= 1e-11 * values[-1]:
        raise AssayPilotError(
            "the required compounds take all measurements and cannot estimate every effect",
            mend="Lower their shares so that others can be measured.",
        )
    inverse = np.asarray(np.linalg.inv(total), dtype=np.float64)
    found = table.leverages(inverse) if targets is None else targets.quadratic(table.outside(inverse))
    value = float(found.max())
    # The only weights allowed are the best ones allowed.
    return Design("g", support, weights, value, value, True, 1, time.perf_counter() - begun, 0.0)


def _worth(
    table: Table, inverse: Floats, targets: ProjectedFeatures | None, limits: Allowed, leverages: Floats
) -> tuple[float, float]:
    """The value of a design and a lower bound on the best value."""
    d = float(table.d)
    plain = limits.base is None
    bounded = not plain or isinstance(limits.room, np.ndarray) or limits.room < 1.0
    outside = table.outside(inverse)
    if targets is None:
        value = float(leverages.max())
        lower = 0.0
        if plain:
            # The weighted average of the leverages is d for any weights; rounding alone can bring the largest below.
            value, lower = max(value, d), d
        if bounded:
            lower = max(lower, minimax_bound(table.candidates, table.candidates, outside, limits))
    else:
        value = float(targets.quadratic(outside).max())
        lower = minimax_bound(table.candidates, targets, outside, limits)
    if not math.isfinite(value):
        raise AssayPilotError("the candidates' features are too nearly dependent for a design in this precision")
    return value, min(lower, value)
