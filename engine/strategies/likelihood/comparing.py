"""By how much one compound can be better than another, as far as a set of effects leaves open."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.models.glm import Link, mean_value
from assaypilot.engine.models.likelihood_set import LikelihoodSet

__all__ = ["Compared"]


@dataclass(frozen=True, eq=False)
class Compared:
    """Compounds under a set of effects; leads are in chances under the logit link, else on the link's scale.

    A lead in chances, m(v) - m(u), is no sum of effects. But v - u and u and v on their own are within bounds, and over
    all such u and v its ends are found at few places: it rises with v, and along v = u + D it has one peak, at u =
    -D / 2.
    """

    found: LikelihoodSet
    z: Floats
    """``(n, d)``, the coordinates of the compounds."""
    low: Floats
    """``(n,)`` bounds on the link's scale."""
    high: Floats

    @classmethod
    def of(cls, found: LikelihoodSet, z: Floats) -> Compared:
        """Compounds with their own bounds."""
        return cls(found, z, -found.highest(-z), found.highest(z))

    @property
    def link(self) -> Link:
        """The scale on which effects add up."""
        return self.found.data.link

    def shown(self, predictors: Floats) -> Floats:
        """Predictors on the scale of leads."""
        return mean_value("logit", predictors) if self.link == "logit" else predictors

    def most(self, first: Ints, second: Ints) -> Floats:
        """The most by which each first can be better than its second, ``(m,)``."""
        apart = self.found.highest(self.z[first] - self.z[second])
        if self.link != "logit":
            return apart
        told = np.where(np.isfinite(apart), apart, 0.0)
        u = np.clip(np.minimum(-told / 2.0, self.high[first] - told), self.low[second], self.high[second])
        own = self._lead(self.high[first], self.low[second])
        return np.where(np.isfinite(apart), self._lead(np.minimum(u + told, self.high[first]), u), own)

    def least(self, first: Ints, second: Ints) -> Floats:
        """The least by which each first is better than its second; where that is above 0, it surely is better."""
        apart = -self.found.highest(self.z[second] - self.z[first])
        if self.link != "logit":
            return apart
        told = np.maximum(apart, 0.0)
        bend = np.clip(self.low[first] - told, self.low[second], self.high[second])
        places = (self.low[second], bend, self.high[second])
        ends = [self._lead(np.maximum(u + told, self.low[first]), u) for u in places]
        # Only where the first is surely ahead is the least found at these ends.
        own = self._lead(self.low[first], self.high[second])
        return np.where(apart > 0, np.minimum.reduce(ends), np.minimum(own, 0.0))

    def _lead(self, first: Floats, second: Floats) -> Floats:
        lead: Floats = mean_value("logit", first) - mean_value("logit", second)
        return lead
