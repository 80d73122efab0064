"""What measurements say of each compound where some are known only as a bound: means, and where they truly lie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...arrays import Floats, Ints
from ...domain.difference import difference, parts, pooled_of
from ...domain.endpoint import Endpoint
from ...domain.measurements import Measurement, Pooled

__all__ = ["Span", "spanned"]


@dataclass(frozen=True, slots=True)
class Span:
    """Counts and means of an endpoint per arm, ``(n_arms,)`` each, model scale, and where the means truly lie."""

    counts: Floats
    means: Floats
    """Of a value known only as a bound the bound counts."""
    low: Floats
    """At least; the mean itself where every value is exact."""
    high: Floats

    @property
    def censored(self) -> int:
        """Arms whose mean is known only as lying somewhere."""
        return int(np.count_nonzero((self.counts > 0) & ((self.low < self.means) | (self.high > self.means))))


def spanned(
    endpoints: Sequence[Endpoint],
    position: int,
    filling: Sequence[tuple[Measurement, int]],
    arms: Ints,
) -> Span:
    """Return what measurements, each with how many determinations count, say of an endpoint.

    ``arms`` of every compound.

    Of a difference each end comes from the ends of its parts; where the noise of a part is not known, its count is that
    of the part measured less often: its variance is then at most what the count says.
    """
    own = parts(endpoints, position)
    n_arms = int(arms.max(initial=-1)) + 1
    if endpoints[position].of is None:
        return _measured([(m, n) for m, n in filling if m.endpoint == position], arms, n_arms)
    if endpoints[position].curves:
        of_parts = {part: spanned(endpoints, part, filling, arms) for part in own}
        score = pooled_of(endpoints, position, lambda part: Pooled(of_parts[part].counts, of_parts[part].means))
        return Span(score.counts, score.means, score.means, score.means)
    first, second = (spanned(endpoints, part, filling, arms) for part in own)
    sds = (endpoints[own[0]].noise_sd, endpoints[own[1]].noise_sd)
    whole = difference(Pooled(first.counts, first.means), Pooled(second.counts, second.means), sds)
    if any(endpoints[part].noise_estimated for part in own):
        whole = Pooled(np.minimum(first.counts, second.counts), whole.means)
    both = whole.counts > 0
    low, high = (np.zeros(n_arms) for _ in range(2))
    low[both], high[both] = (first.low[both] - second.high[both]), (first.high[both] - second.low[both])
    return Span(whole.counts, whole.means, low, high)


def _measured(own: Sequence[tuple[Measurement, int]], arms: Ints, n_arms: int) -> Span:
    counts, sums = np.zeros(n_arms), np.zeros((3, n_arms))
    for m, n in own:
        low = -np.inf if m.relation == "<" else m.value
        high = np.inf if m.relation == ">" else m.value
        counts[arms[m.compound]] += n
        sums[:, arms[m.compound]] += n * np.array([m.value, low, high])
    means = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    # Exact where nothing is open, so that a mean is not taken for an interval for rounding.
    return Span(counts, means[0], np.minimum(means[1], means[0]), np.maximum(means[2], means[0]))
