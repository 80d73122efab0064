"""Monotone scales on which effects may add up better than on the one values are measured on.

Yields pile up at both ends and transfection or binding saturates: a bounded scale describes this. Its upper end may be
soft, as the best of a series are often a little beyond it. The marginal likelihood of the values chooses the scale,
with the Jacobian of the scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from ...arrays import Floats

_AT, _CLOSE, _NEAR, _FAR = 0.002, 0.03, 0.05, 0.3
"""Distance of an end from the outermost value (or from a known end), as a share of their range."""
_PILED = 8
"""Values within the noise of a known upper end, and none beyond, from which it may be taken to be hard.

Of 8 values there, without an end, fewer than 1 in 250 lie all on one side. Yields by UV go beyond 100 %, and the best
of a table are often among these.
"""
_PENALTY = 3.0
"""Log prior odds of the values' own scale over each of the others."""
_SOFT = 0.02
"""Slope with which values go on beyond a soft end: a share of the range for each unit of the scale."""
_HALVINGS = 60
"""Steps in which a value's place on a soft scale is enclosed: to the last bit."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A logarithmic or logistic scale with open ends ``low`` and ``high``; the identity without any.

    ``soft``: a logistic scale continues beyond ``high``; inverse: ``low + width (expit(x) + soft log(1 + exp(x)))``.
    """

    low: float = -math.inf
    high: float = math.inf
    log_prior: float = 0.0
    soft: float = 0.0

    @property
    def is_identity(self) -> bool:
        """Whether values stay as they are."""
        return math.isinf(self.low) and math.isinf(self.high)

    @property
    def is_open(self) -> bool:
        """Whether it has one end only: values are exponentials."""
        return math.isinf(self.low) != math.isinf(self.high)

    def forward(self, values: Floats) -> Floats:
        """Return values on this scale; those beyond an end are taken just inside."""
        if self.is_identity:
            return values
        if self.soft:
            return self._enclosed(values)
        out = np.zeros_like(values, dtype=np.float64)
        if math.isfinite(self.low):
            out += np.log(np.maximum(values - self.low, self._least))
        if math.isfinite(self.high):
            out -= np.log(np.maximum(self.high - values, self._least))
        return out

    def inside(self, values: Floats, margin: float) -> Floats:
        """Return values moved inside of the ends, by a margin at least."""
        room = 0.5 * (self.high - self.low)
        margin = min(margin, 0.1 * room)
        return np.clip(values, self.low + margin, math.inf if self.soft else self.high - margin)

    def slope(self, values: Floats) -> Floats:
        """Return the derivative of ``forward``, positive."""
        if self.is_identity:
            return np.ones_like(values, dtype=np.float64)
        if self.soft:
            share = expit(self._enclosed(values))
            return 1.0 / ((self.high - self.low) * share * (1.0 - share + self.soft))
        out = np.zeros_like(values, dtype=np.float64)
        if math.isfinite(self.low):
            out += 1.0 / np.maximum(values - self.low, self._least)
        if math.isfinite(self.high):
            out += 1.0 / np.maximum(self.high - values, self._least)
        return out

    def inverse(self, scaled: Floats) -> Floats:
        """Return values on their own scale."""
        if self.is_identity:
            return scaled
        if math.isinf(self.high):
            return self.low + np.exp(np.minimum(scaled, 700.0))
        if math.isinf(self.low):
            return self.high - np.exp(np.minimum(-scaled, 700.0))
        share = expit(scaled)
        if self.soft:
            share += self.soft * np.logaddexp(0.0, scaled)
        return self.low + (self.high - self.low) * share

    def softened(self) -> Scale:
        """Return the scale with a soft upper end; itself without two ends, or where its end is soft."""
        return replace(self, soft=_SOFT) if math.isfinite(self.high - self.low) else self

    def _enclosed(self, values: Floats) -> Floats:
        """Return the places on a soft scale, by halving an interval around each."""
        least = self.low + self._least
        values = np.maximum(values, least)
        share = (values - self.low) / (self.high - self.low)
        below, above = np.full(share.shape, math.log(1e-4)), np.maximum(share / self.soft, 1.0)
        for _ in range(_HALVINGS):
            middle = 0.5 * (below + above)
            short = self.inverse(middle) < values
            below, above = np.where(short, middle, below), np.where(short, above, middle)
        return np.asarray(0.5 * (below + above))

    @property
    def _least(self) -> float:
        width = self.high - self.low
        return 1e-3 * width if math.isfinite(width) else 1e-9


IDENTITY = Scale()


def candidate_scales(
    values: Floats,
    noise_sd: float,
    ends: tuple[float, float] | None,
    beyond: tuple[bool, bool] = (False, False),
) -> tuple[Scale, ...]:
    """Return the scales to compare for some values, the identity first.

    ``ends``: what no value can go far beyond, such as (0, 100) for yields; None where none are known. ``beyond``:
    whether there are values below and above those that were measured, as limits of the assay: no end is known there.
    """
    low, high = float(values.min()), float(values.max())
    if high - low <= 4.0 * noise_sd:
        return (IDENTITY,)
    if ends is None:
        room = high - low
        near, far = max(_NEAR * room, noise_sd), max(_FAR * room, noise_sd)
        lows = [] if beyond[0] else [low - near, low - far]
        pairs = [] if beyond[1] else [(one, high + far) for one in lows]
    else:
        # Around the known ends, as if values beyond them were noise; or around everything seen, close or wide.
        room = max(high, ends[1]) - min(low, ends[0])
        near, far = max(_NEAR * room, noise_sd), max(_FAR * room, noise_sd)
        lows = [ends[0] - max(_CLOSE * room, noise_sd), min(low, ends[0]) - near, min(low, ends[0]) - far]
        highs = [ends[1] + max(_CLOSE * room, noise_sd), max(high, ends[1]) + near, max(high, ends[1]) + far]
        pairs = [(lows[i], highs[j]) for i in range(3) for j in range(3) if abs(i - j) < 2]
        if high <= ends[1] and (values > ends[1] - noise_sd).sum() >= _PILED:
            pairs += [(one, ends[1] + _AT * room) for one in lows[:2]]
    bent = [Scale(one, math.inf, -_PENALTY) for one in lows] + [Scale(*pair, -_PENALTY) for pair in pairs]
    return (IDENTITY, *dict.fromkeys(bent))
