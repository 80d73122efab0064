"""One campaign simulated from its present state, against a drawn truth: the strategy's own steps, all simulated.

Results come as the mean of each compound's measurements, everything that is requested, as the lab's rounds allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Flags, Floats, Ints
from ..campaign import bookkeeping
from ..campaign import noise as assay_noise
from ..campaign.issued_rounds import Issued
from ..campaign.replay import Ledger
from ..domain.features import DenseFeatures, span_basis
from ..models.glm import Link, mean_value
from ..strategies.designs import table
from ..strategies.protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Allocation,
    Outcome,
    State,
    StopReason,
    Strategy,
)
from .forecast_quick import effective, quick
from .instances import Drawn, Kind
from .runner import Replicates, Unknown, sample

_KINDS: dict[Link, Kind] = {"identity": "gaussian", "logit": "bernoulli", "log": "poisson"}
_GAP = 1e-2
"""How far designs of later phases may be from optimal."""
_SMALL = 2_000_000
"""Entries of a table up to which its features are held as numbers, which is faster."""
_FARTHEST = 400
"""Rounds from now after which a simulated campaign is given up."""
_EMPTY = 3
"""Phases in a row that decide nothing before it is."""


@dataclass(frozen=True, slots=True)
class UnderWay:
    """A phase that was planned and is not decided: what returned, and what it still takes."""

    allocation: Allocation
    outstanding: Ints
    """``(n_arms,)`` measurements still to come."""
    measurements: int
    """The same of all endpoints together."""
    rounds: int
    """Rounds still to be issued for it."""
    open: bool
    """Whether one is open."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How one run went; measurements and rounds are those of the whole campaign, those made included."""

    measurements: int
    rounds: int
    reason: str
    """Why it stopped; empty when it was given up."""
    in_: int
    out: int
    undecided: int
    """Compounds at the end."""
    next_measurements: int
    """Measurements that the next decision takes."""
    next_rounds: int
    next_decided: int
    """Compounds that it decides."""
    next_ends: bool


@dataclass(frozen=True, slots=True)
class Start:
    """Where all runs of a campaign begin."""

    strategy: Strategy
    """The campaign's own, or a faster likeness."""
    state: State
    next: Allocation | None
    """The next phase, when none is under way."""
    under_way: UnderWay | None
    stops: tuple[StopReason, ...]
    """Why nothing more is requested, if so."""
    noise: tuple[float, ...]
    """What the noise of the goal's endpoints is taken to be in truth."""
    replicates: tuple[Unknown, ...]
    """Where it is not known: what is known of it."""


def begin(ledger: Ledger) -> Start:
    """Return the state of the campaign; what all runs have in common is planned once."""
    strategy = quick(ledger.strategy, ledger.state.problem.goal)
    if ledger.under_way is not None:
        under_way = _under_way(ledger, ledger.under_way)
        return Start(strategy, _light(ledger.deciding()), None, under_way, (), *_noise(ledger))
    state = ledger.current()
    stops = ledger.strategy.stop(state)
    if (state.status == NOT_ESTIMABLE).all():
        stops = (StopReason("nothing measurable", "no remaining compound is available"),)
    # This one as it will be: all later ones are guesses anyway.
    following = None if stops else strategy.ask(state)
    return Start(strategy, _light(state), following, None, stops, *_noise(ledger))


def _noise(ledger: Ledger) -> tuple[tuple[float, ...], tuple[Unknown, ...]]:
    """Return the noise of the goal's endpoints that is taken for true, and what is known of noise that is estimated.

    Values of a phase under way that are in already are taken as if they were still to come. Of a difference the
    bound is taken to stay as it is.
    """
    true = assay_noise.informing(ledger)
    sds = tuple(true[k].noise_sd or 1.0 for k in ledger.goal_endpoints)
    rows = {k: row for row, k in enumerate(ledger.goal_endpoints)}
    unknown = []
    for one in assay_noise.known(ledger):
        if one.endpoint in rows:
            row = rows[one.endpoint]
            unknown.append(Unknown(row, sds[row], one.guess, one.alpha, one.squares, one.freedom))
    return sds, tuple(unknown)


def _light(state: State) -> State:
    """Return the state as runs use it: designs to a hundredth, features of small tables as numbers of their span."""
    problem = state.problem
    parameters = {**problem.parameters}
    if parameters.get("gap") is not None:
        parameters["gap"] = max(parameters["gap"], _GAP)
    features = problem.features
    # What is carried from phase to phase by column must stay by column.
    if features.n_rows * features.n_columns > _SMALL or "information" in state.memory:
        return replace(state, problem=replace(problem, parameters=parameters))
    rows = features.dense(np.arange(features.n_rows)) @ span_basis(features)
    return replace(state, problem=replace(problem, features=DenseFeatures(rows), parameters=parameters))


def _under_way(ledger: Ledger, phase: bookkeeping.UnderWay) -> UnderWay:
    left = ledger.outstanding()
    outstanding = np.zeros(ledger.n_arms, dtype=np.intp)
    later = outstanding.copy()
    issued = ledger.open_round
    waiting = {} if issued is None else dict(ledger.awaited(issued))
    for place, n in left.items():
        arm = ledger.arm_of[place[1]]
        outstanding[arm] = max(outstanding[arm], n)
        later[arm] = max(later[arm], n - waiting.get(place, 0))
    rounds = _rounds(ledger, later)
    return UnderWay(phase.allocation, outstanding, sum(left.values()), rounds, issued is not None)


def _rounds(ledger: Ledger, counts: Ints) -> int:
    """Return rounds that so many measurements of each compound take, as the campaign lays them out."""
    room = max(1, ledger.settings.per_round // ledger.per_sample)
    most = float(counts.max(initial=0)) / ledger.settings.max_replicates
    # A plan of shares of measurements adds up to whole ones only nearly.
    return max(math.ceil(float(counts.sum()) / room - 1e-6), math.ceil(most - 1e-6))


def play_on(
    ledger: Ledger,
    start: Start,
    truth: Floats,
    rng: np.random.Generator,
    pulse: Callable[[], None],
) -> Ended:
    """Return the campaign to its end, or until it is given up; ``pulse`` is called before every phase and may raise.

    ``truth``: what is taken for true of the endpoints of the goal, ``(n_endpoints, n_arms)``, on the scale on which
    effects add up, not turned around.
    """
    strategy, state, under_way, planned = start.strategy, start.state, start.under_way, start.next
    per = ledger.per_sample
    lab = _Lab(ledger, start, truth, rng)
    replicates = Replicates([replace(one) for one in start.replicates], rng)
    before = _decided(ledger, state)
    spent = begun = ledger.spent()
    rounds = begun_round = len([issued for issued in ledger.rounds if _counts(issued)])
    last_round = rounds + _FARTHEST
    following: tuple[int, int, int, bool] | None = None
    empty = 0
    while True:
        pulse()
        state = replicates.to_plan(state)
        first = under_way is not None or planned is not None
        stops = () if first else strategy.stop(state)
        if following is None and spent > begun:
            decided = int((_decided(ledger, state) & ~before).sum())
            following = (spent - begun, rounds - begun_round, decided, bool(stops))
        if stops or rounds >= last_round or empty >= _EMPTY:
            break
        if under_way is None:
            allocation = strategy.ask(state) if planned is None else planned
            planned = None
            if allocation.total < 1:
                break
            outcome = lab.result(allocation, state.spent + allocation.total)
            spent += per * allocation.total
            rounds += _rounds(ledger, allocation.counts)
        else:
            outcome = lab.completed(under_way, state.spent + math.ceil(under_way.measurements / per))
            spent, rounds = spent + under_way.measurements, rounds + under_way.rounds
            # The open one was issued before, and its results come now.
            begun_round -= under_way.open
        phase = state.phase
        state = strategy.tell(replicates.to_decide(state, outcome.counts[0]), outcome)
        if under_way is not None:
            state = strategy.adjust(state, measurable=ledger.measurable(), spent=state.spent)
            under_way = None
        empty = empty + 1 if state.phase == phase else 0
    status = state.status[ledger.arm_of]
    ins, outs, undecided = (int((status == code).sum()) for code in (IN, OUT, UNDECIDED))
    reason = stops[0].name if stops else ""
    return Ended(spent, rounds, reason, ins, outs, undecided, *(following or (0, 0, 0, True)))


def _counts(issued: Issued) -> bool:
    return issued.state != "withdrawn" and not issued.confirmation


def _decided(ledger: Ledger, state: State) -> Flags:
    """Return which compounds are decided."""
    decided: Flags = ((state.status == IN) | (state.status == OUT))[ledger.arm_of]
    return decided


class _Lab:
    """What comes back of phases when the truth is known."""

    def __init__(self, ledger: Ledger, start: Start, truth: Floats, rng: np.random.Generator) -> None:
        problem, (link, _) = start.state.problem, ledger.link
        self._strategy = start.strategy
        signs = np.array([[ledger.endpoints[k].sign] for k in ledger.goal_endpoints])
        means = signs * truth
        expected = means if link == "identity" else signs * mean_value(link, truth)
        self._drawn = Drawn(
            ledger.features,
            means,
            expected,
            problem.measurable,
            problem.wanted,
            problem.goal,
            start.noise,
            _KINDS[link],
        )
        self._ledger, self._problem, self._rng = ledger, problem, rng

    def result(self, allocation: Allocation, spent: int) -> Outcome:
        """Return what comes back of a phase, all of it simulated."""
        counted = effective(
            self._strategy, allocation, table(self._problem.features, np.flatnonzero(self._problem.measurable)).rank
        )
        return replace(sample(self._drawn, counted, self._rng, spent), allocation=allocation)

    def completed(self, under_way: UnderWay, spent: int) -> Outcome:
        """Return what the phase under way has brought, and what is still to come simulated."""
        came = self._ledger.outcome(under_way.allocation.phase, under_way.allocation, spent)
        arms = np.flatnonzero(under_way.outstanding)
        if len(arms):
            still_due = replace(under_way.allocation, arms=arms, counts=under_way.outstanding[arms])
            came = _together(came, sample(self._drawn, still_due, self._rng, spent))
        return came


def _together(came: Outcome, more: Outcome) -> Outcome:
    """Return what a phase brought, with what was still to come of it."""
    counts = came.counts + more.counts
    sums = sum(np.where(one.counts > 0, one.counts * one.means, 0.0) for one in (came, more))
    means = np.divide(sums, counts, out=np.zeros_like(counts), where=counts > 0)
    return replace(came, counts=counts, means=means)
