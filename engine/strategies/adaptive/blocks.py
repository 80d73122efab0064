"""The record of ``adaptive`` where measurements stand on plates (or other blocks) whose effects are taken out.

Each phase's estimate of the compounds beside its blocks is exactly normal with known covariance, given the past and
which measurement came back from which block, as long as that does not depend on the values. So its steps are those of
``evidence`` all the same; only the standard errors are larger. Block effects are of one phase.

**Values known only as bounds** beside blocks. A bound is of what the assay read, the shift of its plate included: of
the latent value that would have been read, compound + block + error. The phase's estimate is linear in the means of
cells (compound and block) and of controls, with weights that follow from the counts alone,

    theta = B V^-1 B' sum_i n_i (x_i - t_b / s_b) m_i + what controls add,

where t_b / s_b is the mean row of i's block, controls counted. So by latent means its steps are those above, whichever
values were told. A cell whose mean is known only to lie in an interval is put at the end that makes a step least: the
step is at least that, whatever the latent values are, and everything that ``censored`` says of worst cases and of steps
without an end holds as it stands, as nothing there asks where the weights come from. Nor does ``closing``: cells and
controls are rows of one linear model with a column for every block, [x_i, e_b] and [0, e_b], whose residuals have the
chi-square that it rests on. By the same rows cells that were expected near a limit or beyond it count only for what no
others tell (``in_steps``): any unbiased estimate with weights that were fixed before the phase would do as well.

The record holds one entry per compound *and block* then, ``block`` with the block's number (counted through all
phases; NO_BLOCK: none), and for every block the controls there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.features import DenseFeatures, Features
from assaypilot.engine.models.blocks import NO_BLOCK, blocked_least_squares
from assaypilot.engine.models.ols import Estimate, least_squares
from assaypilot.engine.strategies.censored import Doubt, doubted, fit_imputed, in_steps
from assaypilot.engine.strategies.closing import Ball, closed
from assaypilot.engine.strategies.protocol import Arrays, Outcome

__all__ = [
    "blocked",
    "doubted_in_blocks",
    "in_blocks",
    "of_endpoint",
    "phase_in_blocks",
    "pooled_in_blocks",
]


class Foresees(Protocol):
    """What is known of an endpoint before a phase."""

    def shy_cells(self, arms: Ints, counts: Floats) -> NDArray[np.int8]:
        """How likely cells of a phase to come are to be known only as bounds."""


_LARGE = 4_000_000
"""Numbers of such rows beyond which nothing is said of what was known only as a bound."""


def blocked(memory: Arrays, outcome: Outcome) -> bool:
    """Whether a record, or what is added to it, knows of blocks."""
    return "block" in memory or outcome.cells is not None


def in_blocks(memory: Arrays, outcome: Outcome, phase: int, before: Sequence[Foresees] = ()) -> dict[str, NDArray[Any]]:
    """All that a record says of measurements and blocks, with one more phase; one endpoint or several.

    ``before``: the evidence of each endpoint before the phase.
    """
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
    if "low" in memory or (cells is not None and cells.low is not None) or outcome.low is not None:
        known |= {"low": memory["means"], "high": memory["means"], **memory}
        known["shy"] = memory.get("shy", np.zeros(memory["means"].shape, dtype=np.int8))
        added |= _ends(outcome, arms, added["means"])
        shy = np.zeros(counts.shape, dtype=np.int8)
        for row, evidence in enumerate(before):
            shy[row] = evidence.shy_cells(arms, counts[row])
        added["shy"] = shy
    more: dict[str, NDArray[Any]] = {name: array if several else array[0] for name, array in added.items()}
    more |= {"at": np.full(len(arms), phase, dtype=np.intp), "arms": arms, "block": block.astype(np.intp)}
    return {name: np.concatenate([known[name], array], axis=-1) for name, array in more.items()}


def _ends(outcome: Outcome, arms: Ints, means: Floats) -> dict[str, NDArray[Any]]:
    """Where the means of a phase's cells may lie."""
    cells = outcome.cells
    low, high = (outcome.low, outcome.high) if cells is None else (cells.low, cells.high)
    if cells is None and low is not None and high is not None:
        low, high = low[:, arms], high[:, arms]
    elif cells is not None and low is not None and high is not None:
        kept = (cells.counts > 0).any(axis=0)
        told = cells.counts[:, kept] > 0
        low, high = np.where(told, low[:, kept], 0.0), np.where(told, high[:, kept], 0.0)
    else:
        low = high = means
    return {"low": low, "high": high}


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


def doubted_in_blocks(
    features: Features, memory: Arrays, phase: int, sigma: float, level: float
) -> tuple[Estimate, Doubt | None]:
    """The estimate of a phase (from 0), and what it leaves open where values were known only as bounds.

    ``level``: how often what other cells say of these may be wrong; 0: nothing is said.
    """
    kept = memory["at"] == phase
    found = _estimate(features, memory, kept)
    means, low, high = (memory[name][kept] for name in ("means", "low", "high"))
    if not ((low < means) | (high > means) | (memory["shy"][kept] > 0)).any():
        return found, None
    whole = _whole(features, memory, kept)
    weights = _weights(features, memory, kept, found)
    if whole is not None and memory["shy"][kept].any():
        found, weights = _in_steps(features, whole, memory["shy"][kept], found)

    def ball(which: Ints) -> Ball | None:
        if whole is None:
            return None
        rows = np.arange(len(whole.counts))
        fitted = least_squares(whole.features, rows, whole.counts, whole.means)
        return closed(whole.features, (rows, whole.counts, whole.means), which, fitted, sigma, level)

    return found, doubted(weights, means, low, high, ball)


def _in_steps(features: Features, whole: _Rows, shy: NDArray[np.int8], found: Estimate) -> tuple[Estimate, Floats]:
    """The estimate in which shy cells count only for what others and controls tell, and how it moves with each cell."""
    n, d = len(shy), features.n_columns
    rows = np.arange(len(whole.counts))
    every = np.concatenate([shy, np.zeros(len(rows) - n, dtype=np.int8)])
    weights = in_steps(whole.features, (rows, whole.counts, whole.means), every)[1][:d]
    # Of what cannot be told beside the blocks nothing is kept.
    weights = found.basis @ (found.basis.T @ weights)
    covariance = (weights / whole.counts) @ weights.T
    return found.replaced(weights @ whole.means, (covariance + covariance.T) / 2.0), weights[:, :n]


def _weights(features: Features, memory: Arrays, kept: Flags, found: Estimate) -> Floats:
    """``(n_columns, m)``, how the estimate moves with the mean of each of its cells."""
    arms, blocks, counts = memory["arms"][kept], memory["block"][kept], memory["counts"][kept]
    x = features.dense(arms)
    centred = x.copy()
    for block in np.unique(blocks[blocks != NO_BLOCK]):
        here = blocks == block
        centred[here] -= counts[here] @ x[here] / (counts[here].sum() + memory["control_counts"][block])
    weights: Floats = found.covariance @ (counts[:, None] * centred).T
    return weights


class _Rows(NamedTuple):
    """Cells and the controls beside them as rows of one model, which has a column for every block; cells first."""

    features: DenseFeatures
    counts: Floats
    means: Floats


def _whole(features: Features, memory: Arrays, kept: Flags) -> _Rows | None:
    """The rows of some cells; None where they are too many."""
    blocks = memory["block"][kept]
    named = np.unique(blocks[blocks != NO_BLOCK])
    controls = named[memory["control_counts"][named] > 0]
    n, d = int(kept.sum()), features.n_columns
    if (n + len(controls)) * (d + len(named)) > _LARGE:
        return None
    rows = np.zeros((n + len(controls), d + len(named)))
    rows[:n, :d] = features.dense(memory["arms"][kept])
    at = np.flatnonzero(blocks != NO_BLOCK)
    rows[at, d + np.searchsorted(named, blocks[at])] = 1.0
    rows[n + np.arange(len(controls)), d + np.searchsorted(named, controls)] = 1.0
    counts = np.concatenate([memory["counts"][kept], memory["control_counts"][controls]])
    return _Rows(
        DenseFeatures(rows), counts, np.concatenate([memory["means"][kept], memory["control_means"][controls]])
    )


def pooled_in_blocks(features: Features, memory: Arrays, sigma: float) -> Estimate:
    """The estimate from all phases at once, beside the blocks of all: to plan by, not to decide by.

    What is known only as a bound is put where it is expected.
    """
    every = np.ones(len(memory["at"]), dtype=bool)
    found = _estimate(features, memory, every)
    whole = _whole(features, memory, every) if "low" in memory else None
    if whole is None:
        return found
    beyond = whole.means[len(every) :]
    low, high = np.concatenate([memory["low"], beyond]), np.concatenate([memory["high"], beyond])
    cells = (np.arange(len(whole.counts)), whole.counts, whole.means)
    theta = fit_imputed(whole.features, cells, low, high, sigma).theta[: features.n_columns]
    return found.replaced(found.basis @ (found.basis.T @ theta), found.covariance)


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
