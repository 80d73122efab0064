"""The best combinations by drawn effects, against exhaustive search and against joint draws of every compound."""

import itertools

import numpy as np

from assaypilot.engine.models.gaussian_process import endpoints
from assaypilot.engine.models.gaussian_process.components import Components
from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.posterior import Compounds, Posterior
from assaypilot.engine.models.gaussian_process.series import fit_series
from assaypilot.engine.models.gaussian_process.variances import Rows, fit_variances


def a_series(sizes, seed, n=120):
    """Codes of every combination, and the model fitted to some of them, measured with site and pair effects."""
    rng = np.random.default_rng(seed)
    codes = np.array(list(itertools.product(*map(range, sizes))))
    truth = sum(rng.standard_normal(size)[codes[:, site]] for site, size in enumerate(sizes))
    truth = truth + 0.5 * rng.standard_normal((sizes[0], sizes[1]))[codes[:, 0], codes[:, 1]]
    arms = rng.choice(len(codes), n, replace=False)
    values = truth[arms] + 0.1 * rng.standard_normal(n)
    return codes, truth, Measured.exact(arms, values, np.ones(n))


def test_the_beam_finds_the_best_of_all_combinations():
    sizes = (7, 5, 9, 6)
    codes = np.array(list(itertools.product(*map(range, sizes))))
    for seed in range(10):
        rng = np.random.default_rng(seed)
        tables = {(site,): rng.standard_normal(size) for site, size in enumerate(sizes)}
        for one, other in itertools.combinations(range(4), 2):
            tables[one, other] = 0.5 * rng.standard_normal((sizes[one], sizes[other]))
        value = sum(table[tuple(codes[:, site] for site in sites)] for sites, table in tables.items())
        found = {tuple(row) for row in endpoints._best(tables, sizes)}
        best = {tuple(row) for row in codes[np.argsort(-value)[:20]]}
        assert tuple(codes[np.argmax(value)]) in found
        assert len(best & found) >= 18


def test_drawn_effects_add_up_to_draws_of_unmeasured_compounds():
    sizes = (4, 3, 5)
    codes, _, measured = a_series(sizes, 3, n=30)
    unseen = np.setdiff1d(np.arange(len(codes)), measured.arms)
    components = Components(sizes)
    rows = Rows(codes[measured.arms], measured.arms, measured.values, np.full(30, 0.01), (), False, 0.0, 0)
    rng = np.random.default_rng(1)
    variances = fit_variances(components, rows, n_draws=1, rng=rng)
    posterior = Posterior(components, rows, variances)
    sums = np.array(
        [
            sum(table[tuple(codes[unseen, site] for site in sites)] for sites, table in one.items())
            for one in posterior.effects(4000, rng)
        ]
    )
    order = np.concatenate([unseen, measured.arms])
    joint = posterior.draw(Compounds(codes[order], np.arange(len(unseen), len(order))), 8000, rng)[:, : len(unseen)]
    # The constant of a draw is in none of its tables, so differences between compounds are compared.
    sums, joint = sums - sums[:, :1], joint - joint[:, :1]
    own = 2 * np.exp(variances.mode[components.n_variances])
    spread = np.sqrt(np.maximum(joint.var(axis=0)[1:] - own, 0.0))
    assert np.abs(sums.mean(axis=0) - joint.mean(axis=0)).max() < 0.1 * joint.std(axis=0).max()
    assert np.allclose(sums.std(axis=0)[1:], spread, rtol=0.15, atol=0.05)


def test_a_search_finds_members_that_nobody_listed():
    found = []
    for seed in range(5):
        sizes = (12, 10, 11)
        codes, truth, measured = a_series(sizes, seed, n=150)
        model = fit_series(codes, sizes, measured, noise_sd=0.1, seed=seed)
        listed = {tuple(row) for row in endpoints.best_combinations([model], sizes, np.random.default_rng(seed))}
        members = codes[truth >= truth.max() - 0.5]
        found.append(np.mean([tuple(row) in listed for row in members]))
    assert np.mean(found) >= 0.9, found
