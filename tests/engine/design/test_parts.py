import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.design import g_optimal
from assaypilot.engine.design.allowed import box_projection, greatest_average
from assaypilot.engine.design.criteria import minimax_bound
from assaypilot.engine.design.elimination import elimination, same_information_on_fewer, without_least_needed
from assaypilot.engine.design.log_det import conjugate_steps, maximise_log_det
from assaypilot.engine.design.table import Table
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from tests.oracles import design as oracle

values = st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=12)


@given(values, st.floats(0, 3))
def test_greatest_average_fills_the_largest_to_the_bound(numbers, room):
    x = np.array(numbers)
    upper = min(1.0, (1 + room) / len(x))
    left, total = 1.0, 0.0
    for value in sorted(numbers, reverse=True):
        share = min(upper, left)
        total += share * value
        left -= share
    assert greatest_average(x, upper) == pytest.approx(total, abs=1e-9)


@given(values, st.floats(0.01, 2), st.floats(0, 1))
def test_box_projection_is_feasible_and_nearest(numbers, upper, part):
    point = np.array(numbers)
    total = part * upper * len(point)
    nearest = box_projection(point, upper, total)
    assert nearest.min() >= 0
    assert nearest.max() <= upper
    assert nearest.sum() == pytest.approx(total, abs=1e-9)
    # Optimality: moving weight from one entry to another, where there is room, never gets nearer.
    pull = point - nearest
    givers, takers = pull[nearest > 1e-9], pull[nearest < upper - 1e-9]
    if len(givers) and len(takers):
        assert takers.max() <= givers.min() + 1e-7


@pytest.mark.parametrize("seed", range(8))
def test_the_same_information_on_fewer_rows(seed):
    rng = np.random.default_rng(seed)
    d = 1 + seed % 4
    x = rng.normal(size=(40, d))
    w = rng.dirichlet(np.ones(40))
    fewer = same_information_on_fewer(x, w, upper=1.0)
    assert np.count_nonzero(fewer) <= d * (d + 1) // 2
    assert fewer.sum() == pytest.approx(1.0)
    # No direction is known less well than before.
    assert np.linalg.eigvalsh(oracle.information(x, fewer) - oracle.information(x, w)).min() >= -1e-9
    upper = 1.2 * w.max()
    bounded = same_information_on_fewer(x, w, upper=upper)
    assert bounded.max() <= upper * (1 + 1e-9)
    assert np.count_nonzero((bounded > 0) & (bounded < upper)) <= d * (d + 1) // 2 + 1
    assert oracle.information(x, bounded) == pytest.approx(oracle.information(x, w), abs=1e-9)


@pytest.mark.parametrize("upper", [1.0, 0.05, 0.03])
def test_newton_never_ends_lower_and_ends_where_it_promises(upper):
    rng = np.random.default_rng(2)
    for _ in range(10):
        x = rng.normal(size=(40, 5)) * rng.exponential(size=(40, 1))
        start = box_projection(rng.dirichlet(np.full(40, 0.3)), upper, 1.0)
        w, steps = maximise_log_det(x, start, upper=upper, tolerance=1e-9)
        assert steps < 60
        before, after = (np.linalg.slogdet(oracle.information(x, v))[1] for v in (start, w))
        assert after >= before
        assert w.max() <= upper * (1 + 1e-12)
        assert w.sum() == pytest.approx(1.0)
        assert greatest_average(oracle.leverages(x, w), upper) <= 5 * (1 + 2e-9)


def test_surgery_removes_what_another_row_replaces():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(5, 5))
    doubled = np.vstack([x, x[2]])
    kept, w = without_least_needed(doubled, elimination(doubled, np.full(6, 1 / 6), 1), 1, upper=1.0, tolerance=1e-9)
    assert len(kept) == 5
    assert {2, 5} - set(kept.tolist())
    assert w == pytest.approx(np.full(5, 0.2))
    with pytest.raises(ValueError, match="too few rows"):
        without_least_needed(doubled, elimination(doubled, np.full(6, 1 / 6), 1), 1, upper=0.17, tolerance=1e-9)


def test_rare_substituents_of_a_large_table_are_found():
    """Fifty substituents that occur once among 60,000 rows: a sample without them would not span."""
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 8, (60_000, 3))
    codes[rng.choice(60_000, 50, replace=False), 0] = np.arange(8, 58)
    table = Table(ProjectedFeatures(SiteFeatures(codes, (58, 8, 8))))
    assert table.d == 1 + 57 + 7 + 7
    chosen = table.spanning()
    assert len(set(chosen.tolist())) == table.d
    assert np.linalg.matrix_rank(table.rows(chosen)) == table.d


@pytest.mark.parametrize("upper", [1.0, 0.1])
def test_the_dual_bound_holds_for_any_information(upper):
    rng = np.random.default_rng(5)
    for _ in range(10):
        rows = rng.normal(size=(13, 3))
        candidates = ProjectedFeatures(DenseFeatures(rows))
        optimum = oracle.minimax(rows, rows, upper)
        basis = candidates.basis
        for _ in range(5):
            # Anything positive definite proves something, the optimum's own information the most.
            root = rng.normal(size=(3, 3))
            assert minimax_bound(candidates, candidates, root @ root.T, upper) <= optimum * (1 + 1e-9)
        weights, _ = oracle.d_optimal(rows, upper)
        inverse = basis.T @ np.linalg.inv(oracle.information(rows, weights)) @ basis
        assert 0.3 * optimum <= minimax_bound(candidates, candidates, inverse, upper) <= optimum * (1 + 1e-9)


def test_odd_questions_end_with_a_design():
    """Bounds, largest supports and tight gaps together, on sparse tables and dependent rows."""
    rng = np.random.default_rng(6)
    full = np.array(list(itertools.product(range(3), range(4), range(3))))
    for trial in range(60):
        codes = full[rng.choice(36, int(rng.integers(2, 36)), replace=bool(trial % 3 == 0))]
        candidates = ProjectedFeatures(SiteFeatures(codes, (3, 4, 3)))
        n, d = candidates.n_rows, candidates.rank
        upper = [None, min(1.0, 1.01 / n), min(1.0, 2.0 / n), 1.0 / d][trial % 4]
        size = [None, d, d + 2][trial // 4 % 3]
        if upper is not None and size is not None and size * upper < 1:
            size = None
        if upper is not None and n * upper < 1:
            upper = 1.0
        design = g_optimal(candidates, gap=10.0 ** -rng.integers(1, 9), upper=upper, max_support=size)
        assert np.isfinite(design.value)
        assert design.weights.sum() == pytest.approx(1.0)
        assert len(design.support) <= (n if size is None else size)
        assert upper is None or design.weights.max() <= upper * (1 + 1e-9)
        assert design.lower_bound <= design.value
        assert design.converged or size is not None


def test_bounded_weights_reach_the_gap_from_any_corner():
    """Bounds that put every first weight in a corner, on few whole-number rows full of ties and zeros."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 3, (int(rng.integers(2, 80)), int(rng.integers(1, 8)))).astype(float)
        if not rows.any():
            continue
        n = len(rows)
        upper = min(1.0, [1.0 / (n // 2), 1.0 / max(n // 3, 1), rng.uniform(1, 4) / n][seed % 3])
        design = g_optimal(ProjectedFeatures(DenseFeatures(rows)), gap=10.0 ** -rng.integers(1, 9), upper=upper)
        assert design.converged, seed
        assert design.weights.max() <= upper * (1 + 1e-9)


def crowd(kind):
    """Rows of a site table or numeric ones, more than a Newton system is made for, and their table."""
    rng = np.random.default_rng(11)
    if kind == "sites":
        places = rng.choice(9**4, 1500, replace=False)
        features = SiteFeatures(np.column_stack(np.unravel_index(places, (9,) * 4)), (9,) * 4)
    else:
        features = DenseFeatures(rng.normal(size=(1500, 20)) * rng.exponential(size=(1500, 1)))
    return Table(ProjectedFeatures(features))


@pytest.mark.parametrize("kind", ["sites", "numbers"])
def test_a_part_of_a_table_sums_up_like_its_rows(kind):
    table = crowd(kind)
    rng = np.random.default_rng(12)
    chosen = np.sort(rng.choice(1500, 900, replace=False))
    x, part = table.rows(chosen), table.part(chosen)
    signed = rng.normal(size=900)
    matrix = rng.normal(size=(table.d, table.d))
    matrix += matrix.T
    assert part.information(signed) == pytest.approx((x * signed[:, None]).T @ x, abs=1e-9)
    assert part.quadratic(matrix) == pytest.approx(np.einsum("ij,jk,ik->i", x, matrix, x), abs=1e-8)


@pytest.mark.parametrize("kind", ["sites", "numbers"])
@pytest.mark.parametrize("upper", [1.0, 0.004, 0.0009])
def test_conjugate_steps_end_where_they_promise(kind, upper):
    table = crowd(kind)
    every = np.arange(1500)
    x = table.rows(every)
    rng = np.random.default_rng(13)
    start = box_projection(rng.dirichlet(np.ones(1500)), upper, 1.0)
    w, steps, done = conjugate_steps(table.part(every), start, upper=upper, tolerance=1e-4)
    assert done
    assert 0 < steps < 40
    assert 0 <= w.min() <= w.max() <= upper * (1 + 1e-12)
    assert w.sum() == pytest.approx(1.0)
    before, after = (np.linalg.slogdet((x * v[:, None]).T @ x)[1] for v in (start, w))
    assert after > before
    inverse = np.linalg.inv((x * w[:, None]).T @ x)
    leverages = np.einsum("ij,jk,ik->i", x, inverse, x)
    assert greatest_average(leverages, upper) <= w @ leverages + 1e-4 * table.d * (1 + 1e-9)
    # The exact steps find no more than that certificate allows.
    best, _ = maximise_log_det(x, w, upper=upper, tolerance=1e-7)
    assert np.linalg.slogdet((x * best[:, None]).T @ x)[1] - after <= 1e-4 * table.d


def test_the_same_information_on_fewer_of_many_rows(monkeypatch):
    """Rows so many that dependences come from their products with each other, which here few have to do."""
    monkeypatch.setattr("assaypilot.engine.design.elimination._PIVOTING", 0.0)
    table = crowd("sites")
    x = table.rows(np.arange(500))
    w = np.random.default_rng(14).dirichlet(np.ones(500))
    fewer = same_information_on_fewer(x, w, upper=1.0)
    assert np.count_nonzero(fewer) <= table.moments == 417
    assert np.linalg.eigvalsh((x * (fewer - w)[:, None]).T @ x).min() >= -1e-7
    upper = 1.2 * float(w.max())
    bounded = same_information_on_fewer(x, w, upper=upper)
    assert np.count_nonzero((bounded > 0) & (bounded < upper)) <= 418
    assert bounded.sum() == pytest.approx(1.0)
    assert (x * bounded[:, None]).T @ x == pytest.approx((x * w[:, None]).T @ x, abs=1e-7)
