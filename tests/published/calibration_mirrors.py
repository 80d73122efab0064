"""Two compounds that are each other's mirror image, one phase, no union: errors whose rate is known exactly.

With features (1) and (-1) one error e = theta_hat - theta makes both means wrong, in opposite directions, with the SD
s = sd / sqrt(N). Bounds without a union are quantiles of e, so the rate of errors has a closed form. What adaptive puts
out it compares with who led before: there a phase without any error comes first.
"""

import math
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from unittest import mock

import numpy as np
from scipy import stats

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.strategies.gege.confidence import Size
from assaypilot.engine.strategies.protocol import Capacity
from tests.published.calibration_checks import KS_FLOOR, limits
from tests.published.calibration_kinds import BOTH, KINDS, Kind
from tests.strategies import came_back, problem_of

DELTA = 0.3
EPSILON, HAIR = 10.0, 1e-9
LOG = math.log(2.0 / DELTA)
"""Two sides of one mean, or of one difference."""
RADIUS = 0.25
"""After the first phase: small, so that whole measurements are hardly more than are needed."""


@dataclass(frozen=True)
class Mirror:
    """The rate of errors found, and the exact one."""

    name: str
    delta: float
    runs: int
    wrong: int
    exact: float

    @property
    def p(self):
        """p value of the number of errors under the exact rate."""
        return float(stats.binomtest(self.wrong, self.runs, self.exact).pvalue)

    @property
    def passes(self):
        return self.wrong > 0 and limits(self.wrong, self.runs)[0] <= self.delta and self.p >= KS_FLOOR


@dataclass(frozen=True, eq=False)
class Mirrored:
    """What is asked about two mirrored compounds, and how often that goes wrong.

    ``rate`` is a function of z, the bound over the SD of what it bounds.
    """

    kind: Kind
    side: str
    goal: object
    theta: float
    log: float
    wrong: Callable
    rate: Callable
    sds: tuple = (1.0,)
    modes: tuple = BOTH
    share: float = 1.0
    """Half-width of a mean, or half of that of the difference, in units of the radius when decided as planned."""
    parameters: dict = field(default_factory=dict)
    before: int = 0
    """Phases without any error that come first."""
    capacity: Capacity | None = None

    @property
    def label(self):
        return f"{self.kind.label}, wrongly {self.side}"

    @contextmanager
    def no_union(self):
        """The logarithm is that of one bound."""
        owner, name = self.kind.shrinks
        right = getattr(owner, name)

        def alone(*given, **named):
            found = right(*given, **named)
            if isinstance(found, Size):
                return Size(self.log, found.wells * self.log / found.log, None)
            if isinstance(found, np.ndarray):
                return np.full(len(found), math.sqrt(2.0 * self.log))
            return self.log

        with mock.patch.object(owner, name, alone):
            yield


def _second_in(decision):
    return 1 in decision.ins


def _second_out(decision):
    return 1 in decision.outs


def _any_out(decision):
    return len(decision.outs) > 0


def _first_out(decision):
    return 0 in decision.outs


def _one(z):
    return float(stats.norm.sf(z))


def _either_in_both(z):
    return 2.0 * _one(z) ** 2


def _in_one_of_two(z):
    return 1.0 - (1.0 - _one(z)) ** 2


def _of_kind(label):
    return next(kind for kind in KINDS if kind.label == label)


def _within(label, *, modes=BOTH, **parameters):
    """Both sides of the limit: a member exactly at it put out, one a hair beyond it taken in."""
    kind, goal = _of_kind(label), AllEpsilonBest(EPSILON)
    both = ("out", EPSILON / 2.0, _second_out), ("in", EPSILON / 2.0 + HAIR, _second_in)
    return tuple(
        Mirrored(kind, side, goal, theta, LOG, wrong, _one, modes=modes, parameters=parameters)
        for side, theta, wrong in both
    )


def _fronts():
    """Two equal compounds, one of which is put out; and one beaten by a hair in both endpoints that is taken in.

    The half-widths are about one SD, so that errors in both endpoints at once still happen.
    """
    kind, goal, sds = _of_kind("GEGE, tight"), ParetoSet((0.0, 0.0)), (1.0, 1.0)
    return (
        Mirrored(kind, "out", goal, 0.0, 0.5, _any_out, _either_in_both, sds),
        # As planned it is decided by gaps, where the rate has no such closed form.
        Mirrored(kind, "in", goal, HAIR, 0.8, _second_in, _in_one_of_two, sds, modes=("realised",)),
    )


def _by_walks():
    """Both sides of the limit again, by one step of a walk."""
    kind, goal, lab = _of_kind("Adaptive"), AllEpsilonBest(EPSILON), Capacity(48, 48)
    out = Mirrored(kind, "out", goal, EPSILON / 2.0, LOG, _second_out, _one, modes=(None,), before=1, capacity=lab)
    return out, replace(out, side="in", theta=EPSILON / 2.0 + HAIR, wrong=_second_in, before=0)


MIRRORED = (
    *_within("LinFACT-G"),
    *_within("LinFACT-XY"),
    # As planned it spends twice what it measures to, and errs once in 20,000 runs.
    *_within("LinFACT-XY, as printed", modes=("realised",)),
    *_within("LinFACT-MIS, least squares", model_error=1e-12),
    *_within("LinFACT-GLM, identity"),
    *_fronts(),
    *_by_walks(),
    Mirrored(_of_kind("RAGE"), "out", Best(), HAIR, math.log(1.0 / DELTA), _first_out, _one, share=0.5),
)


def mirror(asked, mode, runs, *, broken=1.0, first=0):
    """Errors on two mirrored compounds with means theta and -theta in every endpoint, after one phase.

    With half-widths (of differences: halves of them) C = s sqrt(2 log) the bound is sqrt(2 log) SDs; decided as
    planned, C / s for the planned C.
    """
    strategy = asked.kind.make()
    problem = problem_of(
        DenseFeatures(np.array([[1.0], [-1.0]])),
        goal=asked.goal,
        delta=DELTA,
        sd=asked.sds,
        capacity=asked.capacity,
        **asked.parameters,
        **({} if mode is None else {"decide": mode, "first_radius": RADIUS}),
    )
    truth = np.outer(np.ones(len(asked.sds)), [asked.theta, -asked.theta])
    with asked.no_union():
        right = strategy.ask(strategy.start(problem))
    wrong = 0
    with asked.no_union(), asked.kind.shrunk(broken):
        state = strategy.start(problem)
        for _ in range(asked.before):
            exact = replace(problem, noise=(1e-9,) * len(problem.noise))
            state = strategy.tell(state, came_back(exact, truth, strategy.ask(state), np.random.default_rng(0)))
        allocation = strategy.ask(state)
        for seed in range(first, first + runs):
            outcome = came_back(problem, truth, allocation, np.random.default_rng((2072, seed)))
            wrong += asked.wrong(strategy.decide(state, outcome))
    z = math.sqrt(2.0 * asked.log)
    if mode == "planned":
        z = asked.share * right.radius * math.sqrt(right.total) / asked.sds[0]
    return Mirror(asked.label if mode is None else f"{mode}: {asked.label}", DELTA, runs, int(wrong), asked.rate(z))
