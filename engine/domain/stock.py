"""Availability: each compound is in stock, can be made for a price and in a time, or cannot be made."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from ..errors import AssayPilotError

NOT_STATED, IN_STOCK, TO_MAKE, CANNOT = 0, 1, 2, 3
"""The states of a compound in a stock list, as codes."""
STATES = ("", "in stock", "to be made", "cannot be made")
"""The same in words."""

LONGEST = 3650
"""Days; a longer time is a date, or an id."""
SHORTEST = 0.01
"""Days that a round takes at least."""
DEAREST = 1e12
"""Of any currency; what costs more is a typing error."""


@dataclass(frozen=True, slots=True)
class StockLine:
    """What is stated of one compound; None leaves a value as it was."""

    compound: int
    """Position in the library."""
    state: int | None = None
    """IN_STOCK, TO_MAKE or CANNOT."""
    cost: float | None = None
    """Of making it, in the campaign's currency."""
    lead: float | None = None
    """Days until it is there."""


@dataclass(frozen=True, slots=True)
class StockTerms:
    """What is stated of money and time in general; None leaves a value as it was."""

    currency: str | None = None
    round_days: float | None = None
    """How long the lab takes for a round."""

    def __post_init__(self) -> None:
        if self.round_days is not None and not SHORTEST <= self.round_days <= LONGEST:
            raise AssayPilotError(
                f"a round must take more than 0 days, and at most ten years, got {self.round_days:g}",
                option="--round-days",
                mend="7 is a week.",
            )
        if self.currency is not None and not 0 < len(self.currency.strip()) <= 12:
            raise AssayPilotError("a currency is a short word", option="--currency", mend="For example EUR.")

    def over(self, earlier: StockTerms) -> StockTerms:
        """Return these terms, and the earlier ones where these are None."""
        stated = {name: value for name, value in asdict(self).items() if value is not None}
        return replace(earlier, **stated)

    @property
    def stated(self) -> bool:
        """Return whether any term is stated."""
        return self != NOTHING_STATED


NOTHING_STATED = StockTerms()
"""No term stated."""
USUAL = StockTerms("EUR", 7.0)
"""Defaults of terms that were not stated."""
