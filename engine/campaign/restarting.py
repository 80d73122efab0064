"""A campaign begun anew in a file of its own, under other terms, and what was measured as its history.

Which sites act together shapes every design and every bound, and is mostly seen from results; a second objective asks
another question. So a campaign never changes these on the way: a new one begins, with the same compounds, stock and
endpoints. What was measured is its history, shown and used to estimate; decisions rest on what it measures itself, so
that the guarantee holds although its terms were chosen by values. Before the first result that costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ..domain.endpoint import Endpoint
from ..domain.features import SiteFeatures, span_rank
from ..domain.interactions import Pairs, chosen_pairs, pair_name
from ..domain.measurements import Measurement, Result, pool
from ..domain.stock import CANNOT, UNSAID, StockLine, StockTerms
from ..errors import AssayPilotError
from ..models.interactions import Interaction, interactions
from ..strategies.registry import get
from ..system.progress import Report, silent
from ..text.percentages import percent
from .campaign import Campaign
from .changes import one_more
from .phrases import joined, many, number
from .state import Settings, Source, Status

__all__ = ["Restart", "begin_anew", "consequences_of_restart", "pairs_by_sign", "sign_in_words"]


@dataclass(frozen=True, slots=True)
class Restart:
    """What the new campaign has otherwise; all else is as here."""

    pairs: Sequence[str] | None = None
    """Pairs of sites that are taken together, ``R1,R2``; empty: none; None: those of here."""
    endpoint: Endpoint | None = None
    """One more endpoint: with a limit, to be recorded only, or an objective."""
    trade_off: bool = False
    """Whether it is an objective beside those there are: the best trade-offs are wanted."""


def consequences_of_restart(now: Status, wanted: Restart) -> tuple[str, ...]:
    """Return what beginning anew so does, in sentences.

    AssayPilotError for what is no pair or no endpoint, or when nothing of it is other than here.
    """
    pairs, endpoints, settings = _terms(now, wanted)
    told = ["A new campaign begins. This file stays as it is."]
    if pairs != now.library.interactions:
        library = replace(now.library, interactions=pairs)
        before, after = (span_rank(SiteFeatures.of(one)) for one in (now.library, library))
        taken = joined([pair_name(pair) for pair in pairs]) if pairs else "no sites"
        told[0] = (
            f"A new campaign begins, which takes {taken} together: {after:,} unknowns instead of {before:,}. This file "
            "stays as it is."
        )
        if pairs:
            told.append(
                "A combination of such substituents that cannot be measured in any compound cannot be estimated."
            )
    if wanted.endpoint is not None:
        told.append(_of_endpoint(endpoints[-1], settings))
    kept = sum(not one.excluded for one in _history(now))
    if kept:
        told.append(
            f"{many(kept, 'value')} go with it as history: shown and used to estimate, not to decide. So its guarantee "
            "holds, although its terms were chosen by them; what was decided here is decided anew."
        )
    if now.stock is not None:
        told.append("Stock, costs and lead times go with it as they are now.")
    return tuple(told)


def begin_anew(now: Status, path: str | Path, wanted: Restart, report: Report = silent) -> Campaign:
    """Return the new campaign, open, in a new file; AssayPilotError, and nothing written, when it cannot be made."""
    pairs, endpoints, settings = _terms(now, wanted)
    measurable = now.library.measurable.copy()
    # What cannot be made any more may be one day: that is said of stock, the rest of the library.
    measurable[sorted(set(now.unavailable) - set(_cannot(now)))] = False
    return Campaign.create(
        path,
        library=replace(now.library, interactions=pairs, measurable=measurable),
        endpoints=endpoints,
        settings=settings,
        history=_history(now),
        source=Source(now.name),
        stock=_stock(now),
        report=report,
    )


def _terms(now: Status, wanted: Restart) -> tuple[Pairs, tuple[Endpoint, ...], Settings]:
    pairs = now.library.interactions if wanted.pairs is None else _pairs(now, wanted.pairs)
    endpoints, settings = now.endpoints, replace(now.settings, strategy=now.strategy)
    if wanted.endpoint is None:
        if wanted.trade_off:
            raise AssayPilotError(
                "trade-offs need one more endpoint", option="--endpoint", mend='For example "hERG;sd=0.3".'
            )
        return pairs, endpoints, settings
    endpoints = (*endpoints, one_more(endpoints, wanted.endpoint))
    if wanted.trade_off:
        names = (*settings.objectives, wanted.endpoint.name)
        strategy = now.strategy if "pareto" in get(now.strategy).info.goals else "auto"
        parameters = settings.parameters if strategy == now.strategy else {}
        settings = replace(
            settings, goal="pareto", objectives=names, slack=None, strategy=strategy, parameters=parameters
        )
    return pairs, endpoints, settings


def _of_endpoint(new: Endpoint, settings: Settings) -> str:
    """Return what the new endpoint is there for, in a sentence."""
    if new.name in settings.objectives:
        return f"Its goal is the best trade-offs between {joined(list(settings.objectives))}."
    if new.limit is not None:
        return f"What surely fails {new.limit_text} is out there."
    return f"{new.name} is recorded there, and decides nothing."


def _pairs(now: Status, texts: Sequence[str]) -> Pairs:
    # A pair is added to those there are: two proposals that replace each other would never end.
    before = [",".join(pair) for pair in now.library.interactions] if texts else []
    pairs = chosen_pairs([site.name for site in now.library.sites], [*before, *texts])
    if set(pairs) == set(now.library.interactions):
        taken = joined([pair_name(pair) for pair in pairs]) if pairs else "no sites"
        raise AssayPilotError(f"this campaign takes {taken} together already", option="--interaction")
    return pairs


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


def pairs_by_sign(now: Status) -> tuple[Interaction, ...]:
    """Every pair of sites that can be tested by the exact values of the goal's endpoints, the most telling first.

    The values go as they are, effects of their plates in them.
    """
    found: list[Interaction] = []
    for position in now.measured_endpoints:
        own = [m for m in now.measurements if m.endpoint == position and m.usable]
        pooled = pool((m.compound for m in own), (m.value for m in own), (m.n for m in own), len(now.library))
        rows = np.flatnonzero(pooled.counts > 0)
        noise = now.endpoints[position].noise_sd
        found += interactions(now.library, rows, pooled.means[rows], pooled.counts[rows], noise)
    return tuple(sorted(found, key=lambda one: (one.p, -one.explained)))


def sign_in_words(pair: Interaction | None) -> str:
    """Return what speaks for taking a pair together, in a sentence; for None that nothing can be told."""
    if pair is None:
        return "From what was measured no pair of sites can be told to act together; any two can be chosen."
    p = f"p {number(max(pair.p, 1e-4))}{' or less' if pair.p < 1e-4 else ''}"
    return (
        f"The greatest sign is that of {pair.sites[0]} and {pair.sites[1]} ({p}): taken together they explain "
        f"{percent(pair.explained)} of what the sum of effects leaves."
    )
