"""Plates of a round that are laid out, or laid out otherwise, when results of it are in."""

from __future__ import annotations

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.words import many
from assaypilot.engine.errors import AssayPilotError

__all__ = ["moved_in_words", "refuse_moved"]


def _came(status: Status, number: int) -> int:
    """Values of a round that are in, those of controls too."""
    values = sum(m.round == number and not m.withdrawn for m in status.measurements)
    return values + sum(r.round == number and not r.withdrawn for r in status.readings)


def refuse_moved(status: Status, number: int) -> None:
    """Nothing; AssayPilotError where what stands together tells what plates shift, and some of it was read."""
    came = _came(status, number)
    if came and status.settings.blocks == "plate":
        was = "was" if came == 1 else "were"
        raise AssayPilotError(
            f"{many(came, 'value')} of round {number} {was} read where it stood, and what stands together tells what a "
            "plate shifts: other plates would put them elsewhere",
            option="--plate",
            mend="Leave its plates as they are; the next round can be laid out otherwise.",
        )


def moved_in_words(status: Status, number: int) -> tuple[str, ...]:
    """What other plates mean for the values of a round that are in, in a sentence; empty without any."""
    came = _came(status, number)
    if not came:
        return ()
    keep = "is in already. It keeps the plate" if came == 1 else "are in already. They keep the plates"
    return (f"{many(came, 'value')} of round {number} {keep} and wells that were entered, whatever these say.",)
