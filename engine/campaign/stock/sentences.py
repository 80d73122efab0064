"""What was said of stock, and what a plan costs and how long it waits, in words.

What was never said is not known, neither free nor soon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...domain.stock import CANNOT, IN_STOCK, TO_MAKE, USUAL
from ..phrases import joined, many, names
from .view import money

if TYPE_CHECKING:
    from ..replay import Ledger
    from .choice import PlanOption

__all__ = [
    "NOT_KNOWN",
    "choice_in_words",
    "cost_words",
    "making_words",
    "not_said",
    "stock_in_words",
    "wait_words",
]

NOT_KNOWN = "not known"
_WORDS = {IN_STOCK: "in stock", TO_MAKE: "to be made", CANNOT: "cannot be made"}


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
    """Return what is counted in place of costs and times that were not said, as sentences; none where nothing is."""
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


def stock_in_words(data: Mapping[str, Any], ids: Sequence[str]) -> str:
    """One sentence for a ``stock_stated`` event."""
    compounds, states = data["compounds"], data["state"]
    if "undoes" in data:
        return f"Stock of {many(len(compounds), 'compound')} as it was said before"
    if data["note"] == "arrived":
        return f"Arrived: {names([ids[c] for c in compounds])}"
    counts = [(states.count(code), word) for code, word in _WORDS.items()]
    said = [f"{n:,} {word}" for n, word in counts if n]
    source = f" from {data['source']['name']}" if data["source"] else ""
    told = f": {joined(said)}" if said else ""
    what = f"Stock of {many(len(compounds), 'compound')} stated{source}{told}" if compounds else "Costs stated"
    return f"{what} ({data['note']})" if data["note"] else what


def choice_in_words(data: Mapping[str, Any], ledger: Ledger) -> str:
    """Which plan a phase was chosen as, behind its sentence; empty where there was nothing to choose."""
    choice = data.get("choice")
    if not choice:
        return ""
    currency = (ledger.stock.terms.currency if ledger.stock else None) or str(USUAL.currency)
    cost = f" for {money(choice['making'], currency)}" if choice["making"] else ""
    made = f"{many(choice['to_make'], 'compound')} to be made{cost}" if choice["to_make"] else "all in stock"
    return f" ({choice['plan']}: {made})"
