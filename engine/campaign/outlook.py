"""The needs of a campaign that are known before anything is measured.

The window imports this on its own thread, so what takes long to load (scipy above all) is loaded where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..system.progress import Report, silent
from ..text import joined, many
from .settings import Settings

if TYPE_CHECKING:
    from .replay import Ledger


@dataclass(frozen=True, eq=False)
class Plan:
    """A campaign as it would be created, without its file."""

    ledger: Ledger
    sentence: str
    """The goal as every page will show it."""
    cautions: tuple[str, ...]
    """Cautions about these settings."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Figures of a campaign before its first measurement."""

    rank: int
    """Which of the model's unknowns the library can separate."""
    unknowns: int
    first: int
    """Measurements to the first decision, of all endpoints together."""
    endpoints: tuple[str, ...]
    """Names, on the scale of estimates, of all that is measured of every compound picked."""
    open_end: str
    """Why there may be no end at all; empty when there is one."""
    rounds: int
    """Rounds the first decision takes."""
    void: tuple[str, ...]
    """Why no error probability is promised; empty when one is."""
    calibrated: bool
    """Whether the series model answers, which every result moves; else a proof, which decides in phases."""

    def lines(self, budget: int | None) -> list[tuple[str, str]]:
        """Return the captions and values as a new campaign shows them."""
        few = self.rank < self.unknowns
        rows = [("Effects", f"{self.rank} of {self.unknowns} can be estimated")] if few else []
        if self.calibrated:
            return [*rows, ("First round", f"{self.first:,} measurements{self._of_each()}")]
        rows.append(("First decision", self._first()))
        if self.open_end:
            rows.append(("At most", f"not known: {self.open_end}"))
        if budget is not None:
            enough = budget >= self.first
            words = "reaches the first decision" if enough else "does not reach the first decision as it should be"
            rows.append(("Budget", f"{budget:,} {words}"))
        if self.void:
            rows.append(("Guarantee", f"none: {'; '.join(self.void)}"))
        return rows

    def _first(self) -> str:
        """When the first decision comes."""
        return f"after {self.first:,} measurements{self._of_each()} in {many(self.rounds, 'round')}"

    def _of_each(self) -> str:
        """Return how many are of each endpoint; empty for one."""
        if len(self.endpoints) < 2:
            return ""
        return f" ({self.first // len(self.endpoints):,} each of {joined(list(self.endpoints))})"


def draft(library: Library, endpoints: Sequence[Endpoint], settings: Settings, history: Sequence[Result] = ()) -> Plan:
    """Return the campaign these would make; AssayPilotError as the campaign itself would refuse them."""
    from .creation import creation
    from .promises import goal_sentence

    ledger = creation("new", library, endpoints, settings, history, None, None, ()).ledger
    return Plan(ledger, goal_sentence(ledger), ledger.warnings)


def look_ahead(plan: Plan, report: Report = silent) -> Outlook:
    """Return the strategy's outlook on its phases; AssayPilotError when it cannot plan the first."""
    from ..domain.features import span_rank
    from .noise import known, to_plan

    ledger = plan.ledger
    settings, strategy = ledger.settings, ledger.strategy
    state = to_plan(ledger, known(ledger), ledger.state)
    report(0.1, "Planning the first phase")
    first = strategy.ask(state, report)
    per = ledger.per_sample
    return Outlook(
        rank=span_rank(ledger.features),
        unknowns=int(ledger.features.full_rank),
        first=first.total * per,
        endpoints=tuple(ledger.endpoints[k].scale_name for k in ledger.measured),
        open_end=_open_end(ledger),
        rounds=_rounds(
            first.total, max(1, settings.per_round // per), int(first.counts.max()), settings.max_replicates
        ),
        void=strategy.void(state.problem),
        calibrated=ledger.calibrated,
    )


def _open_end(ledger: Ledger) -> str:
    """Return why some compounds may never be settled; empty when all are."""
    from .noise import estimated

    settings = ledger.settings
    if estimated(ledger):
        return "it depends on what replicates say of the assay noise"
    if settings.goal == "pareto" and not any(ledger.margins):
        return "without a difference that does not matter, compounds that are almost equal are never settled"
    if settings.goal != "pareto" and not settings.softness:
        return (
            "without a soft zone a compound right at the cutoff is never settled"
            if settings.goal == "epsilon-best"
            else "without a soft zone two compounds that are almost equally good are never settled"
        )
    return ""


def _rounds(total: int, per_round: int, most: int, replicates: int) -> int:
    """Return rounds a phase needs: by what fits in one, and by how often one compound is measured in one."""
    return max(-(-total // per_round), -(-most // replicates))
