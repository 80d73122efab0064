"""Values without dates: those of a round may be shifted together, as those of a day are."""

import numpy as np

from assaypilot.engine.campaign.series import measured_values
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Measurement, Result
from assaypilot.engine.models.gaussian_process.series import fit_series

ENDPOINTS = (Endpoint("pIC50", "log"),)
SIZES = (8, 6, 5)
CODES = np.stack([grid.ravel() for grid in np.indices(SIZES)], axis=1)
SD, SHIFT = 0.2, 0.2


def value(number, compound, measured, round_, date=""):
    entered = Result(str(compound), measured, date=date)
    return Measurement(number, compound, 0, measured, "=", 1, entered, round_, round_)


def shifts(values):
    found = measured_values(values, ENDPOINTS, np.arange(len(CODES)), 0)
    return [tuple(one) for one in found.shifts[: found.centred]]


def of(days):
    """A value for each (round, date)."""
    return [value(k, k, 6.0 + k, *day) for k, day in enumerate(days)]


def test_a_round_stands_for_the_day_that_was_not_stated():
    assert shifts(of([(1, ""), (1, ""), (2, ""), (2, "")])) == [(0, 0, 1, 1)]
    assert shifts(of([(1, "a"), (1, "a"), (2, "a"), (2, "b"), (2, "b")])) == [(0, 0, 0, 1, 1)]
    assert shifts(of([(1, "a"), (1, "a"), (1, ""), (1, "")])) == [(0, 0, 1, 1)]
    assert shifts(of([(1, ""), (1, "")])) == []
    # The table's own values have a shift of another kind.
    assert shifts(of([(0, ""), (0, ""), (1, ""), (1, "")])) == []


def test_intervals_hold_where_every_round_is_shifted_and_none_has_a_date():
    inside = []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        truth = 6.0 + 0.2 * rng.standard_normal(len(CODES))
        truth += sum(0.5 * rng.standard_normal(size)[CODES[:, k]] for k, size in enumerate(SIZES))
        values = []
        for round_ in range(1, 6):
            shift = SHIFT * rng.standard_normal()
            for compound in rng.permutation(len(CODES))[:14].tolist():
                read = truth[compound] + shift + SD * rng.standard_normal()
                values.append(value(len(values), compound, float(read), round_))
        measured = measured_values(values, ENDPOINTS, np.arange(len(CODES)), 0)
        draws = fit_series(CODES, SIZES, measured, noise_sd=SD, seed=seed, scales=False).draw(
            arms := np.unique(measured.arms), 400, rng
        )
        low, high = np.quantile(draws, (0.025, 0.975), axis=0)
        inside.append(np.mean((truth[arms] >= low) & (truth[arms] <= high)))
    assert np.mean(inside) > 0.92
