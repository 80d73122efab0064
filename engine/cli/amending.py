"""``exclude``, ``include`` and ``correct``: a recorded value that is wrong; ``log --values`` lists them by number."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.results.amending import harmless
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.cli.changing import agreed, refusal
from assaypilot.engine.cli.console import Console, Reply, table
from assaypilot.engine.cli.standing import guarantee_of
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.tables.entries import Entry, Unreadable, doubt, is_p_scale, read_entry

__all__ = ["amend", "values"]

_THOUSANDS = re.compile(r"[<>=\s]*[1-9]\d{0,2},\d{3}(?!\d).*", re.S)
"""A number whose comma may be a thousands mark."""
_DIGITS = 6


def amend(options: argparse.Namespace, console: Console) -> Reply:
    """What became of a value; what that does is said first, and asked about when it changes what is decided."""
    number: int = options.number
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        found = _named(number, before, str(options.file))
        entry = _entry(options.value, before.endpoints[found.endpoint]) if options.command == "correct" else None
        if entry is not None:
            told = campaign.consequences_of_correcting(number, entry.value, relation=entry.relation, unit=entry.unit)
        elif options.command == "include":
            told = campaign.consequences_of_including(number)
        else:
            told = campaign.consequences_of_excluding(number, judgement=options.judgement)
        console.say(*told)
        if options.dry_run:
            return Reply(_document(before, found, told, changed=False), ())
        if not (harmless(told) or options.yes or agreed(console)):
            return refusal(options, console, told)
        if entry is not None:
            campaign.correct(number, entry.value, relation=entry.relation, unit=entry.unit, reason=options.reason)
        elif options.command == "include":
            campaign.include(number, options.reason)
        else:
            campaign.exclude(number, options.reason, judgement=options.judgement)
        now = campaign.status()
        said = campaign.history()
    what = next(line.text for line in reversed(said) if line.kind.startswith("measurement_"))
    found = _named(number, now, str(options.file))
    return Reply(_document(now, found, told, changed=True), [what, now.statement, now.guarantee.sentence])


def values(options: argparse.Namespace, console: Console) -> Reply:
    """Every recorded value that was not undone, in order of entry, with its number."""
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    kept: Sequence[Measurement] = [one for one in now.measurements if not one.withdrawn]
    if options.values:
        compound = now.library.find(options.values)
        if compound is None:
            raise AssayPilotError(
                f"there is no compound {options.values!r} in the campaign", option="--values", mend="Check the id."
            )
        kept = [one for one in kept if one.compound == compound]
    rows = [
        (
            one.number,
            now.library.ids[one.compound],
            now.endpoints[one.endpoint].name,
            _shown(now, one),
            one.n,
            one.round or "before",
            one.entered.plate,
            one.entered.well,
            f"excluded: {one.excluded}" if one.excluded else f"corrected: {one.corrected}" if one.corrected else "",
        )
        for one in kept
    ]
    header = ["Number", "ID", "Endpoint", "Value", "N", "Round", "Plate", "Well", ""]
    return Reply([_told(now, one) for one in kept], table(header, rows) if rows else ["No value was recorded yet."])


def _named(number: int, now: Status, file: str) -> Measurement:
    """The value with a number; AssayPilotError when there is none."""
    found = next((one for one in now.measurements if one.number == number and not one.withdrawn), None)
    if found is None:
        raise AssayPilotError(
            f"there is no value with the number {number}", file=file, mend="assaypilot log FILE --values lists them."
        )
    return found


def _entry(text: str, endpoint: Endpoint) -> Entry:
    """A value as it was typed; AssayPilotError when it is none, or can be read in two ways."""
    try:
        if _THOUSANDS.fullmatch(text) and not is_p_scale(endpoint):
            raise Unreadable(f"{text!r} can be read in two ways; leave the thousands mark out")
        entry = read_entry(endpoint, text, "," if "," in text and "." not in text else ".")
        if entry is None or entry.n != 1 or entry.sd is not None or entry.rest:
            raise Unreadable(f"{text!r} is not one value")
        question = doubt(endpoint, entry)
        if question is not None:
            raise Unreadable(question)
    except Unreadable as error:
        raise AssayPilotError(error.reason, option="VALUE", mend="For example 12.5, '>10000' or '0.35 uM'.") from None
    return entry


def _shown(now: Status, one: Measurement) -> str:
    """A value in its entry unit, as corrected if it was: ``>10000 nM``."""
    told = _told(now, one)
    relation = "" if told["relation"] == "=" else told["relation"]
    return f"{relation}{told['value']:.{_DIGITS}g}{' ' + told['unit'] if told['unit'] else ''}"


def _told(now: Status, one: Measurement) -> dict[str, Any]:
    endpoint, entered = now.endpoints[one.endpoint], one.entered
    value, relation, unit = entered.value, entered.relation, entered.unit or endpoint.unit
    if one.corrected is not None:
        # By way of the logarithm: without its last digits, which nobody typed.
        value, unit = float(f"{endpoint.from_model(one.value):.12g}"), endpoint.unit
        relation = endpoint.relation_on_model(one.relation)  # its own inverse
    return {
        "number": one.number,
        "id": now.library.ids[one.compound],
        "endpoint": endpoint.name,
        "value": value,
        "relation": relation,
        "unit": unit or None,
        "n": one.n,
        "round": one.round,
        "plate": entered.plate or None,
        "well": entered.well or None,
        "excluded": one.excluded,
        "corrected": one.corrected,
        "entered": entered.value,
    }


def _document(now: Status, one: Measurement, told: Sequence[str], *, changed: bool) -> dict[str, Any]:
    return {
        **_told(now, one),
        "changed": changed,
        "consequences": told,
        "statement": now.statement,
        "guarantee": guarantee_of(now),
        "counts": now.counts,
        "finished": now.finished,
    }
