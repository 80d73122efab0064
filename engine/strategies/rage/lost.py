"""RAGE when compounds cannot be measured any more: what their last bounds leave to those that can.

The bounds of all phases hold together, so a compound that is away still says where the best may be. Only means compare
it with the others, so while one is away a phase bounds every mean.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...arrays import Flags, Ints
from ...design import achieved, ceilings
from ...system.progress import Report
from ..designs import g_design
from ..ending import doubted, newcomers, wider
from ..linfact.planning import cut_to, phase_design
from ..protocol import (
    IN,
    NOT_ESTIMABLE,
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Problem,
    State,
    StopReason,
)

__all__ = ["Away", "away", "bounding_phase", "compared_now", "nobody_compared", "unanswerable", "with_compared"]


_ENOUGH = 0.5
"""Half-widths this small beside those of who is away: measuring without end would hardly tell them apart better."""


class Away(NamedTuple):
    """The last bounds of what cannot be bounded any more."""

    low: float
    """Who lies below it is not the best."""
    high: float
    """Who reaches it (with slack: less the slack) is as good as all that are away."""
    half: float
    """The half-width behind ``high``."""


def away(state: State, factor: float) -> Away | None:
    """Of the one that was found best, when it cannot be bounded any more, else of all that are lost; None: nobody.

    ``factor``: how many times the half-widths of last bounds count.
    """
    lost = np.flatnonzero(state.lost)
    if not len(lost):
        return None
    found = lost[state.status[lost] == IN]
    lost = found if len(found) else lost
    low, high = wider(state.low[0, lost], state.high[0, lost], factor)
    top = int(np.argmax(high))
    return Away(float(low.max()), float(high[top]), float(high[top] - low[top]) / 2.0)


def nobody_compared(problem: Problem) -> Arrays:
    """What ``compared_now`` remembers, before the first phase."""
    return {"compared": np.zeros(problem.n_arms, dtype=bool)}


def compared_now(state: State, arms: Ints) -> Arrays:
    """To be remembered after a phase: whose difference to the leader any phase has estimated, ``(n_arms,)``."""
    known = _compared(state).copy()
    known[arms] = True
    return {"compared": known}


def _compared(state: State) -> Flags:
    """What was remembered so far; nobody in campaigns that were begun before anything was."""
    known: Flags = state.memory.get("compared", np.zeros(state.problem.n_arms, dtype=bool))
    return known


def with_compared(state: State) -> State:
    """The state in which one that was compared is lost when it cannot be estimated any more.

    Others may have lost against it though no phase told its own mean, so that no bound is left of it.
    """
    gone = _compared(state) & state.problem.wanted & (state.status == NOT_ESTIMABLE)
    return replace(state, lost=state.lost | gone)


def bounding_phase(state: State, radius: float, wells: float, gap: float, report: Report) -> Allocation:
    """A phase that bounds every mean by half the radius, hence every difference by the radius.

    ``wells``: measurements per unit of variance that bring a half-width to the radius.
    """
    wells = 4.0 * wells
    candidates, design = phase_design(state, wells, gap, g_design, report)
    counts = np.maximum(ceilings(design.weights, wells * design.value), 1)
    budget = state.problem.budget
    cut = budget is not None and counts.sum() > budget - state.spent
    if cut and budget is not None:
        # Sized before any of its values is seen, so the realised half-widths stay valid.
        counts = cut_to(candidates, design, budget - state.spent)
        value = achieved(candidates, design.support, counts, candidates.onto(np.flatnonzero(state.active)))
        radius *= float(np.sqrt(wells * value))
    kept = counts > 0
    order = np.argsort(candidates.rows[design.support[kept]])
    return Allocation(
        phase=state.phase + 1,
        arms=candidates.rows[design.support[kept]][order],
        counts=counts[kept][order].astype(np.intp),
        radius=radius,
        certificate=Certificate("g", design.value, design.lower_bound),
        cut_to_budget=bool(cut),
    )


def unanswerable(state: State, slack: float, factor: float) -> tuple[StopReason, ...]:
    """The reason to stop when measuring can change nothing against those that are away; empty while it can."""
    gone, last = away(state, factor), state.last
    if not ((state.status == UNDECIDED) & state.problem.wanted).any() and (state.status == IN).any():
        return doubted(state, slack, factor)
    if gone is None or last is None:
        return ()
    open_arms = np.flatnonzero((state.status == UNDECIDED) & state.problem.wanted)
    lost, found = int(state.lost.sum()), bool((state.status == IN).any())
    numbers = {"lost": lost, "undecided": len(open_arms)}
    if not len(open_arms):
        who = "1 compound that may be the best" if lost == 1 else f"{lost} compounds that may be the best"
        return (StopReason("lost", f"{who} cannot be measured any more; all others are out", numbers),)
    low, high = wider(state.low[0, open_arms], state.high[0, open_arms], factor)
    half = (high - low) / 2.0
    if not np.isfinite(gone.half):
        stuck = True
    elif found:
        between = (low > gone.low + slack) & (high < gone.high)
        stuck = not newcomers(state) and bool((between | (half <= _ENOUGH * gone.half)).all())
    else:
        behind = bool((high + slack < gone.high).all())
        held = bool(last.numbers.get("only_lost")) and bool((half <= _ENOUGH * gone.half).all())
        stuck = not newcomers(state) and (behind or held)
    if not stuck:
        return ()
    whom = "the compound found best" if found else f"{lost} of the best"
    text = f"{whom} cannot be measured any more; against what is known of it {len(open_arms)} stay open"
    return (StopReason("lost", text if found or lost == 1 else text.replace("of it", "of them"), numbers),)
