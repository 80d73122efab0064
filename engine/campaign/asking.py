"""What a campaign asks of its strategy: goal, noise, confidence and capacity, by the terms as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assaypilot.engine.campaign import limits
from assaypilot.engine.campaign.changing import blocks
from assaypilot.engine.campaign.changing.turns import Turn
from assaypilot.engine.campaign.counting import Books
from assaypilot.engine.campaign.noise import charged, later, precision, scatter
from assaypilot.engine.campaign.scales import Scale
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures, merge_equal_rows
from assaypilot.engine.goals import Goal
from assaypilot.engine.library import Library
from assaypilot.engine.models.glm import Link
from assaypilot.engine.strategies.protocol import Capacity, Problem, State, Strategy
from assaypilot.engine.strategies.registry import check_parameters

__all__ = ["Terms"]


class Terms(Books):
    """The books of a campaign, and what they are kept for."""

    strategy: Strategy
    state: State
    origin: Problem
    """What the strategy started from."""

    def __init__(self) -> None:
        super().__init__()
        self.turns: list[Turn] = []
        """Changes of mind that were not taken back."""

    @property
    def takes_bounds(self) -> bool:
        """Whether decisions take in values known only as bounds; beside blocks those about limits do not."""
        return self.strategy.info.bounds and (self.settings.blocks == "none" or not self.limited)

    def hold(self, library: Library) -> None:
        """Nothing; this is the library from now on."""
        self.library = library
        self.first, self.arm_of = merge_equal_rows(library.codes)
        whole = SiteFeatures.of(library)
        self.features = SiteFeatures(whole.codes[self.first], whole.sizes)

    def aim(self) -> None:
        """Nothing; finds the endpoints that the settings and limits are about."""
        names = [endpoint.name for endpoint in self.endpoints]
        self.goal_endpoints = tuple(names.index(name) for name in self.settings.objectives)
        self.limited = tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.limit is not None)
        self.measured = self.behind((*self.goal_endpoints, *self.limited))

    def begin(self) -> None:
        """Nothing; the strategy starts, with nothing measured."""
        self.origin = self.problem()
        # What a strategy fixes at its start is that of ``fresh``, from which phases are decided again.
        self.state = self.strategy.adjust(self.fresh(), measurable=self.origin.measurable, spent=0)

    def fresh(self) -> State:
        """The strategy's state before any phase, under the terms as they are, when everything could be had."""
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
        """What the strategy is asked, by the terms as they are and what can be had now."""
        settings = self.settings
        noise = {}
        for position in (*self.goal_endpoints, *self.limited, *self.measured):
            sd = self.endpoints[position].noise_sd
            if sd is None:
                name = self.endpoints[position].name
                raise AssayPilotError(f"the assay noise (SD) of {name} is not known", option="--sd")
            noise[position] = sd
        delta = scatter.of_decisions(self) * settings.delta
        if self.limited:
            delta = limits.shares(delta, len(self.goal_endpoints), len(self.limited))[0]
        return Problem(
            features=self.features,
            measurable=self.measurable(),
            wanted=np.ones(self.n_arms, dtype=bool),
            goal=settings.goal_of(self.margins),
            delta=delta,
            noise=tuple(noise[position] for position in self.goal_endpoints),
            parameters=check_parameters(self.strategy, settings.parameters),
            seed=settings.seed,
            capacity=self.capacity(),
            estimated=bool(scatter.estimated(self)),
            precision=precision.of_arms(self, self.goal_endpoints),
            uneven=later.given_after(self, self.turns) > 0 or scatter.by_guesses(self),
            of_controls=precision.of_controls(self, self.goal_endpoints),
            began=self.goals[0] if len(self.goals) > 1 else None,
        )

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goal at first, and all that were chosen after results were seen, in order."""
        turns = [turn for turn in self.turns if turn.how in ("kept", "void")]
        return (*(turn.goal for turn in turns), self.settings.goal_of(self.margins))

    @property
    def error(self) -> float:
        """How often what is promised may be wrong, over all goals and limits that were chosen."""
        share, cohorts = 1.0, len(np.unique(self.since))
        if self.strategy.info.name == "adaptive" and (len(self.goals) > 1 or cohorts > 1):
            from assaypilot.engine.strategies.adaptive.anew import error_share

            share = error_share(self.goals[0], self.goals[1:], cohorts)
        kept = [turn for turn in self.turns if turn.how == "kept"]
        asked = [*(turn.was["limited"] for turn in kept), self.limited]
        goal = limits.together(len(self.goal_endpoints), asked, share)
        return (self.ways * goal + charged.asked_for(self, kept)) * self.settings.delta

    @property
    def ways(self) -> int:
        """In how many ways what was measured was weighed, and blocks were taken out: each has an error of its own."""
        kept = [turn for turn in self.turns if turn.how == "kept"]
        weightings = charged.weightings(self, kept, classes=self.strategy.info.name == "adaptive")
        return weightings * blocks.ways(self.settings, kept)

    def capacity(self) -> Capacity:
        """What the lab takes, in replicates of all measured endpoints."""
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
        chances = self.link[0] == "identity" and self.endpoints[self.objective].kind == "yes-no"
        return Scale(self.link[0], self.strategy.info.own_scale, chances)

    @property
    def coarse(self) -> tuple[int, ...]:
        """Positions of the endpoints that have few values: yes and no, or counts."""
        linked = () if self.link[0] == "identity" else (self.objective,)
        kinds = (k for k, endpoint in enumerate(self.endpoints) if endpoint.kind != "value")
        return tuple(sorted({*linked, *kinds}))
