"""G-optimal designs: the public question, its checks, and what is proven about the answer."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from ..domain.features import ProjectedFeatures
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .allowed import room_for
from .closed_forms import even_design, separated
from .criteria import Design, minimax_bound
from .g_search import Search, State
from .table import Table, refuse_nothing
from .thinning import thin


def g_optimal(
    candidates: ProjectedFeatures,
    *,
    targets: ProjectedFeatures | None = None,
    gap: float = 1e-3,
    upper: float | None = None,
    max_support: int | None = None,
    report: Report = silent,
) -> Design:
    """Return a D-optimal, hence G-optimal design (Kiefer and Wolfowitz 1960) on few candidates, to a relative gap.

    Without bounds the optimum of g over the candidates is exactly their rank d, and ``value <= d (1 +
    gap)`` when converged. The support has at most d (d + 1) / 2 positions (more only where that is
    thousands), usually far fewer the larger the gap.

    ``targets``: rows in the same coordinates whose worst variance ``value`` reports; the weights stay D-optimal over
    the candidates, ``gap`` is about that, and ``lower_bound`` bounds what any design could reach for the targets.
    ``upper``: the largest share any candidate may get; the weights are then D-optimal under it.
    ``max_support``: the most positions to use; the best found on so many is returned, converged or not.

    Deterministic; ties go to the earlier position. Raises AssayPilotError for bounds that cannot be met and for
    candidates that cannot be a design, ValueError for candidates of less than full column rank.
    """
    if not (np.isfinite(gap) and gap > 0):
        raise ValueError(f"gap must be above 0, got {gap}")
    return _optimal(candidates, targets, gap, upper, max_support, report)


def _optimal(
    candidates: ProjectedFeatures,
    targets: ProjectedFeatures | None,
    gap: float,
    upper: float | None,
    max_support: int | None,
    report: Report,
) -> Design:
    """Return the design that ``g_optimal`` promises."""
    begun = time.perf_counter()
    refuse_nothing(candidates)
    room = room_for(candidates.n_rows, upper)
    even = None if targets is not None else even_design(candidates, room, max_support, gap, pairs=False)
    if even is not None:
        report(1.0, "design ready")
        seconds = time.perf_counter() - begun
        return Design("g", even.support, even.weights, even.value, even.lower, True, 1, seconds, even.gap)
    free = targets is None and upper is None and max_support is None
    if free and (parts := separated(candidates)) is not None:

        def of_core(core: ProjectedFeatures) -> Design:
            return _optimal(core, None, gap, None, None, report)

        return replace(parts.design(of_core), seconds=time.perf_counter() - begun)
    table = Table(candidates)
    search = Search(table, room, gap, report)
    if max_support is not None and max_support < search.least:
        raise AssayPilotError(
            f"{max_support:,} compounds are too few to estimate every effect",
            mend=f"Allow at least {search.least:,} compounds.",
        )
    state = thin(search, search.converge(search.start()), max_support)
    report(1.0, "design ready")
    value, lower = _worth(table, state, targets, room)
    order = np.argsort(state.support, kind="stable")
    return Design(
        criterion="g",
        support=state.support[order],
        weights=state.w[order] / state.w.sum(),
        value=value,
        lower_bound=lower,
        converged=bool(state.gap <= gap),
        iterations=search.looks,
        seconds=time.perf_counter() - begun,
        gap=max(state.gap, 0.0),
    )


def _worth(table: Table, state: State, targets: ProjectedFeatures | None, room: float) -> tuple[float, float]:
    """Return the value of a design and a lower bound on the best value."""
    d = float(table.d)
    outside = table.outside(state.inverse)
    if targets is None:
        # The weighted average of the leverages is d for any weights; rounding alone can make the largest smaller.
        value, lower = max(float(state.leverages.max()), d), d
        if room < 1.0:
            lower = max(lower, minimax_bound(table.candidates, table.candidates, outside, room))
    else:
        value = float(targets.quadratic(outside).max())
        lower = minimax_bound(table.candidates, targets, outside, room)
    if not math.isfinite(value):
        raise AssayPilotError("the candidates' features are too nearly dependent for a design in this precision")
    return value, min(lower, value)
