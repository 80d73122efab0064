"""LinGame and LinGame-C: pure exploration as a game against the nearest truth that would make the answer wrong.

Source: Degenne, Menard, Shang, Valko, "Gamification of pure exploration for linear bandits", Algorithms 1 and 2, eq. 3,
4 and 10, with noise, slack, batches, measurable arms (X) distinct from wanted arms (Z), and the goal of all compounds
within epsilon of the best, which are ours.

The learner is AdaHedge: weights over experts that follow the losses seen so far, with a rate that needs no tuning (de
Rooij, van Erven, Gruenwald and Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014, section 2):
rate ln(K) / Delta, where Delta adds up how far the weighted loss was above the mix loss. LinGame's Lemma 3
is its regret bound.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...arrays import Flags, Floats, Ints
from ...models.ols import positive_inverse
from ..phased import one_of
from ..protocol import Arrays, Outcome, Parameter, Problem, State, StrategyInfo
from .pool import POOL_PARAMETERS, Pool, Rules
from .questions import question_of
from .sequential import FIRST, Sequential, missing, shuffled, track

START = 0.01
"""AdaHedge's Delta before the first loss, as in LinGame's published code: the rate is finite from the start."""
_ENTRIES = 20_000
"""Numbers kept for learners, whatever the number of arms: the oldest answers are forgotten first."""

_MOST_ANSWERS = 64
_FEWEST_ANSWERS = 4

_FLAT = 1e-8
"""Share of the mean information added in every direction, since weights may leave a direction (almost) unmeasured."""

_PARAMETERS = (
    *POOL_PARAMETERS,
    Parameter(
        "optimism",
        "proven",
        "proven: gains as in the paper, h(t) = beta(t, 1 / t^3); experiments: log t, as in the authors' code",
    ),
    FIRST,
)

_MOST_PLAYS = 16
"""Times that the game is played between two batches, at most; fewer are as many as measurements."""

_GUARANTEE = (
    "with the stated confidence the answer is right whenever it stops, if the substituent effects add up; "
    "few measurements are the target, proven only for the best compound or a threshold, with norm, eta=theorem and "
    "batches of 1, as the error probability goes to 0"
)


class Played(NamedTuple):
    """One play of the learner."""

    weights: Floats
    """``(k,)``, they sum to one."""
    rate: float
    mixed: float
    """-log of the mean of exp(-rate * loss so far), over the rate."""


def play(losses: Floats, gap: float) -> Played:
    """Return the weights of the experts for their losses so far and the mixability gap so far."""
    rate = math.log(len(losses)) / gap
    best = float(losses.min())
    shares = np.exp((best - losses) * rate)
    total = float(shares.sum())
    return Played(shares / total, rate, _mixed(best, total, len(losses), rate))


def incurred(losses: Floats, gap: float, played: Played, loss: Floats) -> tuple[Floats, float]:
    """Return losses and mixability gap after one more loss vector, for what was played."""
    after = losses + loss
    best = float(after.min())
    total = float(np.exp((best - after) * played.rate).sum())
    mix = _mixed(best, total, len(after), played.rate) - played.mixed
    # The weighted loss is never below the mix loss; only rounding puts it there.
    return after, gap + max(0.0, float(played.weights @ loss) - mix)


def _mixed(best: float, total: float, k: int, rate: float) -> float:
    """Return the mix loss from the smallest loss and the sum of exp(rate * (smallest - loss)).

    One expert has rate 0.
    """
    return best - math.log(total / k) / rate if rate > 0.0 else best


class Round:
    """The estimate that one batch's games are played at: nature's answers and the learner's gains (eq. 10)."""

    def __init__(
        self,
        problem: Problem,
        rules: Rules,
        pool: Pool,
        open_arms: Flags,
        rivals: Flags,
        measurable: Ints,
        counts: Floats,
    ) -> None:
        self.question = question_of(problem.goal)
        self.measurable = measurable
        self.sigma = rules.sigma
        self.pool = pool
        self.open_arms = open_arms & pool.known
        self.rivals = rivals
        self.answer = self.question.answer(pool.means, self.open_arms, self.rivals)
        self.x = pool.table.x[measurable]
        t = max(pool.total, 1.0)
        if rules.parameters["optimism"] == "experiments":
            explored, most = math.log(t), 2.0 * math.log(t)
        else:
            explored = rules.beta(t, 3.0 * math.log(t))
            # Without a bound on the effects nothing but the noise bounds a gain, as in the authors' code.
            most = 2.0 * explored if rules.norm is None else 4.0 * (rules.length * rules.norm / rules.sigma) ** 2
        self.unsure = np.sqrt(2.0 * explored * self.variances(counts[measurable]))
        self.most = most

    def variances(self, counts: Floats) -> Floats:
        """Return how well each measurable arm's mean is known, at a noise SD of 1: what optimism adds to a gain."""
        norms: Floats = np.maximum(np.einsum("ij,ij->i", self.x @ self.pool.covariance, self.x), 0.0)
        return norms

    def losses(self, shift: Floats | None) -> Floats:
        """Return -U / 2 of every measurable arm for nature's step from the estimate; None: nature stays at it."""
        far = self.unsure if shift is None else np.abs(self.x @ shift) / self.sigma + self.unsure
        return -0.5 * np.minimum(far * far, self.most)

    def nature(self, weights: Floats) -> Floats:
        """Return the step from the estimate to the nearest truth in V_w under which the answer is wrong."""
        information: Floats = self.x.T @ (self.x * weights[:, None])
        # A view of the diagonal.
        diagonal = information.reshape(-1)[:: len(information) + 1]
        diagonal += _FLAT * max(float(diagonal.mean()), 1e-100)
        inverse = positive_inverse(information)
        return self.question.nearest(
            self.pool.table.x, self.pool.means, inverse, self.answer, self.open_arms, self.rivals
        )


def _kept_answers(n_arms: int) -> int:
    return max(_FEWEST_ANSWERS, min(_MOST_ANSWERS, _ENTRIES // max(n_arms, 1)))


def _find(answers: NDArray[np.uint8], key: NDArray[np.uint8]) -> int | None:
    """Return the row of an answer; None when it has not occurred."""
    hits = (answers == key).all(axis=1).nonzero()[0]
    return int(hits[0]) if len(hits) else None


class LinGame(Sequential):
    """One learner of weights for every answer; the estimate's answer chooses the one to act (Algorithm 1)."""

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingame",
        version=1,
        title="LinGame",
        goals=("best", "epsilon-best", "threshold"),
        parameters=_PARAMETERS,
        guarantee=_GUARANTEE,
        source="LinGame, Algorithm 1",
    )

    round: ClassVar[type[Round]] = Round

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults; AssayPilotError for one out of range."""
        parameters = super().check(problem)
        one_of("optimism", parameters["optimism"], ("proven", "experiments"))
        return parameters

    def memory(self, problem: Problem) -> Arrays:
        """Return counts, sums, the weights added up (W) and in force (w), and the learners by answer."""
        n = problem.n_arms
        return {
            **super().memory(problem),
            "tracked": np.zeros(n),
            "weights": np.zeros(n),
            "answers": np.zeros((0, (n + 7) // 8), dtype=np.uint8),
            "losses": np.zeros((0, n)),
            "gaps": np.zeros(0),
        }

    def batch(self, state: State, rules: Rules, first: Ints, n: int, most: int) -> Ints:
        """Return the first arms, then those furthest behind the weights: argmin N - W, one after the other."""
        counts = np.bincount(first, minlength=state.problem.n_arms)
        order = shuffled(state.problem, state.problem.measurable)
        weights, owed = _in_force(state, order)
        # While a direction is missing nothing was learnt, so the weights are even and nothing is owed.
        behind = -counts[order].astype(float) if len(first) else owed
        counts[order] += track(behind, weights, n - len(first), most)
        return counts

    def remember(
        self, state: State, outcome: Outcome, rules: Rules, pool: Pool, open_arms: Flags, rivals: Flags
    ) -> Arrays:
        """Return the game between this batch and the next: weights, nature's best response, optimistic gains."""
        old = state.memory
        measurable = state.problem.measurable.nonzero()[0]
        tracked = old["tracked"].copy()
        if missing(state).size:
            tracked = old["counts"] + outcome.counts[0]
        else:
            weights, _ = _in_force(state, measurable)
            tracked[measurable] += outcome.allocation.total * weights
        carried = {name: old[name] for name in ("weights", "answers", "losses", "gaps")} | {"tracked": tracked}
        if not open_arms.any() or not len(measurable) or not pool.full:
            return carried
        counts = old["counts"] + outcome.counts[0]
        round_ = self.round(state.problem, rules, pool, open_arms, rivals, measurable, counts)
        key = np.packbits(round_.answer)
        row = _find(old["answers"], key)
        if row is None:
            losses, gap = self._fresh(state)
        else:
            losses, gap = old["losses"][row].copy(), float(old["gaps"][row])
        own = losses[measurable]
        plays = min(rules.batch, _MOST_PLAYS)
        mean = np.zeros(len(measurable))
        for _ in range(plays):
            played = play(own, gap)
            own, gap = incurred(own, gap, played, round_.losses(round_.nature(played.weights)))
            mean += played.weights / plays
        losses[measurable] = own
        weights = np.zeros(state.problem.n_arms)
        weights[measurable] = mean
        # The answer in play goes to the end, so that the answers longest not seen are forgotten first.
        rest = np.arange(len(old["gaps"])) != (-1 if row is None else row)
        kept = _kept_answers(state.problem.n_arms) - 1
        return carried | {
            "weights": weights,
            "answers": np.vstack([old["answers"][rest][-kept:], key]),
            "losses": np.vstack([old["losses"][rest][-kept:], losses]),
            "gaps": np.append(old["gaps"][rest][-kept:], gap),
        }

    def _fresh(self, state: State) -> tuple[Floats, float]:
        """Return the learner of an answer that has not occurred.

        For single answers it knows nothing, as in the paper. Sets of compounds change by one compound at a time, so
        there it starts from the learner of the set before: regret is against the same gains but for that compound.
        """
        old = state.memory
        if state.problem.goal.name == "best" or not len(old["gaps"]):
            return np.zeros(state.problem.n_arms), START
        return old["losses"][-1].copy(), float(old["gaps"][-1])


def _in_force(state: State, arms: Ints) -> tuple[Floats, Floats]:
    """Return the weights in force over these measurable arms, even before the first game, and what is owed, W - N."""
    weights = state.memory["weights"][arms]
    total = float(weights.sum())
    weights = weights / total if total > 0 else np.full(len(arms), 1.0 / max(len(arms), 1))
    return weights, state.memory["tracked"][arms] - state.memory["counts"][arms]


class LinGameC(LinGame):
    """One learner of weights over arms and answers at once, the convex form of the game (Algorithm 2).

    Answers that have not occurred share one row: nature stays at the estimate for each of them, so their gains are the
    same, and an answer that occurs starts with them. What a pair of arm and answer is owed decides what is measured.
    """

    info: ClassVar[StrategyInfo] = StrategyInfo(
        name="lingame-c",
        version=1,
        title="LinGame-C",
        goals=("best", "epsilon-best", "threshold"),
        parameters=_PARAMETERS,
        guarantee=_GUARANTEE,
        source="LinGame, Algorithm 2",
    )

    def memory(self, problem: Problem) -> Arrays:
        """Return counts, sums, and per answer the losses, the weights in force, and what every pair is owed (W - N)."""
        n = problem.n_arms
        return {
            **Sequential.memory(self, problem),
            "answers": np.zeros((0, (n + 7) // 8), dtype=np.uint8),
            "losses": np.zeros((0, n)),
            "unseen": np.zeros(n),
            "weights": np.zeros((0, n)),
            "owed": np.zeros((0, n)),
            "gap": np.array(START),
        }

    def batch(self, state: State, rules: Rules, first: Ints, n: int, most: int) -> Ints:
        """Return the first arms, then the arms of the pairs furthest behind their weights."""
        counts = np.bincount(first, minlength=state.problem.n_arms)
        order = shuffled(state.problem, state.problem.measurable)
        pairs = self._pairs(state, order, first, n - len(first), most)
        counts[order] += pairs.sum(axis=0)
        return counts

    def _pairs(self, state: State, order: Ints, first: Ints, n: int, most: int) -> Ints:
        """Return ``(n_answers, n_arms in this order)`` how often each pair is taken in a batch."""
        if not len(state.memory["weights"]):
            even = np.full(len(order), 1.0 / max(len(order), 1))
            begun = np.bincount(first, minlength=state.problem.n_arms)[order]
            return track(-begun.astype(float), even, n, most)[None]
        weights = self._in_force(state, order)
        owed = state.memory["owed"][:, order]
        rows, k = owed.shape
        taken = track(owed.ravel(), weights.ravel(), n, most, k)
        return taken.reshape(rows, k)

    def _in_force(self, state: State, arms: Ints) -> Floats:
        weights: Floats = state.memory["weights"][:, arms]
        total = float(weights.sum())
        return weights / total if total > 0 else np.full(weights.shape, 1.0 / max(weights.size, 1))

    def remember(
        self, state: State, outcome: Outcome, rules: Rules, pool: Pool, open_arms: Flags, rivals: Flags
    ) -> Arrays:
        """Return the game over arms and answers; nature moves for the estimate's answer and stays for all others."""
        old = state.memory
        measurable = state.problem.measurable.nonzero()[0]
        owed = self._settled(state, outcome, measurable)
        carried = {name: old[name] for name in ("answers", "losses", "unseen", "weights", "gap")} | {"owed": owed}
        if not open_arms.any() or not len(measurable) or not pool.full:
            return carried
        counts = old["counts"] + outcome.counts[0]
        round_ = self.round(state.problem, rules, pool, open_arms, rivals, measurable, counts)
        key = np.packbits(round_.answer)
        row = _find(old["answers"], key)
        n = state.problem.n_arms
        if row is None:
            kept = slice(max(0, len(old["answers"]) - _kept_answers(n) + 1), None)
            answers = np.vstack([old["answers"][kept], key])
            losses = np.vstack([old["losses"][kept], old["unseen"]])
            owed = np.vstack([owed[kept], np.zeros(n)])
            row = len(answers) - 1
        else:
            answers, losses = old["answers"], old["losses"].copy()
        own, gap = losses[:, measurable], float(old["gap"])
        stays = round_.losses(None)
        plays = min(rules.batch, _MOST_PLAYS)
        mean = np.zeros(own.shape)
        for _ in range(plays):
            played = play(own.ravel(), gap)
            weights = played.weights.reshape(own.shape)
            loss = np.tile(stays, (len(own), 1))
            loss[row] = round_.losses(round_.nature(weights[row]))
            after, gap = incurred(own.ravel(), gap, played, loss.ravel())
            own = after.reshape(own.shape)
            mean += weights / plays
        losses[:, measurable] = own
        weights = np.zeros(losses.shape)
        weights[:, measurable] = mean
        unseen = old["unseen"].copy()
        unseen[measurable] += plays * stays
        return {
            "answers": answers,
            "losses": losses,
            "unseen": unseen,
            "weights": weights,
            "owed": owed,
            "gap": np.array(gap),
        }

    def _settled(self, state: State, outcome: Outcome, measurable: Ints) -> Floats:
        """Return ``(n_answers, n_arms)`` what pairs are owed after a batch: weights added, measurements taken off.

        A measurement is credited to the pair it was meant for; more of an arm than was meant, to the last answer.
        """
        owed: Floats = state.memory["owed"].copy()
        if not len(owed):
            return owed
        total = outcome.allocation.total
        owed[:, measurable] += total * self._in_force(state, measurable)
        order = shuffled(state.problem, state.problem.measurable)
        first = self.first_arms(state)
        meant = np.zeros(owed.shape)
        capacity = state.problem.capacity
        most = capacity.max_replicates if capacity else total
        meant[:, order] = self._pairs(state, order, first, max(0, total - len(first)), most)
        before = np.cumsum(meant, axis=0) - meant
        came = outcome.counts[0]
        credited = np.clip(came - before, 0.0, meant)
        owed -= credited
        owed[-1] -= came - credited.sum(axis=0)
        return owed
