"""A campaign begun anew in a file of its own, with one more endpoint, and what was measured as its history.

A second objective asks another question, so a campaign never adds one on the way: a new one begins, with the same
compounds, stock and endpoints. What was measured is its history, shown and used to estimate; decisions rest on what it
measures itself, so that the guarantee holds although its terms were chosen by values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..domain.endpoint import Endpoint
from ..domain.measurements import Measurement, Result
from ..domain.stock import CANNOT, UNSAID, StockLine, StockTerms
from ..strategies.registry import get
from ..system.progress import Report, silent
from .campaign import Campaign
from .changes import one_more
from .phrases import joined, many
from .state import Settings, Source, Status


@dataclass(frozen=True, slots=True)
class Restart:
    """What the new campaign has otherwise; all else is as here."""

    endpoint: Endpoint
    """One more endpoint: with a limit, to be recorded only, or an objective."""
    trade_off: bool = False
    """Whether it is an objective beside those there are: the best trade-offs are wanted."""


def consequences_of_restart(now: Status, wanted: Restart) -> tuple[str, ...]:
    """Return what beginning anew so does, in sentences.

    AssayPilotError for what is no endpoint.
    """
    endpoints, settings = _terms(now, wanted)
    told = ["A new campaign begins. This file stays as it is.", _of_endpoint(endpoints[-1], settings)]
    kept = sum(not one.excluded for one in _history(now))
    if kept:
        told.append(
            f"{many(kept, 'value')} go with it as history: shown and used to estimate, not to decide. So its guarantee "
            "holds, although its terms were chosen by them; what was decided here is decided again."
        )
    if now.stock is not None:
        told.append("Stock, costs and lead times go with it as they are now.")
    return tuple(told)


def begin_anew(now: Status, path: str | Path, wanted: Restart, report: Report = silent) -> Campaign:
    """Return the new campaign, open, in a new file; AssayPilotError, and nothing written, when it cannot be made."""
    endpoints, settings = _terms(now, wanted)
    measurable = now.library.measurable.copy()
    # What cannot be made any more may be one day: that is said of stock, the rest of the library.
    measurable[sorted(set(now.unavailable) - set(_cannot(now)))] = False
    return Campaign.create(
        path,
        library=replace(now.library, measurable=measurable),
        endpoints=endpoints,
        settings=settings,
        history=_history(now),
        source=Source(now.name),
        stock=_stock(now),
        report=report,
    )


def _terms(now: Status, wanted: Restart) -> tuple[tuple[Endpoint, ...], Settings]:
    endpoints, settings = now.endpoints, replace(now.settings, strategy=now.strategy)
    endpoints = (*endpoints, one_more(endpoints, wanted.endpoint))
    if wanted.trade_off:
        names = (*settings.objectives, wanted.endpoint.name)
        strategy = now.strategy if "pareto" in get(now.strategy).info.goals else "auto"
        parameters = settings.parameters if strategy == now.strategy else {}
        settings = replace(
            settings, goal="pareto", objectives=names, slack=None, strategy=strategy, parameters=parameters
        )
    return endpoints, settings


def _of_endpoint(new: Endpoint, settings: Settings) -> str:
    """Return what the new endpoint is there for, in a sentence."""
    if new.name in settings.objectives:
        return f"Its goal is the best trade-offs between {joined(list(settings.objectives))}."
    if new.limit is not None:
        return f"What surely fails {new.limit_text} is out there."
    return f"{new.name} is recorded there, and decides nothing."


def _cannot(now: Status) -> list[int]:
    """Compounds of which the stock list says that they cannot be made, and that were in the table as measurable."""
    if now.stock is None:
        return []
    return [c for c in now.unavailable if now.stock.state[c] == CANNOT and now.library.measurable[c]]


def _stock(now: Status) -> tuple[Sequence[StockLine], StockTerms]:
    """Return what is known of stock, costs and lead times, as lists of a new campaign say it."""
    stock = now.stock
    if stock is None:
        return (), UNSAID
    had = now.library.measurable
    lines = [
        StockLine(
            c,
            int(stock.state[c]),
            float(stock.cost[c]) if np.isfinite(stock.cost[c]) else None,
            float(stock.lead[c]) if np.isfinite(stock.lead[c]) else None,
        )
        for c in range(len(had))
        if had[c]
    ]
    return lines, stock.terms


def _history(now: Status) -> list[Result]:
    """Return what was measured and can be used or shown, as it was entered; what was corrected, as it is now.

    What was left out goes along, left out, where the noise is told by replicates: which are missing must be seen.
    """
    told = [endpoint.noise_estimated for endpoint in now.endpoints]
    return [_as_it_is(now, m) for m in now.measurements if not m.withdrawn and (m.excluded is None or told[m.endpoint])]


def _as_it_is(now: Status, m: Measurement) -> Result:
    endpoint = now.endpoints[m.endpoint]
    # Where there was one endpoint alone, or one compound by that name, it need not have been said which.
    told = replace(m.entered, compound=now.library.ids[m.compound], endpoint=endpoint.name)
    if m.excluded is not None:
        told = replace(told, excluded=True, comment=m.excluded)
    if m.corrected is None:
        return told
    return replace(
        told,
        value=endpoint.from_model(m.value),
        relation=endpoint.relation_on_model(m.relation),  # a flip, and so its own opposite
        unit=None,
    )
