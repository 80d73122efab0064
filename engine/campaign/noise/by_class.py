"""SDs by class of compounds that nobody knows, in a campaign: which classes count, weights, and the scale of all.

The proof is that of ``models.sd_classes``. Here a class *counts* when one of its compounds could be had at the first
phase, or was measured since; replicates are planned in each class that counts, so that each becomes known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.models.sd_bound import TARGET
from assaypilot.engine.models.sd_classes import scale, weighing, worth
from assaypilot.engine.models.sd_cut import Cells, summed

if TYPE_CHECKING:
    from assaypilot.engine.campaign.noise.scatter import Spread

__all__ = ["lacking", "late", "named", "parted", "placed", "precision", "scales", "weights"]


_USUAL = 0.005
"""The share of the bounds at a usual confidence. By that of the campaign a change of it would change the weights, after
their values."""


def parted(
    books: Books, position: int, found: Cells, alpha: float, phase: int
) -> Iterator[tuple[Cells, float, float, int]]:
    """Of each class that counts: what its compounds say, its guess, its part of ``alpha`` and its place."""
    of, guesses = _classes(books, position)
    for place in _counting(books, position, phase):
        own = found._replace(cells=[(compound, cell) for compound, cell in found.cells if of[compound] == place])
        yield own, guesses[place], alpha / len(guesses), place


def weights(books: Books, position: int, phase: int) -> Floats:
    """``(n_classes,)``: about the SD of each class, by its guess and, from phase 1 on, the replicates of that phase."""
    from assaypilot.engine.campaign.noise.scatter import first_contrasts

    of, guesses = _classes(books, position)
    cells = first_contrasts(books, position).cells if phase > 0 else ()
    told = [summed([cell for compound, cell in cells if of[compound] == place]) for place in range(len(guesses))]
    return np.array([weighing(guess, *one, _USUAL / len(guesses)) for guess, one in zip(guesses, told, strict=True)])


def scales(books: Books, found: Sequence[Spread], phase: int, *, plan: bool) -> dict[int, float]:
    """By endpoint the SD of a measurement of the least weight, at most; ``plan``: as plans count on it."""
    told: dict[int, float] = {}
    for position in _by_class(books):
        own = [one for one in found if one.endpoint == position and one.group is not None]
        weight = weights(books, position, phase)
        used = [one.planned if plan else one.used for one in own]
        told[position] = _scale(used, [weight[one.group or 0] for one in own], weight)
        if plan and not np.isfinite(told[position]):
            told[position] = float(weight.max())
    return told


def _scale(used: Sequence[float], own: Sequence[float], every: Floats) -> float:
    """The same of the classes that count; weights are in units of the largest of all."""
    return scale(used, own) * float(every.max()) / max(own, default=1.0)


def precision(books: Books, before: Floats | None, phase: int) -> Floats | None:
    """``(n_endpoints, n_arms)``, what a measurement of each is worth in the problem, at a phase."""
    if before is None:
        return None
    found = before.copy()
    for position in _by_class(books):
        if position in books.goal_endpoints:
            row = books.goal_endpoints.index(position)
            of = _classes(books, position)[0]
            found[row] = worth(weights(books, position, phase))[of[books.first]]
    return found


def lacking(books: Books, found: Sequence[Spread]) -> tuple[Flags, ...]:
    """``(n_arms,)`` each: the arms of every class that replicates do not tell well enough yet."""
    return tuple(
        _classes(books, one.endpoint)[0][books.first] == one.group
        for one in found
        if one.group is not None and one.freedom < TARGET
    )


def late(books: Books) -> int:
    """How many classes there are of which nothing could be had at first, and something was measured since."""
    return sum(len(set(_counting(books, k, len(books.phases))) - _at_first(books, k)) for k in _by_class(books))


def named(books: Books, position: int, group: int | None) -> dict[str, Any]:
    """The class of an endpoint as an event names it; nothing for all compounds together."""
    own = books.endpoints[position].noise_classes
    return {} if group is None or own is None else {"class": own.classes[group]}


def placed(books: Books, position: int, data: Mapping[str, Any]) -> int | None:
    """The place of the class that ``named`` named."""
    own = books.endpoints[position].noise_classes
    return None if own is None or "class" not in data else own.classes.index(data["class"])


def _by_class(books: Books) -> tuple[int, ...]:
    """Positions of the measured endpoints whose noise differs by class, and is not known."""
    endpoints = books.endpoints
    return tuple(k for k in books.measured if endpoints[k].noise_estimated and endpoints[k].noise_classes is not None)


def _classes(books: Books, position: int) -> tuple[Ints, tuple[float, ...]]:
    """The place of every compound's class, and what was guessed of each."""
    own = books.endpoints[position].noise_classes
    assert own is not None
    return own.codes(books.library), own.guesses


def _at_first(books: Books, position: int) -> set[int]:
    """The classes of which something could be had at the first phase; before it, of which something can."""
    had = books.phases[0].measurable if books.phases else books.measurable()
    return set(_classes(books, position)[0][books.first[had]].tolist())


def _counting(books: Books, position: int, phase: int) -> list[int]:
    of = _classes(books, position)[0]
    came = {
        int(of[m.compound])
        for number in range(1, phase + 1)
        for m, _ in books.counting(number)
        if m.endpoint == position
    }
    return sorted(_at_first(books, position) | came)
