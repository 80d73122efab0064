"""Phases for a limit that came after results: whether those that are in keep to it, when the goal asks nothing more.

Phases before the limit measured nothing of it, or were planned for a goal without it; where the goal is decided none
would follow. So further phases are planned for those in of which no phase has proven that they fail or keep to it.
They are phases like all others: fixed before their measurements, with their own share of the limit's error, and what
they say of the goal is taken in. Each measures what should tell most of those compounds their side of the limit; the
farther one is from it by the estimate the less that takes. A compound that would take more than some rounds alone is
too close to tell, and stays as it is: in, and said to be able to fail.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.campaign import limits
from assaypilot.engine.campaign.stock import stocked
from assaypilot.engine.features import outside_span
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.designs import table
from assaypilot.engine.strategies.protocol import IN, Allocation, Problem, State

if TYPE_CHECKING:
    from assaypilot.engine.campaign.decisions import Decisions
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["Open", "came_late", "may_follow", "next_phase", "open_now"]

_ROUNDS = 8
"""A compound that takes more rounds of its own measurements than this is too close to the limit to tell."""
_ROOM = 1.5
"""Times the measurements that make a half-width what an estimate is from its limit: most are then told."""
_GAP = 0.05
"""How far a phase's design may be from optimal."""


class Open(NamedTuple):
    """Compounds whose side of a limit is open and can be told, and how well each has to be known."""

    arms: Ints
    precision: Floats
    """``(m,)``, one over the standard error of its mean, in SDs of the noise, that should tell it; 0: not known yet."""
    alone: Ints
    """``(m,)``, about how many measurements that takes of each alone."""


def came_late(ledger: Decisions) -> tuple[int, ...]:
    """The endpoints with a limit, by position, whose limit came, or moved, after results were seen."""
    names = {
        change["endpoint"]
        for turn in ledger.turns
        if turn.how in ("kept", "void")
        for change in turn.changes
        if (change["what"] == "limit" and change["after"] is not None)
        or (change["what"] == "endpoint" and change["after"].get("limit") is not None)
    }
    return tuple(k for k in ledger.limited if ledger.endpoints[k].name in names)


def may_follow(ledger: Decisions) -> bool:
    """Whether phases for limits follow when the goal is decided: one came late, and the strategy can decide them."""
    planned = ledger.settings.parameters.get("decide") == "planned"
    return bool(came_late(ledger)) and ledger.strategy.info.any_plan and not planned


def open_now(ledger: Decisions, state: State) -> Open | None:
    """Whom a further phase would be planned for; None where none is left, or none may follow."""
    if not may_follow(ledger):
        return None
    late = came_late(ledger)
    capacity = state.problem.capacity
    if capacity is None or (capacity.budget is not None and capacity.budget <= state.spent):
        return None
    arms = np.flatnonzero((state.status == IN) & (limits.failures(ledger, ledger.verdicts)[0] < 0))
    measurable = np.flatnonzero(state.problem.measurable)
    if not len(arms) or not len(measurable):
        return None
    around = table(ledger.features, measurable)
    arms = arms[~outside_span(ledger.features, around.basis, arms)]
    found = [_of_limit(ledger, state, k, arms, around.rank) for k in late]
    arms, precision, alone = (np.concatenate(part) for part in zip(*found, strict=True))
    told = alone <= _ROUNDS * capacity.per_round
    return Open(arms[told], precision[told], alone[told]) if told.any() else None


def _of_limit(ledger: Decisions, state: State, position: int, arms: Ints, rank: int) -> Open:
    """Those of the arms that no phase has proven to keep to a limit."""
    from assaypilot.engine.campaign.candidates import posterior_of

    row, endpoint = ledger.limited.index(position), ledger.endpoints[position]
    arms = arms[~limits.keeping(ledger, ledger.verdicts)[row, arms]]
    view = posterior_of(cast("Ledger", ledger), position)
    if view is None or not len(arms):
        return Open(arms, np.zeros(len(arms)), np.ones(len(arms), dtype=np.intp))
    means, width = view.means(arms), limits.width_of(ledger, len(ledger.phases) + 1)
    apart = np.minimum(np.abs(means - endpoint.lowest), np.abs(means - endpoint.highest))
    # By as much as the estimate may be off it may lie farther away.
    precision = width * (endpoint.noise_sd or 1.0) / (apart + view.sds(arms))
    # Of one that cannot be measured itself others tell: with an even design of so many for each effect.
    each = np.where(state.problem.measurable[arms], 1, rank)
    alone = np.minimum(np.ceil(_ROOM * each * precision**2), 2.0**40).astype(np.intp)
    return Open(arms, precision, alone)


def next_phase(ledger: Decisions, state: State, report: Report = silent) -> Allocation | None:
    """The phase that tells most of them their side; None while the goal asks for one, or none is left to be told."""
    found = open_now(ledger, state) if ledger.goal_stop(state) else None
    if found is None:
        return None
    from assaypilot.engine.design import Rows
    from assaypilot.engine.strategies.adaptive.planning import CAREFUL, Draft

    problem, capacity = _at_hand(ledger, state, found.arms), state.problem.capacity
    assert capacity is not None
    order = np.argsort(found.alone, kind="stable")
    # As many as so many rounds of their own measurements take, those that take least first.
    kept = order[: max(1, int((np.cumsum(found.alone[order]) <= _ROUNDS * capacity.per_round).sum()))]
    known = found.precision[kept] > 0
    scale = np.where(known, found.precision[kept], found.precision[kept].max(initial=0.0) or 1.0)
    candidates = table(problem.features, np.flatnonzero(problem.measurable))
    directions = Rows(problem.features.dense(found.arms[kept]) @ candidates.basis * scale[:, None])
    design = CAREFUL.design(candidates, directions, gap=_GAP, report=report)
    most, size = _ROUNDS * capacity.per_round, capacity.per_round
    if known.all():
        size = math.ceil(_ROOM * design.value)
    if capacity.budget is not None:
        most = min(most, capacity.budget - state.spent)
    # A pair of replicates for noise that is not known is none of its business.
    bare = replace(state, problem=replace(problem, repeats=0))
    draft, size = Draft(bare, candidates, design, directions, report), max(min(size, most), 1)
    return draft.issued("xy", *draft.telling(size, most if known.all() else size, 1.0 / _ROOM))


def _at_hand(ledger: Decisions, state: State, arms: Ints) -> Problem:
    """The problem with what is in stock alone, where that tells of all these."""
    problem = state.problem
    if ledger.stock is None:
        return problem
    ready: Flags = stocked.of_arms(ledger)[0] & problem.measurable
    if (
        not ready.any()
        or outside_span(ledger.features, table(ledger.features, np.flatnonzero(ready)).basis, arms).any()
    ):
        return problem
    return replace(problem, measurable=ready)
