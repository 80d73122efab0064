"""A calibrated strategy of another package, as an example: an additive ridge model, and all that it needs."""

import numpy as np

from assaypilot.engine import StrategyInfo
from assaypilot.engine.strategies.informed import Informed
from assaypilot.engine.strategies.phased import exhausted
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Allocation, Certificate, Knowledge, StopReason
from assaypilot.engine.system.progress import silent


class Ridge(Informed):
    """Measure what may be the best, until few errors are expected."""

    info = StrategyInfo(
        name="ridge",
        version=1,
        title="Additive ridge model",
        goals=("epsilon-best",),
        parameters=(),
        guarantee="expected errors are stated, if effects add up",
        source="an example",
    )

    def draws(self, state, n=400):
        problem, seen = state.problem, self.measured(state)[0]
        every = problem.features.dense(np.arange(problem.n_arms))
        rows, weight = every[seen.arms], seen.counts / problem.noise[0] ** 2
        middle = float(np.mean(seen.values))
        covariance = np.linalg.inv(rows.T @ (weight[:, None] * rows) + np.eye(rows.shape[1]))
        mean = covariance @ (rows.T @ (weight * (seen.values - middle)))
        rng = np.random.default_rng([problem.seed, len(seen)])
        return middle + rng.multivariate_normal(mean, covariance, n) @ every.T

    def truths(self, state, n, rng):
        return [draw[None] for draw in self.draws(state, n)]

    def learn(self, state):
        problem, draws = state.problem, self.draws(state)
        behind = draws.max(axis=1, keepdims=True) - draws
        member = (behind <= problem.goal.epsilon).mean(axis=0)
        right = (behind <= problem.goal.epsilon + problem.goal.slack).mean(axis=0)
        inside = member + right > 1.0
        missed, wrong = float(member[~inside].sum()), float((1.0 - right)[inside].sum())
        low, high = np.quantile(draws, (0.025, 0.975), axis=0)
        return Knowledge(
            np.where(inside, IN, OUT if missed + wrong <= problem.delta else UNDECIDED).astype(np.int8),
            draws.mean(axis=0)[None],
            low[None],
            high[None],
            member,
            right,
            np.zeros((0, problem.n_arms)),
            missed,
            wrong,
            min(missed + wrong, 1.0),
            np.array(problem.noise),
        )

    def ask(self, state, report=silent):
        problem = state.problem
        arms = np.flatnonzero(problem.measurable)
        if self.has_values(state):
            draws = self.draws(state)
            arms = arms[np.argsort(-(draws.mean(axis=0) + draws.std(axis=0))[arms], kind="stable")]
        arms = np.sort(arms[: problem.capacity.per_round])
        ones = np.ones(len(arms), dtype=np.intp)
        return Allocation(state.phase + 1, arms, ones, np.inf, Certificate("none", 1.0, 1.0)).within_budget(state)

    def stop(self, state):
        known = self.knowledge(state)
        done = known is not None and state.last is not None and known.p_wrong <= state.problem.delta
        return (StopReason("decided", "few errors are expected"),) if done else exhausted(state)
