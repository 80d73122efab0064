"""What can be tried on the Goal page: the settings as numbers, where two of them differ, and how one reads them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.stated_noise import StatedNoise

if TYPE_CHECKING:
    from assaypilot.engine.campaign.changing.terms import Change

NOT_KNOWN = StatedNoise(None, estimated=True)
"""Noise that is estimated on the way."""

__all__ = ["NOT_KNOWN", "Terms", "change_between", "fold"]


@dataclass(frozen=True, slots=True)
class Terms:
    """The settings of a campaign that a chemist may think differently about later."""

    epsilon: float | None
    """None where the goal has none."""
    slack: float | None
    delta: float
    noise: tuple[tuple[str, float | StatedNoise], ...]
    """Name and assay noise (SD) of every endpoint that is measured; or that it is not known."""
    per_round: int
    replicates: int
    budget: int | None
    margins: tuple[tuple[str, float], ...] = ()
    """For trade-offs the difference that does not matter, of every endpoint of the goal."""

    @classmethod
    def of(cls, status: Status) -> Terms:
        """The settings of a campaign."""
        settings = status.settings
        measured = [status.endpoints[k] for k in status.measured_endpoints]
        return cls(
            epsilon=settings.distance if settings.goal == "epsilon-best" else None,
            slack=settings.softness if settings.goal != "pareto" else None,
            delta=settings.delta,
            noise=tuple(
                (one.name, _noise(one, one.noise_sd))
                for one in measured
                if one.noise_sd is not None and one.kind == "value"
            ),
            per_round=settings.per_round,
            replicates=settings.max_replicates,
            budget=settings.budget,
            margins=tuple(
                (status.endpoints[k].name, margin)
                for k, margin in zip(status.goal_endpoints, status.margins, strict=bool(status.margins))
            ),
        )

    def differing(self, other: Terms) -> tuple[str, ...]:
        """The names of what differs; empty when nothing does."""
        return tuple(one.name for one in fields(self) if getattr(self, one.name) != getattr(other, one.name))


def _noise(endpoint: Endpoint, sd: float) -> float | StatedNoise:
    """What is said of the noise of an endpoint, whose SD is this."""
    if endpoint.noise_estimated:
        return NOT_KNOWN
    return sd


def change_between(now: Terms, wanted: Terms) -> Change:
    """What a campaign would be told; only what differs."""
    from assaypilot.engine.campaign.changing.terms import Change

    said = {name: getattr(wanted, name) for name in now.differing(wanted)}
    for kind in ("noise", "margins"):
        if kind in said:
            before = dict(getattr(now, kind))
            said[kind] = {name: value for name, value in said[kind] if value != before.get(name)}
    if "replicates" in said:
        said["max_replicates"] = said.pop("replicates")
    return Change(**said)


def fold(distance: float) -> str:
    """A distance in log units as people say it: ``2-fold`` for 0.3, ``3-fold`` for 0.5; empty for none."""
    if not 0.0 < distance < 6.0:
        return ""
    factor = 10.0**distance
    whole = round(factor)
    close = abs(factor - whole) < 0.06 * factor
    return f"{whole:,}-fold" if close and whole > 1 else f"{factor:.2g}-fold"
