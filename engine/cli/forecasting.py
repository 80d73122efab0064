"""``forecast``: what a campaign will still take, what its budget decides, what the next round is worth."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.words import many
from assaypilot.engine.cli.console import Console, Reply
from assaypilot.engine.cli.outlook import left_to_do, range_lines
from assaypilot.engine.percentages import percent
from assaypilot.engine.simulate.forecast import Forecast, forecast_campaign

__all__ = ["forecast"]


def forecast(options: argparse.Namespace, console: Console) -> Reply:
    """The forecast of a campaign; the file is only read."""
    with Campaign.open(options.file, read_only=True, report=console.report) as campaign:
        now = campaign.status()
    made = forecast_campaign(options.file, console.report, runs=options.runs, seed=options.seed)
    return Reply(_document(now, made), _lines(now, made))


def _document(now: Status, made: Forecast) -> dict[str, Any]:
    """All of it; what is still to come beside what it comes to in all."""
    budget = None if made.budget is None else asdict(made.budget) | {"decides_nothing": made.budget.decides_nothing}
    if budget is not None:
        budget["in"] = budget.pop("in_")
    return {
        "name": now.name,
        "strategy": now.strategy,
        "finished": now.finished,
        "measurements_used": now.measurements_used,
        "measurements": asdict(made.measurements),
        "rounds": asdict(made.rounds),
        **left_to_do(now, made),
        "decided": made.decided,
        "open_ended": made.open_ended,
        "budget": budget,
        "next_round": None if made.next_round is None else asdict(made.next_round),
        "assumed": made.assumed,
        "runs": made.runs,
        "seed": made.seed,
        "head": now.head,
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
