"""The hurried likeness of ``adaptive``: plans worth what its own are, everything else its own."""

from dataclasses import replace

import numpy as np

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, ParetoSet
from assaypilot.engine.simulate.forecast_quick import effective, quick
from assaypilot.engine.simulate.instances import Drawn
from assaypilot.engine.simulate.runner import sample
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.adaptive import epsilon_best as adaptive
from assaypilot.engine.strategies.adaptive.planning import CAREFUL
from assaypilot.engine.strategies.protocol import Capacity, Problem
from tests.strategies import product

SIZES = (5, 4)
FEATURES = SiteFeatures(product(SIZES), SIZES)
RANK = 8
GOAL = AllEpsilonBest(0.5, 0.5)
REAL = registry.get("adaptive")
QUICK = quick(REAL, GOAL)


def problem_of(goal, sd=(0.2,)):
    every = np.ones(FEATURES.n_rows, dtype=bool)
    return Problem(FEATURES, every, every, goal, 0.05, sd, capacity=Capacity(24, 4))


def truth_of(seed):
    effects = 0.5 * np.random.default_rng(seed).standard_normal(FEATURES.n_columns)
    return FEATURES.times(effects)[None]


def drawn_of(problem, truth):
    every = problem.measurable
    return Drawn(FEATURES, truth, truth, every, every, problem.goal, problem.noise)


def taken(strategy, seed):
    """Measurements of a campaign to its end."""
    problem = problem_of(GOAL)
    drawn, rng = drawn_of(problem, truth_of(seed)), np.random.default_rng(seed)
    state = strategy.start(problem)
    while not strategy.stop(state):
        allocation = strategy.ask(state)
        counted = effective(strategy, allocation, RANK) if strategy is QUICK else allocation
        state = strategy.tell(state, sample(drawn, counted, rng, state.spent + allocation.total))
    return state.spent


def test_hurried_campaigns_take_what_real_ones_take():
    """On 960 compounds they differ by a few per cent; on this small table by .87 (20 truths), and by chance."""
    seeds = range(11, 17)
    ratio = [taken(QUICK, seed) / taken(REAL, seed) for seed in seeds]
    assert 0.75 < np.exp(np.mean(np.log(ratio))) < 1.25


def test_the_strategy_itself_is_left_as_it_is():
    assert adaptive.Adaptive.way[:2] == CAREFUL[:2]
    assert QUICK.way[:2] != CAREFUL[:2]
    plain = registry.get("linfact-g")
    assert quick(plain, GOAL) is plain


def test_trade_offs_are_hurried_too():
    goal = ParetoSet((0.5, 0.5))
    hurried = quick(REAL, goal)
    problem = problem_of(goal, (0.2, 0.2))
    truth = np.vstack([truth_of(1), truth_of(2)])
    drawn, rng = drawn_of(problem, truth), np.random.default_rng(3)
    state = hurried.start(problem)
    while not hurried.stop(state):
        allocation = hurried.ask(state)
        counted = effective(hurried, allocation, RANK)
        state = hurried.tell(state, sample(drawn, counted, rng, state.spent + allocation.total))
        assert state.spent < 3000
    assert goal.is_right(state.status == 1, truth)


def test_a_round_that_holds_all_replicates_there_are_is_planned():
    """Compounds of a design take only so many measurements: where that is too few, all others are measured, too."""
    n = 4 * FEATURES.n_rows
    problem = replace(problem_of(GOAL), capacity=Capacity(n, 4))
    asked = QUICK.ask(QUICK.start(problem))
    assert asked.total == n
    assert (asked.counts == 4).all()
