"""What a change of the terms does, in sentences, before it is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...strategies.protocol import IN, OUT, UNDECIDED
from .. import limits
from ..phrases import joined, many, odds
from ..promises import broken, goal_sentence
from ..replay import Ledger
from .apply_amendment import CAPACITY, changes_in_words

__all__ = ["ALTERNATIVE", "SAME", "of_decisions", "said"]

ALTERNATIVE = (
    "To keep a guarantee, start a new campaign from here: the measurements so far are its history. Or go on with the "
    "series model (gaussian-process), which needs none."
)
"""What to do instead of a change that ends the guarantee."""

SAME = "The same compounds are in and out."


def said(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what follows from a change, in sentences; ``before`` and ``after`` are the states, ``data`` its event."""
    words = changes_in_words(data["changes"], before.settings.goal)
    told = [f"Changes {words}."]
    if goal_sentence(after) != goal_sentence(before):
        told.append(f"The goal is then: {goal_sentence(after)}.")
    what = {change["what"] for change in data["changes"]}
    if "controls" in what:
        told.append("Controls are shown beside the results, and decide nothing.")
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
        return [f"This ends the guarantee: {'; '.join(then)}. The campaign goes on with best estimates.", ALTERNATIVE]
    if data["how"] == "void":
        return ["All is decided again from the measurements so far; what is stated holds for the new terms."]
    if data["how"] == "capacity" and "controls" in what:
        return ["The guarantee is not touched."]
    if data["how"] == "capacity" or what <= set(CAPACITY):
        return ["The guarantee is not touched: phases rest on numbers of measurements fixed when they are planned."]
    whose = "all compounds together" if what == {"compounds"} else "the new terms"
    sure = f"wrong at most {odds(after.settings.delta)}"
    return [f"No result was seen yet, so the guarantee is that of {whose}: {sure}."]


def _of_what_is_measured(before: Ledger, after: Ledger) -> list[str]:
    """Return that each compound is measured for more endpoints, or for fewer, from the next round on."""
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
        if after.phases and after.stop(after.current()):
            told.append(
                f"Nothing is left open that a phase would be planned for: a confirmation round measures {whom} of "
                "those that are in. To have the limit decided for all, begin anew with it in a file of its own."
            )
        elif before.phases:
            told.append("What fails is shown by measurements from then on; who is in stays in until it does.")
    if less:
        told.append(f"{joined([after.endpoints[k].name for k in less])} is not asked for any more.")
    return told


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
    """Return the status of every compound, those that fail a limit out."""
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
                "under the new terms."
            )
    if "budget" in what and after.settings.budget is not None and after.spent() >= after.settings.budget:
        told.append(f"{many(after.spent(), 'measurement')} were taken already: no further phase begins.")
    return told
