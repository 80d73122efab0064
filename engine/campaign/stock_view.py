"""The stock of a campaign: what lists state, as arrays, as pages and documents show it, and in words.

What was not stated is unknown, neither free nor immediate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..domain.stock import CANNOT, IN_STOCK, STATES, TO_MAKE, USUAL, StockTerms
from ..text import joined, many
from ..text import listed as names


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
    """Of making it; None where it is unknown."""
    lead: float | None
    """Days; None where they are unknown."""
    ordered: str
    """UTC time at which the phase that requests it was planned."""
    why: str
    """Why the phase wants it, in a few words."""
    expected: str | None
    """Date on which it should be there, ``YYYY-MM-DD``; None without a lead time."""


@dataclass(frozen=True, eq=False)
class Stock:
    """The state of every compound, in library order, in read-only arrays."""

    state: NDArray[np.int8]
    """``(n,)`` of NOT_STATED, IN_STOCK, TO_MAKE, CANNOT, as in the lists."""
    cost: Floats
    """``(n,)`` of making it; NaN where it is unknown."""
    lead: Floats
    """``(n,)`` days; NaN where it is unknown."""
    terms: StockTerms = field(default=USUAL)

    @classmethod
    def blank(cls, n: int) -> Stock:
        """Return a stock of n compounds without any statement."""
        return cls(np.zeros(n, dtype=np.int8), np.full(n, np.nan), np.full(n, np.nan))

    def fitted(self, n: int) -> Stock:
        """Return the same for a library that has grown to n compounds; the new ones are not stated."""
        more = Stock.blank(n - len(self.state))
        state, cost, lead = (
            np.concatenate([getattr(one, name) for one in (self, more)]) for name in ("state", "cost", "lead")
        )
        return Stock(state, cost, lead, self.terms)

    def usual(self, values: Floats) -> Floats:
        """Return cost or lead of each compound, ``(n,)``; where unknown the median of those that are to be made."""
        known = values[np.isfinite(values) & (self.state != IN_STOCK)]
        return np.where(np.isfinite(values), values, float(np.median(known)) if len(known) else 0.0)


@dataclass(frozen=True, eq=False)
class StockView(Stock):
    """The stock as pages and documents show it, with present states: in stock, to be made or unavailable."""

    orders: tuple[Order, ...] = ()
    waiting: bool = False
    """Whether nothing can be tested before one of the orders is there."""

    @property
    def currency(self) -> str:
        """The currency of all costs."""
        return self.terms.currency or str(USUAL.currency)

    def word(self, compound: int) -> str:
        """Return the availability of a compound: ``in stock``, ``to be made``, ``cannot be made``."""
        return STATES[int(self.state[compound])]

    def cost_of(self, compound: int) -> float | None:
        """Return the cost of making a compound that is to be made; None where it is there, or the cost is unknown."""
        cost = float(self.cost[compound])
        return cost if self.state[compound] == TO_MAKE and math.isfinite(cost) else None

    def lead_of(self, compound: int) -> float | None:
        """Return the days of making a compound that is to be made; None where it is there, or they are unknown."""
        lead = float(self.lead[compound])
        return lead if self.state[compound] == TO_MAKE and math.isfinite(lead) else None

    def costs_and_days(self, compounds: Sequence[int]) -> tuple[list[float | None], list[float | None]]:
        """Return the stated cost of making each compound and its days, also of those that have arrived.

        Either is empty where no list states it of any of them.
        """
        each = [
            [float(values[c]) if math.isfinite(values[c]) else None for c in compounds]
            for values in (self.cost, self.lead)
        ]
        costs, leads = ([] if all(one is None for one in column) else column for column in each)
        return costs, leads


_WORDS = {IN_STOCK: "in stock", TO_MAKE: "to be made", CANNOT: "cannot be made"}


def stock_in_words(data: Mapping[str, Any], ids: Sequence[str]) -> str:
    """Return one sentence for a ``stock_stated`` event."""
    compounds, states = data["compounds"], data["state"]
    if data["note"] == "arrived":
        return f"Arrived: {names([ids[c] for c in compounds])}"
    counts = [(states.count(code), word) for code, word in _WORDS.items()]
    states_in_words = [f"{n:,} {word}" for n, word in counts if n]
    source = f" from {data['source']['name']}" if data["source"] else ""
    details = f": {joined(states_in_words)}" if states_in_words else ""
    what = f"Stock of {many(len(compounds), 'compound')} stated{source}{details}" if compounds else "Costs stated"
    return f"{what} ({data['note']})" if data["note"] else what
