"""The rest of a budget that is smaller than a phase about everything: used where it decides, said where it does not."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.strategies.adaptive.epsilon_best import Adaptive
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from assaypilot.engine.strategies.protocol import UNDECIDED, Capacity
from tests.strategies import came_back, dense, problem_of, product

FEATURES = SiteFeatures(product((6, 5)), (6, 5))
RANK = 10


def played(strategy, seed, budget=None):
    """The last state of a campaign, its phases' sizes, and why it ended."""
    endpoints = strategy.info.endpoints[0]
    rng = np.random.default_rng(seed)
    truth = (dense(FEATURES) @ rng.normal(0.0, 0.5, (FEATURES.n_columns, endpoints))).T
    goal = None if endpoints == 1 else ParetoSet((0.3,) * endpoints)
    capacity = Capacity(24, 4, budget=budget)
    problem = problem_of(FEATURES, goal=goal, slack=0.4, sd=(0.2,) * endpoints, capacity=capacity)
    state, sizes = strategy.start(problem), []
    while not strategy.stop(state):
        allocation = strategy.ask(state)
        assert 0 < allocation.total <= (budget or 10**6) - state.spent
        sizes.append(allocation.total)
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    return state, sizes, strategy.stop(state)[0]


@pytest.mark.parametrize("strategy", [Adaptive(), AdaptivePareto()], ids=["one", "several"])
def test_a_budget_that_suffices_is_not_given_up_before_a_small_last_phase(strategy):
    small = 0
    for seed in range(8):
        _, sizes, why = played(strategy, seed)
        assert why.name == "decided"
        if sizes[-1] >= RANK:
            continue
        small = 1
        state, again, why = played(strategy, seed, budget=sum(sizes))
        assert why.name == "decided", (seed, sizes, again, why)
        assert not (state.status == UNDECIDED).any()
        break
    assert small


def test_a_rest_that_decides_nobody_is_not_spent():
    said = []
    for seed in range(6):
        _, sizes, _ = played(Adaptive(), seed)
        if len(sizes) < 3:
            continue
        budget = sum(sizes[:-2]) + RANK - 1
        state, _, why = played(Adaptive(), seed, budget=budget)
        if why.name == "decided":
            continue
        left, needed = budget - state.spent, why.numbers["needed"]
        assert left < needed
        said.append(f"leaves {left} measurements, and one more decision needs about {needed}" in why.text)
    assert any(said)


def test_first_estimate_takes_one_measurement_for_every_effect():
    _state, sizes, why = played(Adaptive(), 0, budget=RANK - 1)
    assert (sizes, why.text) == ([], f"the budget leaves 9 measurements, and one more decision needs at least {RANK}")
