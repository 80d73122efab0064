"""Confirmation rounds: each compound that is in and was never measured, once. Nothing is written here.

They begin when the campaign has ended, and decide nothing: their values belong to no phase, so that the guarantee stays
what it was, and enter estimates and probabilities like all others. What they find speaks about the model, which the
decisions took for granted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..domain.measurements import Measurement
from ..errors import AssayPilotError
from ..strategies.protocol import IN
from ..text import listed as names
from ..text import many
from . import noise as assay_noise
from .events.issued import ConfirmationIssued
from .file.chain import Draft
from .findings import LEVEL, Check, Confirmation, Prediction
from .replay import Ledger
from .rounds import expected, items_of
from .state import Candidates

Place = tuple[int, int]
"""Endpoint and compound, by their positions."""


def lacking(ledger: Ledger, candidates: Candidates) -> dict[int, tuple[int, ...]]:
    """Return the compounds that are in and lack a usable value of a measured endpoint: 1 for each that lacks, else 0.

    One number per measured endpoint; the best estimate first, for trade-offs the most probable. None where values are
    yes and no, or counts: one of them cannot confirm anything.
    """
    if ledger.coarse:
        return {}
    inside = np.flatnonzero(candidates.status == IN)
    usable = {(m.endpoint, m.compound) for m in ledger.measurements if m.usable}
    goodness = np.nan_to_num(ledger.endpoints[ledger.objective].sign * candidates.estimate[inside], nan=-np.inf)
    chance = np.zeros(len(inside))
    if ledger.settings.goal == "pareto":
        chance = np.nan_to_num(candidates.probability_within_epsilon[inside])
    found = {}
    for compound in inside[np.lexsort((-goodness, -chance))].tolist():
        missing = tuple(int((k, compound) not in usable) for k in ledger.measured)
        if any(missing):
            found[compound] = missing
    return found


def _answer(ledger: Ledger) -> str:
    """Return the name of one value of an endpoint that cannot confirm anything."""
    counted = ledger.link[0] == "log" or ledger.endpoints[ledger.coarse[0]].kind == "count"
    return "count" if counted else "yes or no"


def confirmation_round(ledger: Ledger, candidates: Candidates) -> list[Draft]:
    """Return the event of the next confirmation round, with its predictions.

    None when nothing is left to confirm.

    At most what the lab takes in a round; the rest comes in the next one. AssayPilotError where one value of the
    objective is almost uninformative.
    """
    if ledger.coarse:
        name = ledger.endpoints[ledger.objective].name
        raise AssayPilotError(
            f"one {_answer(ledger)} of {name} cannot confirm a compound",
            mend="Record repeated measurements of what is in, with their N: they enter the estimates.",
        )
    due = {c: missing for c, missing in lacking(ledger, candidates).items() if c not in ledger.unavailable}
    chosen: list[int] = []
    room = ledger.settings.per_round
    for compound, missing in due.items():
        if sum(missing) > room and chosen:
            break
        chosen.append(compound)
        room -= sum(missing)
    if not chosen:
        return []
    family = len(_tested_before(ledger) | {(k, c) for c, missing in due.items() for k in _of(ledger, missing)})
    informing = assay_noise.informing(ledger)
    counts = [due[compound] for compound in chosen]
    once = [(compound, 1) for compound in chosen]
    data = {
        "round": len(ledger.rounds) + 1,
        "items": items_of(ledger, once, [_reason(ledger, missing) for missing in counts], counts),
        "noise": [informing[k].noise_sd or 0.0 for k in ledger.measured],
        "width": _width(family),
    }
    return [ConfirmationIssued.draft(data)]


def _of(ledger: Ledger, missing: Sequence[int]) -> list[int]:
    return [k for k, n in zip(ledger.measured, missing, strict=True) if n]


def _tested_before(ledger: Ledger) -> set[Place]:
    """Return what was predicted in confirmation rounds already."""
    return {
        (p.endpoint, p.compound) for issued in ledger.rounds if issued.state != "withdrawn" for p in issued.predicted
    }


def _width(family: int) -> float:
    """Return half-width, in SDs, of ``family`` two-sided intervals that hold simultaneously at LEVEL (Bonferroni)."""
    from scipy.special import ndtri

    return float(-ndtri((1.0 - LEVEL) / (2.0 * family)))


def same_predictions(ledger: Ledger, data: Mapping[str, Any]) -> bool:
    """Return whether the facts so far give the predictions of a confirmation round's event (up to the last digits)."""
    informing = assay_noise.informing(ledger)
    now = [informing[k].noise_sd or 0.0 for k in ledger.measured]
    compounds = [item["compound"] for item in data["items"]]
    recorded = [item["each"] or [[item["expected"], item["low"], item["high"]]] for item in data["items"]]
    again = zip(*(expected(ledger, k, compounds) for k in ledger.measured), strict=True)
    return np.allclose(now, data["noise"]) and np.allclose([*again], recorded, rtol=1e-6, atol=1e-9)


def _reason(ledger: Ledger, missing: Sequence[int]) -> str:
    if all(missing):
        return "in, never measured"
    return f"in, never measured for {names([ledger.endpoints[k].scale_name for k in _of(ledger, missing)])}"


def confirmation(ledger: Ledger, candidates: Candidates, *, ended: bool) -> Confirmation:
    """Return what confirmation rounds have found.

    And the compounds of the next one when the campaign has ``ended``.
    """
    lack = lacking(ledger, candidates) if ended else {}
    held = ended and ledger.open_round is None
    issued = [one for one in ledger.rounds if one.confirmation and one.state != "withdrawn"]
    latest = {(p.endpoint, p.compound): p for one in issued for p in one.predicted}
    own: dict[Place, list[Measurement]] = {}
    for m in ledger.measurements:
        if (m.endpoint, m.compound) in latest and m.excluded is None and not m.withdrawn:
            own.setdefault((m.endpoint, m.compound), []).append(m)
    checks = tuple(_check(prediction, own.get(place, ())) for place, prediction in latest.items())
    states = _states(checks)
    return Confirmation(
        rounds=tuple(one.number for one in issued if not one.population),
        checks=checks,
        due=tuple(c for c in lack if c not in ledger.unavailable) if held else (),
        gone=tuple(c for c in lack if c in ledger.unavailable),
        measurements=ledger.confirming(),
        sentence=_sentence(ledger, checks, states),
        states=states,
    )


def _check(prediction: Prediction, values: Sequence[Measurement]) -> Check:
    """Return a prediction against the values of its compound and endpoint: none of them was there when it was made."""
    exact = [m for m in values if m.usable]
    n = sum(m.n for m in exact)
    if n:
        mean = math.fsum(m.n * m.value for m in exact) / n
        return Check(prediction, mean, n, abs(mean - prediction.mean) <= prediction.half(n))
    # A bound is informative only where all that it leaves open is outside.
    for m in values:
        off, half = m.value - prediction.mean, prediction.half(1)
        if (m.relation in ("<", "<=") and off < -half) or (m.relation in (">", ">=") and off > half):
            return Check(prediction, m.value, 0, False)
    return Check(prediction, None, 0, None)


def _states(checks: Sequence[Check]) -> dict[int, bool | None]:
    """Return for each compound whether all endpoints confirm it; None while some are unknown and none is outside."""
    found: dict[int, list[bool | None]] = {}
    for check in checks:
        found.setdefault(check.prediction.compound, []).append(check.inside)
    return {c: False if False in inside else None if None in inside else True for c, inside in found.items()}


def _sentence(ledger: Ledger, checks: Sequence[Check], states: Mapping[int, bool | None]) -> str:
    """``12 of 14 confirmed; 2 outside what the model predicts: SYN-7 (0.6 below), ..``; empty without a round."""
    if not states:
        return ""
    texts = [f"{sum(state is True for state in states.values()):,} of {many(len(states), 'compound')} confirmed"]
    outside = [compound for compound, state in states.items() if state is False]
    if outside:
        places = [f"{ledger.library.ids[c]} ({_how_far(ledger, checks, c)})" for c in outside]
        subject = "it" if len(outside) == 1 else "them"
        texts.append(
            f"{len(outside):,} outside what the model predicts: {names(places)}: "
            f"the additive model is in doubt for {subject}"
        )
    open_ = sum(state is None for state in states.values())
    if open_:
        texts.append(f"{open_:,} not measured yet")
    return f"{'; '.join(texts)}."


def _how_far(ledger: Ledger, checks: Sequence[Check], compound: int) -> str:
    """Return how far the values of a compound are from what was predicted: ``0.6 below``, ``hERG 0.6 above``."""
    texts = []
    for check in checks:
        off = check.off
        if check.prediction.compound == compound and check.inside is False and off is not None:
            name = f"{ledger.endpoints[check.prediction.endpoint].scale_name} " if ledger.per_sample > 1 else ""
            texts.append(f"{name}{abs(off):.2g} {'below' if off < 0 else 'above'}")
    return ", ".join(texts)
