"""Plates (batches, days, rounds) that shift their values, and controls, said in the middle of a campaign.

**Plates from now on.** Each phase's estimate of the compounds beside its blocks is as exact as one without, given which
measurement came back from which block. So all phases are decided anew beside their blocks, those before, too: a plate
without a control tells how its own compounds differ. A value of which nobody knows the plate, because neither it nor
the plates that the campaign keeps say it, decides nothing any more. But whoever says so has seen results, and may
choose between what they say with plates taken out and without, each wrong with all of delta. So that is stated once for
each way in which decisions were made; none, where nothing was decided before. The same when plates are said to shift
nothing after all.

**Controls.** One more can come at any time. What one should read is not said any more once it was read: a level could
be chosen by which a limit is kept to, or two plates are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assaypilot.engine.campaign.plates.blocking import known_block
from assaypilot.engine.campaign.words import joined, many, number
from assaypilot.engine.controls import Control, find_control, refuse_compounds, resolved
from assaypilot.engine.errors import AssayPilotError

if TYPE_CHECKING:
    from assaypilot.engine.campaign.changing.turns import Turn
    from assaypilot.engine.campaign.replay import Ledger
    from assaypilot.engine.campaign.state import Settings

__all__ = ["ABOUT", "controls_in_words", "kind_in_words", "refuse_blocks", "said_of_blocks", "ways", "with_controls"]

ABOUT = frozenset(["blocks", "controls"])
"""What a change of these is called in the log."""
_SEVERAL = {"plate": "plates", "batch": "batches", "date": "days", "round": "rounds"}


def with_controls(ledger: Ledger, more: Sequence[Control]) -> tuple[Control, ...]:
    """The controls of a campaign and some more; AssayPilotError for one that cannot come, or be said otherwise."""
    found = list(ledger.settings.controls)
    for control in resolved(more, ledger.endpoints, ledger.measured):
        place = find_control(found, control.name)
        if place is None:
            refuse_compounds([control], ledger.library)
            found.append(control)
        else:
            found[place] = _said_more(ledger, place, found[place], control)
    return tuple(found)


def _said_more(ledger: Ledger, place: int, old: Control, new: Control) -> Control:
    """A control with what was said of it now, too; AssayPilotError for an endpoint in which it was read already."""
    values = dict(old.values)
    for name, value in new.values:
        read = sum(
            r.control == place and ledger.endpoints[r.endpoint].name == name and not r.withdrawn
            for r in ledger.readings
        )
        if read and values.get(name) != value:
            raise AssayPilotError(
                f"{old.name} was read {many(read, 'time')} in {name} already: what it should read cannot be said by "
                "that any more",
                option="--control",
                mend="Add another control, with the value it should read.",
            )
        values[name] = value
    return Control(old.name, tuple(values.items()))


def refuse_blocks(ledger: Ledger, kind: str) -> None:
    """Nothing; AssayPilotError where effects of such blocks cannot be taken out from now on."""
    if kind != "none" and not ledger.strategy.info.blocks:
        raise AssayPilotError(
            f"{ledger.strategy.info.title} takes no {kind_in_words(kind)} out",
            option="--blocks",
            mend="Adaptive does: begin a new campaign with it, from a table with the values measured so far.",
        )


def unknown(ledger: Ledger) -> tuple[int, int]:
    """How many values of phases have no known block under the terms as they are, and how many there are."""
    values = [m for m in ledger.measurements if m.phase and m.counted and m.usable]
    return sum(known_block(ledger, m) is None for m in values), len(values)


def said_of_blocks(before: Ledger, after: Ledger, what: set[str]) -> list[str]:
    """What follows from plates that shift, or do not any more, and from more controls."""
    kind, controls = after.settings.blocks, after.settings.controls
    told = []
    new = [one.name for one in controls if one not in before.settings.controls]
    if "blocks" in what and kind != "none":
        of = "of a round" if kind == "round" else f"that share a {kind}"
        told.append(
            f"All values {of} may then be shifted alike. The shift is told from {joined([c.name for c in controls])}, "
            "and taken out of estimates and decisions: every round needs its readings beside the results."
        )
        read = any(r.phase and not r.withdrawn for r in after.readings)
        lost, all_ = unknown(after)
        if all_ > lost and not read:
            told.append(
                f"No control was read so far: what was measured tells only how compounds of one {kind} differ, and "
                "there are no estimates before one is read."
            )
        if lost:
            instead = " If each round stood on one plate, say round effects instead." if kind == "plate" else ""
            told.append(
                f"{lost:,} of {many(all_, 'value')} so far name no {kind}, and nothing else tells it: they decide "
                f"nothing any more, and enter no estimate.{instead}"
            )
    elif "blocks" in what:
        told.append(f"From then on {_SEVERAL[before.settings.blocks]} are taken to shift nothing.")
    if new:
        them = "it is" if len(new) == 1 else "they are"
        told.append(
            f"{joined(new)} {'is' if len(new) == 1 else 'are'} to be measured in every round from the next one on"
            + (
                "."
                if kind != "none"
                else f"; {them} shown beside the results, and decide{'s' if len(new) == 1 else ''} nothing."
            )
        )
    return told


def ways(now: Settings, turns: Sequence[Turn]) -> int:
    """By how many kinds of blocks what was measured was decided on, at least 1; ``turns``: changes that kept a promise.

    A control whose value was said tells in place of those whose was not, in all phases: that is another way, too.
    """
    terms = [now, *(turn.was["settings"] for turn in turns if turn.after)]
    return len({(one.blocks, one.blocks != "none" and frozenset(_said(one))) for one in terms})


def _said(settings: Settings) -> set[str]:
    """The endpoints in which the value of some control was said."""
    return {name for control in settings.controls for name, _ in control.values}


def kind_in_words(kind: str) -> str:
    """What is taken out: ``plate effects``, or ``nothing``."""
    return "nothing" if kind == "none" else f"{'day' if kind == 'date' else kind} effects"


def controls_in_words(controls: Sequence[Mapping[str, Any]]) -> str:
    """Controls as the log keeps them: ``REF-1 (7.1) and REF-2``; ``none``."""
    told = []
    for one in controls:
        values = ", ".join(number(value) for value in one["values"].values())
        told.append(f"{one['name']} ({values})" if values else one["name"])
    return joined(told) if told else "none"
