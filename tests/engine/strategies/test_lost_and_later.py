"""Single decisions beside compounds that cannot be measured any more, or that came after a phase."""

from dataclasses import replace

import numpy as np
import pytest

from assaypilot.engine.features import DenseFeatures
from assaypilot.engine.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.adaptive.lost import Bounds
from assaypilot.engine.strategies.anew import anew
from assaypilot.engine.strategies.derived import Phase
from assaypilot.engine.strategies.gege.confidence import Gege
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Outcome, Problem

EVERYONE = np.ones(3, dtype=bool)
NOBODY = ~EVERYONE


def problem_of(goal, n_endpoints=1):
    return Problem(DenseFeatures(np.eye(3)), EVERYONE, EVERYONE, goal, 0.1, (0.1,) * n_endpoints)


def outcome_of(means, counts=(400.0, 400.0, 400.0)):
    """Three compounds with effects of their own, known to about 0.02."""
    number = np.array(counts)
    asked = Allocation(1, np.flatnonzero(number), number[number > 0].astype(int), 1.0, Certificate("g", 1.0, 1.0))
    return Outcome(asked, number[None], np.array([means]), int(number.sum()))


def test_bounds_of_who_is_lost_decide_by_the_whole_distance():
    low, high = np.array([0.0, 4.0, 3.0]), np.array([1.0, 5.0, 3.5])
    bounds = Bounds(low, high, np.array([False, True, False]))
    for distance, behind in ((2.9, [True, False, False]), (3.1, [False, False, False]), (0.4, [True, False, True])):
        assert bounds.behind(distance).tolist() == behind
    arms, rivals = np.array([2, 0]), np.array([1, 2])
    assert bounds.near(arms, rivals, 1.9).tolist() == [[False, False], [False, False]]
    assert bounds.near(arms, rivals, 2.1).tolist() == [[True, False], [False, False]]


@pytest.mark.parametrize("away", [False, True])
def test_linfact_puts_nobody_in_beside_a_lost_one_that_may_be_far_better(away):
    strategy = registry.get("linfact-g")
    state = strategy.start(problem_of(AllEpsilonBest(0.5, 0.25)))
    if away:
        third = np.array([False, False, True])
        state = replace(state, lost=third, active=~third, high=np.array([[np.inf, np.inf, 9.0]]))
        state = replace(state, low=np.array([[-np.inf, -np.inf, 1.0]]))
    decision = strategy.decide(state, outcome_of((3.0, 2.9, 0.0), (400.0, 400.0, 0.0 if away else 400.0)))
    assert decision is not None
    assert decision.ins.tolist() == ([] if away else [0, 1])
    assert decision.outs.tolist() == ([] if away else [2])


def test_linfact_says_nothing_of_one_that_came_after_a_phase():
    strategy, known = registry.get("linfact-g"), np.array([True, True, False])
    state = strategy.start(problem_of(AllEpsilonBest(0.5, 0.25)))
    outcome = outcome_of((3.0, 2.9, 0.0))
    for there in (EVERYONE, known):
        found = anew(strategy, state, [Phase(outcome, there, NOBODY, there, EVERYONE, False)])
        assert found is not None
        assert np.isfinite(found.high[0]).tolist() == there.tolist()
        # One that may be better than all lets nobody in.
        assert (2 in found.outs.tolist(), len(found.ins)) == ((True, 2) if there.all() else (False, 0))


def test_rage_names_nobody_before_all_that_came_later_were_compared():
    """Two within slack of each other: neither is out for the other while a third may be better than both."""
    strategy, known = registry.get("rage"), np.array([True, True, False])
    state = strategy.start(problem_of(Best(0.5)))
    outcome = outcome_of((3.0, 2.99, 1.0))
    for there in (EVERYONE, known):
        found = anew(strategy, state, [Phase(outcome, there, NOBODY, there, EVERYONE, False)])
        assert found is not None
        assert (found.ins.tolist(), found.outs.tolist()) == (([0], [1, 2]) if there.all() else ([], []))


def test_gege_counts_all_once_its_goal_was_chosen_by_results():
    goal = ParetoSet((0.3, 0.3))
    state = Gege().start(problem_of(goal, 2))
    few = replace(state, active=np.array([True, False, False]))
    changed = replace(few, problem=replace(few.problem, began=goal))
    assert Gege()._size(few, 2, 3).log < Gege()._size(state, 2, 3).log
    assert Gege()._size(changed, 2, 3) == Gege()._size(state, 2, 3)
