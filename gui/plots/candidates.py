"""The picture of the candidates in the colours of the window."""

from __future__ import annotations

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export import answer
from assaypilot.engine.export.answer import Ends, Picture
from assaypilot.gui.theme import theme

__all__ = ["Picture", "picture_of"]


def picture_of(status: Status, selected: int | None, within: Ends | None = None) -> Picture:
    """The picture of a campaign's candidates, one of them ringed; a change of theme shows at the next drawing.

    ``within``: the ends of its axes, where they are not to follow from what is drawn.
    """
    made = answer.picture_of(status, selected, lambda: theme().colours.figure)
    made.within = within
    return made
