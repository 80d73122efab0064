"""All epsilon-best compounds from a fixed budget: what it refuses, says, measures and promises."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.epsilon_best_fixed_budget import EpsilonBestFixedBudget, wrong
from assaypilot.engine.strategies.protocol import IN, OUT, UNDECIDED, Capacity
from tests.strategies import came_back, dense, problem_of, product


def made(budget, *, per_round=24, sd=0.3, slack=0.25):
    features = SiteFeatures(product((4, 3)), (4, 3))
    capacity = Capacity(per_round, per_round, budget=budget)
    return problem_of(features, goal=AllEpsilonBest(0.5, slack), sd=[sd], capacity=capacity)


def ended(problem, truth, rng):
    """The state at the end, and the sizes of the phases."""
    strategy, sizes = EpsilonBestFixedBudget(), []
    state = strategy.start(problem)
    while not strategy.stop(state):
        allocation = strategy.ask(state)
        sizes.append(allocation.total)
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    return state, sizes


def test_a_budget_is_required_and_one_below_the_effects_refused():
    with pytest.raises(AssayPilotError, match="needs a budget") as refused:
        EpsilonBestFixedBudget().start(made(None))
    assert refused.value.option == "--budget"
    with pytest.raises(AssayPilotError, match="below one measurement per effect, of which there are 6"):
        EpsilonBestFixedBudget().start(made(5))


@pytest.mark.parametrize(("budget", "sizes"), [(24, [24]), (40, [40]), (48, [24, 24]), (100, [48, 24, 24, 4])])
def test_the_budget_is_spent_to_the_last_measurement_in_whole_rounds(budget, sizes):
    rng = np.random.default_rng(4)
    problem = made(budget)
    truth = (dense(problem.features) @ rng.normal(0.0, 0.5, problem.features.n_columns))[None]
    state, found = ended(problem, truth, rng)
    assert sum(found) == budget
    assert found == sizes
    assert not (state.status == UNDECIDED).any()


def test_a_last_phase_below_one_measurement_per_effect_is_spent_although_nothing_is_left_to_tell():
    """Four measurements for six effects, where so little noise leaves no doubt about anybody."""
    problem = made(100, sd=1e-3)
    truth = (dense(problem.features) @ np.linspace(-1.0, 1.0, problem.features.n_columns))[None]
    state, found = ended(problem, truth, np.random.default_rng(5))
    assert found == [48, 24, 24, 4]
    assert not (state.status == UNDECIDED).any()


def test_the_probability_of_deciding_wrongly_is_about_that_of_a_simulation():
    rng = np.random.default_rng(8)
    now, then, half = 0.5, 0.2, 0.3
    for beyond in (0.0, 0.4, 1.2):
        # What is true given the estimate now; the one at the end lies between.
        end = beyond + np.sqrt(now - then) * rng.standard_normal(400_000)
        true = end + np.sqrt(then) * rng.standard_normal(400_000)
        share = np.mean(np.where(end >= 0, true < -half, true > half))
        told = wrong(np.array([beyond]), half, np.array([now]), np.array([then]))[0]
        assert told == pytest.approx(share, rel=0.35)


def test_wrong_no_more_often_than_was_said_at_the_end():
    """An answer is wrong and said to be so with less than alpha with a probability of alpha at most."""
    alpha, runs, early, said = 0.2, 15, 0, 0
    rng = np.random.default_rng(11)
    for _ in range(runs):
        problem = made(240, sd=0.15, per_round=80)
        truth = (dense(problem.features) @ rng.normal(0.0, 0.4, problem.features.n_columns))[None]
        state, _ = ended(problem, truth, rng)
        most = state.last.numbers["wrong_at_most"]
        behind = truth[0].max() - truth[0]
        bad = ((state.status == OUT) & (behind <= 0.5)).any() or ((state.status == IN) & (behind > 0.75)).any()
        said += most < alpha
        early += bad and most < alpha
    assert said > 2
    assert early <= alpha * runs
