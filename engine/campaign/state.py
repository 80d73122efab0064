"""The state of a campaign at one moment, as read-only values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Flags, Floats, Ints
from ..domain.controls import Reading
from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Measurement
from ..domain.plates import Layout
from ..text import percent
from .control_quality import Quality
from .findings import Confirmation
from .issued_rounds import PhasePlan, Round
from .settings import Settings
from .stock_view import StockView

if TYPE_CHECKING:
    from .findings import Deviations

STATUSES = ("undecided", "in", "out", "not estimable")
"""The words for a compound's status, by code (the codes of the strategies)."""


@dataclass(frozen=True, slots=True)
class Audit:
    """The bound on missed members from a random sample of the compounds not in."""

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
            f"Audit: of {self.population:,} compounds not in and never measured, {self.sampled:,} were drawn at random "
            f"and {self.found:,} may be members; at most {self.missed:,} of the other {rest:,} are "
            f"({percent(self.confidence)}), whatever the model believes."
        )


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """Predictions of compounds before their measurement, compared with the results."""

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
        sentence = (
            f"In round {self.round}, {self.last_inside:,} of {self.last_predicted:,} values fell inside their "
            f"predicted 95 % intervals{before}."
        )
        if self.narrow:
            sentence += " The intervals are too narrow: expect more errors than stated."
        if self.wide:
            sentence += (
                f" Errors are {percent(self.spread)} of what was stated: is the assay noise smaller than stated? "
                "Campaigns then take more measurements than they need."
            )
        return sentence


@dataclass(frozen=True, slots=True)
class Claim:
    """How sure the present set is."""

    kind: Literal["calibrated", "proven", "none"]
    expected_missed: float | None = None
    """Members of the answer that are expected not to be in; None where nothing states it."""
    expected_wrong: float | None = None
    """Compounds in that are expected to belong to no right answer."""
    p_wrong: float | None = None
    """Probability that the best answer so far is wrong anywhere."""
    audit: Audit | None = None
    """The finding of the last audit round; None before one."""
    check: ModelCheck | None = None
    """How well the series model predicted; None before a predicted value."""


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The promise, in words that are true now."""

    delta: float
    holds: bool
    assumptions: tuple[str, ...]
    void: tuple[str, ...]
    """Why it is void; empty while it holds."""
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
        """The sentence without its assumptions, for views that list them separately."""
        return self.sentence.replace(f" Assumes {'; '.join(self.assumptions)}.", "")

    @property
    def label(self) -> str:
        """Its name, in a word or two."""
        return {"proven": "Guarantee", "calibrated": "Calibrated", "none": "No guarantee"}[self.kind]

    @property
    def brief(self) -> str:
        """Its description, in half a line."""
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
    """Whether anything was measured on it."""
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
    """The lowest upper bound known of a value of each endpoint, by name; NaN without one.

    Of endpoints that have bounds, and are measured themselves.
    """
    over: Mapping[str, Floats] = field(default_factory=dict)
    """The highest lower bound known."""
    profile_met: Floats | None = None
    """Posterior probability that every desirability of the profile is at least a half; None without a profile."""


@dataclass(frozen=True, slots=True)
class RecordReport:
    """The outcome of ``record``."""

    accepted: int
    """Results kept, unplanned ones included."""
    unplanned: int
    """Unrequested results (or beyond the request): used in estimates, not in decisions."""
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
    """The estimate of an unknown noise, from replicates or by the series model; model scale."""

    endpoint: int
    """Its position."""
    sd: float | None
    """The estimate; None without any replicates."""
    freedom: int
    """Degrees of freedom behind it; 0 where the series model learned it."""
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
    """Unavailable compounds."""
    candidates: Candidates
    counts: Mapping[str, int]
    """Compounds by status: in, out, undecided, not_estimable."""
    finished: bool
    finish_reason: str | None
    """Why nothing more is requested; None while something is. An open confirmation round changes nothing of it."""
    goal_sentence: str
    """``All compounds within 0.5 of the best pIC50, cutoff soft by 0.25, 95 % sure``."""
    statement: str
    """The present result, in a sentence."""
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
    """Names of the two probabilities of the candidates: ``within 0.5``, ``best``, ``Pareto``."""
    readings: tuple[Reading, ...] = ()
    """Values of controls in order of entry, withdrawn and excluded ones included."""
    quality: Quality = field(default_factory=Quality)
    """The quality of plates and rounds by the controls."""
    confirmation: Confirmation = field(default_factory=Confirmation)
    """How far what is in was confirmed by measurements of its own, once the campaign has ended."""
    noise: tuple[NoiseNow, ...] = ()
    """Of every endpoint whose noise is estimated in the campaign; ``endpoints`` have that estimate as theirs."""

    additivity: tuple[Deviations, ...] = ()
    """How far compounds deviate from the sum of effects, per measured endpoint that is modelled as one."""
    stock: StockView | None = None
    """Available compounds, costs and times; None without a list."""
    sets: tuple[tuple[int, int], ...] = ((0, 0),)
    """Compounds in and undecided before the first round, and after each up to the last closed one: as they are now."""

    @property
    def promise(self) -> str:
        """How sure the answer is, where ``statement`` does not include it."""
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
    def requested_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that decide, and of those that are measured for them."""
        return tuple(dict.fromkeys((*self.deciding_endpoints, *self.measured_endpoints)))

    @property
    def entered_endpoints(self) -> tuple[int, ...]:
        """Positions of the endpoints that values are entered for: all but the differences."""
        return tuple(k for k, endpoint in enumerate(self.endpoints) if endpoint.of is None)

    @property
    def asked_endpoint(self) -> Endpoint | None:
        """The only endpoint that the open round asks for; None where it asks for several, and without one."""
        asked = () if self.open_round is None else self.open_round.endpoints
        return self.endpoints[asked[0]] if len(asked) == 1 else None

    @property
    def value_columns(self) -> list[str]:
        """The columns of a work list that are filled in: Value with one endpoint, else one for each measured."""
        entered = self.entered_endpoints
        return ["Value"] if len(entered) == 1 else [self.endpoints[k].name for k in entered]
