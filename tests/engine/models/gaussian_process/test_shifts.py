"""Controls tell the shifts of plates, days and batches, and nothing else."""

import numpy as np

from assaypilot.engine.models.gaussian_process.measured import Measured
from assaypilot.engine.models.gaussian_process.series import fit_series

SIZES = (10, 12)
CODES = np.array([(a, b) for a in range(10) for b in range(12)])
SD = 0.2


def plates(seed, shift, above=0.0, wells=4):
    """Four plates of 20 compounds, each with two controls; substituents of the first site go by plate, as series do."""
    rng = np.random.default_rng(seed)
    truth = rng.standard_normal(10)[CODES[:, 0]] + rng.standard_normal(12)[CODES[:, 1]]
    arms = np.sort(rng.permutation(len(CODES))[:80])
    plate = np.repeat(np.arange(4), 20)
    shifts = shift * rng.standard_normal(4)
    values = truth[arms] + shifts[plate] + SD * rng.standard_normal(80)
    control = np.tile(np.repeat((0, 1), wells), 4)
    beside = np.repeat(np.arange(4), 2 * wells)
    read = above + np.array([0.5, -0.5])[control] + shifts[beside] + SD * rng.standard_normal(len(control))
    read -= np.array([read[control == one].mean() for one in (0, 1)])[control]
    return truth, (arms, values, plate), (len(CODES) + control, read + np.median(values), beside)


def estimates(parts, seed):
    arms, values, plate = (np.concatenate(one) for one in zip(*parts, strict=True))
    n = len(arms)
    none = np.full(n, np.inf)
    measured = Measured(arms, values, np.ones(n), -none, none, (plate,), 1)
    posterior = fit_series(CODES, SIZES, measured, noise_sd=SD, seed=seed, scales=False)
    return posterior.draw(np.arange(len(CODES)), 600, np.random.default_rng(seed))


def test_controls_make_plates_comparable():
    errors = {"with": [], "without": []}
    inside = []
    for seed in range(12):
        truth, compounds, controls = plates(seed, shift=0.8)
        for name, parts in (("with", [compounds, controls]), ("without", [compounds])):
            draws = estimates(parts, seed)
            # Only differences between compounds matter: all plates together may be high or low.
            error = draws.mean(axis=0) - truth
            errors[name].append(np.std(error))
            if name == "with":
                low, high = np.quantile(draws - draws.mean(axis=1)[:, None], (0.025, 0.975), axis=0)
                centred = truth - truth.mean()
                inside.append(np.mean((centred >= low) & (centred <= high)))
    assert np.mean(errors["with"]) < 0.9 * np.mean(errors["without"])
    assert np.sum(np.array(errors["with"]) < errors["without"]) >= 10
    assert 0.9 < np.mean(inside) < 0.99


def test_a_control_far_from_the_compounds_changes_nothing():
    _, compounds, controls = plates(1, shift=0.8)
    _, _, far = plates(1, shift=0.8, above=40.0)
    assert np.allclose(controls[1], far[1])
    assert np.allclose(estimates([compounds, controls], 1), estimates([compounds, far], 1))


def test_gross_value_without_a_day_moves_its_own_compound_alone():
    """Where all other values have a day, its level is not that of the whole series."""
    rng = np.random.default_rng(3)
    truth = rng.standard_normal(10)[CODES[:, 0]] + rng.standard_normal(12)[CODES[:, 1]]
    arms = np.append(rng.permutation(len(CODES))[:96], 0)  # so that no day has substituents of its own
    values = truth[arms] + SD * rng.standard_normal(97)
    day, none = np.append(np.repeat(np.arange(6), 16), -1), np.full(97, np.inf)
    found = []
    for off in (0.0, 3.0):
        values[-1] = truth[0] - off
        measured = Measured(arms, values, np.ones(97), -none, none, (day,), 1)
        found.append(fit_series(CODES, SIZES, measured, noise_sd=SD, seed=1).middle(np.arange(len(CODES))))
    assert np.abs(found[1] - found[0])[1:].max() < 3 * SD
    assert np.abs(np.mean(found[1] - found[0])) < 0.5 * SD


def test_intervals_hold_where_each_of_few_days_is_shifted():
    """What the days have in common is no effect of any compound, and not known."""
    inside = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal(10)[CODES[:, 0]] + rng.standard_normal(12)[CODES[:, 1]]
        arms, day, none = rng.permutation(len(CODES))[:90], np.repeat(np.arange(3), 30), np.full(90, np.inf)
        values = truth[arms] + (0.4 * rng.standard_normal(3))[day] + SD * rng.standard_normal(90)
        measured = Measured(arms, values, np.ones(90), -none, none, (day,), 1)
        model = fit_series(CODES, SIZES, measured, noise_sd=SD, seed=seed, scales=False)
        low, high = np.quantile(model.draw(np.arange(len(CODES)), 400, rng), (0.025, 0.975), axis=0)
        inside.append(np.mean((truth >= low) & (truth <= high)))
    assert np.mean(inside) > 0.8
