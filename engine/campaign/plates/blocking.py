"""Plates, batches, dates or rounds as blocks: which measurements and controls share one, and what they say together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.campaign.counting import Books, Issued
from assaypilot.engine.campaign.plates.placed import told_plate
from assaypilot.engine.controls import Reading
from assaypilot.engine.measurements import Measurement, Pooled, pool
from assaypilot.engine.models.blocks import NO_BLOCK, Cells, Effects, blocked_least_squares
from assaypilot.engine.models.ols import Estimate, least_squares

__all__ = [
    "Block",
    "Together",
    "adjusted",
    "block_of",
    "cells",
    "everything",
    "fit_of_phase",
    "known_block",
    "levels",
    "name_of",
    "nominals",
    "of_phase",
    "telling",
    "together",
    "without_controls",
]


Block = tuple[int, str]
"""Round, and the plate's (batch's, date's) name there, as it was written first."""


class Together(NamedTuple):
    """Measurements of one endpoint by compound and block, and the controls there; model scale."""

    arms: Ints
    blocks: Ints
    counts: Floats
    means: Floats
    control_counts: Floats
    control_means: Floats

    def effects(self, books: Books) -> Effects:
        """The blocks, to be taken out."""
        return Effects(books.features, self.arms, self.blocks, self.counts, self.control_counts)

    def and_without_block(self, arms: Ints, counts: Floats, means: Floats) -> Together:
        """These and some more, which belong to no block."""
        return self._replace(
            arms=np.concatenate([self.arms, arms]),
            blocks=np.concatenate([self.blocks, np.full(len(arms), NO_BLOCK, dtype=np.intp)]),
            counts=np.concatenate([self.counts, counts]),
            means=np.concatenate([self.means, means]),
        )

    def fit(self, books: Books) -> Estimate:
        """The estimate beside the blocks."""
        return blocked_least_squares(books.features, *self)


@dataclass(frozen=True, slots=True)
class _Sums:
    count: float = 0.0
    total: float = 0.0
    below: float = 0.0
    """How far the total may truly lie below, as values are known only as bounds."""
    above: float = 0.0

    def plus(self, n: float, value: float, relation: str = "=") -> _Sums:
        below, above = (math.inf if relation[0] == sign else 0.0 for sign in "<>")
        return _Sums(self.count + n, self.total + n * value, self.below + below, self.above + above)


def block_of(kind: str, one: Measurement | Reading) -> Block:
    """The block of a measurement or of a reading; what names no plate shares one with all such of its round."""
    entered = one.entered
    number = entered.round or one.round
    match kind:
        case "plate":
            return number, entered.plate.strip().casefold()
        case "batch":
            return number, entered.batch.strip().casefold()
        case "date":
            return number, entered.date.strip().casefold()
    return number, ""


def known_block(books: Books, one: Measurement | Reading) -> Block | None:
    """The block of a value; None where it was taken before anybody spoke of blocks, and nothing tells it.

    Then values that name no plate were not said to share one.
    """
    kind = books.settings.blocks
    block = block_of(kind, one)
    if not 0 < block[0] <= books.blocks_from or kind == "round" or block[1]:
        return block
    name = told_plate(books, one) if kind == "plate" else None
    return None if name is None else (block[0], name.casefold())


def together(books: Books, m: Measurement) -> object:
    """What values of one compound have in common that scatter by the noise alone: nothing else, or their block."""
    if books.settings.blocks == "none":
        return None
    block = known_block(books, m)
    return m.number if block is None else block


def nominals(books: Books) -> dict[tuple[int, int], float]:
    """What each control should read, by control and endpoint: as said, else the mean of the first phase it was in.

    Only one that is not known may tell of blocks (``telling``). It shifts all means of all phases by one and the same,
    which changes no difference. What comes too late for a phase does not move it, unless nothing else was read.
    """
    found: dict[tuple[int, int], float] = {}
    for c, control in enumerate(books.settings.controls):
        for k, endpoint in enumerate(books.endpoints):
            value = control.nominal(endpoint.name)
            own = [r for r in books.readings if r.control == c and r.endpoint == k and r.usable]
            if value is None and own:
                counted = [r for r in own if r.phase] or own
                first = min((r.phase, r.round) for r in counted)[0]
                begun = [r for r in counted if r.phase == first]
                value = sum(r.n * r.value for r in begun) / sum(r.n for r in begun)
            if value is not None:
                found[c, k] = value
    return found


def telling(books: Books, endpoint: int) -> frozenset[int]:
    """The controls that tell of blocks in an endpoint: those whose nominal value was said, else the first one read.

    Two that are not known would each be counted from what it read on its own plates first, and so would bring the
    difference between those plates into all others.
    """
    name = books.endpoints[endpoint].name
    said = [c for c, control in enumerate(books.settings.controls) if control.nominal(name) is not None]
    if said:
        return frozenset(said)
    # By whether they came, never by what they read; what comes later changes nothing.
    read = [r for r in books.readings if r.endpoint == endpoint and not r.withdrawn]
    counted = [r for r in read if r.phase] or read
    first = min(counted, key=lambda r: (r.phase, r.round, r.control), default=None)
    return frozenset() if first is None else frozenset([first.control])


def cells(books: Books, phase: int) -> Cells | None:
    """What came back for a phase by compound and block, larger is better; None when there are no blocks."""
    if books.settings.blocks == "none":
        return None
    bounds = books.takes_bounds and phase not in books.without_bounds
    filling = [(m, n) for m, n in books.counting(phase) if m.usable or bounds]
    numbers: dict[Block, int] = {}
    sums: dict[tuple[int, int], dict[int, _Sums]] = {}
    for m, n in filling:
        known = known_block(books, m)
        if known is None:
            continue
        block = numbers.setdefault(known, len(numbers))
        own = sums.setdefault((int(books.arm_of[m.compound]), block), {})
        own[m.endpoint] = own.get(m.endpoint, _Sums()).plus(n, m.value, m.relation)
    goal = books.goal_endpoints
    signs = [books.endpoints[k].sign for k in goal]
    keys = sorted(sums)
    counts = np.array([[sums[key].get(k, _Sums()).count for key in keys] for k in goal])
    totals = np.array([[sums[key].get(k, _Sums()).total for key in keys] for k in goal])
    controls = [_controls(books, k, numbers, (r for r in books.readings if r.phase == phase)) for k in goal]
    means = np.array(signs)[:, None] * np.divide(totals, counts, out=np.zeros_like(totals), where=counts > 0)
    low = high = None
    if any(m.relation != "=" for m, _ in filling):
        ends = [[_open(sums[key].get(k, _Sums()), sign) for key in keys] for k, sign in zip(goal, signs, strict=True)]
        below, above = np.moveaxis(np.array(ends), -1, 0)
        low, high = means - below, means + above
    return Cells(
        np.array([arm for arm, _ in keys], dtype=np.intp),
        np.array([block for _, block in keys], dtype=np.intp),
        counts,
        means,
        np.array([n for n, _ in controls]),
        np.array([sign * mean for sign, (_, mean) in zip(signs, controls, strict=True)]),
        low,
        high,
    )


def _open(told: _Sums, sign: float) -> tuple[float, float]:
    """How far a mean may truly lie below, and above, where larger is better."""
    return (told.below, told.above) if sign > 0 else (told.above, told.below)


def _controls(
    books: Books, endpoint: int, numbers: dict[Block, int], readings: Iterable[Reading]
) -> tuple[Floats, Floats]:
    """Counts of readings of each block, and how far they are above nominal, ``(n_blocks,)`` each."""
    counts, totals = np.zeros(len(numbers)), np.zeros(len(numbers))
    nominal, telling_of_them = nominals(books), telling(books, endpoint)
    for r in readings:
        known = known_block(books, r)
        block = None if known is None else numbers.get(known)
        if r.endpoint == endpoint and r.usable and block is not None and r.control in telling_of_them:
            counts[block] += r.n
            totals[block] += r.n * (r.value - nominal[r.control, endpoint])
    return counts, np.divide(totals, counts, out=np.zeros(len(totals)), where=counts > 0)


def everything(books: Books, endpoint: int) -> Together:
    """All usable values of an endpoint, late ones and those of confirmations too; history belongs to no block.

    Values of which nobody knows the block are left out: what shifts them is in none of the others.
    """
    own = (m for m in books.measurements if m.endpoint == endpoint and m.usable)
    used = [(m, m.n) for m in own if not m.round or known_block(books, m) is not None]
    return _together(books, endpoint, used, [r for r in books.readings if r.round > 0])


def levels(books: Books, endpoint: int, told: Together) -> dict[Block, float]:
    """The estimated effect of each block that ``everything``, or the same otherwise counted, has a value of."""
    used = (m for m in books.measurements if m.endpoint == endpoint and m.usable and m.round)
    named = dict.fromkeys(block for block in (known_block(books, m) for m in used) if block is not None)
    left = told.means - told.fit(books).means(told.arms)
    return dict(zip(named, told.effects(books).levels(left, told.control_means).tolist(), strict=True))


def adjusted(books: Books, told: Together) -> Pooled:
    """``everything``, or the same otherwise counted, by compound, the estimated effects of blocks taken off."""
    n = books.n_arms
    if not len(told.arms):
        return Pooled(np.zeros(n), np.zeros(n))
    left = told.means - told.fit(books).means(told.arms)
    levels = np.append(told.effects(books).levels(left, told.control_means), 0.0)
    return pool(told.arms.tolist(), (told.means - levels[told.blocks]).tolist(), told.counts.tolist(), n)


def fit_of_phase(books: Books, phase: int, endpoint: int) -> Estimate | None:
    """The estimate of an endpoint from a phase's own measurements, beside its blocks; None without any."""
    if books.settings.blocks == "none":
        span = books.span(phase, endpoint)
        measured = np.flatnonzero(span.counts > 0)
        if not len(measured):
            return None
        return least_squares(books.features, measured, span.counts[measured], span.means[measured])
    told = of_phase(books, phase, endpoint)
    return told.fit(books) if len(told.arms) else None


def of_phase(books: Books, phase: int, endpoint: int) -> Together:
    """The values of an endpoint that count for a phase: those of known blocks."""
    used = [
        (m, n)
        for m, n in books.counting(phase)
        if m.usable and m.endpoint == endpoint and known_block(books, m) is not None
    ]
    return _together(books, endpoint, used, [r for r in books.readings if r.phase == phase])


def _together(
    books: Books, endpoint: int, used: Sequence[tuple[Measurement, int]], readings: Sequence[Reading]
) -> Together:
    numbers: dict[Block, int] = {}
    sums: dict[tuple[int, int], _Sums] = {}
    for m, n in used:
        known = known_block(books, m) if m.round else None
        block = NO_BLOCK if known is None else numbers.setdefault(known, len(numbers))
        key = int(books.arm_of[m.compound]), block
        sums[key] = sums.get(key, _Sums()).plus(n, m.value)
    keys = sorted(sums)
    counts = np.array([sums[key].count for key in keys])
    totals = np.array([sums[key].total for key in keys])
    return Together(
        np.array([arm for arm, _ in keys], dtype=np.intp),
        np.array([block for _, block in keys], dtype=np.intp),
        counts,
        totals / np.maximum(counts, 1.0),
        *_controls(books, endpoint, numbers, readings),
    )


def without_controls(books: Books, issued: Issued) -> list[tuple[int, str, int]]:
    """Blocks of a round without a control: endpoint, name as written, and how many compounds stand there."""
    kind = books.settings.blocks
    if kind == "none":
        return []
    held: dict[tuple[int, Block], set[int]] = {}
    written: dict[Block, str] = {}
    for m in books.measurements:
        if m.round == issued.number and (m.counted or issued.confirmation) and m.usable:
            block = block_of(kind, m)
            written.setdefault(block, name_of(kind, m))
            held.setdefault((m.endpoint, block), set()).add(int(books.arm_of[m.compound]))
    known = {k: telling(books, k) for k in books.measured}
    told = {
        (r.endpoint, block_of(kind, r)) for r in books.readings if r.usable and r.control in known.get(r.endpoint, ())
    }
    return [(k, written[block], len(arms)) for (k, block), arms in held.items() if (k, block) not in told]


def name_of(kind: str, one: Measurement | Reading) -> str:
    """A block in words: ``plate R1-P2``, ``round 3``."""
    number = one.entered.round or one.round
    text = "" if kind == "round" else str(getattr(one.entered, kind, "")).strip()
    return f"{kind} {text}" if text else f"round {number}" if kind == "round" else f"round {number} without a {kind}"
