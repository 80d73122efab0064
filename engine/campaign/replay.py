"""The state of a campaign as a fold over its log. Decisions are read from it, never made again."""

from __future__ import annotations

import copy
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from assaypilot.engine.campaign import limits, plating, scatter
from assaypilot.engine.campaign.changing import changed
from assaypilot.engine.campaign.counting import Books, Decided, Issued, UnderWay
from assaypilot.engine.campaign.file import codec
from assaypilot.engine.campaign.file.chain import Draft, Event
from assaypilot.engine.campaign.file.parts import from_bytes
from assaypilot.engine.campaign.steps import Step, remember
from assaypilot.engine.campaign.stock import stocked
from assaypilot.engine.controls import Reading
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures, merge_equal_rows
from assaypilot.engine.goals import Goal
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.models.glm import Link
from assaypilot.engine.strategies.protocol import (
    UNDECIDED,
    Allocation,
    Capacity,
    Certificate,
    Decision,
    Problem,
    State,
    StopReason,
    Strategy,
)
from assaypilot.engine.strategies.registry import check_parameters, get

__all__ = ["KINDS", "UNFIT", "Ledger"]

KINDS = {
    "campaign_created": 1,
    "library_added": 2,
    "endpoints_defined": 4,
    "goal_set": 3,
    "history_added": 1,
    "phase_planned": 2,
    "round_issued": 2,
    "confirmation_issued": 1,
    "round_withdrawn": 1,
    "results_recorded": 2,
    "results_withdrawn": 2,
    "results_restored": 2,
    "control_amended": 1,
    "measurement_excluded": 1,
    "measurement_included": 1,
    "measurement_corrected": 1,
    "compounds_unavailable": 1,
    "compounds_available": 1,
    "round_closed": 1,
    "phase_decided": 3,
    "phase_redecided": 4,
    "phase_empty": 1,
    "settings_changed": 2,
    "compounds_added": 2,
    "stock_stated": 1,
    "plates_laid_out": 1,
}
"""Every kind of event and its newest version this program understands.

Version 2 of a library has interactions, of endpoints an epsilon or a limit (version 3 a difference, 4 noise that is not
known), of the goal is not about all epsilon-best (3: has controls or blocks), of a plan promises no half-width, of
results has those of controls, of a decision has limits or a part with a strategy's memory (version 3 notes the noise
that was used; of one made again 3 reaches behind a change of the terms and 4 notes the noise), of changed terms has
noise that is not known; whatever needs none of it is still written as version 1.
"""

UNFIT = (AssayPilotError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error, zlib.error)
"""What ``apply`` may raise for an event that does not fit what came before, or is not of the shape of its kind."""


class Ledger(Books):
    """What the events so far add up to. ``apply`` is the only thing that changes it."""

    strategy: Strategy
    state: State
    origin: Problem
    """What the strategy started from."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        super().__init__()
        self._part = part
        self.sequence = 0
        self.head = ""
        self.name = ""
        self.why = ""
        self.warnings: tuple[str, ...] = ()
        self.sources: dict[str, int] = {}
        """How often the content of that digest was entered (and not taken back)."""
        self.estimates: dict[int, Decision] = {}
        self.verdicts: dict[int, limits.Verdict] = {}
        """What each decided phase said about the limits; empty without limits."""
        self.spreads: dict[int, tuple[scatter.Spread, ...]] = {}
        """The noise that each decided phase used, where it is not known."""
        self.failed = 0
        """Measurements given up for lab reasons."""
        self.judged: set[int] = set()
        """Measurements excluded by judgement, after they were seen."""
        self.void: list[str] = []
        """Why the guarantee does not hold any more, apart from what the measurements themselves show."""
        self.turns: list[changed.Turn] = []
        """Changes of mind that were not taken back."""
        self.anew: changed.Anew | None = None
        """What the last one decided anew of all phases before it."""
        self.undo: list[Step] = []
        self.redo: list[Step] = []

    # -- the strategy's state

    @property
    def takes_bounds(self) -> bool:
        """Whether decisions take in values known only as bounds; beside blocks they do not."""
        return self.strategy.info.bounds and self.settings.blocks == "none"

    def current(self) -> State:
        """The strategy's state with what can be measured now and what was spent so far."""
        state = self.strategy.adjust(self.state, measurable=self.measurable(), spent=self.samples())
        return scatter.to_plan(self, state)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Why nothing more is asked between phases: the strategy's reasons, or that what is open fails a limit."""
        reasons = self.strategy.stop(state)
        if reasons or not self.limited:
            return reasons
        failing = limits.failures(self, self.verdicts)[0] >= 0
        still = (state.status == UNDECIDED) & state.problem.wanted
        if (still & ~failing).any():
            return ()
        text = "every compound is decided; those the goal leaves open fail a limit"
        return (StopReason("decided", text, {"phases": state.phase, "open": float(still.sum())}),)

    def deciding(self) -> State:
        """The state in which the phase under way is decided: what came back in it counts as to be had.

        So a compound used up after its results came in is decided by them.
        """
        state = self.current()
        if self.under_way is None:
            return state
        came = np.zeros(self.n_arms, dtype=bool)
        filling = self.counting(self.under_way.allocation.phase)
        goal = self.behind(self.goal_endpoints)
        used = [m.compound for m, _ in filling if (m.usable or self.takes_bounds) and m.endpoint in goal]
        came[self.arm_of[used]] = True
        return self.strategy.adjust(state, measurable=state.problem.measurable | came, spent=state.spent)

    # -- a draft of the future

    def fork(self, parts: Mapping[str, bytes]) -> Ledger:
        """A ledger of its own with the same content, in which things can be tried; it also knows these parts."""
        other = copy.copy(self)
        known = self._part
        other._part = lambda digest: parts[digest] if digest in parts else known(digest)
        own = ("measurements", "readings", "sources", "rounds", "layouts", "confirmations", "unavailable", "phases",
               "estimates", "verdicts", "spreads", "judged", "void", "turns")  # fmt: skip
        for name in own:
            setattr(other, name, copy.copy(getattr(self, name)))
        other.undo, other.redo = list(self.undo), list(self.redo)
        if self.under_way is not None:
            other.under_way = replace(self.under_way, lost=dict(self.under_way.lost))
        return other

    def rehearse(self, drafts: Sequence[Draft]) -> None:
        """Take drafts in as if they had been written."""
        for draft in drafts:
            self.apply(Event(self.sequence + 1, "", "", draft.kind, draft.version, draft.data, ""))

    # -- the fold

    def apply(self, event: Event) -> None:
        """Take one event in; AssayPilotError when this program does not know its kind."""
        if event.version > KINDS.get(event.kind, 0):
            raise AssayPilotError(
                f"step {event.sequence} ({event.kind}) was written by a newer AssayPilot",
                mend="Open the file with the version that wrote it, or a newer one.",
            )
        getattr(self, f"_{event.kind}")(event)
        remember(event, self.undo, self.redo)
        self.sequence, self.head = event.sequence, event.digest

    def _campaign_created(self, event: Event) -> None:
        self.name = event.data["name"]
        self.warnings = tuple(event.data["warnings"])

    def _library_added(self, event: Event) -> None:
        self.hold(Library.decode(self._part(event.data["part"])))
        self.since = np.zeros(self.n_arms, dtype=np.intp)

    def hold(self, library: Library) -> None:
        """Nothing; this is the library from now on."""
        self.library = library
        self.first, self.arm_of = merge_equal_rows(library.codes)
        whole = SiteFeatures.of(library)
        self.features = SiteFeatures(whole.codes[self.first], whole.sizes)

    def _endpoints_defined(self, event: Event) -> None:
        self.endpoints = tuple(Endpoint.from_json(data) for data in event.data["endpoints"])

    def _goal_set(self, event: Event) -> None:
        self.settings = codec.settings_from_json(event.data["settings"])
        self.strategy = get(event.data["strategy"])
        self.why = event.data["why"]
        self.aim()
        self.begin()

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
        share = 1.0
        if self.strategy.info.name == "adaptive" and len(self.goals) > 1:
            from assaypilot.engine.strategies.adaptive.anew import error_share

            share = error_share(self.goals[0], self.goals[1:])
        asked = [*(turn.was["limited"] for turn in self.turns if turn.how == "kept"), self.limited]
        times = limits.together(len(self.goal_endpoints), asked, share) + scatter.asked_for(self)
        return times * self.settings.delta

    def capacity(self) -> Capacity:
        """What the lab takes, in replicates of all measured endpoints."""
        settings, each = self.settings, self.per_sample
        budget = None if settings.budget is None else settings.budget // each
        return Capacity(max(1, settings.per_round // each), settings.max_replicates, budget, each)

    @property
    def link(self) -> tuple[Link, float]:
        """The scale on which the objective's means are compared, and the largest size of one there."""
        return self.strategy.link(self.state.problem)

    @property
    def coarse(self) -> tuple[int, ...]:
        """Positions of the endpoints that have few values: yes and no, or counts."""
        return () if self.link[0] == "identity" else (self.objective,)

    def _history_added(self, event: Event) -> None:
        self._take(event)

    def _take(self, event: Event) -> None:
        for data in event.data["measurements"]:
            self.measurements.append(codec.measurement_from_json(data))
        self.readings += [codec.reading_from_json(data) for data in event.data.get("controls", ())]
        source = event.data.get("source")
        if source and source["digest"]:
            self._count_source(source["digest"], 1)

    def _count_source(self, digest: str, step: int) -> None:
        times = self.sources.pop(digest, 0) + step
        if digest and times > 0:
            self.sources[digest] = times

    def _phase_planned(self, event: Event) -> None:
        data = event.data
        planned = dict(zip(data["compounds"], data["counts"], strict=True))
        arms = self.arm_of[data["compounds"]]
        order = np.argsort(arms)
        allocation = Allocation(
            phase=data["phase"],
            arms=arms[order],
            counts=np.array(data["counts"], dtype=np.intp)[order],
            radius=math.inf if data["radius"] is None else data["radius"],
            certificate=Certificate(**data["certificate"]),
            cut_to_budget=data["cut_to_budget"],
        )
        self.under_way = UnderWay(allocation, planned, [(c, n) for c, n in data["order"]])
        self.under_way.choice = (data.get("choice") or {}).get("plan")
        stocked.noted_orders(self, event.time)

    def _round_issued(self, event: Event) -> None:
        items = tuple(codec.item_from_json(item) for item in event.data["items"])
        data = event.data
        self.rounds.append(Issued(data["round"], data["phase"], items, event.time, len(self.measurements)))

    def _confirmation_issued(self, event: Event) -> None:
        data = event.data
        items = tuple(codec.item_from_json(item) for item in data["items"])
        predicted = tuple(codec.prediction_from_json(entry) for entry in data["predicted"])
        self.rounds.append(
            Issued(
                data["round"],
                0,
                items,
                event.time,
                len(self.measurements),
                confirmation=True,
                predicted=predicted,
            )
        )
        self.confirmations.add(data["round"])

    def _round_withdrawn(self, event: Event) -> None:
        self.rounds[-1] = replace(self.rounds[-1], state="withdrawn", closed=event.time)

    def _plates_laid_out(self, event: Event) -> None:
        number = event.data["round"]
        layout = plating.layout_from_json(event.data["layout"], self.view(self.issued(number)))
        self.layouts.pop(number, None)
        if layout is not None:
            self.layouts[number] = layout

    def _results_recorded(self, event: Event) -> None:
        self._take(event)

    def _mark(self, numbers: list[int], change: Callable[[Measurement], Measurement]) -> None:
        for number in numbers:
            self.measurements[number - 1] = change(self.measurement(number))

    def reading(self, number: int) -> Reading:
        """The value of a control of that number; AssayPilotError when there is none."""
        if not 1 <= number <= len(self.readings):
            raise AssayPilotError(f"there is no value of a control number {number}")
        return self.readings[number - 1]

    def _amend_readings(self, numbers: Iterable[int], change: Callable[[Reading], Reading]) -> None:
        for number in numbers:
            self.readings[number - 1] = change(self.reading(number))

    def _control_amended(self, event: Event) -> None:
        now = event.data["now"]
        self._amend_readings([event.data["number"]], lambda r: replace(r, **now))

    def _results_withdrawn(self, event: Event) -> None:
        self._mark(event.data["numbers"], lambda m: replace(m, withdrawn=True))
        self._amend_readings(event.data.get("controls", ()), lambda r: replace(r, withdrawn=True))
        self._count_source(event.data["source"], -1)

    def _results_restored(self, event: Event) -> None:
        # Taken back and entered again around an undone and redone plan, they answer the round that is open now.
        number = event.data["round"]
        self._mark(event.data["numbers"], lambda m: replace(m, withdrawn=False, round=number))
        again = event.data.get("controls", ())
        self._amend_readings(again, lambda r: replace(r, withdrawn=False, round=number))
        self._count_source(event.data["source"], 1)

    def _measurement_excluded(self, event: Event) -> None:
        if event.data["judgement"]:
            self.judged.add(event.data["number"])
        self._mark([event.data["number"]], lambda m: m.with_exclusion(event.data["reason"]))

    def _measurement_included(self, event: Event) -> None:
        self.judged.discard(event.data["number"])
        self._mark([event.data["number"]], lambda m: m.with_exclusion(None))

    def _measurement_corrected(self, event: Event) -> None:
        data = event.data
        self._mark(
            [data["number"]],
            lambda m: replace(m, value=data["value"], relation=data["relation"], corrected=data["reason"]),
        )

    def _compounds_unavailable(self, event: Event) -> None:
        for compound in event.data["compounds"]:
            self.unavailable[compound] = event.data["reason"]

    def _compounds_available(self, event: Event) -> None:
        for compound in event.data["compounds"]:
            self.unavailable.pop(compound, None)

    def _stock_stated(self, event: Event) -> None:
        stocked.take(self, event.data)

    def _round_closed(self, event: Event) -> None:
        self.rounds[-1] = replace(self.rounds[-1], state="closed", closed=event.time)
        lost = event.data["lost"]
        if self.under_way is not None:
            for compound, n, *endpoint in lost:
                # Files about one endpoint do not say which.
                place = (endpoint[0] if endpoint else self.objective, compound)
                self.under_way.lost[place] = self.under_way.lost.get(place, 0) + n
        if event.data["missing"] == "failed":
            self.failed += sum(entry[1] for entry in lost)
        elif event.data["missing"] == "other":
            self.void.append(
                f"round {event.data['round']} was closed early for a reason that may depend on its results"
            )

    def part(self, digest: str) -> bytes:
        """A part of the file by its digest."""
        return self._part(digest)

    def arms_named(self, data: Mapping[str, Any]) -> dict[str, int]:
        """The arm of every compound that a stored decision names."""
        named = [name for key in ("in", "out", "left", "contradicted") for name in data[key]]
        return self.arms_of((*named, *(name for entry in data.get("limits", ()) for name in entry["out"])))

    def arms_of(self, names: Iterable[str]) -> dict[str, int]:
        """The arms of compounds by their ids; AssayPilotError for one that is not there."""
        arm_of = {}
        for name in names:
            compound = self.library.find(name)
            if compound is None:
                raise AssayPilotError(f"the log names a compound that is not in the library: {name}")
            arm_of[name] = int(self.arm_of[compound])
        return arm_of

    def _decision(self, data: Mapping[str, Any]) -> tuple[Decision, limits.Verdict | None]:
        """A stored decision, and what its phase said about the limits."""
        arm_of = self.arms_named(data)
        numbers = from_bytes(self._part(data["part"]))
        decision = codec.decision_from_json(data, numbers, arm_of)
        shape = (len(self.goal_endpoints), self.n_arms)
        if any(array.shape != shape for array in (decision.estimate, decision.low, decision.high)):
            raise AssayPilotError("the log keeps the estimates of another library")
        if bool(self.limited) != ("limits" in data):
            raise AssayPilotError("the log does not decide the limits of this campaign")
        if not self.limited:
            return decision, None
        return decision, limits.from_json(self, data["limits"], numbers.limits, arm_of)

    def keep(self, data: Mapping[str, Any]) -> None:
        """Nothing; takes in the noise that a stored decision used, if it was not known."""
        if "noise" in data:
            self.spreads[data["phase"]] = scatter.from_json(self, data["noise"])

    def _keep(self, data: Mapping[str, Any], decision: Decision, verdict: limits.Verdict | None) -> None:
        self.estimates[decision.phase] = decision
        self.keep(data)
        if verdict is not None:
            self.verdicts[decision.phase] = verdict

    def _phase_decided(self, event: Event) -> None:
        if self.under_way is None:
            raise AssayPilotError(f"step {event.sequence} decides a phase that was never planned")
        decision, verdict = self._decision(event.data)
        now, under_way = self.deciding(), self.under_way
        self.state = self.strategy.apply(now, decision)
        self._keep(event.data, decision, verdict)
        self.phases.append(
            Decided(
                under_way.allocation,
                under_way.planned,
                now.problem.measurable,
                event.data["round"],
                now.active,
                now.lost,
                now.problem.began is not None,
            )
        )
        self.under_way = None

    def _phase_empty(self, event: Event) -> None:
        # The phase is planned anew under the same number, so what came back for this attempt must not fill that one.
        phase = event.data["phase"]
        self.measurements = [replace(m, phase=0) if m.phase == phase else m for m in self.measurements]
        self.under_way = None

    def fresh(self) -> State:
        """The strategy's state before any phase, under the terms as they are, when everything could be had."""
        return self.strategy.start(replace(self.origin, measurable=self._measurable({})))

    def before(self, phase: int) -> State:
        """The strategy's state in which a decided phase was decided: earlier decisions, and what could be had then.

        AssayPilotError for one before the last change of mind, after which all was decided anew.
        """
        if phase <= self.settled:
            raise AssayPilotError(f"phase {phase} was decided anew with all others up to {self.settled}")
        state = self.fresh() if self.anew is None else changed.on_top(self.strategy, self.fresh(), self.anew)
        for number in range(self.settled + 1, phase):
            state = self.strategy.apply(self._then(state, number), self.estimates[number])
        return self._then(state, phase)

    @property
    def settled(self) -> int:
        """The phases that the last change of mind decided anew; 0 without one."""
        return 0 if self.anew is None else self.anew.decision.phase

    @property
    def decisions(self) -> dict[int, Decision]:
        """The decisions that stand, by phase, in order: that of the last change of mind for all phases before it."""
        later = {phase: self.estimates[phase] for phase in sorted(self.estimates) if phase > self.settled}
        return later if self.anew is None else {self.settled: self.anew.decision, **later}

    def _then(self, state: State, phase: int) -> State:
        if phase > len(self.phases):
            return state
        spent = self.estimates[phase].spent
        return self.strategy.adjust(state, measurable=self.phases[phase - 1].measurable, spent=spent)

    def _phase_redecided(self, event: Event) -> None:
        data, parts = event.data, list(event.data["parts"])
        own = data.get("anew")
        if own is not None:
            # All phases before the last change of mind together; its parts are behind those of the later phases.
            changed.decide_again(self, own, parts[len(data["decisions"]) :])
            parts = parts[: len(data["decisions"])]
        state = self.before(max(data["from"], self.settled + 1))
        for entry, part in zip(data["decisions"], parts, strict=True):
            decision, verdict = self._decision({**entry, "part": part})
            state = self.strategy.apply(self._then(state, decision.phase), decision)
            self._keep(entry, decision, verdict)
        self.state = replace(state, problem=replace(self.state.problem, measurable=state.problem.measurable))

    def _settings_changed(self, event: Event) -> None:
        if "undoes" in event.data:
            changed.take_back(self)
        else:
            changed.take(self, event.data)

    def _compounds_added(self, event: Event) -> None:
        if "undoes" in event.data:
            changed.take_back(self)
        else:
            changed.take_compounds(self, event.data)
