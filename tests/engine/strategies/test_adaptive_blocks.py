"""``adaptive`` on plates that shift all that stands on them: its steps stay normal, its errors within delta."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.stats import kstest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest, ParetoSet
from assaypilot.engine.models.blocks import Cells
from assaypilot.engine.simulate.instances import Drawn, Instance
from assaypilot.engine.simulate.on_plates import Plates, sample_on_plates
from assaypilot.engine.simulate.runner import Task, play, run_of
from assaypilot.engine.strategies.adaptive.evidence import Evidence, appended, nothing_measured
from assaypilot.engine.strategies.adaptive.fronts import Front
from assaypilot.engine.strategies.adaptive.fronts import appended as appended_front
from assaypilot.engine.strategies.adaptive.fronts import nothing_measured as no_front
from assaypilot.engine.strategies.adaptive.one import Adaptive
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from assaypilot.engine.strategies.protocol import Allocation, Capacity, Certificate, Outcome
from assaypilot.engine.strategies.registry import choose
from tests.strategies import dense, problem_of, product

SD = 0.2
RUNS = 100
EXACT = AllEpsilonBest(0.3, 0.0)


def two(rng, goal, gap=0.32, endpoints=1):
    """Two compounds that differ by ``gap`` in every endpoint."""
    truth = np.tile([gap, 0.0], (endpoints, 1))
    on = np.ones(2, dtype=bool)
    return Drawn(SiteFeatures(np.array([[0], [1]]), (2,)), truth, truth, on, on, goal, (SD,) * endpoints)


def task_of(plates, strategy=None, goal=EXACT, per_round=32):
    """Campaigns on two compounds at delta 0.3."""
    endpoints = 2 if isinstance(goal, ParetoSet) else 1
    draw = partial(two, goal=goal, endpoints=endpoints, gap=0.32 if endpoints == 1 else 0.05)
    instance = Instance("two", "", "", 2, 2, draw, False, goal.name, 0.3)
    return Task(
        strategy or Adaptive(), instance, seed=5, per_round=per_round, max_replicates=16, plates=plates, budget=128
    )


def errors(plates, strategy=None, goal=EXACT, runs=RUNS, per_round=32):
    """Share of campaigns with a wrong decision at delta 0.3 of those that ended."""
    task = task_of(plates, strategy, goal, per_round)
    return np.mean([run_of(task, number).wrong for number in range(runs)])


def test_plates_make_errors_and_blocks_take_them_away():
    """Plates filled in the order of the list: what stands on the first is compared with what stands on the second."""
    asked = partial(Plates, 0.3, 16, 4, filled="table")
    without, beside = errors(asked(told=False)), errors(asked(told=True))
    assert without > 0.3 + 1.64 * math.sqrt(0.21 / RUNS)
    assert beside <= 0.3


def test_trade_offs_on_plates():
    goal = ParetoSet((0.0, 0.0))
    asked = partial(Plates, 0.3, 16, 4, filled="table")
    assert errors(asked(told=False), AdaptivePareto(), goal, 25) > 0.3
    assert errors(asked(told=True), AdaptivePareto(), goal, 25) <= 0.3


def steps(told, shift=0.3, filled="design", controls=3):
    """Standardised steps of all phases of campaigns on plates."""
    features = SiteFeatures(product((3, 3)), (3, 3))
    truth = dense(features) @ np.array([5.0, 0.0, 0.3, 0.6, 0.0, 0.2, 0.5])
    problem = problem_of(features, epsilon=0.3, slack=0.2, sd=SD, capacity=Capacity(24, 4))
    on = np.ones(9, dtype=bool)
    drawn = Drawn(features, truth[None], truth[None], on, on, AllEpsilonBest(0.3, 0.2), (SD,))
    found = []
    for seed in range(24):
        rng = np.random.default_rng((6, seed))
        state, strategy = Adaptive().start(problem), Adaptive()
        for _ in range(4):
            if strategy.stop(state):
                break
            outcome = sample_on_plates(drawn, strategy.ask(state), rng, 0, Plates(shift, 10, controls, filled, told))
            state = strategy.tell(state, outcome)
        behind = Evidence(features, state.memory, SD).behind(np.array([0]))
        led, seen = state.memory["leaders"], behind.precision[:, 0] > 0
        found.extend(((behind.difference[:, 0] - (truth[led] - truth[0])) * behind.precision[:, 0])[seen])
    return np.array(found)


def test_steps_of_an_adaptive_campaign_on_plates_are_standard_normal():
    z = steps(told=True)
    assert len(z) > 50
    assert kstest(z, "norm").pvalue > 1e-3
    assert np.std(z) == pytest.approx(1.0, abs=0.2)
    # The same check sees plates that nobody is told of.
    assert np.std(steps(told=False, filled="lot")) > 1.3


def test_plates_without_controls_are_compared_by_what_shares_one():
    """No mean is known, so the leader is one by differences: steps against it are standard normal all the same."""
    z = steps(told=True, controls=0)
    assert len(z) > 50
    assert kstest(z, "norm").pvalue > 1e-3
    assert np.std(z) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize(("goal", "strategy"), [(AllEpsilonBest(0.1, 0.3), Adaptive()),
                                                (ParetoSet((0.2, 0.2)), AdaptivePareto())])  # fmt: skip
def test_campaigns_on_plates_without_controls_come_to_an_end(goal, strategy):
    """As they do with controls, and about as soon."""
    taken = []
    for controls in (4, 0):
        task = task_of(Plates(0.3, 16, controls), strategy, goal)
        runs = [run_of(task, number) for number in range(6)]
        assert all(run.reason == "decided" and not run.wrong for run in runs)
        taken.append(np.mean([run.measurements for run in runs]))
    assert taken[1] <= 1.3 * taken[0]


def outcome_of(cells, n_arms, n_endpoints=1, told=None):
    counts, sums = np.zeros((n_endpoints, n_arms)), np.zeros((n_endpoints, n_arms))
    for k in range(n_endpoints):
        np.add.at(counts[k], cells.arms, cells.counts[k])
        np.add.at(sums[k], cells.arms, cells.counts[k] * cells.means[k])
    planned = Allocation(1, np.arange(n_arms), np.ones(n_arms, np.intp), math.inf, Certificate("g", 1.0, 1.0))
    return Outcome(planned, counts, sums / np.maximum(counts, 1), 0, cells=told or cells)


def some_cells(rng, n_arms, n_endpoints=1):
    arms, blocks = np.repeat(np.arange(n_arms), 2), np.tile([0, 1], n_arms)
    shape = (n_endpoints, len(arms))
    controls = rng.integers(1, 4, (n_endpoints, 2)).astype(float)
    counts = rng.integers(1, 3, shape).astype(float)
    return Cells(arms, blocks, counts, rng.standard_normal(shape), controls, rng.standard_normal((n_endpoints, 2)))


def test_phases_with_and_without_blocks_stand_in_one_record():
    """A record of earlier phases goes on, and one with blocks takes phases without any."""
    rng = np.random.default_rng(7)
    features = SiteFeatures(product((2, 3)), (2, 3))
    first, second = (outcome_of(some_cells(rng, 6), 6) for _ in range(2))
    plain = Outcome(first.allocation, first.counts, first.means)
    mixed = appended(appended(appended(nothing_measured(), plain, None), second, 1), plain, 2)
    alone = appended(nothing_measured(), second, 1)
    old = appended(nothing_measured(), plain, None)
    found = Evidence(features, mixed, SD)
    assert len(found.phases) == 3
    assert "block" not in old
    rows = np.arange(6)
    for place, record in ((0, old), (1, alone), (2, old)):
        (phase,) = Evidence(features, record, SD).phases
        assert found.phases[place].means(rows) == pytest.approx(phase.means(rows))
        assert found.phases[place].half_norms(rows) == pytest.approx(phase.half_norms(rows))
    # All phases together are as precise as the sum of their information.
    information = sum(np.linalg.pinv(one.covariance, rcond=1e-10) for one in found.phases)
    assert found.pooled.covariance == pytest.approx(np.linalg.pinv(information, rcond=1e-10))


def test_several_endpoints_have_blocks_of_their_own():
    rng = np.random.default_rng(8)
    features = SiteFeatures(product((2, 3)), (2, 3))
    outcome = outcome_of(some_cells(rng, 6, 2), 6, 2)
    front = Front(features, appended_front(no_front(6, 2), outcome), (0.2, 0.5))
    for k, sd in enumerate((0.2, 0.5)):
        one = outcome_of(outcome.cells.of(k), 6)
        (expected,) = Evidence(features, appended(nothing_measured(), one, None), sd).phases
        (found,) = front.endpoints[k].phases
        assert sd * found.means() == pytest.approx(expected.means())
        assert found.half_norms() == pytest.approx(expected.half_norms())


def test_a_cell_that_one_endpoint_lacks_tells_of_the_other():
    rng = np.random.default_rng(9)
    features = SiteFeatures(product((2, 3)), (2, 3))
    whole = some_cells(rng, 6, 2)
    whole.counts[1, 2] = whole.counts[0, 5] = 0.0
    outcome = outcome_of(whole, 6, 2)
    front = Front(features, appended_front(no_front(6, 2), outcome), (SD, SD))
    for k in range(2):
        one = outcome_of(whole.of(k), 6)
        (expected,) = Evidence(features, appended(nothing_measured(), one, None), SD).phases
        (found,) = front.endpoints[k].phases
        assert SD * found.means() == pytest.approx(expected.means())
        assert found.half_norms() == pytest.approx(expected.half_norms())


def test_what_one_endpoint_lacks_the_other_still_tells():
    """A compound that came back in one endpoint alone, and means where nothing was measured, which may be anything."""
    features = SiteFeatures(product((2, 3)), (2, 3))
    cells = some_cells(np.random.default_rng(9), 6, 2)
    cells.counts[0, 3], cells.counts[1, 7], cells.counts[:, 10] = 0.0, 0.0, 0.0
    cells.control_counts[0, 1] = 0.0
    for counts, means in ((cells.counts, cells.means), (cells.control_counts, cells.control_means)):
        means[counts == 0.0] = np.nan
    front = Front(features, appended_front(no_front(6, 2), outcome_of(zeroed(cells), 6, 2, cells)), (0.2, 0.5))
    for k, sd in enumerate((0.2, 0.5)):
        one = outcome_of(zeroed(cells).of(k), 6)
        (expected,) = Evidence(features, appended(nothing_measured(), one, None), sd).phases
        (found,) = front.endpoints[k].phases
        assert sd * found.means() == pytest.approx(expected.means(), nan_ok=True)
        assert np.isfinite(found.means()).all()
        assert found.half_norms() == pytest.approx(expected.half_norms())


def test_a_phase_without_blocks_keeps_what_one_endpoint_lacks():
    """After phases on plates: a compound that came back in one endpoint alone is not lost to that one."""
    features = SiteFeatures(product((2, 3)), (2, 3))
    rng = np.random.default_rng(10)
    beside, after = (outcome_of(some_cells(rng, 6, 2), 6, 2) for _ in range(2))
    counts = after.counts.copy()
    counts[1, 2] = 0.0
    plain = Outcome(after.allocation, counts, np.where(counts > 0, after.means, 0.0))
    front = Front(features, appended_front(appended_front(no_front(6, 2), beside), plain), (SD, SD))
    alone = Front(features, appended_front(no_front(6, 2), plain), (SD, SD))
    for one, other in zip(front.endpoints, alone.endpoints, strict=True):
        assert one.phases[1].means() == pytest.approx(other.phases[0].means())
        assert one.phases[1].half_norms() == pytest.approx(other.phases[0].half_norms())


def zeroed(cells):
    """The same without what stands where nothing was measured."""
    means = np.where(cells.counts > 0, cells.means, 0.0)
    return replace(cells, means=means, control_means=np.where(cells.control_counts > 0, cells.control_means, 0.0))


def test_what_cannot_take_plates_out_refuses_them():
    with pytest.raises(AssayPilotError, match="linfact-g cannot take plate effects out"):
        choose("linfact-g", "epsilon-best", blocks="plate")
    assert choose("auto", "pareto", blocks="plate")[0].info.name == "adaptive"
    with pytest.raises(AssayPilotError, match="on a plate cannot be 0"):
        Plates(0.3, 0)
    with pytest.raises(AssayPilotError, match="SD of plate effects"):
        Plates(math.nan)


def test_a_run_on_plates_is_the_same_again():
    drawn = two(None, AllEpsilonBest(0.3, 0.2))
    problem = problem_of(drawn.features, epsilon=0.3, slack=0.2, sd=SD, capacity=Capacity(16, 8))
    one, other = (play(Adaptive(), drawn, problem, np.random.default_rng(9), plates=Plates(0.3, 8)) for _ in range(2))
    assert one[1:] == other[1:]
