"""What is said about a campaign: its goal, what is known, what is guaranteed, and its log, in a chemist's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assaypilot.engine.campaign.chain import Event
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.state import Guarantee
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.strategies.protocol import StopReason

__all__ = ["LogEntry", "cautions", "describe", "goal_sentence", "guarantee", "statement"]

_LISTED = 5


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of the history."""

    sequence: int
    time: str
    author: str
    kind: str
    text: str


def number(value: float) -> str:
    """A number as people write it: no trailing zeros, no exponent for everyday sizes."""
    return f"{value:.10g}"


def many(n: int, noun: str) -> str:
    """A count with its noun: ``1 result``, ``2 results``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_LISTED])
    return f"{shown} and {len(names) - _LISTED:,} more" if len(names) > _LISTED else shown


def _scale(ledger: Ledger) -> str:
    return ledger.endpoints[ledger.objective].scale_name


def _best(ledger: Ledger) -> str:
    lowest = ledger.endpoints[ledger.objective].sign < 0
    return f"the {'lowest' if lowest else 'best'} {_scale(ledger)}"


def goal_sentence(ledger: Ledger) -> str:
    """The goal: ``All compounds within 0.5 of the best pIC50, cutoff soft by 0.25, 95 % sure``."""
    settings = ledger.settings
    soft = f", cutoff soft by {number(settings.softness)}" if settings.softness > 0 else ""
    sure = f"{number(100 * (1 - settings.delta))} % sure"
    return f"All compounds within {number(settings.epsilon)} of {_best(ledger)}{soft}, {sure}"


def statement(ledger: Ledger, counts: Mapping[str, int], reasons: Sequence[StopReason], *, holds: bool) -> str:
    """What is known now, in a sentence or two; what the set is sure to hold only while the guarantee ``holds``."""
    settings = ledger.settings
    tail = f" {counts['not_estimable']:,} cannot be estimated." if counts["not_estimable"] else ""
    tally = f"{counts['in']:,} in, {counts['undecided']:,} undecided, {counts['out']:,} out"
    used = many(ledger.spent(), "measurement")
    if reasons and reasons[0].name == "decided":
        within = number(settings.epsilon)
        worst = number(settings.epsilon + settings.softness)
        found = f"{counts['in']:,} of {many(len(ledger.library), 'compound')} {'is' if counts['in'] == 1 else 'are'} in"
        if not holds:
            return f"Decided after {used}: {found}, as the best estimate without a guarantee.{tail}"
        if not counts["in"]:
            # Only possible when the best were lost on the way: everything left is certainly worse than they were.
            left = f"what is left is worse than {_best(ledger)} by more than {within}"
            return f"Decided after {used}: {found}; {left}.{tail}"
        return (
            f"Decided after {used}: {found}. Every compound within {within} of {_best(ledger)} is among them, "
            f"and none that is worse by more than {worst}.{tail}"
        )
    if reasons:
        return f"Stopped after {used}: {reasons[0].text}. {tally}.{tail}"
    if not ledger.phases:
        return f"Nothing is decided yet: {many(counts['undecided'], 'compound')} undecided, {used} in.{tail}"
    return f"After {used}: {tally}.{tail}"


def guarantee(ledger: Ledger, counts: Mapping[str, int], reasons: Sequence[StopReason]) -> Guarantee:
    """What is promised and under which assumptions, true at this moment."""
    settings = ledger.settings
    noise = ledger.endpoints[ledger.objective].noise_sd or 0.0
    assumptions = [
        "the effects of the substituents add up",
        f"measurements of one compound scatter independently and normally, SD at most {noise:.4g}",
    ]
    if ledger.failed:
        assumptions.append(f"{many(ledger.failed, 'measurement')} failed for reasons unrelated to the values")
    marked = sum(
        m.excluded is not None
        and m.number not in ledger.judged
        and not m.entered.excluded
        and m.round > 0
        and not m.withdrawn
        for m in ledger.measurements
    )
    if marked:
        assumptions.append(f"{many(marked, 'value')} left out for technical causes unrelated to the values")
    if ledger.unavailable:
        assumptions.append(
            f"{many(len(ledger.unavailable), 'compound')} not to be had for reasons unrelated to the values"
        )
    for n, what in (
        (sum(m.corrected is not None and m.counted > 0 for m in ledger.measurements), "corrected"),
        (sum(m.withdrawn and m.counted > 0 for m in ledger.measurements), "taken back"),
    ):
        if n:
            assumptions.append(
                f"{many(n, 'value')} {what} because of how {'it was' if n == 1 else 'they were'} entered"
            )
    lost = bool(ledger.current().lost.any())
    if lost:
        assumptions.append("compounds lost on the way still count for the best, with their last bounds")
    elif counts["not_estimable"]:
        assumptions.append("the best means the best of the compounds that can be estimated")
    void = list(ledger.void)
    marked = sum(m.excluded is not None and m.entered.excluded and m.round > 0 for m in ledger.measurements)
    if marked:
        void.append(f"{many(marked, 'value')} left out by the table of results")
    judged = sum(1 for n in ledger.judged if ledger.measurement(n).counted)
    if judged:
        void.append(f"{many(judged, 'value')} excluded by judgement")
    beyond = [
        ledger.library.ids[m.compound]
        for m in ledger.measurements
        if m.counted > 0 and m.relation != "=" and m.excluded is None and not m.withdrawn
    ]
    if beyond:
        names, whose = _names(list(dict.fromkeys(beyond))), "its" if len(beyond) == 1 else "their"
        void.append(f"{many(len(beyond), 'result')} known only as a bound ({names}), left out because of {whose} size")
    undecided = "" if reasons and reasons[0].name == "decided" else " or undecided"
    worst = number(settings.epsilon + settings.softness)
    whom = "Every compound that can be estimated and is" if counts["not_estimable"] else "Every compound"
    promise = (
        f"{whom} truly within {number(settings.epsilon)} of {_best(ledger)} is in{undecided}; "
        f"none that is worse by more than {worst} is in"
    )
    if void:
        sentence = f"No guarantee any more: {'; '.join(void)}. The set is the best estimate."
    else:
        sentence = f"{promise}; wrong at most {_odds(settings.delta)}. Assumes {'; '.join(assumptions)}."
    return Guarantee(settings.delta, not void, tuple(assumptions), tuple(void), sentence)


def _odds(delta: float) -> str:
    one_in = 1.0 / delta
    return f"1 time in {one_in:.0f}" if abs(one_in - round(one_in)) < 1e-6 else f"{number(100 * delta)} times in 100"


def cautions(ledger: Ledger) -> tuple[str, ...]:
    """What somebody should know before trusting the picture."""
    objective = ledger.objective
    exact = {m.compound for m in ledger.measurements if m.endpoint == objective and m.usable}
    bounded = {
        m.compound
        for m in ledger.measurements
        if m.endpoint == objective and m.relation != "=" and m.excluded is None and not m.withdrawn
    }
    only = [ledger.library.ids[c] for c in sorted(bounded - exact)]
    texts = []
    if only:
        texts.append(
            f"{many(len(only), 'compound')} with values beyond a limit only, shown but not used: {_names(only)}. "
            "They may keep the set from being decided."
        )
    against = [
        ledger.library.ids[ledger.first[arm]] for decision in ledger.estimates.values() for arm in decision.contradicted
    ]
    if against:
        texts.append(f"A later phase speaks against an earlier decision (the first stands): {_names(against)}.")
    return tuple(texts)


def describe(event: Event, ledger: Ledger) -> str:
    """One plain sentence for an event; ``ledger`` has just taken it in."""
    data = event.data
    ids = ledger.library.ids if event.kind != "campaign_created" else ()
    match event.kind:
        case "campaign_created":
            return f"Campaign {data['name']} created with AssayPilot {data['program']}"
        case "library_added":
            source = f" from {data['source']['name']}" if data["source"] else ""
            sites = ", ".join(f"{name} ({n})" for name, n in data["sites"])
            return f"Library of {many(data['compounds'], 'compound')} added{source}; sites {sites}"
        case "endpoints_defined":
            names = [endpoint["name"] for endpoint in data["endpoints"]]
            return f"Endpoint{'' if len(names) == 1 else 's'}: {', '.join(names)}"
        case "goal_set":
            return f"Goal: {goal_sentence(ledger)} (strategy {data['strategy']})"
        case "history_added":
            return f"{many(len(data['measurements']), 'earlier value')} taken over as history"
        case "phase_planned":
            total = many(sum(data["counts"]), "measurement")
            compounds = many(len(data["compounds"]), "compound")
            cut = ", cut to what the budget leaves" if data["cut_to_budget"] else ""
            return f"Phase {data['phase']} planned: {total} of {compounds}{cut}"
        case "round_issued":
            total = many(sum(item["replicates"] for item in data["items"]), "measurement")
            return f"Round {data['round']} issued: {total} of {many(len(data['items']), 'compound')}"
        case "round_withdrawn":
            return f"Round {data['round']} withdrawn{_note(data['note'])}"
        case "results_recorded":
            source = f" from {data['source']['name']}" if data["source"] else ""
            entered = [m["entered"]["compound"] for m in data["measurements"]]
            return f"{many(len(entered), 'result')} entered{source}: {_names(list(dict.fromkeys(entered)))}"
        case "results_withdrawn":
            return f"Entry of {many(len(data['numbers']), 'result')} undone"
        case "results_restored":
            return f"Entry of {many(len(data['numbers']), 'result')} redone"
        case "measurement_excluded":
            how = "by judgement" if data["judgement"] else "for a technical cause"
            return f"Value {_value(ledger, data['number'])} excluded {how}: {data['reason']}"
        case "measurement_included":
            return f"Value {_value(ledger, data['number'])} used again: {data['reason']}"
        case "measurement_corrected":
            if "entered" not in data:
                return f"Correction of the value {_value(ledger, data['number'])} undone"
            measurement = ledger.measurement(data["number"])
            relation = ledger.endpoints[measurement.endpoint].relation_on_model(data["relation"])
            to = _entry(ledger, measurement, data["entered"], relation, data["unit"])
            return f"Value {_value(ledger, data['number'])} corrected to {to}: {data['reason']}"
        case "compounds_unavailable":
            return f"Not to be had: {_names([ids[c] for c in data['compounds']])} ({data['reason']})"
        case "compounds_available":
            return f"To be had again: {_names([ids[c] for c in data['compounds']])}"
        case "round_closed":
            what = {
                "none": "",
                "return": "; what is missing comes again",
                "failed": "; what is missing was lost for lab reasons",
                "other": "; what is missing was lost for another reason, which voids the guarantee",
            }[data["missing"]]
            back = f"{data['returned']:,} of {many(data['asked'], 'measurement')}"
            return f"Round {data['round']} closed with {back}{what}{_note(data['note'])}"
        case "phase_decided":
            return f"Phase {data['phase']} decided: {len(data['in']):,} more in, {len(data['out']):,} more out"
        case "phase_redecided":
            return _redecided(data)
        case "phase_empty":
            return f"Phase {data['phase']} ended without a usable result; it will be planned anew if it is still needed"
        case _:
            return event.kind


def _note(note: str) -> str:
    return f" ({note})" if note else ""


def _value(ledger: Ledger, place: int) -> str:
    """A value as it was first entered, and whose it is: ``>10000 nM of CPD-7``."""
    measurement = ledger.measurement(place)
    entered = measurement.entered
    return f"{_entry(ledger, measurement, entered.value, entered.relation, entered.unit)} of {entered.compound}"


def _entry(ledger: Ledger, measurement: Measurement, value: float, relation: str, unit: str | None) -> str:
    unit = (unit or "").strip() or ledger.endpoints[measurement.endpoint].unit
    return f"{'' if relation == '=' else relation}{number(value)}{f' {unit}' if unit else ''}"


def _redecided(data: Mapping[str, Any]) -> str:
    first, last = data["decisions"][0]["phase"], data["decisions"][-1]["phase"]
    which = f"Phase {first}" if first == last else f"Phases {first} {'and' if last == first + 1 else 'to'} {last}"
    changes = []
    for key, word in (("in", "in"), ("out", "out")):
        before = {name for decision in data["old"] for name in decision[key]}
        now = {name for decision in data["decisions"] for name in decision[key]}
        changes += [
            f"{many(len(more), 'compound')} {text} {word}"
            for more, text in ((now - before, "more"), (before - now, "no longer"))
            if more
        ]
    what = ", ".join(changes) if changes else "the same compounds are in and out"
    return f"{which} decided again: {what} ({data['reason']})"
