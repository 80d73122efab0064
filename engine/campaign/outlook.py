"""What a campaign will take, known before anything is measured.

The window imports this on its own thread, so what takes long to load (scipy above all) is loaded where it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..domain.endpoint import Endpoint
from ..domain.library import Library
from ..domain.measurements import Result
from ..system.progress import Report, silent
from .phrases import joined, many
from .state import Settings

if TYPE_CHECKING:
    from ..strategies.protocol import Allocation
    from .replay import Ledger

__all__ = ["Outlook", "Plan", "draft", "look_ahead"]

MOST_PHASES = 12
"""Phases looked at; the radius halves from one to the next, so the later ones are beyond any budget."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A campaign as it would be created, without its file."""

    ledger: Ledger
    sentence: str
    """The goal as every page will show it."""
    cautions: tuple[str, ...]
    """What to beware of in these settings."""


@dataclass(frozen=True, slots=True)
class Outlook:
    """Figures of a campaign before its first measurement."""

    compounds: int
    rank: int
    """What the library can tell apart of the model's unknowns."""
    unknowns: int
    first: int
    """Measurements to the first decision, of all endpoints together."""
    endpoints: tuple[str, ...]
    """Names, on the scale of estimates, of all that is measured of every compound picked."""
    known_to: tuple[tuple[str, float], ...]
    """What is then known, and its half-width on the model scale; empty when nobody can say beforehand."""
    largest: int | None
    """Measurements of the last phase if nothing could be left out; None when it is not known which is the last."""
    phases: int | None
    """Decisions at most; None when it is not known."""
    open_end: str
    """Why there may be no end at all; empty when there is one."""
    rounds: int
    """Rounds the first decision takes."""
    void: tuple[str, ...]
    """Why no error probability is promised; empty when one is."""

    def lines(self, budget: int | None) -> list[tuple[str, str]]:
        """Captions and values as the wizard shows them."""
        told = f"{self.rank} of {self.unknowns}" if self.rank < self.unknowns else f"all {self.unknowns}"
        rows = [
            ("Library", f"{many(self.compounds, 'compound')}; {told} unknowns can be told apart"),
            ("First decision", self._first()),
        ]
        if self.open_end:
            rows.append(("At most", f"not known: {self.open_end}"))
        elif self.largest is None or self.phases is None:
            words = "it depends on how close together the compounds are; what to expect is simulated below"
            rows.append(("In all", words))
        elif self.phases > 1:
            rows.append(
                (
                    "At most",
                    f"{self.phases} decisions; the last takes up to {self.largest:,} measurements. "
                    "Usually far fewer, because compounds that are out need no more.",
                )
            )
        else:
            rows.append(("At most", "that one decision settles every compound"))
        if budget is not None:
            enough = budget >= self.first
            words = "reaches the first decision" if enough else "does not reach the first decision as it should be"
            rows.append(("Budget", f"{budget:,} {words}"))
        if self.void:
            rows.append(("Guarantee", f"none: {'; '.join(self.void)}"))
        return rows

    def _first(self) -> str:
        """When the first decision comes, and how well what is then known."""
        text = f"after {self.first:,} measurements"
        if len(self.endpoints) > 1:
            text += f" ({self.first // len(self.endpoints):,} each of {joined(list(self.endpoints))})"
        text += f" in {many(self.rounds, 'round')}"
        if not self.known_to:
            return text
        widths = {f"{half:.2g}" for _, half in self.known_to}
        if len(widths) == 1 and len(self.known_to) > 1:
            return f"{text}, all of them then known to ±\u00a0{widths.pop()}"
        each = [f"{name} then known to ±\u00a0{half:.2g}" for name, half in self.known_to]
        return f"{text}, {joined(each)}"


def draft(library: Library, endpoints: Sequence[Endpoint], settings: Settings, history: Sequence[Result] = ()) -> Plan:
    """The campaign these would make; AssayPilotError as the campaign itself would refuse them."""
    from .creation import creation_drafts
    from .events.fold import rehearse
    from .promises import goal_sentence
    from .replay import Ledger

    drafts, parts = creation_drafts("new", library, endpoints, settings, history, None, None, ())
    ledger = Ledger(parts.__getitem__)
    rehearse(ledger, drafts)
    return Plan(ledger, goal_sentence(ledger), ledger.warnings)


def look_ahead(plan: Plan, report: Report = silent) -> Outlook:
    """What the strategy says of its phases; AssayPilotError when it cannot plan the first."""
    from ..domain.features import span_rank
    from .noise import latest, to_plan

    ledger = plan.ledger
    settings, strategy = ledger.settings, ledger.strategy
    state = to_plan(ledger, latest(ledger, ledger.spreads), ledger.state)
    report(0.1, "Planning the first phase")
    first = strategy.ask(state, report)
    last, largest, phases = first, first.total, 1
    halving = strategy.info.name in _HALVING and _ends(ledger) is not None
    while halving and phases < MOST_PHASES and not _ended(ledger, last):
        report(0.2 + 0.7 * phases / MOST_PHASES, f"Planning phase {phases + 1}")
        last = strategy.ask(replace(state, phase=phases), report)
        phases, largest = phases + 1, max(largest, last.total)
    known = halving and _ended(ledger, last)
    per = ledger.per_sample
    return Outlook(
        compounds=len(ledger.library),
        rank=span_rank(ledger.features),
        unknowns=int(ledger.features.full_rank),
        first=first.total * per,
        endpoints=tuple(ledger.endpoints[k].scale_name for k in ledger.measured),
        known_to=_known_to(ledger, first),
        largest=largest * per if known else None,
        phases=phases if known else None,
        open_end=_open_end(ledger),
        rounds=_rounds(
            first.total, max(1, settings.per_round // per), int(first.counts.max()), settings.max_replicates
        ),
        void=strategy.void(state.problem),
    )


_HALVING = ("linfact-g", "linfact-glm", "gege")
"""Strategies whose phases bound every mean, twice as narrow from one to the next."""


def _ends(ledger: Ledger) -> float | None:
    """The radius at which everything is decided at the latest; None when there is none.

    LinFACT-G is done when four radii fit into the soft zone, GEGE when they fit into the differences that do not matter
    (its radius is in units of these).
    """
    if ledger.settings.goal == "pareto":
        return 0.25 if any(ledger.margins) else None
    return ledger.settings.softness / 4.0 if ledger.settings.softness > 0 else None


def _ended(ledger: Ledger, allocation: Allocation) -> bool:
    end = _ends(ledger)
    return end is not None and allocation.radius <= end * (1 + 1e-9)


def _open_end(ledger: Ledger) -> str:
    """Why some compounds may never be settled; empty when all are."""
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


def _known_to(ledger: Ledger, first: Allocation) -> tuple[tuple[str, float], ...]:
    """What the first phase tells, as far as its radius says so."""
    name = ledger.strategy.info.name
    if name in ("linfact-g", "linfact-glm"):
        return ((f"every {ledger.endpoints[ledger.objective].scale_name}", first.radius),)
    if name != "gege":
        return ()
    units = ledger.margins if any(ledger.margins) else ledger.state.problem.noise
    return tuple(
        (ledger.endpoints[k].scale_name, first.radius * unit)
        for k, unit in zip(ledger.goal_endpoints, units, strict=True)
    )


def _rounds(total: int, per_round: int, most: int, replicates: int) -> int:
    """Rounds a phase needs: by what fits in one, and by how often one compound is measured in one."""
    return max(-(-total // per_round), -(-most // replicates))
