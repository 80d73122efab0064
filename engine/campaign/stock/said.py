"""What lists said of the stock of every compound, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from ...domain.stock import IN_STOCK, USUAL, StockTerms

__all__ = ["Stock"]


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
        more = n - len(self.state)
        if more <= 0:
            return self
        nothing = np.full(more, np.nan)
        return Stock(
            np.concatenate([self.state, np.zeros(more, dtype=np.int8)]),
            np.concatenate([self.cost, nothing]),
            np.concatenate([self.lead, nothing]),
            self.terms,
        )

    def price(self) -> Floats:
        """``(n,)`` what making each costs; where it was not said the median of those that are to be made."""
        known = self.cost[np.isfinite(self.cost) & (self.state != IN_STOCK)]
        usual = float(np.median(known)) if len(known) else 0.0
        return np.where(np.isfinite(self.cost), self.cost, usual)

    def wait(self) -> Floats:
        """``(n,)`` days until each is there; where it was not said the median of those that are to be made."""
        known = self.lead[np.isfinite(self.lead) & (self.state != IN_STOCK)]
        usual = float(np.median(known)) if len(known) else 0.0
        return np.where(np.isfinite(self.lead), self.lead, usual)
