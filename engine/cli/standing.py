"""``status`` and ``forecast``: what is in, out and undecided, how sure that is, and the measurements still needed."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..campaign.campaign import Campaign
from ..campaign.issued_rounds import Round
from ..campaign.overview import current_round, next_step
from ..campaign.rewind import as_it_stood
from ..campaign.state import Status
from ..errors import AssayPilotError
from ..export.formats import FORMATS
from ..export.shortlist import Which, brief_table, claim_entry, compound_entries, ranked
from ..strategies.protocol import IN, UNDECIDED
from ..text import intervals_are, many, percent, pick, tally
from ..text import listed as names
from .commands import JSON_LIMIT, TEXT_LIMIT
from .files import controls_document, plate_lines
from .program import Console, Reply, count, table, word
from .stocking import stock_document, stock_lines

if TYPE_CHECKING:
    from ..simulate.forecast import Forecast, Spread
    from ..simulate.series_forecast import SeriesForecast


ID_LIMIT = 100_000
"""Ids in the lists ``in`` and ``undecided``; a library can hold a million."""
_NONE_LEFT = {"low": 0, "median": 0, "high": 0}
_NOTHING_LEFT = {"measurements_to_finish": _NONE_LEFT, "rounds_to_finish": _NONE_LEFT}


def guarantee_of(now: Status) -> dict[str, Any]:
    """Return the current guarantee, as in every document."""
    promise = now.guarantee
    return {
        **pick(promise, "delta holds assumptions void sentence"),
        "continue_with": None if promise.holds else "gaussian-process",
    }


def status(options: argparse.Namespace, console: Console) -> Reply:
    """Return the state of a campaign; the file is only read."""
    if options.forecast and options.round is not None:
        raise AssayPilotError(
            "a forecast is of where the campaign stands now", option="--forecast", mend="Leave --round or it out."
        )
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        present = campaign.status()
        now = present if options.round is None else campaign.status_at(options.round)
        moments = campaign.moments() if options.round is not None else ()
    limit = options.limit if options.limit is not None else JSON_LIMIT if console.json else TEXT_LIMIT
    made, why_not = _forecast(options, console) if options.forecast and not now.finished else (None, [])
    if console.json:
        document = status_document(now, options.only, limit)
        document["warnings"] = [*document["warnings"], *why_not]
        if made is not None:
            document["forecast"] = left_to_do(now, made)
        return Reply({**document, "at_round": options.round})
    lines = describe(now, options.only, limit)
    if made is not None:
        lines[-2:-2] = ["", *range_lines(now, made)]
    lines += [*why_not, next_line(present, options.file)]
    if moments and now is not present:
        then = next(moment for moment in moments if moment.round == options.round)
        lines = [f"{as_it_stood(then, moments[-1].round, present.measurements_used)}.", *lines]
    return Reply(None, lines)


def status_document(now: Status, only: Which = "all", limit: int = JSON_LIMIT) -> dict[str, Any]:
    """Return the promised keys of ``status --json`` and some more; numbers on the objective's model scale."""
    candidates, ids = now.candidates, now.library.ids
    order = ranked(now)
    ins = order[candidates.status[order] == IN]
    undecided = order[candidates.status[order] == UNDECIDED]
    listed = ranked(now, only)
    return {
        **pick(now, "name strategy measurements_used finished finish_reason statement warnings head events"),
        "goal": now.goal_sentence,
        "objectives": now.settings.objectives,
        "probabilities": {"within_epsilon": now.probability_names[0], "within_slack": now.probability_names[1]},
        "limits": [now.endpoints[k].limit_text for k in now.limited_endpoints],
        "round": max((issued.number for issued in now.rounds if issued.state != "withdrawn"), default=0),
        "round_open": now.open_round is not None,
        "outstanding": 0 if now.open_round is None else now.open_round.missing,
        "phase": now.phases_decided if now.phase is None else now.phase.phase,
        "budget": now.settings.budget,
        "guarantee": guarantee_of(now),
        "claim": claim_entry(now),
        "noise": [{"endpoint": now.endpoints[one.endpoint].name, **pick(one, "sd freedom used")} for one in now.noise],
        "in": [ids[compound] for compound in ins[:ID_LIMIT].tolist()],
        "undecided": [ids[compound] for compound in undecided[:ID_LIMIT].tolist()],
        "counts": dict(now.counts),
        "combinations": now.library.n_combinations if now.library.partial else None,
        "compounds": compound_entries(now, listed[:limit].tolist()),
        "truncated": len(listed) > limit or max(len(ins), len(undecided)) > ID_LIMIT,
        "confirmation": _confirmation(now),
        "additivity": [test.as_json(ids) for test in now.additivity],
        **controls_document(now),
        "forecast": _NOTHING_LEFT if now.finished else None,
        "unavailable": [ids[compound] for compound in sorted(now.unavailable)],
        "stock": stock_document(now),
    }


def _forecast(options: argparse.Namespace, console: Console) -> tuple[Forecast | None, list[str]]:
    """Return the forecast of the campaign; None, and the reason, where it cannot be simulated."""
    from ..simulate.forecast import forecast_campaign

    try:
        return forecast_campaign(options.file, console.report), []
    except AssayPilotError as error:
        return None, [f"No forecast: {error.message}."]


def _confirmation(now: Status) -> dict[str, Any] | None:
    """How far what is in was confirmed; None before the campaign has ended, unless a confirmation round was issued."""
    found, ids = now.confirmation, now.library.ids
    if not now.finished and not found.rounds:
        return None
    return {
        **pick(found, "rounds measurements level sentence"),
        "open": now.open_round is not None and now.open_round.confirmation,
        "confirmed": [ids[compound] for compound in found.confirmed],
        "not_confirmed": [
            {
                "id": ids[compound],
                "endpoint": now.endpoints[check.prediction.endpoint].name,
                **pick(check, "value n off"),
                "predicted": check.prediction.mean,
                "low": check.prediction.mean - check.half,
                "high": check.prediction.mean + check.half,
            }
            for compound in found.not_confirmed
            for check in found.outside(compound)
        ],
        "not_measured": [ids[compound] for compound in found.not_measured],
        "due": [ids[compound] for compound in found.due],
        "cannot_be_had": [ids[compound] for compound in found.gone],
        "additivity": [test.sentence for test in now.additivity],
    }


def no_longer(now: Status) -> list[str]:
    """Return why nothing is guaranteed, in a line for people; empty where something is."""
    return [] if now.guarantee.holds else [f"{now.guarantee.brief[:1].upper()}{now.guarantee.brief[1:]}."]


def what_can_be_done(now: Status) -> list[str]:
    """Return how to continue where nothing is guaranteed, in a line for people; empty where something is."""
    how = "Continue with the series model: assaypilot change FILE --strategy gaussian-process"
    return [] if now.guarantee.holds else [how]


def confirmation_lines(now: Status) -> list[str]:
    """Return the results of the confirmation in lines for people; empty before it can begin."""
    found = now.confirmation
    lines = []
    if found.gone:
        lines.append(f"In, never measured, and unavailable: {names([now.library.ids[c] for c in found.gone])}")
    if found.due:
        are = "is in without a measurement" if len(found.due) == 1 else "are in without a measurement"
        lines.append(f"{many(len(found.due), 'compound')} {are}: assaypilot plan FILE --confirm asks for each once.")
    return lines


def number(value: float | None, digits: int) -> str:
    """Return a number to so many decimals, ``-`` when there is none."""
    return "-" if value is None or not np.isfinite(value) else f"{value:.{digits}f}"


def round_line(issued: Round) -> str:
    """One round in a few words."""
    planned = many(issued.measurements, "measurement")
    if issued.state == "open":
        return f"{issued.title} is open: {planned} requested, {issued.missing:,} still to come"
    return f"{issued.title} is {issued.state}: {planned} requested, {issued.came:,} returned"


def describe(now: Status, only: Which = "all", limit: int = TEXT_LIMIT) -> list[str]:
    """Return the standing of a campaign in lines for people."""
    candidates = now.candidates
    lines = [f"{now.name}: {now.goal_sentence}", "", now.statement, now.promise, ""]
    lines += [f"{one.sentence[:1].upper()}{one.sentence[1:]}" for one in now.noise]
    if now.rounds:
        lines.append(round_line(now.rounds[-1]))
    budget = "" if now.settings.budget is None else f" of {now.settings.budget:,}"
    to_confirm = now.confirmation.measurements
    confirming = f", and {to_confirm:,} to check" if to_confirm else ""
    lines.append(
        f"Used so far: {now.measurements_used:,}{budget} measurements in {many(now.rounds_made, 'round')}{confirming}"
    )
    lines.append(f"Compounds: {tally(now.counts)}")
    lines += stock_lines(now)
    lines += confirmation_lines(now)
    lines += what_can_be_done(now)
    lines += [f"Note: {warning}" for warning in now.warnings]
    lines += plate_lines(now)
    listed = ranked(now, only)
    if len(listed) and limit:
        sheet = brief_table(now, listed[:limit].tolist())
        lines += ["", *table(sheet.header, sheet.texts("-"))]
        lines += count(len(listed), limit, "compounds (--limit N lists more)")
        if now.phases_decided and np.isfinite(candidates.low[listed[:limit]]).any():
            lines.append(f"Between low and high are {intervals_are(now.claim.kind, decided=True)}.")
    return [*lines, "", f"Head {now.head[:12]}, {many(now.events, 'event')}"]


def next_line(now: Status, file: str | Path) -> str:
    """``Next: assaypilot plan series.assaypilot --out round2.csv``."""
    file, number, others = word(file), current_round(now), ", ".join(ending for ending in FORMATS if ending != ".xlsx")
    return (
        "Next: "
        + {
            "plan": f"assaypilot plan {file} --out round{number}.csv",
            "wait": f"assaypilot stock {file} --arrived ID,... when something that was ordered is there",
            "enter": f"fill in the work list of round {number}, then: assaypilot record {file} round{number}.csv",
            "close": f"assaypilot record {file} --close",
            "confirm": f"assaypilot plan {file} --confirm --out confirm.csv",
            "export": f"assaypilot export {file} shortlist.xlsx (or {others})",
        }[next_step(now)]
    )


def left_to_do(now: Status, made: Forecast) -> dict[str, Any]:
    """``measurements_to_finish`` and ``rounds_to_finish``, each with low, median and high."""
    return {
        "measurements_to_finish": made.measurements.left(now.measurements_used),
        "rounds_to_finish": made.rounds.left(now.rounds_made),
    }


def range_lines(now: Status, made: Forecast) -> list[str]:
    """Return the cost of the whole campaign, in lines for people."""
    more = ", or more" if made.open_ended else ""
    used = f", {now.measurements_used:,} of them made" if now.measurements_used else ""
    return [
        f"To the end: {_range(made.measurements)} measurements in all{more} (80 % range; "
        f"middle {made.measurements.middle:,}{used})",
        f"            {_range(made.rounds)} rounds{more}",
        f"Decided at the end: {percent(made.decided)} of {many(made.runs, 'simulated campaign')}",
    ]


def _range(spread: Spread) -> str:
    return f"{spread.low:,}" if spread.low == spread.high else f"{spread.low:,} to {spread.high:,}"


def forecast(options: argparse.Namespace, console: Console) -> Reply:
    """Return the forecast of a campaign; the file is only read."""
    from ..simulate.forecast import forecast_campaign
    from ..simulate.series_forecast import forecast_ledger, ledger_of

    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    if now.claim.kind == "calibrated":
        ledger = ledger_of(options.file)
        return _of_series(now, forecast_ledger(ledger, console.report, seed=options.seed, runs=options.runs))
    made = forecast_campaign(options.file, console.report, runs=options.runs, seed=options.seed)
    return Reply(_document(now, made), _lines(now, made))


def _of_series(now: Status, made: SeriesForecast) -> Reply:
    """Return the members found in coming rounds, as a curve."""
    document = {
        **pick(now, "name strategy finished measurements_used head"),
        "curve": [asdict(point) for point in made.curve],
        "members": made.members,
        "assumed": made.assumed,
        "runs": made.runs,
    }
    lines = [f"{now.name}: {now.goal_sentence}", ""]
    if not made.curve:
        return Reply(
            document, [*lines, f"Nothing more is asked: {now.finish_reason or 'no compound can be measured'}."]
        )
    header = ["Measurements", "Members found", "Best found", "Missed", "Wrong", "Finished"]
    rows = [
        (
            f"{point.measurements:,}",
            percent(point.found),
            percent(point.best_found),
            f"{point.missed:.1f}",
            f"{point.wrong:.1f}",
            percent(point.finished),
        )
        for point in made.curve
    ]
    first = f"Means of {many(made.runs, 'simulated campaign')}, which have {made.members:.0f} members on average:"
    return Reply(document, [*lines, first, *table(header, rows), "", made.assumed])


def _document(now: Status, made: Forecast) -> dict[str, Any]:
    """Return the whole forecast: measurements still to come, and the totals."""
    budget = None if made.budget is None else asdict(made.budget) | {"decides_nothing": made.budget.decides_nothing}
    if budget is not None:
        budget["in"] = budget.pop("in_")
    return {
        **pick(now, "name strategy finished measurements_used head"),
        "curve": [asdict(point) for point in made.curve],
        "measurements": asdict(made.measurements),
        "rounds": asdict(made.rounds),
        **left_to_do(now, made),
        **pick(made, "decided open_ended assumed runs seed"),
        "budget": budget,
        "next_round": None if made.next_round is None else asdict(made.next_round),
    }


def _lines(now: Status, made: Forecast) -> list[str]:
    lines = [f"{now.name}: {now.goal_sentence}", ""]
    if made.next_round is None:
        return [*lines, f"Nothing more is asked: {now.finish_reason}.", f"Used: {now.measurements_used:,} measurements"]
    lines += range_lines(now, made)
    following = made.next_round
    when = "Next round" if following.rounds == 1 else f"Next decision, after {many(following.rounds, 'round')}"
    decides = f", decides about {many(round(following.decided), 'compound')}" if following.decided else ""
    lines.append(
        f"{when}: {many(following.measurements, 'measurement')}{decides}; {percent(following.ends)} chance that it is "
        "the last"
    )
    if made.budget is not None and now.settings.budget is not None:
        lines.append(_of_budget(now.settings.budget, made))
        if made.budget.decides_nothing and now.settings.goal == "epsilon-best":
            lines.append(
                "--strategy epsilon-best-fixed-budget decides all within it by estimates, with a weak guarantee"
            )
    return [*lines, "", made.assumed]


def _of_budget(budget: int, made: Forecast) -> str:
    found = made.budget
    assert found is not None
    if found.decides_nothing:
        return f"The budget of {budget:,} measurements decides nothing: no compound is settled when it is spent."
    return (
        f"The budget of {budget:,} measurements decides everything in {percent(found.decided)} of them; when it is "
        f"spent, on average {found.in_:,.0f} in, {found.out:,.0f} out, {found.undecided:,.0f} undecided"
    )
