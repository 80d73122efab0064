"""What a confirmation found of a compound, in words and with a sign: never by colour alone."""

from __future__ import annotations

from assaypilot.engine.campaign.confirmed import Check
from assaypilot.engine.campaign.phrases import joined
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.shortlist import confirmed

__all__ = ["confirmation_rows", "confirmed_text", "doubt_text"]

_SIGNS = {True: "\N{CHECK MARK}", False: "\N{BALLOT X}", None: "\N{HORIZONTAL ELLIPSIS}"}


def confirmed_text(status: Status, compound: int) -> str:
    """``✓ confirmed``, ``✗ not confirmed: 0.62 below predicted``, ``… not measured yet``; empty for all others."""
    words = confirmed(status, compound)
    return f"{_SIGNS[status.confirmation.states.get(compound)]} {words}" if words else ""


def confirmation_rows(status: Status, compound: int) -> list[tuple[str, str]]:
    """Captions and values: what was predicted of each endpoint, and whether it is confirmed; none without a round."""
    words = confirmed_text(status, compound)
    if not words:
        return []
    checks = status.confirmation.of(compound)
    several = len(status.measured_endpoints) > 1
    said = [f"{f'{_scale(status, check)} ' if several else ''}{_interval(check)}" for check in checks]
    return [*([("Predicted", ", ".join(said))] if said else []), ("Confirmed", words)]


def doubt_text(status: Status, compound: int) -> str:
    """What lies outside its prediction, and what that means."""
    outside = status.confirmation.outside(compound)
    said = [
        f"{_scale(status, check)} {check.value:.2f}, predicted {_interval(check)}"
        for check in outside
        if check.value is not None
    ]
    return (
        f"Measured {joined(said)}. The additive model is in doubt for it. It stays in, because a confirmation decides "
        "nothing: measure it again, and look at its measurement before it is sent on."
    )


def _scale(status: Status, check: Check) -> str:
    return status.endpoints[check.prediction.endpoint].scale_name


def _interval(check: Check) -> str:
    """The prediction interval of as many measurements as there are."""
    middle, half = check.prediction.mean, check.half
    return f"{middle - half:.2f} \N{EN DASH} {middle + half:.2f}"
