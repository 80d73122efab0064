"""What the controls of each plate (batch, day, round) alone say of its shift: for values that no phase rests on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.campaign.plates.blocking import Block, block_of, nominals, telling
from assaypilot.engine.measurements import Measurement

__all__ = ["NOTHING", "Shift", "Stood", "controls_expected", "shifts", "where"]


class Shift(NamedTuple):
    """How far the controls of a block read above nominal."""

    read: float
    """Determinations of controls there."""
    above: float
    """Their mean less what they should read, model scale."""


NOTHING = Shift(math.inf, 0.0)
"""Where nothing shifts: as if controls without end read what they should."""


class Stood(NamedTuple):
    """Where a value stood."""

    block: Block | None
    """What it shared with others; None without blocks."""
    shift: Shift | None
    """What controls there tell; None where none does."""


def where(kind: str, told: Mapping[int, Mapping[Block, tuple[float, float]]], m: Measurement) -> Stood:
    """Where a value stood, by what shifts values and ``told`` by controls, of each endpoint."""
    if kind == "none" or not m.round:
        return Stood(None, NOTHING)
    block = block_of(kind, m)
    found = told.get(m.endpoint, {}).get(block)
    return Stood(block, None if found is None else Shift(*found))


def shifts(books: Books, endpoint: int) -> Mapping[Block, Shift]:
    """The shift of each block in an endpoint that a control there tells; nothing without blocks."""
    if books.settings.blocks == "none":
        return {}
    nominal, tell = nominals(books), telling(books, endpoint)
    sums: dict[Block, tuple[float, float]] = {}
    for r in books.readings:
        if r.endpoint == endpoint and r.usable and r.control in tell:
            block = block_of(books.settings.blocks, r)
            n, total = sums.get(block, (0.0, 0.0))
            sums[block] = n + r.n, total + r.n * (r.value - nominal[r.control, endpoint])
    return {block: Shift(n, total / n) for block, (n, total) in sums.items() if n > 0}


def controls_expected(books: Books, endpoint: int) -> float:
    """How many determinations of controls a block to come will hold: as many as those so far in the mean, else 1."""
    told = shifts(books, endpoint)
    return sum(one.read for one in told.values()) / len(told) if told else 1.0
