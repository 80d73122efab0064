"""The cells of a round: one for each measurement of a line, and what stands in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from assaypilot.engine.campaign.state import Round
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.kinds import yes_of
from assaypilot.engine.domain.measurements import Measurement
from assaypilot.engine.tables.display import shown as shown_number

MOST_SLOTS = 64
"""Cells of one line and endpoint; a replicate with a higher number takes the first free one."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What one cell holds."""

    kept: Measurement | None = None
    """The measurement that is in use here."""
    within: Measurement | None = None
    """A mean in a cell before this one that stands for its measurement, too."""
    excluded: tuple[Measurement, ...] = ()
    """Those that stood here and were left out; another one can be typed in their place."""

    @property
    def empty(self) -> bool:
        """Whether nothing that is in use stands here."""
        return self.kept is None and self.within is None

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """All that were entered here, those left out first."""
        return self.excluded if self.kept is None else (*self.excluded, self.kept)


EMPTY = Slot()


def is_late(one: Measurement, shown: Round) -> bool:
    """Whether a measurement says it is of a round, but came in after that was closed."""
    return one.entered.round == shown.number != one.round


def of_round(one: Measurement, shown: Round) -> bool:
    """Whether a measurement stands in the list of a round: it came in it, or says that it is of it.

    One that came in this round, but is of an earlier one that was decided without it, stands in that one's list.
    """
    if one.withdrawn or one.round == 0:
        return False
    elsewhere = one.entered.round not in (None, shown.number) and not one.counted
    return is_late(one, shown) or (one.round == shown.number and not elsewhere)


def fill_slots(values: Sequence[Measurement], shown: Round, asked: int) -> list[Slot]:
    """What the cells of one line and endpoint hold: one for each measurement that is asked for, more where more came.

    A value that says its replicate stands in that cell, any other in the first that is free; a mean of several
    reaches over as many cells of those that are asked for. An excluded value leaves its cell to the next one.
    """
    slots: list[Slot] = [EMPTY] * asked
    for one in sorted(values, key=lambda one: (_named(one, shown) is None, one.number)):
        at = _place(one, slots, _named(one, shown))
        slots += [EMPTY] * (at + 1 - len(slots))
        if one.excluded is not None:
            slots[at] = replace(slots[at], excluded=(*slots[at].excluded, one))
            continue
        slots[at] = replace(slots[at], kept=one)
        for further in range(at + 1, min(at + one.n, asked)):
            if slots[further].empty:
                slots[further] = replace(slots[further], within=one)
    return slots


def _place(one: Measurement, slots: Sequence[Slot], named: int | None) -> int:
    """The cell of a value: the one it names, else the first where nothing was, else one that was left."""
    if named is not None and (one.excluded is not None or named >= len(slots) or slots[named].empty):
        return named
    untouched = (n for n, slot in enumerate(slots) if slot.empty and not slot.excluded)
    left = (n for n, slot in enumerate(slots) if slot.empty)
    return next(untouched, next(left, len(slots)))


def _named(one: Measurement, shown: Round) -> int | None:
    """The cell that a value names by its replicate."""
    text = one.entered.replicate.strip()
    if one.entered.round != shown.number or not (text.isascii() and text.isdigit()):
        return None
    return int(text) - 1 if 1 <= int(text) <= MOST_SLOTS else None


def mean_text(values: Sequence[Measurement], endpoint: Endpoint) -> str:
    """``7.47 (n = 2, SD 0.03)`` of the values in use, the mean of potencies by their logarithms; empty without any."""
    used = [one for one in values if one.excluded is None and not one.withdrawn]
    if endpoint.kind == "yes-no" and used:
        n = sum(one.n for one in used)
        return f"{round(sum(one.n * one.value for one in used)):,} of {n:,} {yes_of(endpoint)}"
    found = shown_number([(one.relation, one.value) for one in used], [one.n for one in used]) if used else ()
    if not found:
        return ""
    n = sum(one.n for one in used)
    scale = "" if endpoint.transform == "none" else f"{endpoint.scale_name} "
    said = " ".join(f"{'' if relation == '=' else relation}{value:.2f}" for relation, value in found)
    exact = [one for one in used if one.relation == "="]
    spread = _spread(exact, endpoint)
    return f"{scale}{said} (n = {n}{'' if spread is None else f', SD {spread:.2f}'})"


def _spread(exact: Sequence[Measurement], endpoint: Endpoint) -> float | None:
    """The SD of single values, of means within and between; None when it is not known."""
    n = sum(one.n for one in exact)
    if n < 2 or any(one.n > 1 and one.entered.sd is None for one in exact):
        return None
    mean = sum(one.n * one.value for one in exact) / n
    total = 0.0
    for one in exact:
        total += one.n * (one.value - mean) ** 2
        if one.n > 1:
            own = endpoint.sd_to_model(endpoint.from_model(one.value), one.entered.sd)
            if own is None:
                return None
            total += (one.n - 1) * own**2
    return math.sqrt(total / (n - 1))
