"""What every registered strategy and baseline keeps: pure functions, replay, whatever comes back, an honest end."""

import copy
import math
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from functools import reduce

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures, SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet, Top
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate import baselines
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import (
    IN,
    NOT_ESTIMABLE,
    OUT,
    UNDECIDED,
    Calibrated,
    Capacity,
    Outcome,
)
from tests import snapshots
from tests.engine.notebook.halving import Halving
from tests.engine.notebook.ridge import Ridge
from tests.strategies import came_back, dense, few, finished, phases, problem_of, product, random_table

EVERY = (*registry.strategies(), *baselines.baselines())
QUICK = (*registry.strategies(), Halving, Ridge)

CASES = [
    pytest.param((kind, goal), id=f"{kind.info.name}-{goal}", marks=() if kind in QUICK else pytest.mark.slow)
    for kind in (*EVERY, Halving, Ridge)
    for goal in kind.info.goals
    if goal != "threshold"
]

PROVEN = [param for param in CASES if not isinstance(param.values[0][0](), Calibrated)]
"""Those whose decisions are final, and that do without sites and without random draws."""
BATCH = 12


@pytest.fixture(params=CASES)
def case(request):
    kind, goal = request.param
    return kind(), goal


def goal_of(name, *, slack=0.25):
    return {
        "epsilon-best": AllEpsilonBest(0.5, slack),
        "best": Best(slack),
        "top": Top(2, slack),
        "pareto": ParetoSet((slack, slack)),
    }[name]


def needs(strategy, truth, budget):
    """Parameters without a default, and a batch that keeps the sequential ones short."""
    names = {p.name for p in strategy.info.parameters}
    given = {}
    if "batch" in names:
        given["batch"] = BATCH
    if "model_error" in names:
        given["model_error"] = 1e-3
    if "bound" in names:
        given["bound"] = 10.0
    if "truth" in names:
        given["truth"] = [row.tolist() for row in truth]
    return given


def problem_for(case, features, truth, *, budget=4000, measurable=None, sd=0.2, slack=0.25, **changes):
    strategy, goal = case
    endpoints = 2 if goal == "pareto" else 1
    return problem_of(
        features,
        goal=goal_of(goal, slack=slack),
        sd=[sd] * endpoints,
        measurable=measurable,
        capacity=Capacity(96, 8, budget=budget),
        **needs(strategy, np.atleast_2d(truth), budget),
        **changes,
    )


def truths(case, features, rng, size=0.5):
    """Additive means, one row per endpoint of the goal."""
    endpoints = 2 if case[1] == "pareto" else 1
    return np.stack([dense(features) @ rng.normal(0.0, size, features.n_columns) for _ in range(endpoints)])


def random_problem(case, seed, **changes):
    """A problem on a full, sparse or rank-deficient table, its truth and a generator."""
    rng = np.random.default_rng((21, seed))
    codes, sizes = random_table(rng, ("full", "sparse", "deficient")[seed % 3], most=20)
    features = SiteFeatures(codes, sizes)
    truth = truths(case, features, rng)
    return problem_for(case, features, truth, **changes), truth, rng


def refused(strategy, problem):
    """The text of a refusal to start; None when it starts."""
    try:
        strategy.start(problem)
    except AssayPilotError as error:
        return str(error)
    return None


def frozen(value):
    """A value as nested tuples and bytes, for comparison to the last bit."""
    if is_dataclass(value) and not isinstance(value, type):
        return tuple((f.name, frozen(getattr(value, f.name))) for f in fields(value))
    if isinstance(value, np.ndarray):
        return (value.dtype.str, value.shape, value.tobytes())
    if isinstance(value, dict):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    if isinstance(value, tuple | list):
        return tuple(map(frozen, value))
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, SiteFeatures | DenseFeatures):
        return frozen(dense(value))
    return value


def locked(value):
    """A deep copy of a state or an outcome whose arrays refuse to be written."""
    twin = copy.deepcopy(value)

    def lock(one):
        if isinstance(one, np.ndarray):
            one.flags.writeable = False
        elif isinstance(one, dict):
            for inner in one.values():
                lock(inner)
        elif is_dataclass(one) and not isinstance(one, type):
            for f in fields(one):
                lock(getattr(one, f.name))

    lock(twin)
    return twin


@pytest.mark.parametrize("seed", few(1, of=3))
def test_strategy_is_a_pure_function_of_its_inputs(case, seed):
    strategy, _ = case
    problem, truth, rng = random_problem(case, seed)
    state = locked(strategy.start(locked(problem)))
    assert frozen(strategy.start(problem)) == frozen(state)
    for _ in range(3):
        before = frozen(state)
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert frozen(strategy.ask(state)) == frozen(allocation)
        outcome = locked(came_back(problem, truth, allocation, rng, spent=state.spent))
        brought = frozen(outcome)
        decision = locked(strategy.decide(state, outcome))
        assert frozen(strategy.decide(state, outcome)) == frozen(decision)
        after = strategy.apply(state, decision)
        assert frozen(after) == frozen(strategy.apply(state, decision))
        assert frozen(after) == frozen(strategy.tell(state, outcome))
        strategy.stop(state)
        strategy.adjust(state, measurable=np.zeros(problem.n_arms, dtype=bool), spent=3)
        assert frozen(state) == before
        assert frozen(outcome) == brought
        state = locked(after)


@pytest.mark.parametrize("seed", few(2, of=6))
def test_decisions_alone_rebuild_the_state(case, seed):
    strategy, _ = case
    problem, truth, rng = random_problem(case, seed)
    decisions = []
    for state, _, decision in phases(strategy, problem, truth, rng, most=12, lost=0.2):
        if decision is not None:
            decisions.append(decision)
        rebuilt = reduce(strategy.apply, decisions, strategy.start(problem))
        incremental = state if decision is None else strategy.apply(state, decision)
        assert frozen(rebuilt) == frozen(replace(incremental, spent=rebuilt.spent))
        # What is asked next is the same, too: nothing hides outside the decisions.
        if not strategy.stop(rebuilt):
            assert frozen(strategy.ask(rebuilt)) == frozen(strategy.ask(replace(incremental, spent=rebuilt.spent)))
    assert decisions


def test_memory_of_a_decision_can_be_stored(case):
    strategy, _ = case
    problem, truth, rng = random_problem(case, 0)
    for _, _, decision in phases(strategy, problem, truth, rng, most=3):
        for name, array in decision.memory.items():
            assert isinstance(name, str)
            assert isinstance(array, np.ndarray)
            assert array.dtype.kind in "biuf", name
            assert array.size <= 100 * problem.n_arms + 100 * problem.features.n_columns**2


def test_an_empty_phase_does_not_count(case):
    strategy, _ = case
    problem, truth, rng = random_problem(case, 0)
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    shape = (problem.n_endpoints, problem.n_arms)
    nothing = Outcome(allocation, np.zeros(shape), np.full(shape, np.nan), spent=5)
    assert strategy.decide(state, nothing) is None
    after = strategy.tell(state, nothing)
    assert (after.phase, after.spent) == (0, 5)
    assert frozen(replace(after, spent=0)) == frozen(state)
    again = strategy.ask(replace(after, spent=0))
    assert again.phase == allocation.phase == 1
    assert frozen(again) == frozen(allocation)
    assert strategy.decide(after, came_back(problem, truth, again, rng)).phase == 1


def test_partial_phase_breaks_nothing(case):
    """One compound measured of many, and then a phase as planned."""
    strategy, _ = case
    rng = np.random.default_rng(3)
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = truths(case, features, rng)
    problem = problem_for(case, features, truth)
    state = strategy.start(problem)
    allocation = strategy.ask(state)
    counts = np.zeros((problem.n_endpoints, 9))
    counts[:, allocation.arms[0]] = 3.0
    decision = strategy.decide(state, Outcome(allocation, counts, np.where(counts > 0, truth, 0.0), 3))
    if decision is not None:
        assert not np.isnan(decision.radius)
        state = strategy.apply(state, decision)
    if not strategy.stop(state):
        following = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
        assert strategy.tell(state, following).phase == state.phase + 1


@pytest.mark.parametrize("case", PROVEN, indirect=True)
@pytest.mark.parametrize("seed", few(2, of=6))
def test_decided_sets_only_grow_and_name_their_phase(case, seed):
    strategy, _ = case
    problem, truth, rng = random_problem(case, seed)
    seen_in, seen_out = set(), set()
    for state, _, decision in phases(strategy, problem, truth, rng, most=12, lost=0.1, extra=2):
        if decision is None:
            continue
        ins, outs, left = (set(arms.tolist()) for arms in (decision.ins, decision.outs, decision.left))
        assert not ins & outs
        assert not (ins | outs) & (seen_in | seen_out)
        assert not left & outs
        seen_in, seen_out = seen_in | ins, seen_out | outs
        after = strategy.apply(state, decision)
        assert set(np.flatnonzero(after.status == IN).tolist()) == seen_in
        assert set(np.flatnonzero(after.status == OUT).tolist()) == seen_out
        decided = np.isin(after.status, (IN, OUT))
        assert (after.decided_in_phase[decided] > 0).all()
        assert (after.decided_in_phase[~decided] == 0).all()
        for array in (decision.estimate, decision.low, decision.high):
            assert array.shape == (problem.n_endpoints, problem.n_arms)
        low, high = decision.low, decision.high
        known = ~np.isnan(low) & ~np.isnan(high)
        assert (low[known] <= high[known]).all()
        assert after.spent == decision.spent


def test_easy_question_is_answered_correctly(case):
    """Gaps far above the noise: every strategy ends, with the right answer and within its budget."""
    strategy, goal = case
    features = SiteFeatures(product((3, 2)), (3, 2))
    effects = np.array([[0.0, 2.0, 0.0, -2.0, 4.0, 0.0], [0.0, -1.0, 3.0, 7.0, 0.0, 1.5]])
    truth = (dense(features) @ effects.T).T[: 2 if goal == "pareto" else 1]
    problem = problem_for(case, features, truth, sd=0.02, budget=2000)
    rng = np.random.default_rng(11)
    state = strategy.start(problem)
    for _ in range(400):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert allocation.total <= 2000 - state.spent
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    (reason, *_) = strategy.stop(state)
    assert reason.name in ("decided", "budget")
    values = truth if goal == "pareto" else truth[0]
    assert problem.goal.is_right(state.status == IN, values)


@pytest.mark.parametrize("case", PROVEN, indirect=True)
@pytest.mark.parametrize("seed", few(1, of=3))
def test_the_order_of_the_compounds_does_not_matter(case, seed):
    """The first phase's results in another order of the table: the same decision."""
    strategy, _ = case
    problem, truth, rng = random_problem(case, seed + 2)  # of deficient rank first
    order = rng.permutation(problem.n_arms)
    features = SiteFeatures(problem.features.codes[order], problem.features.sizes)
    parameters = dict(problem.parameters)
    if "truth" in parameters:
        parameters["truth"] = truth[:, order].tolist()
    one = strategy.start(problem)
    two = strategy.start(replace(problem, features=features, parameters=parameters))
    outcome = came_back(problem, truth, strategy.ask(one), rng)
    back = np.argsort(order)
    arms = back[outcome.allocation.arms]
    allocation = replace(outcome.allocation, arms=np.sort(arms), counts=outcome.allocation.counts[np.argsort(arms)])
    turned = Outcome(allocation, outcome.counts[:, order], outcome.means[:, order], outcome.spent)
    decision, mirrored = strategy.decide(one, outcome), strategy.decide(two, turned)
    for name in ("ins", "outs", "left"):
        assert sorted(order[getattr(mirrored, name)]) == sorted(getattr(decision, name)), name
    for name in ("low", "high", "estimate"):
        np.testing.assert_allclose(getattr(mirrored, name), getattr(decision, name)[:, order], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("case", PROVEN, indirect=True)
def test_one_compound_is_the_answer(case):
    strategy, _ = case
    features = DenseFeatures(np.ones((1, 1)))
    truth = truths(case, features, np.random.default_rng(0))
    problem = problem_for(case, features, truth)
    state = finished(strategy, strategy.start(problem), truth, np.random.default_rng(0))
    assert strategy.stop(state)
    assert state.status.tolist() == [IN]


@pytest.mark.parametrize("case", PROVEN, indirect=True)
def test_equal_compounds_break_nothing(case):
    """Equal feature rows given as two arms: nothing hangs and nothing is NaN that is asked about."""
    strategy, goal = case
    features = DenseFeatures(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    truth = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, -1.0]])[: 2 if goal == "pareto" else 1]
    problem = problem_for(case, features, truth, sd=0.05, budget=1000)
    state = finished(strategy, strategy.start(problem), truth, np.random.default_rng(2))
    assert strategy.stop(state)
    status = state.status
    assert status[2] in (OUT, UNDECIDED)
    assert IN in status[:2] or UNDECIDED in status[:2]


@pytest.mark.parametrize("case", PROVEN, indirect=True)
@pytest.mark.parametrize("seed", few(2, of=4))
def test_compounds_outside_the_span_are_set_aside(case, seed):
    strategy, _ = case
    problem, truth, rng = random_problem(case, 3 * seed + 2)
    x = dense(problem.features)
    here = rng.random(problem.n_arms) < 0.5
    here[0] = True
    inside = np.array([np.linalg.matrix_rank(np.vstack([x[here], row])) == np.linalg.matrix_rank(x[here]) for row in x])
    state = strategy.start(replace(problem, measurable=here))
    assert np.array_equal(state.status == NOT_ESTIMABLE, ~inside)
    for _ in range(3):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert here[allocation.arms].all()
        outcome = came_back(state.problem, truth, allocation, rng, spent=state.spent)
        state = strategy.tell(state, outcome)
        assert not np.isin(state.status[~inside], (IN,)).any()


def test_changed_availability_keeps_decisions(case):
    strategy, _ = case
    features = SiteFeatures(product((3, 3)), (3, 3))
    rng = np.random.default_rng(4)
    truth = truths(case, features, rng)
    problem = problem_for(case, features, truth, sd=0.3)
    state = strategy.start(problem)
    state = finished(strategy, state, truth, rng, most=2)
    third = features.codes[:, 0] == 0
    less = strategy.adjust(state, measurable=~third, spent=state.spent + 7)
    assert less.spent == state.spent + 7
    decided = np.isin(state.status, (IN, OUT))
    assert np.array_equal(less.status[decided], state.status[decided])
    if not isinstance(strategy, Calibrated):  # those have a prior for what nobody can measure
        assert (less.status[third & ~decided] == NOT_ESTIMABLE).all()
    again = strategy.adjust(less, measurable=~third, spent=less.spent)
    assert again.status.tolist() == less.status.tolist()
    if not strategy.stop(less):
        allocation = strategy.ask(less)
        assert not third[allocation.arms].any()
        strategy.tell(less, came_back(less.problem, truth, allocation, rng, spent=less.spent))


@pytest.mark.parametrize("case", PROVEN, indirect=True)
def test_only_some_compounds_are_wanted(case):
    """What can be measured and what the answer is about may differ: X and Z."""
    strategy, goal = case
    if isinstance(strategy, Halving):
        pytest.skip("it learns of a compound from its own measurements alone")
    features = SiteFeatures(product((3, 2)), (3, 2))
    truth = truths(case, features, np.random.default_rng(8), size=2.0)
    measurable = np.array([True, True, True, False, True, False])
    wanted = np.array([False, True, True, True, True, True])
    problem = problem_for(case, features, truth, sd=0.02, measurable=measurable, wanted=wanted, budget=2000)
    rng = np.random.default_rng(1)
    state = strategy.start(problem)
    for _ in range(400):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert measurable[allocation.arms].all()
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    status = state.status
    assert not np.isin(status[~wanted], (IN, OUT)).any()
    values = np.where(wanted, truth, np.nan)
    assert problem.goal.is_right(status == IN, values if goal == "pareto" else values[0])


def test_nothing_left_to_measure_is_a_reason_to_stop(case):
    strategy, _ = case
    problem, truth, rng = random_problem(case, 1)
    state = strategy.start(problem)
    outcome = came_back(problem, truth, strategy.ask(state), rng)
    none = np.zeros(problem.n_arms, dtype=bool)
    gone = strategy.adjust(state, measurable=none, spent=outcome.spent)
    assert [reason.name for reason in strategy.stop(gone)] == ["nothing measurable"]
    strategy.tell(gone, outcome)
    with pytest.raises(AssayPilotError, match="no compound can be measured"):
        strategy.start(replace(problem, measurable=none))


@pytest.mark.parametrize("budget", [7, 13, pytest.param(40, marks=pytest.mark.slow), 200])
def test_no_phase_asks_for_more_than_the_budget_leaves(case, budget):
    """Rank 7 of 3 x 5, nothing to tell apart: the budget ends it, or it is refused with the condition."""
    strategy, _ = case
    features = SiteFeatures(product((3, 5)), (3, 5))
    truth = truths(case, features, np.random.default_rng(0), size=0.01)
    problem = problem_for(case, features, truth, sd=0.5, slack=0.02, budget=budget)
    refusal = refused(strategy, problem)
    if refusal is not None:
        assert f"{budget}" in refusal, "a budget that is too small is named"
        return
    state = strategy.start(problem)
    rng = np.random.default_rng(budget)
    for _ in range(400):
        if strategy.stop(state):
            break
        allocation = strategy.ask(state)
        assert 0 < allocation.total <= budget - state.spent
        assert (allocation.counts > 0).all()
        assert (np.diff(allocation.arms) > 0).all()
        state = strategy.tell(state, came_back(problem, truth, allocation, rng, spent=state.spent))
    reasons = strategy.stop(state)
    assert reasons
    assert reasons[0].name in ("budget", "decided")
    assert all(math.isfinite(value) for value in reasons[0].numbers.values())


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.info.name)
def test_every_strategy_says_what_it_is(kind):
    strategy = kind()
    info = strategy.info
    assert baselines.get(info.name).info is info
    assert info.version >= 1
    assert info.guarantee
    assert info.source
    assert info.goals
    assert info.baseline == (kind in baselines.baselines())
    assert all(parameter.meaning for parameter in info.parameters)
    filled = registry.check_parameters(strategy, {})
    assert filled == {p.name: p.default for p in info.parameters}
    if not info.baseline:
        for goal in info.goals:
            chosen = registry.choose(info.name, goal)[0].info
            assert chosen.name == info.name
            assert goal in chosen.goals
    else:
        with pytest.raises(AssayPilotError, match="there is no strategy"):
            registry.choose(info.name, info.goals[0])
    with pytest.raises(AssayPilotError, match="has no parameter 'colour'"):
        registry.check_parameters(strategy, {"colour": 1})


def test_other_goals_are_refused(case):
    strategy, _ = case
    features = DenseFeatures(np.eye(3))
    others = [name for name in ("epsilon-best", "best", "pareto") if name not in strategy.info.goals]
    for name in others:
        problem = problem_of(features, goal=goal_of(name), sd=[0.1] * (2 if name == "pareto" else 1))
        with pytest.raises(AssayPilotError, match=f"does not answer the goal '{name}'"):
            strategy.start(problem)


NUMBER = {"first_radius": 0.0}, {"first_radius": math.inf}, {"first_radius": "wide"}, {"gap": 1.0}
LINEAR = (
    {"threshold": "loose"}, {"optimism": 3}, {"first": "none"}, {"norm": 0}, {"norm": [1.0]},
    {"eta": -1.0}, {"eta": "theorem"}, {"batch": 0}, {"batch": True},
)  # fmt: skip
RACES = {"pull": "random"}, {"first": "some"}, {"batch": -2}, {"threshold": "none"}
REFUSED = {
    "linfact-g": ({"decide": "later"}, *NUMBER),
    "linfact-glm": (
        {"link": "probit"}, {"link": "logit"}, {"link": "log"}, {"link": "logit", "bound": -1.0},
        {"link": "logit", "bound": math.inf}, {"link": "logit", "bound": 800.0}, {"link": "log", "bound": 20.0},
        {"bound": "wide"},
    ),
    "linfact-mis": (
        {}, {"model_error": 0.0}, {"model_error": math.nan}, {"model_error": 1e-3, "decide": "later"},
    ),
    "rage": ({"decide": "soon"}, {"radii": "wide"}, {"slack_rule": 1}, *NUMBER),
    "gege": ({"decide": "guess"}, {"radii": "loose"}, *NUMBER),
    "gse": ({"eta": 1.0}, {"model": "probit"}, {"allocation": "even"}, {"bound": 0}),
    "lingame": LINEAR,
    "lingame-c": LINEAR,
    "uniform": ({"growth": 1.0},),
    "static-g": ({"first": 0.5},),
    "static-xy": ({"at_budget": "stop"},),
    "oracle": ({}, {"truth": [[0.0, 1.0]]}),
    "lingape": RACES,
    "m-lingape": (*RACES, {"m": 0}),
    "lingifa": (*RACES, {"m": 0}),
    "xy-adaptive": ({"alpha": 1.5}, {"alpha": 0}),
    "alba": ({"first_gap": -1},),
    "bayesgap": ({"prior": 0},),
    "kgcb": ({"batch": 0},),
    "lazy-tts": ({"threshold": "loose"}, {"at_budget": 3}, {"batch": 1.5}),
    "ape": ({"radii": "tight"}, {"batch": 0}, {"batch": 2.5}, {"batch": True}),
}  # fmt: skip


def test_parameters_out_of_range_are_refused_in_words():
    """``tests/golden/strategy-refusals.txt`` lists what is said."""
    said = []
    for name, cases in REFUSED.items():
        strategy = baselines.get(name)
        goal = strategy.info.goals[0]
        for given in cases:
            problem = problem_of(
                SiteFeatures(product((2, 2)), (2, 2)),
                goal=goal_of(goal),
                sd=[0.2] * (2 if goal == "pareto" else 1),
                capacity=Capacity(96, 8, budget=400),
                **given,
            )
            said.append(f"{name} {given}\n    {refused(strategy, problem)}")
    snapshots.expect("strategy-refusals.txt", "\n".join(said) + "\n")


def test_unknown_names_are_refused_with_the_nearest():
    with pytest.raises(AssayPilotError) as refused:
        baselines.get("linfakt-g")
    assert "there is no strategy 'linfakt-g'" in str(refused.value)
    assert refused.value.mend.startswith(
        "Did you mean linfact-g? Choose auto, proven or one of: gaussian-process, linfact-g, "
    )
    assert "kgcb" in refused.value.mend
    with pytest.raises(AssayPilotError, match=r"linfact-g, .*, gse, adaptive\. Or install [a-z ]*\.$") as refused:
        registry.choose("linfakt-g", "epsilon-best")
    assert "kgcb" not in (refused.value.mend or "")
    with pytest.raises(AssayPilotError, match="does not answer the goal 'pareto'"):
        registry.choose("linfact-g", "pareto")


@pytest.mark.parametrize("goal", registry.PROVEN_GOALS)
def test_proven_chooses_the_strategy_with_the_fewest_measurements(goal):
    """And says why: few values, many values, a parameter that only another one has."""
    phased = {"epsilon-best": "linfact-g", "pareto": "gege", "best": "rage"}[goal]
    cases = [
        ({}, "adaptive", "fewest measurements"),
        ({"values": 2000}, "adaptive", "fewest measurements"),
        ({"values": 30_000}, phased, "minutes to plan a round of 30,000 values"),
        ({"parameters": ["decide"]}, phased, "it has decide"),
        ({"parameters": ["speed"]}, "adaptive", "fewest measurements"),
    ]
    for given, name, reason in cases:
        chosen, why = registry.choose("proven", goal, **given)
        assert (chosen.info.name, goal in chosen.info.goals) == (name, True), given
        assert why.startswith(f"{name}, because ")
        assert reason in why
        assert why.endswith(chosen.info.guarantee)


def test_a_campaign_loads_its_own_strategy_only():
    code = "import sys; from assaypilot.engine.strategies.registry import get; get('linfact-g'); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert "assaypilot.engine.strategies.linfact.linfact" in loaded
    assert not [name for name in loaded if "baselines" in name or name.endswith((".lingame", ".rage", ".gege"))]
