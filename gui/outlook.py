"""What a campaign will take, asked of the strategy before anything is measured."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures, merge_equal_rows, span_basis
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.library import Library
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.protocol import Capacity, Problem
from assaypilot.engine.strategies.registry import check_parameters, choose

__all__ = ["Outlook", "look_ahead"]

MOST_PHASES = 12
"""Phases looked at; the radius halves from one to the next, so the later ones are beyond any budget."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Figures of a campaign before its first measurement."""

    compounds: int
    rank: int
    """What the library can tell apart of the model's unknowns."""
    unknowns: int
    first: int
    """Measurements to the first decision."""
    first_radius: float
    """Half-width of every estimate then, model scale."""
    largest: int | None
    """Measurements of the last phase if nothing could be left out; None without a soft zone, where none is last."""
    phases: int | None
    """Decisions at most; None without a soft zone."""
    rounds: int
    """Rounds the first decision takes."""

    def lines(self, settings: Settings, scale: str) -> list[tuple[str, str]]:
        """Captions and values as the wizard shows them."""
        told = f"{self.rank} of {self.unknowns}" if self.rank < self.unknowns else f"all {self.unknowns}"
        rows = [
            ("Library", f"{self.compounds:,} compounds; {told} unknowns can be told apart"),
            (
                "First decision",
                f"after {self.first:,} measurements in {self.rounds:,} round{'' if self.rounds == 1 else 's'}, "
                f"every {scale} then known to ±\u00a0{self.first_radius:.2g}",
            ),
        ]
        if self.largest is not None and self.phases is not None:
            if self.phases > 1:
                rows.append(
                    (
                        "At most",
                        f"{self.phases} decisions; the last takes up to {self.largest:,} measurements. "
                        "Usually far fewer, because compounds that are out need no more.",
                    )
                )
            else:
                rows.append(("At most", "that one decision settles every compound"))
        else:
            rows.append(("At most", "not known: without a soft zone a compound right at the cutoff is never settled"))
        if settings.budget is not None:
            enough = settings.budget >= self.first
            words = "reaches the first decision" if enough else "does not reach the first decision as it should be"
            rows.append(("Budget", f"{settings.budget:,} {words}"))
        return rows


def look_ahead(library: Library, noise_sd: float, settings: Settings, report: Report = silent) -> Outlook:
    """The figures; AssayPilotError as the campaign itself would refuse its settings or library."""
    if len(library) < 2:
        raise AssayPilotError("a campaign needs at least two compounds", mend="Add compounds to the table.")
    strategy, _ = choose(settings.strategy, settings.goal)
    whole = SiteFeatures.of(library)
    first, _ = merge_equal_rows(library.codes)
    features = SiteFeatures(library.codes[first], tuple(len(site.substituents) for site in library.sites))
    problem = Problem(
        features=features,
        measurable=np.ones(features.n_rows, dtype=bool),
        wanted=np.ones(features.n_rows, dtype=bool),
        goal=AllEpsilonBest(settings.distance, settings.softness),
        delta=settings.delta,
        noise=(noise_sd,),
        parameters=check_parameters(strategy, settings.parameters),
        seed=settings.seed,
        capacity=Capacity(settings.per_round, settings.max_replicates, None),
    )
    state = strategy.start(problem)
    report(0.2, "Planning the first phase")
    allocation = strategy.ask(state, report)
    start = allocation
    phases, largest = 1, allocation.total
    while settings.softness > 0 and phases < MOST_PHASES and 4 * allocation.radius > settings.softness * (1 + 1e-9):
        report(0.2 + 0.7 * phases / MOST_PHASES, f"Planning phase {phases + 1}")
        allocation = strategy.ask(replace(state, phase=phases), report)
        phases, largest = phases + 1, max(largest, allocation.total)
    ended = settings.softness > 0 and 4 * allocation.radius <= settings.softness * (1 + 1e-9)
    return Outlook(
        compounds=len(library),
        rank=int(span_basis(whole).shape[1]),
        unknowns=int(whole.full_rank),
        first=start.total,
        first_radius=start.radius,
        largest=largest if ended else None,
        phases=phases if ended else None,
        rounds=_rounds(start.total, settings.per_round, int(start.counts.max()), settings.max_replicates),
    )


def _rounds(total: int, per_round: int, most: int, replicates: int) -> int:
    """Rounds a phase needs: by what fits in one, and by how often one compound is measured in one."""
    return max(-(-total // per_round), -(-most // replicates))
