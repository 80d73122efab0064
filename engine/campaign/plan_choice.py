"""The plans to choose from for the next phase: what each costs, how long it waits, how informative it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..domain.stock import PLANS, USUAL, PlanName
from ..errors import AssayPilotError
from ..strategies.protocol import Allocation, State
from ..strategies.registry import named_by
from ..system.progress import Report, silent
from . import stocked
from .replay import Ledger
from .state import Status

if TYPE_CHECKING:
    from ..strategies.choosing import Planned, Plans


@dataclass(frozen=True, slots=True)
class PlanOption:
    """One of the three plans."""

    name: PlanName
    usual: bool
    """Whether it is the one that is issued when none is named."""
    compounds: tuple[tuple[int, int], ...]
    """(compound, measurements of each endpoint), in library order."""
    measurements: int
    """Of all endpoints together."""
    now: int
    """Of these, those of compounds that are at hand."""
    to_make: tuple[int, ...]
    """The compounds that have to be made."""
    making: float
    """Cost of making them; an unknown cost counts as the usual one."""
    unknown: int
    """How many of them have no known cost."""
    cost: float
    """With the measurements."""
    wait: float
    """Days until the last compound is there; 0 when all are. An unknown time counts as the usual one."""
    wait_unknown: int
    """How many of those to be made have no known time."""
    value: float
    """The largest variance of what the phase is for, over sigma^2, times its measurements."""
    best: float
    """A proven lower bound of that over all phases."""
    loss: float
    """How many times the measurements of the best possible the same precision takes, at least 1."""
    to_end: int | None = None
    """Measurements to the end, this phase included; None before a forecast (``foreseen``)."""
    rounds_to_end: int | None = None
    days_to_end: float | None = None
    """With the wait for this phase's compounds; a later phase may wait again."""


def may_choose(ledger: Ledger) -> bool:
    """Return whether there is a choice: something has to be made, and the strategy leaves open what is measured."""
    if ledger.stock is None or not ledger.strategy.info.any_plan or _rest(ledger):
        return False
    ready, _, chosen = stocked.of_arms(ledger)
    return bool((~ready[chosen >= 0]).any())


def _rest(ledger: Ledger) -> bool:
    """Return whether the budget leaves less than a whole phase: the rest goes where it decides most, at any cost."""
    if ledger.settings.budget is None:
        return False
    from ..strategies.adaptive.planning import left_of

    return left_of(ledger.current()) is not None


def choice_is_open(ledger: Ledger) -> bool:
    """Return whether the next thing planned is a phase, and there is a choice of it."""
    if ledger.open_round is not None or not may_choose(ledger):
        return False
    under_way = ledger.under_way
    if under_way is not None and (under_way.lost or ledger.received(under_way.allocation.phase)):
        return False
    return not ledger.strategy.stop(ledger.current())


def options(ledger: Ledger, report: Report = silent) -> tuple[PlanOption, ...]:
    """Return the three plans for the next phase, the cheapest first; none when nothing is left to measure.

    AssayPilotError while a phase is under way that has results or an open round, and where there is no choice.
    """
    _refuse_choice(ledger, "--options")
    refuse_under_way(ledger)
    state = ledger.current()
    if ledger.strategy.stop(state):
        return ()
    if _rest(ledger):
        raise AssayPilotError(
            "what the budget leaves goes to the comparisons that it settles, so there is nothing to choose",
            option="--options",
            mend="Plan the round, or raise the budget.",
        )
    plans = _plans(ledger, state, report)
    return tuple(_option(ledger, plans.named(name)) for name in PLANS)


def _refuse_choice(ledger: Ledger, option: str) -> None:
    """Raise AssayPilotError where the stock is not known, or the strategy leaves no choice."""
    if ledger.stock is None:
        raise AssayPilotError(
            "nothing is known of stock or cost, so there is nothing to choose",
            option=option,
            mend="Say first what is in stock.",
        )
    if not ledger.strategy.info.any_plan:
        does = "chooses its rounds itself" if ledger.calibrated else "lays out its phases as a whole"
        raise AssayPilotError(
            f"{ledger.strategy.info.name} {does}, so there is nothing to choose",
            option=option,
            mend=f"These leave a choice: {named_by('any_plan')}.",
        )


def foreseen(plans: Sequence[PlanOption], now: Status, left: int) -> tuple[PlanOption, ...]:
    """Return the plans with what each takes to the end, given that a forecast has so many measurements ``left``.

    The forecast continues with the most informative phases of available compounds. A less informative plan needs more
    measurements by that factor, in this phase and about in those after it, which are chosen in the same way.
    """
    if now.stock is None:
        return tuple(plans)
    most = min((one.value for one in plans), default=math.inf)
    days = now.stock.terms.over(USUAL).round_days or 7.0
    found = []
    for one in plans:
        if not (math.isfinite(one.value) and most > 0):
            found.append(one)
            continue
        to_end = max(math.ceil(left * one.value / most), one.measurements)
        # What is at hand goes first, the rest in rounds of its own.
        rounds = max(math.ceil(to_end / now.settings.per_round), 1) + (0 < one.now < one.measurements)
        found.append(replace(one, to_end=to_end, rounds_to_end=rounds, days_to_end=one.wait + rounds * days))
    return tuple(found)


def planned_phase(
    ledger: Ledger, state: State, choice: PlanName | None, report: Report
) -> tuple[Allocation, dict[str, object] | None]:
    """Return the next phase, and the choice behind it as the log keeps it; None where there was none.

    ``choice`` None is the usual one of the settings; where nothing has to be made the strategy plans as usual.
    """
    if not may_choose(ledger):
        if choice is not None:
            _refuse_choice(ledger, "--choose")
        return ledger.strategy.ask(state, report).within_budget(state), None
    name = choice or usual(ledger)
    found = _plans(ledger, state, report).named(name)
    chosen = _option(ledger, found)
    return found.allocation, {
        "plan": name,
        "to_make": len(chosen.to_make),
        "making": chosen.making,
        "wait": chosen.wait,
        "loss": chosen.loss if math.isfinite(chosen.loss) else None,
    }


def usual(ledger: Ledger) -> PlanName:
    """Return the plan that is issued when none is named."""
    terms = ledger.stock.terms if ledger.stock is not None else USUAL
    return terms.plan or "balanced"


def refuse_under_way(ledger: Ledger) -> None:
    """Raise AssayPilotError while the phase under way cannot be planned again."""
    issued = ledger.open_round
    if issued is not None:
        raise AssayPilotError(
            f"round {issued.number} is open, and what was issued does not change",
            mend="Enter its results; or withdraw it while it has none.",
        )
    if ledger.under_way is None:
        return
    phase = ledger.under_way.allocation.phase
    if ledger.under_way.lost or ledger.received(phase):
        raise AssayPilotError(
            f"phase {phase} has results and is not finished",
            mend="Go on with assaypilot plan FILE; the next phase can be chosen again.",
        )


def _plans(ledger: Ledger, state: State, report: Report) -> Plans:
    from ..strategies.choosing import Costs, Plans  # with all designs; only where there is a choice

    ready, price, _ = stocked.of_arms(ledger)
    stock = ledger.stock
    each = (stock.terms.measurement_cost or 0.0) * ledger.per_sample if stock is not None else 0.0
    return Plans(ledger.strategy, state, Costs(ready, price, each, ledger.settings.max_replicates), report)


def _option(ledger: Ledger, planned: Planned) -> PlanOption:
    ready, price, chosen = stocked.of_arms(ledger)
    stock = ledger.stock
    assert stock is not None
    arms, counts = planned.allocation.arms, planned.allocation.counts
    dear = arms[~ready[arms]]
    made = chosen[dear]
    wait = float(stock.usual(stock.lead)[made].max()) if len(made) else 0.0
    making, each = float(price[dear].sum()), ledger.per_sample
    total = planned.allocation.total * each
    terms = stock.terms.over(USUAL)
    listed = sorted(zip(chosen[arms].tolist(), counts.tolist(), strict=True))
    return PlanOption(
        name=planned.name,
        usual=planned.name == usual(ledger),
        compounds=tuple(listed),
        measurements=total,
        now=int(counts[ready[arms]].sum()) * each,
        to_make=tuple(sorted(made.tolist())),
        making=making,
        unknown=int(np.isnan(stock.cost[made]).sum()),
        cost=making + (terms.measurement_cost or 0.0) * total,
        wait=wait,
        wait_unknown=int(np.isnan(stock.lead[made]).sum()),
        value=planned.value,
        best=planned.best,
        loss=planned.loss,
    )
