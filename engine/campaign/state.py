"""What a campaign is at one moment: values to read, none of them writable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import GOALS, AllEpsilonBest
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Measurement
from assaypilot.engine.strategies.protocol import check_delta

__all__ = [
    "STATUSES",
    "Candidates",
    "Guarantee",
    "PhasePlan",
    "RecordReport",
    "Round",
    "RoundItem",
    "Settings",
    "Source",
    "Status",
]

STATUSES = ("undecided", "in", "out", "not estimable")
"""The words for a compound's status, by code (the codes of the strategies)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is wanted, and what the lab can do."""

    objective: str
    """Name of the endpoint the goal is about."""
    epsilon: float
    """Distance from the best that still counts, model scale."""
    slack: float | None = None
    """Softness of the cutoff, model scale; None means half of epsilon."""
    delta: float = 0.05
    """1 - confidence."""
    goal: str = "epsilon-best"
    strategy: str = "auto"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    per_round: int = 96
    """Measurements the lab takes in one round."""
    max_replicates: int = 4
    """Measurements of one compound in one round."""
    budget: int | None = None
    """Measurements in all; None without a limit."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.goal not in GOALS:
            raise AssayPilotError(
                f"there is no goal {self.goal!r}", option="--goal", mend=f"Choose one of: {', '.join(GOALS)}."
            )
        if self.slack is None:
            object.__setattr__(self, "slack", self.epsilon / 2.0)
        AllEpsilonBest(self.epsilon, self.softness)
        check_delta(self.delta)
        for option, name, value in (
            ("--per-round", "measurements per round", self.per_round),
            ("--max-replicates", "measurements of one compound in a round", self.max_replicates),
            ("--budget", "the budget", self.budget),
        ):
            if value is not None and value < 1:
                raise AssayPilotError(f"{name} must be 1 or more, got {value}", option=option)

    @property
    def softness(self) -> float:
        """The slack as a number."""
        return self.epsilon / 2.0 if self.slack is None else self.slack


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
    reason: str
    """Why it was picked, in a few words."""
    expected: float | None
    """Posterior mean when the round was issued, model scale; None before any measurement."""
    low: float | None
    """2.5 % point of the posterior of its mean."""
    high: float | None
    """97.5 % point."""


@dataclass(frozen=True, slots=True)
class Round:
    """What the lab does at once: a fixed, ranked list."""

    number: int
    """From 1; the number of a withdrawn round is not used again."""
    phase: int
    items: tuple[RoundItem, ...]
    state: Literal["open", "closed", "withdrawn"]
    issued: str
    """UTC time."""
    closed: str | None
    returned: tuple[int, ...]
    """Results that have come back for each item, at most its replicates (results above that are unplanned)."""

    @property
    def measurements(self) -> int:
        """Measurements asked for."""
        return sum(item.replicates for item in self.items)

    @property
    def missing(self) -> int:
        """Measurements still to come."""
        return self.measurements - sum(self.returned)


@dataclass(frozen=True, slots=True)
class PhasePlan:
    """The strategy's step that rounds are cut from."""

    phase: int
    total: int
    """Measurements the phase asks for."""
    outstanding: int
    """Measurements of it that are not in yet, issued or not."""
    radius: float
    criterion: str
    value: float
    lower_bound: float


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


@dataclass(frozen=True, eq=False)
class Candidates:
    """One entry per compound, in library order; all numbers on the objective's model scale, NaN when unknown."""

    status: NDArray[np.int8]
    """Index into STATUSES."""
    decided_in_round: NDArray[np.intp]
    """0 where nothing is decided."""
    estimate: NDArray[np.float64]
    """Least squares over everything measured and usable, history included."""
    low: NDArray[np.float64]
    """Deciding bound of the last decided phase that bounded the compound."""
    high: NDArray[np.float64]
    probability_within_epsilon: NDArray[np.float64]
    """Posterior probability of being within epsilon of the best; informs, never decides."""
    probability_within_slack: NDArray[np.float64]
    """The same for epsilon + slack."""
    measured: NDArray[np.intp]
    """Usable determinations, history included."""
    censored: NDArray[np.intp]
    """Determinations kept and shown but not used, because only a bound is known."""
    made: NDArray[np.bool_]
    """Whether anything was ever measured on it."""
    posterior_low: NDArray[np.float64]
    """2.5 % point of the posterior of the compound's mean."""
    posterior_high: NDArray[np.float64]
    estimates: Mapping[str, NDArray[np.float64]]
    """Estimates of every endpoint, by name."""
    cutoff: float
    """Best estimate minus (for a minimum: plus) epsilon; NaN before any estimate."""
    soft_cutoff: float
    """The same with the slack."""


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


@dataclass(frozen=True, eq=False)
class Status:
    """Everything a page or a report shows, at one head of the log."""

    name: str
    library: Library
    endpoints: tuple[Endpoint, ...]
    objective: int
    """Position of the objective among the endpoints."""
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
    """Determinations of the objective in this campaign that count against the budget (history does not)."""
    unavailable: frozenset[int]
    """Compounds that cannot be had."""
    candidates: Candidates
    counts: Mapping[str, int]
    """Compounds by status: in, out, undecided, not_estimable."""
    finished: bool
    finish_reason: str | None
    """Why nothing more is asked; None while something is."""
    goal_sentence: str
    """``All compounds within 0.5 of the best pIC50, cutoff soft by 0.25, 95 % sure``."""
    statement: str
    """What is known now, in a sentence."""
    guarantee: Guarantee
    warnings: tuple[str, ...]
    head: str
    events: int
