"""How what lies on the scale of a link is shown: chances for log odds, counts for logarithms."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Floats
from ..models.glm import Link, mean_value
from .phrases import number

__all__ = ["Scale"]


_ON_LINK: dict[Link, str] = {"identity": "", "logit": " log odds", "log": " (natural log)"}


@dataclass(frozen=True, slots=True)
class Scale:
    """The scale on which the objective's effects add up and its compounds are compared."""

    link: Link

    def shown(self, compared: Floats) -> Floats:
        """Return what is compared as it is shown: a chance, or a count."""
        return mean_value(self.link, compared)

    def far(self, distance: float) -> str:
        """Return a distance between two compounds in words: ``0.5``, ``1 log odds``."""
        return f"{number(distance)}{_ON_LINK[self.link]}"
