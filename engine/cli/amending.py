"""``exclude``, ``include`` and ``correct``: a recorded value that is wrong; ``log --values`` lists them by number."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..campaign.campaign import Campaign
from ..campaign.results.amending import harmless
from ..campaign.state import Status
from ..domain.controls import Reading, find_control
from ..domain.endpoint import Endpoint
from ..domain.measurements import Measurement
from ..domain.p_scale import is_p_scale
from ..errors import AssayPilotError
from ..tables.entries import Entry, Unreadable, doubt, read_entry
from ..tables.values import narrow
from ..text.documents import pick
from .changing import agreed, refusal
from .parser import Numbered
from .program import Console, Reply, table
from .recorded_values import control_value, value_told
from .standing import guarantee_of

_THOUSANDS = re.compile(r"[<>=\s]*[1-9]\d{0,2},\d{3}(?!\d).*", re.S)
"""A number whose comma may be a thousands mark."""
_DIGITS = 6


def amend(options: argparse.Namespace, console: Console) -> Reply:
    """Return what became of a value; what that does is said first, and asked about when it changes what is decided."""
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        found = _named(options.number, before, str(options.file))
        entry = _entry(options.value, before.endpoints[found.endpoint]) if options.command == "correct" else None
        if isinstance(found, Reading) and entry is not None and entry.relation != "=":
            raise AssayPilotError(f"{options.value} is no number, and a control has to read one", option="VALUE")
        told = _amended(campaign, found, entry, options, dry=True)
        console.say(*told)
        if options.dry_run:
            return Reply(_document(before, found, told, changed=False), ())
        moves = isinstance(found, Reading) or before.guarantee.calibrated or harmless(told)
        if not (moves or options.yes or agreed(console)):
            return refusal(options, console, told)
        _amended(campaign, found, entry, options, dry=False)
        now = campaign.status()
        said = campaign.history()
    what = next(line.text for line in reversed(said) if line.kind.startswith(("measurement_", "control_")))
    found = _named(options.number, now, str(options.file))
    return Reply(_document(now, found, told, changed=True), [what, now.statement, now.promise])


def _amended(
    campaign: Campaign, found: Measurement | Reading, entry: Entry | None, options: argparse.Namespace, *, dry: bool
) -> tuple[str, ...]:
    """Change the value; with ``dry`` nothing is done, and what it would do is returned in sentences."""
    number, reason = found.number, options.reason
    if isinstance(found, Reading):
        if entry is not None:
            return campaign.amend_control(number, reason, value=entry.value, unit=entry.unit, dry=dry)
        return campaign.amend_control(number, reason, excluded=options.command == "exclude", dry=dry)
    if entry is not None:
        return campaign.correct(number, entry.value, relation=entry.relation, unit=entry.unit, reason=reason, dry=dry)
    if options.command == "include":
        return campaign.include(number, reason, dry=dry)
    return campaign.exclude(number, reason, judgement=options.judgement, dry=dry)


def values(options: argparse.Namespace, console: Console) -> Reply:
    """Every recorded value that was not undone, in order of entry, with its number; those of controls at the end."""
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    kept: Sequence[Measurement] = [one for one in now.measurements if not one.withdrawn]
    controls = [one for one in now.readings if not one.withdrawn]
    if options.values:
        compound, control = now.library.find(options.values), find_control(now.settings.controls, options.values)
        if compound is None and control is None:
            raise AssayPilotError(
                f"there is no compound {options.values!r} in the campaign", option="--values", mend="Check the id."
            )
        kept = [one for one in kept if one.compound == compound]
        controls = [one for one in controls if one.control == control]
    told = [*(value_told(now, one) for one in kept), *(value_told(now, one) for one in controls)]
    rows = [
        (
            one["number"],
            one["id"],
            one["endpoint"],
            _shown(one),
            one["n"],
            one["round"] or "before",
            one["plate"] or "",
            one["well"] or "",
            f"excluded: {one['excluded']}"
            if one["excluded"]
            else f"corrected: {one['corrected']}"
            if one["corrected"]
            else "",
        )
        for one in told
    ]
    header = ["Number", "ID", "Endpoint", "Value", "N", "Round", "Plate", "Well", ""]
    return Reply(told, table(header, rows) if rows else ["No value was recorded yet."])


def _named(named: Numbered, now: Status, file: str) -> Measurement | Reading:
    """Return the value with a number; AssayPilotError when there is none."""
    number = named.number
    if named.control:
        return control_value(number, now, file)
    found = next((one for one in now.measurements if one.number == number and not one.withdrawn), None)
    if found is None:
        raise AssayPilotError(
            f"there is no value with the number {number}", file=file, mend="assaypilot log FILE --values lists them."
        )
    return found


def _entry(text: str, endpoint: Endpoint) -> Entry:
    """Return a value as it was typed; AssayPilotError when it is none, or can be read in two ways."""
    text = narrow(text)
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


def _shown(told: Mapping[str, Any]) -> str:
    """Return a value in its entry unit, as corrected if it was: ``>10000 nM``."""
    if told.get("word"):
        return str(told["word"])
    relation = "" if told["relation"] == "=" else told["relation"]
    return f"{relation}{told['value']:.{_DIGITS}g}{' ' + told['unit'] if told['unit'] else ''}"


def _document(now: Status, one: Measurement | Reading, told: Sequence[str], *, changed: bool) -> dict[str, Any]:
    return {
        **value_told(now, one),
        "changed": changed,
        "consequences": told,
        **pick(now, "statement counts finished"),
        "guarantee": guarantee_of(now),
    }
