"""What was said of stock, in a sentence of the history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assaypilot.engine.campaign.stock.view import money
from assaypilot.engine.campaign.words import joined, many, names
from assaypilot.engine.stock import CANNOT, IN_STOCK, TO_MAKE, USUAL

if TYPE_CHECKING:
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["choice_in_words", "stock_in_words"]

_WORDS = {IN_STOCK: "in stock", TO_MAKE: "to be made", CANNOT: "cannot be made"}


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
