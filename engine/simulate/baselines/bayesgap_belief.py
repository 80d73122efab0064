"""The linear Gaussian belief of BayesGap and KGCB: theta ~ N(0, prior^2 I) before, normal after every measurement."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...arrays import Floats
from ...errors import AssayPilotError
from ...strategies.protocol import Arrays, Problem

__all__ = ["Belief", "batch_of", "belief"]


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """Means and covariance of the effects, in the columns of the features."""

    mean: Floats
    covariance: Floats
    noise: float

    def measured(self, x: Floats) -> Belief:
        """The belief after one more measurement of a row ``x``, its value not known yet: only the spread shrinks."""
        step = self.covariance @ x
        scaled = step / (self.noise**2 + float(x @ step))
        return Belief(self.mean, self.covariance - step[:, None] * scaled, self.noise)


def belief(problem: Problem, sums: Arrays, prior: float) -> Belief:
    """The posterior of N(0, prior^2 I) after the measurements in the sums (of one endpoint)."""
    return _belief(sums["information"][0].tobytes(), sums["moment"][0].tobytes(), problem.noise[0], prior)


@lru_cache(maxsize=8)
def _belief(information: bytes, moment: bytes, noise: float, prior: float) -> Belief:
    """The posterior of sums; the last few are kept, because planning and deciding ask for the same."""
    towards = np.frombuffer(moment) / noise**2
    precision = np.frombuffer(information).reshape(len(towards), -1) / noise**2
    precision.flat[:: len(towards) + 1] += 1.0 / prior**2
    covariance = np.asarray(np.linalg.inv(precision), dtype=np.float64)
    covariance = (covariance + covariance.T) / 2.0
    return Belief(covariance @ towards, covariance, noise)


def batch_of(problem: Problem, given: int | None) -> int:
    """Measurements per phase: as given, else the lab's round, else 1; AssayPilotError unless a whole number."""
    if given is None:
        return problem.capacity.per_round if problem.capacity and problem.capacity.per_round < 10**6 else 1
    if isinstance(given, bool) or not isinstance(given, int) or given < 1:
        raise AssayPilotError(
            f"batch must be a whole number of measurements, at least 1, got {given!r}", option="--parameter batch"
        )
    return given
