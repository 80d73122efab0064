"""``adaptive``'s decisions derived anew, when epsilon, slack, noise or confidence were changed after results were seen.

Names as in ``adaptive``. Let D(m) be how far m truly is behind the best b, and W_m(e) the walk of m's leaders with
steps (y'theta_r - e) / s_r. W_m(e) falls as e grows, so whatever epsilon >= D(m) is chosen, whenever, and by whatever
results, W_m(epsilon) <= W_m(D(m)), whose steps have means of at most 0: A_m is wrongly refuted *for some such epsilon,
at some look* with no more probability than for the one epsilon D(m). The same holds of B_m (the walk against b, with a
distance of at most D(m)), and D_j knows neither epsilon nor slack. So the union over the compounds is that over all
goals, too:

- **In** and **the best**: their levels, 0.45 delta / K for each compound and 0.1 delta, hold for all goals together.
- **Out**: Holm's level 0.4 delta / N counts on N being at least the number M of compounds within *this* epsilon. With
  the epsilon the campaign began with it goes on being right. For a smaller one a level of 0.4 delta / K is: who is
  within the smaller epsilon is within the first, where Holm's errors at 0.4 delta / M include these. For a larger one
  it comes on top for those that are not within the first epsilon: an eighth of it is spent on them, 0.05 delta in all,
  however many larger ones are tried. Then what is stated is 1.05 delta (``error_share``).
- **The best compound** with slack and without have other levels. Where both were asked for, the errors of the two sum
  to less than 1.5 delta, and that is stated.

The leaders are those of the phases as they were planned; hence no change while a phase is under way whose leader would
then depend on results of the phase itself. The looks by which the limits were spread stay those of the start.

Confidence and noise: as in ``strategies.anew``; all walks are made again. Where S, chosen by results, is no less than
sigma, every walk is sigma / S times the true one, for all such S together, *if its steps are weighted as they were*.
With values known only as bounds they are weighted by which cells were likely to be cut (``censored``), and that hangs
on an SD, too. With the new one the weights would be chosen after the values, among many: each S gives another walk, and
in simulations of four looks the best of thirteen was passed wrongly a quarter more often. So the cells of a phase count
by the SD as it was said when the phase was planned (``Phase.foreseen``), whatever it is taken to be now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.arrays import Ints
from assaypilot.engine.goals import AllEpsilonBest, Best, Goal
from assaypilot.engine.strategies.adaptive.asked import Asked, by_holm
from assaypilot.engine.strategies.adaptive.classes import weighed
from assaypilot.engine.strategies.adaptive.cohorts import OF_OUTS, OPEN, WIDER, Cohorts, came_with, closing_of, shared
from assaypilot.engine.strategies.adaptive.evidence import Evidence, appended
from assaypilot.engine.strategies.adaptive.lost import bounded
from assaypilot.engine.strategies.adaptive.one import Adaptive
from assaypilot.engine.strategies.derived import Phase, derived
from assaypilot.engine.strategies.protocol import Arrays, Decision, State

__all__ = ["by_walks", "error_share"]


_BOTH = 1.5
"""How many times delta the errors of the best with slack and without may sum to."""


def error_share(first: Goal, later: Sequence[Goal], cohorts: int = 1) -> float:
    """How many times delta the errors of all goals together may be: of the ``first`` and those chosen by results.

    Of so many ``cohorts`` of compounds each has its share of that.
    """
    return _of_goals(first, later) * shared(cohorts)


def _of_goals(first: Goal, later: Sequence[Goal]) -> float:
    if isinstance(first, AllEpsilonBest):
        wider = any(isinstance(goal, AllEpsilonBest) and goal.epsilon > first.epsilon for goal in later)
        return 1.0 + OF_OUTS * WIDER if wider else 1.0
    if isinstance(first, Best):
        other = any(isinstance(goal, Best) and (goal.slack > 0) != (first.slack > 0) for goal in later)
        return _BOTH if other else 1.0
    return 1.0


def by_walks(state: State, phases: Sequence[Phase]) -> Decision | None:
    """What the walks of all phases decide under the goal of ``state``; None for what was begun by other rules."""
    strategy, problem = Adaptive(), state.problem
    known = [phase for phase in phases if phase.expected is not None and phase.outcome.counts[0].any()]
    if not known:
        return None
    memory: Arrays = {**state.memory, "expected": np.array([known[-1].expected], dtype=np.intp)}
    came: Ints = np.asarray(np.sum([~phase.known for phase in known], axis=0), dtype=np.intp)
    later = np.unique(came)[1:].tolist()
    if later:
        memory = {**memory, **came_with(came, np.full(len(later), OPEN, dtype=np.intp))}
    for number, phase in enumerate(known):
        if number in later:
            memory = _with_kept(strategy, state, memory, later.index(number))
        told = strategy.foreseen(state)[0] if phase.foreseen is None else phase.foreseen
        before = Evidence(problem.features, memory, told)
        counted = weighed(problem, phase.outcome) if phase.weighed else phase.outcome
        memory = appended(memory, counted, phase.leader, [before])
    if len(known) in later:
        memory = _with_kept(strategy, state, memory, later.index(len(known)))
    state = replace(state, phase=len(phases), memory=memory)
    evidence = Evidence(problem.features, memory, problem.noise[0], closing_of(problem))
    sharing = strategy.sharing(state, memory, evidence.n_phases)
    wanted = np.flatnonzero(problem.wanted)
    shown = strategy._shown(state, evidence, wanted, sharing)
    told = np.isfinite(shown[2])
    # Who cannot be had any more counts with the bounds of the phases so far.
    state = replace(state, low=np.where(told, shown[1], state.low), high=np.where(told, shown[2], state.high))
    state = strategy.adjust(state, measurable=problem.measurable, spent=state.spent)
    active = np.flatnonzero(state.active)
    bounds = bounded(state, shown)
    not_best = bounds.below()
    not_best[wanted] |= evidence.behind(wanted).passed(0.0, *sharing.best(wanted))
    verdict = strategy._verdict(Asked(state, evidence, bounds, sharing), evidence.behind(active), not_best)
    ins, outs, nobody = (np.zeros(problem.n_arms, dtype=bool) for _ in range(3))
    ins[verdict.ins], outs[verdict.outs] = True, True
    state = replace(state, memory={**memory, "not_best": not_best})
    return derived(state, phases, shown, ins, outs, nobody)


def _with_kept(strategy: Adaptive, state: State, memory: Arrays, cohort: int) -> Arrays:
    """The memory with how many of a cohort were not out when the next one came: what Holm's procedure counts on."""
    cohorts, goal = Cohorts.remembered(memory, state.problem.wanted), state.problem.goal
    kept = np.array(memory["kept"])
    arms = np.flatnonzero(state.problem.wanted & (cohorts.of == cohort))
    gone = 0
    if isinstance(goal, AllEpsilonBest) and len(memory["leaders"]):
        evidence = Evidence(state.problem.features, memory, state.problem.noise[0], closing_of(state.problem))
        sharing = strategy.sharing(state, memory, evidence.n_phases)
        everyone = np.ones(len(arms), dtype=bool)
        out = by_holm(evidence.behind(arms), goal.epsilon, sharing, arms, everyone, cohorts.sizes)
        gone = int(out.sum())
    kept[cohort] = cohorts.sizes[cohort] - gone
    return {**memory, "kept": kept}
