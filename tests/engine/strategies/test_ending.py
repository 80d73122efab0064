"""Searches that no lab could finish end in words: exact ties without a soft zone, and without a budget."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import UNDECIDED
from tests.strategies import finished, problem_of, product

TIES = [
    ("linfact-g", AllEpsilonBest(0.5, 0.0), {}),
    ("linfact-xy", AllEpsilonBest(0.5, 0.0), {}),
    ("linfact-xy-as-printed", AllEpsilonBest(0.5, 0.0), {}),
    ("linfact-glm", AllEpsilonBest(0.5, 0.0), {}),
    ("linfact-mis", AllEpsilonBest(0.5, 0.0), {"model_error": 1e-9}),
    ("rage", Best(0.0), {}),
    ("gege", ParetoSet((0.0, 0.0)), {}),
]


@pytest.mark.parametrize(("name", "goal", "given"), TIES)
def test_a_tie_ends_before_a_phase_takes_more_than_any_lab_makes(name, goal, given):
    strategy, endpoints = registry.get(name), 2 if goal.name == "pareto" else 1
    truth = np.array([[0.0, 0.0, -0.5, -0.5]] * endpoints)
    problem = problem_of(SiteFeatures(product((2, 2)), (2, 2)), goal=goal, sd=[0.2] * endpoints, **given)
    state = finished(strategy, strategy.start(problem), truth, np.random.default_rng(0), most=60)
    assert state.spent < 1e15
    (reason,) = strategy.stop(state)
    assert reason.name == "undecidable"
    assert reason.text.startswith("2 compounds are too close to tell apart: the next phase would take more than 10^12")
    assert ("differences that do not matter" if goal.name == "pareto" else "soft zone (slack)") in reason.text
    assert (state.status == UNDECIDED).sum() == reason.numbers["undecided"] == 2
    assert reason.numbers["needed"] > 1e12


@pytest.mark.parametrize("name", ["linfact-g", "linfact-xy", "rage"])
def test_a_first_phase_beyond_all_measure_is_not_asked_for(name):
    goal = Best(0.0) if name == "rage" else AllEpsilonBest(0.5, 0.0)
    problem = problem_of(SiteFeatures(product((2, 2)), (2, 2)), goal=goal, first_radius=1e-9)
    strategy = registry.get(name)
    (reason,) = strategy.stop(strategy.start(problem))
    assert reason.name == "undecidable"
    assert reason.text.startswith("4 compounds are")
