"""The best compound while compounds run out: at most one is in, and those lost still count."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.simulate import baselines
from assaypilot.engine.strategies.protocol import IN, OUT, Capacity
from tests.strategies import came_back, few, finished, problem_of

SLACK = 0.1


def asked(name, n, *, sd=0.3, delta=0.05, slack=SLACK, measurable=None):
    given = {"batch": 50} if name.startswith("lin") else {}
    capacity = Capacity(50, 50, budget=600) if name == "gse" else None
    return problem_of(
        DenseFeatures(np.eye(n)),
        goal=Best(slack),
        sd=sd,
        delta=delta,
        measurable=measurable,
        capacity=capacity,
        **given,
    )


def run(strategy, state, truth, rng):
    state = finished(strategy, state, truth, rng)
    assert strategy.stop(state), "it does not end"
    return state


def changed(strategy, state, *measurable):
    return strategy.adjust(state, measurable=np.array(measurable, dtype=bool), spent=state.spent)


LEARNING = ["rage", "lingame", "lingame-c", "adaptive"]
ALL = [*LEARNING, "gse"]


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("seed", range(3))
def test_no_compound_is_in_while_a_lost_one_may_be_better(name, seed):
    truth = np.array([1.0, 0.9, 0.85])
    strategy, rng = baselines.get(name), np.random.default_rng(seed)
    state = strategy.start(asked(name, 3))
    state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = run(strategy, changed(strategy, state, False, True, True), truth, rng)
    assert not (state.status == IN).any()
    (reason,) = strategy.stop(state)
    assert reason.name == "lost"
    assert "cannot be measured any more" in reason.text


@pytest.mark.parametrize("name", LEARNING)
def test_lost_compound_that_is_surely_worse_blocks_nothing(name):
    truth = np.array([0.0, 2.0, 0.5])
    strategy, rng = baselines.get(name), np.random.default_rng(0)
    state = strategy.start(asked(name, 3, sd=0.05))
    state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = run(strategy, changed(strategy, state, False, True, True), truth, rng)
    assert np.flatnonzero(state.status == IN).tolist() == [1]
    assert strategy.stop(state)[0].name == "decided"


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", few(4, of=12))
def test_whatever_is_lost_at_most_one_is_in_and_rightly(name, seed):
    """Errors are as good as excluded, so every answer must be right about everything ever compared."""
    rng = np.random.default_rng((21, seed))
    n = int(rng.integers(2, 6))
    x = rng.integers(0, 2, (n, 3)).astype(float) + np.eye(3)[rng.integers(0, 3, n)]
    truth = x @ rng.normal(0.0, 0.7, 3)
    strategy = baselines.get(name)
    problem = asked(name, n, delta=1e-9, slack=(0.0, 0.2)[seed % 2], measurable=rng.random(n) < 0.7)
    if not problem.measurable.any():
        return
    problem = type(problem)(**{f: getattr(problem, f) for f in problem.__slots__} | {"features": DenseFeatures(x)})
    state = strategy.start(problem)
    seen = np.zeros(n, dtype=bool)
    for step in range(40):
        if step % 3 == 2:
            state = changed(strategy, state, *(state.problem.measurable & (rng.random(n) < 0.9)))
        if strategy.stop(state) or not state.problem.measurable.any():
            continue
        seen |= state.active
        state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng, spent=state.spent))
        ins = np.flatnonzero(state.status == IN)
        assert len(ins) <= 1
        if len(ins) and name != "gse" and not len(state.last.contradicted):
            others = state.status == OUT
            if [reason.name for reason in strategy.stop(state)] == ["decided"]:
                others |= seen & state.lost
            assert truth[ins[0]] >= truth[others].max(initial=-np.inf) - problem.goal.slack - 1e-9
