"""The record of ``adaptive`` where measurements stand on plates (or other blocks) whose effects are taken out.

Each phase's estimate of the compounds beside its blocks is exactly normal with known covariance, given the past and
which measurement came back from which block, as long as that does not depend on the values. So its steps are those of
``evidence`` all the same; only the standard errors are larger. Block effects are of one phase.

The record holds one entry per compound *and block* then, ``block`` with the block's number (counted through all
phases; NO_BLOCK: none), and for every block the controls there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags
from assaypilot.engine.features import Features
from assaypilot.engine.models.blocks import NO_BLOCK, blocked_least_squares
from assaypilot.engine.models.ols import Estimate
from assaypilot.engine.strategies.protocol import Arrays, Outcome

__all__ = ["blocked", "in_blocks", "of_endpoint", "phase_in_blocks", "pooled_in_blocks"]


def blocked(memory: Arrays, outcome: Outcome) -> bool:
    """Whether a record, or what is added to it, knows of blocks."""
    return "block" in memory or outcome.cells is not None


def in_blocks(memory: Arrays, outcome: Outcome, phase: int) -> dict[str, NDArray[Any]]:
    """All that a record says of measurements and blocks, with one more phase; one endpoint or several."""
    several = memory["counts"].ndim == 2
    n_endpoints = len(outcome.counts)
    none = np.zeros((n_endpoints, 0) if several else 0)
    nobody = np.full(len(memory["at"]), NO_BLOCK, dtype=np.intp)
    known = {"block": nobody, "control_counts": none, "control_means": none, **memory}
    cells = outcome.cells
    if cells is None:
        arms = np.flatnonzero((outcome.counts > 0).any(axis=0))
        counts, means = outcome.counts[:, arms], outcome.means[:, arms]
        block = np.full(len(arms), NO_BLOCK, dtype=np.intp)
        control_counts = control_means = np.zeros((n_endpoints, 0))
    else:
        kept = (cells.counts > 0).any(axis=0)
        arms, counts, means = cells.arms[kept], cells.counts[:, kept], cells.means[:, kept]
        block = np.where(
            cells.blocks[kept] == NO_BLOCK, NO_BLOCK, cells.blocks[kept] + known["control_counts"].shape[-1]
        )
        control_counts, control_means = cells.control_counts, cells.control_means
    added = {
        "counts": counts,
        "means": np.where(counts > 0, means, 0.0),
        "control_counts": control_counts,
        "control_means": np.where(control_counts > 0, control_means, 0.0),
    }
    more: dict[str, NDArray[Any]] = {name: array if several else array[0] for name, array in added.items()}
    more |= {"at": np.full(len(arms), phase, dtype=np.intp), "arms": arms, "block": block.astype(np.intp)}
    return {name: np.concatenate([known[name], array], axis=-1) for name, array in more.items()}


def of_endpoint(memory: Arrays, place: int, kept: Flags, noise: float) -> Arrays:
    """What a record of several endpoints says of the blocks of one, in units of its noise; nothing without blocks."""
    if "block" not in memory:
        return {}
    return {
        "block": memory["block"][kept],
        "control_counts": memory["control_counts"][place],
        "control_means": memory["control_means"][place] / noise,
    }


def phase_in_blocks(features: Features, memory: Arrays, phase: int) -> Estimate:
    """The estimate of a phase (from 0) by its own measurements, beside its blocks."""
    return _estimate(features, memory, memory["at"] == phase)


def pooled_in_blocks(features: Features, memory: Arrays) -> Estimate:
    """The estimate from all phases at once, beside the blocks of all."""
    return _estimate(features, memory, np.ones(len(memory["at"]), dtype=bool))


def _estimate(features: Features, memory: Arrays, kept: Flags) -> Estimate:
    """Of one endpoint. Controls of blocks that hold none of these measurements tell nothing of them."""
    return blocked_least_squares(
        features,
        memory["arms"][kept],
        memory["block"][kept],
        memory["counts"][kept],
        memory["means"][kept],
        memory["control_counts"],
        memory["control_means"],
    )
