"""Which two sites show most that their effects do not add up: what is proposed where two are to be taken together."""

from __future__ import annotations

import numpy as np

from ...domain.measurements import pool
from ...models.interactions import Interaction, interactions
from ...text.percentages import percent
from ..phrases import number
from ..state import Status

__all__ = ["pairs_by_sign", "sign_in_words"]


def pairs_by_sign(now: Status) -> tuple[Interaction, ...]:
    """Every pair of sites that can be tested by the exact values of the goal's endpoints, the most telling first.

    Where additivity is contradicted these are the pairs that its check found; else they are tested now. The values go
    as they are, effects of their plates in them.
    """
    for told in now.additivity:
        if told.contradicted and told.pairs:
            return told.pairs
    found: list[Interaction] = []
    for position in now.measured_endpoints:
        own = [m for m in now.measurements if m.endpoint == position and m.usable]
        pooled = pool((m.compound for m in own), (m.value for m in own), (m.n for m in own), len(now.library))
        rows = np.flatnonzero(pooled.counts > 0)
        noise = now.endpoints[position].noise_sd
        found += interactions(now.library, rows, pooled.means[rows], pooled.counts[rows], noise)
    return tuple(sorted(found, key=lambda one: (one.p, -one.explained)))


def sign_in_words(pair: Interaction | None) -> str:
    """Return what speaks for taking a pair together, in a sentence; for None that nothing can be told."""
    if pair is None:
        return "From what was measured no pair of sites can be told to act together; any two can be chosen."
    p = f"p {number(max(pair.p, 1e-4))}{' or less' if pair.p < 1e-4 else ''}"
    return (
        f"The greatest sign is that of {pair.sites[0]} and {pair.sites[1]} ({p}): taken together they explain "
        f"{percent(pair.explained)} of what the sum of effects leaves."
    )
