"""Decisions of phases: how the facts give them, how they are kept, and when two are equal."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..strategies.protocol import Arrays, Calibrated, Decision
from . import codec
from . import noise as assay_noise
from .replay import Ledger


def stored(ledger: Ledger, decision: Decision) -> tuple[dict[str, Any], bytes]:
    """Return a decision as JSON and as the bytes of its part."""
    data = codec.decision_to_json(decision, ledger.first)
    noise = assay_noise.spreads(ledger, decision.phase)
    if noise:
        data["noise"] = assay_noise.to_json(noise)
    return data, codec.to_bytes(decision)


def same(one: Decision, other: Decision) -> bool:
    """Return whether two decisions are equal, up to the last digits of their bounds."""
    sets = all(
        np.array_equal(np.sort(getattr(one, name)), np.sort(getattr(other, name)))
        for name in ("ins", "outs", "left", "contradicted")
    )
    # Two radii that are not numbers are equal, too; infinity equals itself.
    bounds = all(
        np.allclose(getattr(one, name), getattr(other, name), rtol=1e-7, atol=1e-9, equal_nan=True)
        for name in ("estimate", "low", "high", "radius")
    )
    return sets and bounds and one.spent == other.spent and _same_arrays(one.memory, other.memory)


def _same_arrays(one: Arrays, other: Arrays) -> bool:
    """Return whether two memories have the same arrays, up to their last digits."""
    return set(one) == set(other) and all(
        np.shape(array) == np.shape(other[name])
        and np.allclose(array, other[name], rtol=1e-7, atol=1e-9, equal_nan=True)
        for name, array in one.items()
    )


def recompute(ledger: Ledger, *, update: bool = False) -> Decision | None:
    """Return what the phase under way decides from the facts so far; None when nothing usable returned.

    With ``update``: what the series model makes of the values so far for the last phase, after a change of the terms.
    """
    if isinstance(ledger.strategy, Calibrated):
        state = ledger.current()
        if not ledger.strategy.has_values(state):
            return None
        decision = ledger.strategy.decision(state, ledger.samples())
        return replace(decision, phase=len(ledger.phases)) if update else decision
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    outcome = ledger.outcome(allocation.phase, allocation, ledger.samples())
    state = assay_noise.to_decide(ledger, ledger.deciding(), allocation.phase)
    return assay_noise.decided(state, ledger.strategy.decide(state, outcome))
