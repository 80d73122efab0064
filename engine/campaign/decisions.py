"""What the decided phases of a campaign left behind: read from the log, never made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import AssayPilotError
from ..strategies.protocol import UNDECIDED, Allocation, Decision, Outcome, State, StopReason
from . import codec, limits, series
from . import noise as assay_noise
from .bookkeeping import Decided
from .codec import from_bytes
from .problem import Terms

__all__ = ["Decisions"]


class Decisions(Terms):
    """The terms of a campaign, and what was decided under them."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        super().__init__()
        self._part = part
        self.estimates: dict[int, Decision] = {}
        self.verdicts: dict[int, limits.Verdict] = {}
        """What each decided phase said about the limits; empty without limits."""
        self.spreads: dict[int, tuple[assay_noise.Spread, ...]] = {}
        """The noise that each decided phase used, where it is not known."""
        self.void: list[str] = []
        """Why the guarantee does not hold any more, apart from what the measurements themselves show."""

    def current(self) -> State:
        """Return the strategy's state with what can be measured now and what was spent so far."""
        state = self.strategy.adjust(self.state, measurable=self.measurable(), spent=self.samples())
        if self.calibrated:
            return series.informed(self, state)
        return assay_noise.to_plan(self, assay_noise.latest(self, self.spreads), state)

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
        """Return the state in which the phase under way is decided: what came back in it counts as to be had.

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
        """Return what came back for a phase, per endpoint of the goal and arm, larger is better.

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

    def arms_named(self, data: Mapping[str, Any]) -> dict[str, int]:
        """Return the arm of every compound that a stored decision names."""
        named = [name for key in ("in", "out", "left", "contradicted") for name in data[key]]
        return self.arms_of((*named, *(name for entry in data.get("limits", ()) for name in entry["out"])))

    def arms_of(self, names: Iterable[str]) -> dict[str, int]:
        """Return the arms of compounds by their ids; AssayPilotError for one that is not there."""
        arm_of = {}
        for name in names:
            compound = self.library.find(name)
            if compound is None:
                raise AssayPilotError(f"the log names a compound that is not in the library: {name}")
            arm_of[name] = int(self.arm_of[compound])
        return arm_of

    def take_decision(self, data: Mapping[str, Any], sequence: int) -> None:
        """Take in the stored decision of the phase under way, which it ends; ``sequence`` is the event's."""
        if self.under_way is None:
            raise AssayPilotError(f"step {sequence} decides a phase that was never planned")
        decision, verdict = self._decision(data)
        now, under_way = self.deciding(), self.under_way
        self.state = self.strategy.apply(now, decision)
        self._keep(data, decision, verdict)
        self.phases.append(
            Decided(under_way.allocation, under_way.planned, now.problem.measurable, data["round"], under_way.measured)
        )
        self.under_way = None

    def _decision(self, data: Mapping[str, Any]) -> tuple[Decision, limits.Verdict | None]:
        """Return a stored decision, and what its phase said about the limits."""
        arm_of = self.arms_named(data)
        numbers = from_bytes(self._part(data["part"]))
        decision = codec.decision_from_json(data, numbers, arm_of)
        shape = (len(self.goal_endpoints), self.n_arms)
        if any(array.shape != shape for array in (decision.estimate, decision.low, decision.high)):
            raise AssayPilotError("the log keeps the estimates of another library")
        proven = bool(self.limited) and not self.calibrated
        if proven != ("limits" in data):
            raise AssayPilotError("the log does not decide the limits of this campaign")
        if not proven:
            return decision, None
        return decision, limits.from_json(self, data["limits"], numbers.limits, arm_of)

    def keep(self, data: Mapping[str, Any]) -> None:
        """Take in the noise that a stored decision used, if it was not known."""
        if "noise" in data:
            self.spreads[data["phase"]] = assay_noise.from_json(self, data["noise"])

    def _keep(self, data: Mapping[str, Any], decision: Decision, verdict: limits.Verdict | None) -> None:
        self.estimates[decision.phase] = decision
        self.keep(data)
        if verdict is not None:
            self.verdicts[decision.phase] = verdict

    def take_again(self, entries: Sequence[Mapping[str, Any]], digests: Sequence[str]) -> None:
        """Take in stored decisions of phases that were decided again, with all later ones."""
        if not entries:
            return
        state = self.before(entries[0]["phase"])
        for entry, digest in zip(entries, digests, strict=True):
            decision, verdict = self._decision({**entry, "part": digest})
            state = self.strategy.apply(self._then(state, decision.phase), decision)
            self._keep(entry, decision, verdict)
        self.state = replace(state, problem=replace(self.state.problem, measurable=state.problem.measurable))

    def before(self, phase: int) -> State:
        """Return the strategy's state in which a decided phase was decided.

        Earlier decisions, and what could be had then.
        """
        state = self.fresh()
        for number in range(1, phase):
            state = self.strategy.apply(self._then(state, number), self.estimates[number])
        return self._then(state, phase)

    @property
    def decisions(self) -> dict[int, Decision]:
        """The decisions by phase, in order."""
        return dict(sorted(self.estimates.items()))

    def _then(self, state: State, phase: int) -> State:
        if phase > len(self.phases):
            return state
        spent = self.estimates[phase].spent
        return self.strategy.adjust(state, measurable=self.phases[phase - 1].measurable, spent=spent)
