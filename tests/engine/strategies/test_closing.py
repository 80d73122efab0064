"""What other cells of a phase say of values known only as bounds: it holds as often as it should, and what it saves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.goals import AllEpsilonBest
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.strategies.adaptive.cohorts import closing_of, levels_of
from assaypilot.engine.strategies.adaptive.evidence import Evidence, appended, nothing_measured
from assaypilot.engine.strategies.closing import closed
from assaypilot.engine.strategies.protocol import Allocation, Certificate, Outcome, Problem
from tests.published import beyond

SIZES = (3, 3, 2)
CODES = np.array(list(itertools.product(*map(range, SIZES))), dtype=np.int32)
FEATURES = SiteFeatures(CODES, SIZES)
SIGMA, LIMIT = 0.3, -0.9
MEANS = np.array([0.0, 0.5, -0.9])[CODES[:, 0]] + np.array([0.0, 0.3, -0.4])[CODES[:, 1]] + 0.2 * CODES[:, 2]


def phase(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Counts, latent means and means with the limit in place of what was not told; single values."""
    counts = np.ones(len(MEANS))
    latent = MEANS + SIGMA * rng.standard_normal(len(MEANS))
    return counts, latent, np.maximum(latent, LIMIT)


def contained(level: float, shrunk: float = 1.0, runs: int = 2000) -> float:
    """How often the latent means lie where the others say."""
    rng, arms, inside, asked = np.random.default_rng(7), np.arange(len(MEANS)), 0, 0
    for _ in range(runs):
        counts, latent, means = phase(rng)
        which = np.flatnonzero(latent < LIMIT)
        whole = least_squares(FEATURES, arms, counts, means)
        ball = closed(FEATURES, (arms, counts, means), which, whole, SIGMA, level)
        asked += bool(len(which))
        if ball is not None:
            assert not ball.untold.shape[1]
            apart = np.linalg.solve(ball.root, (latent - means)[which] - ball.centre)
            inside += float(np.linalg.norm(apart)) <= ball.radius / shrunk
    return inside / asked


def test_latent_means_lie_where_they_should_as_often_as_they_should_and_a_smaller_ball_is_noticed():
    """The event is exactly that of a chi-square, whichever values came as bounds."""
    assert contained(0.1) == pytest.approx(0.9, abs=4 * (0.09 / 2000) ** 0.5)
    assert contained(0.1, shrunk=1.3) < 0.85


def least(b: np.ndarray, ball) -> float:
    return float(-ball.below(b[:, None])[0])


def test_a_combination_is_least_at_the_edge_and_without_end_where_nobody_else_tells():
    rng, arms = np.random.default_rng(3), np.arange(len(MEANS))
    counts, latent, means = phase(rng)
    which = np.flatnonzero(latent < LIMIT)
    whole = least_squares(FEATURES, arms, counts, means)
    ball = closed(FEATURES, (arms, counts, means), which, whole, SIGMA, 0.01)
    b = rng.standard_normal(len(which))
    around = rng.standard_normal((len(which), 20_000))
    edge = ball.centre[:, None] + ball.radius * ball.root @ (around / np.linalg.norm(around, axis=0))
    assert least(b, ball) <= (b @ edge).min() + 1e-9
    assert (b @ edge).min() - least(b, ball) < 0.1 * abs(least(b, ball))
    # Squares of the residuals are what they may be on the edge.
    worst = means.copy()
    worst[which] += edge[:, 0]
    left = worst - least_squares(FEATURES, arms, counts, worst).means(arms)
    from scipy.stats import chi2

    assert float(left @ left) == pytest.approx(SIGMA**2 * chi2.isf(0.01, len(MEANS) - whole.rank))
    alone = SiteFeatures(np.vstack([np.delete(CODES, 4, 0), [[3, 0, 0]]]).astype(np.int32), (4, 3, 2))
    rows = np.arange(alone.n_rows)
    own = alone.times(np.linspace(0.0, 1.0, alone.n_columns)) + 0.1 * rng.standard_normal(len(rows))
    found = least_squares(alone, rows, counts, own)
    ball = closed(alone, (rows, counts, own), np.array([0, len(rows) - 1]), found, SIGMA, 0.01)
    assert ball.untold.shape == (2, 1)
    assert np.isfinite(ball.below(np.array([[1.0], [0.0]]))[0])
    assert ball.below(np.array([[0.0], [1.0]]))[0] == np.inf


def test_nothing_is_closed_without_freedom_a_level_or_additivity():
    rng, arms = np.random.default_rng(3), np.arange(len(MEANS))
    counts, _, means = phase(rng)
    whole = least_squares(FEATURES, arms, counts, means)
    which = np.array([0])
    assert closed(FEATURES, (arms, counts, means), which, whole, SIGMA, 0.0) is None
    assert closed(FEATURES, (arms, counts, means), which[:0], whole, SIGMA, 0.1) is None
    assert closed(FEATURES, (arms, counts, means), which, whole, SIGMA / 20, 0.1) is None
    single = SiteFeatures(np.arange(4)[:, None].astype(np.int32), (4,))
    four = np.arange(4)
    found = least_squares(single, four, np.ones(4), np.ones(4))
    assert closed(single, (four, np.ones(4), np.ones(4)), which, found, SIGMA, 0.1) is None


@pytest.mark.parametrize("seed", range(3))
def test_no_step_is_larger_than_the_latent_one_where_the_event_holds_and_most_are_larger_than_before(seed):
    rng = np.random.default_rng(seed)
    counts, latent, means = phase(rng)
    arms = np.arange(len(MEANS))
    plan = Allocation(1, arms, counts.astype(np.intp), np.inf, Certificate("g", 1.0, 1.0))
    low = np.where(latent < LIMIT, -np.inf, latent)
    seen = appended(nothing_measured(), Outcome(plan, counts[None], means[None], 0, low[None], means[None]), 4)
    true = appended(nothing_measured(), Outcome(plan, counts[None], latent[None], 0), 4)
    steps, exact = (Evidence(FEATURES, one, SIGMA, 1e-4).pairs(arms, arms).walk(0.0) for one in (seen, true))
    open_ = Evidence(FEATURES, seen, SIGMA).pairs(arms, arms).walk(0.0)
    assert (steps <= np.maximum(exact, -4.0) + 1e-9).all()
    assert (steps >= open_ - 1e-9).all()
    assert steps.mean() > open_.mean() + 0.3


def test_what_it_takes_is_half_of_a_level_that_is_never_spent():
    every = np.ones(len(MEANS), dtype=bool)
    problem = Problem(FEATURES, every, every, AllEpsilonBest(0.5, 0.5), 0.05, (SIGMA,))
    assert closing_of(problem) == levels_of(problem).one_in / 2.0


def test_on_small_tables_bounds_take_few_more_measurements():
    exact, bound = (beyond.on_random_tables(share, "bound", 6) for share in (0.0, 0.1))
    assert sum(run.measurements for run in bound) < 1.5 * sum(run.measurements for run in exact)
    assert not any(run.wrong for run in bound)
