"""``adaptive`` for the Pareto set: every phase counts towards every decision, of several endpoints at once.

Ours, beyond the papers; the steps of walks and their limits are those of ``adaptive``. Larger is better in every
endpoint; j beats i when its mean is larger in all of them. delta is the error probability, K the number of compounds.

**Possible errors.** For every compound i there are two statements:

- A_i: no compound beats i. Refuting it puts i out.
- B_i: some compound beats i by more than the margins in every endpoint. Refuting it puts i in.

The answer is right unless a true one of them is refuted. A_i and B_i are never both true, and neither is where a
compound beats i, but by less.

**A_i: out.** Before each phase up to four compounds j are named, by the phases so far, that i may be shown to be beaten
by; their walks count from then on. If A_i is true there is an endpoint in which j is not better, so that the steps of
mean(j) - mean(i) there have means of at most 0. To call i out the walks of all endpoints must pass, so that one must:
each is tested at the whole level, without a union over endpoints (an intersection-union test; Berger, Technometrics 24,
1982). The j named first has 0.65 of the level of i, the others 0.2, 0.1 and 0.05: a union over four, not over all K.
Unlike the leader of ``adaptive`` a j cannot be changed within a walk, because the endpoint in which it is not better
would change with it.

**B_i: in.** It is refuted when for every j the walk of mean(i) - mean(j) + margin passes in some endpoint. If B_i is
true it is true by one j, and the steps against that one have means below 0 in every endpoint: no union over j, one over
the E endpoints, each at 1 / E of the level. Compounds that are out need not be compared with. If one that is out beats
i by more than the margins, so does an unbeaten one (it beats that one, or is it). This one is not out unless an
error was made that is counted there.

**Levels.** B_i is tested at b = 0.6 delta / K, A_i at a = b + 0.35 delta / N with N compounds not yet out. Let M be the
number of true A_i. Until the first error N is at least M, so a first error that puts one out has to pass at b + 0.35
delta / M, at any look (Holm, Scandinavian Journal of Statistics 6, 1979). At most K - M of the B_i are true. So all
errors have a probability of at most M (b + 0.35 delta / M) + (K - M) b = 0.95 delta.

**Means.** What is left, 0.05 delta, is for the bounds of all means of all endpoints at all looks. They are shown, and
they decide against compounds that cannot be measured any more, whose walks have ended. Such a compound
counts as one that may beat others, if a phase bounded it or it was named.

Nothing is assumed of how the errors of endpoints go together. Assumed: additive effects, normal errors of the stated
SDs, independent between measurements, and that which measurements come back does not depend on their values. Source:
the question is that of "Bandit Pareto Set Identification in a Multi-Output Linear Model" (GEGE).

The module also chooses the comparisons for the Pareto set, and estimates what the open ones still need.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...domain.goals import ParetoSet
from ...domain.pareto import beaten
from ..phased import inseparable, settled
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
from .evidence import AGAINST, HARDEST, NO_ARM
from .fronts import SHARES, Boxes, Front, Walks, appended, nothing_measured, since
from .planning import Needs
from .sequential_tests import ByWalks, FrontLimits, in_level
from .verdict import away

_BETTER = 0.7
"""Another compound is named when it should take less than this share of the precision that those named still take."""
_BORDER = 0.25
"""Share of a margin: the least distance from a border that is planned for; its other side is farther."""
_MOST_PAIRS = 20_000_000
"""Differences in phases and endpoints evaluated for one decision; the rest waits for the next one."""
_STEPS_DOWN = 20
"""Rounds of Holm's procedure at one look; what would follow waits for the next."""
_BLOCK = 256
"""Rivals compared with at once."""


class Known(NamedTuple):
    """Inputs of a phase's plan."""

    front: Front
    rivals: Ints
    """Arms that others may be beaten by."""
    limits: FrontLimits
    left: int
    """How many are not out."""
    margins: Floats
    """``(n_endpoints,)``, in units of the noise."""

    def least(self, first: Ints, second: Ints) -> Floats:
        """Return differences from a border below which an estimate cannot tell the side, ``(n_endpoints, m)``."""
        difference = self.front.features.dense(first) - self.front.features.dense(second)
        half = [np.einsum("ij,ij->i", difference @ one.pooled.covariance, difference) for one in self.front.endpoints]
        errors = 0.5 * np.sqrt(np.maximum(half, 0.0))
        return np.maximum(np.maximum(errors, _BORDER * self.margins[:, None]), 1e-9)


def _to_out(known: Known, rival: Ints, arms: Ints, begun: Ints, place: int) -> Floats:
    """Return the precision that shows each ``rival``, in that place of those named, to beat its arm; or infinite."""
    if not len(arms):
        return np.zeros(0)
    means = known.front.means
    leads = means[:, rival] - means[:, arms]
    gaps = np.maximum(leads, known.least(rival, arms))
    steps = since(known.front.between(rival, arms), begun)
    limits = known.limits.outs(known.left)[place]
    needed = np.array([one.needed(0.0, limits, gap) for one, gap in zip(steps, gaps, strict=True)]).max(axis=0)
    return np.where((leads > 0).all(axis=0), needed, np.inf)


def beaters(known: Known, memory: Arrays, arms: Ints) -> dict[str, NDArray[np.int32]]:
    """Return the rivals that may be shown to beat each arm from the next phase on: those before, and maybe one more.

    The new one leads the arm most in its least endpoint, by all phases so far.
    """
    slots, begun = memory["beaters"].copy(), memory["since"].copy()
    means = known.front.means[:, known.rivals]
    rival, leads = known.front.strongest(arms, known.rivals[~beaten(means, means)], 1)
    ahead = (leads > 0).any(axis=1)
    arms, rival = arms[ahead], rival[ahead].max(axis=1, initial=NO_ARM)
    best, there = _by_those_named(known, slots, begun, arms)[0], (slots[:, arms] == rival).any(axis=0)
    place = (slots[:, arms] != NO_ARM).sum(axis=0)
    for s in range(len(SHARES)):
        index = np.flatnonzero((place == s) & ~there)
        now = np.full(len(index), known.front.n_phases)
        fresh = _to_out(known, rival[index], arms[index], now, s)
        index = index[np.isfinite(fresh) & (fresh < _BETTER * best[index])]
        slots[s, arms[index]], begun[s, arms[index]] = rival[index], known.front.n_phases
    return {"beaters": slots, "since": begun}


def _by_those_named(
    known: Known, slots: NDArray[np.int32], begun: NDArray[np.int32], arms: Ints
) -> tuple[Floats, Ints]:
    """Return the least precision that shows a named one to beat an arm, infinite without one, and which it is."""
    best, by = np.full(len(arms), np.inf), np.full(len(arms), NO_ARM, dtype=np.intp)
    for place, (rival, when) in enumerate(zip(slots[:, arms], begun[:, arms], strict=True)):
        index = np.flatnonzero(rival != NO_ARM)
        needed = _to_out(known, rival[index].astype(np.intp), arms[index], when[index].astype(np.intp), place)
        better = needed < best[index]
        best[index[better]], by[index[better]] = needed[better], rival[index[better]]
    return best, by


def needs_of_front(known: Known, named: Arrays, arms: Ints) -> Needs:
    """Return for every open compound the cheaper of being out and being in, the hardest ones only."""
    front, margins = known.front, known.margins
    to_out, by = _by_those_named(known, named["beaters"], named["since"], arms)
    rivals, _ = front.strongest(arms, known.rivals, AGAINST)
    own, other = np.repeat(arms, rivals.shape[1]), rivals.ravel()
    gaps = np.maximum(front.means[:, own] - front.means[:, other] + margins[:, None], known.least(own, other))
    steps = front.between(own, other)
    limits = known.limits.ins()
    endpoints = zip(steps, margins, gaps, strict=True)
    each = np.array([one.needed(margin, limits, gap) for one, margin, gap in endpoints]).min(axis=0)
    each[Walks(steps, margins).passed_in_one(limits) | (own == other)] = 0.0
    each = each.reshape(rivals.shape)
    to_in = each.max(axis=1, initial=0.0)
    hardest = np.argsort(-np.minimum(to_out, to_in), kind="stable")[:HARDEST]
    out, into = hardest[to_out[hardest] <= to_in[hardest]], hardest[to_out[hardest] > to_in[hardest]]
    row, column = np.nonzero((each[into] > 0.5 * to_in[into][:, None]) & (each[into] > 0))
    return Needs(
        np.concatenate([by[out], arms[into][row]]),
        np.concatenate([arms[out], rivals[into][row, column]]),
        # Designs count in the noise of the first endpoint.
        np.concatenate([to_out[out], each[into][row, column]]) / front.noise[0, 0],
    )


class Verdict(NamedTuple):
    """The arms that are in and out by all phases of a record."""

    ins: Ints
    outs: Ints
    contradicted: Ints
    """Arms in that would be out now."""
    shown: Floats
    """Estimate, low and high of every active arm ``(3, n_endpoints, n_arms)``."""
    only_lost: bool
    """Those left open would be decided, but for compounds that cannot be measured any more."""


class AdaptivePareto(ByWalks):
    """The Pareto set, by all measurements of all phases."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="adaptive",
        slow=True,
        version=2,
        title="Adaptive",
        goals=("pareto",),
        endpoints=(2, None),
        parameters=(),
        guarantee=(
            "with the stated confidence every compound that no other beats in all endpoints is returned, "
            "and none that another beats by more than the given differences in all of them, "
            "if the substituent effects add up and the noise is normal with the stated SDs"
        ),
        source="ours; the proof is in its documentation",
        any_plan=True,
        noise_bound=True,
    )

    def memory(self, problem: Problem) -> Arrays:
        """Return the record of measurements, the named rivals of each arm, and the expected last phase."""
        expected = np.array([self._expected(problem)], dtype=np.intp)
        fixed = {"expected": expected, **self.guessed(problem)}
        return {**nothing_measured(problem.n_arms, problem.n_endpoints), **fixed}

    def adjust(self, state: State, *, measurable: Flags, spent: int) -> State:
        """Return the state when only these arms can be measured; arms named as rivals of others still count."""
        after = super().adjust(state, measurable=measurable, spent=spent)
        named = np.zeros(state.problem.n_arms, dtype=bool)
        beating = state.memory["beaters"]
        named[beating[beating != NO_ARM]] = True
        return replace(after, lost=after.lost | (named & (after.status == NOT_ESTIMABLE)))

    def _expected(self, problem: Problem) -> int:
        """Return about the last phase: the one in which a compound halfway between in and out is decided."""
        level = in_level(problem) / problem.n_endpoints
        return self.end(problem, level, float(_margins(problem).min()) / 2.0)

    def limits(self, state: State, looks: int) -> FrontLimits:
        """Return the limits of all walks at so many looks."""
        return FrontLimits(state.problem, lambda level: self.walk_limits(state, level, looks))

    def _known(self, state: State) -> Known | None:
        """Return what is planned by; None before every mean can be estimated."""
        problem = state.problem
        if not len(state.memory["at"]):
            return None
        front = Front(problem.features, state.memory, problem.noise)
        active = np.flatnonzero(state.active)
        if not front.estimable[active].all():
            return None
        left = int((problem.wanted & (state.status != OUT)).sum())
        return Known(front, active, self.limits(state, front.n_phases + 1), left, _margins(problem))

    def needs(self, state: State) -> tuple[State, Needs] | None:
        """Return the state to plan in, and the open comparisons; None before there is an arm to compare with."""
        known = self._known(state)
        open_arms = np.flatnonzero(state.active & (state.status == UNDECIDED))
        if known is None or not len(open_arms):
            return None
        needs = needs_of_front(known, state.memory, open_arms)
        return state, needs

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return the arms shown to be out or in by the walks of all phases, with the rivals named before this one."""
        if not (outcome.counts > 0).any() or not state.active.any():
            return None
        memory = appended(state.memory, outcome)
        verdict = self.verdict(state, memory)
        decision = Decision.after(
            state,
            outcome,
            verdict.shown,
            ins=verdict.ins,
            outs=verdict.outs,
            contradicted=verdict.contradicted,
            numbers={
                "measurements": float(outcome.counts.max(axis=0).sum()),
                "only_lost": float(verdict.only_lost),
            },
            memory=memory,
        )
        return replace(decision, memory={**memory, **self._named(self.apply(state, decision))})

    def _named(self, state: State) -> Arrays:
        """Return the rivals that the next phase may show to beat each arm; nothing that it measures has a part in it.

        Fixed when the phase before is decided, since what is available may change while the next one is measured.
        """
        known = self._known(replace(state, problem=replace(state.problem, noise=self.foreseen(state))))
        open_arms = np.flatnonzero(state.active & (state.status == UNDECIDED))
        return {} if known is None else beaters(known, state.memory, open_arms)

    def verdict(self, state: State, memory: Arrays) -> Verdict:
        """Return the arms that are out or in by the walks of such a record."""
        problem, active = state.problem, np.flatnonzero(state.active)
        undecided = state.status[active] == UNDECIDED
        front = Front(problem.features, memory, problem.noise)
        limits = self.limits(state, front.n_phases)
        shown = self._shown(state, front, active, limits)
        bounds = Boxes(
            np.where(state.active, shown[1], state.low), np.where(state.active, shown[2], state.high), away(state)
        )
        out = self._shown_out(state, front, memory, active, limits) | bounds.beaten(active)
        outs, still_open = active[out & undecided], active[~out & undecided]
        rivals = problem.wanted & (state.status != OUT) & (state.active | bounds.away)
        rivals[outs] = False
        ins = self._near(limits, front, bounds, still_open, np.flatnonzero(rivals))
        left = np.setdiff1d(still_open, ins)
        only_lost = bounds.as_good_as_known(left) and len(left) == len(
            self._near(limits, front, bounds, left, np.flatnonzero(rivals & ~bounds.away))
        )
        return Verdict(ins, outs, active[out & (state.status[active] == IN)], shown, only_lost)

    def _shown_out(self, state: State, front: Front, memory: Arrays, arms: Ints, limits: FrontLimits) -> Flags:
        """Return which arms are shown to be beaten by one that was named, by Holm's procedure."""
        undecided = state.status[arms] == UNDECIDED
        left = int((state.problem.wanted & (state.status != OUT)).sum())
        walks = []
        for rival, begun in zip(memory["beaters"][:, arms], memory["since"][:, arms], strict=True):
            index = np.flatnonzero(rival != NO_ARM)
            if not len(index):
                # Places are taken in their order.
                break
            steps = since(front.between(rival[index].astype(np.intp), arms[index]), begun[index])
            walks.append((index, Walks(steps, np.zeros(len(steps)))))
        out = np.zeros(len(arms), dtype=bool)
        for _ in range(_STEPS_DOWN):
            gone = int((out & undecided).sum())
            for (index, walk), of_place in zip(walks, limits.outs(left - gone), strict=False):
                out[index] |= walk.passed_in_all(of_place)
            if int((out & undecided).sum()) == gone:
                break
        return out

    def _near(self, limits: FrontLimits, front: Front, bounds: Boxes, arms: Ints, rivals: Ints) -> Ints:
        """Return the arms that no rival beats by more than the margins; the likeliest rivals are tested first."""
        margins, unit = _margins(limits.problem), front.noise[:, 0]
        if len(arms) and len(rivals) > 1:
            rival = front.strongest(arms, rivals, 1)[0][:, 0]
            passed = Walks(front.between(arms, rival), margins).passed_in_one(limits.ins())
            arms = arms[passed | (arms == rival) | bounds.away[rival]]
        most = _MOST_PAIRS
        for start in range(0, len(rivals), _BLOCK):
            block = rivals[start : start + _BLOCK]
            each = len(block) * front.n_phases * len(margins)
            arms = arms[: max(most // each, 0)]
            if not len(arms):
                break
            most -= each * len(arms)
            passed = Walks(front.pairs(arms, block), margins).passed_in_one(limits.ins())
            passed |= arms[:, None] == block
            passed |= bounds.near(arms, block, margins * unit)
            arms = arms[passed.all(axis=1)]
        return arms

    def _shown(self, state: State, front: Front, active: Ints, limits: FrontLimits) -> Floats:
        """Return estimate, low and high of every active arm ``(3, n_endpoints, n_arms)``, valid with all decisions."""
        shown = np.full((3, *state.low.shape), np.nan)
        for endpoint, (one, sd) in enumerate(zip(front.endpoints, front.noise[:, 0], strict=True)):
            shown[:, endpoint, active] = sd * np.stack(one.bounded(active, limits.means()))
        return shown

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, nothing is left to measure or learn, or the budget is below one more phase."""
        done = settled(state)
        if done:
            return done
        last = state.last
        open_arms, lost = int(state.open.sum()), int(away(state).sum())
        if last is not None and lost and last.numbers["only_lost"]:
            text = f"{lost} compounds cannot be measured any more; against their last bounds {open_arms} stay open"
            return (StopReason("lost", text, {"lost": lost, "undecided": open_arms}),)
        return self.spent(state) or inseparable(
            state, 0.0, "with differences that do not matter, or larger ones, the search ends"
        )


def _margins(problem: Problem) -> Floats:
    """Return the differences that do not matter, in units of the noise, ``(n_endpoints,)``."""
    assert isinstance(problem.goal, ParetoSet)
    margins: Floats = np.array(problem.goal.margins) / np.array(problem.noise)
    return margins
