"""The scale on which a campaign compares compounds, and how what lies there is shown and said.

Effects may add up on the scale of a link (log odds, logarithms) while compounds are compared on another: chances, and
factors in log10. The papers' strategies compare on the link's own scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.campaign.words import number
from assaypilot.engine.models.glm import Link, mean_value
from assaypilot.engine.models.posterior import Posterior, probability_within

__all__ = ["Scale"]


_LN10 = math.log(10.0)
_ON_LINK: dict[Link, str] = {"identity": "", "logit": " log odds", "log": " (natural log)"}
_DRAWS = 2048
_AT_ONCE = 4_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    """Where the objective's compounds are compared: its bounds, epsilon and slack are there."""

    link: Link
    """On whose scale effects add up."""
    own: bool = False
    """Whether chances and factors are compared there, not what adds up."""
    chances: bool = False
    """Whether plain values are chances: those of yes and no, taken as sums of effects themselves."""

    def of_link(self, predictors: Floats) -> Floats:
        """What adds up, on the scale of comparisons."""
        if not self.own or self.link == "identity":
            return predictors
        return mean_value("logit", predictors) if self.link == "logit" else predictors / _LN10

    def shown(self, compared: Floats) -> Floats:
        """What is compared, as it is shown: a chance, or a count."""
        if not self.own:
            return mean_value(self.link, compared)
        return np.asarray(10.0 ** np.clip(compared, -300.0, 300.0)) if self.link == "log" else compared

    def of_shown(self, value: float) -> float:
        """A mean that is shown, on the scale of comparisons."""
        if self.own and self.link == "log":
            return math.log10(max(value, 1e-300))
        return value

    def far(self, distance: float) -> str:
        """A distance between two compounds: ``0.5``, ``10 percentage points``, ``0.3 log (2-fold)``."""
        if self.chances or (self.own and self.link == "logit"):
            return f"{number(round(100.0 * distance, 6))} percentage points"
        if self.own and self.link == "log":
            return f"{number(distance)} log ({10.0**distance:.2g}-fold)"
        return f"{number(distance)}{_ON_LINK[self.link]}"

    def within(
        self, view: Posterior, rows: Ints, margins: tuple[float, ...], sign: float, seed: int
    ) -> tuple[Floats, ...]:
        """P(within each margin of the best of the rows), by the posterior of what adds up."""
        if not self.own or self.link != "logit":
            unit = _LN10 if self.own and self.link == "log" else 1.0
            return probability_within(view, rows, tuple(unit * margin for margin in margins), sign, seed)
        theta = view.mean[:, None] + view.draws(_DRAWS, seed)
        hits = np.zeros((len(margins), len(rows)))
        width = max(1, _AT_ONCE // max(len(rows), 1))
        x = view.features.dense(rows)
        for start in range(0, _DRAWS, width):
            chance = mean_value("logit", x @ theta[:, start : start + width])
            best = chance.max(axis=0)
            for place, margin in enumerate(margins):
                hits[place] += (chance >= best - margin).sum(axis=1)
        return tuple(hits / _DRAWS)
