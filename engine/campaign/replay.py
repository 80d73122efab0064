"""The state of a campaign, which its log adds up to. Decisions are read from it, never made again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..chemistry.similarity import library_similarity
from ..domain.derived import profile_of
from ..domain.features import SiteFeatures, merge_equal_rows
from ..domain.library import Library
from ..domain.measurements import Pooled, pool
from ..domain.noise import usual
from ..errors import AssayPilotError, NotInstalled
from ..models.glm import Link
from ..strategies.protocol import (
    IN,
    UNDECIDED,
    Allocation,
    Calibrated,
    Capacity,
    Decision,
    Outcome,
    Problem,
    State,
    Strategy,
)
from ..strategies.registry import check_parameters, get
from ..text import number
from . import codec, series
from . import noise as assay_noise
from .bookkeeping import Books, Decided, Turn

if TYPE_CHECKING:
    from .events.kind import Step


_ON_LINK: dict[Link, str] = {"identity": "", "logit": " log odds", "log": " (natural log)"}


Held = tuple[Library, Ints, Ints, SiteFeatures]
"""A library, the first compound of each arm, the arm of every compound, and the features of arms."""


class Ledger(Books):
    """The state after the events so far: books, terms and decisions; ``events.fold`` alone changes it."""

    strategy: Strategy
    calibrated: bool
    """Whether the series model decides, by everything measured, rather than a proof."""
    state: State

    def __init__(self, part: Callable[[str], bytes], libraries: dict[str, Held] | None = None) -> None:
        super().__init__()
        self._part = part
        self._libraries = {} if libraries is None else libraries
        """Libraries that were read before, by digest: a million compounds take seconds."""
        self.why = ""
        """Why this strategy."""
        self.turns: list[Turn] = []
        """Changes of the terms that were not undone."""
        self.modelled: tuple[int, ...] = (0,)
        """Positions of the endpoints the series model knows, in its order: of the goal first, then with a limit."""
        self.estimates: dict[int, Decision] = {}
        """The decisions under the terms as they are, by phase, in order."""
        self.spreads: dict[int, tuple[assay_noise.Spread, ...]] = {}
        """The noise that each decided phase used, where it is not known."""
        self.void: list[str] = []
        """Why the guarantee is void, besides what the measurements themselves show."""
        self.sequence = 0
        self.head = ""
        self.name = ""
        self.warnings: tuple[str, ...] = ()
        self.sources: dict[str, int] = {}
        """How often the content of that digest was entered (and not taken back)."""
        self.judged: set[int] = set()
        """Measurements excluded by judgement, after they were seen."""
        self.undo: list[Step] = []
        self.redo: list[Step] = []

    @property
    def held(self) -> Held:
        """The library, and what follows from it."""
        return self.library, self.first, self.arm_of, self.features

    def set_library(self, library: Library) -> None:
        """Take this library from now on."""
        self.library = library
        self.first, self.arm_of = merge_equal_rows(library.codes)
        whole = SiteFeatures.of(library)
        self.features = SiteFeatures(whole.codes[self.first], whole.sizes)
        if self.stock is not None:
            self.stock = self.stock.fitted(len(library))

    def decide_by(self, strategy: str, why: str) -> None:
        """Take the strategy of that name from now on; NotInstalled where its package is not there."""
        try:
            self.strategy, self.why = get(strategy), why
        except AssayPilotError as error:
            raise NotInstalled(
                f"the campaign needs a strategy of another package: {error.message}",
                mend="Install the package that provides it, or update it.",
            ) from error
        self.calibrated = isinstance(self.strategy, Calibrated)

    def find_endpoints(self) -> None:
        """Find the endpoints that the settings and limits are about."""
        names = [endpoint.name for endpoint in self.endpoints]
        self.goal_endpoints = tuple(names.index(name) for name in self.settings.objectives)
        self.limited = tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.limit is not None)
        profiled = tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.curves)
        self.measured = self.behind((*self.goal_endpoints, *self.limited, *profiled))
        # An endpoint that is recorded only may inform the others, under the series model.
        recorded = (k for k, endpoint in enumerate(self.endpoints) if endpoint.of is None)
        self.modelled = tuple(dict.fromkeys((*self.deciding_endpoints, *profiled, *self.behind(profiled), *recorded)))

    def begin(self) -> None:
        """Start the strategy under the present terms; after decided phases only the series model starts again.

        What a strategy fixes at its start it fixes as if everything could be measured.
        """
        problem = self.problem()
        fresh = self.strategy.start(replace(problem, measurable=self.measurable(())))
        fresh = replace(fresh, phase=len(self.phases))
        self.estimates, self.spreads = {}, {}
        self.state = self.strategy.adjust(fresh, measurable=problem.measurable, spent=0)

    def history_changed(self) -> None:
        """Start again where the first phase is not planned yet: a proven strategy may plan it by earlier values."""
        if not (self.calibrated or self.phases or self.under_way):
            self.begin()

    def seen(self) -> bool:
        """Return whether any result of this campaign was seen, including those taken back."""
        return any(m.round > 0 for m in self.measurements)

    @property
    def margins(self) -> tuple[float, ...]:
        """For trade-offs the difference that does not matter, per endpoint of the goal; else empty."""
        if self.settings.goal != "pareto":
            return ()
        own = (self.endpoints[k].epsilon for k in self.goal_endpoints)
        return tuple(self.settings.distance if margin is None else margin for margin in own)

    def problem(self) -> Problem:
        """Return the strategy's problem, by the present terms and the available compounds."""
        settings = self.settings
        noise = {}
        scored = (k for k, endpoint in enumerate(self.endpoints) if endpoint.curves)
        for position in dict.fromkeys((*self.deciding_endpoints, *scored, *self.measured)):
            sd = self.endpoints[position].noise_sd
            if sd is None:
                name = self.endpoints[position].name
                raise AssayPilotError(f"the assay noise (SD) of {name} is not known", option="--sd")
            noise[position] = sd
        problem = Problem(
            features=self.features,
            measurable=self.measurable(),
            wanted=np.ones(self.n_arms, dtype=bool),
            goal=settings.goal_of(self.margins),
            delta=assay_noise.of_decisions(self) * settings.delta,
            noise=tuple(noise[position] for position in self.goal_endpoints),
            parameters=check_parameters(self.strategy, settings.parameters),
            seed=settings.seed,
            capacity=self.capacity(),
            estimated=bool(assay_noise.estimated(self)),
        )
        if self.calibrated:
            return self._with_series(problem, noise)
        return replace(problem, history=tuple(map(self._history, self.goal_endpoints)))

    def _history(self, position: int) -> Pooled:
        """Return the values of an endpoint from before the campaign, larger is better."""
        known = [m for m in self.measurements if m.round == 0 and m.endpoint == position and m.usable]
        sign = self.endpoints[position].sign
        arms = self.arm_of[[m.compound for m in known]].tolist()
        return pool(arms, [sign * m.value for m in known], [m.n for m in known], self.n_arms)

    def _with_series(self, problem: Problem, noise: Mapping[int, float]) -> Problem:
        """Return the problem with what only the series model needs."""
        rows = self.modelled
        profile = next(
            (profile_of(self.endpoints, k, self.known).at(rows) for k in rows if self.endpoints[k].curves), None
        )
        borders = []
        for position in self.limited:
            endpoint = self.endpoints[position]
            low, high = endpoint.lowest, endpoint.highest
            borders.append((rows.index(position), *((low, high) if endpoint.sign > 0 else (-high, -low))))
        return replace(
            problem,
            estimated=any(self.endpoints[position].noise_estimated for position in noise),
            limits=tuple(borders),
            other_noise=tuple(noise.get(position, 0.0) for position in rows[len(self.goal_endpoints) :]),
            # On a scale without a usual noise a guess serves the first plan, and the data alone say more.
            usual_noise=tuple(noise.get(k, 0.0) if usual(self.endpoints[k]) else 0.0 for k in rows),
            similarity=library_similarity(self.library),
            ends=tuple(self.endpoints[position].ends for position in rows),
            kinds=tuple(self.endpoints[position].kind for position in rows),
            profile=profile,
        )

    def capacity(self) -> Capacity:
        """Return what the lab takes, in replicates of all measured endpoints."""
        settings, each = self.settings, self.per_sample
        budget = None if settings.budget is None else settings.budget // each
        return Capacity(max(1, settings.per_round // each), settings.max_replicates, budget, each)

    @property
    def link(self) -> tuple[Link, float]:
        """The scale on which the objective's effects add up, and the largest size of a mean there."""
        return self.strategy.link(self.state.problem)

    def far(self, distance: float) -> str:
        """Return a distance between two compounds in words: ``0.5``, ``1 log odds``."""
        return f"{number(distance)}{_ON_LINK[self.link[0]]}"

    @property
    def coarse(self) -> tuple[int, ...]:
        """Positions of the endpoints that have few values: yes and no, or counts."""
        linked = () if self.link[0] == "identity" else (self.objective,)
        kinds = (k for k, endpoint in enumerate(self.endpoints) if endpoint.kind != "value")
        return tuple(sorted({*linked, *kinds}))

    def current(self) -> State:
        """Return the strategy's state with the measurable arms and the measurements so far."""
        state = self.strategy.adjust(self.state, measurable=self.measurable(), spent=self.samples())
        if self.calibrated:
            return series.informed(self, state)
        return assay_noise.to_plan(self, assay_noise.known(self), state)

    def deciding(self) -> State:
        """Return the state in which the phase under way is decided: compounds with results in it count as available.

        So a compound used up after its results came in is decided by them.
        """
        state = self.current()
        if self.under_way is None or self.calibrated:
            return state
        came = np.zeros(self.n_arms, dtype=bool)
        filling = self.counting(self.under_way.allocation.phase)
        goal = self.behind(self.goal_endpoints)
        used = [m.compound for m, _ in filling if m.endpoint in goal]
        came[self.arm_of[used]] = True
        return self.strategy.adjust(state, measurable=state.problem.measurable | came, spent=state.spent)

    def outcome(self, phase: int, allocation: Allocation, spent: int) -> Outcome:
        """Return what returned for a phase, per endpoint of the goal and arm, larger is better.

        ``spent`` in replicates.

        A value known only as a bound counts as the bound itself; it ends the guarantee.
        """
        spans = [self.span(phase, k) for k in self.goal_endpoints]
        signs = np.array([[self.endpoints[k].sign] for k in self.goal_endpoints])
        counts, means = np.array([one.counts for one in spans]), np.array([one.means for one in spans])
        return Outcome(allocation, counts, signs * means, spent)

    def part(self, digest: str) -> bytes:
        """Return a part of the file by its digest."""
        return self._part(digest)

    def take_decision(self, data: Mapping[str, Any], sequence: int) -> None:
        """Take in the stored decision of the phase under way, which it ends; ``sequence`` is the event's."""
        if self.under_way is None:
            raise AssayPilotError(f"step {sequence} decides a phase that was never planned")
        decision = self._decision(data)
        under_way = self.under_way
        self.state = self.strategy.apply(self.deciding(), decision)
        self.estimates[decision.phase] = decision
        if "noise" in data:
            self.spreads[decision.phase] = assay_noise.from_json(data["noise"])
        self.phases.append(Decided(under_way.allocation, under_way.planned, data["round"], under_way.measured))
        self.under_way = None
        self.sets[data["round"]] = self.in_and_undecided(self.state.status)

    def take_estimates(self, data: Mapping[str, Any]) -> None:
        """Take in what the series model makes of the values so far, as the end of the last phase."""
        decision = self._decision(data)
        self.state = self.strategy.apply(self.current(), decision)
        self.estimates[decision.phase] = decision
        self.sets[data["round"]] = self.in_and_undecided(self.state.status)

    def in_and_undecided(self, status: NDArray[np.int8]) -> tuple[int, int]:
        """Return how many compounds are in and undecided, from the status of every arm."""
        of_each = status[self.arm_of]
        return int((of_each == IN).sum()), int((of_each == UNDECIDED).sum())

    def _decision(self, data: Mapping[str, Any]) -> Decision:
        """Return a stored decision with its numbers."""
        numbers = codec.from_bytes(self._part(data["part"]))
        decision = codec.decision_from_json(data, numbers, self.arm_of)
        shape = (len(self.goal_endpoints), self.n_arms)
        if any(array.shape != shape for array in (decision.estimate, decision.low, decision.high)):
            raise AssayPilotError("the log keeps the estimates of another library")
        return decision

    # -- a draft of the future

    def fork(self, parts: Mapping[str, bytes]) -> Ledger:
        """Return a ledger of its own with the same content, in which things can be tried; it also knows these parts."""
        other = copy.copy(self)
        known = self._part
        other._part = lambda digest: parts[digest] if digest in parts else known(digest)
        for name, value in vars(self).items():
            if isinstance(value, list | dict | set):
                setattr(other, name, copy.copy(value))
        if self.under_way is not None:
            other.under_way = replace(self.under_way, lost=dict(self.under_way.lost))
        return other

    def read_library(self, digest: str) -> None:
        """Take the library in the part of that digest."""
        if digest not in self._libraries:
            self.set_library(Library.decode(self.part(digest)))
            self._libraries[digest] = self.held
        self.library, self.first, self.arm_of, self.features = self._libraries[digest]
