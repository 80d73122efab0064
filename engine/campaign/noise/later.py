"""Classes of noise that are given when results were seen: each phase is weighed by what was said before it.

Weights that are chosen after values make another estimate, with a chance of error of its own (``charged``). So what was
measured before classes were ever given keeps the weights it was planned with: every measurement counts as one of the
largest SD, whatever its class. It scatters no more than that, so that steps of such phases are at most standard normal,
as those of SDs that nobody knows are: limits are a little farther (``models.sd_classes.of_walk``). Phases from then on
are weighed by class; that their weights were chosen by earlier results does not matter, as with designs. All walks are
in units of the largest SD, so that another value of it only makes all of them longer or shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

from assaypilot.engine.campaign.changing.turns import Turn
from assaypilot.engine.campaign.counting import Books

__all__ = ["given_after"]


def given_after(books: Books, turns: Sequence[Turn]) -> int:
    """The phases that had been decided when an endpoint of the goal was first given classes; 0: none, or no classes."""
    terms = [*(turn.was["endpoints"] for turn in turns), books.endpoints]
    found = [0]
    for k in books.behind(books.goal_endpoints):
        own = [k < len(one) and one[k].noise_classes is not None for one in terms]
        if True in own and not own[0]:
            found.append(turns[own.index(True) - 1].after)
    return max(found)
