import math

import numpy as np
import pytest
from scipy.stats import kstest

from assaypilot.engine.campaign.layout import lay_out
from assaypilot.engine.domain.goals import AllEpsilonBest, Best
from assaypilot.engine.simulate import baselines
from assaypilot.engine.simulate.instances import get
from assaypilot.engine.simulate.instances.instance import dense
from assaypilot.engine.simulate.runner import Limits, Task, drawn_of, problem_of, run_of, sample
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.linfact.linfact import LinFactG
from assaypilot.engine.strategies.protocol import Allocation, Calibrated, Certificate
from tests.engine.simulate.making import Empty, Endless, Nothing, Plain, Told, instance_of

ROWS = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
MEANS = np.array([1.0, 2.0, 3.0])


def three(goal=None, **more):
    return dense(ROWS, MEANS, goal or Best(), **more)


def allocation(counts):
    arms = np.arange(len(counts))
    return Allocation(1, arms, np.array(counts, dtype=np.intp), 1.0, Certificate("g", 1.0, 1.0))


def many(drawn, counts, n=4000):
    rng = np.random.default_rng(5)
    return np.array([sample(drawn, allocation(counts), rng, 0).means for _ in range(n)])


def test_a_mean_of_n_measurements_is_normal_with_its_own_sd():
    drawn = dense(ROWS, np.vstack([MEANS, -MEANS]), Best(), sd=(0.5, 2.0))
    counts = [1, 4, 10**6]
    values = many(drawn, counts)
    for endpoint, sd in enumerate((0.5, 2.0)):
        for arm, n in enumerate(counts):
            standard = (values[:, endpoint, arm] - drawn.truth[endpoint, arm]) / (sd / math.sqrt(n))
            assert kstest(standard, "norm").pvalue > 1e-3
    errors = values - drawn.truth
    assert abs(np.corrcoef(errors[:, 0, 0], errors[:, 1, 0])[0, 1]) < 0.06
    assert abs(np.corrcoef(errors[:, 0, 0], errors[:, 0, 1])[0, 1]) < 0.06


@pytest.mark.parametrize(
    ("kind", "expected", "variance"),
    [("bernoulli", [0.1, 0.5, 0.9], lambda p: p * (1 - p)), ("poisson", [0.2, 1.0, 4.0], lambda p: p)],
)
def test_counts_have_the_mean_and_the_variance_of_their_kind(kind, expected, variance):
    p = np.array(expected)
    drawn = dense(ROWS, MEANS, Best(), expected=p, kind=kind, sd=1.0)
    counts = np.array([3, 20, 200])
    values = many(drawn, counts)[:, 0]
    n, spread = len(values), variance(p) / counts
    assert np.all(np.abs(values.mean(axis=0) - p) < 4.5 * np.sqrt(spread / n))
    assert np.all(np.abs(values.var(axis=0) / spread - 1) < 0.2)
    assert np.allclose(values * counts, np.rint(values * counts))


def test_what_was_not_asked_for_has_no_count():
    got = sample(three(), Allocation(1, np.array([2]), np.array([7]), 1.0, Certificate("g", 1, 1)), rng(), 12)
    assert got.counts.tolist() == [[0, 0, 7]]
    assert got.means[0, :2].tolist() == [0, 0]
    assert (got.spent, got.complete) == (12, True)


def rng(seed=0):
    return np.random.default_rng(seed)


def test_a_run_is_counted_and_scored():
    task = Task(Plain(), instance_of(three(sd=1e-6)), parameters={"each": 5, "phases": 3})
    run = run_of(task, 0)
    assert (run.measurements, run.phases, run.rounds, run.reason) == (45, 3, 3, "decided")
    assert run.right
    assert (run.precision, run.recall, run.f1) == (1.0, 1.0, 1.0)


def test_a_wrong_answer_is_an_error():
    runs = [run_of(Task(Plain(), instance_of(three(sd=100.0))), number) for number in range(60)]
    wrong = sum(run.wrong for run in runs)
    assert 20 < wrong < 55  # two of three at random
    assert all(run.right is not run.wrong for run in runs)


def test_rounds_are_those_a_campaign_would_cut():
    counts = np.array([1, 9, 4, 30, 2])
    order = lay_out(counts, np.eye(5), 12, 4, seed=1)
    expected = max(math.ceil(counts.sum() / 12), math.ceil(counts.max() / 4))
    assert sum(n for _, n in order) == counts.sum()
    task = Task(Plain(), instance_of(three()), parameters={"each": 30, "phases": 2}, per_round=12, max_replicates=4)
    assert run_of(task, 0).rounds == 2 * max(math.ceil(90 / 12), math.ceil(30 / 4))
    assert expected == 8


def test_a_run_depends_on_the_seed_and_its_number_alone():
    task = Task(LinFactG(), get("linfact-3"), seed=7)
    again = [run_of(task, number) for number in (2, 0, 1)]
    assert again == [run_of(Task(LinFactG(), get("linfact-3"), seed=7), number) for number in (2, 0, 1)]
    assert len({run.measurements for run in again}) > 1
    assert run_of(task, 0) != run_of(Task(LinFactG(), get("linfact-3"), seed=8), 0)


def test_every_strategy_is_played_on_the_same_draws():
    a, b = (Task(strategy, get("linfact-1"), seed=3) for strategy in (LinFactG(), Told()))
    assert np.array_equal(drawn_of(a, 5).truth, drawn_of(b, 5).truth)
    assert not np.array_equal(drawn_of(a, 5).truth, drawn_of(a, 6).truth)


@pytest.mark.parametrize(("strategy", "phases"), [(Endless(), 11), (Empty(), 0), (Nothing(), 0)])
def test_what_does_not_end_is_given_up_and_is_not_right(strategy, phases):
    run = run_of(Task(strategy, instance_of(three()), limits=Limits(phases=11)), 0)
    assert run.unfinished
    assert not run.right
    assert not run.wrong
    assert (run.phases, run.reason) == (phases, "limit")


def test_problem_holds_the_parameters_of_its_task():
    task = Task(Told(), get("linfact-2"), seed=1)
    drawn = drawn_of(task, 0)
    told = problem_of(task, drawn, 0).parameters
    assert np.array_equal(told["truth"], drawn.truth)
    # Parameters with a value of their own keep it.
    assert (told["m"], told["batch"], "threshold" in told) == (4, 1, False)
    assert "batch" not in problem_of(Task(Told(), get("linfact-2"), per_round=96), drawn, 0).parameters
    own = Task(Told(), get("linfact-2"), parameters={"m": 2, "batch": 8})
    assert (problem_of(own, drawn, 0).parameters["m"], problem_of(own, drawn, 0).parameters["batch"]) == (2, 8)


def test_strategies_of_campaigns_never_get_the_truth():
    class Curious(Told):
        info = Told.info.__class__(
            "curious", 1, "C", ("epsilon-best",), Told.info.parameters, "none", "tests", baseline=False
        )

    task = Task(Curious(), get("linfact-2"))
    assert set(problem_of(task, drawn_of(task, 0), 0).parameters) == {"batch"}


def test_goal_delta_noise_and_budget_can_be_given():
    task = Task(
        Plain(), get("linfact-2"), goal=AllEpsilonBest(0.7, 0.1), delta=0.2, noise=(0.3,), budget=50, per_round=10
    )
    problem = problem_of(task, drawn_of(task, 0), 0)
    assert (problem.goal, problem.delta, problem.noise) == (AllEpsilonBest(0.7, 0.1), 0.2, (0.3,))
    assert (problem.capacity.per_round, problem.budget) == (10, 50)
    assert problem_of(Task(Plain(), get("gse-static")), drawn_of(task, 0), 0).budget == 320


@pytest.mark.parametrize("kind", [*registry.strategies(), *baselines.baselines()], ids=lambda kind: kind.info.name)
def test_every_strategy_plays_an_instance_of_its_goal(kind):
    """Two seeded runs end, without a false decision or a wrong count."""
    goals = kind.info.goals
    if isinstance(kind(), Calibrated):
        pytest.skip("it needs sites, which the instances of the papers do not have")
    name = "linfact-7" if "epsilon-best" in goals else "gege-synthetic:arms=10" if "pareto" in goals else "lingame-pi6"
    needed = {"model_error": 1e-3} if kind.info.name == "linfact-mis" else {}
    task = Task(
        kind(), get(name), parameters=needed, noise=(0.05, 0.05)[: kind.info.endpoints[0]], budget=400, delta=0.1
    )
    first, again = run_of(task, 0), run_of(task, 0)
    assert first == again
    assert first.measurements <= 400
    assert not first.wrong
    assert not first.unfinished
