"""The levels of all walks of ``adaptive`` add up to delta, by the sums of their proofs and nothing else."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.strategies.adaptive.fronts import SHARES
from assaypilot.engine.strategies.adaptive.sequential_tests import FrontLimits, SetLimits, levels_of, rounded_level
from assaypilot.engine.strategies.protocol import Problem

DELTA, N = 0.2, 7
GOALS = [AllEpsilonBest(0.5, 0.25), AllEpsilonBest(0.5), Best(0.25), Best(0.0)]


def problem_of(goal, noise=(1.0,)):
    everyone = np.ones(N, dtype=bool)
    return Problem(DenseFeatures(np.eye(N)), everyone, everyone, goal, DELTA, noise)


@pytest.mark.parametrize("goal", GOALS)
def test_all_kinds_of_errors_sum_to_delta(goal):
    levels = levels_of(problem_of(goal))
    out = levels.outs if isinstance(goal, AllEpsilonBest) else 0.0  # who is out there is so as not being the best
    assert out + levels.best + N * (levels.one_in + 2 * levels.mean) == pytest.approx(DELTA)


EVERY = np.arange(N)


def limits_of(goal, near):
    return SetLimits(problem_of(goal), near, lambda level: np.array([level]))


@pytest.mark.parametrize("goal", GOALS)
def test_walks_have_the_limits_of_their_levels(goal):
    levels, alike = levels_of(problem_of(goal)), np.ones(N, dtype=bool)
    limits = limits_of(goal, alike)
    assert (limits.best()[0], limits.means()[0]) == (levels.best, levels.mean)
    assert limits.ins(EVERY)[0] == pytest.approx(levels.one_in)
    assert limits.outs(EVERY, EVERY < 3)[0] == pytest.approx(rounded_level(levels.outs / 3 + levels.one_in))


@pytest.mark.parametrize("close", [0, 1, 3, 6, 7])
@pytest.mark.parametrize("left", [EVERY < 7, EVERY >= 2, EVERY == 5, (EVERY == 0) | (EVERY == 6)])
def test_levels_of_compounds_near_and_far_sum_to_delta(close, left):
    """Whichever statements are true among compounds left: their levels never sum to more than all may err."""
    near, levels = close > EVERY, levels_of(problem_of(GOALS[0]))
    limits = limits_of(GOALS[0], near)
    into, out = limits.ins(EVERY)[0], limits.outs(EVERY, left)[0]
    assert into.sum() == pytest.approx(N * levels.one_in)
    # Those left may all belong in, and all others may not: as Holm's procedure needs it at its first error.
    assert out[left].sum() + into[~left].sum() <= (levels.outs + N * levels.one_in) * (1.0 + 1e-8)
    assert out[left].sum() + into[~left].sum() >= 0.75 * (levels.outs + N * levels.one_in)
    if 0 < close < N:
        assert into[near].sum() == pytest.approx(0.9 * N * levels.one_in)


@pytest.mark.parametrize("among", [1, 2, 3, 7, 96, 960])
def test_levels_are_rounded_down(among):
    for level in DELTA * 0.8 ** np.linspace(0.0, 3.0, 31):
        assert 0.8 * level * (1.0 - 1e-6) <= rounded_level(level / among) * among <= level * (1.0 + 1e-8)


def test_errors_about_trade_offs_sum_to_delta():
    problem = problem_of(ParetoSet((0.3, 0.3)), noise=(1.0, 1.0))
    limits, n = FrontLimits(problem, lambda level: np.array([level])), 2
    means, each = limits.means()[0], n * limits.ins()[0]
    named = sum(one[0] for one in limits.outs(N))
    assert sum(SHARES) <= 1.0 + 1e-12
    # A compound put out wrongly has the level of being in, too: only one of its two statements is true.
    wanted = each + 0.35 * DELTA / N
    assert 0.8 * wanted <= named <= wanted * (1.0 + 1e-8)
    assert 2.0 * n * N * means + N * each + 0.35 * DELTA == pytest.approx(DELTA)
