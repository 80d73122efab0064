"""Whole runs of a strategy against a simulated assay: sampled, scored, and the same for the same seed.

An assay hands back sufficient statistics (the mean of the n measurements of an arm is one draw), so a million
measurements cost what one does. Run i depends on the seed and on i alone.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..domain.goals import Goal
from ..errors import AssayPilotError
from ..models.sd_bound import LAST, OF_DECISIONS, TARGET, planning_sd, upper_sd
from ..strategies.protocol import BOUNDLESS, Allocation, Calibrated, Capacity, Outcome, Problem, State, Strategy
from .instances import Drawn, Instance
from .scores import Curve, Point, error_limits, mean, mean_curve, score

_EMPTY = 3
"""Phases in a row that decide nothing before a run is given up."""
_INSTANCE, _ASSAY, _OWN, _SCATTER, _DEVIATION = range(5)


@dataclass(frozen=True, slots=True)
class Limits:
    """Where a run is given up, so that nothing hangs."""

    phases: int = 100_000
    measurements: int = 10**12


@dataclass(frozen=True, slots=True)
class Task:
    """Everything that many runs of one strategy on one instance share; other processes are sent this."""

    strategy: Strategy
    instance: Instance
    seed: int = 0
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The strategy's own, as the user gave them."""
    goal: Goal | None = None
    """None: the instance's."""
    delta: float | None = None
    """None: the instance's."""
    noise: tuple[float, ...] | None = None
    """SD per endpoint, of the assay and as the strategy knows it; None: the instance's."""
    per_round: int | None = None
    """Samples the lab takes in a round, each of every endpoint; None: every phase is one round."""
    max_replicates: int = 4
    """Of one compound in a round; counts only with ``per_round``."""
    estimated: bool = False
    """Whether the strategy has to estimate the noise from replicates; ``noise`` is then its guess, too."""
    budget: int | None = None
    """Samples in all, each of every endpoint; None: the instance's."""
    limits: Limits = Limits()
    deviation: float = 0.0
    """SD of own deviations that every run adds to the true means: how far effects do not add up."""
    curve: bool = False
    """Whether every run keeps how it stood at the end of each round."""

    @property
    def bounded(self) -> bool:
        """Whether decisions use an upper bound on the noise; calibrated strategies estimate it by their model."""
        return self.estimated and not isinstance(self.strategy, Calibrated)


@dataclass(frozen=True, slots=True)
class Run:
    """How one run went."""

    number: int
    precision: float
    recall: float
    f1: float
    wrong: bool
    """A decision is false."""
    undecided: int
    """Compounds without a decision at the end."""
    unfinished: bool
    """It hit the limit of phases or measurements."""
    measurements: int
    """Samples: measurements of a compound in every endpoint, as the papers count."""
    phases: int
    rounds: int
    reason: str
    """Why it stopped."""
    seconds: float = field(compare=False)
    """Processor time of the strategy and the assay."""
    curve: tuple[Point, ...] = ()
    """Its state at the end of each round, where the task requires it."""

    @property
    def right(self) -> bool:
        """Everything decided, and nothing falsely."""
        return not (self.wrong or self.unfinished or self.undecided)


def _stream(seed: int, run: int, part: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(run, part))


def drawn_of(task: Task, run: int) -> Drawn:
    """Return what run number ``run`` is played on: the same for every strategy."""
    drawn = task.instance.make(_stream(task.seed, run, _INSTANCE))
    if task.goal is not None:
        drawn = replace(drawn, goal=task.goal)
    if task.deviation > 0:
        rng = np.random.default_rng(_stream(task.seed, run, _DEVIATION))
        truth = drawn.truth + task.deviation * rng.standard_normal(drawn.truth.shape)
        drawn = replace(drawn, truth=truth, expected=truth)
    if task.noise is None:
        return drawn
    if drawn.kind != "gaussian":
        raise AssayPilotError(
            f"the noise of {task.instance.name} follows from its means", option="--sd", mend="Leave --sd out."
        )
    return replace(drawn, noise=task.noise)


def problem_of(task: Task, drawn: Drawn, run: int) -> Problem:
    """Return what the strategy knows before the first measurement."""
    budget = task.instance.budget if task.budget is None else task.budget
    capacity = None
    if task.per_round is not None:
        capacity = Capacity(task.per_round, task.max_replicates, budget, len(drawn.noise))
    elif budget is not None:
        # No lab that cuts phases into rounds: only the end is given.
        capacity = Capacity(budget, budget, budget, len(drawn.noise))
    delta = task.instance.delta if task.delta is None else task.delta
    return Problem(
        features=drawn.features,
        measurable=drawn.measurable,
        wanted=drawn.wanted,
        goal=drawn.goal,
        delta=delta * (OF_DECISIONS if task.bounded else 1.0),
        noise=drawn.noise,
        estimated=task.estimated,
        parameters=_parameters(task, drawn),
        seed=int(_stream(task.seed, run, _OWN).generate_state(1)[0]),
        capacity=capacity,
        similarity=drawn.similarity,
        ends=drawn.ends,
    )


def _parameters(task: Task, drawn: Drawn) -> dict[str, Any]:
    """Return the parameters given, and the default values that a comparison method knows of the instance.

    ``truth`` is the true means ``(n_endpoints, n_arms)``; ``m`` is the instance's. Only parameters without a value of
    their own are filled in. Sequential methods look after every measurement, as in their papers, unless there is a lab
    with rounds.
    """
    hints = {"truth": drawn.truth, **drawn.hints}
    if task.per_round is None:
        hints["batch"] = 1
    known = {parameter.name for parameter in task.strategy.info.parameters if parameter.default is None}
    if not task.strategy.info.baseline:
        known &= {"batch"}
    return {name: value for name, value in hints.items() if name in known} | dict(task.parameters)


def _replicates(task: Task, drawn: Drawn, run: int) -> Replicates | None:
    """Return the replicates that estimate the noise in a run; None where it is known."""
    if not task.bounded:
        return None
    delta = task.instance.delta if task.delta is None else task.delta
    rng = np.random.default_rng(_stream(task.seed, run, _SCATTER))
    return Replicates.of(drawn, (1.0 - OF_DECISIONS) * delta, rng)


def sample(drawn: Drawn, allocation: Allocation, rng: np.random.Generator, spent: int) -> Outcome:
    """Return the results of a phase: all that was requested, each arm's mean of n measurements as one draw."""
    arms, n = allocation.arms, allocation.counts
    expected = drawn.expected[:, arms]
    if drawn.kind == "gaussian":
        sd = np.array(drawn.noise)[:, None]
        values = expected + sd / np.sqrt(n) * rng.standard_normal(expected.shape)
    elif drawn.kind == "bernoulli":
        values = rng.binomial(n, expected) / n
    else:
        values = rng.poisson(expected * n) / n
    counts, means = np.zeros(drawn.truth.shape), np.zeros(drawn.truth.shape)
    counts[:, arms], means[:, arms] = n, values
    return Outcome(allocation, counts, means, spent)


def play(
    strategy: Strategy,
    drawn: Drawn,
    problem: Problem,
    rng: np.random.Generator,
    *,
    limits: Limits = Limits(),
    per_round: int | None = None,
    max_replicates: int = 4,
    pulse: Callable[[], None] | None = None,
    replicates: Replicates | None = None,
    curve: Curve | None = None,
) -> tuple[State, int, int, str]:
    """Return the last state, the measurements, the rounds and why it ended (empty: at a limit).

    ``pulse`` is called before every phase and may raise Cancelled. ``replicates`` estimate an unknown noise.
    """
    state = strategy.start(problem)
    spent = rounds = empty = phases = 0
    noise = replicates or Replicates.of_known()
    while not (reasons := strategy.stop(state := noise.to_plan(state))):
        if pulse is not None:
            pulse()
        if phases >= limits.phases or spent >= limits.measurements or empty >= _EMPTY:
            return state, spent, rounds, ""
        allocation = strategy.ask(state).within_budget(state)
        phases += 1
        if allocation.total < 1:
            return state, spent, rounds, ""
        spent += allocation.total
        if per_round is None:
            rounds += 1
        else:
            # As the campaign lays a phase out.
            rounds += max(
                math.ceil(allocation.total / per_round), math.ceil(int(allocation.counts.max()) / max_replicates)
            )
        before = state.phase
        came = sample(drawn, allocation, rng, spent)
        replicates_of = np.bincount(allocation.arms, allocation.counts, drawn.n_arms)
        status = state.status
        state = strategy.tell(noise.to_decide(state, replicates_of), came)
        if curve is not None:
            curve.phase(status, allocation, state)
        empty = empty + 1 if state.phase == before else 0
    return state, spent, rounds, reasons[0].name


def run_of(
    task: Task, number: int, pulse: Callable[[], None] | None = None, *, given: Callable[[Goal], Goal] | None = None
) -> Run:
    """Run number ``number`` of a task, scored; ``given`` makes the goal that the strategy gets."""
    drawn = drawn_of(task, number)
    stated = drawn if given is None else replace(drawn, goal=given(drawn.goal))
    problem = problem_of(task, stated, number)
    rng = np.random.default_rng(_stream(task.seed, number, _ASSAY))
    # Along the curve, a round without a size is 4 % of the table.
    curve = Curve(drawn, task.per_round or max(1, round(0.04 * drawn.n_arms))) if task.curve else None
    started = time.process_time()
    state, spent, rounds, reason = play(
        task.strategy,
        stated,
        problem,
        rng,
        limits=task.limits,
        per_round=task.per_round,
        max_replicates=task.max_replicates,
        pulse=pulse,
        replicates=_replicates(task, drawn, number),
        curve=curve,
    )
    seconds = time.process_time() - started
    found = score(drawn.goal, state.status, drawn.truth, drawn.wanted)
    return Run(
        number=number,
        precision=found.precision,
        recall=found.recall,
        f1=found.f1,
        wrong=found.wrong,
        undecided=found.undecided,
        unfinished=not reason,
        measurements=spent,
        phases=state.phase,
        rounds=rounds,
        reason=reason or "limit",
        seconds=seconds,
        curve=() if curve is None else tuple(curve.points),
    )


_UNUSED = np.random.default_rng(0)


@dataclass(slots=True)
class Unknown:
    """One endpoint whose noise is estimated."""

    row: int
    """Among those of the goal."""
    sd: float
    """What it truly is."""
    guess: float
    alpha: float
    """How often its bound may be too small."""
    squares: float = 0.0
    freedom: int = 0


@dataclass(slots=True)
class Replicates:
    """The replicates of one run; squares of contrasts are drawn, as sums do for means (chi-square)."""

    unknown: list[Unknown]
    rng: np.random.Generator = field(default=_UNUSED)

    @classmethod
    def of_known(cls) -> Replicates:
        """Nothing is unknown."""
        return cls([])

    @classmethod
    def of(cls, drawn: Drawn, alpha: float, rng: np.random.Generator) -> Replicates:
        """Return the noise of all endpoints as unknown.

        The first guess is right. ``alpha`` is for all together.
        """
        each = alpha / len(drawn.noise)
        return cls([Unknown(row, sd, sd, each) for row, sd in enumerate(drawn.noise)], rng)

    def to_plan(self, state: State) -> State:
        """Return the state with the noise that plans use."""
        if not self.unknown:
            return state
        sds = [planning_sd(one.guess, one.squares, one.freedom, one.alpha) for one in self.unknown]
        return self._with(state, sds, max(max(TARGET - one.freedom, 0) for one in self.unknown))

    def to_decide(self, state: State, counts: ArrayLike) -> State:
        """Return the state with the bounds that decide the next phase, with so many measurements of each."""
        if not self.unknown:
            return state
        more = np.maximum(np.floor(np.asarray(counts, dtype=float)) - 1.0, 0.0)
        for one in self.unknown:
            degrees = min(int(more.sum()), LAST - one.freedom)
            one.squares += one.sd**2 * float(self.rng.chisquare(degrees)) if degrees > 0 else 0.0
            one.freedom += max(degrees, 0)
        sds = [upper_sd(one.squares, one.freedom, one.alpha) for one in self.unknown]
        return self._with(state, sds, state.problem.repeats)

    def _with(self, state: State, sds: list[float], repeats: int) -> State:
        """Return the state with an SD of each that is unknown."""
        noise = list(state.problem.noise)
        for one, sd in zip(self.unknown, sds, strict=True):
            noise[one.row] = min(sd, BOUNDLESS)
        return replace(state, problem=replace(state.problem, noise=tuple(noise), repeats=repeats))


def along(runs: Sequence[Run], compounds: int) -> dict[str, Any]:
    """Return the mean curve of the runs, and the outcome of those that finished."""
    ended = [run for run in runs if run.reason == "decided"]
    return {
        "curve": mean_curve([run.curve for run in runs], compounds),
        "ended": {
            "share": len(ended) / len(runs),
            "wrong_share": sum(run.wrong for run in ended) / len(ended) if ended else None,
            "measurements_median": statistics.median([run.measurements for run in ended]) if ended else None,
        },
    }


def summary(runs: Sequence[Run]) -> dict[str, Any]:
    """Return the means over the runs and counts of what went wrong; every run is counted once.

    errors: a decision was false. unfinished: given up at the limit. undecided: stopped by itself (a budget) with
    compounds open and nothing false. right: the rest.
    """
    errors = sum(run.wrong for run in runs)
    unfinished = sum(run.unfinished and not run.wrong for run in runs)
    right = sum(run.right for run in runs)
    lower, upper = error_limits(errors, len(runs))
    spent = [float(run.measurements) for run in runs]
    return {
        "runs": len(runs),
        "measurements": {
            "mean": mean(spent),
            "sd": statistics.stdev(spent) if len(spent) > 1 else None,
            "median": statistics.median(spent),
        },
        "phases": {"mean": mean([float(run.phases) for run in runs])},
        "rounds": {"mean": mean([float(run.rounds) for run in runs])},
        "precision": mean([run.precision for run in runs]),
        "recall": mean([run.recall for run in runs]),
        "f1": mean([run.f1 for run in runs]),
        "errors": errors,
        "error_rate": errors / len(runs),
        "error_rate_lower": lower,
        "error_rate_upper": upper,
        "right": right,
        "undecided": len(runs) - right - errors - unfinished,
        "unfinished": unfinished,
        "seconds_per_run": math.fsum(run.seconds for run in runs) / len(runs),
    }
