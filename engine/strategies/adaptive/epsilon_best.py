"""``adaptive``: every phase counts towards every decision, and each is made by what was fixed before its measurements.

Ours, beyond the papers. Larger is better; sigma is the noise SD, delta the error probability, b the best compound.

**Possible errors.** For all epsilon-best compounds there are, for every compound m, two statements:

- A_m: m is within epsilon of the best: mean(j) - mean(m) <= epsilon for every j. Refuting it puts m out.
- B_m: some j has mean(j) - mean(m) > epsilon + slack. Refuting it puts m in.

The answer is right unless a true one of these 2 K statements is refuted. Bounds on all K (K - 1) differences would
need delta / K^2 for each: 5.31 standard errors for K = 960 and delta = 0.05, at one look. Here it is about 3.6 for m
in, and from 3.6 down to 3.1 for m out, as others go, where a tenth of the compounds is near a border.

**Steps.** Given the past and which measurements returned, y'(theta_r - theta) / s_r, s_r = sigma ||y||_{V_r^-1}, is
standard normal in phase r for any y fixed by the past. So such steps, in whatever phases and by whatever directions
chosen beforehand, are independent standard normal (optional selection; Doob 1936), and a phase that cannot estimate a
direction is no step. Their sum stays below the limits of ``sequential_tests`` at all looks together, but for
probability alpha.

**Before the first step.** Of a hundred compounds or more the first phase of a lab's rounds takes two measurements for
every effect and is no step of any walk. (Of fewer it fills a round and is one; also where the noise is estimated, which
takes replicates.) It names the leader to compare with in the next one, and the compounds that are near a border: at
most one standard error from where they may be called either. Both are past when the walks begin, so they may depend on
these values in any way. Values from before the campaign do the same where they estimate all effects; then no such phase
is needed. It divides the levels b_m among the compounds: those near have nine tenths of the sum, the others one
tenth. The proofs need only the sum. Without such a phase all are near.

**A_m: out.** Before each phase r a leader l_r is chosen from the phases so far, when the one before is decided:
availability may change later, by a person who saw this phase's values. Under A_m each step (y'theta_r - epsilon) / s_r,
y = x(l_r) - x(m), has a mean of at most 0, although the leader changes. So the walk passes its limits with probability
alpha at most: no union over the compounds that m could be compared with. Over the compounds Holm's procedure holds, at
every look, with weights v_m: 1 for those near a border, 0.1 for the others. With N the sum of weights of those not yet
out the level is alpha = 0.4 delta v_m / N, and b_m more (next paragraph): A_m and B_m are never both true, so a
compound with a true A_m leaves the level of its B_m unused. (Until the first error N is at least the sum V of weights
of true A_m, so a first error needs one of them to pass at 0.4 delta v_m / V + b_m, at any look, and these levels sum to
0.4 delta and their b_m; Scandinavian Journal of Statistics 6, 1979.)

**B_m: in.** It is refuted when for every j the walk of (x(m) - x(j))'theta_r + epsilon + slack passes its limit at
some look. If B_m is true it is true by b, and the steps against b have means below 0: again probability alpha, without
a union over j (an intersection-union test; Berger, Technometrics 24, 1982). Its level is b_m, which sum to 0.45 delta
over all m: so do all errors of this kind, with what is added to the level of true A_m. Compounds that are out, or
refuted as the best (below), need not be compared with: b is neither, unless an error was made that is counted there.

**The best.** D_j: j is b. Only one of them is true, so all are tested at one level, 0.1 delta, with no union at all:
the walk of (x(l_r) - x(j))'theta_r passes its limit with at most that probability for j = b. The same finds the one
best compound: the others are refuted so, or one is shown by walks to be within the slack of all that are not refuted,
each with half of 0.95 delta.

**Means.** What is left of delta is for the bounds of all single means at all looks. They are shown, and they decide
against compounds that cannot be measured any more, whose walks have ended. Such a compound remains one that
may be the best, if a phase bounded it or it was a leader: the argument above about b holds for all these together.

**Without a lab's rounds.** Phases may have any size, and without slack the smallest relevant difference is unknown.
Steps have equal weights whatever their phase's size. So walks over phases that grow from 32 to 30,000 measurements
would lose a third of the information, and their limits would pay for a dozen looks. So early phases double what was
measured, and are no steps: they only choose what to measure and the leader to compare with. The first step is the first
phase whose plan, made before it, brings all open comparisons to their limits with at most eight times the measurements
so far (or the 13th). From there on every phase is a step, and takes half of what should end the campaign. Which phases
are steps is so fixed before each is measured, by the past alone, as ``Steps`` requires. Bounds of means count all
phases.

**Noise that is not known.** All steps of all phases are then made with one upper bound S on sigma, that of the present
look, in place of sigma. Where S >= sigma every walk is sigma / S times the true one, at all its looks, and limits are
not below 0: so one that passes a limit is of a true walk that passes it, at the same look. Whatever is refuted, at any
look, with the bound as it was then, is refuted by true walks or where some S < sigma; half-widths of means are larger
likewise. So the errors are at most those above, for nine tenths of delta, and a tenth for all S together
(``models.sd_bound``). It does not matter that S comes from the same measurements, or that plans and leaders depend on
it: they depend on the past, and nothing here requires that walks and S be independent. The looks by which limits are
spread, ``expected``, are fixed at the start, by a guess of sigma.

**What was tried.** Medians of 40 campaigns on practice-960 (SD 0.2, slack 0.5): 257 measurements when the first phase
fills a round of 96 and counts as a step, 210 as it is. Larger last phases, phases that grow faster, and keeping one
design through all phases gained nothing. Steps weighed by information: of the comparisons decided last on practice-960,
equal steps already have .93 to .98 of the information that their phases have, each by itself; the phases together have
.65 to .88 of that of all measurements at once, because each estimates alone by another design. Weights repair only the
former. Joint critical values: a union over compounds, and not over what it takes jointly, costs up to a third of the
measurements at one look. They are exact for a design fixed before its data. Later designs depend on the past; by the
conditional-error principle it would have to be known how much of what was seen is noise, which is known only of
statements at the border, never of all true ones together. Slepian's inequality holds for adaptive designs, too (orthant
indicators stay supermodular under products and convolution), but only with the least correlations that any later design
may have, and those are about 0. Estimated, not built: pooling all phases by weights fixed ahead, with a last correcting
phase. It would recover the .65 to .88 of information, but needs a union over looks and the reflection bound: about 10 %
fewer measurements in all.

**Yardsticks.** An oracle that knows the truth ends where each comparison would hold half of the time. An answer needs
all of them at once, and chance favours some less: an oracle that measures by the best design until all hold takes 234
on practice-960 where ``adaptive`` takes 209, and 0.9 times in the median of 84 tables and settings it is beaten so. On
the papers' small tables, without rounds and slack, ``adaptive`` takes 1.0 (linfact-3) and 1.8 times (linfact-7) what
that oracle takes, where it takes 1.6 and 3.3 times the other (16 campaigns each). Of that 1.8, silent phases are a
tenth. Seven to ten phases are steps, where limits are 1.7 times those of one look, and by their unlike sizes equal
steps have .67 to .81 of their information. None of these changed it by more than chance (16 to 24 campaigns, geometric
means by -8 to +23 %): an end in sight at 5 or 16 times what was measured, silent phases that stop there, ends in one
part or three, limits spread over five or eight looks, steps of a quarter of what was measured. Nor did steps weighed by
information, with limits that hold at every instant of it (Brownian motion), spread about where silent phases see the
end of each comparison: by -3 to +22 %, and by -8 to +45 % where that end is known.

**A stated SD is the largest there is.** Where some compounds scatter less without a note of it, steps are less
than standard normal, too, and designs that know the past choose by how much. Even designs chosen only to that end would
pass no limit of a level up to 0.05 more often, of 0.1 by 0.1 % of it, and of 0.14 by 3 % (by the same induction).

Assumed: additive effects, independent normal errors of the stated SD, and that which measurements come back does not
depend on their values. Sources: the problem is that of "Identifying all epsilon-best arms in linear bandits" (LinFACT),
the limits those of group-sequential tests, the choice of comparisons by the past that of test martingales.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest
from ..phased import SOFTER, inseparable, settled
from ..protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Arrays,
    Decision,
    Outcome,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)
from .evidence import EARLIER, NO_ARM, SILENT, Evidence, Steps, appended, nothing_measured
from .planning import CAREFUL, NEAR, Needs, Sides, Way, needs_of_best, needs_of_sides
from .sequential_tests import ByWalks, SetLimits, levels_of, slack_of
from .verdict import Findings, away, bounded, shown_out, unanswerable

_MANY = 100
"""Compounds from which it pays to share out delta by a first, small phase: what it saves grows with their logarithm."""
_MOST_SILENT = 12
"""Phases after which walks begin even where no end is in sight."""


class _Verdict(NamedTuple):
    ins: Ints
    outs: Ints
    contradicted: Ints
    """Arms in that would be out now."""
    may_be_best: int
    held: bool
    """Those left open would be decided, but for compounds that cannot be measured any more."""


class Adaptive(ByWalks):
    """All epsilon-best compounds, or the best one, by all measurements of all phases."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="adaptive",
        version=5,
        title="Adaptive",
        goals=("epsilon-best", "best"),
        parameters=(),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned and none worse than epsilon + slack "
            "(best: the one returned is within the slack of the best), if the substituent effects add up and the "
            "noise is normal with the stated SD"
        ),
        source="ours; the proof is in its documentation",
        any_plan=True,
        noise_bound=True,
    )
    way: ClassVar[Way] = CAREFUL._replace(growth=1, parts=2)
    many: ClassVar[int] = _MANY
    """Compounds from which the first phase of a lab's rounds is small, and no step."""

    def whole_round(self, problem: Problem) -> bool:
        """Return whether the first phase fills a round and is a step: for few compounds, or for an unknown SD."""
        return problem.estimated or int(problem.wanted.sum()) < self.many

    unknown_end: ClassVar[int] = 3

    def memory(self, problem: Problem) -> Arrays:
        """Return the record of measurements, the arms that are not the best, and the expected last phase.

        That phase is fixed here: the limits at all looks depend on it.
        """
        expected = np.array([self._expected(problem)], dtype=np.intp)
        not_best = np.zeros(problem.n_arms, dtype=bool)
        leader = np.array([NO_ARM], dtype=np.intp)
        own = {"not_best": not_best, "expected": expected, "leader": leader, "near": ~not_best}
        return {**nothing_measured(), **own}

    def start(self, problem: Problem) -> State:
        """Return the state before the first phase.

        Earlier values that estimate all effects name the leader. They replace a silent first phase.
        """
        state = super().start(problem)
        if not problem.history:
            return state
        known = problem.history[0]
        memory = {**state.memory, **appended(state.memory, known.counts, known.means, EARLIER)}
        evidence = Evidence(problem.features, memory, problem.noise[0])
        if not evidence.pooled.estimable(np.flatnonzero(state.active)).all():
            return state
        leader = _leader(replace(state, memory=memory))
        memory["leader"] = np.array([leader], dtype=np.intp)
        memory["near"] = _near_border(problem, evidence, leader)
        return replace(state, memory=memory)

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured.

        A former leader counts as lost when it cannot be estimated now. Others may be out, or refuted as the best, by
        it, though no phase estimated its own mean.
        """
        after = super().adjust(state, measurable=measurable, spent=spent)
        led = np.zeros(state.problem.n_arms, dtype=bool)
        led[state.memory["leaders"][state.memory["leaders"] >= 0]] = True
        return replace(after, lost=after.lost | (led & (after.status == NOT_ESTIMABLE)))

    def _expected(self, problem: Problem) -> int:
        """Return about the last phase: the one with the information that a compound amid the soft zone needs."""
        slack = slack_of(problem)
        half = slack / 2.0 if isinstance(problem.goal, AllEpsilonBest) else slack
        return self.end(problem, levels_of(problem).one_in, half / problem.noise[0])

    def limits(self, state: State, looks: int) -> SetLimits:
        """Return the limits of all walks at so many looks."""
        return SetLimits(state.problem, state.memory["near"], lambda level: self.walk_limits(state, level, looks))

    def needs(self, state: State) -> tuple[State, Needs] | None:
        """Return the state to plan in, and the open comparisons; None before there is an arm to compare with."""
        leader = int(state.memory["leader"][0])
        if leader == NO_ARM or not state.active[leader]:
            leader = _leader(state)
        open_arms = np.flatnonzero(state.open & state.active)
        if leader == NO_ARM or not len(open_arms):
            return None
        problem, goal = state.problem, state.problem.goal
        evidence = Evidence(problem.features, state.memory, problem.noise[0])
        known, slack = self.limits(state, evidence.n_phases + 1), slack_of(problem)
        if isinstance(goal, AllEpsilonBest):
            left = (state.status != OUT) & problem.wanted
            outs = partial(known.outs, left=left)
            sides = Sides(goal.epsilon, goal.epsilon + slack, outs, known.ins, slack / 4.0)
            possible = np.flatnonzero(may_be_best(state, state.memory["not_best"]) & state.active)
            needs = needs_of_sides(evidence, sides, leader, open_arms, possible)
        else:
            sides = Sides(0.0, slack, lambda _: known.best(), known.ins, slack / 2.0)
            needs = needs_of_best(evidence, sides, leader, open_arms)
        return state, needs

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return the arms shown to be out, not the best, or in, by the walks of all phases."""
        problem = state.problem
        active = np.flatnonzero(state.active)
        if not outcome.counts[0].any() or not len(active):
            return None
        leads = _leads(state, outcome, whole_round=self.whole_round(problem))
        memory = appended(state.memory, outcome.counts[0], outcome.means[0], leads)
        evidence = Evidence(problem.features, memory, problem.noise[0])
        known = self.limits(state, evidence.n_phases)
        shown = self._shown(state, evidence, active, known)
        bounds = bounded(state, shown)
        not_best = state.memory["not_best"] | bounds.below()
        behind = evidence.behind(active)
        not_best[active] |= behind.passed(0.0, known.best())
        verdict = self._verdict(Findings(state, evidence, bounds, known), behind, not_best)
        decision = Decision.after(
            state,
            outcome,
            shown,
            ins=verdict.ins,
            outs=verdict.outs,
            contradicted=verdict.contradicted,
            numbers={
                "measurements": float(outcome.counts.sum()),
                "may_be_best": float(verdict.may_be_best),
                "only_lost": float(verdict.held),
            },
            memory={**memory, "not_best": not_best},
        )
        # Fixed here: the next leader must not depend on what becomes unavailable while its phase is measured.
        leader = _leader(self.apply(state, decision))
        fixed: dict[str, NDArray[Any]] = {"leader": np.array([leader], dtype=np.intp)}
        if (memory["leaders"] <= SILENT).all():
            fixed["near"] = _near_border(problem, evidence, leader)
        return replace(decision, memory={**decision.memory, **fixed})

    def _verdict(self, now: Findings, behind: Steps, not_best: Flags) -> _Verdict:
        """Return which active arms are out or in, by their walks ``behind`` the leaders."""
        state, bounds = now.state, now.bounds
        goal, active = state.problem.goal, np.flatnonzero(state.active)
        undecided = state.status[active] == UNDECIDED
        rivals = may_be_best(state, not_best)
        if isinstance(goal, AllEpsilonBest):
            out = shown_out(state, behind, goal.epsilon, now.known)
            out |= bounds.behind(goal.epsilon)[active]
            outs = active[out & undecided]
            rivals[outs] = False
            still_open = active[undecided & ~out]
            ins = now.near(still_open, np.flatnonzero(rivals), goal.epsilon + goal.slack)
            behind_now = bounds.surely_behind(goal.epsilon)
        else:
            out = behind.passed(-slack_of(state.problem), now.known.best())
            behind_now = bounds.surely_behind(slack_of(state.problem))
            ins, outs = now.best(rivals, active[undecided])
        behind_now[active] |= out
        contradicted = np.flatnonzero(behind_now & (state.status == IN))
        left = np.setdiff1d(active[undecided], np.concatenate([ins, outs]))
        return _Verdict(ins, outs, contradicted, int(np.count_nonzero(rivals)), now.held(rivals, left))

    def _shown(self, state: State, evidence: Evidence, active: Ints, known: SetLimits) -> Floats:
        """Return estimate, low and high of every active arm ``(3, 1, n_arms)``; they hold with all decisions."""
        shown = np.full((3, 1, state.problem.n_arms), np.nan)
        shown[:, 0, active] = np.stack(evidence.bounded(active, known.means()))
        return shown

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, nothing is left to measure or learn, or the budget is below one more phase."""
        done = settled(state)
        if done and done[0].name != "decided":
            return done
        stuck = unanswerable(state) or done
        if stuck:
            return stuck
        return self.spent(state) or inseparable(state, 0.0, SOFTER)


def may_be_best(state: State, not_best: Flags) -> Flags:
    """Return arms that may be the best, of those that can be estimated, or could be while they were available."""
    known = (state.status == UNDECIDED) | (state.status == IN) | away(state)
    possible: Flags = state.problem.wanted & known & ~not_best
    return possible


def _leads(state: State, outcome: Outcome, *, whole_round: bool) -> int:
    """Return the leader of the phase that returned, SILENT where it is no step; it was fixed before the phase."""
    leader, leaders = int(state.memory["leader"][0]), state.memory["leaders"]
    if (leaders > SILENT).any() or len(leaders) >= _MOST_SILENT:
        return leader
    if state.problem.capacity is not None:
        return leader if whole_round or leader != NO_ARM else SILENT
    plan = outcome.allocation.certificate
    return leader if plan.criterion == "xy" and plan.value <= NEAR * state.spent else SILENT


def _near_border(problem: Problem, evidence: Evidence, leader: int) -> Flags:
    """Return arms at most one standard error from a border, by the phases before the first step."""
    if leader == NO_ARM:
        return np.ones(problem.n_arms, dtype=bool)
    means, slack = evidence.pooled.means(), slack_of(problem)
    error = evidence.sigma * evidence.pooled.difference_norm(leader, np.arange(problem.n_arms))
    epsilon = problem.goal.epsilon if isinstance(problem.goal, AllEpsilonBest) else 0.0
    beyond = np.abs(means[leader] - means - epsilon - slack / 2.0) - slack / 2.0
    near: Flags = ~np.isfinite(error) | (beyond <= error)
    return near


def _leader(state: State) -> int:
    """Return the arm that the next phase compares with: the best by all measurements so far; NO_ARM without any."""
    if not len(state.memory["at"]):
        return NO_ARM
    pooled = Evidence(state.problem.features, state.memory, state.problem.noise[0]).pooled
    may = np.flatnonzero(may_be_best(state, state.memory["not_best"]) & state.active)
    may = may[pooled.estimable(may)]
    return int(may[np.argmax(pooled.means(may))]) if len(may) else NO_ARM
