"""XY designs that leave effects alone, which no direction involves: V is singular, and values stay honest."""

import numpy as np
import pytest
from numpy.linalg import LinAlgError

from assaypilot.engine.design.directions import Rows, against
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.rounding import round_design
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.design.xy_search import XYSearch
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import few


def sites(seed: int, rows: int, sizes: tuple[int, ...]) -> ProjectedFeatures:
    """Rows drawn from a product of sites."""
    rng = np.random.default_rng(seed)
    places = np.sort(rng.choice(int(np.prod(sizes)), rows, replace=False))
    return ProjectedFeatures(SiteFeatures(np.column_stack(np.unravel_index(places, sizes)), sizes))


def worst(candidates, support, weights, y) -> float:
    """The largest y'V^+ y by least squares in single steps, inf for a y that V does not reach: an oracle."""
    x = candidates.coordinates(support)
    information = (x * np.asarray(weights)[:, None]).T @ x
    scale = np.sqrt(np.diagonal(candidates.information(np.ones(candidates.n_rows))))
    values, vectors = np.linalg.eigh(information / scale / scale[:, None])
    seen = values > 1e-12 * values[-1]
    parts = (y / scale) @ vectors
    if np.linalg.norm(parts[:, ~seen], axis=1).max(initial=0.0) > 1e-6 * np.linalg.norm(y / scale, axis=1).max():
        return np.inf
    return float((parts[:, seen] ** 2 / values[seen]).sum(axis=1).max())


def pairs_of(table) -> np.ndarray:
    z = table.coordinates()
    first, second = np.triu_indices(len(z), 1)
    return z[first] - z[second]


def of_the_best(seed: int, rows: int = 1500, wanted: int = 60):
    """Candidates, and those of them to tell apart, which share their better substituents."""
    candidates = sites(seed, rows, (10,) * 5)
    effects = np.random.default_rng(seed).normal(size=candidates.features.n_columns)
    best = np.sort(np.argsort(-candidates.features.times(effects), kind="stable")[:wanted])
    return candidates, candidates.onto(best)


@pytest.mark.slow
@pytest.mark.parametrize("upper", [None, 0.02, 0.003])
def test_compounds_that_share_their_substituents_leave_the_other_effects_alone(upper):
    candidates, wanted = of_the_best(0)
    y = pairs_of(wanted)
    assert np.linalg.matrix_rank(y) < candidates.rank - 1
    design = xy_optimal(candidates, Pairs(wanted), gap=1e-2, upper=upper)
    assert design.converged
    assert design.value == pytest.approx(worst(candidates, design.support, design.weights, y), rel=1e-6)
    assert upper is None or design.weights.max() <= upper * (1 + 1e-9)
    if upper is not None:
        rough = xy_optimal(candidates, Pairs(wanted), gap=0.3, upper=upper)
        assert rough.weights.max() <= upper * (1 + 1e-9)
    # Another design, and a closer one, have no value below the bound.
    closer = xy_optimal(candidates, Pairs(wanted), gap=1e-4, upper=upper)
    assert closer.converged
    assert closer.value >= design.lower_bound * (1 - 1e-9)
    n = 4 * len(design.support)
    made = round_design(design, candidates, n, method="apportion", directions=Pairs(wanted))
    assert design.lower_bound <= made.value <= 2 * design.value


@pytest.mark.parametrize("failing", [1, 3, 10_000])
def test_steps_that_fail_end_in_a_design(monkeypatch, failing):
    real = XYSearch.solve
    calls = []

    def solve(self, x, w, tolerance):
        calls.append(1)
        if len(calls) % failing == 0 or failing == 1:
            raise LinAlgError("Matrix is not positive definite")
        return real(self, x, w, tolerance)

    monkeypatch.setattr(XYSearch, "solve", solve)
    candidates = sites(3, 40, (4, 4, 3))
    design = xy_optimal(candidates, Pairs(candidates), gap=1e-3)
    assert design.value == pytest.approx(worst(candidates, design.support, design.weights, pairs_of(candidates)))
    assert design.lower_bound <= design.value
    assert design.converged == (design.gap <= 1e-3)
    assert failing < 10_000 or design.converged


def test_numbers_that_cannot_be_computed_with_are_refused(monkeypatch):
    def fails(*_):
        raise LinAlgError("Eigenvalues did not converge")

    monkeypatch.setattr("assaypilot.engine.design.xy.tidied", fails)
    candidates = sites(3, 40, (4, 4, 3))
    with pytest.raises(AssayPilotError, match="too unlike in size"):
        xy_optimal(candidates, Pairs(candidates), gap=1e-3)


def drawn(seed: int):
    """A problem with anything in it; the directions as a matrix as well."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.6:
        sizes = tuple(int(s) for s in rng.integers(2, 6, int(rng.integers(2, 5))))
        total = int(np.prod(sizes))
        table = sites(seed, int(min(total, rng.integers(4, 80))), sizes)
    else:
        x = np.round(rng.normal(size=(int(rng.integers(4, 40)), int(rng.integers(2, 7)))), int(rng.integers(0, 8)))
        x *= 10.0 ** rng.uniform(-5, 5, x.shape[1]) if rng.random() < 0.4 else 1.0
        table = ProjectedFeatures(DenseFeatures(x))
    n = table.n_rows
    chosen = np.sort(rng.choice(n, int(rng.integers(2, n + 1)), replace=False))
    wanted = table.onto(chosen)
    kind = int(rng.integers(3))
    if kind == 0:
        directions, y = Pairs(wanted), pairs_of(wanted)
    elif kind == 1:
        best = int(rng.integers(len(chosen)))
        gaps = rng.uniform(1e-6, 1.0, len(chosen))
        directions = against(wanted, best, gaps=gaps)
        z = wanted.coordinates()
        y = np.delete((z[best] - z) / gaps[:, None], best, axis=0)
    else:
        directions, y = Rows(wanted), wanted.coordinates()
    asked: dict[str, object] = {}
    if rng.random() < 0.3:
        asked["upper"] = float(rng.choice([0.5, 0.2, 0.1, 1.5 / n]))
    if rng.random() < 0.3:
        asked["max_support"] = int(rng.integers(1, n + 1))
    return table, directions, y, float(rng.choice([1e-1, 1e-2, 1e-3, 1e-6])), asked


@pytest.mark.parametrize("block", few(2, of=6))
def test_anything_ends_in_an_honest_design_or_a_plain_refusal(block):
    done = 0
    for seed in range(20 * block, 20 * block + 20):
        try:
            table, directions, y, gap, asked = drawn(seed)
            design = xy_optimal(table, directions, gap=gap, **asked)
        except AssayPilotError:
            continue
        done += 1
        value = worst(table, design.support, design.weights, y)
        assert design.value == pytest.approx(value, rel=1e-5), seed
        assert 0 <= design.lower_bound <= design.value, seed
        assert design.weights.min() > 0, seed
        assert design.weights.sum() == pytest.approx(1), seed
        assert design.converged or "max_support" in asked, seed
        assert "max_support" not in asked or len(design.support) <= asked["max_support"], seed
        # No even design on allowed candidates is below the bound.
        if not asked:
            even = worst(table, np.arange(table.n_rows), np.full(table.n_rows, 1.0 / table.n_rows), y)
            assert even >= design.lower_bound, seed
    assert done >= 6


def test_few_compounds_are_refused_where_they_tell_nothing_and_valued_by_what_they_tell():
    candidates = sites(235, 40, (4, 3, 4))
    wanted = candidates.onto(np.array([3, 17, 30]))
    with pytest.raises(AssayPilotError, match="too few to estimate every comparison"):
        xy_optimal(candidates, Pairs(wanted), gap=0.1, max_support=2)
    for size in range(candidates.rank, candidates.rank + 4):
        design = xy_optimal(candidates, Pairs(wanted), gap=0.1, max_support=size)
        assert len(design.support) <= size
        assert design.value == pytest.approx(worst(candidates, design.support, design.weights, pairs_of(wanted)))


@pytest.mark.parametrize("n", [24, 60])
@pytest.mark.parametrize("seed", range(4))
def test_whole_measurements_of_a_singular_design_tell_its_directions(seed, n):
    """One comparison: a compound that involves effects nothing else tells says nothing of it, however it looks."""
    rng = np.random.default_rng(seed)
    sizes = (4, 3, 4, 3)
    table = sites(seed, 144, sizes)
    one, other = rng.choice(table.n_rows, 2, replace=False)
    y = table.coordinates(np.array([one])) - table.coordinates(np.array([other]))
    design = xy_optimal(table, Rows(y), gap=0.02)
    rounded = round_design(design, table, n, directions=Rows(y))
    x = table.coordinates(rounded.support)
    information = (x * rounded.counts[:, None]).T @ x
    solved = np.linalg.lstsq(information, y[0], rcond=1e-9)[0]
    np.testing.assert_allclose(information @ solved, y[0], atol=1e-8)
    assert rounded.value == pytest.approx(n * y[0] @ solved, rel=1e-6)
    assert rounded.value >= design.lower_bound * (1 - 1e-9)
