"""What to beware of: values known only as a bound, contradicted decisions, and values far from what was expected.

Far is more than ``FAR`` standard deviations. A value is compared with the mean of the others of its compound in its
round (SD sigma sqrt(1 / n + 1 / n of the others)); alone, with the prediction noted when its round was issued (the SD
of that mean, and of the measurement). Normal values are that far off once in 16,000. All of them are used in estimates
and decisions: to leave one out because of its size would cost the guarantee; for a technical cause it may be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Measurement
from ..strategies.protocol import IN, Decision
from .phrases import joined, many, names, number
from .replay import Ledger
from .state import Round, Status

__all__ = [
    "FAR",
    "LogEntry",
    "Outlying",
    "Surprise",
    "beside_others",
    "cautions",
    "deciding_bounds",
    "outlying",
    "outlying_words",
    "spread_of",
    "surprises",
    "what_it_does",
    "what_one_does",
    "what_they_would_do",
]


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the history."""

    sequence: int
    time: str
    author: str
    kind: str
    text: str


_COSTS = (
    " Decisions take them in as anything beyond their limit, which takes more measurements. "
    "Where the curve gives a fitted number, enter that instead."
)


def cautions(ledger: Ledger, *, open_ones: bool) -> tuple[str, ...]:
    """Return what somebody should know before trusting the picture.

    ``open_ones``: whether any compound is undecided.
    """
    exact = {(m.endpoint, m.compound) for m in ledger.measurements if m.usable}
    bounded = {
        (m.endpoint, m.compound)
        for m in ledger.measurements
        if m.endpoint in ledger.measured and m.relation != "=" and m.excluded is None and not m.withdrawn
    }
    only = sorted({compound for _, compound in bounded - exact})
    counting = {m.compound for m in deciding_bounds(ledger)}
    # What was there before the campaign decides nothing anyhow.
    deciding = {m.compound for m in ledger.measurements if m.round > 0 and (m.endpoint, m.compound) in bounded}
    texts = []
    coarse = bool(set(ledger.coarse) & set(ledger.measured))
    for used, found in (
        ("counted as such in estimates", [c for c in only if c in counting]),
        (
            "shown but not used" if coarse else "counted in estimates, not in decisions",
            [c for c in only if c not in counting],
        ),
    ):
        if not found:
            continue
        hold_up = ""
        if open_ones and not deciding.isdisjoint(found):
            hold_up = _COSTS if found[0] in counting else " They may keep the set from being decided."
        texts.append(
            f"{many(len(found), 'compound')} with values known only as bounds, {used}: "
            f"{names([ledger.library.ids[c] for c in found])}.{hold_up}{_no_difference(ledger, bounded - exact)}"
        )
    # Compounds in order, each once: by whether both can be true.
    against: dict[bool, dict[str, None]] = {False: {}, True: {}}
    for decision in ledger.decisions.values():
        for arm in decision.contradicted:
            against[_right_all_the_same(ledger, decision, int(arm))][ledger.library.ids[ledger.first[arm]]] = None
    if against[False]:
        told = names(list(against[False]))
        texts.append(f"A later phase speaks against an earlier decision (the first stands): {told}.")
    if against[True]:
        texts.append(f"{_shown_since(ledger)}: {names(list(against[True]))}.")
    return tuple(texts)


def _right_all_the_same(ledger: Ledger, decision: Decision, arm: int) -> bool:
    """Whether a compound that is in is a right answer even if what a later phase says against it is true.

    That is so in the soft zone, and for who is beaten by no more than what does not matter.
    """
    pareto = ledger.settings.goal == "pareto"
    soft = any(ledger.margins) if pareto else ledger.settings.softness > 0 and ledger.settings.goal != "best"
    if not soft or ledger.state.status[arm] != IN or not np.isfinite(decision.high[:, arm]).all():
        return False
    far = ledger.margins if pareto else [ledger.settings.distance + ledger.settings.softness]
    lead = decision.low - decision.high[:, [arm]]
    with np.errstate(invalid="ignore"):
        return not bool((lead > np.array(far)[:, None]).all(axis=0).any())


def _shown_since(ledger: Ledger) -> str:
    """Return what a later phase says of compounds that are in, and why they stay."""
    settings = ledger.settings
    if settings.goal == "pareto":
        return "In, though shown since to be beaten (by so little that it does not matter, as far as is known)"
    wide = number(settings.distance + settings.softness)
    behind = f"In, though shown since to be more than {number(settings.distance)} behind the best"
    return f"{behind} (up to {wide} is a right answer, too)"


def _no_difference(ledger: Ledger, bounded: Set[tuple[int, int]]) -> str:
    """Return that a bound gives no difference, as a sentence with a space in front.

    Empty where none is asked for of it.
    """
    measured = {endpoint for endpoint, _ in bounded}
    lacking = [
        ledger.endpoints[k].name
        for k in ledger.deciding_endpoints
        if ledger.endpoints[k].of is not None and measured & set(ledger.behind((k,)))
    ]
    return f" A bound gives no {joined(lacking)}." if lacking else ""


_DECIDES = "decisions count the bound itself"


def what_it_does(*, counted: bool = True, holds: bool = True) -> str:
    """Return what a value known only as a bound does to a campaign, as the rest of a sentence about such values.

    ``counted``: whether estimates count it; ``holds``: whether anything is guaranteed.
    """
    lost = "" if holds else ", and because of them nothing is guaranteed any more"
    used = "estimates count it as a bound" if counted else "kept and shown, not used in estimates"
    return f"{used}, {_DECIDES}{lost}"


def what_they_would_do(n: int, *, counted: bool = True) -> str:
    """Return the same before so many of them are kept, as a sentence; empty for none."""
    if not n:
        return ""
    are = f"{n:,} value{' is' if n == 1 else 's are'} known only as {'a bound' if n == 1 else 'bounds'}"
    return _told(are, counted=counted)


def what_one_does(value: str, *, counted: bool = True) -> str:
    """Return the same of one ``value`` that is there, in its own words (``>10000 nM``)."""
    return _told(f"{value} is known only as a bound", counted=counted)


def _told(which: str, *, counted: bool) -> str:
    used = "estimates count it as a bound" if counted else "estimates do not use it"
    return (
        f"{which}: {used}, {_DECIDES}. If it was asked for, nothing is guaranteed any more; where the curve gives a "
        "fitted number, enter that."
    )


def deciding_bounds(ledger: Ledger) -> list[Measurement]:
    """Return the results known only as a bound among the values that phases decide by."""
    return [
        m
        for m in ledger.measurements
        if ledger.matters(m) and m.counted > 0 and m.relation != "=" and m.excluded is None and not m.withdrawn
    ]


FAR = 4.0
"""Standard deviations."""
ASKED = 3.0
"""Standard deviations from its prediction beyond which a value just entered is asked about (1 in 370 of good ones)."""
_HALF_95 = 1.96
"""Standard deviations from the middle to the end of a 95 % interval."""
_NAMED = 5
"""Values that are named in a sentence."""


@dataclass(frozen=True, slots=True)
class Outlying:
    """A value that hardly fits."""

    measurement: Measurement
    expected: float
    """The mean of the others of its compound, or what was predicted; model scale."""
    spread: float
    """SD of the value around that."""
    beside: Literal["others", "prediction"]

    @property
    def off(self) -> float:
        """How far it lies from there, in SDs."""
        return abs(self.measurement.value - self.expected) / self.spread


def spread_of(endpoint: Endpoint, group: Sequence[Measurement]) -> float | None:
    """Return the SD of one value of a group: the assay's, or that of counts of this size.

    None where it is not known.
    """
    if endpoint.kind != "count" or not group:
        return endpoint.noise_sd
    return math.sqrt(max(sum(m.n * m.value for m in group) / sum(m.n for m in group), 1.0))


def beside_others(group: Sequence[Measurement], noise: float) -> list[tuple[float, float] | None]:
    """Of each value of a group the mean of the others, and the SD of a value around it; None without others."""
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
    objective: int,
) -> list[Outlying]:
    """Return the values of all rounds that hardly fit, in order of entry.

    ``endpoints`` with the noise as it is known.
    """
    groups: dict[tuple[int, int, int], list[Measurement]] = {}
    for m in measurements:
        if m.round > 0 and m.usable:
            groups.setdefault((m.round, m.endpoint, m.compound), []).append(m)
    predicted = {issued.number: _predicted(issued, objective) for issued in rounds}
    found = []
    for (issued, endpoint, compound), group in groups.items():
        noise = spread_of(endpoints[endpoint], group)
        if noise is None:
            continue
        told = predicted.get(issued, {}).get((endpoint, compound))
        for one, others in zip(group, beside_others(group, noise), strict=True):
            beside = others
            if beside is None and told is not None:
                beside = told[0], math.hypot(told[1], noise / math.sqrt(one.n))
            if beside is not None and abs(one.value - beside[0]) > FAR * beside[1]:
                found.append(Outlying(one, *beside, "others" if len(group) > 1 else "prediction"))
    return sorted(found, key=lambda one: one.measurement.number)


def _predicted(issued: Round, objective: int) -> Mapping[tuple[int, int], tuple[float, float]]:
    """Mean and SD of what was expected, by endpoint and compound."""
    told = {}
    for item in issued.items:
        for place, endpoint in enumerate(issued.endpoints):
            expected = item.expected_of(place, objective=endpoint == objective)
            if expected is not None:
                mean, low, high = expected
                told[endpoint, item.compound] = mean, (high - low) / (2.0 * _HALF_95)
    return told


def outlying_words(found: Sequence[Outlying], library: Library, endpoints: Sequence[Endpoint]) -> tuple[str, ...]:
    """One sentence that names them; empty without any."""
    if not found:
        return ()
    several = len({one.measurement.endpoint for one in found}) > 1
    named = [
        f"{library.ids[one.measurement.compound]} {number(round(one.measurement.value, 3))}"
        f"{f' {endpoints[one.measurement.endpoint].scale_name}' if several else ''} in round {one.measurement.round} "
        f"({'the others' if one.beside == 'others' else 'expected'} {number(round(one.expected, 3))})"
        for one in found[:_NAMED]
    ]
    more = f" and {len(found) - _NAMED:,} more" if len(found) > _NAMED else ""
    lie = "lies" if len(found) == 1 else "lie"
    return (
        f"{many(len(found), 'value')} {lie} more than {FAR:g} SD from the others of the compound, or from what was "
        f"expected: {', '.join(named)}{more}. Used as they are; leave one out only for a technical cause.",
    )


@dataclass(frozen=True, slots=True)
class Surprise:
    """A value that hardly fits what was expected when its round was issued."""

    line: int
    """Of the round's list."""
    measurement: Measurement
    expected: float
    spread: float
    """SD of the prediction: of the compound's mean and of the measurement."""

    @property
    def off(self) -> float:
        """Return how far it lies from the expected value."""
        return self.measurement.value - self.expected


def surprises(status: Status, shown: Round) -> list[Surprise]:
    """Return the values of a round beyond ``ASKED`` predictive standard deviations, in order of entry.

    Where nothing was expected of a compound yet, from the mean of its other values in the round. Values known only as
    a bound, excluded and withdrawn ones are left out.
    """
    lines = {item.compound: place for place, item in enumerate(shown.items)}
    predicted = _predicted(shown, status.objective)
    groups: dict[tuple[int, int], list[Measurement]] = {}
    for one in status.measurements:
        if one.round == shown.number and one.usable and one.compound in lines:
            groups.setdefault((one.endpoint, one.compound), []).append(one)
    found = []
    for (endpoint, compound), group in groups.items():
        noise = spread_of(status.endpoints[endpoint], group)
        if noise is None:
            continue
        told = predicted.get((endpoint, compound))
        for one, beside in zip(group, beside_others(group, noise), strict=True):
            if told is not None:
                beside = told[0], math.hypot(told[1], noise / math.sqrt(one.n))
            if beside is not None and abs(one.value - beside[0]) > ASKED * beside[1]:
                found.append(Surprise(lines[compound], one, *beside))
    return sorted(found, key=lambda one: one.measurement.number)
