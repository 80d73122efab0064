"""What a campaign is at one moment: values to read, none of them writable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..domain.controls import Control, Reading, check_names
from ..domain.endpoint import Endpoint
from ..domain.goals import GOALS, AllEpsilonBest, Best, Goal, ParetoSet, Top
from ..domain.library import Library
from ..domain.measurements import Measurement
from ..domain.plates.layout import Layout
from ..errors import AssayPilotError
from ..strategies.protocol import check_delta
from ..text.percentages import percent
from .control_quality import Quality
from .findings import Confirmation, Prediction
from .stock_view import StockView

if TYPE_CHECKING:
    from .findings import Deviations


STATUSES = ("undecided", "in", "out", "not estimable")
"""The words for a compound's status, by code (the codes of the strategies)."""
Missing = Literal["return", "failed", "other"]
"""What becomes of measurements that are missing when a round is closed; see ``Campaign.close_round``."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is wanted, and what the lab can do."""

    objective: str = ""
    """Name of the endpoint the goal is about; for trade-offs the first of ``objectives``."""
    epsilon: float | None = None
    """Distance from the best that still counts, for trade-offs the difference that does not matter, model scale.

    Needed for ``epsilon-best``; None elsewhere when it was not said.
    """
    slack: float | None = None
    """Softness of the cutoff, model scale; None means half of epsilon. Trade-offs have none."""
    delta: float = 0.05
    """1 - confidence."""
    goal: str = "epsilon-best"
    strategy: str = "proven"
    """By name; ``proven``: the proven strategy that fits; ``auto``: what the program would take."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    per_round: int = 96
    """Measurements the lab takes in one round, of all endpoints together."""
    max_replicates: int = 4
    """Measurements of one endpoint of one compound in one round."""
    budget: int | None = None
    """Measurements in all, of all endpoints together; None without a limit."""
    seed: int = 0
    objectives: tuple[str, ...] = ()
    """Names of the endpoints the goal is about; for ``pareto`` two or more, empty until a campaign fills in its own."""
    controls: tuple[Control, ...] = ()
    """What is measured beside the library to compare plates and rounds."""
    top: int | None = None
    """For the goal ``top`` how many of the best compounds are wanted."""

    def __post_init__(self) -> None:
        if self.goal not in GOALS:
            raise AssayPilotError(
                f"there is no goal {self.goal!r}", option="--goal", mend=f"Choose one of: {', '.join(GOALS)}."
            )
        names = tuple(self.objectives)
        if self.goal != "pareto":
            names = (self.objective,) if self.objective else ()
        elif not names and self.objective:
            names = (self.objective,)
        object.__setattr__(self, "objectives", names)
        object.__setattr__(self, "objective", names[0] if names else "")
        if self.slack is None or self.goal == "pareto":
            object.__setattr__(self, "slack", 0.0 if self.goal == "pareto" else self.distance / 2.0)
        self._check_goal()
        check_names(self.controls)
        check_delta(self.delta)
        for option, name, value in (
            ("--per-round", "measurements per round", self.per_round),
            ("--max-replicates", "measurements of one compound in a round", self.max_replicates),
            ("--budget", "the budget", self.budget),
        ):
            if value is not None and value < 1:
                mend = "Leave it out for no limit." if option == "--budget" else "Give what the lab can do."
                raise AssayPilotError(f"{name} must be 1 or more, got {value}", option=option, mend=mend)

    def _check_goal(self) -> None:
        if self.goal == "epsilon-best" and self.epsilon is None:
            raise AssayPilotError(
                "the distance from the best (epsilon) is missing",
                option="--epsilon",
                mend="For example 0.5: in log units, within 3-fold of the best.",
            )
        if (self.top is None) == (self.goal == "top"):
            raise AssayPilotError(
                "the number of best compounds is missing"
                if self.top is None
                else f"a number of best compounds goes with the goal top, and the goal is {self.goal}",
                option="--top",
                mend="For example 10." if self.top is None else "Ask for the goal top, or leave the number out.",
            )
        if self.epsilon is not None and self.goal in ("best", "top"):
            AllEpsilonBest(self.epsilon, self.softness)
        if self.goal == "pareto":
            twice = [name for name in self.objectives if self.objectives.count(name) > 1]
            if twice:
                raise AssayPilotError(f"endpoint {twice[0]} is named twice", option="--objective", mend="Name it once.")
            if self.epsilon is not None and not (math.isfinite(self.epsilon) and self.epsilon >= 0):
                raise AssayPilotError(
                    f"epsilon must be a number >= 0, got {self.epsilon}",
                    option="--epsilon",
                    mend="It is the difference that does not matter; 0 when every one does.",
                )
            if len(self.objectives) == 1:
                ParetoSet((0.0,))
        else:
            self.goal_of((0.0,))

    @property
    def softness(self) -> float:
        """The slack as a number."""
        return self.distance / 2.0 if self.slack is None else self.slack

    @property
    def distance(self) -> float:
        """Epsilon as a number, 0 where none was given."""
        return 0.0 if self.epsilon is None else self.epsilon

    def goal_of(self, margins: tuple[float, ...]) -> Goal:
        """Return the goal as strategies know it; ``margins`` are those of a Pareto goal, one per objective."""
        if self.goal == "pareto":
            return ParetoSet(margins)
        if self.top is not None:
            return Top(self.top, self.softness)
        return Best(self.softness) if self.goal == "best" else AllEpsilonBest(self.distance, self.softness)

    def border(self, means: Floats) -> float:
        """Where the answer of a goal about one endpoint ends among means, larger being better ``(n,)``."""
        if self.top is not None:
            return float(Top(self.top).border(means))
        return float(np.nanmax(means)) - (self.distance if self.goal == "epsilon-best" else 0.0)


@dataclass(frozen=True, slots=True)
class Source:
    """Where a table came from; kept so that the same file is noticed when it comes again."""

    name: str
    """File name without its folder, or ``typed`` or ``pasted``."""
    digest: str = ""
    """SHA-256 of the content; empty when typed."""


@dataclass(frozen=True, slots=True)
class RoundItem:
    """One line of an issued round; it never changes."""

    compound: int
    """Position in the library."""
    replicates: int
    """Measurements of each endpoint of the round."""
    reason: str
    """Why it was picked, in a few words."""
    expected: float | None
    """Posterior mean of the objective when the round was issued, model scale; None before any measurement."""
    low: float | None
    """2.5 % point of the posterior of its mean."""
    high: float | None
    """97.5 % point."""
    asked: tuple[int, ...] = ()
    """Measurements of each endpoint of the round where they differ, because some are in already; else empty."""
    each: tuple[tuple[float, float, float] | None, ...] = ()
    """What was expected of each endpoint of the round, with both points, where that is not the objective alone."""

    def expected_of(self, place: int) -> tuple[float, float, float] | None:
        """Return what was expected of an endpoint of the round, by its place among them, and its 2.5 and 97.5 % points.

        None before any measurement.
        """
        if self.each:
            return self.each[place]
        if self.expected is None or self.low is None or self.high is None:
            return None
        return self.expected, self.low, self.high

    def of(self, place: int) -> int:
        """Measurements requested of an endpoint of the round, by its place among them."""
        return self.asked[place] if self.asked else self.replicates


@dataclass(frozen=True, slots=True)
class Issued:
    """A fixed, ranked list for the lab, as the log knows it."""

    number: int
    """From 1; the number of a withdrawn round is not used again."""
    phase: int
    items: tuple[RoundItem, ...]
    state: Literal["open", "closed", "withdrawn"]
    issued: str
    """UTC time."""
    closed: str | None = None
    _: KW_ONLY
    before: int = 0
    """Measurements in the campaign when it was issued."""
    endpoints: tuple[int, ...] = (0,)
    """Positions, among the campaign's endpoints, of those that are measured of every item."""
    confirmation: bool = False
    """Whether it confirms what was decided; it belongs to no phase then, and its phase is 0."""
    predicted: tuple[Prediction, ...] = ()
    """What a confirmation round was predicted to find, noted when it was issued; empty for all others."""
    population: int = 0
    """Compounds that an audit round was drawn from; 0 for all others."""

    @property
    def title(self) -> str:
        """What kind of round it is, and its number."""
        kind = "Audit round" if self.population else "Confirmation round" if self.confirmation else "Round"
        return f"{kind} {self.number}"

    @property
    def measurements(self) -> int:
        """Measurements requested, of all endpoints together."""
        return sum(item.of(place) for item in self.items for place in range(len(self.endpoints)))


@dataclass(frozen=True, slots=True)
class Round(Issued):
    """What the lab does at once, and what came back of it."""

    returned: tuple[int, ...] = ()
    """Replicates of each item of which every endpoint is back (results above what was asked are unplanned)."""
    back: tuple[tuple[int, ...], ...] = ()
    """Results that have come back for each item, one number per endpoint of the round, at most what was asked."""
    layout: Layout | None = None
    """The plates it stands on; None while nobody laid it out."""

    def __post_init__(self) -> None:
        if not self.back:
            object.__setattr__(self, "back", tuple((n,) * len(self.endpoints) for n in self.returned))

    @property
    def came(self) -> int:
        """Measurements requested that have come back."""
        return sum(map(sum, self.back))

    @property
    def missing(self) -> int:
        """Measurements still to come."""
        return self.measurements - self.came

    @property
    def missing_of(self) -> tuple[int, ...]:
        """Measurements still to come, one number per endpoint of the round."""
        return tuple(
            sum(item.of(place) - came[place] for item, came in zip(self.items, self.back, strict=True))
            for place in range(len(self.endpoints))
        )


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """The strategy's step that rounds are cut from."""

    phase: int
    total: int
    """Measurements the phase asks for, of all endpoints together."""
    outstanding: int
    """Measurements of it that are not in yet, issued or not."""
    radius: float
    """Half-width it is to bring the bounds to, on the strategy's own scale; infinite where there is none.

    Model scale, but for GEGE: there in the differences that do not matter, or in assay noise (SD) where none are given.
    """
    criterion: str
    value: float
    lower_bound: float


@dataclass(frozen=True, slots=True)
class Audit:
    """What a random sample of the compounds not in says of members that were missed."""

    round: int
    population: int
    """Compounds that were not in and never measured when the sample was drawn."""
    sampled: int
    found: int
    """Of the sample: those that may be members by their own values."""
    missed: int
    """Upper limit of the members among those that were not sampled."""
    confidence: float

    @property
    def sentence(self) -> str:
        """The whole of it in words."""
        rest = self.population - self.sampled
        return (
            f"Audit: of {self.population:,} compounds not in, {self.sampled:,} were drawn at random and {self.found:,} "
            f"may be members; at most {self.missed:,} of the other {rest:,} are ({percent(self.confidence)}), whatever "
            "the model believes."
        )


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What was predicted of compounds before they were measured, against what returned."""

    predicted: int
    """Values of all rounds."""
    inside: int
    """Of these: inside their 95 % interval."""
    spread: float
    """Root mean square of the errors over their SDs; 1 where the model is right."""
    round: int
    """The last round with such values."""
    last_predicted: int
    last_inside: int
    narrow: bool
    """Whether fewer were inside than chance explains (1 %)."""
    wide: bool
    """Whether errors are so small that the stated ones are too large, as with a noise stated too large."""

    @property
    def sentence(self) -> str:
        """The whole of it in words."""
        before = "" if self.predicted == self.last_predicted else f" ({self.inside:,} of {self.predicted:,} in all)"
        said = (
            f"In round {self.round}, {self.last_inside:,} of {self.last_predicted:,} values fell inside their "
            f"predicted 95 % intervals{before}."
        )
        if self.narrow:
            said += " The intervals are too narrow: expect more errors than stated."
        if self.wide:
            said += (
                f" Errors are {percent(self.spread)} of what was stated: is the assay noise smaller than you said? "
                "Campaigns then take more measurements than they need."
            )
        return said


@dataclass(frozen=True, slots=True)
class Claim:
    """How sure the set is as it stands."""

    kind: Literal["calibrated", "proven", "none"]
    expected_missed: float | None = None
    """Members of the answer that are expected not to be in; None where nothing states it."""
    expected_wrong: float | None = None
    """Compounds in that are expected to belong to no right answer."""
    p_wrong: float | None = None
    """Probability that the best answer so far is wrong anywhere."""
    audit: Audit | None = None
    """What the last audit round says; None before one."""
    check: ModelCheck | None = None
    """How well the series model predicted; None before a value that it had predicted."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What is promised, in words that are true now."""

    delta: float
    holds: bool
    assumptions: tuple[str, ...]
    void: tuple[str, ...]
    """Why it does not hold any more; empty while it does."""
    sentence: str
    """The whole of it as one sentence or two."""
    kind: Literal["calibrated", "proven", "none"] = "proven"

    @property
    def calibrated(self) -> bool:
        """Whether it is the series model's claim, which any value may move; else a proof's."""
        return self.kind == "calibrated"

    @property
    def first(self) -> str:
        """The first sentence, without its full stop."""
        return self.sentence.partition(". ")[0]

    @property
    def without_assumptions(self) -> str:
        """The sentence without what it assumes, for where that stands in a list of its own."""
        return self.sentence.replace(f" Assumes {'; '.join(self.assumptions)}.", "")

    @property
    def label(self) -> str:
        """What it is, in a word or two."""
        return {"proven": "Guarantee", "calibrated": "Calibrated", "none": "No guarantee"}[self.kind]

    @property
    def brief(self) -> str:
        """What it is, in half a line."""
        if self.calibrated:
            return f"calibrated: {self.first}"
        sure = f"guarantee holds ({percent(1 - self.delta, 6)} confidence)"
        return sure if self.kind == "proven" else f"no guarantee: {'; '.join(self.void)}"


@dataclass(frozen=True, eq=False)
class Candidates:
    """One entry per compound, in library order; numbers on the model scale, NaN when unknown.

    What is not stated to be of every endpoint is of the objective: for trade-offs the first of them.
    """

    status: NDArray[np.int8]
    """Index into STATUSES."""
    decided_in_round: Ints
    """0 where nothing is decided."""
    estimate: Floats
    """From everything measured and usable, history included; of compounds with bounds alone no farther than these."""
    low: Floats
    """Deciding bound of the last decided phase that bounded the compound."""
    high: Floats
    probability_within_epsilon: Floats
    """Posterior probability of being in the goal's set; informs, never decides.

    Within epsilon of the best; for ``best`` being the best; for ``pareto`` that no other is better in every endpoint.
    """
    probability_within_slack: Floats
    """Posterior probability of being acceptable.

    Within epsilon + slack; for ``best`` within the slack of the best; for ``pareto`` that no other is better in every
    endpoint by more than the difference that does not matter.
    """
    measured: Ints
    """Usable determinations, history included; of several endpoints of the goal, of the one with the fewest."""
    censored: Ints
    """Determinations of the goal's endpoints of which only a bound is known."""
    made: Flags
    """Whether anything was ever measured on it."""
    posterior_low: Floats
    """2.5 % point of the posterior of the compound's mean."""
    posterior_high: Floats
    estimates: Mapping[str, Floats]
    """Estimates of every endpoint, by name."""
    cutoff: float
    """Best estimate minus (for a minimum: plus) epsilon; NaN before any estimate, and for trade-offs."""
    soft_cutoff: float
    """The same with the slack."""
    lows: Mapping[str, Floats]
    """``low`` of every endpoint that decides: of the goal, by its limit, or through a profile; by name."""
    highs: Mapping[str, Floats]
    measured_of: Mapping[str, Ints]
    """Usable determinations of every endpoint, history included, by name."""
    probability_meets: Mapping[str, Floats] = field(default_factory=dict)
    """Posterior probability of keeping to its limit, by name of each endpoint that has one; informs, never decides."""
    under: Mapping[str, Floats] = field(default_factory=dict)
    """The lowest limit below which a value of each endpoint is known to lie, by name; NaN without one.

    Of endpoints that have bounds, and are measured themselves.
    """
    over: Mapping[str, Floats] = field(default_factory=dict)
    """The highest limit above which one is known to lie."""
    profile_met: Floats | None = None
    """Posterior probability that every desirability of the profile is at least a half; None without a profile."""


@dataclass(frozen=True, slots=True)
class RecordReport:
    """What ``record`` did."""

    accepted: int
    """Results kept, unplanned ones included."""
    unplanned: int
    """Results nobody asked for (or beyond what was asked): used in estimates, not in decisions."""
    duplicates: int
    """Results that were there already and were not counted again."""
    censored: int
    """Results kept as a bound only."""
    rejected: tuple[tuple[int | None, str], ...]
    """(row, reason) of results that could not be used."""
    round: int
    round_closed: bool
    warnings: tuple[str, ...]
    controls: int = 0
    """Values of controls kept; they are not among ``accepted``."""


@dataclass(frozen=True, slots=True)
class NoiseNow:
    """What replicates say of the noise of an endpoint that nobody knows it of; model scale."""

    endpoint: int
    """Its position."""
    sd: float | None
    """The estimate; None without any replicates."""
    freedom: int
    """Degrees of freedom behind it."""
    used: float
    """The upper bound on it that decisions use; infinite while there are too few replicates."""
    sentence: str
    """``assay noise of pIC50 estimated: 0.21 from 34 degrees of freedom, at most 0.27 is used``."""


@dataclass(frozen=True, eq=False)
class Status:
    """Everything a page or a report shows, at one head of the log."""

    name: str
    library: Library
    endpoints: tuple[Endpoint, ...]
    objective: int
    """Position of the objective among the endpoints; for trade-offs of the first of them."""
    settings: Settings
    strategy: str
    why: str
    rounds: tuple[Round, ...]
    open_round: Round | None
    phase: PhasePlan | None
    """The phase under way; None before the first plan and between phases."""
    phases_decided: int
    measurements: tuple[Measurement, ...]
    """All of them in order of entry, history first, withdrawn and excluded ones included."""
    measurements_used: int
    """Determinations of the measured endpoints in this campaign that count against the budget.

    History does not, nor do confirmation rounds: see ``confirmation``.
    """
    unavailable: frozenset[int]
    """Compounds that cannot be had."""
    candidates: Candidates
    counts: Mapping[str, int]
    """Compounds by status: in, out, undecided, not_estimable."""
    finished: bool
    finish_reason: str | None
    """Why nothing more is asked; None while something is. An open confirmation round changes nothing of it."""
    goal_sentence: str
    """``All compounds within 0.5 of the best pIC50, cutoff soft by 0.25, 95 % sure``."""
    statement: str
    """What is known now, in a sentence."""
    guarantee: Guarantee
    claim: Claim
    warnings: tuple[str, ...]
    head: str
    events: int
    goal_endpoints: tuple[int, ...]
    """Positions of the endpoints the goal is about."""
    measured_endpoints: tuple[int, ...]
    """Positions of the endpoints every planned compound is measured for: the goal's, and those with a limit.

    For a difference its two parts.
    """
    margins: tuple[float, ...]
    """For trade-offs the difference that does not matter, one per endpoint of the goal; else empty."""
    probability_names: tuple[str, str]
    """What the two probabilities of the candidates are, in a few words: ``within 0.5``, ``best``, ``Pareto``."""
    readings: tuple[Reading, ...] = ()
    """Values of controls in order of entry, withdrawn and excluded ones included."""
    quality: Quality = field(default_factory=Quality)
    """What the controls say of plates and rounds."""
    confirmation: Confirmation = field(default_factory=Confirmation)
    """How far what is in was confirmed by measurements of its own, once the campaign has ended."""
    noise: tuple[NoiseNow, ...] = ()
    """Of every endpoint whose noise is estimated on the way; ``endpoints`` have that estimate as theirs."""

    additivity: tuple[Deviations, ...] = ()
    """How far compounds deviate from the sum of effects, per measured endpoint that is modelled as one."""
    stock: StockView | None = None
    """What can be had, for how much and when; None when no list said."""
    choice: str | None = None
    """The plan that was chosen for the phase under way; None where there was nothing to choose."""
    choosable: bool = False
    """Whether the next plan is one to choose."""

    @property
    def promise(self) -> str:
        """How sure the answer is, as far as ``statement`` does not say it."""
        if not self.guarantee.calibrated:
            return self.guarantee.sentence
        check = "" if self.claim.check is None else f" {self.claim.check.sentence}"
        return self.guarantee.sentence.removeprefix(f"{self.guarantee.first}. ") + check

    @property
    def rounds_made(self) -> int:
        """How many rounds ``measurements_used`` came in: neither those withdrawn nor those that only confirm."""
        return sum(one.state != "withdrawn" and not one.confirmation for one in self.rounds)

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The plates of the rounds that were laid out and not withdrawn, the open one last."""
        return tuple(one.layout for one in self.rounds if one.layout is not None and one.state != "withdrawn")

    @property
    def limited_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints with a limit."""
        return tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.limit is not None)

    @property
    def deciding_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that decide: those of the goal, and those with a limit."""
        return tuple(dict.fromkeys((*self.goal_endpoints, *self.limited_endpoints)))

    @property
    def asked_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that decide, and of those that are measured for them."""
        return tuple(dict.fromkeys((*self.deciding_endpoints, *self.measured_endpoints)))

    @property
    def entered_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that values are entered for: all but the differences."""
        return tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.of is None)

    @property
    def value_columns(self) -> list[str]:
        """The columns of a work list that are filled in: Value with one endpoint, else one for each measured."""
        entered = self.entered_endpoints
        return ["Value"] if len(entered) == 1 else [self.endpoints[k].name for k in entered]
