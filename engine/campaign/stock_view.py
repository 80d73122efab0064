"""The stock of a campaign: what lists said of it, as arrays, as pages and documents show it, and in words.

What was never said is not known, neither free nor soon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..domain.stock import CANNOT, IN_STOCK, STATES, TO_MAKE, USUAL, StockTerms
from .phrases import joined, many, names

if TYPE_CHECKING:
    from .plan_choice import PlanOption
    from .replay import Ledger


def money(amount: float, currency: str) -> str:
    """Return an amount as people write it: ``1,200 EUR``; cents only where there are any."""
    return f"{amount:,.0f} {currency}" if abs(amount - round(amount)) < 0.005 else f"{amount:,.2f} {currency}"


@dataclass(frozen=True, slots=True)
class Order:
    """A compound of the phase under way that has to be made before it can be tested."""

    compound: int
    measurements: int
    """Measurements of every endpoint that the phase still wants of it."""
    cost: float | None
    """Of making it; None where it was not said."""
    lead: float | None
    """Days; None where they were not said."""
    ordered: str
    """UTC time at which the phase was planned that asks for it."""
    why: str
    """Why the phase wants it, in a few words."""
    expected: str | None
    """Date on which it should be there, ``YYYY-MM-DD``; None without a lead time."""


@dataclass(frozen=True, eq=False)
class Stock:
    """What is known of every compound, in library order; none of the arrays is written to."""

    state: NDArray[np.int8]
    """``(n,)`` of NOT_SAID, IN_STOCK, TO_MAKE, CANNOT, as the lists said."""
    cost: Floats
    """``(n,)`` of making it; NaN where it was not said."""
    lead: Floats
    """``(n,)`` days; NaN where it was not said."""
    terms: StockTerms = field(default=USUAL)

    @classmethod
    def blank(cls, n: int) -> Stock:
        """Nothing known of n compounds."""
        return cls(np.zeros(n, dtype=np.int8), np.full(n, np.nan), np.full(n, np.nan))

    def fitted(self, n: int) -> Stock:
        """Return the same for a library that has grown to n compounds; nothing was said of the new ones."""
        more = Stock.blank(n - len(self.state))
        state, cost, lead = (
            np.concatenate([getattr(one, name) for one in (self, more)]) for name in ("state", "cost", "lead")
        )
        return Stock(state, cost, lead, self.terms)

    def usual(self, values: Floats) -> Floats:
        """Return cost or lead of each compound, ``(n,)``; where not said the median of those that are to be made."""
        known = values[np.isfinite(values) & (self.state != IN_STOCK)]
        return np.where(np.isfinite(values), values, float(np.median(known)) if len(known) else 0.0)


@dataclass(frozen=True, eq=False)
class StockView(Stock):
    """The stock as pages and documents show it; its states are those now, in stock, to be made or not to be had."""

    orders: tuple[Order, ...] = ()
    waiting: bool = False
    """Whether nothing can be tested before one of the orders is there."""

    @property
    def currency(self) -> str:
        """The currency of all costs."""
        return self.terms.currency or str(USUAL.currency)

    def word(self, compound: int) -> str:
        """Return what can be had of a compound: ``in stock``, ``to be made``, ``cannot be made``."""
        return STATES[int(self.state[compound])]

    def cost_of(self, compound: int) -> float | None:
        """Return what making a compound that is to be made costs; None where it is there, or it was not said."""
        cost = float(self.cost[compound])
        return cost if self.state[compound] == TO_MAKE and math.isfinite(cost) else None

    def lead_of(self, compound: int) -> float | None:
        """How many days making a compound that is to be made takes; None where it is there, or it was not said."""
        lead = float(self.lead[compound])
        return lead if self.state[compound] == TO_MAKE and math.isfinite(lead) else None

    def said_of(self, compounds: Sequence[int]) -> tuple[list[float | None], list[float | None]]:
        """Return what lists said of these: the cost of making each and its days, also of those that are there by now.

        Either is empty where no list says it of any of them.
        """
        each = [
            [float(values[c]) if math.isfinite(values[c]) else None for c in compounds]
            for values in (self.cost, self.lead)
        ]
        costs, leads = ([] if all(one is None for one in said) else said for said in each)
        return costs, leads


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
        return f"Stock of {many(len(compounds), 'compound')} as stated before"
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
