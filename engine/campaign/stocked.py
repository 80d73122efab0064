"""The stock of a campaign's compounds: stated by lists, changed by arrivals and results, kept as events.

A compound that cannot be made is marked as unavailable, as ``record --unavailable`` does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..domain.stock import CANNOT, IN_STOCK, NOT_STATED, TO_MAKE, StockLine, StockTerms
from ..errors import AssayPilotError
from ..strategies.designs import table
from ..strategies.protocol import State, Supply
from . import codec
from .bookkeeping import Books
from .file.chain import Draft
from .issued_rounds import Source
from .layout import reasons
from .stock_view import Order, Stock, StockView

if TYPE_CHECKING:
    from .replay import Ledger

CANNOT_BE_MADE = "cannot be made"
"""The reason that a stock list marks a compound with."""


# ---------------------------------------------------------------------- reading


def at_hand(ledger: Books) -> Flags:
    """Return ``(n_compounds,)``: which are there to be tested: in stock, arrived, or measured here; all without a list.

    A compound in no list is there once it was measured at all.
    """
    stock = ledger.stock
    if stock is None:
        return np.ones(len(ledger.library), dtype=bool)
    there: Flags = stock.state == IN_STOCK
    stated = stock.state != NOT_STATED
    for m in ledger.measurements:
        if not m.withdrawn and (m.round > 0 or not stated[m.compound]):
            there[m.compound] = True
    return there


def of_arms(ledger: Books) -> tuple[Flags, Floats, Ints]:
    """Return for every arm whether it is at hand, what making it costs (0 at hand), and its compound to measure.

    Of compounds that are one arm the one at hand counts, else the cheapest available one; -1 where there is none.
    """
    stock = ledger.stock or Stock.blank(len(ledger.library))
    there, obtainable = at_hand(ledger), ledger.available()
    price = np.where(there, 0.0, stock.usual(stock.cost))
    # The last written wins, so the best come last; ties go to the first in library order.
    order = np.lexsort((-np.arange(len(price)), -price, there, obtainable))
    order = order[obtainable[order]]
    chosen = np.full(ledger.n_arms, -1, dtype=np.intp)
    chosen[ledger.arm_of[order]] = order
    known = chosen >= 0
    ready, cost = np.zeros(ledger.n_arms, dtype=bool), np.full(ledger.n_arms, math.inf)
    ready[known], cost[known] = there[chosen[known]], price[chosen[known]]
    return ready, cost, chosen


def as_supplied(ledger: Ledger, state: State) -> State:
    """Return the state to plan the next phase from, with what is at hand and what making the rest costs.

    The series model weighs costs itself. A proof plans for what is at hand and the cheapest others without which some
    effect could not be estimated: a design may be chosen in any way that does not look at its own results. Its state
    stays where the strategy plans as a whole, or the rest of the budget decides.
    """
    from ..design.budget_supports import cheapest_spanning
    from ..strategies.adaptive.planning import left_of

    if ledger.stock is None:
        return state
    ready, price, chosen = of_arms(ledger)
    if ready[chosen >= 0].all():
        return state
    if ledger.calibrated:
        ordered = np.isin(chosen, list(ledger.ordered)) & ~ready
        # Without any stated cost, making any compound costs the same.
        stated = price[np.isfinite(price) & (price > 0.0)]
        share = price / np.median(stated) if len(stated) else np.ones(len(price))
        supply = Supply(ready, ordered, np.where(ready, 1.0, 1.0 + share))
        return replace(state, problem=replace(state.problem, supply=supply))
    if not ledger.strategy.info.any_plan:
        return state
    if ledger.settings.budget is not None and left_of(state) is not None:
        return state
    candidates = table(state.problem.features, np.flatnonzero(state.problem.measurable))
    here = np.flatnonzero(ready[candidates.rows])
    more = cheapest_spanning(candidates, price[candidates.rows], here)
    measurable = np.zeros(ledger.n_arms, dtype=bool)
    measurable[candidates.rows[np.concatenate([here, more])]] = True
    return replace(state, problem=replace(state.problem, measurable=measurable))


def orders(ledger: Ledger) -> tuple[Order, ...]:
    """Return what the phase under way needs and is not at hand, in the order of need.

    Under the series model also between phases: what was ordered stays ordered.
    """
    stock = ledger.stock
    if stock is None:
        return ()
    listed = [] if ledger.under_way is None else list(dict.fromkeys(c for c, _ in ledger.under_way.order))
    due: dict[int, int] = {}
    for (_, compound), n in ledger.outstanding().items():
        due[compound] = max(n, due.get(compound, 0))
    if ledger.under_way is None and ledger.calibrated:
        listed = [c for c in ledger.ordered if c not in ledger.unavailable]
        due = dict.fromkeys(listed, 1)
    there = at_hand(ledger)
    texts = dict(zip(listed, reasons(ledger.library, listed), strict=True))
    found = []
    for compound in listed:
        if compound in due and not there[compound]:
            cost, lead = codec.finite(stock.cost[compound]), codec.finite(stock.lead[compound])
            when = ledger.ordered.get(compound, "")
            found.append(Order(compound, due[compound], cost, lead, when, texts[compound], _arrival(when, lead)))
    return tuple(found)


def _arrival(ordered: str, lead: float | None) -> str | None:
    if not ordered or lead is None:
        return None
    day = datetime.fromisoformat(ordered.replace("Z", "+00:00")).astimezone(UTC) + timedelta(days=math.ceil(lead))
    return day.date().isoformat()


def view(ledger: Ledger) -> StockView | None:
    """Return the stock to show; None without a list."""
    stock = ledger.stock
    if stock is None:
        return None
    there = at_hand(ledger)
    state = np.where(there, IN_STOCK, TO_MAKE).astype(np.int8)
    state[~ledger.available()] = CANNOT
    left = {compound for _, compound in ledger.outstanding()}
    waiting = ledger.open_round is None and bool(left) and not there[list(left)].any()
    return StockView(state, stock.cost, stock.lead, stock.terms, orders(ledger), waiting)


# ---------------------------------------------------------------------- writing


def stock_drafts(
    ledger: Books,
    lines: Sequence[StockLine],
    terms: StockTerms,
    *,
    source: Source | None = None,
    note: str = "",
) -> list[Draft]:
    """Return the event of what is stated now; none when nothing of it is new.

    AssayPilotError when it leaves nothing that can be measured, or makes available a compound that never was.
    """
    stock = ledger.stock or Stock.blank(len(ledger.library))
    now = replace_lines(stock, lines)
    later = terms.over(stock.terms)
    changed = [
        line.compound
        for line in lines
        if _columns(now, [line.compound]) != _columns(stock, [line.compound])
        or (now.state[line.compound] == CANNOT) != (line.compound in ledger.unavailable)
    ]
    if not changed and ledger.stock is not None and later == stock.terms:
        return []
    gone = [c for c in changed if now.state[c] == CANNOT and c not in ledger.unavailable]
    back = [c for c in changed if now.state[c] in (IN_STOCK, TO_MAKE) and c in ledger.unavailable]
    never = [c for c in changed if now.state[c] in (IN_STOCK, TO_MAKE) and not ledger.library.measurable[c]]
    if never:
        raise AssayPilotError(
            f"{ledger.library.ids[never[0]]} was taken in as a compound that cannot be measured, and stays so",
            mend="Leave it out of the list.",
        )
    left = ledger.available([c for c in (*ledger.unavailable, *gone) if c not in back])
    if gone and not left.any():
        raise AssayPilotError("no compound would be left to measure", mend="Check the column of stock.")
    data = {
        "compounds": changed,
        **_columns(now, changed),
        "terms": asdict(later),
        "gone": [[c, CANNOT_BE_MADE] for c in gone],
        "back": [[c, ledger.unavailable[c]] for c in back],
        "source": codec.source_to_json(source),
        "note": " ".join(note.split()),
    }
    return [Draft("stock_stated", data)]


def replace_lines(stock: Stock, lines: Sequence[StockLine]) -> Stock:
    """Return the stock with the values of the lines; values they do not state stay."""
    arrays = {name: getattr(stock, name).copy() for name in ("state", "cost", "lead")}
    for line in lines:
        for name, array in arrays.items():
            stated = getattr(line, name)
            array[line.compound] = array[line.compound] if stated is None else stated
    return replace(stock, **arrays)


def _columns(stock: Stock, compounds: Sequence[int]) -> dict[str, list[Any]]:
    """Return the stock of compounds as the log keeps it."""
    cost, lead = ([codec.finite(values[c]) for c in compounds] for values in (stock.cost, stock.lead))
    return {"state": [int(stock.state[c]) for c in compounds], "cost": cost, "lead": lead}


# ---------------------------------------------------------------------- the fold


def take(ledger: Books, data: Mapping[str, Any]) -> None:
    """Take in what an event states."""
    stock = ledger.stock or Stock.blank(len(ledger.library))
    arrays = {name: getattr(stock, name).copy() for name in ("state", "cost", "lead")}
    for name, array in arrays.items():
        array[list(data["compounds"])] = [math.nan if value is None else value for value in data[name]]
    ledger.stock = Stock(**arrays, terms=StockTerms(**data["terms"]))
    for compound, reason in data["gone"]:
        ledger.unavailable[compound] = reason
    for compound, _ in data["back"]:
        ledger.unavailable.pop(compound, None)


def noted_orders(ledger: Books, time: str) -> None:
    """Note what the phase just planned has to order as ordered at this time, unless it was before."""
    if ledger.stock is None or ledger.under_way is None:
        return
    there = at_hand(ledger)
    new = {c: time for c in ledger.under_way.planned if not there[c] and c not in ledger.ordered}
    ledger.ordered = {**ledger.ordered, **new}
