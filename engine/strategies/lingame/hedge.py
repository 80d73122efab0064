"""AdaHedge: weights over experts that follow the losses seen so far, with a rate that needs no tuning.

Source: de Rooij, van Erven, Gruenwald and Koolen, "Follow the leader if you can, hedge if you must", JMLR 15 (2014),
section 2: rate ln(K) / Delta, where Delta adds up how far the weighted loss was above the mix loss. LinGame's Lemma 3
is its regret bound.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ...arrays import Floats

__all__ = ["START", "Played", "incurred", "play"]


START = 0.01
"""Delta before the first loss, as in LinGame's published code: the rate is finite from the start."""


class Played(NamedTuple):
    """One play of the learner."""

    weights: Floats
    """``(k,)``, they sum to one."""
    rate: float
    mixed: float
    """-log of the mean of exp(-rate * loss so far), over the rate."""


def play(losses: Floats, gap: float) -> Played:
    """The weights of the experts for their losses so far and the mixability gap so far."""
    rate = math.log(len(losses)) / gap
    best = float(losses.min())
    shares = np.exp((best - losses) * rate)
    total = float(shares.sum())
    return Played(shares / total, rate, _mixed(best, total, len(losses), rate))


def incurred(losses: Floats, gap: float, played: Played, loss: Floats) -> tuple[Floats, float]:
    """Losses and mixability gap after one more loss vector, for what was played."""
    after = losses + loss
    best = float(after.min())
    total = float(np.exp((best - after) * played.rate).sum())
    mix = _mixed(best, total, len(after), played.rate) - played.mixed
    # The weighted loss is never below the mix loss; only rounding puts it there.
    return after, gap + max(0.0, float(played.weights @ loss) - mix)


def _mixed(best: float, total: float, k: int, rate: float) -> float:
    """The mix loss from the smallest loss and the sum of exp(rate * (smallest - loss)); one expert has rate 0."""
    return best - math.log(total / k) / rate if rate > 0.0 else best
