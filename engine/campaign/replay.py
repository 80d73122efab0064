"""The state of a campaign as a fold over its log. Decisions are read from it, never made again."""

from __future__ import annotations

import copy
import math
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ..domain.controls import Reading
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Measurement
from ..errors import AssayPilotError
from ..strategies.protocol import (
    Allocation,
    Certificate,
)
from ..strategies.registry import get
from .changing import changed
from .counting import Decided, Issued, UnderWay
from .decisions import Decisions
from .file import codec
from .file.chain import Draft, Event
from .plates import plating
from .steps import Step, remember
from .stock import stocked

__all__ = ["KINDS", "UNFIT", "Ledger"]

KINDS = frozenset([
    "campaign_created",
    "library_added",
    "endpoints_defined",
    "goal_set",
    "history_added",
    "phase_planned",
    "round_issued",
    "confirmation_issued",
    "audit_issued",
    "round_withdrawn",
    "results_recorded",
    "results_withdrawn",
    "results_restored",
    "control_amended",
    "measurement_excluded",
    "measurement_included",
    "measurement_corrected",
    "compounds_unavailable",
    "compounds_available",
    "round_closed",
    "phase_decided",
    "phase_redecided",
    "phase_empty",
    "settings_changed",
    "compounds_added",
    "stock_stated",
    "plates_laid_out",
])  # fmt: skip
"""Every kind of event this program understands; all are of version 1."""

UNFIT = (
    AssayPilotError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    struct.error,
    zlib.error,
)
"""What ``apply`` may raise for an event that does not fit what came before, or is not of the shape of its kind."""


class Ledger(Decisions):
    """What the events so far add up to. ``apply`` is the only thing that changes it."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        super().__init__(part)
        self.sequence = 0
        self.head = ""
        self.name = ""
        self.warnings: tuple[str, ...] = ()
        self.sources: dict[str, int] = {}
        """How often the content of that digest was entered (and not taken back)."""
        self.failed = 0
        """Measurements given up for lab reasons."""
        self.judged: set[int] = set()
        """Measurements excluded by judgement, after they were seen."""
        self.undo: list[Step] = []
        self.redo: list[Step] = []

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
        if event.version > 1 or event.kind not in KINDS:
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
        self._read_library(event.data["part"])

    def _read_library(self, digest: str) -> None:
        self.hold(Library.decode(self._part(digest)))

    def _endpoints_defined(self, event: Event) -> None:
        self.endpoints = tuple(Endpoint.from_json(data) for data in event.data["endpoints"])

    def _goal_set(self, event: Event) -> None:
        self.settings = codec.settings_from_json(event.data["settings"])
        self.strategy = get(event.data["strategy"])
        self.why = event.data["why"]
        self.aim()
        self.begin()

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
        self.under_way = UnderWay(allocation, planned, [(c, n) for c, n in data["order"]], measured=self.measured)
        self.under_way.choice = (data.get("choice") or {}).get("plan")
        stocked.noted_orders(self, event.time)

    def _round_issued(self, event: Event) -> None:
        items = tuple(codec.item_from_json(item) for item in event.data["items"])
        data = event.data
        before = len(self.measurements)
        self.rounds.append(Issued(data["round"], data["phase"], items, event.time, before, measured=self.measured))

    def _audit_issued(self, event: Event) -> None:
        self._confirmation_issued(event)

    def _confirmation_issued(self, event: Event) -> None:
        data = event.data
        items = tuple(codec.item_from_json(item) for item in data["items"])
        predicted = tuple(codec.prediction_from_json(entry) for entry in data.get("predicted", ()))
        self.rounds.append(
            Issued(
                data["round"],
                0,
                items,
                event.time,
                len(self.measurements),
                confirmation=True,
                predicted=predicted,
                population=data.get("population", 0),
                measured=self.measured,
            )
        )
        self.confirmations.add(data["round"])

    def _round_withdrawn(self, event: Event) -> None:
        number = event.data["round"]
        if event.data.get("undone"):  # as if it had never been issued: the next round takes its number
            self.rounds.pop()
            self.confirmations.discard(number)
            self.layouts.pop(number, None)
            return
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
            for compound, n, endpoint in lost:
                place = endpoint, compound
                self.under_way.lost[place] = self.under_way.lost.get(place, 0) + n
        if event.data["missing"] == "failed":
            self.failed += sum(entry[1] for entry in lost)
        elif event.data["missing"] == "other":
            self.void.append(
                f"round {event.data['round']} was closed early for a reason that may depend on its results"
            )

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
                under_way.measured,
            )
        )
        self.under_way = None

    def _phase_empty(self, event: Event) -> None:
        # The phase is planned anew under the same number, so what came back for this attempt must not fill that one.
        phase = event.data["phase"]
        self.measurements = [replace(m, phase=0) if m.phase == phase else m for m in self.measurements]
        self.under_way = None

    def _phase_redecided(self, event: Event) -> None:
        self.take_again(event.data["decisions"], event.data["parts"])

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
