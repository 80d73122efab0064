"""Cautions: values known only as a bound, contradicted decisions, and values far from their prediction.

Far is more than ``FAR`` standard deviations. A value is compared with the mean of the others of its compound in its
round (SD sigma sqrt(1 / n + 1 / n of the others)); alone, with the prediction noted when its round was issued (the SD
of that mean, and of the measurement). Normal values are that far off once in 16,000. All of them are used in estimates
and decisions: to leave one out because of its size would cost the guarantee; for a technical cause it may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Measurement
from ..text import listed as names
from ..text import many, number
from .issued_rounds import Round
from .replay import Ledger
from .state import Status


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the history."""

    sequence: int
    time: str
    author: str
    kind: str
    text: str


def cautions(ledger: Ledger) -> tuple[str, ...]:
    """Return the cautions that a reader should know before trusting the results."""
    exact = {(m.endpoint, m.compound) for m in ledger.measurements if m.usable}
    bounded = {
        (m.endpoint, m.compound): (">" in m.relation) == (ledger.endpoints[m.endpoint].direction == "max")
        for m in ledger.measurements
        if m.endpoint in ledger.measured and m.relation != "=" and m.excluded is None and not m.withdrawn
    }
    texts = []
    beyond = {c for k, c in bounded.keys() - exact if k in ledger.goal_endpoints and bounded[k, c]}
    if beyond and ledger.calibrated:
        listed = names([ledger.library.ids[c] for c in sorted(beyond)])
        texts.append(
            f"Better than this assay can measure: {many(len(beyond), 'compound')} ({listed}). It cannot rank them, so "
            "rounds leave them out; measure them over a wider range."
        )
    only = sorted({c for _, c in bounded.keys() - exact} - (beyond if ledger.calibrated else set()))
    if only:
        how = "the series model counts what they leave open" if ledger.calibrated else "decisions count their limit"
        listed = names([ledger.library.ids[c] for c in only])
        texts.append(f"{many(len(only), 'compound')} with values known only as bounds ({how}): {listed}.")
    against = {int(arm): None for decision in ledger.estimates.values() for arm in decision.contradicted}
    if against:
        listed = names([ledger.library.ids[ledger.first[arm]] for arm in against])
        texts.append(f"Later values contradict earlier decisions, which are kept: {listed}.")
    return tuple(texts)


def of_unplanned(*, calibrated: bool) -> str:
    """Return what becomes of an unrequested value."""
    return "counted like any other" if calibrated else "used in estimates, not in decisions"


def of_bounds(n: int, *, calibrated: bool) -> str:
    """Return how values known only as bounds count, as the end of a sentence about them.

    ``calibrated``: under the series model.
    """
    if calibrated:
        return "the series model counts what " + ("it leaves" if n == 1 else "they leave") + " open"
    return (
        f"decisions count {'its' if n == 1 else 'each'} limit, which ends the guarantee where it was asked for; "
        "estimates leave it out; the series model takes bounds as they are"
    )


FAR = 4.0
"""Standard deviations."""
SURPRISING = 3.0
"""Standard deviations from its prediction beyond which a value just entered is questioned (1 in 370 of good ones)."""
_HALF_95 = 1.96
"""Standard deviations from the middle to the end of a 95 % interval."""


@dataclass(frozen=True, slots=True)
class Surprise:
    """A value that hardly fits."""

    measurement: Measurement
    expected: float
    """The prediction, or the mean of the others of its compound; model scale."""
    spread: float
    """SD of the value around that."""
    line: int = 0
    """Of the round's list."""

    @property
    def off(self) -> float:
        """Its distance from the expected value."""
        return self.measurement.value - self.expected


def spread_of(endpoint: Endpoint, group: Sequence[Measurement]) -> float | None:
    """Return the SD of one value of a group: the assay's, or that of counts of this size.

    None where it is not known.
    """
    if endpoint.kind != "count" or not group:
        return endpoint.noise_sd
    return math.sqrt(max(sum(m.n * m.value for m in group) / sum(m.n for m in group), 1.0))


def means_of_others(group: Sequence[Measurement], noise: float) -> list[tuple[float, float] | None]:
    """Return for each value of a group the mean of the others, and the SD of a value around it; None without others."""
    if len(group) < 2:
        return [None] * len(group)
    near = group[0].value  # from which sums lose no digits
    count, total = sum(m.n for m in group), sum(m.n * (m.value - near) for m in group)
    found: list[tuple[float, float] | None] = []
    for m in group:
        others = count - m.n
        mean = near + (total - m.n * (m.value - near)) / others
        found.append((mean, noise * math.sqrt(1.0 / m.n + 1.0 / others)))
    return found


def outlying(
    measurements: Sequence[Measurement],
    endpoints: Sequence[Endpoint],
    rounds: Sequence[Round],
) -> list[Surprise]:
    """Return the values of all rounds beyond ``FAR`` SDs from the others of their compound, or from the prediction.

    In order of entry; ``endpoints`` with the noise as it is known.
    """
    used = [m for m in measurements if m.round > 0 and m.usable]
    return _beyond(FAR, used, endpoints, rounds, others_first=True)


def _beyond(
    far: float,
    measurements: Sequence[Measurement],
    endpoints: Sequence[Endpoint],
    rounds: Sequence[Round],
    *,
    others_first: bool,
) -> list[Surprise]:
    """Return the values farther than ``far`` SDs from what was predicted or from the others of their compound.

    ``others_first``: the prediction counts only where there are no others; else the others without a prediction.
    """
    groups: dict[tuple[int, int, int], list[Measurement]] = {}
    for m in measurements:
        groups.setdefault((m.round, m.endpoint, m.compound), []).append(m)
    predicted = {issued.number: _predicted(issued) for issued in rounds}
    found = []
    for (issued, endpoint, compound), group in groups.items():
        noise = spread_of(endpoints[endpoint], group)
        if noise is None:
            continue
        forecast = predicted.get(issued, {}).get((endpoint, compound))
        for one, others in zip(group, means_of_others(group, noise), strict=True):
            ahead = None if forecast is None else (forecast[0], math.hypot(forecast[1], noise / math.sqrt(one.n)))
            reference = (others or ahead) if others_first else (ahead or others)
            if reference is not None and abs(one.value - reference[0]) > far * reference[1]:
                found.append(Surprise(one, *reference))
    return sorted(found, key=lambda one: one.measurement.number)


def _predicted(issued: Round) -> Mapping[tuple[int, int], tuple[float, float]]:
    """Return the mean and SD of what was expected, by endpoint and compound."""
    values = {}
    for item in issued.items:
        for place, endpoint in enumerate(issued.endpoints):
            expected = item.expected_of(place)
            if expected is not None:
                mean, low, high = expected
                values[endpoint, item.compound] = mean, (high - low) / (2.0 * _HALF_95)
    return values


def outlying_words(found: Sequence[Surprise], library: Library, endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """Return one sentence that names them; empty without any."""
    if not found:
        return ()
    several = len({one.measurement.endpoint for one in found}) > 1
    named = [
        f"{library.ids[one.measurement.compound]} {number(round(one.measurement.value, 3))}"
        f"{f' {endpoints[one.measurement.endpoint].scale_name}' if several else ''} in round {one.measurement.round} "
        f"(against {number(round(one.expected, 3))})"
        for one in found
    ]
    verb = "lies" if len(found) == 1 else "lie"
    return (
        f"{many(len(found), 'value')} {verb} more than {FAR:g} SD from the others of the compound, or from what was "
        f"expected: {names(named)}. Used as they are; leave one out only for a technical cause.",
    )


def newly_outlying(before: Status, after: Status) -> tuple[str, ...]:
    """Return the sentence about values that came between two states and are far from expected; () without."""
    known = {m.number for m in before.measurements}
    new = [m for m in after.measurements if m.number not in known and m.round > 0 and m.usable]
    found = {one.measurement.number: one for one in outlying(after.measurements, after.endpoints, after.rounds)}
    found |= {one.measurement.number: one for one in _unexpected(before, new)}
    return outlying_words([found[m.number] for m in new if m.number in found], after.library, after.endpoints)


def _unexpected(before: Status, new: Sequence[Measurement]) -> list[Surprise]:
    """Return the new values beyond ``FAR`` SDs from what the series model expected of their compounds before.

    Planned or not, and whatever replicates came with them: a swapped sample agrees with itself.
    """
    if not before.guarantee.calibrated:
        return []
    known, found = before.candidates, []
    for m in new:
        endpoint = before.endpoints[m.endpoint]
        if endpoint.kind != "value" or endpoint.noise_sd is None or endpoint.name not in known.estimates:
            continue
        ends = (part[endpoint.name][m.compound] for part in (known.lows, known.highs))
        low, high = (float(end) for end in ends)
        expected = float(known.estimates[endpoint.name][m.compound])
        spread = math.hypot((high - low) / (2.0 * _HALF_95), endpoint.noise_sd / math.sqrt(m.n))
        if abs(m.value - expected) > FAR * spread:  # not where nothing was expected
            found.append(Surprise(m, expected, spread))
    return found


def surprises(status: Status, shown: Round) -> list[Surprise]:
    """Return the values of a round beyond ``SURPRISING`` predictive standard deviations, in order of entry.

    Where a compound had no prediction, from the mean of its other values in the round. Values known only as
    a bound, excluded and withdrawn ones are left out.
    """
    lines = {item.compound: place for place, item in enumerate(shown.items)}
    used = [m for m in status.measurements if m.round == shown.number and m.usable and m.compound in lines]
    found = _beyond(SURPRISING, used, status.endpoints, [shown], others_first=False)
    return [replace(one, line=lines[one.measurement.compound]) for one in found]
