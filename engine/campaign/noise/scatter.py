"""Assay noise that is not known: what the replicates of a campaign say of it, and what is used in its place.

An endpoint whose noise is *estimated* is decided by an upper bound on its SD instead of the SD itself, at every phase.
A tenth of delta is for the bounds of all such endpoints together, nine tenths are for the decisions. Where sigma <=
bound, every half-width is at least what it would be with sigma itself, and every walk of ``adaptive`` is shorter by the
same factor in all its steps, so that it passes a (positive) limit only where the true one does. So what is decided
wrongly has a probability of at most 0.9 delta + 0.1 delta, whatever the guess was that the first plan was made by.

**What counts.** Contrasts between values of one compound in one phase: those are normal with the noise's SD, and
nothing else, whatever was known when the phase was planned. Values of different phases are not compared, because who is
measured again depends on what was found. Of the table's history all values of a compound count as one phase: they were
there before. Values excluded, withdrawn, or that nobody asked for never count. Once a value was known only as a bound,
compounds count whose mean is far enough from all bounds (``models.sd_cut``): nearer ones scatter less because they were
cut. Of a mean of n determinations with an SD
of its own the n - 1 degrees of freedom count, where all n were asked for. A difference of two endpoints has the noise
of its parts; where they came in unequal numbers its effective counts are those of the guesses, so both are taken to be
as many times their guess as the worse of them. Such steps of walks may be less than standard normal, and their limits
are those of SDs by class that nobody knows (``models.sd_classes``).

**By class.** Where compounds of several classes scatter differently each class has its own contrasts, and its part of
the share; what is decided by is one scale for all: ``by_class``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.campaign.noise import by_class
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.difference import parts
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.measurements import Measurement, pure_error
from assaypilot.engine.models.sd_bound import OF_DECISIONS, TARGET, planning_sd, upper_sd
from assaypilot.engine.models.sd_cut import Cell, Cells, far_within, summed
from assaypilot.engine.strategies.derived import unbounded
from assaypilot.engine.strategies.protocol import BOUNDLESS, Decision, State

__all__ = [
    "Spread",
    "bounds",
    "bounds_met",
    "by_guesses",
    "decided",
    "deciding_sd",
    "estimated",
    "from_json",
    "latest",
    "of_decisions",
    "spreads",
    "tells",
    "to_decide",
    "to_json",
    "to_plan",
]


@dataclass(frozen=True, slots=True)
class Spread:
    """What the replicates up to a phase say of the noise of an endpoint."""

    endpoint: int
    """Its position."""
    guess: float
    """What was said of it at the start; plans rest on it, decisions do not."""
    squares: float
    """Sum of squares of the contrasts between values of one compound in one phase."""
    freedom: int
    """Their degrees of freedom."""
    alpha: float
    """How often the bound may be too small, at all numbers of degrees of freedom together."""
    group: int | None = None
    """The place of its class among those of the endpoint; None: of all compounds."""

    @property
    def sd(self) -> float | None:
        """The estimate; None without any replicates."""
        return math.sqrt(self.squares / self.freedom) if self.freedom else None

    @property
    def used(self) -> float:
        """The upper bound that decisions use; infinite while nothing can be said."""
        return upper_sd(self.squares, self.freedom, self.alpha)

    @property
    def planned(self) -> float:
        """What plans use."""
        return planning_sd(self.guess, self.squares, self.freedom, self.alpha)

    @property
    def shown(self) -> float:
        """The estimate, or the guess before there are enough replicates to trust it more."""
        return self.sd if self.sd and self.freedom >= _TRUSTED else self.guess


_TRUSTED = 6
"""Degrees of freedom from which an estimate is shown, and used for what only informs, instead of the guess."""


def estimated(books: Books) -> tuple[int, ...]:
    """Positions of the measured endpoints whose noise is not known."""
    return tuple(k for k in books.measured if books.endpoints[k].noise_estimated)


def by_guesses(books: Books) -> bool:
    """Whether the goal is about a difference of which nobody knows the noise of a part.

    Where its parts come in unequal numbers, its measurements are weighed by how the guesses compare.
    """
    unknown = estimated(books)
    goal = (k for k in books.goal_endpoints if books.endpoints[k].of is not None)
    return any(part in unknown for k in goal for part in parts(books.endpoints, k))


def tells(books: Books, m: Measurement) -> bool:
    """Whether a value of the table is of an endpoint whose noise is not known: decisions rest on its replicates."""
    return m.round == 0 and m.endpoint in estimated(books)


def of_decisions(books: Books) -> float:
    """The share of delta that is for decisions."""
    return OF_DECISIONS if estimated(books) else 1.0


def spreads(books: Books, phase: int) -> tuple[Spread, ...]:
    """What history and the phases up to one say of the noise of each endpoint whose noise is not known."""
    unknown = estimated(books)
    if not unknown:
        return ()
    alpha = (1.0 - OF_DECISIONS) * books.settings.delta / len(unknown)
    groups = [[(m, m.n) for m in books.measurements if m.round == 0], *map(books.counting, range(1, phase + 1))]
    told: list[Spread] = []
    for k in unknown:
        cells, guess = _cells(books, k, groups), books.endpoints[k].noise_sd or 1.0
        if books.endpoints[k].noise_classes is None:
            told.append(_spread(books, k, cells, guess, alpha))
        else:
            told += [_spread(books, k, *one) for one in by_class.parted(books, k, cells, alpha, phase)]
    return tuple(told)


def bounds_met(books: Books, position: int) -> list[tuple[float, float]]:
    """By the end of the history, and of each phase: below which value, and above which, some were known only as bounds.

    The highest of the first and the lowest of the others; infinite where there was none.
    """
    groups = [[m for m in books.measurements if m.round == 0]]
    groups += [[m for m, _ in books.counting(phase)] for phase in range(1, len(books.phases) + 1)]
    floor, ceiling, found = -math.inf, math.inf, []
    for group in groups:
        for m in group:
            if m.endpoint == position and m.relation != "=" and m.excluded is None and not m.withdrawn:
                floor = max(floor, m.value) if m.relation == "<" else floor
                ceiling = min(ceiling, m.value) if m.relation == ">" else ceiling
        found.append((floor, ceiling))
    return found


def first_contrasts(books: Books, position: int) -> Cells:
    """What the first phase says of the noise of an endpoint, all that was exact."""
    return _cells(books, position, [books.counting(1)])


def _spread(books: Books, position: int, found: Cells, guess: float, alpha: float, group: int | None = None) -> Spread:
    cells = [cell for _, cell in found.cells]
    if found.cut:
        cells, alpha = far_within(cells, found.ends, guess, alpha)
    squares, freedom = summed(cells)
    return Spread(position, guess, squares, freedom, alpha, group)


def _cells(books: Books, position: int, groups: Sequence[Sequence[tuple[Measurement, int]]]) -> Cells:
    """What the values of each compound in one phase and block say, and what was known only as a bound."""
    endpoint = books.endpoints[position]
    cells: list[tuple[int, Cell]] = []
    floor, ceiling = -math.inf, math.inf
    for group in groups:
        own: dict[tuple[int, object], list[Measurement]] = {}
        cut: set[tuple[int, object]] = set()
        for m, filled in group:
            if m.endpoint != position or m.excluded is not None or m.withdrawn:
                continue
            # Values of two plates differ by more than the noise, where plates are blocks.
            place = m.compound, blocking.together(books, m)
            if not m.usable:
                cut.add(place)
                if m.relation == "<":
                    floor = max(floor, m.value)
                else:
                    ceiling = min(ceiling, m.value)
            # More determinations than were asked for may have been made for what was seen in the first ones.
            elif filled == m.n:
                own.setdefault(place, []).append(m)
        cells += [(place[0], _cell(endpoint, values)) for place, values in own.items() if place not in cut]
    return Cells(cells, (floor, ceiling))


def _cell(endpoint: Endpoint, values: Sequence[Measurement]) -> Cell:
    """What values of one compound, in one phase and block, say."""
    if len(values) == 1 and values[0].n == 1:
        return Cell(values[0].value, 0.0, 0)
    numbers, n = [m.value for m in values], [m.n for m in values]
    sds = [endpoint.sd_to_model(m.entered.value, m.entered.sd) for m in values]
    squares, freedom, _ = pure_error([0] * len(values), numbers, n, sds)
    return Cell(float(np.average(numbers, weights=n)), squares, freedom)


def bounds(books: Books, found: Sequence[Spread], *, plan: bool = False, phase: int | None = None) -> dict[int, float]:
    """The noise SD of every endpoint by its position: that stated, or what decisions (``plan``: plans) use instead.

    Where it differs by class that of a measurement of the least weight, as weights are when ``phase`` is decided (None:
    when the next one is planned).
    """
    stated = {k: endpoint.noise_sd for k, endpoint in enumerate(books.endpoints)}
    own = {one.endpoint: one.planned if plan else one.used for one in found if one.group is None}
    own |= by_class.scales(books, found, len(books.phases) if phase is None else phase, plan=plan)
    noise = {k: own.get(k, sd) for k, sd in stated.items()}
    for k, endpoint in enumerate(books.endpoints):
        both = parts(books.endpoints, k)
        if endpoint.of is not None and any(part in own for part in both):
            times = max((noise[part] or 0.0) / (stated[part] or 1.0) for part in both)
            noise[k] = times * (endpoint.noise_sd or 0.0)
    return {k: sd for k, sd in noise.items() if sd is not None}


def deciding_sd(books: Books, position: int, phase: int) -> float | None:
    """The noise SD that a phase decides about an endpoint by; None where it is not known and nobody asks."""
    if not estimated(books):
        return books.endpoints[position].noise_sd
    found = spreads(books, phase)
    # What is decided without weights is decided by the largest of all classes.
    every = [one.used for one in found if one.endpoint == position and one.group is not None]
    return max(every) if every else bounds(books, found, phase=phase).get(position)


def to_decide(books: Books, state: State, phase: int) -> State:
    """The state with the noise that a phase is decided by; as it was where all noise is known."""
    found = spreads(books, phase)
    return _with(books, state, bounds(books, found, phase=phase), phase) if found else state


def decided(state: State, decision: Decision | None) -> Decision | None:
    """The decision, infinite bounds where nothing was known of an endpoint's noise."""
    return None if decision is None else unbounded(state, decision)


def latest(books: Books, used: Mapping[int, tuple[Spread, ...]]) -> tuple[Spread, ...]:
    """What the last decision ``used``, as the log says; before the first one what the history says."""
    if not estimated(books):
        return ()
    return used[max(used)] if used else spreads(books, 0)


def to_plan(books: Books, found: Sequence[Spread], state: State) -> State:
    """The state with the noise that the next phase is planned by, and how many of its measurements should be repeats.

    ``found``: as ``latest`` says.
    """
    if not found:
        return state
    after = _with(books, state, bounds(books, found, plan=True), len(books.phases))
    lacking: dict[int, int] = {}
    for one in found:
        lacking[one.endpoint] = lacking.get(one.endpoint, 0) + max(TARGET - one.freedom, 0)
    own = by_class.lacking(books, found)
    return replace(after, problem=replace(after.problem, repeats=max(lacking.values()), lacking=own))


def _with(books: Books, state: State, noise: Mapping[int, float], phase: int) -> State:
    own = tuple(min(noise[k], BOUNDLESS) for k in books.goal_endpoints)
    worth = by_class.precision(books, state.problem.precision, phase)
    return replace(state, problem=replace(state.problem, noise=own, precision=worth))


def to_json(books: Books, found: Sequence[Spread]) -> list[dict[str, Any]]:
    """What a decision used, as an event keeps it."""
    return [
        {
            "endpoint": books.endpoints[one.endpoint].name,
            "guess": one.guess,
            "squares": one.squares,
            "freedom": one.freedom,
            "alpha": one.alpha,
            "sd": one.sd,
            "used": one.used if math.isfinite(one.used) else None,
        }
        | by_class.named(books, one.endpoint, one.group)
        for one in found
    ]


def from_json(books: Books, data: Sequence[Mapping[str, Any]]) -> tuple[Spread, ...]:
    """What ``to_json`` wrote."""
    place = {endpoint.name: k for k, endpoint in enumerate(books.endpoints)}
    return tuple(
        Spread(
            place[one["endpoint"]],
            one["guess"],
            one["squares"],
            one["freedom"],
            one["alpha"],
            by_class.placed(books, place[one["endpoint"]], one),
        )
        for one in data
    )
