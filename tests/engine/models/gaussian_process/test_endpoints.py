"""Several endpoints of the same compounds: what one says of another, and what joint draws keep of both."""

import itertools

import numpy as np
import pytest

from assaypilot.engine.models.gaussian_process.components import Components
from assaypilot.engine.models.gaussian_process.endpoints import fit_endpoints
from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.posterior import Compounds, Posterior
from assaypilot.engine.models.gaussian_process.series import fit_series
from assaypilot.engine.models.gaussian_process.variances import Rows, Variances

SIZES = (6, 5, 4)
CODES = np.array(list(itertools.product(*map(range, SIZES))))
N = len(CODES)
SD = 0.15


def truths(seed, shared):
    """Values of two endpoints, ``(2, N)``; ``shared``: the part of the second that is the first, from 0 to 1."""
    rng = np.random.default_rng(seed)
    both = []
    for _ in range(2):
        values = sum(0.6 * rng.standard_normal(size)[CODES[:, site]] for site, size in enumerate(SIZES))
        both.append(values + 0.7 * rng.standard_normal(N))
    return np.array([both[0], shared * both[0] + np.sqrt(1.0 - shared**2) * both[1]])


def fitted(truth, counts, seed, *, linked=True):
    """The model of both endpoints after so many random compounds of each, the fewer among the more."""
    rng = np.random.default_rng([seed, 1])
    order = rng.permutation(N)
    measured = []
    for values, n in zip(truth, counts, strict=True):
        arms = np.sort(order[:n])
        measured.append(Measured.exact(arms, values[arms] + SD * rng.standard_normal(n), np.ones(n)))

    def fit_one(place, others):
        informed = others if linked else ()
        return fit_series(CODES, SIZES, measured[place], noise_sd=SD, seed=seed, scales=False, others=informed)

    return fit_endpoints(fit_one, measured, N), measured, order[min(counts) :]


def error(model, truth, unseen):
    return float(np.sqrt(np.mean((model.models[1].middle(unseen) - truth[1, unseen]) ** 2)))


def test_slope_on_another_endpoint_has_the_posterior_of_a_regression():
    # Without effects of substituents the model is a Bayesian line through the other endpoint, with own deviations.
    rng = np.random.default_rng(2)
    arms, other = np.arange(20), rng.standard_normal(N)
    values = 3.0 + 0.8 * other[arms] + 0.3 * rng.standard_normal(20)
    rows = Rows(CODES[arms], arms, values, np.full(20, 0.05), others=(other[arms],))
    components = Components(SIZES)
    logs = np.array([-40.0] * components.n_variances + [np.log(0.04), np.log(0.5)])
    posterior = Posterior(components, rows, Variances(logs, logs[None], 0.0, 3.0, 1.0))
    design = np.column_stack([np.ones(20), other[arms]])
    precision = design.T @ design / 0.09 + np.diag([1 / 100.0, 1 / 0.5])
    covariance = np.linalg.inv(precision)
    line = covariance @ (design.T @ (values - 3.0) / 0.09)
    unseen = np.arange(20, N)
    asked = Compounds(CODES, arms, (other,))
    wide = np.column_stack([np.ones(len(unseen)), other[unseen]])
    np.testing.assert_allclose(posterior.mean(asked)[unseen], 3.0 + wide @ line, atol=1e-4)
    # A draw of the other endpoint that lies one SD higher moves this one by the slope.
    draws = posterior.draw(asked, 20_000, np.random.default_rng(3), [np.ones((20_000, N))])[:, unseen]
    np.testing.assert_allclose(draws.mean(axis=0), 3.0 + wide @ line + line[1], atol=0.03)
    higher = np.column_stack([np.ones(len(unseen)), other[unseen] + 1.0])
    variance = np.einsum("ij,jk,ik->i", higher, covariance, higher) + 0.04
    # Errors of left-out rows may widen the draws, never narrow them.
    assert (draws.var(axis=0) > 0.95 * variance).all()


@pytest.mark.parametrize(("shared", "low", "high"), [(0.9, 0.0, 0.75), (0.0, 0.9, 1.06)])
def test_assay_of_all_compounds_informs_one_of_few_where_they_go_together(shared, low, high):
    ratios = []
    for seed in range(4):
        truth = truths(seed, shared)
        linked, _, unseen = fitted(truth, (N, 30), seed)
        apart, _, _ = fitted(truth, (N, 30), seed, linked=False)
        ratios.append(error(linked, truth, unseen) / error(apart, truth, unseen))
    assert low < np.mean(ratios) < high


def test_joint_draws_keep_what_both_endpoints_have_in_common():
    drawn, true = [], []
    for seed in range(4):
        truth = truths(seed, 0.8)
        model, _, unseen = fitted(truth, (60, 60), seed)
        draws = model.draw(unseen, 400, np.random.default_rng(seed))
        apart = draws - draws.mean(axis=1, keepdims=True)
        drawn.append(np.mean((apart[0] * apart[1]).mean(axis=0) / (apart[0].std(axis=0) * apart[1].std(axis=0))))
        errors = truth[:, unseen] - draws.mean(axis=1)
        true.append(np.corrcoef(errors)[0, 1])
    assert np.mean(true) > 0.5
    assert abs(np.mean(drawn) - np.mean(true)) < 0.2


@pytest.mark.parametrize("differences", [0.0, 1e-9, 0.1])
def test_endpoint_whose_values_say_nothing_leaves_the_other_as_it_is(differences):
    # All equal, equal but for rounding, and differing by less than their noise.
    rng, truth = np.random.default_rng(6), truths(6, 0.0)
    arms = np.sort(rng.permutation(N)[:60])
    blank = Measured.exact(arms, 5.0 + differences * rng.standard_normal(60), np.ones(60))
    measured = [blank, Measured.exact(arms[:40], truth[1, arms[:40]], np.ones(40))]

    def fit_one(place, others):
        return fit_series(CODES, SIZES, measured[place], noise_sd=(0.5, SD)[place], seed=1, scales=False, others=others)

    unseen = np.setdiff1d(np.arange(N), arms)
    drawn = fit_endpoints(fit_one, measured, N).draw(unseen, 400, np.random.default_rng(1))[1]
    alone = fit_one(1, ()).draw(unseen, 400, np.random.default_rng(2))
    assert abs(drawn.std(axis=0).mean() / alone.std(axis=0).mean() - 1.0) < 0.1
