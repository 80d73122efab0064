"""The effects of a change of the terms, in sentences: on the guarantee, measurements, decisions and rounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..strategies.protocol import IN, OUT, UNDECIDED
from ..strategies.registry import SERIES
from ..text import joined, many, odds
from . import series
from .events.terms import CAPACITY, changes_in_words
from .promises import broken, goal_sentence
from .replay import Ledger

ENDS = (
    f"This ends the proof: the series model ({SERIES}) continues, with every measurement so far. No proof covers "
    "limits, or changes after results; to keep one, start a new campaign."
)
"""The effect of changed terms after results, or of a changed value after its phase, under a strategy that proves."""

SAME = "The same compounds are in and out."


def effects_in_words(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what follows from a change, in sentences; ``before`` and ``after`` are the states, ``data`` its event."""
    words = changes_in_words(data["changes"], before.settings.goal)
    sentences = [f"Changes {words}."]
    if goal_sentence(after) != goal_sentence(before):
        sentences.append(f"The goal is then: {goal_sentence(after)}.")
    what = {change["what"] for change in data["changes"]}
    if "controls" in what:
        sentences.append("Controls are shown with the results, and decide nothing by themselves.")
    sentences += _of_the_guarantee(before, after, data)
    sentences += _of_what_is_measured(before, after)
    sentences += of_decisions(before, after)
    return (*sentences, *_of_rounds(before, after, data))


def _of_the_guarantee(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    if data["how"] == "capacity" and "endpoint" in what:
        informs = "informs the model" if after.calibrated else "decides nothing: the guarantee is not touched"
        return [f"It is recorded and shown, and {informs}."]
    if after.calibrated and not before.calibrated:
        return [ENDS]
    if after.calibrated:
        again = "All is decided again from the measurements so far; what is stated holds for the new terms."
        return [again] if data["how"] == "void" else []
    now, then = broken(before), broken(after)
    if now and then:
        return ["Nothing is guaranteed now, and nothing would be."]
    if then:
        return [f"This ends the guarantee: {'; '.join(then)}. The campaign goes on with best estimates."]
    if data["how"] == "capacity" and "controls" in what:
        return ["The guarantee is not touched."]
    if data["how"] == "capacity" or what <= set(CAPACITY):
        return ["The guarantee is not touched: phases rest on numbers of measurements fixed when they are planned."]
    start = "all compounds together" if what == {"compounds"} else "the new terms"
    sure = f"wrong at most {odds(after.settings.delta)}"
    return [f"No result was seen yet, so the guarantee is that of {start}: {sure}."]


def _of_what_is_measured(before: Ledger, after: Ledger) -> list[str]:
    """Return that each compound is measured for more endpoints, or for fewer, from the next round on."""
    more = [k for k in after.measured if k not in before.measured]
    less = [k for k in before.measured if k not in after.measured]
    sentences = []
    if more:
        room = max(1, after.settings.per_round // after.per_sample)
        more_names = joined([after.endpoints[k].name for k in more])
        sentences.append(
            f"From the next round on every planned compound is measured for {more_names}, too: a round of "
            f"{after.settings.per_round:,} measurements then holds {many(room, 'replicate')} of compounds."
        )
    if less:
        sentences.append(f"{joined([after.endpoints[k].name for k in less])} is no longer requested.")
    return sentences


def of_decisions(before: Ledger, after: Ledger) -> list[str]:
    """Return which compounds would be in, out and undecided, in one sentence; none before the first decision."""
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
    """Return the status of every compound."""
    state = ledger.current()
    if ledger.calibrated:
        known = series.knowledge(ledger, state)
        return np.full(len(ledger.library), UNDECIDED) if known is None else known.status[ledger.arm_of]
    return state.status[ledger.arm_of]


def _of_rounds(before: Ledger, after: Ledger, data: Mapping[str, Any]) -> list[str]:
    what = {change["what"] for change in data["changes"]}
    sentences = []
    if data["drops_plan"]:
        sentences.append("What was planned next and not begun is planned again.")
    elif before.under_way is not None:
        issued = before.open_round
        if what & {"per_round", "max_replicates"}:
            stays = "" if issued is None else f"Round {issued.number} stays as it was issued. "
            sentences.append(f"{stays}The next round is the first of the new size.")
    if "budget" in what and after.settings.budget is not None and after.spent() >= after.settings.budget:
        sentences.append(f"{many(after.spent(), 'measurement')} were taken already: no further round is planned.")
    return sentences
