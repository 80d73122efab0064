"""``forecast``: what a campaign will still take, what its budget decides, what the next round is worth."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from ..campaign.campaign import Campaign
from ..campaign.phrases import many
from ..campaign.state import Status
from ..simulate.forecast import Forecast, forecast_campaign
from ..simulate.series_forecast import SeriesForecast, forecast_series
from ..text.documents import pick
from ..text.percentages import percent
from .console import Console, Reply, table
from .standing import left_to_do, range_lines


def forecast(options: argparse.Namespace, console: Console) -> Reply:
    """Return the forecast of a campaign; the file is only read."""
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    if now.claim.kind == "calibrated":
        return _of_series(now, forecast_series(options.file, console.report, seed=options.seed))
    made = forecast_campaign(options.file, console.report, runs=options.runs, seed=options.seed)
    return Reply(_document(now, made), _lines(now, made))


def _of_series(now: Status, made: SeriesForecast) -> Reply:
    """Return what the coming rounds will find, as a curve."""
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
    first = f"About {made.members:.0f} members expected; means of {made.runs} simulated campaigns:"
    return Reply(document, [*lines, first, *table(header, rows), "", made.assumed])


def _document(now: Status, made: Forecast) -> dict[str, Any]:
    """All of it; what is still to come beside what it comes to in all."""
    budget = None if made.budget is None else asdict(made.budget) | {"decides_nothing": made.budget.decides_nothing}
    if budget is not None:
        budget["in"] = budget.pop("in_")
    return {
        **pick(now, "name strategy finished measurements_used head"),
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
    lines.append(
        f"{when}: {many(following.measurements, 'measurement')}, decides about "
        f"{many(round(following.decided), 'compound')}; {percent(following.ends)} chance that it is the last"
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
