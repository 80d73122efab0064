"""The shortlist as rows, columns and JSON: the same for the command line, the window and every format."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from ..arrays import Floats, Ints
from ..campaign.state import STATUSES, Status
from ..campaign.stock_view import StockView
from ..chemistry.cores import product_smiles
from ..domain.derived import PROFILE
from ..domain.endpoint import Endpoint
from ..errors import AssayPilotError
from ..strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED
from ..tables.headers import split_unit
from ..text import pick
from .measured import MeasuredMean, measured_means, only_bounds
from .sheet import Cell, Column, Sheet, rounded, sheet_of

Which = Literal["in", "undecided", "out", "all"]

_CODES = {"in": (IN,), "undecided": (UNDECIDED,), "out": (OUT,), "all": (IN, UNDECIDED, OUT, NOT_ESTIMABLE)}
EVIDENCE = "Evidence"
"""Header of what a row rests on: measured so often, or predicted."""
AVAILABILITY = "Availability"
"""Header of whether a compound is there."""
COST, LEAD = "Cost", "Lead (days)"
"""Headers of the cost and lead time of a compound; the cost's header ends with the currency."""
CONFIRMED = "Confirmed"
"""Header of whether a compound was measured where it was predicted to be; only where a confirmation round exists."""
AVAILABILITY_MEANS = (
    "made: measured at least once. In stock: never measured, stated as available. "
    "To be made: nothing says that it exists."
)
_SIGNIFICANT = 3
"""Digits of an estimate in the entry unit."""
_MOST_ASSEMBLED = 5_000
"""Compounds whose structures are put together from core and substituents, where no table has the structures."""


def decimals(epsilon: float) -> int:
    """Return the number of decimals that resolve a fraction of ``epsilon``."""
    return min(6, max(0, 1 - math.floor(math.log10(epsilon))))


def decimals_of(status: Status) -> int:
    """Return the number of decimals for a campaign's values, from its epsilon, its margins, else its noise."""
    settings = status.settings
    finest = settings.distance or settings.softness or min((margin for margin in status.margins if margin), default=0.0)
    return decimals(finest or status.endpoints[status.objective].noise_sd or 0.1)


def ranked(status: Status, which: Which = "all") -> Ints:
    """Compounds by status (in, undecided, out, not estimable), the best first, ties in library order.

    The best estimate comes first; for trade-offs the most probable one, then the best estimate of the first endpoint.
    AssayPilotError for a choice that does not exist.
    """
    if which not in _CODES:
        raise AssayPilotError(f"there is no choice {which!r}", mend=f"Choose one of: {', '.join(_CODES)}.")
    candidates = status.candidates
    place = np.empty(len(STATUSES), dtype=np.intp)
    place[list(_CODES["all"])] = np.arange(len(STATUSES))
    goodness = status.endpoints[status.objective].sign * candidates.estimate
    goodness = np.where(np.isnan(goodness), -np.inf, goodness)
    chance = candidates.probability_within_epsilon if status.margins else np.zeros(len(goodness))
    order = np.lexsort((-goodness, -np.nan_to_num(chance), place[candidates.status]))
    return order[np.isin(candidates.status[order], _CODES[which])]


def chances(status: Status) -> dict[str, Floats]:
    """Return the probabilities of every compound by what they are of.

    The goal (once where both are equal), each limit, and the profile.
    """
    candidates = status.candidates
    of_goal = (candidates.probability_within_epsilon, candidates.probability_within_slack)
    found = dict(zip(status.probability_names, of_goal, strict=True))
    for position in status.limited_endpoints:
        endpoint = status.endpoints[position]
        found[endpoint.limit_text] = candidates.probability_meets[endpoint.name]
    if candidates.profile_met is not None:
        found["profile met"] = candidates.profile_met
    return found


def evidence(status: Status, compound: int) -> str:
    """Return the evidence for a compound's place.

    ``measured 3``, else ``predicted, `` and why nothing counts as measured.
    """
    candidates = status.candidates
    if candidates.measured[compound]:
        return f"measured {int(candidates.measured[compound])}"
    if not candidates.made[compound]:
        return "predicted, never measured"
    if candidates.censored[compound]:
        limit = only_bounds(status, compound)
        return f"predicted, measured only as a bound{f' ({limit})' if limit else ''}"
    names = (status.endpoints[k].name for k in status.entered_endpoints)
    others = [name for name in names if candidates.measured_of[name][compound]]
    return f"predicted, measured for {', '.join(others)} only" if others else "predicted, its values are not used"


def availability(status: Status, compound: int) -> str:
    """Whether a compound is there, as far as the campaign knows: made, in stock, to be made; see AVAILABILITY_MEANS.

    A compound that was marked as unavailable is ``made, none left`` or ``unavailable``.
    """
    gone = compound in status.unavailable
    if status.candidates.made[compound]:
        return "made, none left" if gone else "made"
    if gone:
        return "unavailable"
    if status.stock is not None:
        return status.stock.word(compound)
    # Availability is stated only where some compounds cannot be measured.
    library = status.library
    return "in stock" if library.measurable[compound] and not library.all_measurable else "to be made"


def stock_columns(status: Status, compounds: Sequence[int]) -> list[Column]:
    """Return cost and lead time of each compound to be made; no columns where no list has them."""
    stock = status.stock
    if stock is None:
        return []
    return [
        Column(f"{COST} ({stock.currency})", [stock.cost_of(compound) for compound in compounds]),
        Column(LEAD, [stock.lead_of(compound) for compound in compounds]),
    ]


def confirmed(status: Status, compound: int) -> str:
    """Whether a measurement of its own confirms a compound: ``confirmed``, ``not confirmed: 0.6 below predicted``.

    ``not measured yet`` while that is to come; empty for compounds in no confirmation round.
    """
    found = status.confirmation
    if compound not in found.states:
        return "not measured yet" if found.rounds and compound in (*found.due, *found.gone) else ""
    state = found.states[compound]
    if state is None:
        return "not measured yet"
    if state:
        return "confirmed"
    several = len(status.measured_endpoints) > 1
    digits = decimals_of(status)
    far = [
        f"{f'{status.endpoints[check.prediction.endpoint].scale_name} ' if several else ''}"
        f"{abs(check.off):.{digits}f} {'below' if check.off < 0 else 'above'} predicted"
        for check in found.outside(compound)
        if check.off is not None
    ]
    return f"not confirmed: {', '.join(far)}"


def structure(status: Status, compound: int) -> str:
    """Return the SMILES of a compound, put together from its substituents where no table has drawn it.

    Empty without one.
    """
    drawn = "" if status.library.smiles is None else status.library.smiles[compound]
    return drawn or product_smiles(status.library, compound)


def table_of(status: Status, compounds: Sequence[int] | Ints) -> Sheet:
    """One row per compound in the order given, with what was decided and on what evidence."""
    library, candidates = status.library, status.candidates
    places = np.asarray(compounds, dtype=np.intp)
    listed: list[int] = places.tolist()
    digits = decimals_of(status)
    columns = [Column("ID", [library.ids[c] for c in listed])]
    structures = _structures(status, listed)
    if any(structures) or library.smiles is not None:
        columns.append(Column("SMILES", structures))
    for position, site in enumerate(library.sites):
        codes = library.codes[places, position].tolist()
        columns.append(Column(site.name, [site.substituents[code] for code in codes]))
    columns.append(Column("Status", [STATUSES[code] for code in candidates.status[places]]))
    rounds: list[int] = candidates.decided_in_round[places].tolist()
    columns.append(Column("Decided in round", [number or None for number in rounds]))
    for endpoint in status.endpoints:
        estimate = candidates.estimates.get(endpoint.name, np.full(len(library), np.nan))[places]
        columns.append(Column(f"{endpoint.scale_name} estimate", rounded(estimate, digits + 1), digits))
        if endpoint.transform == "log":
            unit = f" ({endpoint.unit})" if endpoint.unit else ""
            entered = [_entry(endpoint, value) for value in estimate]
            columns.append(Column(f"{split_unit(endpoint.name)[0]}{unit} estimate", entered, -_SIGNIFICANT))
        means = measured_means(status, status.endpoints.index(endpoint))
        if means:
            measured = [means.get(compound) for compound in listed]
            cells: list[Cell] = [
                None if one is None else one.text(digits) if one.mean is None else round(one.mean, digits + 1)
                for one in measured
            ]
            columns.append(Column(f"{endpoint.scale_name} measured", cells, digits))
            columns.append(Column(f"{endpoint.scale_name} n", [None if one is None else one.n for one in measured]))
        if endpoint.name in candidates.lows:
            low, high = candidates.lows[endpoint.name][places], candidates.highs[endpoint.name][places]
            columns.append(Column(f"{endpoint.scale_name} low", rounded(low, digits + 1), digits))
            columns.append(Column(f"{endpoint.scale_name} high", rounded(high, digits + 1), digits))
    for name, chance in chances(status).items():
        columns.append(Column(f"P({name})", rounded(chance[places], 4), 2))
    columns.append(Column(EVIDENCE, [evidence(status, compound) for compound in listed]))
    columns.append(Column(AVAILABILITY, [availability(status, compound) for compound in listed]))
    columns += stock_columns(status, listed)
    if status.confirmation.rounds:
        columns.append(Column(CONFIRMED, [confirmed(status, compound) for compound in listed]))
    return sheet_of(columns)


def brief_table(status: Status, compounds: Sequence[int]) -> Sheet:
    """Return compounds for a terminal or a notebook: status, estimates, chances, evidence, confirmation."""
    whole = table_of(status, compounds)
    scales = [status.endpoints[place].scale_name for place in status.requested_endpoints]
    columns = ["ID", "Status", *(f"{scale} {what}" for scale in scales for what in ("estimate", "low", "high"))]
    columns += [*(f"P({name})" for name in chances(status)), EVIDENCE, "Decided in round", CONFIRMED]
    return whole.only([name for name in dict.fromkeys(columns) if name in whole.header])


def provenance(status: Status, *, program: str, exported: str) -> tuple[tuple[str, Cell], ...]:
    """Return the provenance that every row can carry: goal, noise, guarantee, program, date, head."""
    noise = [(status.endpoints[k].scale_name, status.endpoints[k].noise_sd) for k in status.requested_endpoints]
    return (
        ("Goal", status.goal_sentence),
        *(("Assay noise (SD)" if len(noise) == 1 else f"Assay noise (SD) of {scale}", sd) for scale, sd in noise),
        ("Guarantee", status.guarantee.brief),
        ("Program", program),
        ("Exported", exported),
        ("Events", status.events),
        ("Campaign head", status.head),
    )


def _structures(status: Status, compounds: Sequence[int]) -> list[str]:
    """Return the structures of compounds; those no table has drawn only of the first few thousand."""
    smiles = status.library.smiles
    drawn = ["" if smiles is None else smiles[compound] for compound in compounds]
    if status.library.scaffold is not None:
        lacking = [place for place, text in enumerate(drawn) if not text][:_MOST_ASSEMBLED]
        for place in lacking:
            drawn[place] = product_smiles(status.library, compounds[place])
    return drawn


def _entry(endpoint: Endpoint, value: float) -> float | None:
    """Return a model-scale estimate in the entry unit, to three significant digits."""
    return (
        float(f"{endpoint.from_model(float(value)):.{_SIGNIFICANT}g}")
        if math.isfinite(value) and abs(value) < 300
        else None
    )


def claim_entry(now: Status) -> dict[str, Any]:
    """Return ``claim``: what is stated of the answer, its expected errors, and what the last audit round found."""
    claim, audit = now.claim, None
    if claim.audit is not None:
        audit = {
            **pick(claim.audit, "round population sampled members_found=found missed_upper=missed confidence"),
            "missed_share_upper": claim.audit.missed / claim.audit.population,
        }
    return {
        **pick(claim, "kind expected_missed expected_wrong"),
        "audit": audit,
        "model_check": None if claim.check is None else asdict(claim.check),
    }


def compound_entries(now: Status, compounds: Iterable[int]) -> list[dict[str, Any]]:
    """Return entries of ``compounds``; with several endpoints estimate, bounds and means are objects by endpoint."""
    means = {endpoint.name: measured_means(now, place) for place, endpoint in enumerate(now.endpoints)}
    return [
        _compound_entry(now, compound, {name: own.get(compound) for name, own in means.items()})
        for compound in compounds
    ]


def _compound_entry(now: Status, compound: int, means: Mapping[str, MeasuredMean | None]) -> dict[str, Any]:
    candidates = now.candidates
    estimate: Any = float(candidates.estimate[compound])
    low: Any = float(candidates.low[compound])
    high: Any = float(candidates.high[compound])
    mean: Any = {name: None if own is None else own.mean for name, own in means.items()}
    sd: Any = {name: None if own is None else own.sd for name, own in means.items()}
    more: dict[str, Any] = {}
    if len(now.endpoints) > 1:
        names = [endpoint.name for endpoint in now.endpoints]
        estimate = {name: float(candidates.estimates[name][compound]) for name in names}
        low = {name: _of(candidates.lows, name, compound) for name in names}
        high = {name: _of(candidates.highs, name, compound) for name in names}
        more["measured_mean"], more["measured_sd"] = mean, sd
        more["measured_of"] = {name: int(candidates.measured_of[name][compound]) for name in names}
    if candidates.profile_met is not None:
        parts = (candidates.estimates, candidates.lows, candidates.highs)
        more["desirability"] = {
            name: float(of[PROFILE][compound]) for name, of in zip(("estimate", "low", "high"), parts, strict=True)
        }
        more["probability_profile_met"] = float(candidates.profile_met[compound])
    if now.limited_endpoints:
        more["probability_meets_limits"] = {
            name: float(chance[compound]) for name, chance in candidates.probability_meets.items()
        }
    return {
        "id": now.library.ids[compound],
        "status": STATUSES[candidates.status[compound]].replace(" ", "_"),
        "decided_in_round": int(candidates.decided_in_round[compound]) or None,
        "estimate": estimate,
        "low": low,
        "high": high,
        "probability_within_epsilon": float(candidates.probability_within_epsilon[compound]),
        "probability_within_slack": float(candidates.probability_within_slack[compound]),
        "measured": int(candidates.measured[compound]),
        "measured_mean": next(iter(mean.values())),
        "measured_sd": next(iter(sd.values())),
        "censored": int(candidates.censored[compound]),
        **_bounds_of(now, compound),
        "made": bool(candidates.made[compound]),
        "confirmed": now.confirmation.states.get(compound),
        **({} if now.stock is None else _stock_of(now.stock, compound)),
        **more,
    }


def _bounds_of(now: Status, compound: int) -> dict[str, Any]:
    """Return a compound's bounds by endpoint, from values known only as bounds; empty without any."""
    known = now.candidates
    found = {}
    for name in {**known.under, **known.over}:
        bounds = {"below": _of(known.under, name, compound), "above": _of(known.over, name, compound)}
        if any(limit is not None and np.isfinite(limit) for limit in bounds.values()):
            found[name] = bounds
    return {"bounds": found} if found else {}


def _of(by_name: Mapping[str, Floats], name: str, compound: int) -> float | None:
    """Return a bound of an endpoint; None for endpoints that decide nothing."""
    return float(by_name[name][compound]) if name in by_name else None


def _stock_of(stock: StockView, compound: int) -> dict[str, Any]:
    """Return the stock keys of an entry of ``compounds``."""
    return {"stock": stock.word(compound), "cost": stock.cost_of(compound), "lead_days": stock.lead_of(compound)}
