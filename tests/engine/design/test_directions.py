import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import pairs as pairs_module
from assaypilot.engine.design.directions import Between, Rows, against
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import product


def metric(rng, d, rank=None):
    half = rng.normal(size=(d, d if rank is None else rank))
    return half @ half.T


def slowly(rows, inverse):
    return np.array([float(y @ inverse @ y) for y in rows])


def differences(z):
    return {(i, j): z[i] - z[j] for i in range(len(z)) for j in range(i + 1, len(z))}


def random_tables():
    rng = np.random.default_rng(5)
    sizes = (4, 5, 3)
    codes = product(sizes)[np.sort(rng.choice(60, 25, replace=False))]
    yield ProjectedFeatures(SiteFeatures(codes, sizes))
    yield ProjectedFeatures(DenseFeatures(rng.normal(size=(30, 4))))
    yield ProjectedFeatures(DenseFeatures(np.repeat(rng.normal(size=(5, 3)), 4, axis=0)))
    yield ProjectedFeatures(DenseFeatures(rng.normal(size=(2, 2))))


@pytest.mark.parametrize("table", list(random_tables()))
@pytest.mark.parametrize("rank", [None, 1])
def test_pairs_are_the_farthest_of_all(table, rank):
    rng = np.random.default_rng(0)
    z, pairs = table.coordinates(), Pairs(table)
    inverse = metric(rng, table.rank, rank)
    every = differences(z)
    assert pairs.n == len(every)
    keys, values = pairs.find(inverse, 10)
    best = max(slowly(every.values(), inverse))
    assert values[0] == pytest.approx(best, rel=1e-10)
    assert np.all(np.diff(values) <= 0)
    assert len({tuple(key) for key in keys.tolist()}) == len(keys) <= 10
    assert np.allclose(slowly(pairs.vectors(keys), inverse), values, rtol=1e-9)
    assert np.allclose(pairs.vectors(keys), [every[tuple(key)] for key in keys.tolist()])


@pytest.mark.parametrize("kind", ["sites", "numbers"])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_pruned_search_misses_nothing(kind, seed):
    rng = np.random.default_rng(seed)
    if kind == "sites":
        sizes = tuple(int(s) for s in rng.integers(2, 7, 4))
        full = product(sizes)
        n = min(len(full), int(rng.integers(10, 200)))
        table = ProjectedFeatures(SiteFeatures(full[rng.choice(len(full), n, replace=False)], sizes))
    else:
        rows = rng.normal(size=(int(rng.integers(3, 200)), 3)) * rng.exponential(size=3)
        table = ProjectedFeatures(DenseFeatures(rows))
    inverse = metric(rng, table.rank)
    with pytest.MonkeyPatch.context() as patch:
        for name, small in (("_SMALL", 1), ("_BLOCK", 7), ("_CHUNK", 11), ("_STARTS", 2), ("_CLIMBS", 1)):
            patch.setattr(pairs_module, name, small)
        pairs = Pairs(table)
        _, values = pairs.find(inverse, 3)
        _, quick = pairs.some(inverse, 3)
    best = max(slowly(differences(table.coordinates()).values(), inverse))
    assert values[0] == pytest.approx(best, rel=1e-9)
    assert quick[0] <= best * (1 + 1e-9)


@pytest.mark.parametrize("gapped", [False, True])
def test_between_compares_every_left_with_every_other_right(gapped):
    rng = np.random.default_rng(2)
    table = ProjectedFeatures(DenseFeatures(rng.normal(size=(12, 3))))
    left, right = table.onto(np.array([3, 7, 9])), table.onto(np.array([1, 3, 5, 7, 8]))
    a, b = np.array([2.0, 3.0, 2.5]), rng.uniform(-1, 1, 5)
    between = Between(left, right, gaps=(a, b) if gapped else None)
    inverse = metric(rng, 3)
    z = table.coordinates()
    every = {
        (i, j): (z[p] - z[q]) / (a[i] - b[j] if gapped else 1.0)
        for i, p in enumerate([3, 7, 9])
        for j, q in enumerate([1, 3, 5, 7, 8])
        if p != q
    }
    keys, values = between.find(inverse, 6)
    assert between.n == len(every) == 13
    assert values[0] == pytest.approx(max(slowly(every.values(), inverse)), rel=1e-9)
    assert np.allclose(between.vectors(keys), [every[tuple(key)] for key in keys.tolist()])
    assert np.allclose(slowly(between.vectors(keys), inverse), values)


def test_what_cannot_be_estimated_is_refused_by_name():
    # Substituent 2 of the first site is in no candidate.
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]])
    features = SiteFeatures(codes, (3, 2))
    candidates = ProjectedFeatures(features, np.arange(4))
    names = ["a", "b", "c", "d", "unseen", "unseen too"]
    everything = candidates.onto(np.arange(6))
    for build in (
        lambda: Pairs(everything, names=names),
        lambda: Rows(everything, names=names),
        lambda: against(everything, 0),
        lambda: Between(everything, everything),
    ):
        with pytest.raises(AssayPilotError, match=r"(unseen, unseen too|row 5, row 6) cannot be estimated") as refusal:
            build()
        assert "share their substituents" in str(refusal.value)


def test_bad_input_is_refused():
    table = ProjectedFeatures(SiteFeatures(product((2, 2)), (2, 2)))
    with pytest.raises(AssayPilotError, match="nothing to compare"):
        Pairs(table.onto(np.array([1])))
    with pytest.raises(AssayPilotError, match="nothing to compare"):
        against(table.onto(np.array([1])), 0)
    with pytest.raises(AssayPilotError, match="nothing to compare"):
        Between(table.onto(np.array([1])), table.onto(np.array([1])))
    with pytest.raises(AssayPilotError, match="directions must be finite"):
        Rows(np.array([[1.0, np.nan]]))
    with pytest.raises(AssayPilotError, match="gap must be above 0"):
        Rows(table, gaps=[1.0, 0.0, 1.0, 1.0])
    with pytest.raises(AssayPilotError, match="gaps must be finite"):
        Rows(table, gaps=[1.0, np.inf, 1.0, 1.0])
    with pytest.raises(AssayPilotError, match="row 1 against row 3: the gap must be above 0"):
        Between(table, table, gaps=(np.array([1.0, 9.0, 9.0, 9.0]), np.array([0.0, 0.5, 2.0, 0.0])))
    with pytest.raises(ValueError, match="there is no row 7"):
        against(table, 7)
