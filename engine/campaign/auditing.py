"""Audit rounds: a random sample of what is not in, and a bound on how many members were missed.

The sample is drawn from all compounds that are not in, can be measured and never were, each with the same probability.
Whatever the model states, the number of members in the sample then has a hypergeometric distribution. The largest
number of members that would show so few of them with a probability of 5 % is a 95 % upper limit (Katz 1953). Sampling
by score would find more, but bound no better: the limit is valid wherever members are, so also where few were drawn.

A member is a compound within epsilon of the best one. No measured compound is better than the best. So the highest of
their lower limits, less epsilon, is a border that is too high with a probability of 0.5 % at most. The limits of all
measured compounds are simultaneous (Bonferroni), or the luckiest of many would lift it. A sampled compound counts as
found unless its measured mean plus 1.645 of its standard errors is below the border. So a member is found with a
probability of 95 % at least, which the limit takes into account. A compound without a result counts as found. Nothing
is written here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import bdtr, gammaln, ndtri

from ..arrays import Floats, Ints
from ..errors import AssayPilotError
from ..strategies.protocol import IN
from . import noise as assay_noise
from .events.issued import AuditIssued
from .file.chain import Draft
from .issued_rounds import Issued
from .replay import Ledger
from .rounds import items_of
from .state import Audit, Candidates

CONFIDENCE = 0.95
_DETECTED, _ERRORS = 0.95, 1.645
"""Probability that a sampled member counts as found, and the standard errors that it takes."""
_TOO_HIGH = 0.005
"""Probability that the border is too high; the rest of 1 - CONFIDENCE is that of the sample."""


@lru_cache(maxsize=4_096)
def members_at_most(
    population: int, sampled: int, found: int, detected: float = 1.0, error: float = 1.0 - CONFIDENCE
) -> int:
    """Return the upper limit, at 1 - ``error``, of the members where ``found`` were among those ``sampled``.

    Without replacement; each sampled member is found with the probability ``detected`` at least. Exact: the largest
    number under which so few are found with a probability of ``error`` or more.
    """

    def likely(members: int) -> bool:
        drawn = np.arange(min(members, sampled) + 1)
        kept = drawn[sampled - drawn <= population - members]
        log_chance = _log_choices(members, kept) + _log_choices(population - members, sampled - kept)
        chance = np.exp(log_chance - _log_choices(population, sampled)) @ bdtr(np.minimum(found, kept), kept, detected)
        return bool(chance >= error)

    low, high = min(found, population), population
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if likely(middle) else (low, middle - 1)
    return low


def _log_choices(n: int, k: Ints | int) -> Floats:
    """Return the logarithm of how many ways there are to choose ``k`` of ``n``."""
    return np.asarray(gammaln(n + 1.0) - gammaln(np.asarray(k) + 1.0) - gammaln(n - np.asarray(k) + 1.0))


def members_if_none(population: int, sampled: int) -> int:
    """Return the members that may be missed where no sampled compound turns out to be one."""
    return members_at_most(population, sampled, 0, _DETECTED, 1.0 - CONFIDENCE - _TOO_HIGH)


def audit_round(ledger: Ledger, candidates: Candidates, size: int) -> Draft:
    """Return the event of an audit round of ``size`` compounds; AssayPilotError where none can be drawn."""
    _refuse_goal(ledger)
    if not any(m.usable and m.relation == "=" and m.endpoint == ledger.objective for m in ledger.measurements):
        raise AssayPilotError("nothing was measured yet", mend="Record the first round; then there is a set to audit.")
    population = _population(ledger, candidates)
    if not len(population):
        raise AssayPilotError(
            "every compound that is not in was measured or cannot be", mend="There is nothing to audit: all is known."
        )
    if not 1 <= size <= len(population):
        raise AssayPilotError(
            f"{size:,} of {len(population):,} compounds cannot be drawn",
            option="--size",
            mend=f"Choose 1 to {len(population):,}.",
        )
    chosen = _sample(ledger, population, size)
    once = [(compound, 1) for compound in chosen]
    items = items_of(ledger, once, ["drawn at random"] * size, [(1,) * ledger.per_sample] * size)
    data = {"round": len(ledger.rounds) + 1, "items": items, "population": len(population)}
    return AuditIssued.draft(data)


def same_sample(ledger: Ledger, candidates: Candidates, data: Mapping[str, Any]) -> bool:
    """Return whether the facts so far draw the compounds that the event of an audit round names."""
    population = _population(ledger, candidates)
    compounds = [item["compound"] for item in data["items"]]
    if data["population"] != len(population) or len(compounds) > len(population):
        return False
    return _sample(ledger, population, len(compounds)) == compounds


def audited(ledger: Ledger) -> Audit | None:
    """Return the finding of the last closed audit round; None before one."""
    closed = [one for one in ledger.rounds if one.population and one.state == "closed"]
    if not closed:
        return None
    issued = closed[-1]
    sampled = len(issued.items)
    found = _found(ledger, issued)
    members = members_at_most(issued.population, sampled, found, _DETECTED, 1.0 - CONFIDENCE - _TOO_HIGH)
    return Audit(issued.number, issued.population, sampled, found, max(members - found, 0), CONFIDENCE)


def _found(ledger: Ledger, issued: Issued) -> int:
    """Return how many sampled compounds were not shown to be no members."""
    sign = ledger.endpoints[ledger.objective].sign
    sd = assay_noise.informing(ledger)[ledger.objective].noise_sd or 0.0
    means: dict[int, tuple[float, float]] = {}
    below: set[int] = set()
    values: dict[int, list[tuple[float, int]]] = {}
    for m in ledger.measurements:
        if m.endpoint == ledger.objective and m.excluded is None and not m.withdrawn:
            if m.relation == "=":
                values.setdefault(m.compound, []).append((sign * m.value, m.n))
            elif (m.relation[0] == "<") == (sign > 0):
                below.add(m.compound)
                means[m.compound] = sign * m.value, sd
    for compound, own in values.items():
        n = sum(times for _, times in own)
        means[compound] = sum(value * times for value, times in own) / n, sd / math.sqrt(n)
    exact = [both for c, both in means.items() if c not in below]
    errors = -ndtri(_TOO_HIGH / max(len(exact), 1))
    border = max((mean - errors * error for mean, error in exact), default=-math.inf) - _distance(ledger)
    sampled = [item.compound for item in issued.items]
    out = [c for c in sampled if c in means and means[c][0] + _ERRORS * means[c][1] < border]
    return len(sampled) - len(out)


def _distance(ledger: Ledger) -> float:
    settings = ledger.settings
    return settings.softness if settings.goal == "best" else settings.distance


def _population(ledger: Ledger, candidates: Candidates) -> Ints:
    """Return the compounds that are not in, can be measured and were not, in library order."""
    free = ledger.available() & (candidates.status != IN)
    free[[m.compound for m in ledger.measurements if m.usable and m.endpoint == ledger.objective]] = False
    return np.flatnonzero(free)


def _sample(ledger: Ledger, population: Ints, size: int) -> list[int]:
    rng = np.random.default_rng([ledger.settings.seed, len(ledger.rounds), 0xA0D17])
    chosen: list[int] = np.sort(rng.choice(population, size, replace=False)).tolist()
    return chosen


def _refuse_goal(ledger: Ledger) -> None:
    calculated = ledger.endpoints[ledger.objective].of is not None
    if ledger.settings.goal in ("pareto", "top") or ledger.limited or ledger.coarse or calculated:
        raise AssayPilotError(
            "an audit is for a cutoff on the values of one measured endpoint, without limits",
            mend="Measure what is in with a confirmation round.",
        )
