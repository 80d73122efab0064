"""Shared parts of strategies that pool all measurements and test after every batch: decisions, stopping, first arms."""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.linalg import qr

from ...arrays import Flags, Floats, Ints
from ...system.progress import Report, silent
from ..phased import Phased, lost_reason, one_of, over_budget, settled
from ..protocol import (
    IN,
    OUT,
    UNDECIDED,
    Allocation,
    Arrays,
    Certificate,
    Decision,
    Outcome,
    Parameter,
    Problem,
    State,
    StopReason,
)
from .pool import Pool, Rules, added, pooled, rules_of, table_of
from .questions import Sides, question_of

_EXPENSIVE = 4.0
"""From this multiple of the measurements on, a warning states what a bound on the effects costs."""

_SAME = 1e-6
"""A row whose rest outside the span is shorter than this share of its length adds no direction."""

FIRST = Parameter(
    "first",
    "spanning",
    "what comes first; spanning: one measurement per dimension; each: one of every compound, as in the authors' code",
)


class Sequential(Phased):
    """Pools everything, decides an arm as soon as the confidence ellipsoid leaves one answer; a phase is a batch.

    An arm is decided in when "in" is right under every parameter in the ellipsoid, and out when "out" is. The
    ellipsoids of all looks hold together with the stated confidence. So decisions of different phases may be combined,
    and with slack every arm may take the side that is certain first. For the goals of LinGame this is eq. 3
    tested for each arm by itself: it never stops later.
    """

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = self.parameters(problem)
        rules_of(problem, parameters)
        one_of("first", parameters["first"], ("spanning", "each"))
        return parameters

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return the reasons why these parameters promise no error probability."""
        if self.parameters(problem)["threshold"] != "experiments":
            return ()
        return (
            "threshold=experiments stops by log((1 + log t) / delta), which no theorem covers here: "
            "the confidence is not guaranteed",
        )

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Return what a bound on the effects costs, where it makes a campaign much longer."""
        rules = self.rules(problem)
        price = rules.price()
        if price < _EXPENSIVE:
            return ()
        return (
            f"with norm = {rules.norm:g} and eta = {rules.eta:.3g} a decision takes about {price:,.0f} times the "
            "measurements it takes without norm: this is what the theorem costs",
        )

    def assumes(self, problem: Problem) -> tuple[str, ...]:
        """Return that effects add up, and the bound on them where one was given."""
        norm, given = self.parameters(problem)["norm"], super().assumes(problem)
        if norm is None:
            return given
        return (*given, f"the effects are no larger than {norm:g} together (the root of the sum of their squares)")

    def memory(self, problem: Problem) -> Arrays:
        """Return counts and sums of values of every arm."""
        n = problem.n_arms
        return {"counts": np.zeros(n), "sums": np.zeros(n)}

    def rules(self, problem: Problem) -> Rules:
        """Return the parameters as numbers."""
        return rules_of(problem, self.parameters(problem))

    def ask(self, state: State, report: Report = silent) -> Allocation:
        """Return the next batch; before the measurements span what can be measured, the arms that are missing first."""
        rules = self.rules(state.problem)
        budget = state.problem.budget
        first = self.first_arms(state)
        size = max(rules.batch, len(first))
        left = size if budget is None else budget - state.spent
        n = min(size, left)
        capacity = state.problem.capacity
        most = capacity.max_replicates if capacity else n
        counts = self.batch(state, rules, first[:n], n, most)
        none = Certificate("none", 0.0, 0.0)
        return Allocation.after(state, np.arange(len(counts)), counts, math.inf, none, cut=n < size)

    def first_arms(self, state: State) -> Ints:
        """Return arms to measure because nothing is known of a direction they have; chosen by counts, never by values.

        Every measurable arm once where that was chosen.
        """
        arms = missing(state)
        if len(arms) and state.last is None and self.parameters(state.problem)["first"] == "each":
            return shuffled(state.problem, state.problem.measurable)
        return arms

    @abstractmethod
    def batch(self, state: State, rules: Rules, first: Ints, n: int, most: int) -> Ints:
        """Return ``(n_arms,)`` measurements of a batch of n that begins with ``first``, at most ``most`` of one."""

    def remember(
        self, state: State, outcome: Outcome, rules: Rules, pool: Pool, open_arms: Flags, rivals: Flags
    ) -> Arrays:
        """Return what is carried to the next phase besides counts and sums."""
        return {}

    def decide(self, state: State, outcome: Outcome) -> Decision | None:
        """Return every open arm whose answer is the same in the whole confidence ellipsoid."""
        problem = state.problem
        if not (outcome.counts[0] > 0).any() or not state.active.any():
            return None
        rules = self.rules(problem)
        counts, sums = added(state, outcome)
        pool = pooled(table_of(problem.features, problem.measurable | (counts > 0)), rules, counts, sums)
        reach = rules.reach(pool.total)
        spread = pool.spread()
        ins, outs, waiting = self.verdict(state, pool, spread, reach)
        open_arms = (state.status == UNDECIDED) & state.active
        open_arms[ins] = open_arms[outs] = False
        rivals = compared(state) & pool.known
        rivals[outs] = False
        half = math.sqrt(reach) * np.sqrt(np.einsum("ij,ij->i", spread, spread))
        bounds = np.full((3, 1, problem.n_arms), np.nan)
        known, unknown = state.active & pool.known, state.active & ~pool.known
        bounds[0, 0, known] = pool.means[known]
        bounds[1, 0, known] = pool.means[known] - half[known]
        bounds[2, 0, known] = pool.means[known] + half[known]
        bounds[1, 0, unknown] = -np.inf
        bounds[2, 0, unknown] = np.inf
        return Decision.after(
            state,
            outcome,
            bounds,
            ins=ins,
            outs=outs,
            contradicted=self.contradicted(state, pool, spread, reach),
            numbers={
                "measurements": pool.total,
                "threshold": reach,
                "rank": float(pool.factor.shape[1]),
                "only_lost": float(waiting),
            },
            memory={"counts": counts, "sums": sums, **self.remember(state, outcome, rules, pool, open_arms, rivals)},
        )

    def verdict(self, state: State, pool: Pool, spread: Floats, reach: float) -> tuple[Ints, Ints, bool]:
        """Return arms now decided in and out, and whether those still open wait only for arms that were lost."""
        open_arms = (state.status == UNDECIDED) & state.active & pool.known
        rivals = compared(state)
        sides = _sides(state, pool, spread, open_arms, rivals)
        ins, outs = self.settle(state, sides, reach)
        if not state.lost.any():
            return ins, outs, False
        rest = _sides(state, pool, spread, open_arms, rivals & ~state.lost)
        others = sum(len(arms) for arms in self.settle(state, rest, reach))
        return ins, outs, others == int(((state.status == UNDECIDED) & state.active).sum())

    def settle(self, state: State, sides: Sides, reach: float) -> tuple[Ints, Ints]:
        """Return the arms in and out by the distances; the best is in only with all others out."""
        inside, outside = sides.inside > reach, sides.outside > reach
        # In a soft zone both may be certain; the clearer one is decided.
        inside, outside = inside & (sides.inside >= sides.outside), outside & (sides.inside < sides.outside)
        if state.problem.goal.name == "best" and inside.any():
            open_arms = (state.status == UNDECIDED) & state.active
            return np.flatnonzero(inside), np.flatnonzero(open_arms & ~inside)
        return np.flatnonzero(inside), np.flatnonzero(outside)

    def contradicted(self, state: State, pool: Pool, spread: Floats, reach: float) -> Ints:
        """Return arms whose earlier decision would be the other now; checked only where the estimate suggests it."""
        decided = ((state.status == IN) | (state.status == OUT)) & pool.known & state.problem.wanted
        if state.problem.goal.name == "best" or not decided.any():
            return np.zeros(0, dtype=np.intp)
        rivals = compared(state) & pool.known
        now_in = question_of(state.problem.goal).answer(pool.means, decided, rivals)
        doubtful = decided & (now_in != (state.status == IN))
        if not doubtful.any():
            return np.zeros(0, dtype=np.intp)
        sides = _sides(state, pool, spread, doubtful, rivals)
        wrong = np.where(state.status == IN, sides.outside > reach, sides.inside > reach)
        return np.flatnonzero(doubtful & wrong)

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Stop when all is decided, nothing is left to measure but lost arms, or the budget is used up."""
        done = settled(state)
        if done:
            return done
        if state.last is not None and state.lost.any() and state.last.numbers.get("only_lost"):
            return (lost_reason(state),)
        return over_budget(state, 1)


def compared(state: State) -> Flags:
    """Return ``(n_arms,)``: the rivals of an arm: wanted arms that may be the best.

    Those that are out are certainly not the best; those that were lost still count, by what is known of them.
    """
    return state.active | state.lost


def _sides(state: State, pool: Pool, spread: Floats, open_arms: Flags, rivals: Flags) -> Sides:
    """Return the distances of the goal; no arm is in while a rival is not known at all."""
    sides = question_of(state.problem.goal).sides(pool.means, spread, open_arms, rivals & pool.known)
    if state.problem.goal.name != "threshold" and (rivals & ~pool.known).any():
        return Sides(np.zeros(len(open_arms)), sides.outside)
    return sides


def missing(state: State) -> Ints:
    """Return measurable arms, one for every direction that can be measured and was not yet, in a seeded order."""
    measurable = state.problem.measurable
    counts = state.memory["counts"]
    table = table_of(state.problem.features, measurable | (counts > 0))
    if state.last is not None and state.last.numbers["rank"] == table.x.shape[1]:
        return np.zeros(0, dtype=np.intp)
    return spanning(table.x, np.flatnonzero(counts > 0), shuffled(state.problem, measurable))


def spanning(x: Floats, measured: Ints, candidates: Ints) -> Ints:
    """Return candidates that complete the span of the measured rows, the longest rest first; ``x`` is ``(n, d)``."""
    rest = x[candidates].copy()
    lengths = np.maximum(np.linalg.norm(rest, axis=1), 1e-150)
    if len(measured):
        _, sizes, directions = np.linalg.svd(x[measured], full_matrices=False)
        known = directions[sizes > _SAME * max(float(sizes.max(initial=0.0)), 1e-300)]
        rest -= (rest @ known.T) @ known
    if not rest.size:
        return candidates[:0]
    triangle, order = qr(rest.T, mode="r", pivoting=True, check_finite=False)
    pivots = np.abs(np.diagonal(triangle))
    first = order[: len(pivots)]
    chosen: Ints = candidates[first[pivots > _SAME * lengths[first]]]
    return chosen


def shuffled(problem: Problem, among: Flags) -> Ints:
    """Return these arms in an order that is the same for every phase and depends on the seed alone.

    Without it ties would go to the first rows of the table, which often share a substituent.
    """
    order = _order(problem.n_arms, problem.seed)
    return order[among[order]]


@lru_cache(maxsize=8)
def _order(n: int, seed: int) -> Ints:
    order: Ints = np.random.default_rng((seed, n)).permutation(n)
    order.flags.writeable = False
    return order


def track(behind: Floats, weights: Floats, n: int, most: int, arms: int | None = None) -> Ints:
    """Return ``(k,)`` how often each of k is taken when the weights are added n times, always the one furthest behind.

    ``behind`` is what is owed so far, W - N (LinGame: argmin N - W). At most ``most`` of one, so that a lab can run
    the batch in a round; what that leaves owed is caught up later. ``arms``: how many there are where the k are pairs
    of an answer and an arm, answer by answer; then at most ``most`` of an arm over all its answers.
    """
    owed = behind.copy()
    each = len(owed) if arms is None else arms
    taken, of_arm = np.zeros(len(owed), dtype=np.intp), np.zeros(each, dtype=np.intp)
    for _ in range(n):
        owed += weights
        place = int(owed.argmax())
        if of_arm[place % each] >= most:
            free = np.flatnonzero(np.tile(of_arm < most, len(owed) // each))
            if not len(free):
                break
            place = int(free[owed[free].argmax()])
        owed[place] -= 1.0
        taken[place] += 1
        of_arm[place % each] += 1
    return taken
