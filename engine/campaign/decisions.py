"""What the decided phases of a campaign left behind: read from the log, never made again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from assaypilot.engine.campaign import limit_phases, limits
from assaypilot.engine.campaign.asking import Terms
from assaypilot.engine.campaign.changing.turns import Anew, on_top
from assaypilot.engine.campaign.file import codec
from assaypilot.engine.campaign.file.parts import from_bytes
from assaypilot.engine.campaign.noise import scatter
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.campaign.results.spans import spanned
from assaypilot.engine.campaign.returned import spent_again
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import UNDECIDED, Allocation, Decision, Outcome, State, StopReason

__all__ = ["Decisions"]


class Decisions(Terms):
    """The terms of a campaign, and what was decided under them."""

    def __init__(self, part: Callable[[str], bytes]) -> None:
        super().__init__()
        self._part = part
        self.estimates: dict[int, Decision] = {}
        self.verdicts: dict[int, limits.Verdict] = {}
        """What each decided phase said about the limits; empty without limits."""
        self.spreads: dict[int, tuple[scatter.Spread, ...]] = {}
        """The noise that each decided phase used, where it is not known."""
        self.anew: Anew | None = None
        """What the last change of mind decided anew of all phases before it."""
        self.void: list[str] = []
        """Why the guarantee does not hold any more, apart from what the measurements themselves show."""

    @property
    def error(self) -> float:
        """How often what is promised may be wrong, over all goals, limits and compounds that came back."""
        changed = [anew for anew in (*(turn.was["anew"] for turn in self.turns), self.anew) if anew is not None]
        again = spent_again(self, self.estimates, changed)
        return super().error + (self.ways * again * self.settings.delta if again else 0.0)

    def current(self) -> State:
        """The strategy's state with what can be measured now and what was spent so far."""
        state = self.strategy.adjust(self.state, measurable=self.measurable(), spent=self.samples())
        return scatter.to_plan(self, scatter.latest(self, self.spreads), state)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Why nothing more is asked between phases: that of the goal, once limits that came late are told, too."""
        reasons = self.goal_stop(state)
        late = reasons and reasons[0].name == "decided" and limit_phases.open_now(self, state) is not None
        return () if late else reasons

    def goal_stop(self, state: State) -> tuple[StopReason, ...]:
        """Why the goal asks nothing more: the strategy's reasons, or that what is open fails a limit."""
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

    def outcome(self, phase: int, allocation: Allocation, spent: int) -> Outcome:
        """What came back for a phase, per endpoint of the goal and arm, larger is better; ``spent`` in replicates.

        Values known only as bounds are left out where the strategy does not take them.
        """
        if not self.takes_bounds:
            filling = [(m, n) for m, n in self.counting(phase) if m.usable]
            spans = [spanned(self.endpoints, k, filling, self.arm_of, self.library) for k in self.goal_endpoints]
        else:
            spans = [self.span(phase, k) for k in self.goal_endpoints]
        signs = np.array([[self.endpoints[k].sign] for k in self.goal_endpoints])
        counts, means = np.array([one.counts for one in spans]), np.array([one.means for one in spans])
        if not any(one.censored for one in spans):
            return Outcome(allocation, counts, signs * means, spent, cells=blocking.cells(self, phase))
        ends = np.array([[one.low, one.high] for one in spans])
        turned = (signs < 0)[:, 0]
        ends[turned] = -ends[turned][:, ::-1]
        told = blocking.cells(self, phase)
        return Outcome(allocation, counts, signs * means, spent, ends[:, 0], ends[:, 1], told)

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

    def before(self, phase: int) -> State:
        """The strategy's state in which a decided phase was decided: earlier decisions, and what could be had then.

        AssayPilotError for one before the last change of mind, after which all was decided anew.
        """
        if phase <= self.settled:
            raise AssayPilotError(f"phase {phase} was decided anew with all others up to {self.settled}")
        state = self.fresh() if self.anew is None else on_top(self.strategy, self.fresh(), self.anew)
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
