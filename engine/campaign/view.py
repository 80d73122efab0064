"""From the ledger to what pages and reports show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import bdtr, chdtr

from ..domain.endpoint import Endpoint
from ..strategies.protocol import IN, NOT_ESTIMABLE, State, StopReason
from ..text import listed as names
from ..text import percent
from . import cautions as history_text
from . import noise as assay_noise
from . import promises, stocked
from .additivity import deviations
from .auditing import audited
from .candidates import build_candidates
from .cautions import outlying, outlying_words
from .confirmation import confirmation
from .control_quality import quality
from .issued_rounds import PhasePlan
from .replay import Ledger
from .state import STATUSES, Candidates, ModelCheck, NoiseNow, Status


def build_status(ledger: Ledger, location_warnings: tuple[str, ...] = ()) -> Status:
    """Return the status to show, at the ledger's head."""
    state = ledger.current()
    candidates = build_candidates(ledger, state)
    counts = {name.replace(" ", "_"): int((candidates.status == code).sum()) for code, name in enumerate(STATUSES)}
    rounds = ledger.views()
    issued = ledger.open_round
    reasons = _finish(ledger, state)
    guarantee = promises.guarantee(ledger, counts, reasons)
    confirmed = confirmation(ledger, candidates, ended=bool(reasons))
    claim = replace(promises.claim(ledger, state, guarantee), audit=audited(ledger), check=model_check(ledger))
    statement = promises.statement(ledger, candidates, counts, reasons, holds=guarantee.holds)
    endpoints = assay_noise.informing(ledger)
    audit = "" if claim.audit is None else claim.audit.sentence
    control_readings = quality(ledger)
    return Status(
        name=ledger.name,
        library=ledger.library,
        endpoints=endpoints,
        noise=_noise(ledger, endpoints),
        objective=ledger.objective,
        settings=ledger.settings,
        strategy=ledger.strategy.info.name,
        why=ledger.why,
        rounds=rounds,
        open_round=None if issued is None else rounds[-1],
        phase=_phase(ledger),
        phases_decided=len(ledger.phases),
        measurements=tuple(ledger.measurements),
        measurements_used=ledger.spent(),
        unavailable=frozenset(ledger.unavailable),
        candidates=candidates,
        counts=counts,
        finished=bool(reasons),
        finish_reason=reasons[0].text if reasons else None,
        goal_sentence=promises.goal_sentence(ledger),
        statement=" ".join(filter(None, (statement, confirmed.sentence, audit))),
        guarantee=guarantee,
        claim=claim,
        warnings=(
            *location_warnings,
            *ledger.warnings,
            *history_text.cautions(ledger),
            *outlying_words(
                outlying(ledger.measurements, endpoints, rounds),
                ledger.library,
                ledger.endpoints,
            ),
            *(f"{text}." for text in control_readings.drift),
            *_unlikely(ledger, candidates),
        ),
        head=ledger.head,
        events=ledger.sequence,
        goal_endpoints=ledger.goal_endpoints,
        measured_endpoints=ledger.measured,
        margins=ledger.margins,
        probability_names=promises.probability_names(ledger),
        readings=tuple(ledger.readings),
        quality=control_readings,
        confirmation=confirmed,
        additivity=() if ledger.calibrated else deviations(ledger),
        stock=stocked.view(ledger),
        sets=_sets(ledger, counts),
    )


def _sets(ledger: Ledger, counts: Mapping[str, int]) -> tuple[tuple[int, int], ...]:
    """Return the compounds in and undecided after every round; one that decided nothing leaves them as they were."""
    known = {0: (0, sum(counts.values()) - counts["not_estimable"]), **ledger.sets}
    known[ledger.last_closed] = counts["in"], counts["undecided"]
    found = [known[0]]
    for number in range(1, ledger.last_closed + 1):
        found.append(known.get(number, found[-1]))
    return tuple(found)


_UNLIKELY = 0.05
"""A probability of keeping to a limit below which a compound that is in deserves a warning."""


def _unlikely(ledger: Ledger, candidates: Candidates) -> list[str]:
    """Return one warning for each limit that compounds which are in probably fail, though no phase has proven it."""
    out = []
    for position in ledger.limited:
        endpoint = ledger.endpoints[position]
        chance = candidates.probability_meets[endpoint.name]
        found = np.flatnonzero((candidates.status == IN) & (chance < _UNLIKELY))
        if found.size:
            listed = names([ledger.library.ids[compound] for compound in found])
            out.append(
                f"In, but less than {percent(_UNLIKELY)} likely to keep to {endpoint.limit_text}: {listed}. "
                f"Measure {endpoint.name} before relying on them."
            )
    return out


def _noise(ledger: Ledger, endpoints: Sequence[Endpoint]) -> tuple[NoiseNow, ...]:
    """Return the estimates of unknown noise: from replicates, or those that the series model learned with the rest."""
    if not ledger.calibrated:
        return tuple(
            NoiseNow(one.endpoint, one.sd, one.freedom, one.used, assay_noise.sentence(ledger, one))
            for one in assay_noise.known(ledger)
        )
    found, measured = [], {m.endpoint for m in ledger.measurements if m.usable}
    for k in ledger.modelled:
        sd = endpoints[k].noise_sd
        if k in measured and endpoints[k].noise_estimated and sd is not None:
            sentence = f"assay noise of {endpoints[k].scale_name} estimated by the series model: {sd:.2g}"
            found.append(NoiseNow(k, sd, 0, sd, sentence))
    return tuple(found)


def _finish(ledger: Ledger, state: State) -> tuple[StopReason, ...]:
    """Return why nothing more is requested; empty while something is."""
    issued = ledger.open_round
    if ledger.under_way is not None or (issued is not None and not issued.confirmation):
        return ()
    if (state.status == NOT_ESTIMABLE).all():
        return (StopReason("nothing measurable", "no remaining compound is available"),)
    return tuple(_in_measurements(reason, ledger.per_sample) for reason in ledger.strategy.stop(state))


def _in_measurements(reason: StopReason, per_sample: int) -> StopReason:
    """Return a strategy's reason about the budget, which it counts in replicates of all endpoints, in measurements."""
    if reason.name != "budget" or per_sample == 1 or not {"left", "needed"} <= set(reason.numbers):
        return reason
    left, needed = (int(reason.numbers[key]) * per_sample for key in ("left", "needed"))
    about = "about" if reason.numbers.get("roughly") else "at least"
    text = f"the budget leaves {max(left, 0):,} measurements, and one more decision needs {about} {needed:,}"
    return replace(reason, text=text)


def _phase(ledger: Ledger) -> PhasePlan | None:
    if ledger.under_way is None:
        return None
    allocation = ledger.under_way.allocation
    return PhasePlan(
        phase=allocation.phase,
        total=allocation.total * ledger.per_sample,
        outstanding=sum(ledger.outstanding().values()),
        radius=allocation.radius,
        criterion=allocation.certificate.criterion,
        value=allocation.certificate.value,
        lower_bound=allocation.certificate.lower_bound,
    )


_LEVEL = 0.95
_NARROW = 0.01
"""Probability of so few values inside below which the intervals are too narrow."""
_WIDE = 3e-4
"""Probability of so small errors, and so close replicates, below which the intervals are too wide."""


def model_check(ledger: Ledger) -> ModelCheck | None:
    """Return how many values of the objective fell inside their intervals, all rounds and the last; None without any.

    A value is the mean of a round's results for a compound; its interval is that of the model, widened by the
    assay noise of as many determinations. Single answers and counts are inside or outside of intervals by their kind,
    so these are not judged.
    """
    if not ledger.calibrated or ledger.endpoints[ledger.objective].kind != "value":
        return None
    sd = assay_noise.informing(ledger)[ledger.objective].noise_sd or 0.0
    came = defaultdict(list)
    for m in ledger.measurements:
        if m.usable and m.relation == "=" and m.endpoint == ledger.objective:
            came[m.round, m.compound].append(m)
    within, freedom = 0.0, 0
    inside: list[bool] = []
    errors: list[float] = []
    last = 0, 0, 0
    for issued in ledger.rounds:
        before = len(inside)
        for item in issued.items:
            own = came.get((issued.number, item.compound))
            if not own or item.expected is None or item.low is None or item.high is None:
                continue
            mean, n = sum(m.n * m.value for m in own) / sum(m.n for m in own), sum(m.n for m in own)
            side = item.high - item.expected if mean > item.expected else item.expected - item.low
            if sd > 0:
                within += sum(m.n * (m.value - mean) ** 2 for m in own) / sd**2
                freedom += len(own) - 1
            half = math.hypot(side, _TWO_SIDED * sd / math.sqrt(n))
            inside.append(abs(mean - item.expected) <= half)
            errors.append(_TWO_SIDED * (mean - item.expected) / half if half > 0 else 0.0)
        if len(inside) > before:
            last = issued.number, len(inside) - before, sum(inside[before:])
    if not inside:
        return None
    squares = sum(error**2 for error in errors)
    narrow = bool(bdtr(sum(inside), len(inside), _LEVEL) < _NARROW)
    wide = bool(chdtr(len(errors) + freedom, squares + within) < _WIDE)
    return ModelCheck(len(inside), sum(inside), math.sqrt(squares / len(errors)), *last, narrow, wide)


_TWO_SIDED = 1.959964
