"""Least squares beside blocks against one big least-squares problem written plainly."""

import numpy as np
import pytest
from scipy.stats import kstest

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.models.blocks import NO_BLOCK, Effects, blocked_least_squares
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.posterior import blocked_posterior, posterior
from tests.strategies import dense, product, random_table


def measured(rng, n_rows, n_blocks, *, controls=True):
    """Random cells of arms and blocks, some without a block, with controls in some of the blocks."""
    pairs = np.array([(a, b) for a in range(n_rows) for b in range(-1, n_blocks) if rng.random() < 0.4])
    counts = rng.integers(1, 4, len(pairs)).astype(float)
    of_controls = rng.integers(0, 4, n_blocks).astype(float) * controls
    return pairs[:, 0], pairs[:, 1], counts, of_controls


def plainly(x, arms, blocks, counts, of_controls, means, control_means):
    """theta's part of the whole problem: what is estimable of it, and its covariance, with a column for each block."""
    n_blocks, d = len(of_controls), x.shape[1]
    rows = np.hstack([x[arms], np.eye(n_blocks + 1)[blocks][:, :n_blocks]])
    controls = np.hstack([np.zeros((n_blocks, d)), np.eye(n_blocks)])
    whole = np.vstack([rows, controls]) * np.sqrt(np.concatenate([counts, of_controls]))[:, None]
    values = np.concatenate([means, control_means]) * np.sqrt(np.concatenate([counts, of_controls]))
    gram = whole.T @ whole
    inverse = np.linalg.pinv(gram, rcond=1e-11, hermitian=True)
    seen = inverse @ gram
    return (inverse @ whole.T @ values)[:d], inverse[:d, :d], (np.eye(len(gram)) - seen)[:, :d], inverse


@pytest.mark.parametrize("kind", ["full", "sparse", "deficient"])
@pytest.mark.parametrize("seed", range(6))
def test_it_is_the_least_squares_problem_with_a_column_for_every_block(seed, kind):
    rng = np.random.default_rng((1, seed))
    codes, sizes = random_table(rng, kind, most=14)
    features = SiteFeatures(codes, sizes)
    x = dense(features)
    arms, blocks, counts, of_controls = measured(rng, len(x), 4, controls=seed % 2 == 0)
    means, control_means = 7.0 + rng.standard_normal(len(arms)), 3.0 + rng.standard_normal(4)
    found = blocked_least_squares(features, arms, blocks, counts, means, of_controls, control_means)
    theta, covariance, lost, _ = plainly(x, arms, blocks, counts, of_controls, means, control_means)
    every = np.arange(len(x))
    told = np.abs(x @ lost.T).max(axis=1) < 1e-8
    assert np.array_equal(found.estimable(every), told)
    assert found.means(every)[told] == pytest.approx((x @ theta)[told], rel=1e-8)
    assert found.half_norms(every)[told] == pytest.approx(np.sqrt(np.einsum("ij,jk,ik->i", x, covariance, x))[told])
    for i in range(len(x)):
        apart = x[i] - x
        known = np.abs(apart @ lost.T).max(axis=1) < 1e-8
        norms = found.difference_norm(i, every)
        assert np.array_equal(np.isfinite(norms), known)
        assert norms[known] == pytest.approx(
            np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", apart, covariance, apart), 0.0))[known], abs=1e-7
        )


def test_a_block_of_one_compound_without_a_control_tells_nothing():
    features = SiteFeatures(product((3, 2)), (3, 2))
    arms, counts, controls = np.arange(6), np.full(6, 2.0), np.array([3.0, 0.0])
    blocks, values = np.zeros(6, dtype=np.intp), np.arange(6.0)
    alone = blocked_least_squares(features, arms, blocks, counts, values, controls, np.zeros(2))
    more = blocked_least_squares(
        features,
        np.append(arms, 5),
        np.append(blocks, 1),
        np.append(counts, 50.0),
        np.append(values, 99.0),
        controls,
        np.zeros(2),
    )
    assert more.theta == pytest.approx(alone.theta)
    assert more.covariance == pytest.approx(alone.covariance)


def test_without_blocks_it_is_plain_least_squares_and_the_plain_posterior():
    rng = np.random.default_rng(2)
    features = SiteFeatures(product((3, 4)), (3, 4))
    arms, counts, means = np.arange(12), rng.integers(1, 4, 12).astype(float), rng.standard_normal(12)
    none, no_controls = np.full(12, NO_BLOCK), np.zeros(0)
    found = blocked_least_squares(features, arms, none, counts, means, no_controls, no_controls)
    plain = least_squares(features, arms, counts, means)
    assert found.theta == pytest.approx(plain.theta)
    assert found.covariance == pytest.approx(plain.covariance)
    effects = Effects(features, arms, none, counts, no_controls)
    beside = blocked_posterior(features, arms, counts, means, 0.3, effects, no_controls)
    other = posterior(features, arms, counts, means, 0.3)
    assert beside.means() == pytest.approx(other.means())
    assert beside.sds() == pytest.approx(other.sds())


def test_the_posterior_beside_blocks_is_that_of_all_effects_together():
    """With so many values that the prior says nothing it is the estimate."""
    rng = np.random.default_rng(3)
    features = SiteFeatures(product((3, 3)), (3, 3))
    arms, blocks, counts, of_controls = measured(rng, 9, 3)
    of_controls += 1.0
    means, control_means = rng.standard_normal(len(arms)), rng.standard_normal(3)
    effects = Effects(features, arms, blocks, 1e6 * counts, 1e6 * of_controls)
    view = blocked_posterior(features, arms, 1e6 * counts, means, 0.2, effects, control_means)
    found = blocked_least_squares(features, arms, blocks, 1e6 * counts, means, 1e6 * of_controls, control_means)
    assert view.means() == pytest.approx(found.means(), abs=1e-4)
    assert view.sds() == pytest.approx(0.2 * found.half_norms(), rel=1e-3)


def test_a_block_may_shift_by_anything_and_errors_are_standard_normal():
    features = SiteFeatures(product((3, 2)), (3, 2))
    x, sd = dense(features), 0.3
    truth = x @ np.array([6.0, 0.0, 0.5, 1.0, 0.0, -0.4])
    rng = np.random.default_rng(4)
    arms, blocks, counts, _ = measured(rng, 6, 3)
    of_controls = np.array([2.0, 4.0, 1.0])
    z = []
    for _ in range(400):
        shift = np.append(5.0 * rng.standard_normal(3), 0.0)
        means = truth[arms] + shift[blocks] + sd * rng.standard_normal(len(arms)) / np.sqrt(counts)
        control_means = shift[:3] + sd * rng.standard_normal(3) / np.sqrt(of_controls)
        found = blocked_least_squares(features, arms, blocks, counts, means, of_controls, control_means)
        z.append((found.means()[0] - truth[0]) / (sd * found.half_norms()[0]))
    assert kstest(z, "norm").pvalue > 1e-3
    assert np.std(z) == pytest.approx(1.0, abs=0.11)
