"""The history of a campaign and what to beware of, in a chemist's words."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..domain.difference import in_words
from ..domain.kinds import word_of
from ..domain.measurements import Measurement
from ..strategies.protocol import IN, Decision
from .changing.changed import changes_in_words
from .file.chain import Event
from .plates.plating import layout_in_words
from .promises import goal_sentence
from .replay import Ledger
from .results.bounds import deciding as deciding_bounds
from .stock.sentences import choice_in_words, stock_in_words
from .words import joined, many, names, number

__all__ = ["LogEntry", "cautions", "describe"]


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
    """What somebody should know before trusting the picture; ``open_ones``: whether any compound is undecided."""
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
    """What a later phase says of compounds that are in, and why they stay."""
    settings = ledger.settings
    if settings.goal == "pareto":
        return "In, though shown since to be beaten (by so little that it does not matter, as far as is known)"
    wide = number(settings.distance + settings.softness)
    behind = f"In, though shown since to be more than {number(settings.distance)} behind the best"
    return f"{behind} (up to {wide} is a right answer, too)"


def _no_difference(ledger: Ledger, bounded: Set[tuple[int, int]]) -> str:
    """That a bound gives no difference, as a sentence with a space in front; empty where none is asked for of it."""
    measured = {endpoint for endpoint, _ in bounded}
    lacking = [
        ledger.endpoints[k].name
        for k in ledger.deciding_endpoints
        if ledger.endpoints[k].of is not None and measured & set(ledger.behind((k,)))
    ]
    return f" A bound gives no {joined(lacking)}." if lacking else ""


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
            said = [
                endpoint.name
                + (f" = {in_words(ledger.endpoints, place)}" if endpoint.of else "")
                + (f" (limit {endpoint.limit_text})" if endpoint.limit else "")
                for place, endpoint in enumerate(ledger.endpoints)
            ]
            return f"Endpoint{'' if len(said) == 1 else 's'}: {', '.join(said)}"
        case "goal_set":
            return f"Goal: {goal_sentence(ledger)} (strategy {data['strategy']})"
        case "history_added":
            return f"{many(len(data['measurements']), 'earlier value')} taken over as history"
        case "phase_planned":
            total = many(sum(data["counts"]) * ledger.per_sample, "measurement")
            compounds = many(len(data["compounds"]), "compound")
            cut = ", cut to what the budget leaves" if data["cut_to_budget"] else ""
            return f"Phase {data['phase']} planned: {total} of {compounds}{cut}{choice_in_words(data, ledger)}"
        case "round_issued" | "confirmation_issued" | "audit_issued":
            items, places = ledger.rounds[-1].items, range(ledger.per_sample)
            total = many(sum(item.of(place) for item in items for place in places), "measurement")
            drawn = f", drawn at random from {data['population']:,}" if event.kind == "audit_issued" else ""
            title = ledger.view(ledger.rounds[-1]).title
            return f"{title} issued: {total} of {many(len(data['items']), 'compound')}{drawn}"
        case "round_withdrawn":
            return f"Round {data['round']} withdrawn{_note(data['note'])}"
        case "results_recorded":
            source = f" from {data['source']['name']}" if data["source"] else ""
            entered = [m["entered"]["compound"] for m in data["measurements"]]
            controls = [r["entered"]["compound"] for r in data.get("controls", ())]
            counted = [many(len(entered), "result")] if entered or not controls else []
            counted += [many(len(controls), "control value")] if controls else []
            both = names(list(dict.fromkeys([*entered, *controls])))
            return f"{' and '.join(counted)} entered{source}: {both}"
        case "control_amended":
            reading, now = ledger.reading(data["number"]), data["now"]
            name = f"Value {number(reading.entered.value)} of the control {reading.entered.compound}"
            if "undoes" in data:
                return f"{name}: change undone"
            if "value" in now:
                endpoint = ledger.endpoints[reading.endpoint]
                to = f"{number(endpoint.from_model(now['value']))} {endpoint.unit}".rstrip()
                return f"{name} corrected to {to}: {data['reason']}"
            return f"{name} {'excluded' if now['excluded'] else 'used again'}: {data['reason']}"
        case "results_withdrawn":
            return f"Entry of {many(len(data['numbers']) + len(data.get('controls', ())), 'result')} undone"
        case "results_restored":
            return f"Entry of {many(len(data['numbers']) + len(data.get('controls', ())), 'result')} redone"
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
            return f"Not to be had: {names([ids[c] for c in data['compounds']])} ({data['reason']})"
        case "compounds_available":
            return f"To be had again: {names([ids[c] for c in data['compounds']])}"
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
            told = f"Phase {data['phase']} decided: {len(data['in']):,} more in, {len(data['out']):,} more out"
            return told + "".join(
                f", {len(entry['out']):,} fail {ledger.endpoints[k].limit_text}"
                for k, entry in zip(ledger.limited, data.get("limits", ()), strict=True)
                if entry["out"]
            )
        case "phase_redecided":
            return _redecided(data)
        case "phase_empty":
            return f"Phase {data['phase']} ended without a usable result; it will be planned anew if it is still needed"
        case "stock_stated":
            return stock_in_words(data, ids)
        case "plates_laid_out":
            return layout_in_words(data)
        case "compounds_added":
            if "undoes" in data:
                return "Added compounds taken back"
            source = f" from {data['source']['name']}" if data["source"] else ""
            added = names(list(ledger.library.ids[-data["compounds"] :]))
            return f"{many(data['compounds'], 'compound')} added{source}: {added}{_note(data['note'])}"
        case "settings_changed":
            words = changes_in_words(data["changes"], ledger.settings.goal)
            return f"Change of {words} undone" if "undoes" in data else f"Changed {words}{_note(data['note'])}"
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
    endpoint = ledger.endpoints[measurement.endpoint]
    word = word_of(endpoint, value)
    if word is not None:
        return word
    unit = (unit or "").strip() or endpoint.unit
    return f"{'' if relation == '=' else relation}{number(value)}{f' {unit}' if unit else ''}"


def _redecided(data: Mapping[str, Any]) -> str:
    decisions, old = data["decisions"], data["old"]
    first, last = decisions[0]["phase"], decisions[-1]["phase"]
    which = f"Phase {first}" if first == last else f"Phases {first} {'and' if last == first + 1 else 'to'} {last}"
    changes = []
    for key, word in (("in", "in"), ("out", "out")):
        before = {name for decision in old for name in decision[key]}
        now = {name for decision in decisions for name in decision[key]}
        changes += [
            f"{many(len(more), 'compound')} {text} {word}"
            for more, text in ((now - before, "more"), (before - now, "no longer"))
            if more
        ]
    what = ", ".join(changes) if changes else "the same compounds are in and out"
    return f"{which} decided again: {what} ({data['reason']})"
