"""Probabilities of trade-offs against draws of whole posteriors."""

import itertools

import numpy as np
import pytest

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.models.posterior import posterior, probability_pareto

SIZES = (3, 3, 2)
CODES = np.array(list(itertools.product(*map(range, SIZES))), dtype=np.int32)
FEATURES = SiteFeatures(CODES, SIZES)


def views(n_endpoints, seed=4):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n_endpoints):
        theta = np.concatenate([[6.0], *(0.4 * rng.standard_normal(n) for n in SIZES)])
        rows = rng.choice(len(CODES), 12, replace=False)
        means = FEATURES.times(theta, rows) + 0.2 * rng.standard_normal(12)
        made.append(posterior(FEATURES, rows, np.ones(12), means, 0.2))
    return made


def plain(some, rows, signs, margins):
    """The two probabilities from 6,000 draws of every effect, row by row and pair by pair."""
    n = 6000
    x = FEATURES.dense(rows)
    rng = np.random.default_rng(99)
    values = []
    for view, sign in zip(some, signs, strict=True):
        theta = view.mean[:, None] + np.linalg.cholesky(view.sigma**2 * view.covariance) @ rng.standard_normal(
            (7 + 2, n)
        )
        values.append(sign * (x @ theta))
    stack = np.array(values)
    found = []
    for shift in ((0.0,) * len(signs), margins):
        ahead = [stack[k][:, None] > stack[k][None] + shift[k] for k in range(len(signs))]
        found.append(1.0 - np.logical_and.reduce(ahead).any(axis=0).mean(axis=1))
    return np.array(found)


@pytest.mark.parametrize("n_endpoints", [2, 3])
@pytest.mark.parametrize("signs", [(1.0, 1.0, 1.0), (1.0, -1.0, 1.0)])
def test_probabilities_against_whole_draws(n_endpoints, signs):
    some, rows = views(n_endpoints), np.arange(len(CODES))[::-1].copy()
    signs, margins = signs[:n_endpoints], (0.15, 0.3, 0.2)[:n_endpoints]
    inside, acceptable = probability_pareto(some, rows, signs, margins, seed=1)
    expected = plain(some, rows, signs, margins)
    spread = 4.5 * 0.5 / np.sqrt(512 if n_endpoints == 2 else 128)
    assert np.abs(inside - expected[0]).max() < spread
    assert np.abs(acceptable - expected[1]).max() < spread
    assert (acceptable >= inside).all()
    assert (inside < 0.9).any()
    assert inside.sum() >= 1.0 - 1e-9, "somebody is always on the front"
    # The same seed gives the same, another one does not.
    again = probability_pareto(some, rows, signs, margins, seed=1)
    assert np.array_equal(inside, again[0])
    assert not np.array_equal(inside, probability_pareto(some, rows, signs, margins, seed=2)[0])


def test_without_margins_both_are_the_same_and_one_row_is_sure():
    some = views(2)
    inside, acceptable = probability_pareto(some, np.arange(18), (1.0, 1.0), (0.0, 0.0), seed=0)
    assert np.array_equal(inside, acceptable)
    one, _ = probability_pareto(some, np.array([5]), (1.0, 1.0), (0.0, 0.0), seed=0)
    assert one.tolist() == [1.0]
