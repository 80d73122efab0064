"""One compound of a campaign, and how sure its answer is, as documents and tables say them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from ..arrays import Floats
from ..campaign.state import STATUSES, Status
from ..campaign.stock_view import StockView
from ..domain.profiles import PROFILE
from ..text.documents import pick
from .measured import MeasuredMean, measured_means


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
    return [_entry(now, compound, {name: own.get(compound) for name, own in means.items()}) for compound in compounds]


def _entry(now: Status, compound: int, means: Mapping[str, MeasuredMean | None]) -> dict[str, Any]:
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
    """Return where values known only as bounds say that a compound lies, by endpoint; nothing without any."""
    known = now.candidates
    found = {}
    for name in {**known.under, **known.over}:
        told = {"below": _of(known.under, name, compound), "above": _of(known.over, name, compound)}
        if any(limit is not None and np.isfinite(limit) for limit in told.values()):
            found[name] = told
    return {"bounds": found} if found else {}


def _of(by_name: Mapping[str, Floats], name: str, compound: int) -> float | None:
    """Return a bound of an endpoint; None for endpoints that decide nothing."""
    return float(by_name[name][compound]) if name in by_name else None


def _stock_of(stock: StockView, compound: int) -> dict[str, Any]:
    """Return what an entry of ``compounds`` says of its stock."""
    return {"stock": stock.word(compound), "cost": stock.cost_of(compound), "lead_days": stock.lead_of(compound)}
