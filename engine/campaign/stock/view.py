"""The stock of a campaign as pages and documents show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...domain.stock import STATES, TO_MAKE, USUAL, StockTerms

__all__ = ["Order", "StockView", "money"]


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
class StockView:
    """The stock as pages and documents show it; one entry per compound, in library order."""

    state: NDArray[np.int8]
    """IN_STOCK, TO_MAKE or CANNOT now."""
    cost: Floats
    """Of making it, as it was said; NaN where it was not."""
    lead: Floats
    """Days, as they were said; NaN where they were not."""
    terms: StockTerms
    orders: tuple[Order, ...]
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
