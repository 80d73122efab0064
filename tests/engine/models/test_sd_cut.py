"""Bounds on the noise from replicates of which some were known only as bounds."""

import math

import numpy as np

from assaypilot.engine.models.sd_bound import upper_sd
from assaypilot.engine.models.sd_cut import Cell, far_within, summed

ALPHA = 0.03


def cells_of(rng: np.random.Generator, means: np.ndarray, sd: float, ceiling: float, each: int = 2) -> list[Cell]:
    """The cells all of whose values are below the ceiling."""
    values = means[:, None] + sd * rng.standard_normal((len(means), each))
    whole = values[(values < ceiling).all(axis=1)]
    squares = ((whole - whole.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return [Cell(float(m), float(s), each - 1) for m, s in zip(whole.mean(axis=1), squares, strict=True)]


def too_small(times: float, means: np.ndarray, *, naive: bool = False, runs: int = 200) -> tuple[int, int]:
    """How often the bound is below the SD of 1, and how often there is one; ``times``: the guess."""
    wrong = told = 0
    for seed in range(runs):
        cells, alpha = cells_of(np.random.default_rng((4, seed)), means, 1.0, 0.0), ALPHA
        if not naive:
            cells, alpha = far_within(cells, (-math.inf, 0.0), times, alpha)
        bound = upper_sd(*summed(cells), alpha)
        told += math.isfinite(bound)
        wrong += bound < 1.0
    return wrong, told


def test_pairs_that_the_end_of_the_range_cut_do_not_count():
    """All that comes as a number is near the end, and beyond it in truth: it scatters by six tenths of the noise."""
    near = np.full(600, 0.2)
    assert too_small(1.0, near, naive=True)[0] > 190
    for guess in (0.1, 1.0, 10.0):
        assert too_small(guess, near)[0] <= 2
    mixed = np.concatenate([near, np.linspace(-3.0, 0.0, 200)])
    for guess in (0.1, 0.5, 2.0):
        assert too_small(guess, mixed)[0] <= 2


def test_what_is_far_from_the_end_counts_whatever_was_guessed():
    far = np.concatenate([np.full(60, 0.5), np.full(80, -20.0)])
    for guess in (0.2, 0.5, 1.0, 4.0):
        wrong, told = too_small(guess, far)
        assert told == 200
        assert wrong <= ALPHA * 200 + 3 * math.sqrt(ALPHA * 200)


def test_cells_far_from_both_ends_count_and_each_guess_has_its_share():
    cells = [Cell(mean, 0.04, 1) for mean in np.linspace(-10.0, 10.0, 201)]
    kept, alpha = far_within(cells, (-8.0, 8.0), 0.2, 0.07)
    assert alpha == 0.01
    assert -8.0 < min(cell.mean for cell in kept) < -6.0
    assert 6.0 < max(cell.mean for cell in kept) < 8.0
    # Nobody far enough at any guess: nothing is known.
    assert far_within(cells, (0.0, 0.1), 0.2, 0.07)[0] == []


def test_a_cell_less_than_four_sds_from_a_bound_does_not_count():
    cells = [Cell(place, 1.0, 1) for place in [3.9] * 40 + [4.1] * 40]
    kept, share = far_within(cells, (0.0, math.inf), 1.0, ALPHA)
    assert {cell.mean for cell in kept} == {4.1}
    assert share == ALPHA / 7
    kept, _ = far_within([cell._replace(mean=-cell.mean) for cell in cells], (-math.inf, 0.0), 2.0, ALPHA)
    assert {cell.mean for cell in kept} == {-4.1}
