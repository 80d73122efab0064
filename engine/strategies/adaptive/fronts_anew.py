"""``adaptive``'s decisions about trade-offs derived anew, when terms were changed, or compounds added, after results.

All phases are gone through again in their order, each with the compounds there were when it was planned, by the noise
as it was known then, and with those who had been named as beating whom before it: that was chosen by the past alone.
When a cohort comes, how many of the one before it are not out is noted (what Holm's procedure counts on from then on),
and who is in is undecided again, since nobody was compared with the new ones. In the end all is asked once more of all
compounds by the walks of all phases.

**Another confidence, noise or limit.** The walks are then the same, whatever was chosen, whenever and by whatever
results: who was named does not change, a larger SD makes all of them shorter, and a smaller delta (a limit takes a part
of it) all levels lower. Of the M compounds that nobody beats one is put out wrongly only if its walk passes at the
level of one of M, of the largest delta of all (until a first error no fewer are left; Holm); one is put in wrongly only
if its walk against its rival passes at b. So the errors for all such terms together are those for the largest delta.

**Other margins.** They do not enter who is out, but who is in they do, by the rival of ``front_cohorts``, which is one
for given margins. So nothing is derived here for other margins than those at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.arrays import Ints
from assaypilot.engine.strategies.adaptive.cohorts import OPEN, Cohorts, came_with
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from assaypilot.engine.strategies.derived import Phase, derived, unbounded
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Decision, State

__all__ = ["by_fronts"]


def by_fronts(state: State, phases: Sequence[Phase]) -> Decision | None:
    """What the walks of all phases decide of all compounds; None for what was begun by other rules."""
    strategy, problem = AdaptivePareto(), state.problem
    known = [phase for phase in phases if phase.expected is not None and phase.outcome.counts.any()]
    if not known:
        return None
    came: Ints = np.asarray(np.sum([~phase.known for phase in known], axis=0), dtype=np.intp)
    later = np.unique(came)[1:].tolist()
    memory = {**state.memory, "expected": np.array([known[-1].expected], dtype=np.intp)}
    if later:
        memory |= came_with(came, np.full(len(later), OPEN, dtype=np.intp))
    spent = state.spent
    state = replace(state, memory=memory)
    for number, phase in enumerate(known):
        if number in later:
            state = _joined(state, later.index(number))
        own = replace(problem, wanted=problem.wanted & (came <= number), noise=phase.noise or problem.noise)
        state = replace(state, problem=own)
        state = strategy.adjust(state, measurable=phase.measurable, spent=phase.outcome.spent)
        decision = strategy.decide(state, phase.outcome, phase.named)
        if decision is not None:
            state = strategy.apply(state, unbounded(state, decision))
    if len(known) in later:
        state = _joined(state, later.index(len(known)))
    state = strategy.adjust(replace(state, problem=problem), measurable=problem.measurable, spent=spent)
    verdict = strategy.verdict(state, state.memory)
    outs, ins = state.status == OUT, state.status == IN
    outs[verdict.outs], ins[verdict.ins] = True, True
    last = np.where(np.isfinite(state.high), np.stack([state.low, state.high]), np.nan)
    now = verdict.shown[1:]
    estimate = np.full_like(state.low, np.nan) if state.last is None else state.last.estimate
    bounds = np.stack(
        [
            np.where(np.isnan(verdict.shown[0]), estimate, verdict.shown[0]),
            *np.where(np.isfinite(now), now, last),
        ]
    )
    return derived(state, phases, bounds, ins, outs, np.zeros(problem.n_arms, dtype=bool))


def _joined(state: State, cohort: int) -> State:
    """The state when compounds join after such a cohort."""
    cohorts = Cohorts.remembered(state.memory, state.problem.wanted)
    kept = np.array(state.memory["kept"])
    kept[cohort] = int(((cohorts.of == cohort) & state.problem.wanted & (state.status != OUT)).sum())
    again = state.status == IN
    return replace(
        state,
        status=np.where(again, UNDECIDED, state.status).astype(np.int8),
        active=state.active | (again & ~state.lost),
        decided_in_phase=np.where(again, 0, state.decided_in_phase),
        memory={**state.memory, "kept": kept},
    )
