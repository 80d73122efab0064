"""Shared parts of strategies that use everything measured, and state expected errors instead of proving."""

from __future__ import annotations

import hashlib
import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats
from ..models.gaussian_process.measured import Measured
from .phased import Phased
from .protocol import IN, OUT, UNDECIDED, Arrays, Decision, Knowledge, Outcome, Problem, State

_ROWS = "rows."
_FIELDS = ("arms", "values", "counts", "low", "high")
_SHIFTS = ("centred", "shift")
"""Names of shifts around the mean of all values, and of other ones."""
_NUMBERS = ("expected_missed", "expected_wrong", "p_wrong", "own")


class Informed(Phased):
    """A calibrated strategy (see ``Calibrated``) but for ``learn``, ``ask`` and ``stop``; every round is a phase."""

    @abstractmethod
    def learn(self, state: State) -> Knowledge:
        """Return the predictions for a state; only called where there are measurements of every endpoint."""

    @abstractmethod
    def truths(self, state: State, n: int, rng: np.random.Generator) -> list[Floats]:
        """Return ``n`` joint draws of all arms' means ``(n_endpoints, n_arms)``, given what was measured."""

    def as_learned(self, state: State) -> Informed:
        """Return the strategy to play campaigns forward with: here itself, which learns again every round."""
        return self

    def search(self, state: State) -> NDArray[np.int32]:
        """Return combinations that may be the best besides the listed ones: here none."""
        return np.zeros((0, len(getattr(state.problem.features, "sizes", ()))), dtype=np.int32)

    def memory(self, problem: Problem) -> Arrays:
        """Return no measurement and no decision."""
        none = [Measured.nothing() for _ in (*problem.noise, *problem.other_noise)]
        return {"status": np.full(problem.n_arms, UNDECIDED, dtype=np.int8), **_as_arrays(none)}

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured."""
        problem = replace(state.problem, measurable=measurable)
        return replace(state, problem=problem, spent=spent)

    def inform(self, state: State, measured: tuple[Measured, ...]) -> State:
        """Return the state with these measurements, one entry per endpoint, instead of those it knew."""
        rest = {name: array for name, array in state.memory.items() if not name.startswith(_ROWS)}
        return replace(state, memory={**rest, **_as_arrays(measured)})

    def measured(self, state: State) -> tuple[Measured, ...]:
        """Return what a state was informed of, one entry per endpoint."""
        return rows_of(state.memory)

    def has_values(self, state: State) -> bool:
        """Return whether anything was measured of every endpoint of the goal."""
        problem = state.problem
        return all(len(one.compounds(problem.n_arms)) for one in self.measured(state)[: problem.n_endpoints])

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return what is known after a round: every status, by everything measured."""
        came = [
            Measured.exact(arms, means[arms], counts[arms])
            for counts, means in zip(outcome.counts, outcome.means, strict=True)
            for arms in [np.flatnonzero(counts > 0)]
        ]
        if not any(len(one) for one in came):
            return None
        informed = self.inform(
            state, tuple(old.joined(new) for old, new in zip(self.measured(state), came, strict=True))
        )
        decision = self.decision(informed, outcome.spent)
        return replace(decision, memory={**_stored(informed.memory), **decision.memory})

    def decision(self, state: State, spent: int) -> Decision:
        """Return the predictions for a state, as the end of a phase; its memory is without the measurements."""
        known = self.learn(state) if self.has_values(state) else _nothing_known(state.problem)
        goal = state.problem.n_endpoints
        return Decision(
            phase=state.phase + 1,
            radius=math.inf,
            ins=np.flatnonzero((known.status == IN) & (state.status != IN)),
            outs=np.flatnonzero((known.status == OUT) & (state.status != OUT)),
            left=np.zeros(0, dtype=np.intp),
            estimate=known.estimate[:goal],
            low=known.low[:goal],
            high=known.high[:goal],
            contradicted=np.zeros(0, dtype=np.intp),
            spent=spent,
            numbers={name: float(getattr(known, name)) for name in _NUMBERS},
            memory={
                "status": known.status,
                "fingerprint": fingerprint(state.memory),
                "p_member": known.p_member,
                "p_acceptable": known.p_acceptable,
                "p_kept": known.p_kept,
                "noise": known.noise,
                "beside": np.stack([known.estimate[goal:], known.low[goal:], known.high[goal:]]),
            },
        )

    def knowledge(self, state: State) -> Knowledge | None:
        """Return what is known of every arm: the last decision's answer, or a new one where values came since."""
        if not self.has_values(state):
            return None
        last = state.last
        if last is None or not np.array_equal(last.memory["fingerprint"], fingerprint(state.memory)):
            return self.learn(state)
        memory, extra = last.memory, last.memory["beside"]
        estimate, low, high = (
            np.vstack(both) for both in zip((last.estimate, last.low, last.high), extra, strict=True)
        )
        status = np.asarray(memory["status"], dtype=np.int8)
        chances = memory["p_member"], memory["p_acceptable"], memory["p_kept"]
        missed, wrong, p_wrong, own = (last.numbers[name] for name in _NUMBERS)
        return Knowledge(status, estimate, low, high, *chances, missed, wrong, p_wrong, memory["noise"], own)

    def apply(self, state: State, decision: Decision) -> State:
        """Return the state after a decision; statuses move both ways."""
        status = np.asarray(decision.memory["status"], dtype=np.int8)
        when = np.where(status == state.status, state.decided_in_phase, decision.phase)
        return replace(
            state,
            phase=decision.phase,
            status=status,
            active=state.problem.wanted.copy(),
            low=decision.low,
            high=decision.high,
            decided_in_phase=np.where(status == UNDECIDED, 0, when),
            spent=decision.spent,
            last=decision,
            memory={**_stored(state.memory), **decision.memory},
        )


def _nothing_known(problem: Problem) -> Knowledge:
    """Return what is known before every endpoint of the goal was measured."""
    every = np.full((problem.n_endpoints + len(problem.other_noise), problem.n_arms), np.nan)
    chance = np.full(problem.n_arms, np.nan)
    kept = np.full((len(problem.limits) + (problem.profile is not None), problem.n_arms), np.nan)
    return Knowledge(
        np.full(problem.n_arms, UNDECIDED, dtype=np.int8),
        *(every, every, every),
        *(chance, chance, kept),
        expected_missed=float(problem.n_arms),
        expected_wrong=0.0,
        p_wrong=1.0,
        noise=np.array((*problem.noise, *problem.other_noise)),
    )


def fingerprint(memory: Arrays) -> NDArray[np.uint8]:
    """Return a digest of the measurements in a memory, ``(32,)`` bytes."""
    digest = hashlib.sha256()
    for name, array in sorted(_stored(memory).items()):
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return np.frombuffer(digest.digest(), dtype=np.uint8)


def rows_of(memory: Arrays) -> tuple[Measured, ...]:
    """Return the measurements in a memory, one entry per endpoint."""
    out: list[Measured] = []
    while (start := f"{_ROWS}{len(out)}.") + "arms" in memory:
        centred, others = (
            [memory[name] for name in sorted(memory) if name.startswith(start + kind)] for kind in _SHIFTS
        )
        fields = {name: memory[start + name] for name in _FIELDS}
        out.append(Measured(**fields, shifts=(*centred, *others), centred=len(centred)))
    return tuple(out)


def _as_arrays(measured: Sequence[Measured]) -> dict[str, NDArray[Any]]:
    out: dict[str, NDArray[Any]] = {}
    for place, one in enumerate(measured):
        for name in _FIELDS:
            out[f"{_ROWS}{place}.{name}"] = getattr(one, name)
        for kind, shift in enumerate(one.shifts):
            out[f"{_ROWS}{place}.{_SHIFTS[kind >= one.centred]}{kind}"] = shift
    return out


def _stored(memory: Arrays) -> Arrays:
    """Return the part of a memory that holds the measurements."""
    return {name: array for name, array in memory.items() if name.startswith(_ROWS)}
