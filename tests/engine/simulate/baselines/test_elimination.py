"""DKM, XY-Adaptive and ALBA: what tells them from what they are built on, errors, refusals."""

import math

import numpy as np

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.domain.goals import Best
from assaypilot.engine.simulate.baselines.elimination import Alba
from assaypilot.engine.simulate.baselines.lazy_tts import Dkm
from assaypilot.engine.simulate.baselines.static import XYAdaptive
from assaypilot.engine.strategies.lingame.lingame import LinGame
from assaypilot.engine.strategies.protocol import IN
from tests.strategies import came_back, problem_of

CODE = {"threshold": "experiments", "optimism": "experiments", "first": "each", "batch": 20}


def hard(angle):
    return np.array([[1.0, 0.0], [0.0, 1.0], [math.cos(angle), math.sin(angle)]])


def campaign(kind, problem, truth, seed, seen=None):
    strategy, rng = kind(), np.random.default_rng((11, seed))
    state = strategy.start(problem)
    for _ in range(5000):
        if strategy.stop(state):
            return state
        outcome = came_back(problem, truth, strategy.ask(state), rng, spent=state.spent)
        after = strategy.tell(state, outcome)
        if seen is not None:
            seen(state, outcome, after)
        state = after
    raise AssertionError("no end")


def test_dkm_measures_the_disturbing_compound_far_more_often_than_lingame():
    """LinGame, Table 1: 1,775 of 8,705 measurements beside 104 of 7,135."""
    x, shares = hard(0.3), {}
    for kind in (Dkm, LinGame):
        problem = problem_of(DenseFeatures(x), goal=Best(), sd=1.0, delta=0.01, **CODE)
        counts = sum(campaign(kind, problem, x[:, 0], seed).memory["counts"] for seed in range(5))
        shares[kind] = counts[2] / counts.sum()
    assert shares[Dkm] > 3 * shares[LinGame]


def test_every_phase_of_xy_adaptive_has_a_tenth_of_the_variance_of_the_last():
    x = hard(0.1)
    worst = []

    def seen(state, outcome, after):
        rows = x[np.flatnonzero(state.active)]
        inverse = np.linalg.inv(x.T @ (x * outcome.counts[0][:, None]))
        worst.append(max((a - b) @ inverse @ (a - b) for a in rows for b in rows))

    campaign(XYAdaptive, problem_of(DenseFeatures(x), goal=Best(), sd=0.5, delta=0.05), x[:, 0], 0, seen)
    assert len(worst) > 2
    limits = 0.1 ** np.arange(1, len(worst) + 1) / 7
    assert np.all(np.array(worst) <= limits * (1 + 1e-6))
    assert np.all(np.array(worst[1:]) >= 0.8 * limits[1:])


def test_alba_halves_its_gap_and_plans_again_at_half_the_dimension():
    rng = np.random.default_rng(4)
    x = np.eye(8)
    truth = np.array([1.0, 0.9, 0.7, 0.6, 0.4, 0.3, 0.2, 0.1])
    began, gap = [], []

    def seen(state, outcome, after):
        half = 0.5 * np.sqrt(2 * math.log(2 * 8 * (state.phase + 1) * (state.phase + 2) / 0.05))
        half /= np.sqrt(outcome.counts[0][state.active])
        gap.append(half.max() / (0.5 * 0.5**state.phase))
        began.append((int(state.memory["began"].sum()), int(state.active.sum())))

    state = campaign(Alba, problem_of(DenseFeatures(x), goal=Best(), sd=0.5, delta=0.05), truth, rng.integers(99), seen)
    assert state.status[0] == IN
    assert max(gap) <= 1 + 1e-6
    assert min(gap) > 0.9
    # A design is that of a stage: of 8, then of at most 4, of at most 2.
    assert {size for size, _ in began} <= {8, 4, 3, 2}
    assert all(size == 8 or active > size // 2 or size == active for size, active in began)
