"""What all decided phases say together under changed terms, and how the log keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assaypilot.engine.arrays import Flags
from assaypilot.engine.campaign import limits
from assaypilot.engine.campaign.file import codec, parts
from assaypilot.engine.campaign.noise import later, scatter
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.strategies.anew import anew
from assaypilot.engine.strategies.derived import Phase
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, Decision

__all__ = ["as_it_is", "derive", "kept", "rules", "verdicts"]


def rules(ledger: Ledger) -> int:
    """By which rules the log keeps what is decided anew now (``Anew.rules``): 2 where that makes a difference.

    What makes none is kept as it always was, so that older programs read it.
    """
    if scatter.estimated(ledger) and len(ledger.goal_endpoints) > 1:
        return 2
    noise = {_foreseen(ledger, number) for number in range(1, len(ledger.phases) + 1)}
    state = ledger.strategy.adjust(ledger.fresh(), measurable=ledger.measurable(), spent=0)
    away = bool((state.status == NOT_ESTIMABLE).any())
    return 2 if away or len(noise | {ledger.endpoints[ledger.objective].noise_sd}) > 1 else 1


def derive(ledger: Ledger, upto: int, measurable: Flags, spent: int, by_rules: int = 1) -> Decision | None:
    """The decision of the phases up to one under the terms as they are; None where none keeps the promise.

    ``measurable`` and ``spent``: what could be had, and was measured, when the terms were changed; ``by_rules``: as
    ``rules`` says.
    """
    state = ledger.strategy.adjust(ledger.fresh(), measurable=measurable, spent=spent)
    state = scatter.to_decide(ledger, state, upto)
    phases, plain = [], later.given_after(ledger, ledger.turns)
    for number in range(1, upto + 1):
        decided, before = ledger.phases[number - 1], ledger.estimates[number]
        outcome = ledger.outcome(number, decided.allocation, before.spent)
        known = ledger.since < number
        leader, expected = _of_walks(ledger, number)
        own = (decided.active, decided.lost, known, decided.measurable, decided.revised)
        then: tuple[float | None, tuple[float, ...] | None] = (None, None)
        if by_rules > 1:
            then = (_foreseen(ledger, number), scatter.to_decide(ledger, state, number).problem.noise)
        phases.append(Phase(outcome, *own, leader, expected, number > plain, *then, named=_named(ledger, number)))
    decision = scatter.decided(state, anew(ledger.strategy, state, phases))
    return None if decision is None else replace(decision, numbers=_numbers(ledger, upto))


def _foreseen(ledger: Ledger, number: int) -> float | None:
    """The noise SD of the objective that a phase was planned by: that before the first change since."""
    since = (turn for turn in ledger.turns if turn.how in ("kept", "void") and turn.after >= number)
    first = next(since, None)
    endpoints = ledger.endpoints if first is None else first.was["endpoints"]
    told: float | None = endpoints[ledger.objective].noise_sd
    return told


def _named(ledger: Ledger, number: int) -> dict[str, NDArray[Any]] | None:
    """Whom ``adaptive`` had named before a phase about trade-offs, and since when; None for all else.

    Of compounds that came later nobody was.
    """
    from assaypilot.engine.strategies.adaptive.fronts import NOBODY

    memory = ledger.estimates[number].memory
    if "beaters" not in memory:
        return None
    more = ledger.n_arms - memory["beaters"].shape[1]
    return {
        name: np.pad(memory[name], ((0, 0), (0, more)), constant_values=filled)
        for name, filled in (("beaters", NOBODY), ("since", 0))
    }


def _of_walks(ledger: Ledger, number: int) -> tuple[int | None, int | None]:
    """Whom a phase of ``adaptive`` compared with (None about trade-offs), and when it expected the end.

    None for other strategies.
    """
    memory = ledger.estimates[number].memory
    if "expected" not in memory or not {"leaders", "beaters"} & set(memory):
        return None, None
    expected = int(memory["expected"][0])
    if "leaders" not in memory:
        return None, expected
    before = ledger.estimates[number - 1].memory if number > 1 else {}
    leaders, earlier = memory["leaders"], before.get("leaders", ())
    leader = int(leaders[-1]) if len(leaders) > len(earlier) else -1
    return None if leader < 0 else leader, expected


def as_it_is(ledger: Ledger) -> Decision:
    """The decisions so far as one, for strategies that cannot derive them anew."""
    state, phase = ledger.current(), len(ledger.phases)
    bounded = np.isfinite(state.high)
    return Decision(
        phase=phase,
        radius=np.inf,
        ins=np.flatnonzero(state.status == IN),
        outs=np.flatnonzero(state.status == OUT),
        left=np.flatnonzero(state.left),
        estimate=np.full_like(state.low, np.nan) if state.last is None else state.last.estimate,
        low=np.where(bounded, state.low, np.nan),
        high=np.where(bounded, state.high, np.nan),
        contradicted=np.zeros(0, dtype=np.intp),
        spent=state.spent,
        numbers=_numbers(ledger, phase),
        memory=state.memory,
    )


def _numbers(ledger: Ledger, phase: int) -> dict[str, float]:
    """What the last phase noted, which strategies plan the next one by."""
    return dict(ledger.estimates[phase].numbers)


def verdicts(ledger: Ledger, upto: int) -> list[limits.Verdict]:
    """What each phase up to one says about the limits as they are; empty without limits."""
    said: list[limits.Verdict] = []
    for phase in range(1, upto + 1):
        verdict = limits.decide(ledger, phase, said)
        if verdict is not None:
            said.append(verdict)
    return said


def kept(
    ledger: Ledger, decision: Decision, said: Sequence[limits.Verdict], by_rules: int = 1
) -> tuple[dict[str, Any], list[bytes]]:
    """Decision and verdicts as the log keeps them: as JSON, and the parts with their numbers."""
    names = [ledger.library.ids[compound] for compound in ledger.first]
    data: dict[str, Any] = {
        "decision": codec.decision_to_json(decision, names),
        "limits": [limits.to_json(ledger, verdict, names) for verdict in said],
    }
    noise = scatter.spreads(ledger, decision.phase)
    if noise:
        data["decision"]["noise"] = scatter.to_json(ledger, noise)
    if by_rules > 1:
        data["rules"] = by_rules
    nothing = np.zeros((0, ledger.n_arms))
    blobs = [parts.to_bytes(parts.Numbers.of(decision, {}))]
    blobs += [parts.to_bytes(parts.Numbers(nothing, nothing, nothing, limits=one.arrays)) for one in said]
    return data, blobs
