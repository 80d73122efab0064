"""Tables with a known truth; gaps lie at and just beyond the limits of right answers, so that errors can happen."""

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet, Threshold
from assaypilot.engine.strategies.protocol import Capacity
from tests.strategies import dense, problem_of, product

HAIR = 1e-9
"""Just beyond a limit."""


@dataclass(frozen=True, eq=False)
class Instance:
    """One table, its truth ``(n_endpoints, n_arms)`` on the scale of the goal, and what is asked."""

    name: str
    features: object
    truth: np.ndarray
    goal: object
    sd: tuple
    delta: float = 0.3
    budget: int | None = None
    per_round: int | None = None
    """Measurements in a round of the lab; None: the budget in one."""
    measurable: np.ndarray | None = None
    wanted: np.ndarray | None = None
    additive: np.ndarray | None = None
    """The part of the truth that adds up, where the rest deviates from it."""
    response: str = "gaussian"
    """What an assay gives back: gaussian, or bernoulli with the truth in log odds."""
    parameters: dict = field(default_factory=dict)

    @cached_property
    def x(self):
        """The dense rows."""
        return dense(self.features)

    def problem(self, mode, parameters, seed=0):
        """What a strategy is told; ``mode`` None: it decides in one way only."""
        most = self.per_round or self.budget
        capacity = None if most is None else Capacity(most, most, self.budget)
        given = {**self.parameters, **parameters} | ({} if mode is None else {"decide": mode})
        return problem_of(
            self.features,
            goal=self.goal,
            delta=self.delta,
            sd=self.sd,
            measurable=self.measurable,
            wanted=self.wanted,
            capacity=capacity,
            seed=seed,
            **given,
        )


@dataclass(frozen=True, eq=False)
class Sites:
    """A table of sites and substituents with the effects of one endpoint, for whole campaigns too."""

    name: str
    codes: np.ndarray
    sizes: tuple
    effects: tuple
    sd: float
    epsilon: float
    slack: float
    delta: float = 0.3
    budget: int | None = None

    @property
    def features(self):
        return SiteFeatures(self.codes, self.sizes)

    @property
    def truth(self):
        return dense(self.features) @ np.array(self.effects)

    def instance(self, **changes):
        known = {
            "name": self.name,
            "features": self.features,
            "truth": self.truth[None],
            "goal": AllEpsilonBest(self.epsilon, self.slack),
            "sd": (self.sd,),
            "delta": self.delta,
            "budget": self.budget,
        }
        return Instance(**(known | changes))


SPARSE = np.array(
    # Two blocks that share no substituent of the first two sites, and a third site that goes with the first.
    [
        *([0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 2, 0], [1, 2, 1]),
        *([2, 3, 2], [2, 4, 2], [3, 3, 2], [3, 4, 2], [2, 3, 0], [3, 4, 0]),
    ]
)
SPARSE_SIZES = (4, 5, 3)

SITES = (
    # Best 7.5; two compounds exactly 0.5 below it, two 0.75 + 1e-9 below it, others on both sides.
    Sites(
        "full 3 x 3 x 2",
        product((3, 3, 2)),
        (3, 3, 2),
        (6.0, 0.5, 0.25, 0.0, 0.5, 0.0, -0.25 - HAIR, 0.5, 0.0),
        sd=0.3,
        epsilon=0.5,
        slack=0.25,
    ),
    Sites(
        "sparse 12, rank 8 of 10",
        SPARSE,
        SPARSE_SIZES,
        (6.0, 0.4, 0.0, 0.2, -0.3, 0.3, 0.0, -0.1, 0.3, 0.0, 0.0, 0.0, 0.2),
        sd=0.25,
        epsilon=0.4,
        slack=0.2,
    ),
    # No slack: gaps of exactly epsilon are never resolved, so the budget ends it; every phase is a chance to be wrong.
    Sites(
        "full 5 x 2, no slack, 3,000 measurements",
        product((5, 2)),
        (5, 2),
        (6.0, 0.6, 0.3, 0.1, -0.2, -0.6, 0.5, 0.0),
        sd=0.3,
        epsilon=0.5,
        slack=0.0,
        budget=3000,
    ),
)

EPSILON_BEST = tuple(sites.instance() for sites in SITES)


def deviating(sites, error, seed, **changes):
    """The same table when every mean deviates from additivity by exactly ``error``, up or down."""
    additive = sites.truth[None]
    signs = np.random.default_rng((2080, seed)).choice([-1.0, 1.0], additive.shape)
    return sites.instance(
        name=f"{sites.name}, off by {error:g}",
        truth=additive + error * signs,
        additive=additive,
        parameters={"model_error": error},
        **changes,
    )


MISSPECIFIED = (deviating(SITES[0], 0.01, 0), deviating(SITES[1], 0.005, 1), deviating(SITES[2], 0.01, 2))


def log_odds(name, sizes, effects, epsilon, slack, bound):
    codes = product(sizes)
    features = SiteFeatures(codes, sizes)
    truth = (dense(features) @ np.array(effects))[None]
    assert np.abs(truth).max() <= bound
    goal = AllEpsilonBest(epsilon, slack)
    # The noise of yes or no follows from the means; the strategy must not believe what it is told.
    return Instance(
        name, features, truth, goal, (99.0,), response="bernoulli", parameters={"link": "logit", "bound": bound}
    )


YES_OR_NO = (
    log_odds("3 x 2, log odds", (3, 2), (0.0, 1.0, 0.5, -0.5 - HAIR, 0.5, -0.5), 0.5, 0.5, 1.6),
    log_odds("2 x 2 x 2, log odds", (2, 2, 2), (0.0, 0.5, -0.5, 0.5, -0.5 - HAIR, 0.25, -0.25), 1.0, 0.5, 1.3),
    log_odds("4 alone, log odds", (4,), (0.0, 1.0, 0.0, -0.5 - HAIR, -1.0), 1.0, 0.5, 1.1),
)


def fronts(margins):
    """Pareto tables of two and three endpoints with different noise; members and others a hair apart.

    Without margins such gaps are never resolved, so a budget ends the run.
    """
    budget = 20_000 if margins is None else None

    def goal(sd):
        return ParetoSet(tuple(0.0 if margins is None else margins * one for one in sd))

    grid = SiteFeatures(product((3, 3)), (3, 3))
    first = np.array(
        [
            [0.0, 0.5, 0.25, -0.5, 0.4, 0.0, -0.4],
            # Rising where the other falls; the middle ones a hair behind each other.
            [0.0, -0.5, -0.25 - HAIR, 0.4, -0.4, 0.0, 0.4 - HAIR],
        ]
    )
    sparse = SiteFeatures(SPARSE, SPARSE_SIZES)
    effects = np.random.default_rng(2081).normal(0.0, 0.4, (2, sparse.n_columns))
    numbers = np.random.default_rng(2082).normal(size=(7, 3))
    numbers[6] = numbers[5]
    theta = np.random.default_rng(2083).normal(0.0, 0.5, (3, 3))
    tied = numbers @ theta.T
    makes = (
        ("full 3 x 3, two endpoints", grid, dense(grid) @ first.T, (0.3, 0.2)),
        ("sparse 12, two endpoints", sparse, dense(sparse) @ effects.T, (0.3, 0.3)),
        ("7 of rank 3, two of them equal, three endpoints", DenseFeatures(numbers), tied, (0.3, 0.4, 0.2)),
    )
    return tuple(Instance(name, table, truth.T, goal(sd), sd, budget=budget) for name, table, truth, sd in makes)


FRONTS = fronts(None)
"""Exact Pareto sets."""
EPSILON_FRONTS = fronts(1.0)
"""Margins of one SD of the noise."""

ROUND_BY_ROUND = tuple(
    replace(one, name=f"{one.name}, 600 in rounds of 75", budget=600, per_round=75) for one in FRONTS
)
"""For what looks at the end of every round; without margins every look is a chance to be wrong."""
PLATES = tuple(replace(one, name=f"{one.name}, rounds of 40", per_round=40) for one in EPSILON_FRONTS)

_STOCK = np.vstack([np.eye(3), np.eye(3)[:2] * np.cos(0.4) + np.eye(3)[1:] * np.sin(0.4)])

_GRID = SiteFeatures(product((3, 2)), (3, 2))
_BLOCK = SiteFeatures(SPARSE[:6], (2, 3, 2))

BEST = (
    Instance(
        "full 3 x 2, lead 0.02, no slack",
        _GRID,
        (dense(_GRID) @ np.array([6.0, 0.02, 0.0, -0.3, 0.02, 0.0]))[None],
        Best(),
        (0.3,),
    ),
    # Ties within the slack, and compounds a hair beyond it.
    Instance(
        "sparse 6, rank 4 of 7, slack 0.2",
        _BLOCK,
        (dense(_BLOCK) @ np.array([6.0, 0.2, 0.0, 0.2, 0.2, -HAIR, 0.0, 0.0]))[None],
        Best(0.2),
        (0.25,),
    ),
    # What is wanted cannot be measured but in part.
    Instance(
        "5 of rank 3, two of the wanted not in stock",
        DenseFeatures(_STOCK),
        (_STOCK @ np.array([1.0, 0.9, 0.0]))[None],
        Best(),
        (0.3,),
        measurable=np.arange(5) < 3,
        wanted=np.arange(5) > 0,
    ),
)

_FEW = np.array([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6], [-0.6, 0.8]])

GAMES = (
    Instance("4 of rank 2, best", DenseFeatures(_FEW), (_FEW @ np.array([0.5, 0.35]))[None], Best(0.1), (1.0,)),
    Instance(
        "2 x 2, epsilon-best",
        SiteFeatures(product((2, 2)), (2, 2)),
        (dense(SiteFeatures(product((2, 2)), (2, 2))) @ np.array([0.0, 1.0, 0.5, 0.0, -0.3 - HAIR]))[None],
        AllEpsilonBest(0.5, 0.3),
        (0.5,),
    ),
    # The threshold of in and out is 0.15 to either side of 0.35; the second is exactly there.
    Instance(
        "4 of rank 2, threshold",
        DenseFeatures(_FEW),
        (_FEW @ np.array([0.5, 0.2]))[None],
        Threshold(0.35, 0.15),
        (0.5,),
    ),
)
