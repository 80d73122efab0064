"""``change``, ``add``, ``exclude``, ``include`` and ``correct``: what changes in a campaign, and what that does."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from typing import Any

from ..campaign.campaign import Campaign
from ..campaign.changes import Change
from ..campaign.issued_rounds import Source
from ..campaign.results.amending import harmless
from ..campaign.state import Status
from ..domain.controls import Reading, parse_control
from ..domain.desirability import Curve, parse_curve
from ..domain.endpoint import Endpoint, Limit
from ..domain.measurements import Measurement
from ..domain.noise import StatedNoise, is_p_scale, parse_noise
from ..errors import AssayPilotError
from ..tables.endpoint_kinds import without_column
from ..tables.entries import Unreadable, no_p_value, read_entry
from ..tables.join import read_more
from ..tables.opening import read_table
from ..tables.options import TableOptions, parse_endpoint_spec
from ..tables.values import Value, narrow
from ..text import many, pick
from .files import value_named, value_record
from .parser import NONE
from .program import Console, Reply, count, in_file
from .standing import guarantee_of

_LIMIT = re.compile(r"\s*(.+?)\s*((?:<=|>=|<|>|≤|≥).*)", re.S)


def change(options: argparse.Namespace, console: Console) -> Reply:
    """Change the terms. Show the effects first, and ask where they concern the answer or a guarantee."""
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        requested = _requested(options, campaign.status())
        consequences = campaign.consequences(requested)
        console.print(*consequences)
        if options.dry_run:
            return Reply(_document(campaign.status(), consequences, changed=False), ())
        if not (requested.of_capacity_alone or options.yes or agreed(console)):
            return refusal(options, console, consequences)
        now = campaign.change(requested, options.note)
    return Reply(_document(now, consequences, changed=True), ["Done.", now.goal_sentence, now.statement, now.promise])


def refusal(options: argparse.Namespace, console: Console, consequences: Sequence[str]) -> Reply:
    """Return the refusal of a change that was not confirmed, with its consequences.

    As an AssayPilotError without ``--json``.
    """
    error = AssayPilotError(
        "this changes the answer or what is guaranteed; nothing was done",
        file=str(options.file),
        option="--yes",
        mend="Say --yes to do it.",
    )
    if not console.json:
        raise error
    return Reply({"error": error.as_json(), "consequences": consequences}, exit_code=1)


def agreed(console: Console) -> bool:
    """Whether the user at the terminal confirms."""
    if console.json or not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    console.print("Do it? yes or no")
    return sys.stdin.readline().strip().casefold() in ("y", "yes")


def _requested(options: argparse.Namespace, now: Status) -> Change:
    """Return the change that the options request."""
    fields: dict[str, Any] = {}
    for name in ("epsilon", "slack", "delta", "per_round", "max_replicates", "budget", "strategy"):
        value = getattr(options, name)
        if value is not None:
            fields[name] = None if value == NONE else value
    if "epsilon" in fields and now.settings.goal != "pareto" and now.settings.softness == now.settings.distance / 2.0:
        # The default slack stays half of epsilon.
        fields.setdefault("slack", None)
    noise = dict(_noise(text, now) for text in options.sd)
    limits = dict(map(_limit, options.limit))
    margins = dict(_named(text, "--margin", none=True) for text in options.margin)
    fields["controls"] = tuple(map(parse_control, options.control))
    fields["curves"] = _curves(options.profile, now)
    fields["trade_off"] = options.goal == "pareto"
    return Change(**fields, noise=noise, limits=limits, margins=margins, endpoint=_endpoint(options, now))


def _curves(texts: Sequence[str], now: Status) -> tuple[Curve, ...]:
    """Return all curves of the profile, those named instead of the present ones; empty where none is named."""
    if not texts:
        return ()
    present = [curve for endpoint in now.endpoints for curve in endpoint.curves]
    drawn = {curve.endpoint.casefold(): curve for curve in (*present, *map(parse_curve, texts))}
    return tuple(drawn.values())


def _endpoint(options: argparse.Namespace, now: Status) -> Endpoint | None:
    """Return the endpoint to be added; None without one."""
    if options.endpoint is None:
        return None
    return without_column(parse_endpoint_spec(options.endpoint), now.endpoints)[0]


def _noise(text: str, now: Status) -> tuple[str, float | StatedNoise]:
    if "=" in text:
        return _stated(text)
    measured = [now.endpoints[k].name for k in now.measured_endpoints]
    if len(measured) > 1:
        raise AssayPilotError(
            f"there are {len(measured)} measured endpoints",
            option="--sd",
            mend=f'Say whose: --sd "{measured[0]}={text}".',
        )
    return _stated(f"{measured[0]}={text}")


def _stated(text: str) -> tuple[str, float | StatedNoise]:
    name, _, value = text.rpartition("=")
    stated = parse_noise(value)
    return (name or "?").strip(), stated if stated.estimated or stated.sd is None else stated.sd


def _named(text: str, option: str, *, none: bool = False) -> tuple[str, float | None]:
    name, _, value = text.rpartition("=")
    if none and value.strip().casefold() == NONE and name.strip():
        return name.strip(), None
    try:
        return (name or "?").strip(), float(value.replace(",", "."))
    except ValueError:
        raise AssayPilotError(f"{text!r} is not NAME=NUMBER", option=option, mend="For example hERG=0.3.") from None


def _limit(text: str) -> tuple[str, Limit | None]:
    name, _, value = text.rpartition("=")
    if value.strip().casefold() == NONE and name.strip():
        return name.strip(), None
    match = _LIMIT.fullmatch(text)
    if match is None:
        raise AssayPilotError(f"{text!r} is no limit", option="--limit", mend='For example "hERG<5", or hERG=none.')
    return match[1].strip(), Limit.parse(match[2])


def _document(now: Status, consequences: Sequence[str], *, changed: bool) -> dict[str, Any]:
    return {
        "changed": changed,
        "consequences": consequences,
        **pick(now, "goal=goal_sentence statement counts finished warnings"),
        "guarantee": guarantee_of(now),
    }


_ROWS = 5
"""Unused rows shown in the terminal."""


def add(options: argparse.Namespace, console: Console) -> Reply:
    """Add compounds. Show the effects first, and ask once results were seen."""
    raw = read_table(options.table, console.report, sheet=options.sheet)
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        table_options = TableOptions(id=options.id, smiles=options.smiles, available=options.available)
        more = read_more(raw, before.library, table_options, console.report)
        compounds = more.library
        not_used = [pick(one, "row column reason") for one in more.not_used]
        with in_file(raw.file):
            consequences = campaign.consequences_of_adding(compounds)
        lines = [f"row {entry['row']}: {entry['reason']}" for entry in not_used]
        console.print(*lines[:_ROWS], *count(len(lines), _ROWS, "rows (--json lists them all)"), *consequences)
        if options.dry_run:
            return Reply(_addition(before, (), consequences, not_used), ())
        free = not any(m.round > 0 for m in before.measurements)
        if not (free or options.yes or agreed(console)):
            return refusal(options, console, consequences)
        now = campaign.add_compounds(compounds, options.note, Source(raw.file or "", raw.digest))
    added = now.library.ids[len(before.library) :]
    summary = [f"{many(len(added), 'compound')} added.", now.statement, now.promise]
    return Reply(_addition(now, added, consequences, not_used), summary)


def _addition(
    now: Status, added: Sequence[str], consequences: Sequence[str], not_used: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "added": added,
        "compounds": len(now.library),
        "not_used": not_used,
        "consequences": consequences,
        **pick(now, "statement counts warnings"),
        "guarantee": guarantee_of(now),
    }


_THOUSANDS = re.compile(r"[<>=\s]*[1-9]\d{0,2},\d{3}(?!\d).*", re.S)
"""A number whose comma may be a thousands mark."""


def amend(options: argparse.Namespace, console: Console) -> Reply:
    """Amend a value. Show the effects first, and ask where a proof has decided by it."""
    with Campaign.open(options.file, read_only=options.dry_run, report=console.report) as campaign:
        before = campaign.status()
        found = value_named(options.number, before, str(options.file))
        entry = _entry(options.value, before.endpoints[found.endpoint]) if options.command == "correct" else None
        consequences = _amended(campaign, found, entry, options, dry=True)
        console.print(*consequences)
        if options.dry_run:
            return Reply(_amendment(before, found, consequences, changed=False), ())
        moves = isinstance(found, Reading) or before.guarantee.calibrated or harmless(consequences)
        if not (moves or options.yes or agreed(console)):
            return refusal(options, console, consequences)
        _amended(campaign, found, entry, options, dry=False)
        now = campaign.status()
        history = campaign.history()
    what = next(line.text for line in reversed(history) if line.kind.startswith("measurement_"))
    found = value_named(options.number, now, str(options.file))
    return Reply(_amendment(now, found, consequences, changed=True), [what, now.statement, now.promise])


def _amended(
    campaign: Campaign, found: Measurement | Reading, entry: Value | None, options: argparse.Namespace, *, dry: bool
) -> tuple[str, ...]:
    """Change the value; with ``dry`` nothing is done, and what it would do is returned in sentences."""
    number, reason, of = found.number, options.reason, {"control": isinstance(found, Reading), "dry": dry}
    if entry is not None:
        return campaign.correct(number, entry.value, relation=entry.relation, unit=entry.unit, reason=reason, **of)
    if options.command == "include":
        return campaign.include(number, reason, **of)
    return campaign.exclude(number, reason, judgement=options.judgement, **of)


def _entry(text: str, endpoint: Endpoint) -> Value:
    """Return a value as it was typed; AssayPilotError when it is none, or can be read in two ways."""
    text = narrow(text)
    try:
        if _THOUSANDS.fullmatch(text) and not is_p_scale(endpoint):
            raise Unreadable(f"{text!r} can be read in two ways; leave the thousands mark out")
        entry = read_entry(endpoint, text, "," if "," in text and "." not in text else ".")
        if entry is None or entry.n != 1 or entry.sd is not None or entry.rest:
            raise Unreadable(f"{text!r} is not one value")
        why = no_p_value(endpoint, entry)
        if why is not None:
            raise Unreadable(why)
    except Unreadable as error:
        raise AssayPilotError(error.reason, option="VALUE", mend="For example 12.5, '>10000' or '0.35 uM'.") from None
    return entry


def _amendment(
    now: Status, one: Measurement | Reading, consequences: Sequence[str], *, changed: bool
) -> dict[str, Any]:
    return {
        **value_record(now, one),
        "changed": changed,
        "consequences": consequences,
        **pick(now, "statement counts finished"),
        "guarantee": guarantee_of(now),
    }
