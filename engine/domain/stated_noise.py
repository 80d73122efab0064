"""What people say of an assay's noise: its SD, or that it is not known."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import AssayPilotError

UNKNOWN = "unknown"
"""The word for noise that is estimated on the way, from replicates."""


@dataclass(frozen=True, slots=True)
class StatedNoise:
    """An SD between measurements of one compound, model scale; or that it is not known, perhaps with a guess."""

    sd: float | None
    """The SD; where it is not known a guess for the first plan, or None."""
    estimated: bool = False
    """Whether it is not known."""

    @property
    def text(self) -> str:
        """As it is typed: ``0.2``, ``unknown``, ``unknown:0.2``."""
        own = "" if self.sd is None else f"{self.sd:g}"
        if self.estimated:
            own = f"{UNKNOWN}:{own}" if own else UNKNOWN
        return own


def parse_noise(text: str) -> StatedNoise:
    """Return what ``0.2``, ``unknown`` or ``unknown:0.2`` says; AssayPilotError for any other text."""
    word, colon, guess = text.strip().partition(":")
    unknown = word.strip().casefold() == UNKNOWN
    number = guess if unknown else text
    if unknown and not colon:
        return StatedNoise(None, True)
    try:
        return StatedNoise(float(number.strip().replace(",", ".")), unknown)
    except ValueError:
        raise AssayPilotError(
            f"assay noise (SD) must be a number or {UNKNOWN}, got {text.strip()!r}",
            option="--sd",
            mend=f"For example 0.2; or {UNKNOWN}, or {UNKNOWN}:0.2 with a guess for the first plan.",
        ) from None
