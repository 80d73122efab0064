"""Interface of every strategy: pure functions over an immutable state.

A strategy sees *arms*: distinct feature rows. It decides in phases; the campaign cuts a phase into the rounds a lab
can run and returns the actual results. Larger is always better here: the campaign turns endpoints around.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..domain.desirability import Profile
from ..domain.endpoint import Kind
from ..domain.features import Features
from ..domain.goals import Goal
from ..domain.measurements import Pooled
from ..errors import AssayPilotError
from ..models.glm import Link
from ..system.progress import Report, silent

if TYPE_CHECKING:
    from ..models.gaussian_process.measured import Measured


BOUNDLESS = 1e9
"""The noise SD while nothing is known of it: so large that nothing is decided."""

UNDECIDED, IN, OUT, NOT_ESTIMABLE = 0, 1, 2, 3
"""The states of an arm, as codes."""


def check_delta(delta: float) -> float:
    """Return the error probability itself; AssayPilotError unless 0 < delta < 1."""
    if not (math.isfinite(delta) and 0.0 < delta < 1.0):
        raise AssayPilotError(
            f"delta (1 - confidence) must be above 0 and below 1, got {delta}",
            option="--delta",
            mend="0.05 means 95 % sure.",
        )
    return delta


@dataclass(frozen=True, slots=True)
class Capacity:
    """Capacity of the lab; a hint for how many distinct compounds a design should use."""

    per_round: int
    """Measurements in one round."""
    max_replicates: int
    """Measurements of one compound in one round."""
    budget: int | None = None
    """Measurements in the whole campaign; None without a limit."""
    each: int = 1
    """Cost of one measurement here in the lab's budget: one for every endpoint that is measured with it."""

    @property
    def only_end(self) -> bool:
        """Whether it states a budget and no rounds of a lab."""
        return self.per_round == self.max_replicates == self.budget


Arrays = Mapping[str, NDArray[Any]]
"""Arrays by name; numbers and booleans only, so that a file can keep them."""


@dataclass(frozen=True, slots=True)
class Supply:
    """What is at hand, ``(n_arms,)`` each, for strategies that weigh what has to be made."""

    ready: Flags
    """Can be measured now."""
    ordered: Flags
    """Was ordered before, and is not there yet."""
    price: Floats
    """Of a first measurement: 1 where nothing has to be made, 2 where making costs as much as it usually does."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Everything a strategy may know before the first measurement."""

    features: Features
    """One row per arm."""
    measurable: Flags
    """``(n_arms,)``: what can be measured (X)."""
    wanted: Flags
    """``(n_arms,)``: what the answer is about (Z)."""
    goal: Goal
    delta: float
    """Probability that the answer may be wrong."""
    noise: tuple[float, ...]
    """SD between measurements of one arm, per endpoint of the goal, model scale."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """The strategy's own parameters by name; missing ones take their defaults."""
    seed: int = 0
    capacity: Capacity | None = None
    estimated: bool = False
    """Whether the noise is an upper bound from replicates (``BOUNDLESS`` without any); else it is as stated."""
    repeats: int = 0
    """How many measurements of a phase should repeat others of it, to estimate the noise."""
    limits: tuple[tuple[int, float, float], ...] = ()
    """Limits of compounds: (endpoint, lowest, highest), for strategies that are informed of endpoints."""
    other_noise: tuple[float, ...] = ()
    """SD of each further endpoint that such a strategy is informed of, behind those of the goal; 0 where unknown."""
    usual_noise: tuple[float, ...] = ()
    """Per endpoint the SD that an unknown noise usually has, 0 where its scale has none; empty: as in ``noise``."""
    similarity: tuple[Floats | None, ...] = ()
    """Per site how similar its substituents are, ``(l, l)``; None where unknown. Empty: unknown of all."""
    ends: tuple[tuple[float, float] | None, ...] = ()
    """Per endpoint what no mean can go far beyond, such as 0 and 100 %; empty where none is known."""
    kinds: tuple[Kind, ...] = ()
    """Per endpoint whether values are plain, yes and no, or counts; empty: plain."""
    profile: Profile | None = None
    """Which of the endpoints, further ones included, is the score of others; None without one."""
    history: tuple[Pooled, ...] = ()
    """Per endpoint of the goal, what was measured before the campaign: to plan by, never to decide by."""
    supply: Supply | None = None
    """None where everything is at hand, or nothing was stated of it."""

    def __post_init__(self) -> None:
        check_delta(self.delta)
        if not self.noise or not all(math.isfinite(sd) and sd > 0 for sd in self.noise):
            raise AssayPilotError(
                f"assay noise (SD) must be a number > 0 on the model scale, got {list(self.noise)}",
                option="--sd",
                mend="Give the SD between independent measurements of the same compound.",
            )

    @property
    def n_arms(self) -> int:
        """How many arms."""
        return self.features.n_rows

    @property
    def n_endpoints(self) -> int:
        """How many endpoints every measurement of an arm gives a value of."""
        return len(self.noise)

    @property
    def budget(self) -> int | None:
        """Measurements in the whole campaign; None without a limit."""
        return self.capacity.budget if self.capacity else None

    @property
    def planned_rows(self) -> tuple[int, ...]:
        """The endpoints that a planned measurement gives a value of: of the goal, limits and profile; not the score."""
        rows = {*range(self.n_endpoints), *(row for row, _, _ in self.limits)}
        if self.profile is not None:
            rows = (rows | set(self.profile.parts)) - {self.profile.row}
        return tuple(sorted(rows))

    def in_lab(self, measurements: int) -> int:
        """Return so many measurements of arms as the lab counts them, of every endpoint, for words about the budget."""
        return measurements * (self.capacity.each if self.capacity else 1)


@dataclass(frozen=True, slots=True)
class Certificate:
    """How good a design is: the value reached and a proven lower bound on the best possible."""

    criterion: str
    value: float
    lower_bound: float


@dataclass(frozen=True, slots=True)
class Allocation:
    """The measurements of one phase."""

    phase: int
    arms: Ints
    """Arms to measure, ascending."""
    counts: Ints
    """Measurements of each, at least 1."""
    radius: float
    """The half-width the plan promises for every mean (model scale); infinite where a strategy promises none."""
    certificate: Certificate
    cut_to_budget: bool = False
    """The phase requests less than the algorithm needs, because the budget ends."""

    @property
    def total(self) -> int:
        """Measurements in the phase."""
        return int(self.counts.sum())

    @classmethod
    def after(
        cls, state: State, arms: Ints, counts: Ints, radius: float, certificate: Certificate, *, cut: bool = False
    ) -> Allocation:
        """Return the phase after a state: so many measurements of these arms, in any order, zeros left out."""
        kept = np.flatnonzero(counts)
        order = kept[np.argsort(arms[kept])]
        return cls(state.phase + 1, arms[order], counts[order].astype(np.intp), radius, certificate, cut)

    def within_budget(self, state: State) -> Allocation:
        """Return the phase without what the budget no longer pays for: the last compounds go first."""
        budget = state.problem.budget
        if budget is None or self.total <= budget - state.spent:
            return self
        counts = np.diff(np.minimum(np.cumsum(self.counts), max(budget - state.spent, 0)), prepend=0)
        kept = counts > 0
        return replace(self, arms=self.arms[kept], counts=counts[kept], cut_to_budget=True)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Results of one phase, whatever was planned."""

    allocation: Allocation
    """The plan of the phase."""
    counts: Floats
    """``(n_endpoints, n_arms)`` determinations that count for this phase, whatever their values."""
    means: Floats
    """``(n_endpoints, n_arms)`` their means, larger is better; anything where the count is 0.

    A value known only as a bound counts as the bound itself.
    """
    spent: int = 0
    """Measurements of the whole campaign so far, unplanned ones included."""

    @property
    def complete(self) -> bool:
        """Whether everything planned returned, of every endpoint."""
        return bool(np.all(self.counts[:, self.allocation.arms] >= self.allocation.counts))


_NO_ARMS: Ints = np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision at the end of one phase: a fact, stored and never recomputed."""

    phase: int
    radius: float
    """The planned half-width of the phase."""
    ins: Ints
    """Arms decided in, in this phase."""
    outs: Ints
    """Arms decided out, in this phase."""
    left: Ints
    """Arms decided in (now or before) that need not be measured any more."""
    estimate: Floats
    """``(n_endpoints, n_arms)`` means it decided by; NaN for arms that were not active or not estimable."""
    low: Floats
    """``(n_endpoints, n_arms)`` deciding lower bounds; -inf when not estimable, NaN for arms not active."""
    high: Floats
    """``(n_endpoints, n_arms)`` deciding upper bounds; inf when not estimable, NaN for arms not active."""
    contradicted: Ints
    """Arms whose earlier decision this phase would have made the other way; the first decision remains."""
    spent: int
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Thresholds and counts behind the decision, by name."""
    memory: Arrays = field(default_factory=dict)
    """All that the strategy carries from phase to phase besides the fields above; it replaces the state's."""

    @classmethod
    def after(
        cls,
        state: State,
        outcome: Outcome,
        shown: Floats,
        *,
        ins: Ints,
        outs: Ints,
        numbers: Mapping[str, float],
        left: Ints = _NO_ARMS,
        contradicted: Ints = _NO_ARMS,
        memory: Arrays | None = None,
    ) -> Decision:
        """Return what a phase decides; ``shown`` are estimate, low and high, ``(3, n_endpoints, n_arms)``."""
        return cls(
            phase=state.phase + 1,
            radius=outcome.allocation.radius,
            ins=ins,
            outs=outs,
            left=left,
            estimate=shown[0],
            low=shown[1],
            high=shown[2],
            contradicted=contradicted,
            spent=outcome.spent,
            numbers=numbers,
            memory={} if memory is None else memory,
        )


@dataclass(frozen=True, slots=True)
class StopReason:
    """Why there is nothing left to ask."""

    name: str
    """``decided``, ``budget``, ``lost``, ``undecidable`` or ``nothing measurable``."""
    text: str
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """The state of a strategy after some phases; made only by the strategy's own functions."""

    problem: Problem
    first_radius: float
    """Half-width after the first phase; infinite for strategies that have no such thing."""
    phase: int
    """Phases decided so far."""
    status: NDArray[np.int8]
    """``(n_arms,)`` of UNDECIDED, IN, OUT, NOT_ESTIMABLE; arms not wanted are OUT of the question: UNDECIDED."""
    active: Flags
    """Arms whose means the next phase bounds."""
    left: Flags
    """Arms decided in that need not be measured any more."""
    low: Floats
    """``(n_endpoints, n_arms)`` the last bounds of each arm; -inf and inf where there are none."""
    high: Floats
    lost: Flags
    """Arms that could still be the best and cannot be bounded any more; their last bounds count."""
    decided_in_phase: Ints
    """``(n_arms,)``, 0 where nothing is decided."""
    spent: int
    last: Decision | None
    memory: Arrays = field(default_factory=dict)
    """All that a strategy carries from phase to phase besides the fields above: the last decision's."""

    @property
    def open(self) -> Flags:
        """``(n_arms,)``: wanted and not decided."""
        still: Flags = (self.status == UNDECIDED) & self.problem.wanted
        return still


@dataclass(frozen=True, slots=True)
class Parameter:
    """One knob of a strategy."""

    name: str
    default: Any
    meaning: str


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """Description of a strategy, for people who choose one."""

    name: str
    version: int
    """Raised whenever the same data could be decided differently."""
    title: str
    goals: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    guarantee: str
    """One sentence: what holds, with which probability."""
    source: str
    baseline: bool = False
    """Only for comparison in simulations."""
    endpoints: tuple[int, int | None] = (1, 1)
    """Fewest and most endpoints it can decide on; None: any number."""
    any_plan: bool = False
    """Whether it decides a phase by what returned in it, or its design reached, so that others may plan what is."""
    slow: bool = False
    """Whether a plan of a phase takes so long that forecasts simulate fewer campaigns."""
    noise_bound: bool = False
    """Whether it decides every phase by the noise as it is then, so that an upper bound on it can take its place."""


class Strategy(Protocol):
    """An algorithm. All methods are pure: they read a state and return a new one."""

    info: ClassVar[StrategyInfo]

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return the reasons why these parameters promise no error probability, in plain words; empty when they do."""

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return warnings about this problem for before the first measurement, in plain words; mostly empty."""

    def link(self, problem: Problem) -> tuple[Link, float]:
        """Return the scale on which means are sums of effects and are compared, and the largest size of one there."""

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return the promise's assumptions besides independent measurements of the stated noise, bounds included."""

    def start(self, problem: Problem) -> State:
        """Return the state before the first phase; AssayPilotError when the problem cannot be solved this way."""

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the measurements of the next phase; must not be called once ``stop`` gives a reason."""

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return what the phase decides; None when nothing usable returned (then the phase does not count)."""

    def apply(self, state: State, decision: Decision) -> State:
        """Return the state after a decision, whether just made or read from a file."""

    def tell(self, state: State, outcome: Outcome) -> State:
        """Return the state after a phase: ``apply(state, decide(state, outcome))``."""

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return the reasons to stop; empty while there is something to measure."""

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when the world moved between phases: what can be measured now, and what was spent so far.

        After a decision fewer arms can be measured, never more: one that returns ends a proof (see ``add_stock``).
        """


@runtime_checkable
class Divided(Strategy, Protocol):
    """A strategy made of several, one for each kind of goal."""

    def for_goal(self, goal: str) -> Strategy:
        """Return the part that answers a goal of that name."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """Predictions of a calibrated strategy for every arm; larger is better, on the model scale of each endpoint."""

    status: NDArray[np.int8]
    """``(n_arms,)`` codes of the strategies."""
    estimate: Floats
    """``(n_endpoints, n_arms)`` of the goal's endpoints, then of further ones."""
    low: Floats
    """2.5 % points, and in ``high`` 97.5 % points."""
    high: Floats
    p_member: Floats
    """``(n_arms,)`` probability of belonging to the answer."""
    p_acceptable: Floats
    """``(n_arms,)`` probability that a right answer may hold it."""
    p_kept: Floats
    """``(n_limits, n_arms)`` probability of keeping to each limit; last of meeting the profile, where there is one."""
    expected_missed: float
    expected_wrong: float
    p_wrong: float
    """Probability that the answer is not right."""
    noise: Floats
    """``(n_endpoints,)`` SD of one measurement of each endpoint that it goes by."""
    own: float = math.nan
    """SD of own deviations of compounds, where it learns one."""


@runtime_checkable
class Calibrated(Strategy, Protocol):
    """A strategy that states expected errors instead of proving: statuses move both ways, by everything measured.

    It is informed of all measurements, history and unplanned ones included, before it plans or decides.
    """

    def inform(self, state: State, measured: tuple[Measured, ...]) -> State:
        """Return the state with these measurements, one entry per endpoint, instead of those it knew."""

    def measured(self, state: State) -> tuple[Measured, ...]:
        """Return what a state was informed of, one entry per endpoint."""

    def has_values(self, state: State) -> bool:
        """Return whether anything was measured of every endpoint of the goal."""

    def decision(self, state: State, spent: int) -> Decision:
        """Return the predictions from the measurements, as the end of a phase; its memory holds no measurements."""

    def knowledge(self, state: State) -> Knowledge | None:
        """Return what is known of every arm, by the last decision where nothing came since; None without values."""

    def search(self, state: State) -> NDArray[np.int32]:
        """Return the combinations that may be the best, listed among the arms or not, ``(n, n_sites)``."""

    def truths(self, state: State, n: int, rng: np.random.Generator) -> list[Floats]:
        """Return ``n`` joint draws of all arms' means ``(n_endpoints, n_arms)``, given what was measured."""

    def as_learned(self, state: State) -> Calibrated:
        """Return the strategy with what it has learned of the series so far taken as known, to play it forward fast."""
