"""The levels of all walks of ``adaptive`` add up to what is stated, by the sums of their proofs and nothing else."""

import numpy as np
import pytest

from assaypilot.engine.features import DenseFeatures
from assaypilot.engine.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.strategies.adaptive.cohorts import (
    OPEN,
    Sharing,
    came_with,
    closing_of,
    each_of,
    levels_of,
    shared,
    shares_of,
)
from assaypilot.engine.strategies.adaptive.front_cohorts import FrontSharing
from assaypilot.engine.strategies.adaptive.fronts import SHARES
from assaypilot.engine.strategies.protocol import Problem

DELTA, CAME = 0.2, np.array([0] * 5 + [1] * 3 + [3] * 2)
SIZES = np.bincount(CAME)[[0, 1, 3]]
cohort = np.repeat([0, 1, 2], SIZES)
EVERYONE = np.arange(len(CAME))
GOALS = [AllEpsilonBest(0.5, 0.25), AllEpsilonBest(0.5), Best(0.25), Best(0.0)]


def problem_of(goal, began=None, noise=(1.0,)):
    everyone = np.ones(len(CAME), dtype=bool)
    return Problem(DenseFeatures(np.eye(len(CAME))), everyone, everyone, goal, DELTA, noise, began=began)


def told(limits_and_rows, shape):
    """The level of each walk: limits are taken to be the levels themselves."""
    levels, rows = limits_and_rows
    return np.broadcast_to(levels[0] if rows is None else levels[rows, 0], shape)


def itself(level):
    return np.array([level])


@pytest.mark.parametrize("goal", GOALS)
def test_of_one_library_all_kinds_of_errors_sum_to_delta(goal):
    levels = levels_of(problem_of(goal), 7)
    out = levels.outs if isinstance(goal, AllEpsilonBest) else 0.0  # who is out there is so as not being the best
    assert out + levels.best + 7 * (levels.one_in + 2 * levels.mean) == pytest.approx(DELTA)


@pytest.mark.parametrize("goal", GOALS)
def test_what_others_say_of_bounds_and_who_is_wrongly_in_share_the_level_of_the_best(goal):
    problem = problem_of(goal)
    assert closing_of(problem) <= 0.5 * levels_of(problem).one_in


@pytest.mark.parametrize("among", [1, 2, 3, 7, 96, 960])
def test_levels_are_rounded_down(among):
    for level in DELTA * 0.8 ** np.linspace(0.0, 3.0, 31):
        assert 0.8 * level * (1.0 - 1e-6) <= each_of(level, among) * among <= level * (1.0 + 1e-8)


@pytest.mark.parametrize("goal", GOALS)
def test_each_cohort_errs_with_its_share(goal):
    """Of cohort g: its own walks, and one of each older compound against the best of g."""
    memory = came_with(CAME, np.full(2, OPEN))
    sharing = Sharing(problem_of(goal), memory, itself)
    shares = shares_of(3)
    assert shares == pytest.approx([1.0, 0.1, 0.05])
    assert shared(3) == pytest.approx(1.15)
    means = told(sharing.means(EVERYONE), len(CAME))
    best = told(sharing.best(EVERYONE), len(CAME))
    each = told(sharing.ins(EVERYONE, EVERYONE), (len(CAME), len(CAME)))
    outs = told(sharing.outs(EVERYONE, SIZES), len(CAME))
    for g, share in enumerate(shares):
        a_best, own, older = np.flatnonzero(cohort == g)[-1], cohort == g, cohort < g
        # Against the best of an earlier cohort who came with g has the level of its own.
        assert (each[own][:, cohort <= g] == each[a_best, a_best]).all()
        total = 2.0 * means[own].sum() + best[a_best] + each[own, a_best].sum() + each[older, a_best].sum()
        if isinstance(goal, AllEpsilonBest):
            assert 0.8 * 0.4 * share * DELTA <= outs[own].sum() <= 0.4 * share * DELTA * (1.0 + 1e-8)
            total += 0.4 * share * DELTA
        assert total == pytest.approx(share * DELTA)


def test_holm_counts_no_fewer_than_there_were_when_the_next_cohort_came():
    sharing = Sharing(problem_of(AllEpsilonBest(0.5, 0.25)), came_with(CAME, np.array([4, OPEN])), itself)
    outs = told(sharing.outs(EVERYONE, np.array([1, 1, 1])), len(CAME))
    wanted = [each_of(0.4 * s * DELTA, n) for s, n in zip((1, 0.1, 0.05), (4, 1, 1), strict=True)]
    assert outs[[0, 5, 8]] == pytest.approx(wanted)


def test_under_another_epsilon_who_is_out_is_one_of_all_and_a_larger_one_has_an_eighth():
    memory, few = came_with(CAME, np.full(2, OPEN)), np.array([1, 1, 1])
    for epsilon, part in ((0.3, 1.0), (0.7, 0.125)):
        sharing = Sharing(problem_of(AllEpsilonBest(epsilon, 0.25), AllEpsilonBest(0.5, 0.25)), memory, itself)
        outs = told(sharing.outs(EVERYONE, few), len(CAME))
        wanted = [each_of(part * 0.4 * s * DELTA, n) for s, n in zip((1, 0.1, 0.05), SIZES, strict=True)]
        assert outs[[0, 5, 8]] == pytest.approx(wanted)


def test_of_trade_offs_each_cohort_errs_with_its_share():
    problem = problem_of(ParetoSet((0.3, 0.3)), noise=(1.0, 1.0))
    sharing = FrontSharing(problem, came_with(CAME, np.full(2, OPEN)), itself)
    n = problem.n_endpoints
    means = told(sharing.means(EVERYONE), len(CAME))
    each = n * told(sharing.ins(EVERYONE[:, None], EVERYONE), (len(CAME), len(CAME)))
    named = [told(one, len(CAME)) for one in sharing.outs(EVERYONE, SIZES)]
    assert sum(SHARES) <= 1.0 + 1e-12
    for g, share in enumerate(shares_of(3)):
        rival, own, older = np.flatnonzero(cohort == g)[-1], cohort == g, cohort < g
        assert (each[own][:, cohort <= g] == each[rival, rival]).all()
        # Who is out wrongly has the level of being in, too: of a compound only one of the two statements is true.
        together = np.sum([one[own] for one in named], axis=0)
        wanted = each[own, rival] + 0.35 * share * DELTA / SIZES[g]
        assert (together <= wanted * (1.0 + 1e-8)).all()
        assert (together >= 0.8 * wanted).all()
        total = 2.0 * n * means[own].sum() + each[own, rival].sum() + each[older, rival].sum() + 0.35 * share * DELTA
        assert total == pytest.approx(share * DELTA)
