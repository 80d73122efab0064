"""Shared parts of strategies that decide in phases: the state before the first phase, and changes by a decision.

Also the ends they share, and measurements that repeat others of their phase where these estimate the noise
(``Problem.repeats``). Which and how many is fixed with the plan, by designs alone: pairs of the same compound in
the same phase.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..design.rounding import Rounded
from ..domain.features import outside_span
from ..errors import AssayPilotError
from ..models.glm import Link
from ..system.progress import Report, silent
from .designs import table
from .protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Allocation,
    Arrays,
    Decision,
    Outcome,
    Problem,
    State,
    StopReason,
    Strategy,
    StrategyInfo,
)

_ABSURD = 1e12
"""Measurements in one phase that no lab will make: what is still open then is as good as tied."""

SOFTER = "with a soft zone (slack), or a wider one, the search ends"
"""Advice where a single limit divides in from out."""
ADDITIVE = "the effects of the substituents add up"
"""The model that nearly all strategies rest on."""


def inseparable(state: State, needed: float, mend: str) -> tuple[StopReason, ...]:
    """Return the reason to stop when the next phase takes more measurements than any lab makes.

    Empty while it does not.

    ``needed``: about what the next phase takes; what the last one took counts too, since phases grow. A budget below
    that cuts the phase instead.
    """
    last, budget = state.last, state.problem.budget
    if last is not None:
        needed = max(needed, last.numbers.get("measurements", 0.0))
    if needed <= _ABSURD or (budget is not None and budget - state.spent <= _ABSURD):
        return ()
    open_arms = int(state.open.sum())
    subject = "1 compound is" if open_arms == 1 else f"{open_arms:,} compounds are"
    text = f"{subject} too close to tell apart: the next phase would take more than 10^12 measurements; {mend}"
    return (StopReason("undecidable", text, {"undecided": open_arms, "needed": needed}),)


def lost_reason(state: State) -> StopReason:
    """Return the reason to stop when what is open waits only for arms that cannot be measured any more."""
    lost, open_arms = int(state.lost.sum()), int(state.open.sum())
    them = "it" if lost == 1 else "them"
    text = f"{lost} of the best cannot be measured any more; against what is known of {them} {open_arms} stay open"
    return StopReason("lost", text, {"lost": lost, "undecided": open_arms})


def over_budget(state: State, needed: int, left: float | None = None) -> tuple[StopReason, ...]:
    """Return the reason to stop when the budget leaves less than one more decision needs; empty while it does not.

    ``left``: what it leaves for that decision; None: all that was not spent.
    """
    if left is None:
        left = math.inf if state.problem.budget is None else state.problem.budget - state.spent
    if left >= needed:
        return ()
    text = f"the budget leaves {max(left, 0)} measurements, and one more decision needs at least {needed}"
    return (StopReason("budget", text, {"left": left, "needed": needed, "undecided": int(state.open.sum())}),)


def exhausted(state: State) -> tuple[StopReason, ...]:
    """Return the reason to stop when nothing can be measured any more, or the budget is used up; empty otherwise."""
    if not state.problem.measurable.any():
        return (StopReason("nothing measurable", "no compound can be measured any more"),)
    if state.problem.budget is not None and state.problem.budget - state.spent < 1:
        return (StopReason("budget", "the budget is used up", {"left": 0, "needed": 1}),)
    return ()


def wider(low: Floats, high: Floats, factor: float) -> tuple[Floats, Floats]:
    """Return the bounds with so many times their half-widths; infinite ones stay."""
    more, known = np.zeros(len(low)), np.isfinite(high)
    more[known] = (high[known] - low[known]) * (factor - 1.0) / 2.0
    return low - more, high + more


def refuse_unknown_noise(
    strategy: Strategy, *, parameters: Mapping[str, Any], max_replicates: int, replicates: int = 0
) -> None:
    """Raise AssayPilotError where noise that is not known cannot be estimated on the way.

    ``replicates``: degrees of freedom that are known of it already.
    """
    name = strategy.info.name
    if not strategy.info.noise_bound:
        from .registry import named_by

        raise AssayPilotError(
            f"{name} needs the assay noise (SD), and it is stated as unknown",
            option="--sd",
            mend=f"Give the SD, or choose one of: {named_by('noise_bound')}.",
        )
    if parameters.get("decide", "realised") != "realised":
        raise AssayPilotError(
            "what a plan promised (decide=planned) rests on a known assay noise (SD)",
            option="--parameter decide",
            mend="Leave it out, or give the SD.",
        )
    if max_replicates < 2 and not replicates:
        raise AssayPilotError(
            "the assay noise (SD) is unknown, and one measurement of each compound in a round cannot estimate it",
            option="--max-replicates",
            mend="Allow 2 or more, or give the SD.",
        )


def needs_budget(problem: Problem, name: str, least: int = 1, why: str = "") -> int:
    """Return the budget.

    AssayPilotError when there is none, or it is below ``least``; ``why`` follows "a budget of 5 is".
    """
    budget = problem.budget
    if budget is None:
        raise AssayPilotError(
            f"{name} needs a budget: it plans with a fixed number of measurements",
            option="--budget",
            mend="Give the number of measurements the whole campaign may take.",
        )
    if budget < least:
        raise AssayPilotError(
            f"a budget of {problem.in_lab(budget):,} is {why}",
            option="--budget",
            mend=f"Give at least {problem.in_lab(least):,} measurements.",
        )
    return budget


def fewest(whole: Callable[[int], Rounded], n: int, most: int, wells: float, tries: int) -> Rounded | None:
    """Return about the fewest measurements, from ``n`` on, with a largest variance of at most 1 / ``wells``.

    ``whole`` makes so many measurements of a design. None where that takes ``most`` of them, or too many tries.
    """
    for _ in range(tries):
        if n >= most:
            return None
        try:
            made = whole(n)
            needed = wells * made.value * (1.0 - 1e-9)
            if needed <= n:
                return made
        except AssayPilotError:
            needed = math.inf
        n = max(n + 1, math.ceil(needed)) if math.isfinite(needed) else n + max(n // 4, 1)
    return None


def too_few(counts: Ints, repeats: int) -> bool:
    """Return whether fewer measurements repeat others than requested, and fewer than half of all."""
    total = int(counts.sum())
    return total - int(np.count_nonzero(counts)) < min(repeats, total // 2)


def rounded_up(counts: Ints, repeats: int) -> Ints:
    """Return the counts, every one raised to an even number where too few measurements would repeat others."""
    return np.asarray(2 * ((counts + 1) // 2), dtype=np.intp) if too_few(counts, repeats) else counts


def in_pairs(whole: Callable[[int, int | None], Rounded], n: int, most: int | None, repeats: int) -> Rounded:
    """Return about ``n`` measurements, ``whole(n, most)``; where too few would repeat others half as many, twice.

    The pairs are placed as well as single measurements would be: what is lost is that there are half as many places.
    """
    single = whole(n, most)
    if not too_few(single.counts, repeats) or (most is not None and most < 2):
        return single
    try:
        half = whole(n // 2, None if most is None else most // 2)
    except AssayPilotError:
        return single
    return Rounded(half.support, 2 * half.counts, half.value, half.method, half.finished)


class Phased(ABC):
    """Start, adjust, apply and tell, the same for every strategy; ``ask``, ``decide`` and ``stop`` differ."""

    info: ClassVar[StrategyInfo]

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError when the problem cannot be solved this way."""
        return self.parameters(problem)

    def _check(self, problem: Problem) -> None:
        """Add to a refusal what the parameter means, where no better mend is known."""
        try:
            self.check(problem)
        except AssayPilotError as error:
            for knob in self.info.parameters:
                if error.mend is None and error.option == f"--parameter {knob.name}":
                    usual = "" if knob.default is None else f" Usually {knob.default}."
                    mend = f"{knob.name} means: {knob.meaning}.{usual}"
                    raise AssayPilotError(error.message, option=error.option, mend=mend) from error
            raise

    def parameters(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters by name, defaults filled in."""
        return {p.name: p.default for p in self.info.parameters} | dict(problem.parameters)

    def first_radius(self, problem: Problem) -> float:
        """Return the half-width after the first phase; infinite where there is no such thing."""
        return math.inf

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return the reasons why these parameters promise no error probability, in plain words; empty when they do."""
        return ()

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return warnings about this problem for before the first measurement; none here."""
        return ()

    def link(self, problem: Problem) -> tuple[Link, float]:
        """Return the scale on which means are sums of effects, and their largest size there."""
        return "identity", math.inf

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return the promise's assumptions besides independent measurements of the stated noise, in plain words."""
        return (ADDITIVE,)

    def memory(self, problem: Problem) -> Arrays:
        """Return what is carried from phase to phase, before the first one."""
        return {}

    def start(self, problem: Problem) -> State:
        """Return the state before the first phase; arms outside the span of what can be measured are set aside."""
        _check_fit(self.info, problem)
        self._check(problem)
        if not problem.measurable.any():
            raise AssayPilotError("no compound can be measured", mend="Mark at least one compound as available.")
        n, shape = problem.n_arms, (problem.n_endpoints, problem.n_arms)
        state = State(
            problem=problem,
            first_radius=self.first_radius(problem),
            phase=0,
            status=np.full(n, UNDECIDED, dtype=np.int8),
            active=problem.wanted.copy(),
            left=np.zeros(n, dtype=bool),
            low=np.full(shape, -np.inf),
            high=np.full(shape, np.inf),
            lost=np.zeros(n, dtype=bool),
            decided_in_phase=np.zeros(n, dtype=np.intp),
            spent=0,
            last=None,
            memory=self.memory(problem),
        )
        return self.adjust(state, measurable=problem.measurable, spent=0)

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured: undecided ones beyond their span are not estimable."""
        problem = replace(state.problem, measurable=measurable)
        features = problem.features
        outside = np.zeros(features.n_rows, dtype=bool)
        others = np.flatnonzero(~measurable)
        if len(others):
            outside[others] = outside_span(features, table(features, np.flatnonzero(measurable)).basis, others)
        undecided = (state.status == UNDECIDED) | (state.status == NOT_ESTIMABLE)
        status = state.status.copy()
        status[undecided & problem.wanted] = UNDECIDED
        status[undecided & problem.wanted & outside] = NOT_ESTIMABLE
        relevant = problem.wanted & (status != OUT) & ~state.left
        # An arm that is neither in nor bounded has decided nothing so far, so leaving it out changes no decision.
        lost = relevant & outside & (np.isfinite(state.high).all(axis=0) | (status == IN))
        active = relevant & ~outside
        return replace(state, problem=problem, status=status, active=active, lost=lost, spent=spent)

    def apply(self, state: State, decision: Decision) -> State:
        """Return the state after a decision.

        Arms decided out, and decided ones that left, are not measured any more.
        """
        status = state.status.copy()
        status[decision.ins] = IN
        status[decision.outs] = OUT
        decided = state.decided_in_phase.copy()
        decided[decision.ins] = decision.phase
        decided[decision.outs] = decision.phase
        active = state.active.copy()
        active[decision.outs] = False
        active[decision.left] = False
        left = state.left.copy()
        left[decision.left] = True
        bounded = np.isfinite(decision.high)
        return replace(
            state,
            phase=decision.phase,
            status=status,
            active=active,
            left=left,
            low=np.where(bounded, decision.low, state.low),
            high=np.where(bounded, decision.high, state.high),
            decided_in_phase=decided,
            spent=decision.spent,
            last=decision,
            memory=decision.memory,
        )

    @abstractmethod
    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the measurements of the next phase."""

    @abstractmethod
    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return what the phase decides; None when nothing usable returned."""

    def tell(self, state: State, outcome: Outcome) -> State:
        """Return the state after a phase; unchanged, but for what was spent, when nothing usable returned."""
        decision = self.decide(state, outcome)
        return replace(state, spent=outcome.spent) if decision is None else self.apply(state, decision)


def settled(state: State) -> tuple[StopReason, ...]:
    """Return the reason to stop when no wanted arm is undecided; empty while one is."""
    if state.open.any():
        return ()
    lost = int((state.status == NOT_ESTIMABLE).sum())
    if lost and not state.problem.measurable.any():
        return (StopReason("nothing measurable", "no compound can be measured any more", {"not_estimable": lost}),)
    return (StopReason("decided", "every compound is decided", {"phases": state.phase}),)


def _check_fit(info: StrategyInfo, problem: Problem) -> None:
    if problem.goal.name not in info.goals:
        raise AssayPilotError(
            f"{info.name} does not answer the goal {problem.goal.name!r}",
            option="--strategy",
            mend=f"It answers: {', '.join(info.goals)}.",
        )
    fewest, most = info.endpoints
    if problem.n_endpoints < fewest or (most is not None and problem.n_endpoints > most):
        wanted = f"{fewest}" if most == fewest else f"{fewest} or more" if most is None else f"{fewest} to {most}"
        raise AssayPilotError(
            f"{info.name} decides on {wanted} endpoint{'' if wanted == '1' else 's'}, got {problem.n_endpoints}",
            option="--objective",
        )


def number(name: str, value: Any, *, above: float = 0.0, below: float = math.inf) -> float:
    """Return a parameter as a number; AssayPilotError unless it is strictly between the two."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < below:
        bounds = f"above {above:g}" if below == math.inf else f"above {above:g} and below {below:g}"
        raise AssayPilotError(f"{name} must be a number {bounds}, got {value!r}", option=f"--parameter {name}")
    return float(value)


def whole(name: str, value: Any) -> int:
    """Return a parameter that is a whole number of at least 1; AssayPilotError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise AssayPilotError(f"{name} must be a whole number, at least 1, got {value!r}", option=f"--parameter {name}")
    return value


def one_of(name: str, value: Any, choices: tuple[str, ...]) -> str:
    """Return a parameter that is one of some words; AssayPilotError otherwise."""
    if value not in choices:
        raise AssayPilotError(
            f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, got {value!r}", option=f"--parameter {name}"
        )
    return str(value)
