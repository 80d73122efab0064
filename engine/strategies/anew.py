"""Decisions derived anew, when what is wanted was changed after results were seen.

**Why this is allowed, and for whom.** A strategy promises that, but for probability delta, an event E holds: all bounds
it makes, in all phases and for all compounds it makes them for, hold together. Whoever changes the goal has seen the
results, and may have chosen the new goal by them, in the worst case so that the answer becomes wrong. That helps only
if E depends on the goal. Where E does not, *every* statement that follows from its bounds is right when E holds,
whatever goal it is about, whenever that was chosen and how often: the error stays delta, once, for all goals together.
What decides is therefore what the union of E is over, and that nothing in it was chosen after its measurements:

- **LinFACT-G, -MIS, -GLM**: |estimate - mean| <= C_i in phase r for all K compounds, delta / (r (r + 1)) for phase r,
  by measurements fixed before they were taken. K counts all compounds, not those still active. E knows neither epsilon
  nor slack. (What -MIS and -GLM assume beyond that, they go on assuming.) A later design may depend on a goal chosen by
  the past: given the past, phase r + 1 is wrong with its own share of delta.
- **LinFACT-XY**: the same for all K (K - 1) / 2 differences.
- **RAGE**: the same for all ordered pairs; with ``tight`` radii for the pairs with the truly best compound, which is
  the same under every slack.
- **GEGE**: for the compounds that were active in the phase, |A_r| of them. That set came of the phases before and of
  the goal as it was then, so it was fixed before the measurements of phase r; so the bounds *as they were made* hold
  together, and what is derived uses only those. A goal chosen while a phase was under way would choose A_r after some
  of its measurements: from the first change on the union is over all K.

Derived are the intersections of each compound's bounds over the phases; what was put out under the old goal and not
measured since has its older, wider bounds, and comes back undecided where they do not answer the new question.

**Confidence** (delta). E(delta) at another delta is the same event with other widths, and E grows as delta shrinks. All
widths are computed again at the new delta, and the old decisions are dropped: a statement made at the new confidence is
wrong in at most delta of all campaigns, whoever decided when to ask for it. It does not follow that delta of *those
campaigns that changed* are wrong, as nothing does for any choice made by results; see ``changing``.

**Noise** (SD). The half-widths of all phases are computed again with the new SD, for the measurements that came back.
Designs were made with the old one, which is as good as any: what was planned need not have been right. That the SD is
no larger than stated is assumed as before; one chosen by the scatter of the very results it is used for would not be.

**Limits** are decided by bounds on all K compounds (see ``campaign.limits``), which know no limit. But goal and limits
share delta. So one that comes or goes after results adds to what is stated (``limits.together``): by then it can be
chosen between the goal alone, with all of delta, and the goal beside the limit, each with less.

**Compounds that were added** are chosen after results: only phases planned afterwards bound them (``Phase.known``), by
unions over all compounds there are by then. Older phases go on bounding the older ones, by the unions as they were.

**Others** (LinGame, and all with a fixed budget): nothing is derived here; LinGame's learners and answers are those of
one goal, and a fixed budget promises nothing. ``adaptive`` has its own reasons: ``adaptive.anew``, and for trade-offs
``adaptive.fronts_anew``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from assaypilot.engine.goals import Best
from assaypilot.engine.strategies.derived import Phase, derived
from assaypilot.engine.strategies.linfact.linfact import LinFact, goal_of, sort_by_means
from assaypilot.engine.strategies.linfact.pairs import behind
from assaypilot.engine.strategies.linfact.xy_optimal import LinFactXY
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Decision, State, Strategy

__all__ = ["anew"]


def anew(strategy: Strategy, state: State, phases: Sequence[Phase]) -> Decision | None:
    """All that ``phases`` decide under the goal of ``state``, where the strategy stands before any of them.

    None when no decision can be derived that keeps the promise.
    """
    if isinstance(strategy, LinFactXY):
        return _by_differences(strategy, state, phases)
    if isinstance(strategy, LinFact):
        return _by_means(strategy, state, phases)
    match strategy.info.name:
        case "gege":
            from assaypilot.engine.strategies.gege.anew import by_boxes

            return by_boxes(strategy, state, phases)
        case "rage":
            return _again(strategy, state, phases)
        case "adaptive" if state.problem.n_endpoints == 1:
            from assaypilot.engine.strategies.adaptive.anew import by_walks

            return by_walks(state, phases)
        case "adaptive":
            from assaypilot.engine.strategies.adaptive.fronts_anew import by_fronts

            return by_fronts(state, phases)
    return None


def _in_phase(state: State, phase: Phase, number: int) -> State:
    """The state in which a phase's bounds are made: its number, and a union over what there was."""
    return replace(state, phase=number - 1, problem=replace(state.problem, wanted=state.problem.wanted & phase.known))


def _by_means(strategy: LinFact, state: State, phases: Sequence[Phase]) -> Decision:
    """By bounds on means: each compound's are those of all phases together."""
    n = state.problem.n_arms
    estimate, low, high = np.full(n, np.nan), np.full(n, -np.inf), np.full(n, np.inf)
    for number, phase in enumerate(phases, start=1):
        measured = np.flatnonzero(phase.outcome.counts[0] > 0)
        # The model error of -MIS is bounded for what a phase was made for.
        arms = np.flatnonzero(phase.active if strategy.info.name == "linfact-mis" else phase.known)
        if not len(measured) or not len(arms):
            continue
        found = strategy.bounds(_in_phase(state, phase, number), phase.outcome, measured, arms)
        told = np.isfinite(found.half)
        here = arms[told]
        low[here] = np.maximum(low[here], found.low[told])
        high[here] = np.minimum(high[here], found.high[told])
        estimate[here] = found.mean[told]
    bounded = np.isfinite(high)
    asked = state.problem.wanted & (state.active | bounded)
    if not asked.any():
        asked = state.problem.wanted
    goal = goal_of(state.problem)
    found_now = sort_by_means(low, high, float(high[asked].max()), float(low[asked].max()), goal)
    ins, outs = found_now.good & bounded, found_now.bad & bounded
    shown = np.stack([estimate, np.where(bounded, low, np.nan), np.where(bounded, high, np.nan)])[:, None]
    return derived(state, phases, shown, ins, outs, ins & found_now.dispensable)


def _by_differences(strategy: LinFactXY, state: State, phases: Sequence[Phase]) -> Decision:
    """By bounds on how far each compound is behind the best, of all phases together.

    That it is at least so far behind some compound holds for good. That it is at most so far behind all active ones
    bounds its distance from the best only if the best was among them: if all that are asked about now were, but those
    that are behind another for sure. So not if somebody who may be the best was lost or away then, or was added since.
    """
    n, goal = state.problem.n_arms, goal_of(state.problem)
    least, most, estimate, top = np.zeros(n), np.full(n, np.inf), np.full(n, np.nan), 0.0
    seen, each = np.zeros(n, dtype=bool), []
    for number, phase in enumerate(phases, start=1):
        measured, arms = np.flatnonzero(phase.outcome.counts[0] > 0), np.flatnonzero(phase.active)
        if not len(measured) or not len(arms):
            continue
        differences = strategy._differences(_in_phase(state, phase, number), phase.outcome, measured, arms)
        found, told = behind(differences), differences.group == 0
        least[arms] = np.maximum(least[arms], found.least)
        each.append((phase.active, arms, found.most))
        estimate[arms] = np.where(told, differences.mean, estimate[arms])
        seen[arms] |= told
        top = float(differences.mean[told].max()) if told.any() else top
    may_be_best = state.problem.wanted & (state.active | seen) & (least <= 0.0)
    for there, arms, at_most in each:
        if not (may_be_best & ~there).any():
            most[arms] = np.minimum(most[arms], at_most)
    outs = least > goal.epsilon
    ins = ~outs & (most <= goal.epsilon + goal.slack)
    shown = np.stack([estimate, np.where(seen, top - most, np.nan), np.where(seen, top - least, np.nan)])[:, None]
    return derived(state, phases, shown, ins, outs, ins & (least > 0.0))


def _again(strategy: Strategy, state: State, phases: Sequence[Phase]) -> Decision:
    """By going through all phases again under the new goal, which only bounds that know no goal allow.

    What was added later takes no part; while there is such a compound nobody can have been found to be the best, so
    those phases only find who is beaten.
    """
    wanted, slack = state.problem.wanted, state.problem.goal
    for number, phase in enumerate(phases, start=1):
        all_there = bool(phase.known.all())
        problem = replace(state.problem, wanted=wanted & phase.known, goal=slack if all_there else Best(0.0))
        state = strategy.adjust(replace(state, problem=problem), measurable=phase.measurable, spent=phase.outcome.spent)
        decision = strategy.decide(state, phase.outcome)
        state = (
            replace(state, phase=number) if decision is None else strategy.apply(state, replace(decision, phase=number))
        )
        if not all_there:
            state = replace(state, status=np.where(state.status == IN, UNDECIDED, state.status).astype(np.int8))
    last = state.last
    estimate = np.full_like(state.low, np.nan) if last is None else last.estimate
    bounds = np.stack(
        [estimate, *(np.where(np.isfinite(state.high), edge, np.nan) for edge in (state.low, state.high))]
    )
    return derived(state, phases, bounds, state.status == IN, state.status == OUT, state.left)
