"""What a plan costs and how long it waits, in words: what was never said is not known, neither free nor soon."""

from __future__ import annotations

import math

from assaypilot.engine.campaign.stock.choice import PlanOption
from assaypilot.engine.campaign.stock.view import money
from assaypilot.engine.campaign.words import many

__all__ = ["NOT_KNOWN", "cost_words", "making_words", "not_said", "wait_words"]

NOT_KNOWN = "not known"


def wait_words(option: PlanOption) -> str:
    """``42 days``, ``none``, or ``not known`` where nobody has said how long anything takes."""
    if not option.to_make:
        return "none"
    if not option.wait and option.wait_unknown:
        return NOT_KNOWN
    return many(math.ceil(option.wait), "day") if option.wait else "none"


def making_words(option: PlanOption, currency: str) -> str:
    """``4 compounds, 690 EUR``, ``4 compounds``, or ``nothing``."""
    if not option.to_make:
        return "nothing"
    made = many(len(option.to_make), "compound")
    return f"{made}, cost {NOT_KNOWN}" if _free(option) else f"{made}, {money(option.making, currency)}"


def cost_words(option: PlanOption, currency: str) -> str:
    """``690 EUR``, or ``not known`` where neither the making nor a measurement has a cost that was said."""
    return NOT_KNOWN if _free(option) and not option.cost else money(option.cost, currency)


def not_said(option: PlanOption) -> list[str]:
    """What is counted in place of costs and times that were not said, as sentences; none where nothing is."""
    said = []
    for number, what, counted in (
        (option.unknown, "cost", not _free(option)),
        (option.wait_unknown, "lead time", option.wait > 0),
    ):
        if number:
            usual = "; the usual one is counted" if counted else ", and is not counted"
            said.append(f"The {what} of {many(number, 'compound')} is not known{usual}.")
    return said


def _free(option: PlanOption) -> bool:
    """Whether what making costs is unknown altogether, so that nothing is counted for it."""
    return bool(option.unknown) and not option.making
