"""What the phase under way is for: comparisons of compounds, and what of it is in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.library import Library

__all__ = ["Aims"]


@dataclass(frozen=True, eq=False, slots=True)
class Aims:
    """Comparisons that a phase is to tell of, beside blocks whose effects are taken out."""

    phase: int
    first: Ints
    """``(m,)``, compounds; none where all are compared with each other, as in a first phase."""
    second: Ints
    """``(m,)``, what each is compared with."""
    precision: Floats
    """``(m,)``, one over the standard error that each still needs."""
    endpoints: tuple[int, ...]
    """Positions of the endpoints that they are compared in."""
    telling: Mapping[int, frozenset[int]]
    """By endpoint the controls that tell of blocks; none before one was read that has no nominal value."""
    so_far: Mapping[int, Mapping[tuple[int, tuple[int, str]], float]]
    """By endpoint, compound and block: how many measurements of the phase are in."""
    controls: Mapping[int, Mapping[tuple[int, str], float]]
    """By endpoint and block: how many controls were read there."""

    def rows(self, library: Library) -> Floats | None:
        """``(m, d)``, the differences of features, each times the precision it needs; None where all are compared."""
        if not len(self.first):
            return None
        from assaypilot.engine.features import SiteFeatures

        features = SiteFeatures.of(library)
        rows: Floats = (features.dense(self.first) - features.dense(self.second)) * self.precision[:, None]
        return rows
