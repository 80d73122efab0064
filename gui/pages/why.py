"""What the panel says of a compound: the reasons of the engine, or that its confirmation is in doubt."""

from __future__ import annotations

from assaypilot.engine.campaign.reasons.reasons import Reasoning
from assaypilot.engine.campaign.state import Status

from ..confirming import doubt_text

__all__ = ["why"]


def why(status: Status, compound: int, reasoning: Reasoning) -> tuple[str, str, bool]:
    """Heading and text for a compound, and whether it asks to be looked at."""
    if compound in status.confirmation.not_confirmed:
        return "Not confirmed", f"{doubt_text(status, compound)} {reasoning.why}", True
    return reasoning.heading, reasoning.why, reasoning.open
