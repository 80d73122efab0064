"""How measurements of a campaign count: the plan they fill, the missing ones, and those that a phase rests on."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..chemistry.calculated import properties_of
from ..domain.controls import Reading
from ..domain.derived import Known, behind, difference, parts, pooled_of
from ..domain.endpoint import Endpoint
from ..domain.features import SiteFeatures
from ..domain.library import Library
from ..domain.measurements import Measurement, Pooled, pool
from ..domain.plates import Layout
from ..errors import AssayPilotError
from ..strategies.protocol import Allocation
from .issued_rounds import Issued, Round
from .settings import Settings
from .stock_view import Stock

Place = tuple[int, int]
"""Endpoint and compound, by their positions: what a determination is of."""


@dataclass(slots=True)
class UnderWay:
    """A phase between its plan and its decision."""

    allocation: Allocation
    planned: dict[int, int]
    """Measurements requested of each compound, of every measured endpoint."""
    order: list[tuple[int, int]]
    """(compound, measurements) in the order rounds are cut."""
    lost: dict[Place, int] = field(default_factory=dict)
    """Measurements given up when a round was closed."""
    measured: tuple[int, ...] = (0,)
    """Positions of the endpoints it is measured for."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decided phase: what it was planned as, and when it ended."""

    allocation: Allocation
    planned: Mapping[int, int]
    """Measurements requested of each compound, of every measured endpoint."""
    round: int
    """The round that closed it."""
    measured: tuple[int, ...] = (0,)
    """Positions of the endpoints it was measured for."""


How = Literal["capacity", "free", "void"]
"""The effect of a change of the terms.

``capacity``: decisions stay as they are; ``free``: no result was seen yet, and all begins under the new terms;
``void``: all phases are decided again under the new terms, and the guarantee ends.
"""


@dataclass(frozen=True, eq=False)
class Turn:
    """One change of the terms."""

    how: How
    seen: int
    """Values that were entered, including those taken back."""


class Books:
    """The reading side of a ledger; nothing here changes it.

    Every planned replicate of a compound is one measurement of each *measured* endpoint: those of the goal, and those
    with a limit; for a difference or a profile, all of its parts. What is counted, missing, lost or late is so for each
    of them on its own.
    """

    library: Library
    settings: Settings
    features: SiteFeatures

    def __init__(self) -> None:
        self.endpoints: tuple[Endpoint, ...] = ()
        self.goal_endpoints: tuple[int, ...] = (0,)
        """Positions of the endpoints the goal is about, the objective first."""
        self.limited: tuple[int, ...] = ()
        """Positions of the endpoints with a limit."""
        self.measured: tuple[int, ...] = (0,)
        """Positions of the endpoints every compound that is planned now is measured for; see ``measured_in``."""
        self.first: Ints = np.zeros(0, dtype=np.intp)
        self.arm_of: Ints = np.zeros(0, dtype=np.intp)
        self.measurements: list[Measurement] = []
        self.readings: list[Reading] = []
        """Values of controls, in order of entry."""
        self.rounds: list[Issued] = []
        self.layouts: dict[int, Layout] = {}
        """The plates of each round that was laid out, by its number."""
        self.confirmations: set[int] = set()
        """Numbers of the rounds that confirm what was decided."""
        self.under_way: UnderWay | None = None
        self.unavailable: dict[int, str] = {}
        self.stock: Stock | None = None
        """What lists state of stock; None without a list."""
        self.ordered: Mapping[int, str] = {}
        """When each compound that was not at hand was first requested, UTC."""
        self.phases: list[Decided] = []
        self.sets: dict[int, tuple[int, int]] = {}
        """Compounds in and undecided by round: after its decision, then as they were when the next one was planned."""

    def known(self, name: str) -> Floats:
        """Return a property of every arm, calculated from structures, ``(n_arms,)``; NaN where there is none."""
        return properties_of(self.library)(name)[self.first]

    @property
    def objective(self) -> int:
        """The position of the objective among the endpoints; for trade-offs of the first of them."""
        return self.goal_endpoints[0]

    def measurement(self, number: int, *, control: bool = False) -> Measurement:
        """Return the measurement, or the value of a control, of that number; AssayPilotError when there is none."""
        values: Sequence[Measurement] = self.readings if control else self.measurements
        if not 1 <= number <= len(values):
            raise AssayPilotError(f"there is no {'value of a control' if control else 'measurement'} number {number}")
        return values[number - 1]

    def issued(self, number: int) -> Issued:
        """Return the round of that number; AssayPilotError when there is none."""
        for one in self.rounds:
            if one.number == number:
                return one
        raise AssayPilotError(f"there is no round {number}")

    @property
    def open_round(self) -> Issued | None:
        """The round that waits for results, or None."""
        return self.rounds[-1] if self.rounds and self.rounds[-1].state == "open" else None

    @property
    def last_round(self) -> int:
        """The round that what happens now belongs to: the open one, else the last; 1 before any (0 is the history)."""
        return max((issued.number for issued in self.rounds if issued.state != "withdrawn"), default=1)

    @property
    def last_closed(self) -> int:
        """The last round that is closed; 0 before any."""
        return max((issued.number for issued in self.rounds if issued.state == "closed"), default=0)

    @property
    def n_arms(self) -> int:
        """Distinct feature rows."""
        return len(self.first)

    def available(self, unavailable: Collection[int] | None = None) -> Flags:
        """Return which compounds are available, ``(n,)``; ``unavailable`` replaces the compounds marked so."""
        flags = self.library.measurable.copy()
        flags[list(self.unavailable if unavailable is None else unavailable)] = False
        return flags

    def measurable(self, unavailable: Collection[int] | None = None) -> Flags:
        """Return which arms have an available compound, ``(n_arms,)``."""
        out = np.zeros(self.n_arms, dtype=bool)
        out[self.arm_of[self.available(unavailable)]] = True
        return out

    def representative(self, arm: int) -> int:
        """Return the compound that is measured for an arm: the first of its equals that is available."""
        if self.library.measurable[self.first[arm]] and int(self.first[arm]) not in self.unavailable:
            return int(self.first[arm])
        for compound in np.flatnonzero((self.arm_of == arm) & self.available()).tolist():
            return int(compound)
        raise AssayPilotError(f"{self.library.ids[self.first[arm]]} is unavailable")

    @property
    def deciding_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that decide: those of the goal, and those with a limit."""
        return tuple(dict.fromkeys((*self.goal_endpoints, *self.limited)))

    def behind(self, positions: Sequence[int]) -> tuple[int, ...]:
        """Positions of the endpoints that are measured for these: themselves, or what they are calculated from."""
        return behind(self.endpoints, positions)

    # -- effort

    @property
    def per_sample(self) -> int:
        """Measurements that one planned replicate of a compound takes: one of every measured endpoint."""
        return len(self.measured)

    def spent(self) -> int:
        """Return determinations of the measured endpoints in this campaign; history and confirmations do not count."""
        return sum(n for number, n in self._by_round().items() if number not in self.confirmations)

    def confirming(self) -> int:
        """Return the same of confirmation rounds, which count against no budget."""
        return sum(n for number, n in self._by_round().items() if number in self.confirmations)

    def _by_round(self) -> dict[int, int]:
        """Return the determinations of what each round measured, by its number; those withdrawn do not count."""
        requested = {issued.number: frozenset(issued.endpoints) for issued in self.rounds}
        usual = frozenset(self.measured)
        taken: dict[int, int] = {}
        for m in self.measurements:
            number = m.round
            if number > 0 and not m.withdrawn and m.endpoint in requested.get(number, usual):
                taken[number] = taken.get(number, 0) + m.n
        return taken

    def matters(self, m: Measurement) -> bool:
        """Return whether a measurement is of the part of the campaign that decides, and not of a confirmation round."""
        return m.round not in self.confirmations

    def samples(self) -> int:
        """Return the same in planned replicates of all measured endpoints, as strategies count, rounded up."""
        return -(-self.spent() // self.per_sample)

    def measured_in(self, phase: int) -> tuple[int, ...]:
        """Return the positions of the endpoints a phase is, or was, measured for."""
        if 0 < phase <= len(self.phases):
            return self.phases[phase - 1].measured
        return self.measured if self.under_way is None else self.under_way.measured

    # -- what fills a phase

    def planned(self, phase: int) -> Mapping[int, int]:
        """Return the measurements that a phase requests of each compound; empty for an unknown phase."""
        if self.under_way is not None and self.under_way.allocation.phase == phase:
            return self.under_way.planned
        return self.phases[phase - 1].planned if 0 < phase <= len(self.phases) else {}

    def counting(self, phase: int) -> list[tuple[Measurement, int]]:
        """Return the measurements that count for a phase, and how many planned ones each fills.

        Never more than planned.

        Exact or censored, not withdrawn, not excluded. First entered, first counted: when a value that was replaced
        is used again, the replacement goes back to the estimates, whatever their values are.
        """
        planned = self.planned(phase)
        left = {(endpoint, compound): n for endpoint in self.measured_in(phase) for compound, n in planned.items()}
        filling = []
        for m in self.measurements:
            if m.phase == phase and m.counted and not m.withdrawn and m.excluded is None:
                n = min(m.counted, left.get((m.endpoint, m.compound), 0))
                if n:
                    left[m.endpoint, m.compound] -= n
                    filling.append((m, n))
        return filling

    def received(self, phase: int) -> dict[Place, int]:
        """Return the measurements of a phase that are in."""
        done: dict[Place, int] = {}
        for m, n in self.counting(phase):
            done[m.endpoint, m.compound] = done.get((m.endpoint, m.compound), 0) + n
        return done

    def outstanding(self) -> dict[Place, int]:
        """Return the measurements of the phase under way that are neither in nor lost, of available compounds."""
        if self.under_way is None:
            return {}
        done, lost = self.received(self.under_way.allocation.phase), self.under_way.lost
        left = {
            (k, c): n - done.get((k, c), 0) - lost.get((k, c), 0)
            for k in self.under_way.measured
            for c, n in self.under_way.planned.items()
        }
        return {place: n for place, n in left.items() if n > 0 and place[1] not in self.unavailable}

    def span(self, phase: int, endpoint: int) -> Pooled:
        """Return counts and means ``(n_arms,)`` of what counts for a phase of an endpoint, model scale.

        Of a difference the effective counts: see ``difference``.
        """
        return spanned(self.endpoints, endpoint, self.counting(phase), self.arm_of, self.known)

    # -- what returned for a round

    def returned(self, issued: Issued) -> tuple[tuple[int, ...], ...]:
        """Return the number of results for each item of a round, per measured endpoint, at most what was requested."""
        return self._returned(issued, self._came())

    def _came(self) -> dict[tuple[int, int, int], int]:
        """Return the planned measurements that are in, by round, endpoint and compound."""
        came: dict[tuple[int, int, int], int] = {}
        for m in self.measurements:
            if m.counted and not m.withdrawn and m.excluded is None:
                key = (m.round, m.endpoint, m.compound)
                came[key] = came.get(key, 0) + m.counted
        return came

    def _returned(self, issued: Issued, came: Mapping[tuple[int, int, int], int]) -> tuple[tuple[int, ...], ...]:
        if issued.state == "withdrawn":  # what came for its compounds later was not for it
            return ((0,) * len(issued.endpoints),) * len(issued.items)
        return tuple(
            tuple(
                min(item.of(place), came.get((issued.number, endpoint, item.compound), 0))
                for place, endpoint in enumerate(issued.endpoints)
            )
            for item in issued.items
        )

    def awaited(self, issued: Issued) -> Iterator[tuple[Place, int]]:
        """Yield what a round still waits for, and how many; it does not wait for unavailable compounds."""
        for item, back in zip(issued.items, self.returned(issued), strict=True):
            if item.compound not in self.unavailable:
                for place, endpoint in enumerate(issued.endpoints):
                    if item.of(place) > back[place]:
                        yield (endpoint, item.compound), item.of(place) - back[place]

    def pending(self, issued: Issued) -> int:
        """Return the measurements of a round that can still come."""
        return sum(n for _, n in self.awaited(issued))

    def views(self) -> tuple[Round, ...]:
        """Return all rounds as pages show them."""
        came = self._came()
        return tuple(self._view(issued, came) for issued in self.rounds)

    def view(self, issued: Issued) -> Round:
        """Return a round as pages show it."""
        return self._view(issued, self._came())

    def _view(self, issued: Issued, came: Mapping[tuple[int, int, int], int]) -> Round:
        own = {one.name: getattr(issued, one.name) for one in fields(issued)}
        return Round(**own, back=self._returned(issued, came), layout=self.layouts.get(issued.number))


def spanned(
    endpoints: Sequence[Endpoint],
    position: int,
    filling: Sequence[tuple[Measurement, int]],
    arms: Ints,
    known: Known | None = None,
) -> Pooled:
    """Return counts and means ``(n_arms,)`` of an endpoint by measurements, each with how many determinations count.

    ``arms`` of every compound, ``known`` the properties of every arm; of a value known only as a bound the bound
    counts.
    """
    own = parts(endpoints, position)
    if endpoints[position].of is None:
        used = [(m, n) for m, n in filling if m.endpoint == position]
        return pool(
            (int(arms[m.compound]) for m, _ in used), (m.value for m, _ in used), (n for _, n in used),
            int(arms.max(initial=-1)) + 1,
        )  # fmt: skip
    if endpoints[position].curves:
        return pooled_of(endpoints, position, lambda part: spanned(endpoints, part, filling, arms), known)
    first, second = (spanned(endpoints, part, filling, arms) for part in own)
    return difference(first, second, (endpoints[own[0]].noise_sd, endpoints[own[1]].noise_sd))
