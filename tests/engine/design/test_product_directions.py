"""Differences over a whole product of sites: the largest by brute force, bounds when cut short, and designs."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import largest_sum as pairwise
from assaypilot.engine.design.largest_sum import Pieces, largest_sum
from assaypilot.engine.design.pairs import Pairs, ProductPairs
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError


def table_and_product(sizes, n, seed):
    """Some rows of a product, and all of it in their coordinates."""
    features = SiteFeatures(np.array(list(itertools.product(*map(range, sizes)))), sizes)
    rows = np.sort(np.random.default_rng(seed).choice(features.n_rows, n, replace=False))
    some = ProjectedFeatures(features, rows)
    return some, some.onto(np.arange(features.n_rows))


def random_pieces(seed, sizes, flat):
    rng = np.random.default_rng(seed)
    own = [flat * rng.normal(size=size) for size in sizes]
    pairs = {(a, b): rng.normal(size=(sizes[a], sizes[b])) for b in range(len(sizes)) for a in range(b)}
    return Pieces(own, pairs)


@given(
    st.integers(0, 10**6),
    st.lists(st.integers(1, 5), min_size=1, max_size=5).map(tuple),
    st.sampled_from([0.0, 0.1, 3.0]),
)
def test_the_largest_sum_is_that_of_all(seed, sizes, flat):
    pieces = random_pieces(seed, sizes, flat)
    best = max(pieces.at(list(codes)) for codes in itertools.product(*map(range, sizes)))
    found = largest_sum(pieces, [0] * len(sizes))
    assert found.value == pytest.approx(best, abs=1e-9)
    assert pieces.at(list(found.codes)) == found.value
    assert found.value <= found.bound <= best + 1e-9


@given(st.integers(0, 10**6), st.integers(0, 3000))
def test_a_search_cut_short_still_has_a_bound(seed, entries):
    pieces = random_pieces(seed, (4, 5, 4, 3, 4), 0.0)
    best = max(pieces.at(list(codes)) for codes in itertools.product(range(4), range(5), range(4), range(3), range(4)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairwise, "_ENTRIES", entries)
        found = largest_sum(pieces, [0] * 5)
    assert found.value <= best + 1e-12
    assert found.bound >= best - 1e-12


def test_tightening_keeps_the_function_and_lowers_the_bound():
    pieces = random_pieces(3, (4, 3, 5), 1.0)
    tight = pieces.tightened(10)
    for codes in itertools.product(range(4), range(3), range(5)):
        assert tight.at(list(codes)) == pytest.approx(pieces.at(list(codes)))
    assert tight.bound() <= pieces.bound()


@pytest.mark.parametrize("seed", range(4))
def test_the_largest_difference_is_that_of_all_pairs_listed(seed):
    some, all_of_it = table_and_product((4, 3, 5, 2), 60, seed)
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(some.rank, some.rank))
    inverse = half @ half.T
    directions, listed = ProductPairs(some), Pairs(all_of_it)
    assert directions.n == listed.n
    keys, values = directions.find(inverse, 20)
    assert directions.exact
    assert values[0] == pytest.approx(listed.find(inverse)[1][0])
    vectors = directions.vectors(keys)
    assert np.einsum("ij,ij->i", vectors @ inverse, vectors) == pytest.approx(values)
    assert (np.diff(values) <= 1e-9).all()
    # The positions are those of the listed product, so both know the same compounds.
    assert vectors == pytest.approx(listed.vectors(keys))
    quick, reached = directions.some(inverse, 5)
    assert reached[0] <= values[0] * (1 + 1e-12)
    assert len(quick) == len(reached) <= 5
    assert np.linalg.eigvalsh(directions.average(inverse, 3.0))[0] >= -1e-9


@pytest.mark.parametrize("sizes", [(5, 4, 3), (4, 4, 4, 3)])
def test_designs_for_a_product_are_those_for_the_product_listed(sizes):
    some, all_of_it = table_and_product(sizes, 45, 7)
    implied = xy_optimal(some, ProductPairs(some), gap=1e-5)
    listed = xy_optimal(some, Pairs(all_of_it), gap=1e-5)
    assert implied.converged
    assert implied.value == pytest.approx(listed.value, rel=3e-5)
    assert implied.lower_bound <= listed.value


def test_compounds_in_stock_for_a_product_of_a_hundred_million():
    sizes = (10,) * 8
    places = np.sort(np.random.default_rng(0).choice(10**8, 400, replace=False))
    some = ProjectedFeatures(SiteFeatures(np.column_stack(np.unravel_index(places, sizes)), sizes))
    directions = ProductPairs(some)
    assert directions.n == 10**8 * (10**8 - 1) // 2
    inverse = np.linalg.inv(some.information(np.full(400, 1 / 400)))
    keys, values = directions.find(inverse, 3)
    vectors = directions.vectors(keys)
    true = np.einsum("ij,ij->i", vectors @ inverse, vectors)
    assert values[0] >= true[0] * (1 - 1e-12)
    assert true[0] >= 160.0  # no design has less over all pairs: sum of 2 l
    assert directions.exact == (values[0] <= true[0] * (1 + 1e-8))
    assert directions.name(keys[0]).startswith("compound ")


def test_a_bound_is_said_to_be_one(monkeypatch):
    some, all_of_it = table_and_product((4, 3, 5, 2), 40, 1)
    monkeypatch.setattr(pairwise, "_ENTRIES", 0.0)
    directions = ProductPairs(some)
    design = xy_optimal(some, directions, gap=0.2)
    x = some.coordinates(design.support)
    inverse = np.linalg.inv((x * design.weights[:, None]).T @ x)
    true = Pairs(all_of_it).find(inverse)[1][0]
    assert not directions.exact
    assert true < design.value
    assert design.lower_bound <= true


def test_what_has_no_product_or_cannot_be_told_is_refused():
    with pytest.raises(AssayPilotError, match="needs a table of substituents at sites"):
        ProductPairs(ProjectedFeatures(DenseFeatures(np.eye(3))))
    codes = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    with pytest.raises(AssayPilotError, match="substituent 3 of site 2 cannot be estimated"):
        ProductPairs(ProjectedFeatures(SiteFeatures(codes, (2, 3))))
    with pytest.raises(AssayPilotError, match="nothing to compare"):
        ProductPairs(ProjectedFeatures(SiteFeatures(np.zeros((1, 2), dtype=int), (1, 1))))
    many = np.column_stack([np.arange(60), np.arange(60)])
    many = np.concatenate([many, np.column_stack([np.arange(60), np.roll(np.arange(60), 1)])])
    with pytest.raises(AssayPilotError, match="too many differences"):
        ProductPairs(ProjectedFeatures(SiteFeatures(many, (60, 60))))
