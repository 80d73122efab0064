"""Plates that are balanced copies of a round: beside all ways to deal tiny tables, and beside the list's order."""

import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assaypilot.engine.campaign.layout import lay_out
from assaypilot.engine.campaign.plates.alike import between_rounds
from assaypilot.engine.design.dealing import coordinates, dealt, exchanged, in_turn
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.models.blocks import Effects


def table(rng, n, sizes):
    return SiteFeatures(np.column_stack([rng.integers(0, size, n) for size in sizes]), sizes)


def information(features, shares, controls):
    """What is left to know of compounds dealt like this, beside plates with so many controls."""
    plates, arms = np.nonzero(shares)
    counts = shares[plates, arms].astype(float)
    return Effects(features, arms, plates, counts, np.full(len(shares), float(controls))).information()


def kept(features, shares, controls):
    """Log det of that, less the log det without plates."""
    whole = features.gram(shares.sum(axis=0).astype(float))
    values, vectors = np.linalg.eigh(whole)
    basis = vectors[:, values > 1e-9 * values[-1]]
    of = [np.linalg.slogdet(basis.T @ one @ basis)[1] for one in (information(features, shares, controls), whole)]
    return of[0] - of[1]


def certainty(features, shares, controls):
    """Mean variance of differences between the compounds without plates, over that with them."""
    x = features.dense(np.flatnonzero(shares.sum(axis=0)))
    x -= x.mean(axis=0)
    whole = features.gram(shares.sum(axis=0).astype(float))
    variances = [
        np.einsum("ij,jk,ik->", x, np.linalg.pinv(one, rcond=1e-10, hermitian=True), x)
        for one in (whole, information(features, shares, controls))
    ]
    return variances[0] / variances[1]


def filled_along(order, counts, n_plates):
    """Shares of plates that are filled evenly along a list."""
    each = np.repeat(order, counts[order])
    shares = np.zeros((n_plates, len(counts)), dtype=int)
    np.add.at(shares, (np.arange(len(each)) * n_plates // len(each), each), 1)
    return shares


def all_ways(left, n_plates):
    """All ways to deal single measurements evenly."""
    if n_plates == 1:
        yield [left]
        return
    first, *rest = left
    for others in combinations(rest, len(left) // n_plates - 1):
        group = (first, *others)
        for more in all_ways([one for one in left if one not in group], n_plates - 1):
            yield [group, *more]


@pytest.mark.parametrize(("n", "n_plates", "sizes"), [(8, 2, (2, 3)), (9, 3, (3, 2)), (10, 2, (3, 3)), (8, 4, (2, 2))])
def test_tiny_tables_are_dealt_as_well_as_can_be(n, n_plates, sizes):
    """Nearly always the best of all ways by the exact information, although exchanges go by its first order."""
    short = []
    for seed in range(10):
        features = table(np.random.default_rng(seed), n, sizes)
        best = -np.inf
        for groups in all_ways(list(range(n)), n_plates):
            shares = np.zeros((n_plates, n), dtype=int)
            for plate, group in enumerate(groups):
                shares[plate, list(group)] = 1
            best = max(best, kept(features, shares, 1))
        own = kept(features, dealt(features.dense(np.arange(n)), np.ones(n, dtype=int), n_plates), 1)
        assert own <= best + 1e-9
        short.append(best - own)
    assert np.count_nonzero(np.array(short) > 1e-9) <= 1
    assert max(short) < 0.1


@pytest.mark.parametrize(
    ("per_plate", "controls", "least"), [(48, 4, 0.99), (20, 4, 0.985), (8, 2, 0.93), (8, 0, 0.92)]
)
def test_plates_keep_more_of_the_information_than_the_order_of_a_list(per_plate, controls, least):
    """Seeded tables, the list being as rounds were laid out without plates; nearly all that there is without plates."""
    for seed in range(8):
        rng = np.random.default_rng((4, seed))
        sizes = tuple(rng.integers(3, 8, 4).tolist())
        features = table(rng, 60, sizes)
        counts = 1 + (rng.random(60) < 0.5).astype(int) * rng.integers(0, 3, 60)
        n_plates = -(-int(counts.sum()) // per_plate)
        x = features.dense(np.arange(60))
        shares = dealt(x, counts, n_plates)
        runs = lay_out(counts, x, 400, 4, seed)
        along = filled_along(np.array([position for position, _ in runs]), counts, n_plates)
        by_lot = filled_along(rng.permutation(60), counts, n_plates)
        for measure in (kept, certainty):
            own = measure(features, shares, controls)
            assert own >= measure(features, along, controls)
            assert own >= measure(features, by_lot, controls)
        assert certainty(features, shares, controls) > least


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 9), st.integers(0, 99))
def test_all_is_dealt_evenly_and_replicates_apart(counts, n_plates, seed):
    counts = np.array(counts)
    x = table(np.random.default_rng(seed), len(counts), (3, 4)).dense(np.arange(len(counts)))
    shares = dealt(x, counts, n_plates)
    assert shares.shape == (n_plates, len(counts))
    assert np.array_equal(shares.sum(axis=0), counts)
    assert np.ptp(shares.sum(axis=1)) <= 1
    assert np.ptp(shares, axis=0).max() <= 1
    assert np.array_equal(dealt(x, counts, n_plates), shares), "the same again"
    pairs = dealt(x, counts, n_plates, together=2)
    assert np.array_equal(pairs.sum(axis=0), counts)
    assert np.ptp(pairs.sum(axis=1)) <= 1
    # Each plate leaves at most one place to a half of a pair.
    assert (pairs % 2).sum() - (counts % 2).sum() <= n_plates


def test_pairs_of_one_compound_go_to_different_plates_and_are_balanced():
    counts = np.array([4] * 12 + [2] * 20 + [3] * 4)
    features = table(np.random.default_rng(3), 36, (3, 4, 3))
    x = features.dense(np.arange(36))
    shares = dealt(x, counts, 2, together=2)
    assert (shares[:, :12] == 2).all()
    assert set(shares[:, 12:32].ravel().tolist()) == {0, 2}
    assert (np.sort(shares[:, 32:], axis=0) == [[1], [2]]).all()
    assert certainty(features, shares, 0) > 0.97


def test_every_stretch_of_the_list_is_about_a_copy_of_the_whole():
    """However many measurements a lab puts on a plate; the list as rounds were laid out loses far more."""
    gained = []
    for seed in range(6):
        rng = np.random.default_rng((5, seed))
        features = table(rng, 64, (4, 5, 4, 3))
        counts = 1 + (rng.random(64) < 0.3).astype(int)
        x = features.dense(np.arange(64))
        order = in_turn(x, counts)
        assert np.array_equal(np.sort(order), np.arange(64))
        assert np.array_equal(in_turn(x, counts), order)
        old = np.array([position for position, _ in lay_out(counts, x, 400, 4, seed)])
        for n_plates in (2, 3, 4, 5):
            own = certainty(features, filled_along(order, counts, n_plates), 4)
            assert own > 0.93
            gained.append(own - certainty(features, filled_along(old, counts, n_plates), 4))
    assert np.mean(gained) > 0.02
    assert np.mean(np.array(gained) > 0) > 0.9


def test_rounds_of_a_phase_are_alike():
    """Compounds of one round change places; what is in several rounds stays, and rounds stay as large."""
    rng = np.random.default_rng(6)
    features = table(rng, 70, (4, 5, 4))
    counts = np.where(np.arange(70) < 10, 3, 1)
    x = features.dense(np.arange(70))
    runs = lay_out(counts, x, 20, 1, 7)
    now = between_rounds(runs, x, counts, 20)
    assert sorted(now) == sorted(runs)
    rounds = [[position for position, _ in order] for order in (runs, now)]
    for several in range(10):
        places = [{place // 20 for place, position in enumerate(order) if position == several} for order in rounds]
        assert places[0] == places[1]
    of = []
    for order in rounds:
        shares = np.zeros((5, 70), dtype=int)
        np.add.at(shares, (np.arange(90) // 20, np.array(order)), 1)
        assert (shares <= 1).all()
        of.append(certainty(features, shares, 0))
    assert of[1] > max(of[0], 0.97)


def test_an_exchange_of_kinds_and_groups():
    """Only the same kind changes places; and nothing goes where there is as much of it already."""
    z = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    at, sizes = np.array([0, 0, 1, 1]), np.array([2.0, 2.0])
    free = exchanged(z, at, sizes)
    assert sorted(free[:2]) == sorted(free[2:]) == [0, 1]
    assert np.array_equal(exchanged(z, at, sizes, kinds=np.array([0, 0, 1, 1])), at)
    assert np.array_equal(exchanged(z, at, sizes, groups=np.array([5, 6, 7, 7])), free)
    held = np.array([0, 0, 1, 0, 0, 1])
    values = np.array([[2.0], [1.0], [1.0], [-2.0], [0.0], [0.0]])
    found = exchanged(values, held, np.full(2, 3.0), groups=np.array([0, 1, 1, 2, 3, 3]))
    assert found[1] != found[2]
    assert found[4] != found[5]


def test_tables_at_their_ends():
    none = np.zeros((0, 3))
    assert coordinates(none, np.zeros(0, dtype=int)).shape == (0, 0)
    assert dealt(none, np.zeros(0, dtype=int), 2).shape == (2, 0)
    assert in_turn(none, np.zeros(0, dtype=int)).tolist() == []
    assert dealt(np.ones((1, 1)), np.array([5]), 2).tolist() == [[3], [2]]
    # As many effects as measurements: nothing can be balanced, and nothing is lost.
    alone = np.eye(6)
    assert dealt(alone, np.ones(6, dtype=int), 3).sum(axis=1).tolist() == [2, 2, 2]


def test_a_thousand_compounds_are_dealt_at_once():
    rng = np.random.default_rng(8)
    features = table(rng, 1_000, (12, 20, 15, 10, 8))
    x, counts = features.dense(np.arange(1_000)), np.ones(1_000, dtype=int)
    started = time.process_time()
    shares = dealt(x, counts, 12)
    order = in_turn(x, counts)
    assert time.process_time() - started < 5.0
    assert certainty(features, shares, 4) > 0.99
    assert certainty(features, filled_along(order, counts, 12), 4) > 0.97
