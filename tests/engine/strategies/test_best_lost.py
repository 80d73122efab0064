"""The best compound while compounds run out and come back: at most one is in, and who is away still counts."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.simulate import comparison
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED, Capacity
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


def found(name, seed, truth, measurable):
    """The state once one is in, with these to be had."""
    strategy = comparison.get(name)
    problem = asked(name, len(truth), measurable=measurable)
    rng = np.random.default_rng(seed)
    return strategy, run(strategy, strategy.start(problem), truth, rng), rng


LEARNING = ["rage", "lingame", "lingame-c", "adaptive"]
ALL = [*LEARNING, "gse"]
BESIDE = [*LEARNING, "lingape"]
"""Those that go on with the one found best when others come back."""


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("seed", range(3))
def test_nobody_is_in_while_one_that_is_lost_may_be_better(name, seed):
    truth = np.array([1.0, 0.9, 0.85])
    strategy, rng = comparison.get(name), np.random.default_rng(seed)
    state = strategy.start(asked(name, 3))
    state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = run(strategy, changed(strategy, state, False, True, True), truth, rng)
    assert not (state.status == IN).any()
    (reason,) = strategy.stop(state)
    assert reason.name == "lost"
    assert "cannot be measured any more" in reason.text


@pytest.mark.parametrize("name", LEARNING)
def test_one_that_is_lost_and_surely_worse_holds_nobody_up(name):
    truth = np.array([0.0, 2.0, 0.5])
    strategy, rng = comparison.get(name), np.random.default_rng(0)
    state = strategy.start(asked(name, 3, sd=0.05))
    state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = run(strategy, changed(strategy, state, False, True, True), truth, rng)
    assert np.flatnonzero(state.status == IN).tolist() == [1]
    assert strategy.stop(state)[0].name == "decided"


def test_when_all_others_are_out_the_lost_ones_are_said():
    """The two that beat all others run out: the others are out, and nobody can be named."""
    truth = np.array([1.0, 0.7, 0.0, 0.95])
    strategy, rng = comparison.get("rage"), np.random.default_rng(0)
    state = strategy.start(asked("rage", 4, sd=0.1, slack=0.0))
    while (state.status == OUT).sum() < 2:
        state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = changed(strategy, state, False, True, True, False)
    assert state.status.tolist() == [NOT_ESTIMABLE, OUT, OUT, NOT_ESTIMABLE]
    (reason,) = strategy.stop(state)
    assert reason.name == "lost"
    assert reason.text == "2 compounds that may be the best cannot be measured any more; all others are out"


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("seed", range(3))
def test_a_worse_one_that_comes_back_is_out(name, seed):
    truth = np.array([1.0, 0.2, 0.5])
    strategy, state, rng = found(name, seed, truth, [1, 1, 0])
    state = run(strategy, changed(strategy, state, True, True, True), truth, rng)
    assert state.status.tolist() == [IN, OUT, OUT]
    assert not len(state.last.contradicted)
    assert strategy.stop(state)[0].name == "decided"


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("first_is_there", [True, False])
def test_a_better_one_that_comes_back_contradicts_the_first_decision(name, first_is_there):
    truth = np.array([1.0, 0.2, 3.0])
    strategy, state, rng = found(name, 1, truth, [1, 1, 0])
    state = run(strategy, changed(strategy, state, first_is_there, True, True), truth, rng)
    assert state.status.tolist() == [IN, OUT, UNDECIDED]
    assert state.last.contradicted.tolist() == [0]
    (reason,) = strategy.stop(state)
    assert reason.name == "undecidable"
    assert "first decision stands" in reason.text


@pytest.mark.parametrize("name", BESIDE)
@pytest.mark.parametrize("seed", range(4))
def test_beside_one_that_is_in_and_away_nobody_else_is_in(name, seed):
    truth = np.array([1.0, 0.2, (0.5, 0.85, 0.99, -1.0)[seed]])
    strategy, state, rng = found(name, seed, truth, [1, 1, 0])
    state = run(strategy, changed(strategy, state, False, True, True), truth, rng)
    assert np.flatnonzero(state.status == IN).tolist() == [0]
    assert strategy.stop(state)[0].name == ("decided" if state.status[2] == OUT else "lost")
    assert seed != 3 or state.status[2] == OUT


@pytest.mark.parametrize("name", LEARNING)
@pytest.mark.parametrize("level", [1.02, -1.0])
def test_one_that_came_back_and_ran_out_again_may_leave_a_doubt(name, level):
    """It was compared with the one that is in by one phase only."""
    truth = np.array([1.0, 0.2, level, 0.3])
    strategy, state, rng = found(name, 0, truth, [1, 1, 0, 0])
    state = changed(strategy, state, True, True, True, True)
    given = came_back(state.problem, truth, strategy.ask(state), rng, spent=state.spent)
    state = strategy.tell(state, given)
    state = run(strategy, changed(strategy, state, True, True, False, True), truth, rng)
    assert np.flatnonzero(state.status == IN).tolist() == [0]
    (reason,) = strategy.stop(state)
    if level < 0:
        assert reason.name == "decided"
    else:
        assert reason.name == "lost"
        assert "1 compound that may be better than the one found best cannot be measured any more" in reason.text


@pytest.mark.parametrize("better", [True, False])
@pytest.mark.parametrize("there", [True, False])
def test_gse_never_has_two_in(better, there):
    truth = np.array([1.0, 0.2, 2.0 if better else 0.5])
    strategy, state, rng = found("gse", 0, truth, [1, 1, 0])
    # More budget than the stages took, as when measurements failed.
    state = strategy.adjust(state, measurable=np.array([there, True, True]), spent=state.spent - 200)
    state = run(strategy, state, truth, rng)
    assert np.flatnonzero(state.status == IN).tolist() == [0]
    (reason,) = strategy.stop(state)
    assert reason.name == (("undecidable" if better else "decided") if there else "lost")


@pytest.mark.parametrize("name", LEARNING)
def test_who_comes_back_after_the_end_is_asked_about(name):
    """The end because one is lost is no end for another that can be had again."""
    truth = np.array([1.0, 0.9, 0.85, -2.0])
    strategy, rng = comparison.get(name), np.random.default_rng(0)
    state = strategy.start(asked(name, 4, measurable=[1, 1, 1, 0]))
    state = strategy.tell(state, came_back(state.problem, truth, strategy.ask(state), rng))
    state = run(strategy, changed(strategy, state, False, True, True, False), truth, rng)
    assert strategy.stop(state)[0].name == "lost"
    state = changed(strategy, state, False, True, True, True)
    assert not strategy.stop(state)
    state = run(strategy, state, truth, rng)
    assert state.status[3] == OUT


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("seed", few(4, of=12))
def test_whatever_comes_and_goes_at_most_one_is_in_and_rightly(name, seed):
    """Errors are as good as excluded, so every answer must be right about everything ever compared."""
    rng = np.random.default_rng((21, seed))
    n = int(rng.integers(2, 6))
    x = rng.integers(0, 2, (n, 3)).astype(float) + np.eye(3)[rng.integers(0, 3, n)]
    truth = x @ rng.normal(0.0, 0.7, 3)
    strategy = comparison.get(name)
    problem = asked(name, n, delta=1e-9, slack=(0.0, 0.2)[seed % 2], measurable=rng.random(n) < 0.7)
    if not problem.measurable.any():
        return
    problem = type(problem)(**{f: getattr(problem, f) for f in problem.__slots__} | {"features": DenseFeatures(x)})
    state = strategy.start(problem)
    seen = np.zeros(n, dtype=bool)
    for step in range(40):
        if step % 3 == 2:
            state = changed(strategy, state, *(rng.random(n) < 0.6))
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
