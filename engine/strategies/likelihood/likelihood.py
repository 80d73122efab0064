"""``likelihood``: all epsilon-best compounds, or the best one, by everything measured, for yes or no and for counts.

Ours, beyond the papers. After every phase the set of effects that all values so far leave possible is made anew
(``models.likelihood_set``). With confidence 1 - delta it holds the true effects at all phases together, whatever was
measured and however that was chosen; so it needs no union over compounds or phases, and no bound on any effect. A
compound is

- out when some other is surely more than epsilon better, for all effects of the set;
- in when no other that may be the best can be more than epsilon + slack better.

Under the logit link epsilon and slack are differences of chances (0.1: 10 percentage points) although effects add up in
log odds; under the log link they are factors, in log10 (0.3: twofold).

**What it costs.** The set reaches about sqrt(2 log(1 / delta) + d log N) standard errors, for d effects and N
measurements: 7 to 9 where union bounds over single means have 4 to 5. In return nothing is lost to the flattest part of
the link, which multiplies the measurements of LinFACT-GLM by 1 / c_min^2 (30 at a bound of 3), and no phase is thrown
away.

Assumed: effects add up on the link's scale, measurements are independent, which come back does not depend on their
values, and they are yes or no (or shares, whose mean alone counts), Poisson counts, or normal of the stated SD.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.goals import AllEpsilonBest, Best
from assaypilot.engine.models.glm import LINKS, Link, check_values
from assaypilot.engine.models.likelihood_set import Data, LikelihoodSet, likelihood_set, prior_of
from assaypilot.engine.progress import Report, silent
from assaypilot.engine.strategies.adaptive.planning import CAREFUL, Needs, Way, first_phase, next_phase
from assaypilot.engine.strategies.designs import table
from assaypilot.engine.strategies.ending import SOFTER, inseparable
from assaypilot.engine.strategies.likelihood.comparing import Compared
from assaypilot.engine.strategies.phased import ADDITIVE, Phased, one_of, settled
from assaypilot.engine.strategies.protocol import (
    IN,
    UNDECIDED,
    Allocation,
    Arrays,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
    StrategyInfo,
)

__all__ = ["Likelihood"]


_LARGEST = 4_000_000
"""Compounds times effects that are looked at after every phase."""
_LEADERS = 3
"""Compounds, the best by their lower bounds, that others are compared with to be put out."""
_ASKED = 40
"""Compounds, the best by the estimate, of which one may be named the best."""
_PAIRS = 30_000
"""Comparisons looked at for one decision; what is left waits for the next one."""
_RIVALS = 20
"""Compounds that may be better, by their upper bounds, that a plan is made against."""
_LESS = 2.0
_HARDEST = 300
"""Open comparisons that a plan is made for."""
_LN10 = math.log(10.0)


class Likelihood(Phased):
    """All epsilon-best compounds, or the best one, by what all values leave possible."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="likelihood",
        version=1,
        title="Likelihood",
        goals=("epsilon-best", "best"),
        parameters=(
            Parameter(
                "link",
                "identity",
                "logit: yes or no, epsilon as a difference of chances; log: counts, epsilon in log10 (0.3 is twofold); "
                "identity: plain values",
            ),
        ),
        guarantee=(
            "with the stated confidence every compound within epsilon is returned and none worse than epsilon + slack "
            "(best: the one returned is within the slack of the best), if the substituent effects add up on the scale "
            "of the link and values are as it says: yes or no, Poisson counts, or normal with the stated SD"
        ),
        source="ours; the proof stands in its documentation",
        own_scale=True,
    )

    way: ClassVar[Way] = CAREFUL
    rough: ClassVar[bool] = False
    """Whether sets are taken for ellipsoids; a forecast does so."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """The parameters; AssayPilotError for an unknown link, or a library that is too large."""
        parameters = self.parameters(problem)
        one_of("link", parameters["link"], LINKS)
        if problem.n_arms * problem.features.n_columns > _LARGEST:
            raise AssayPilotError(
                f"likelihood looks at every compound after every phase, and {problem.n_arms:,} are too many for it",
                option="--strategy",
                mend="Take fewer compounds into the campaign.",
            )
        return parameters

    def link(self, problem: Problem) -> tuple[Link, float]:
        """The link; no bound."""
        name = self.parameters(problem)["link"]
        return next(link for link in LINKS if link == name), math.inf

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """That effects add up on the link's scale."""
        link, _ = self.link(problem)
        where = {"identity": "", "logit": " in log odds", "log": " in logarithms (as factors)"}[link]
        return (f"{ADDITIVE}{where}",)

    def memory(self, problem: Problem) -> Arrays:
        """Everything measured so far: arms, how often, and the sums of their values."""
        return {"arms": np.zeros(0, dtype=np.intp), "counts": np.zeros(0), "sums": np.zeros(0)}

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """A phase: an even one first, then what tells the comparisons that are open."""
        needs = self._needs(state)
        return first_phase(state, report) if needs is None else next_phase(state, needs, report, self.way)

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Who is in or out by the set of effects that all values up to this phase leave possible."""
        problem = state.problem
        measured = np.flatnonzero(outcome.counts[0] > 0)
        if not len(measured) or not state.active.any():
            return None
        check_values(self.link(problem)[0], outcome.means[0, measured])
        memory = _with(state.memory, measured, outcome.counts[0, measured], outcome.means[0, measured])
        found, coordinates = self._set(problem, memory)
        scale = self._scale(problem)
        possible = np.flatnonzero(state.active | state.lost)
        compared = Compared.of(found, coordinates(possible))
        low, high = (compared.shown(side) * scale for side in (compared.low, compared.high))
        open_ = state.status[possible] == UNDECIDED
        ins, outs, against = self._sorted(problem.goal, compared, scale, open_, state.status[possible] == IN)
        shown = np.full((3, 1, problem.n_arms), np.nan)
        shown[0, 0, possible] = compared.shown(compared.z @ found.centre) * scale
        shown[0, 0, possible[~(np.isfinite(compared.low) & np.isfinite(compared.high))]] = np.nan
        shown[1, 0, possible], shown[2, 0, possible] = low, high
        return Decision(
            phase=state.phase + 1,
            radius=outcome.allocation.radius,
            ins=possible[ins],
            outs=possible[outs],
            left=np.zeros(0, dtype=np.intp),
            estimate=shown[0],
            low=shown[1],
            high=shown[2],
            contradicted=possible[against],
            spent=outcome.spent,
            numbers={"measurements": float(outcome.counts.sum()), "standard_errors": found.radius},
            memory=memory,
        )

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Every wanted arm decided, nothing left to measure, or a budget below one more phase."""
        done = settled(state)
        if done:
            return done
        problem = state.problem
        open_arms = int(((state.status == UNDECIDED) & problem.wanted).sum())
        if not state.active.any():
            text = f"{open_arms} stay open and cannot be measured any more"
            return (StopReason("lost", text, {"lost": open_arms, "undecided": open_arms}),)
        if problem.budget is not None:
            left = problem.budget - state.spent
            rank = table(problem.features, np.flatnonzero(problem.measurable)).rank
            if left < rank:
                text = f"the budget leaves {max(left, 0)} measurements, and one more decision needs at least {rank}"
                return (StopReason("budget", text, {"left": left, "needed": rank, "undecided": open_arms}),)
        return inseparable(state, 0.0, SOFTER)

    # ------------------------------------------------------------------ inside

    def _scale(self, problem: Problem) -> float:
        """What a predictor is multiplied with to be on the scale of epsilon."""
        return {"identity": problem.noise[0], "logit": 1.0, "log": 1.0 / _LN10}[self.link(problem)[0]]

    def _set(self, problem: Problem, memory: Arrays) -> tuple[LikelihoodSet, Any]:
        """The set by everything measured, and the coordinates of rows in it."""
        features, (link, _) = problem.features, self.link(problem)
        rows = table(features, np.arange(features.n_rows))
        second = features.gram(np.full(features.n_rows, 1.0 / features.n_rows), np.arange(features.n_rows))
        second = rows.basis.T @ second @ rows.basis
        centre = rows.basis.T @ features.moment(
            np.full(features.n_rows, 1.0 / features.n_rows), np.arange(features.n_rows)
        )
        level: Floats = np.linalg.solve(second, centre).astype(np.float64)

        def coordinates(which: Ints) -> Floats:
            z: Floats = features.dense(which) @ rows.basis
            return z

        arms, counts = memory["arms"].astype(np.intp), memory["counts"]
        means = memory["sums"] / counts
        if link == "identity":
            means = means / problem.noise[0]
        data = Data(coordinates(arms), counts, means, link)
        found = likelihood_set(data, prior_of(second, level, link), problem.delta)
        return replace(found, rough=self.rough), coordinates

    def _sorted(
        self, goal: Any, compared: Compared, scale: float, open_: Flags, known: Flags
    ) -> tuple[Ints, Ints, Ints]:
        """Positions of those in, those out, and of those in before who would be out now."""
        slack = goal.slack / scale
        epsilon = goal.epsilon / scale if isinstance(goal, AllEpsilonBest) else slack
        low, high = compared.shown(compared.low), compared.shown(compared.high)
        n = len(low)
        leaders = np.argsort(-low, kind="stable")[:_LEADERS]
        behind = low.max(initial=-np.inf) - high
        not_best = behind > 0
        for leader in leaders[np.isfinite(compared.low[leaders])]:
            least = compared.least(np.full(n, leader), np.arange(n))
            behind, not_best = np.maximum(behind, least), not_best | (least > 0)
        out = behind > epsilon
        if isinstance(goal, Best):
            named = np.flatnonzero(known)
            rivals = np.flatnonzero(~not_best)
            if not len(named):
                asked = rivals[open_[rivals]]
                asked = asked[np.argsort(-(compared.z[asked] @ compared.found.centre), kind="stable")][:_ASKED]
                named = self._near(compared, asked, rivals, slack)[:1]
                ins = named
            else:
                ins = named[:0]
            near = np.zeros(n, dtype=bool)
            if len(named):
                # Who came to be had after it was named has to be compared with it as well.
                block = rivals[open_[rivals]]
                near[block[compared.most(block, np.full(len(block), named[0])) <= slack]] = True
            outs = np.flatnonzero(open_ & (not_best | near))
            return ins, np.setdiff1d(outs, ins), np.flatnonzero(known & out)
        asked = np.flatnonzero(open_ & ~out)
        ins = self._near(compared, asked, np.flatnonzero(~not_best), epsilon + slack)
        return ins, np.flatnonzero(open_ & out), np.flatnonzero(known & out)

    def _near(self, compared: Compared, arms: Ints, rivals: Ints, distance: float) -> Ints:
        """The arms that no rival can be better than by more than a distance; the likeliest rivals are asked first."""
        low, high = compared.shown(compared.low), compared.shown(compared.high)
        left = _PAIRS
        for rival in rivals[np.argsort(-high[rivals], kind="stable")]:
            if not len(arms):
                break
            doubtful = (high[rival] - low[arms] > distance) & (arms != rival)
            if not doubtful.any():
                continue
            left -= int(doubtful.sum())
            if left < 0:
                return arms[:0]
            asked = arms[doubtful]
            most = compared.most(np.full(len(asked), rival), asked)
            arms = np.sort(np.concatenate([arms[~doubtful], asked[most <= distance]]))
        return arms

    def _needs(self, state: State) -> Needs | None:
        """What is open: each undecided compound beside the best by the estimate, and the precision it takes."""
        problem, last = state.problem, state.last
        if last is None or not len(state.memory["arms"]):
            return None
        estimate = last.estimate[0]
        known = state.active & np.isfinite(estimate)
        open_ = np.flatnonzero(known & (state.status == UNDECIDED) & problem.wanted)
        if not len(open_) or (state.active & ~known & (state.status == UNDECIDED)).any():
            return None
        leader = int(np.flatnonzero(known)[np.argmax(estimate[known])])
        open_ = open_[open_ != leader]
        goal = problem.goal
        slack = goal.slack if isinstance(goal, AllEpsilonBest | Best) else 0.0
        epsilon = goal.epsilon if isinstance(goal, AllEpsilonBest) else slack
        behind = estimate[leader] - estimate[open_]
        far = epsilon + slack if isinstance(goal, AllEpsilonBest) else slack
        near = epsilon if isinstance(goal, AllEpsilonBest) else 0.0
        gap = np.maximum(np.maximum(behind - near, far - behind), max(slack, 0.05 * max(epsilon, 1e-9)) / 2.0)
        if not len(open_):
            return None
        first, second = np.full(len(open_), leader), open_
        # Who is to be in is compared with all that may be better, not with the leader alone.
        low, high = last.low[0], last.high[0]
        rivals = np.flatnonzero(known)
        rivals = rivals[(rivals != leader)]
        rivals = rivals[np.argsort(-high[rivals], kind="stable")][:_RIVALS]
        near_ones = np.append(open_[behind < near + slack], leader if state.status[leader] == UNDECIDED else [])
        i, j = (grid.ravel() for grid in np.meshgrid(near_ones.astype(np.intp), rivals, indexing="ij"))
        told = (high[j] - low[i] > far) & (i != j)
        first, second = np.concatenate([first, j[told]]), np.concatenate([second, i[told]])
        others = np.maximum(far - (estimate[j] - estimate[i])[told], slack / 2.0 or gap.min(initial=1.0))
        # Bounds of two compounds say less than that of their difference, so most of these need less than it seems.
        gap = np.append(gap, _LESS * others)
        hardest = np.argsort(gap, kind="stable")[:_HARDEST]
        precision = last.numbers["standard_errors"] / gap[hardest]
        if self.link(problem)[0] == "log":
            precision = precision / problem.noise[0]
        return Needs(first[hardest], second[hardest], precision)


def _with(memory: Arrays, arms: Ints, counts: Floats, means: Floats) -> Arrays:
    """What was measured so far, and this."""
    every = np.concatenate([memory["arms"].astype(np.intp), arms])
    where, place = np.unique(every, return_inverse=True)
    total = np.bincount(place, np.concatenate([memory["counts"], counts]), len(where))
    sums = np.bincount(place, np.concatenate([memory["sums"], counts * means]), len(where))
    return {"arms": where, "counts": total, "sums": sums}
