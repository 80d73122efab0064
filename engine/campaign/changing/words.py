"""What a change of mind does, said before it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from assaypilot.engine.campaign import limit_phases, limits
from assaypilot.engine.campaign.changing.blocks import ABOUT, said_of_blocks
from assaypilot.engine.campaign.changing.changed import CAPACITY, changes_in_words
from assaypilot.engine.campaign.noise import known as assay_noise
from assaypilot.engine.campaign.noise import later
from assaypilot.engine.campaign.promises import broken, goal_sentence
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.words import joined, many, odds
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED

__all__ = ["SAME", "of_decisions", "said"]

SAME = "The same compounds are in and out."


def said(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> tuple[str, ...]:
    """What follows from a change, in sentences; ``before`` and ``after`` are the states, ``data`` its event."""
    words = changes_in_words(data["changes"], before.settings.goal)
    told = [f"Changes {words}."]
    if goal_sentence(after) != goal_sentence(before):
        told.append(f"The goal is then: {goal_sentence(after)}.")
    what = {change["what"] for change in data["changes"]}
    told += said_of_blocks(before, after, what)
    told += _of_the_guarantee(before, after, data)
    told += _of_what_is_measured(before, after)
    told += of_decisions(before, after)
    return (*told, *_of_rounds(before, after, data))


def _of_the_guarantee(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    if data["how"] == "capacity" and "endpoint" in what:
        return ["It is recorded and shown, and decides nothing: the guarantee is not touched."]
    now, then = broken(before), broken(after)
    if now and then:
        return ["Nothing is guaranteed now, and nothing would be."]
    if then:
        return [
            f"Nothing would be guaranteed any more: {'; '.join(then)}. What is decided stands as the best estimate.",
            "To keep a guarantee, start a new campaign: the measurements so far can go with it as its history.",
        ]
    if data["how"] == "capacity" and "controls" in what:
        return ["The guarantee is not touched."]
    if data["how"] == "capacity" or what <= set(CAPACITY):
        return ["The guarantee is not touched: phases rest on numbers of measurements fixed when they are planned."]
    sure = f"wrong at most {odds(after.error)}"
    if what == {"compounds"}:
        return [f"The guarantee holds for all compounds together, {sure}.", *_for_more(before, after)]
    if data["how"] == "free":
        return [f"No result was seen yet, so the guarantee is that of the new goal: {sure}."]
    told = [
        f"The guarantee holds for the new goal, {sure}: everything is decided anew from the measurements so far, by "
        "bounds that hold together whatever the goal."
    ]
    if what <= {*ABOUT, *CAPACITY}:
        told = [f"The guarantee holds, {sure}: everything is decided anew from the measurements so far."]
    stated = after.settings.delta
    if after.error > stated * (1.0 + 1e-9):
        told.append(f"That is more than {odds(stated)}: whoever has seen results may choose what suits them best.")
    if "delta" in what:
        told.append(
            "It then counts over all campaigns, not over those alone that chose their confidence after results."
        )
    noise = [change for change in data["changes"] if change["what"] == "noise"]
    if any(isinstance(change["after"], dict) for change in noise):
        told += [
            f"From then on {assay_noise.sentence(after, one)}: replicates within phases count, those so far "
            "included, and nine tenths of the error are for the decisions, a tenth for the bound on the noise."
            for one in assay_noise.known(after)
        ]
    if later.given_after(after, after.turns) > later.given_after(before, before.turns):
        told.append(
            "What was measured so far counts as measurements of the largest SD: weights chosen after results would be "
            "another chance of error. From the next round on each counts by its class."
        )
    noisy = [str(change["endpoint"]) for change in noise if not isinstance(change["after"], dict)]
    if noisy:
        told.append(
            f"It assumes that the assay noise (SD) of {joined(noisy)} is changed for other reasons than the scatter of "
            "these results. Plans already measured were made with the old one, which does no harm."
        )
    return told


def _of_what_is_measured(before: Ledger, after: Ledger) -> list[str]:
    """That each compound is measured for more endpoints, or for fewer, from the next round on."""
    more = [k for k in after.measured if k not in before.measured]
    less = [k for k in before.measured if k not in after.measured]
    told = []
    if more:
        room = max(1, after.settings.per_round // after.per_sample)
        whom = joined([after.endpoints[k].name for k in more])
        told.append(
            f"From the next round on every planned compound is measured for {whom}, too: a round of "
            f"{after.settings.per_round:,} measurements then holds {many(room, 'replicate')} of compounds."
        )
        if after.phases and after.goal_stop(after.current()) and not limit_phases.may_follow(after):
            told.append(
                f"Nothing is left open that a phase would be planned for: a confirmation round measures {whom} of "
                "those that are in. To have the limit decided for all, begin anew with it in a file of its own."
            )
        elif before.phases:
            told.append("What fails is shown by measurements from then on; who is in stays in until it does.")
    if limit_phases.may_follow(after) and limit_phases.came_late(after) != limit_phases.came_late(before):
        told.append(
            "When the goal asks nothing more, further rounds ask of those that are in whether they keep to the limit, "
            "until that is known of each that is not too close to it to tell."
        )
    if less:
        told.append(f"{joined([after.endpoints[k].name for k in less])} is not asked for any more.")
    return told


def _for_more(before: Ledger, after: Ledger) -> list[str]:
    """What is stated more than before, where compounds that were added have a share of the error of their own."""
    if after.error <= before.error * (1.0 + 1e-9):
        return []
    most = odds(1.2 * before.settings.delta)
    if after.error > before.error + 0.2 * before.settings.delta:
        return [
            f"That is more than {odds(before.error)}: with the new ones others can be estimated that could not be "
            "before. Who is in is compared with these, and in again only after that."
        ]
    return [
        f"That is more than {odds(before.error)}: whoever adds compounds has seen results, so the new ones have a "
        f"share of the error of their own. Further ones have less; all together stay below {most}."
    ]


def of_decisions(before: Ledger, after: Ledger) -> list[str]:
    """Who would be in, out and undecided, in one sentence; none before the first decision."""
    if not before.phases:
        return []
    now, then = _status(before), _status(after)
    were = then[: len(now)]
    if np.array_equal(now, then):
        return [SAME]
    pairs = ((IN, "in"), (OUT, "out"), (UNDECIDED, "undecided"))
    counted = [f"{int((then == code).sum()):,} {word} (now {int((now == code).sum()):,})" for code, word in pairs]
    back = int(((now != UNDECIDED) & (were == UNDECIDED)).sum())
    again = f"; {many(back, 'compound')} would be open again" if back else ""
    return [f"Then {joined(counted)}{again}."]


def _status(ledger: Ledger) -> Any:
    """The status of every compound, those that fail a limit out."""
    failed, _ = limits.failures(ledger, ledger.verdicts)
    return np.where(failed >= 0, OUT, ledger.current().status)[ledger.arm_of]


def _of_rounds(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    told = []
    left = sum(before.outstanding().values())
    if data["drops_plan"]:
        told.append("What was planned next and not begun is planned anew.")
    elif before.under_way is not None:
        issued = before.open_round
        if what & {"per_round", "max_replicates"}:
            stays = "" if issued is None else f"Round {issued.number} stays as it was issued. "
            told.append(f"{stays}The next round is the first of the new size.")
        budget = after.settings.budget
        if "budget" in what and budget is not None and before.spent() + left > budget:
            told.append(
                f"The phase under way was planned before and still takes {many(left, 'measurement')}, "
                f"{before.spent() + left - budget:,} beyond the new budget: to cut it short after seeing some of its "
                "results would cost the guarantee."
            )
        if data["how"] != "capacity" and not what <= {*CAPACITY, "compounds"}:
            told.append(
                f"The phase under way is finished as it was planned ({many(left, 'measurement')} to come) and decides "
                "under the new goal."
            )
    if "budget" in what and after.settings.budget is not None and after.spent() >= after.settings.budget:
        told.append(f"{many(after.spent(), 'measurement')} were taken already: no further phase begins.")
    return told
