"""Which compounds to measure next: a first round spread over substituents, then what settles the answer most.

By joint draws: which compounds belong to the answer of a goal, and what an answer would cost.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dger

from ...arrays import Flags, Floats, Ints
from ...domain.goals import AllEpsilonBest, Best, Goal, ParetoSet, Threshold, Top
from ...domain.pareto import beaten, lead


@dataclass(frozen=True, slots=True)
class Beliefs:
    """Draw by draw which compounds belong to the answer, and which an answer may hold; ``(n_draws, K)`` each."""

    member: Flags
    acceptable: Flags
    margin: Floats
    """``(n_draws, K)`` how far each compound is above the border of the answer, in the objective's units."""

    @property
    def p_member(self) -> Floats:
        """Probability of belonging to the answer, ``(K,)``."""
        share: Floats = self.member.mean(axis=0)
        return share

    @property
    def p_acceptable(self) -> Floats:
        """Probability that an answer may hold it, ``(K,)``."""
        share: Floats = self.acceptable.mean(axis=0)
        return share

    def best_answer(self, goal: Goal) -> Flags:
        """Return the answer with the least expected number of wrong decisions, ``(K,)``."""
        if isinstance(goal, Best):
            chosen = np.zeros(self.member.shape[1], dtype=bool)
            chosen[int(np.argmax(self.p_acceptable + 1e-6 * self.p_member))] = True
            return chosen
        if isinstance(goal, Top):
            order = np.argsort(-(self.p_acceptable + 1e-6 * self.p_member), kind="stable")
            chosen = np.zeros(self.member.shape[1], dtype=bool)
            chosen[order[: goal.count]] = True
            return chosen
        return self.p_member + self.p_acceptable > 1.0

    def p_wrong(self, goal: Goal, answer: Flags) -> float:
        """Return the probability that an answer is not right: a member left out, or anything not acceptable in."""
        wrong = (~self.acceptable & answer).any(axis=1)
        if not isinstance(goal, Best | Top):
            wrong = wrong | (self.member & ~answer).any(axis=1)
        return float(wrong.mean())


def believe(goal: Goal, draws: Floats, kept: Flags | None = None) -> Beliefs:
    """Return the beliefs from joint draws ``(n_endpoints, n_draws, K)`` of the goal's endpoints.

    ``kept``: ``(n_draws, K)`` whether a compound keeps every limit: the best are the best of those that do.
    """
    values = draws[0]
    # Lower than any other, where a compound fails a limit.
    eligible = values if kept is None else np.where(kept, values, values.min() - np.ptp(values))
    if isinstance(goal, ParetoSet):
        beliefs = _pareto(goal, draws, kept)
    elif isinstance(goal, AllEpsilonBest):
        behind = values - eligible.max(axis=1, keepdims=True)
        beliefs = Beliefs(
            behind >= -goal.epsilon, behind >= -goal.epsilon - goal.slack, behind + goal.epsilon + 0.5 * goal.slack
        )
    elif isinstance(goal, Best):
        behind = values - eligible.max(axis=1, keepdims=True)
        beliefs = Beliefs(behind >= 0.0, behind >= -goal.slack, behind + 0.5 * goal.slack)
    elif isinstance(goal, Top):
        ahead = values - goal.border(eligible)[:, None]
        margin = np.where(np.isfinite(ahead), ahead, 0.0) + 0.5 * goal.slack
        beliefs = Beliefs(ahead >= 0.0, ahead >= -goal.slack, margin)
    else:
        assert isinstance(goal, Threshold)
        above = values - goal.threshold
        beliefs = Beliefs(above > goal.slack, above > -goal.slack, above)
    if kept is None:
        return beliefs
    return Beliefs(beliefs.member & kept, beliefs.acceptable & kept, beliefs.margin)


def _pareto(goal: ParetoSet, draws: Floats, kept: Flags | None) -> Beliefs:
    n_draws = draws.shape[1]
    member = np.empty(draws.shape[1:], dtype=bool)
    acceptable = np.empty_like(member)
    margin = np.empty(draws.shape[1:])
    spread, margins = np.maximum(draws.std(axis=(1, 2)), 1e-12)[:, None], np.array(goal.margins)[:, None]
    for draw in range(n_draws):
        means = draws[:, draw]
        eligible = means if kept is None or not kept[draw].any() else np.where(kept[draw], means, np.nan)
        member[draw] = goal.members(eligible)
        front, scaled = eligible[:, member[draw]], means / spread
        # What is beaten, with a margin or without, is beaten by a member of the front.
        acceptable[draw] = ~beaten(front, eligible + margins)
        # By how much the nearest member of the front is better in its least endpoint, in SDs of the endpoints.
        margin[draw] = -lead(scaled[:, member[draw]], scaled)
    return Beliefs(member, acceptable, margin)


_POOL = 400
"""Compounds considered for each pick of the first round."""
_SPREAD = 20_000
"""Compounds that the first round is chosen among, at random where there are more."""
_CONSIDERED = 400
"""Compounds that a round is chosen among."""

_WORTH = 0.02
"""Share of the first gain below which the places of a round stay empty where compounds have to be made."""


def spread(codes: NDArray[np.integer], sizes: tuple[int, ...], seen: Ints, free: Ints, n: int, seed: int) -> Ints:
    """Return ``n`` compounds among ``free`` whose substituents, and pairs of them, are as evenly used as possible.

    Those ``seen`` are counted. A pair that no measured compound has hides every member that has it.
    """
    rng = np.random.default_rng(seed)
    considered = free.copy()
    rng.shuffle(considered)
    arms = np.concatenate([considered[:_SPREAD], seen])
    left = np.arange(len(arms) - len(seen))
    kinds, weights, used = [], [], []
    for group in (*((site,) for site in range(len(sizes))), *itertools.combinations(range(len(sizes)), 2)):
        shape = [sizes[site] for site in group]
        # Numbered as they occur: most pairs of large sites do not.
        rows = codes[arms][:, group].T
        _, kind = np.unique(np.ravel_multi_index(tuple(rows), shape), return_inverse=True)
        kinds.append(kind)
        # A site is in as many pairs as there are other sites: it weighs more than each of them.
        weights.append(math.prod(shape) * (len(sizes) if len(group) == 1 else 1))
        used.append(np.bincount(kind[len(left) :], minlength=kind.max(initial=-1) + 1))
    chosen = []
    for _ in range(min(n, len(left))):
        pool = rng.choice(len(left), min(_POOL, len(left)), replace=False)
        score = 1e-3 * rng.random(len(pool))
        for kind, times, weight in zip(kinds, used, weights, strict=True):
            score += times[kind[left[pool]]] * weight
        place = int(pool[np.argmin(score)])
        pick = left[place]
        chosen.append(arms[pick])
        left[place] = left[-1]
        left = left[:-1]
        for kind, times in zip(kinds, used, strict=True):
            times[kind[pick]] += 1
    return np.array(chosen, dtype=np.intp)


def find(score: Floats, free: Flags, n: int, price: Floats | None = None) -> Ints:
    """Return the up to ``n`` compounds that are best by an upper bound: mean and one SD of their draws.

    With prices: that promise the largest expected improvement over all that is not free, per price (Snoek, Larochelle
    and Adams 2012), ties by the bound. ``score``: ``(n_draws, K)``, larger is better; ``free``: ``(K,)`` what may be
    picked; ``price``: ``(K,)`` of a first measurement.
    """
    upper = score.mean(axis=0) + score.std(axis=0)
    order = np.argsort(-np.where(free, upper, -np.inf), kind="stable")
    if price is not None and not free.all():
        ahead = np.maximum(score - score[:, ~free].max(axis=1, keepdims=True), 0.0).mean(axis=0) / price
        order = order[np.argsort(-np.where(free, ahead, -np.inf)[order], kind="stable")]
    return order[: min(n, int(free.sum()))]


def settle(
    draws: Floats, beliefs: Beliefs, noise: Floats, room: Ints, n: int, taken: Ints, price: Floats | None = None
) -> Ints:
    """Return how often to measure each compound, ``(K,)``, so that expected wrong decisions fall most.

    Greedy: each pick explains the largest share of the variance of the margins of doubtful compounds, given the picks
    before it (variances updated as if measured). ``draws``: ``(n_endpoints, n_draws, K)``; ``noise``:
    ``(n_endpoints, K)`` variance of one measurement; ``room``: ``(K,)`` how often each may still be planned; ``taken``:
    compounds picked before; ``price``: ``(K,)`` of a first measurement: gains are then per price.
    """
    planned = np.zeros(draws.shape[2], dtype=np.intp)
    loss = np.minimum(beliefs.p_member, 1.0 - beliefs.p_acceptable)
    mean, spread_of = beliefs.margin.mean(axis=0), beliefs.margin.std(axis=0)
    unit = float(spread_of.max()) or 1.0
    spread_of = np.maximum(spread_of / unit, 1e-9)
    mean = mean / unit
    # Where nothing is in doubt, what is nearest to the border informs most.
    rank = loss + 1e-4 * np.exp(np.clip(-np.abs(mean / spread_of), -9.0, 0.0))
    considered = np.argsort(-rank, kind="stable")[:_CONSIDERED]
    value = draws[:, :, considered] / unit
    value -= value.mean(axis=1, keepdims=True)
    margin = beliefs.margin[:, considered] / unit - mean[considered]
    noise = noise[:, considered] / unit**2
    own = np.ascontiguousarray(value.transpose(0, 2, 1) @ value / draws.shape[1])
    cross = np.ascontiguousarray(value.transpose(0, 2, 1) @ margin / draws.shape[1])
    weight = rank[considered] / spread_of[considered] ** 2
    left = room[considered].copy()

    def measure(position: int) -> None:
        for each, through, error in zip(own, cross, noise, strict=True):
            column, row = each[position].copy(), through[position].copy()
            total = column[position] + error[position]
            # In place: these matrices are what a round costs.
            dger(-1.0 / total, row, column, a=through.T, overwrite_a=True)
            dger(-1.0 / total, column, column, a=each.T, overwrite_a=True)

    def gains() -> Floats:
        variances = np.maximum(np.diagonal(own, axis1=1, axis2=2), 0.0) + noise
        gained: Floats = ((cross**2 @ weight) / variances).sum(axis=0)
        return gained if price is None else gained / price[considered]

    least = _WORTH * gains().max() if price is not None else 0.0
    place = {int(arm): position for position, arm in enumerate(considered)}
    for arm in taken:
        if int(arm) in place:
            measure(place[int(arm)])
    for _ in range(n):
        gain = np.where(left < 1, -np.inf, gains())
        position = int(np.argmax(gain))
        if not gain[position] >= least:
            break
        left[position] -= 1
        planned[considered[position]] += 1
        measure(position)
    return planned
