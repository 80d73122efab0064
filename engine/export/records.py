"""The tables of a campaign besides its compounds: measurements, rounds, picks and settings."""

from __future__ import annotations

import platform
from collections.abc import Sequence

from ..campaign.issued_rounds import Round
from ..campaign.state import Status
from ..domain.derived import in_words
from ..domain.endpoint import Endpoint
from ..domain.kinds import word_of
from ..domain.measurements import Measurement
from ..system import version_of
from .sheet import Cell, Column, Sheet, rounded, sheet_of
from .shortlist import AVAILABILITY_MEANS, decimals_of

_COUNTED = ("in", "undecided", "out", "not_estimable")
_LIBRARIES = ("numpy", "scipy", "rdkit")
"""Those that numbers and structures come from."""


def measurements(status: Status) -> Sheet:
    """One row per entry in order of entry: what was entered, what it counts as, and why it is not used.

    ``Value``, ``Relation`` and ``Unit`` are as entered; a corrected value is in the column of the model
    scale, with its reason in the next one. The headers are those our reader of results knows.
    """
    all_of_them = status.measurements
    entered = [m.entered for m in all_of_them]
    endpoints = [status.endpoints[m.endpoint] for m in all_of_them]
    digits = decimals_of(status)
    columns = [
        Column("No.", [m.number for m in all_of_them]),
        Column("ID", [status.library.ids[m.compound] for m in all_of_them]),
        Column("Endpoint", [endpoint.name for endpoint in endpoints]),
        Column("Value", [word_of(one, e.value) or e.value for e, one in zip(entered, endpoints, strict=True)]),
        Column("Relation", [e.relation for e in entered]),
        Column("Unit", [e.unit or endpoint.unit for e, endpoint in zip(entered, endpoints, strict=True)]),
        Column("N", [m.n for m in all_of_them]),
        Column("SD", [e.sd for e in entered]),
        Column("Round", [m.round for m in all_of_them]),
        Column("Replicate", [e.replicate for e in entered]),
        Column("Date", [e.date for e in entered]),
        Column("Plate", [e.plate for e in entered]),
        Column("Well", [e.well for e in entered]),
        Column("Batch", [e.batch for e in entered]),
        Column("Comment", [e.comment for e in entered]),
        Column("Excluded", ["yes" if _left_out(m) else "no" for m in all_of_them]),
        Column("Used", [_used(status, m) for m in all_of_them]),
        Column("Reason", ["; ".join(_reasons(m)) for m in all_of_them]),
    ]
    for position in status.entered_endpoints:
        endpoint = status.endpoints[position]
        own: list[Cell] = [round(m.value, digits + 2) if m.endpoint == position else None for m in all_of_them]
        name = endpoint.scale_name
        columns.append(Column(f"{name} used" if name == endpoint.name else name, own, digits))
    return sheet_of(columns)


def _left_out(m: Measurement) -> bool:
    return m.excluded is not None or m.withdrawn


def _used(status: Status, m: Measurement) -> str:
    """Return how a value is used, in a few words."""
    if m.withdrawn:
        return "no, undone"
    if m.excluded is not None:
        return "no, excluded"
    if m.relation != "=":
        if status.guarantee.calibrated:
            return "estimates, as a bound"
        return "decisions, by its limit" if m.counted else "no, only a bound"
    if m.phase:
        return "estimates and decisions"
    if m.round in status.confirmation.rounds:
        return "estimates (confirmation)"
    return "estimates (history)" if m.round == 0 else "estimates (unplanned)"


def _reasons(m: Measurement) -> list[str]:
    """Why a value is not used, or is not the one that was entered."""
    found = [] if m.excluded is None else [f"excluded: {m.excluded}"]
    if m.corrected is not None:
        found.append(f"corrected: {m.corrected}")
    if m.withdrawn:
        found.append("undone")
    return found


def rounds(status: Status) -> Sheet:
    """One row per round, withdrawn ones included."""
    issued = status.rounds
    return sheet_of(
        [
            *_of_round(issued, issued),
            Column("Endpoints", [_endpoints(status, one) for one in issued]),
            Column("Compounds", [len(one.items) for one in issued]),
            Column("Measurements requested", [one.measurements for one in issued]),
            Column("Came back", [one.came for one in issued]),
            Column("Missing", [one.missing for one in issued]),
        ]
    )


def _of_round(issued: Sequence[Round], lines: Sequence[Round]) -> list[Column]:
    """Return the columns about the round of each line; what it is for, where some are there to confirm."""
    kinds = ["audit" if one.population else "confirmation" if one.confirmation else "decision" for one in lines]
    purpose = [Column("Purpose", kinds)] if any(one.confirmation for one in issued) else []
    return [
        Column("Round", [one.number for one in lines]),
        Column("Phase", [one.phase or None for one in lines]),
        *purpose,
        Column("State", [one.state for one in lines]),
        Column("Issued (UTC)", [_time(one.issued) for one in lines]),
        Column("Closed (UTC)", [_time(one.closed) for one in lines]),
    ]


def picks(status: Status) -> Sheet:
    """One row per compound of each round, in the order it was issued in."""
    digits = decimals_of(status)
    scale = status.endpoints[status.objective].scale_name
    lines = [
        (one, rank, item, back)
        for one in status.rounds
        for rank, (item, back) in enumerate(zip(one.items, one.back, strict=True), start=1)
    ]
    items = [item for _, _, item, _ in lines]
    return sheet_of(
        [
            *_of_round(status.rounds, [one for one, _, _, _ in lines]),
            Column("Rank", [rank for _, rank, _, _ in lines]),
            Column("ID", [status.library.ids[item.compound] for item in items]),
            Column("Endpoints", [_endpoints(status, one) for one, _, _, _ in lines]),
            Column(
                "Measurements requested",
                [sum(item.of(place) for place in range(len(one.endpoints))) for one, _, item, _ in lines],
            ),
            Column("Came back", [sum(back) for _, _, _, back in lines]),
            Column(f"Expected {scale}", rounded([item.expected for item in items], digits + 1), digits),
            Column(f"Low {scale}", rounded([item.low for item in items], digits + 1), digits),
            Column(f"High {scale}", rounded([item.high for item in items], digits + 1), digits),
            Column("Why", [item.reason for item in items]),
        ]
    )


def _endpoints(status: Status, one: Round) -> str:
    return ", ".join(status.endpoints[k].name for k in one.endpoints)


def _time(text: str | None) -> str:
    """Return a UTC time to the minute, as people write it."""
    return "" if text is None else text[:16].replace("T", " ")


def settings(status: Status, what: str, program: str, exported: str, file: str) -> Sheet:
    """Return rows of (name, value): goal, guarantee, noise, settings, program and source file.

    ``what`` describes the compounds of the shortlist.
    """
    terms, guarantee = status.settings, status.guarantee
    facts: list[tuple[str, Cell]] = [
        ("Campaign", status.name),
        ("Shortlist", what),
        ("Goal", status.goal_sentence),
        ("Statement", status.statement),
        ("Finished", "yes" if status.finished else "no"),
        *((("Why nothing more is asked", status.finish_reason),) if status.finish_reason else ()),
        ("Guarantee", guarantee.sentence),
        ("Kind of claim", guarantee.kind),
        ("Expected missed", status.claim.expected_missed),
        ("Expected wrong", status.claim.expected_wrong),
        *((f"Why it does not hold {k}", text) for k, text in enumerate(guarantee.void, start=1)),
        *((f"Assumption {k}", text) for k, text in enumerate(guarantee.assumptions, start=1)),
        *(("Additivity", test.sentence) for test in status.additivity if test.found.freedom),
        ("Confidence", 1.0 - terms.delta),
    ]
    facts += _distances(status)
    for position, endpoint in enumerate(status.endpoints):
        made = in_words(status.endpoints, position)
        facts.append((f"Endpoint {endpoint.name}", _endpoint(endpoint) + (f"; calculated as {made}" if made else "")))
        if not endpoint.curves:
            facts.append((f"Assay noise (SD) of {endpoint.scale_name}", endpoint.noise_sd))
    for one in status.noise:
        name = status.endpoints[one.endpoint].scale_name
        facts.append((f"Assay noise (SD) of {name}, where it comes from", one.sentence))
    facts += [
        ("Strategy", status.strategy),
        ("Why this strategy", status.why),
        *((f"Strategy: {name}", _plain(value)) for name, value in terms.parameters.items()),
        ("Measurements per round", terms.per_round),
        ("Replicates of a compound in a round at most", terms.max_replicates),
        ("Budget (measurements)", terms.budget if terms.budget is not None else "no limit"),
        ("Measurements used", status.measurements_used),
        ("Seed", terms.seed),
        ("Compounds", len(status.library)),
        *((f"Compounds {name.replace('_', ' ')}", status.counts[name]) for name in _COUNTED),
        ("Sites", ", ".join(f"{site.name} ({len(site.substituents)})" for site in status.library.sites)),
        *((f"Core {k}", core) for k, core in enumerate(_cores(status), start=1)),
        ("Availability", AVAILABILITY_MEANS),
        *_confirmation(status),
        *((f"Note {k}", text) for k, text in enumerate(status.warnings, start=1)),
        ("Program", program),
        *((f"Version of {name}", version_of(name) or "unknown") for name in _LIBRARIES),
        ("Version of Python", platform.python_version()),
        ("Exported", exported),
        *((("Campaign file", file),) if file else ()),
        ("Events", status.events),
        ("Campaign head", status.head),
    ]
    return Sheet(("Setting", "Value"), tuple(facts))


def _confirmation(status: Status) -> list[tuple[str, Cell]]:
    """Return the results of confirmation rounds; nothing without one."""
    found = status.confirmation
    if not found.rounds:
        return []
    return [
        ("Confirmation", found.sentence),
        ("Confirmation rounds", ", ".join(map(str, found.rounds))),
        ("Confirmation: all intervals hold together", found.level),
        ("Measurements to confirm", found.measurements),
    ]


def _distances(status: Status) -> list[tuple[str, Cell]]:
    """How far from the best still counts, in the words of each goal."""
    terms = status.settings
    scale = status.endpoints[status.objective].scale_name
    if terms.goal == "pareto":
        names = [status.endpoints[k].scale_name for k in status.goal_endpoints]
        return [
            (f"Difference in {name} that does not matter", margin)
            for name, margin in zip(names, status.margins, strict=True)
        ]
    found: list[tuple[str, Cell]] = []
    if terms.goal == "epsilon-best":
        found.append((f"Within this of the best {scale}", terms.epsilon))
    if terms.goal == "top":
        found.append(("How many of the best", terms.top))
    return [*found, (f"Softness of the cutoff in {scale}", terms.softness)]


def _endpoint(endpoint: Endpoint) -> str:
    """Return an endpoint in a line."""
    words = [f"{'higher' if endpoint.direction == 'max' else 'lower'} is better"]
    if endpoint.unit:
        words.append(f"entered in {endpoint.unit}")
    words.append(f"modelled as {endpoint.scale_name}")
    if endpoint.limit is not None:
        words.append(f"limit {endpoint.limit_text}")
    if endpoint.wells_per_measurement > 1:
        words.append(f"{endpoint.wells_per_measurement} wells per measurement")
    return ", ".join(words)


def _cores(status: Status) -> tuple[str, ...]:
    return () if status.library.scaffold is None else status.library.scaffold.cores


def _plain(value: object) -> Cell:
    """Return a parameter's value as a cell."""
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
