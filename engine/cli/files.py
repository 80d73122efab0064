"""Contents of campaign files: recorded values by number, ``export``, ``log``, ``overview``; ``verify`` and ``sign``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..campaign.campaign import Campaign
from ..campaign.overview import Glance, glances
from ..campaign.state import Status
from ..domain import kinds
from ..domain.controls import Reading, find_control
from ..domain.measurements import Measurement
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..text import many, pick
from .parser import Numbered
from .program import Console, Reply, table, word
from .work_lists import check_place, keep_other_tables

if TYPE_CHECKING:
    from ..export.shortlist import Which


def value_named(named: Numbered, now: Status, file: str) -> Measurement | Reading:
    """Return the value with a number, of a compound or a control; AssayPilotError when there is none."""
    values: Sequence[Measurement] = now.readings if named.control else now.measurements
    found = next((one for one in values if one.number == named.number and not one.withdrawn), None)
    if found is None:
        raise AssayPilotError(
            f"there is no value with the number {'C' * named.control}{named.number}",
            file=file,
            mend="assaypilot log FILE --values lists them.",
        )
    return found


def value_record(now: Status, one: Measurement | Reading) -> dict[str, Any]:
    """Return a value for ``--json``, in its entry unit."""
    endpoint, entered = now.endpoints[one.endpoint], one.entered
    value, relation, unit = entered.value, entered.relation, entered.unit or endpoint.unit
    if one.corrected is not None:
        # Values pass through the logarithm; rounding removes digits that were not typed.
        value, unit = float(f"{endpoint.from_model(one.value):.12g}"), endpoint.unit
    record: dict[str, Any]
    if isinstance(one, Reading):
        record = {"number": f"C{one.number}", "control": True, "id": now.settings.controls[one.control].name}
    else:
        record = {"number": one.number, "control": False, "id": now.library.ids[one.compound]}
        record["word"] = kinds.word_of(endpoint, value)
        if one.corrected is not None:
            relation = endpoint.relation_on_model(one.relation)  # its own inverse
    return record | {
        "endpoint": endpoint.name,
        "value": value,
        "relation": relation,
        "unit": unit or None,
        **pick(one, "n round excluded corrected"),
        "plate": entered.plate or None,
        "well": entered.well or None,
        "entered": entered.value,
    }


_LAST = 12
"""Plates shown in the terminal, the last ones."""


def controls_document(now: Status) -> dict[str, Any]:
    """Return the keys of ``status --json`` about controls; none in campaigns without controls."""
    settings, quality = now.settings, now.quality
    if not settings.controls:
        return {}
    return {
        "controls": {
            "compounds": [control.as_json() for control in settings.controls],
            "values": sum(r.usable for r in now.readings),
            "readings": [value_record(now, r) for r in now.readings if not r.withdrawn],
            "plates": [
                {
                    **pick(line, "round name sd values=n above_nominal=mean"),
                    "endpoint": now.endpoints[line.endpoint].name,
                }
                for line in quality.plates
            ],
            "drift": quality.drift,
        },
    }


def plate_lines(now: Status) -> list[str]:
    """Return the same in lines for people; none in campaigns without controls."""
    quality = now.quality
    if not now.settings.controls:
        return []
    names = ", ".join(control.name for control in now.settings.controls)
    if not quality.plates:
        return [f"Controls ({names}): no value yet"]
    several = len({line.endpoint for line in quality.plates}) > 1
    rows = [
        (
            line.round,
            line.name,
            *((now.endpoints[line.endpoint].name,) if several else ()),
            line.n,
            f"{line.mean:+.2f}",
            "-" if line.sd is None else f"{line.sd:.2f}",
        )
        for line in quality.plates[-_LAST:]
    ]
    header = ["Round", "Plate", *(["Endpoint"] if several else []), "Values", "Above nominal", "SD"]
    more = len(quality.plates) - _LAST
    lines = ["", f"Controls ({names}):", *table(header, rows)]
    lines += [f"... and {more} before (--json lists them all)"] if more > 0 else []
    return [*lines, ""]


def export(options: argparse.Namespace, console: Console) -> Reply:
    """Return the shortlist in the format that the file's ending names."""
    from ..export.formats import ending_of
    from ..tables.headers import is_export

    out = Path(options.out)
    ending = ending_of(out)
    check_place(out, options.file)
    keep_other_tables(out, is_export)
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    rows = export_shortlist(now, out, options.only, file=Path(options.file).name, report=console.report)
    lines = [f"{many(rows, 'compound')} written to {out}", now.statement, f"Head {now.head[:12]}"]
    document = {
        "file": str(out),
        "rows": rows,
        **pick(now, "head events"),
        "format": ending.removeprefix("."),
        "only": options.only,
    }
    return Reply(document, lines)


def export_shortlist(now: Status, out: Path, only: Which, *, file: str = "", report: Report = silent) -> int:
    """Return the number of compounds written; ``file`` is the name of the campaign file, where there is one."""
    from ..export.contents import Choice, contents
    from ..export.formats import write

    return write(out, contents(now, Choice(only), file=file), report)


def log(options: argparse.Namespace, console: Console) -> Reply:
    """Every event in order, or with ``--values`` every recorded value."""
    if options.values is not None:
        return values(options, console)

    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        entries = campaign.history()
    document = [pick(entry, "sequence time author kind text") for entry in entries]
    rows = [(entry.sequence, entry.time[:19].replace("T", " "), entry.author, entry.text) for entry in entries]
    return Reply(document, table(["#", "Time (UTC)", "By", "What"], rows))


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
    records = [*(value_record(now, one) for one in kept), *(value_record(now, one) for one in controls)]
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
        for one in records
    ]
    header = ["Number", "ID", "Endpoint", "Value", "N", "Round", "Plate", "Well", ""]
    return Reply(records, table(header, rows) if rows else ["No value was recorded yet."])


def _shown(record: Mapping[str, Any]) -> str:
    """Return a value in its entry unit, as corrected if it was: ``>10000 nM``."""
    if record.get("word"):
        return str(record["word"])
    relation = "" if record["relation"] == "=" else record["relation"]
    return f"{relation}{record['value']:.6g}{' ' + record['unit'] if record['unit'] else ''}"


def verify(options: argparse.Namespace, console: Console) -> Reply:
    """Whether every event, part and decision of the file is consistent; exit code 1 when not."""
    from ..campaign.signing import signed
    from ..campaign.verifying import verify as verify_file

    if options.key and options.head:
        raise AssayPilotError("a key and a head were given", option="--head", mend="Check them one after the other.")
    signature = signed(Path(options.file), Path(options.key)) if options.key else None
    found = verify_file(
        options.file,
        recompute=options.recompute or None,
        expected_head=options.head if signature is None else signature.head,
        expected_events=None if signature is None else signature.events,
        report=console.report,
    )
    document = {
        **pick(found, "ok events head recomputed"),
        "problems": [pick(problem, "event text") for problem in found.problems],
        "signed": None if signature is None else pick(signature, "events time"),
    }
    if found.ok:
        lines = [
            f"The file is consistent: {many(found.events, 'event')}, head {found.head[:12]}",
            "Every decision comes out the same when it is made again."
            if found.recomputed
            else "Not all decisions were made again, which takes more than a few seconds here. To do so: --recompute",
            f"Signed by this key at {signature.time} up to event {signature.events:,}: up to there nothing was changed."
            if signature is not None
            else "The history has the head you noted: up to it nothing was changed."
            if options.head
            else "A history rewritten as a whole would be consistent, too, and authors and times are not derived from "
            "anything. Only a head noted elsewhere (--head HEAD) or a signature (--key KEY) shows such changes.",
        ]
    else:
        lines = [
            f"The file is NOT consistent: {many(len(found.problems), 'problem')}",
            *(
                f"  {'' if problem.event is None else f'event {problem.event}: '}{problem.text}"
                for problem in found.problems
            ),
        ]
    return Reply(document, lines, exit_code=0 if found.ok else 1)


def sign(options: argparse.Namespace, console: Console) -> Reply:
    """Sign the history as it is now, by a key that the lab keeps; refused when the file is not consistent."""
    from ..campaign.signing import make_key, signatures_of
    from ..campaign.signing import sign as sign_history
    from ..campaign.verifying import verify as verify_file

    found = verify_file(options.file, recompute=False, report=console.report)
    if not found.ok:
        raise AssayPilotError(
            "the file is not consistent, so it is not signed",
            file=options.file,
            mend=f"assaypilot verify {word(options.file)} says what is wrong.",
        )
    path, key = Path(options.file), Path(options.key)
    public = make_key(key) if options.new_key else None
    signature = sign_history(path, key, events=found.events, head=found.head)
    document = {
        "file": str(signatures_of(path)),
        **pick(signature, "events head time"),
        "public_key": None if public is None else str(public),
    }
    lines = [] if public is None else [f"New key: {key}. Keep it where no one else signs; {public} checks signatures."]
    lines += [f"Signed up to event {signature.events:,}, head {signature.head[:12]}: {signatures_of(path)}"]
    return Reply(document, [*lines, f"Check: assaypilot verify {word(path)} --key {word(public or key)}"])


def overview(options: argparse.Namespace, console: Console) -> Reply:
    """List campaigns by folder and name; a file that cannot be read is listed with the reason."""
    found = glances([Path(one) for one in options.places] or [Path()], console.report)
    header = ["Campaign", "Goal", "Round", "In", "Undecided", "Out", "Measured", "Next"]
    lines = table(header, list(map(_glance_row, found))) if found else ["There is no campaign file here."]
    return Reply(list(map(_glance_document, found)), lines)


def _glance_row(one: Glance) -> tuple[object, ...]:
    if one.counts is None:
        return (one.path, one.error, "", "", "", "", "", "")
    counts = (one.counts[name] for name in ("in", "undecided", "out"))
    return (one.path, one.goal, one.round, *counts, one.measurements, one.next)


def _glance_document(one: Glance) -> dict[str, Any]:
    if one.counts is None:
        return {"file": str(one.path), "error": one.error}
    return {
        "file": str(one.path),
        **pick(one, "name goal strategy round round_open outstanding counts finished claim next"),
        "measurements_used": one.measurements,
    }
