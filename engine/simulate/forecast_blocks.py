"""Plates, and other blocks, in forecasts: what they took of the last results they are taken to go on taking."""

from __future__ import annotations

import numpy as np

from assaypilot.engine.arrays import Floats
from assaypilot.engine.campaign.plates.quality import costs
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.models.blocks import NO_BLOCK, Cells

__all__ = ["beside", "share_left"]

_LEAST = 0.1
"""Share of the information below which forecasts do not go: what cannot be told for a plate this time may be next."""


def share_left(ledger: Ledger) -> float:
    """What blocks left of the information of the last phase with results, 1 without blocks or before any result.

    Of the endpoint of the goal that they took most of. How a lab fills its plates is not known before, and plates as
    they are laid out take next to nothing.
    """
    taken = [one.lost for one in costs(ledger) if one.endpoint in ledger.goal_endpoints]
    return max(1.0 - max(taken, default=0.0), _LEAST)


def beside(cells: Cells, counts: Floats, means: Floats) -> Cells:
    """What came back of a phase, and what is still to come of it: simulated as if no block shifted it.

    ``counts`` and ``means`` ``(n_endpoints, n_arms)``.
    """
    arms = np.flatnonzero(counts.any(axis=0))
    return Cells(
        np.concatenate([cells.arms, arms]),
        np.concatenate([cells.blocks, np.full(len(arms), NO_BLOCK, dtype=np.intp)]),
        np.concatenate([cells.counts, counts[:, arms]], axis=1),
        np.concatenate([cells.means, means[:, arms]], axis=1),
        cells.control_counts,
        cells.control_means,
        None if cells.low is None else np.concatenate([cells.low, means[:, arms]], axis=1),
        None if cells.high is None else np.concatenate([cells.high, means[:, arms]], axis=1),
    )
