"""What decisions that are derived anew start from, and what they come to: see ``anew``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Floats
from assaypilot.engine.strategies.protocol import BOUNDLESS, Decision, Outcome, State

__all__ = ["Phase", "derived", "unbounded"]


class Phase(NamedTuple):
    """A decided phase, as it was planned and as it came back."""

    outcome: Outcome
    active: Flags
    """``(n_arms,)``: what it was decided about."""
    lost: Flags
    """``(n_arms,)``: what could be the best then and could not be bounded."""
    known: Flags
    """``(n_arms,)``: what there was when it was planned; later ones were added after it."""
    measurable: Flags
    """``(n_arms,)``: what could be had when it was decided."""
    revised: bool
    """Whether the goal had been changed before, results being seen."""
    leader: int | None = None
    """Whom ``adaptive`` compared the others with."""
    expected: int | None = None
    """The look at which ``adaptive`` expected the end when it began; None for all others."""
    weighed: bool = True
    """Whether ``adaptive`` weighs it by class of noise; else each measurement counts as one of the largest SD."""
    foreseen: float | None = None
    """The noise SD by which ``adaptive`` took cells as likely to be known only as bounds; None: that of now."""
    noise: tuple[float, ...] | None = None
    """The noise SDs that it was decided by, by endpoint; None: those of now."""
    named: Mapping[str, NDArray[Any]] | None = None
    """About trade-offs: whom ``adaptive`` had named for each compound before it, and since when; None for others."""


def unbounded(state: State, decision: Decision) -> Decision:
    """The decision, infinite bounds where nothing is known of an endpoint's noise."""
    nowhere = np.array(state.problem.noise) >= BOUNDLESS
    if not nowhere.any():
        return decision
    low, high = decision.low.copy(), decision.high.copy()
    low[nowhere] = np.where(np.isnan(low[nowhere]), np.nan, -np.inf)
    high[nowhere] = np.where(np.isnan(high[nowhere]), np.nan, np.inf)
    return replace(decision, low=low, high=high)


def derived(state: State, phases: Sequence[Phase], bounds: Floats, ins: Flags, outs: Flags, left: Flags) -> Decision:
    """The decision of all phases together; ``bounds``: estimate, low and high ``(3, n_endpoints, n_arms)``."""
    return Decision(
        phase=len(phases),
        radius=np.inf,
        ins=np.flatnonzero(ins),
        outs=np.flatnonzero(outs),
        left=np.flatnonzero(left),
        estimate=bounds[0],
        low=bounds[1],
        high=bounds[2],
        contradicted=np.zeros(0, dtype=np.intp),
        spent=state.spent,
        memory=state.memory,
    )
