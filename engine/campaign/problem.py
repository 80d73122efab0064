"""What a campaign asks of its strategy: goal, noise, confidence and capacity, by the terms as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..chemistry.similarity import library_similarity
from ..domain.features import SiteFeatures, merge_equal_rows
from ..domain.library import Library
from ..domain.profiles import profile_of
from ..errors import AssayPilotError
from ..models.glm import Link
from ..strategies.protocol import Calibrated, Capacity, Problem, State, Strategy
from ..strategies.registry import check_parameters
from . import limits
from . import noise as assay_noise
from .bookkeeping import Books, Turn
from .scales import Scale

__all__ = ["Terms"]


class Terms(Books):
    """The books of a campaign, and what they are kept for."""

    strategy: Strategy
    state: State
    origin: Problem
    """What the strategy started from."""

    def __init__(self) -> None:
        super().__init__()
        self.why = ""
        """Why this strategy."""
        self.turns: list[Turn] = []
        """Changes of the terms that were not undone."""
        self.modelled: tuple[int, ...] = (0,)
        """Positions of the endpoints the series model knows, in its order: of the goal first, then with a limit."""

    @property
    def calibrated(self) -> bool:
        """Whether the series model decides, by everything measured, rather than a proof."""
        return isinstance(self.strategy, Calibrated)

    def hold(self, library: Library) -> None:
        """Take this library from now on."""
        self.library = library
        self.first, self.arm_of = merge_equal_rows(library.codes)
        whole = SiteFeatures.of(library)
        self.features = SiteFeatures(whole.codes[self.first], whole.sizes)

    def aim(self) -> None:
        """Find the endpoints that the settings and limits are about."""
        names = [endpoint.name for endpoint in self.endpoints]
        self.goal_endpoints = tuple(names.index(name) for name in self.settings.objectives)
        self.limited = tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.limit is not None)
        profiled = tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.curves)
        self.measured = self.behind((*self.goal_endpoints, *self.limited, *profiled))
        self.modelled = tuple(dict.fromkeys((*self.deciding_endpoints, *profiled, *self.behind(profiled))))

    def begin(self) -> None:
        """Start the strategy, with nothing measured."""
        self.origin = self.problem()
        # What a strategy fixes at its start is that of ``fresh``, from which phases are decided again.
        self.state = self.strategy.adjust(self.fresh(), measurable=self.origin.measurable, spent=0)

    def fresh(self) -> State:
        """Return the strategy's state before any phase, under the terms as they are, when everything could be had."""
        return self.strategy.start(replace(self.origin, measurable=self._measurable({})))

    def seen(self) -> bool:
        """Whether any result of this campaign was ever seen, one that was taken back included."""
        return any(m.round > 0 for m in self.measurements)

    @property
    def margins(self) -> tuple[float, ...]:
        """For trade-offs the difference that does not matter, per endpoint of the goal; else empty."""
        if self.settings.goal != "pareto":
            return ()
        own = (self.endpoints[k].epsilon for k in self.goal_endpoints)
        return tuple(self.settings.distance if margin is None else margin for margin in own)

    def problem(self) -> Problem:
        """Return what the strategy is asked, by the terms as they are and what can be had now."""
        settings = self.settings
        noise = {}
        for position in (*self.modelled, *self.measured):
            sd = self.endpoints[position].noise_sd
            if sd is None:
                name = self.endpoints[position].name
                raise AssayPilotError(f"the assay noise (SD) of {name} is not known", option="--sd")
            noise[position] = sd
        delta = assay_noise.of_decisions(self) * settings.delta
        if self.limited and not self.calibrated:
            delta = limits.shares(delta, len(self.goal_endpoints), len(self.limited))[0]
        problem = Problem(
            features=self.features,
            measurable=self.measurable(),
            wanted=np.ones(self.n_arms, dtype=bool),
            goal=settings.goal_of(self.margins),
            delta=delta,
            noise=tuple(noise[position] for position in self.goal_endpoints),
            parameters=check_parameters(self.strategy, settings.parameters),
            seed=settings.seed,
            capacity=self.capacity(),
            estimated=bool(assay_noise.estimated(self)),
        )
        return self._with_series(problem, noise) if self.calibrated else problem

    def _with_series(self, problem: Problem, noise: Mapping[int, float]) -> Problem:
        """Return the problem with what the series model is told beside what every strategy is."""
        rows = self.modelled
        profile = next((profile_of(self.endpoints, k).at(rows) for k in rows if self.endpoints[k].curves), None)
        borders = []
        for position in self.limited:
            endpoint = self.endpoints[position]
            low, high = endpoint.lowest, endpoint.highest
            borders.append((rows.index(position), *((low, high) if endpoint.sign > 0 else (-high, -low))))
        return replace(
            problem,
            estimated=any(self.endpoints[position].noise_estimated for position in rows),
            limits=tuple(borders),
            beside=tuple(noise[position] for position in rows[len(self.goal_endpoints) :]),
            similarity=library_similarity(self.library),
            ends=tuple(self.endpoints[position].ends for position in rows),
            kinds=tuple(self.endpoints[position].kind for position in rows),
            profile=profile,
        )

    def capacity(self) -> Capacity:
        """Return what the lab takes, in replicates of all measured endpoints."""
        settings, each = self.settings, self.per_sample
        budget = None if settings.budget is None else settings.budget // each
        if settings.budget is not None and any(issued.measured != self.measured for issued in self.rounds):
            # What was measured for other endpoints counted otherwise: what is left is what it is.
            budget = self.samples() + max(settings.budget - self.spent(), 0) // each
        return Capacity(max(1, settings.per_round // each), settings.max_replicates, budget, each)

    @property
    def link(self) -> tuple[Link, float]:
        """The scale on which the objective's effects add up, and the largest size of a mean there."""
        return self.strategy.link(self.state.problem)

    @property
    def scale(self) -> Scale:
        """The scale on which the objective's means are compared."""
        return Scale(self.link[0])

    @property
    def coarse(self) -> tuple[int, ...]:
        """Positions of the endpoints that have few values: yes and no, or counts."""
        linked = () if self.link[0] == "identity" else (self.objective,)
        kinds = (k for k, endpoint in enumerate(self.endpoints) if endpoint.kind != "value")
        return tuple(sorted({*linked, *kinds}))
