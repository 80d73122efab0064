"""The state of a campaign as a fold over its log. Decisions are read from it, never made again."""

from __future__ import annotations

import copy
import struct
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.campaign import codec
from assaypilot.engine.campaign.chain import Draft, Event
from assaypilot.engine.campaign.state import Round, RoundItem, Settings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures, merge_equal_rows
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.strategies.protocol import (
    Allocation,
    Capacity,
    Certificate,
    Decision,
    Outcome,
    Problem,
    State,
    Strategy,
)
from assaypilot.engine.strategies.registry import check_parameters, get

__all__ = ["UNFIT", "Decided", "Ledger", "Step", "UnderWay"]

Ints = NDArray[np.intp]

KINDS = {
    "campaign_created": 1,
    "library_added": 1,
    "endpoints_defined": 1,
    "goal_set": 1,
    "history_added": 1,
    "phase_planned": 1,
    "round_issued": 1,
    "round_withdrawn": 1,
    "results_recorded": 1,
    "results_withdrawn": 1,
    "results_restored": 1,
    "measurement_excluded": 1,
    "measurement_included": 1,
    "measurement_corrected": 1,
    "compounds_unavailable": 1,
    "compounds_available": 1,
    "round_closed": 1,
    "phase_decided": 1,
    "phase_redecided": 1,
    "phase_empty": 1,
}
"""Every kind of event and its newest version this program understands."""

UNFIT = (AssayPilotError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, struct.error, zlib.error)
"""What ``apply`` may raise for an event that does not fit what came before, or is not of the shape of its kind."""


@dataclass(slots=True)
class UnderWay:
    """A phase between its plan and its decision."""

    allocation: Allocation
    planned: dict[int, int]
    """Measurements asked of each compound."""
    order: list[tuple[int, int]]
    """(compound, measurements) in the order rounds are cut."""
    lost: dict[int, int] = field(default_factory=dict)
    """Measurements given up when a round was closed, by compound."""


@dataclass(frozen=True, slots=True)
class Decided:
    """A decided phase: what it was planned as, and the world in which it was decided."""

    allocation: Allocation
    planned: Mapping[int, int]
    """Measurements asked of each compound."""
    measurable: NDArray[np.bool_]
    """``(n_arms,)``: what could be had when it was decided."""
    round: int
    """The round that closed it."""


@dataclass(frozen=True, slots=True)
class Step:
    """One user action that can be undone, and what its opposite is."""

    label: str
    kind: Literal["plan", "record", "exclude", "include", "correct", "unavailable"]
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Issued:
    number: int
    phase: int
    items: tuple[RoundItem, ...]
    issued: str
    before: int
    """Measurements in the campaign when it was issued."""
    state: Literal["open", "closed", "withdrawn"] = "open"
    closed: str | None = None


class Ledger:
    """What the events so far add up to. ``apply`` is the only thing that changes it."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        self._part = part
        self.sequence = 0
        self.head = ""
        self.name = ""
        self.library: Library
        self.endpoints: tuple[Endpoint, ...] = ()
        self.settings: Settings
        self.objective = 0
        """The position of the objective among the endpoints."""
        self.strategy: Strategy
        self.why = ""
        self.seed = 0
        self.warnings: tuple[str, ...] = ()
        self.first: Ints = np.zeros(0, dtype=np.intp)
        self.arm_of: Ints = np.zeros(0, dtype=np.intp)
        self.features: SiteFeatures
        self.measurements: list[Measurement] = []
        self.sources: dict[str, int] = {}
        """How often the content of that digest was entered (and not taken back)."""
        self.rounds: list[Issued] = []
        self.under_way: UnderWay | None = None
        self.unavailable: dict[int, str] = {}
        self.state: State
        self.phases: list[Decided] = []
        self.estimates: dict[int, Decision] = {}
        self.failed = 0
        """Measurements given up for lab reasons."""
        self.judged: set[int] = set()
        """Measurements excluded by judgement, after they were seen."""
        self.void: list[str] = []
        """Why the guarantee does not hold any more, apart from what the measurements themselves show."""
        self.undo: list[Step] = []
        self.redo: list[Step] = []

    # -- what other modules read

    def measurement(self, number: int) -> Measurement:
        """The measurement of that number; AssayPilotError when there is none."""
        if not 1 <= number <= len(self.measurements):
            raise AssayPilotError(f"there is no measurement number {number}")
        return self.measurements[number - 1]

    @property
    def open_round(self) -> Issued | None:
        """The round that waits for results, or None."""
        return self.rounds[-1] if self.rounds and self.rounds[-1].state == "open" else None

    @property
    def last_round(self) -> int:
        """The round that what happens now belongs to: the open one, else the last; 1 before any (0 is the history)."""
        return max((issued.number for issued in self.rounds if issued.state != "withdrawn"), default=1)

    @property
    def n_arms(self) -> int:
        """Distinct feature rows."""
        return len(self.first)

    def measurable(self) -> NDArray[np.bool_]:
        """Which arms have a compound that can be had."""
        return self._measurable(self.unavailable)

    def _measurable(self, unavailable: Collection[int]) -> NDArray[np.bool_]:
        had = self.library.measurable.copy()
        had[list(unavailable)] = False
        out = np.zeros(self.n_arms, dtype=bool)
        out[self.arm_of[had]] = True
        return out

    def representative(self, arm: int) -> int:
        """The compound that is measured for an arm: the first of its equals that can be had."""
        if self.library.measurable[self.first[arm]] and int(self.first[arm]) not in self.unavailable:
            return int(self.first[arm])
        for compound in np.flatnonzero(self.arm_of == arm):
            if self.library.measurable[compound] and int(compound) not in self.unavailable:
                return int(compound)
        raise AssayPilotError(f"{self.library.ids[self.first[arm]]} cannot be had")

    def spent(self) -> int:
        """Determinations of the objective in this campaign (history does not count)."""
        objective = self.objective
        return sum(m.n for m in self.measurements if m.round > 0 and m.endpoint == objective and not m.withdrawn)

    def counting(self, phase: int) -> list[tuple[Measurement, int]]:
        """The measurements that count for a phase, and how many planned ones each fills; never more than planned.

        Exact or censored, not withdrawn, not excluded. First entered, first counted: when a value that was replaced
        is used again, the replacement goes back to the estimates, whatever either of them says.
        """
        if self.under_way is not None and self.under_way.allocation.phase == phase:
            left = dict(self.under_way.planned)
        else:
            left = dict(self.phases[phase - 1].planned) if 0 < phase <= len(self.phases) else {}
        filling = []
        for m in self.measurements:
            if m.phase == phase and m.counted and not m.withdrawn and m.excluded is None:
                n = min(m.counted, left.get(m.compound, 0))
                if n:
                    left[m.compound] -= n
                    filling.append((m, n))
        return filling

    def received(self, phase: int) -> dict[int, int]:
        """Measurements of a phase that are in, by compound."""
        done: dict[int, int] = {}
        for m, n in self.counting(phase):
            done[m.compound] = done.get(m.compound, 0) + n
        return done

    def outstanding(self) -> dict[int, int]:
        """Measurements of the phase under way that are neither in nor lost, by compound that can be had."""
        if self.under_way is None:
            return {}
        done = self.received(self.under_way.allocation.phase)
        lost = self.under_way.lost
        left = {c: n - done.get(c, 0) - lost.get(c, 0) for c, n in self.under_way.planned.items()}
        return {c: n for c, n in left.items() if n > 0 and c not in self.unavailable}

    def returned(self, issued: Issued) -> tuple[int, ...]:
        """Results that came back for each item of a round, at most what was asked."""
        return self._returned(issued, self._came(issued.number))

    def _came(self, *numbers: int) -> dict[tuple[int, int], int]:
        """Planned measurements that are in, by round and compound, for these rounds or for all."""
        came: dict[tuple[int, int], int] = {}
        for m in self.measurements:
            if m.counted and (not numbers or m.round in numbers) and not m.withdrawn and m.excluded is None:
                came[m.round, m.compound] = came.get((m.round, m.compound), 0) + m.counted
        return came

    @staticmethod
    def _returned(issued: Issued, came: Mapping[tuple[int, int], int]) -> tuple[int, ...]:
        if issued.state == "withdrawn":  # what came for its compounds later was not for it
            return (0,) * len(issued.items)
        return tuple(min(item.replicates, came.get((issued.number, item.compound), 0)) for item in issued.items)

    def pending(self, issued: Issued) -> int:
        """Measurements of a round that can still come: compounds that cannot be had are not waited for."""
        return sum(
            item.replicates - back
            for item, back in zip(issued.items, self.returned(issued), strict=True)
            if item.compound not in self.unavailable
        )

    def outcome(self, phase: int, allocation: Allocation, spent: int) -> Outcome:
        """What came back for a phase, per arm, larger is better."""
        counts, totals = np.zeros(self.n_arms), np.zeros(self.n_arms)
        sign = self.endpoints[self.objective].sign
        for m, n in self.counting(phase):
            if m.usable:
                counts[self.arm_of[m.compound]] += n
                totals[self.arm_of[m.compound]] += n * sign * m.value
        means = np.divide(totals, counts, out=np.zeros(self.n_arms), where=counts > 0)
        return Outcome(allocation, counts[None], means[None], spent)

    def views(self) -> tuple[Round, ...]:
        """All rounds as pages show them."""
        came = self._came()
        return tuple(self._view(issued, came) for issued in self.rounds)

    def view(self, issued: Issued) -> Round:
        """A round as pages show it."""
        return self._view(issued, self._came(issued.number))

    def _view(self, issued: Issued, came: Mapping[tuple[int, int], int]) -> Round:
        return Round(
            number=issued.number,
            phase=issued.phase,
            items=issued.items,
            state=issued.state,
            issued=issued.issued,
            closed=issued.closed,
            returned=self._returned(issued, came),
        )

    def current(self) -> State:
        """The strategy's state with what can be measured now and what was spent so far."""
        return self.strategy.adjust(self.state, measurable=self.measurable(), spent=self.spent())

    def deciding(self) -> State:
        """The state in which the phase under way is decided: what came back in it counts as to be had.

        So a compound used up after its results came in is decided by them.
        """
        state = self.current()
        if self.under_way is None:
            return state
        came = np.zeros(self.n_arms, dtype=bool)
        used = [m.compound for m, _ in self.counting(self.under_way.allocation.phase) if m.usable]
        came[self.arm_of[used]] = True
        return self.strategy.adjust(state, measurable=state.problem.measurable | came, spent=state.spent)

    # -- a draft of the future

    def fork(self, parts: Mapping[str, bytes]) -> Ledger:
        """A ledger of its own with the same content, in which things can be tried; it also knows these parts."""
        other = copy.copy(self)
        known = self._part
        other._part = lambda digest: parts[digest] if digest in parts else known(digest)
        for name in ("measurements", "sources", "rounds", "unavailable", "phases", "estimates", "judged", "void"):
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
        self._remember(event)
        self.sequence, self.head = event.sequence, event.digest

    def _campaign_created(self, event: Event) -> None:
        self.name = event.data["name"]
        self.warnings = tuple(event.data["warnings"])

    def _library_added(self, event: Event) -> None:
        self.library = Library.decode(self._part(event.data["part"]))
        self.first, self.arm_of = merge_equal_rows(self.library.codes)
        whole = SiteFeatures.of(self.library)
        self.features = SiteFeatures(self.library.codes[self.first], whole.sizes)

    def _endpoints_defined(self, event: Event) -> None:
        self.endpoints = tuple(Endpoint.from_json(data) for data in event.data["endpoints"])

    def _goal_set(self, event: Event) -> None:
        self.settings = codec.settings_from_json(event.data["settings"])
        self.objective = [endpoint.name for endpoint in self.endpoints].index(self.settings.objective)
        self.strategy = get(event.data["strategy"])
        self.why = event.data["why"]
        self.state = self.strategy.start(self._problem())

    def _problem(self) -> Problem:
        settings = self.settings
        noise = self.endpoints[self.objective].noise_sd
        if noise is None:
            raise AssayPilotError(f"the assay noise (SD) of {settings.objective} is not known", option="--sd")
        return Problem(
            features=self.features,
            measurable=self.measurable(),
            wanted=np.ones(self.n_arms, dtype=bool),
            goal=AllEpsilonBest(settings.epsilon, settings.softness),
            delta=settings.delta,
            noise=(noise,),
            parameters=check_parameters(self.strategy, settings.parameters),
            seed=settings.seed,
            capacity=Capacity(settings.per_round, settings.max_replicates, settings.budget),
        )

    def _history_added(self, event: Event) -> None:
        self._take(event)

    def _take(self, event: Event) -> None:
        for data in event.data["measurements"]:
            self.measurements.append(codec.measurement_from_json(data))
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
            radius=data["radius"],
            certificate=Certificate(**data["certificate"]),
            cut_to_budget=data["cut_to_budget"],
        )
        self.under_way = UnderWay(allocation, planned, [(c, n) for c, n in data["order"]])

    def _round_issued(self, event: Event) -> None:
        items = tuple(codec.item_from_json(item) for item in event.data["items"])
        data = event.data
        self.rounds.append(Issued(data["round"], data["phase"], items, event.time, len(self.measurements)))

    def _round_withdrawn(self, event: Event) -> None:
        self.rounds[-1] = replace(self.rounds[-1], state="withdrawn", closed=event.time)

    def _results_recorded(self, event: Event) -> None:
        self._take(event)

    def _mark(self, numbers: list[int], change: Callable[[Measurement], Measurement]) -> None:
        for number in numbers:
            self.measurements[number - 1] = change(self.measurement(number))

    def _results_withdrawn(self, event: Event) -> None:
        self._mark(event.data["numbers"], lambda m: replace(m, withdrawn=True))
        self._count_source(event.data["source"], -1)

    def _results_restored(self, event: Event) -> None:
        # Taken back and entered again around an undone and redone plan, they answer the round that is open now.
        number = event.data["round"]
        self._mark(event.data["numbers"], lambda m: replace(m, withdrawn=False, round=number))
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

    def _round_closed(self, event: Event) -> None:
        self.rounds[-1] = replace(self.rounds[-1], state="closed", closed=event.time)
        lost = event.data["lost"]
        if self.under_way is not None:
            for compound, n in lost:
                self.under_way.lost[compound] = self.under_way.lost.get(compound, 0) + n
        if event.data["missing"] == "failed":
            self.failed += sum(n for _, n in lost)
        elif event.data["missing"] == "other":
            self.void.append(
                f"round {event.data['round']} was closed early for a reason that may depend on its results"
            )

    def _decision(self, data: Mapping[str, Any]) -> Decision:
        index = self.library.find
        arm_of = {}
        for key in ("in", "out", "left", "contradicted"):
            for name in data[key]:
                compound = index(name)
                if compound is None:
                    raise AssayPilotError(f"the log names a compound that is not in the library: {name}")
                arm_of[name] = int(self.arm_of[compound])
        decision = codec.decision_from_json(data, self._part(data["part"]), arm_of)
        if decision.estimate.shape != (1, self.n_arms):
            raise AssayPilotError("the log keeps the estimates of another library")
        return decision

    def _phase_decided(self, event: Event) -> None:
        if self.under_way is None:
            raise AssayPilotError(f"step {event.sequence} decides a phase that was never planned")
        decision = self._decision(event.data)
        self.state = self.strategy.apply(self.deciding(), decision)
        self.estimates[decision.phase] = decision
        under_way, measurable = self.under_way, self.state.problem.measurable
        self.phases.append(Decided(under_way.allocation, under_way.planned, measurable, event.data["round"]))
        self.under_way = None

    def _phase_empty(self, event: Event) -> None:
        # The phase is planned anew under the same number, so what came back for this attempt must not fill that one.
        phase = event.data["phase"]
        self.measurements = [replace(m, phase=0) if m.phase == phase else m for m in self.measurements]
        self.under_way = None

    def before(self, phase: int) -> State:
        """The strategy's state in which a decided phase was decided: earlier decisions, and what could be had then."""
        state = self.strategy.start(replace(self.state.problem, measurable=self._measurable({})))
        for number in range(1, phase):
            state = self.strategy.apply(self._then(state, number), self.estimates[number])
        return self._then(state, phase)

    def _then(self, state: State, phase: int) -> State:
        spent = self.estimates[phase].spent
        return self.strategy.adjust(state, measurable=self.phases[phase - 1].measurable, spent=spent)

    def _phase_redecided(self, event: Event) -> None:
        state = self.before(event.data["from"])
        for data, part in zip(event.data["decisions"], event.data["parts"], strict=True):
            decision = self._decision({**data, "part": part})
            state = self.strategy.apply(self._then(state, decision.phase), decision)
            self.estimates[decision.phase] = decision
        self.state = state

    # -- undo

    def _remember(self, event: Event) -> None:
        """Keep the stacks of what can be undone and redone; a closed round or a decision ends them."""
        kind, data = event.kind, event.data
        if kind in ("round_closed", "phase_decided", "phase_empty", "phase_redecided"):
            self.undo, self.redo = [], []
        elif "undoes" in data:
            self.redo.append(self.undo.pop())
        elif kind == "round_issued" and data.get("redoes") is not None:
            self.redo.pop()
            self.undo.append(self._plan_step(data["round"]))
        elif "redoes" in data:
            self.undo.append(self.redo.pop())
        else:
            step = self._step(kind, data)
            if step is not None:
                self.undo.append(step)
                self.redo = []

    @staticmethod
    def _plan_step(number: int) -> Step:
        return Step(f"Plan round {number}", "plan", {"round": number})

    def _step(self, kind: str, data: Mapping[str, Any]) -> Step | None:
        if kind == "round_issued":
            return self._plan_step(data["round"])
        if kind == "round_withdrawn":
            # Withdrawn outright, not through undo: nothing before it can be undone in order any more.
            self.undo, self.redo = [], []
            return None
        if kind == "results_recorded":
            numbers = [m["number"] for m in data["measurements"]]
            source = data.get("source") or {"digest": "", "name": ""}
            label = f"Enter {len(numbers)} result{'s' if len(numbers) != 1 else ''}"
            return Step(label, "record", {"numbers": numbers, "source": source["digest"], "round": data["round"]})
        if kind == "measurement_excluded":
            return Step("Exclude a value", "exclude", data)
        if kind == "measurement_included":
            return Step("Include a value", "include", data)
        if kind == "measurement_corrected":
            return Step("Correct a value", "correct", data)
        if kind == "compounds_unavailable":
            return Step("Mark as not to be had", "unavailable", data)
        return None
