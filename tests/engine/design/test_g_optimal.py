import csv
import math

import numpy as np
import pytest

from assaypilot.engine.design import achieved, apportion, g_optimal
from assaypilot.engine.domain.features import DenseFeatures, ProjectedFeatures, SiteFeatures
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled
from tests.oracles import design as oracle
from tests.public import DATA
from tests.strategies import few, product


def sites(codes, sizes):
    return ProjectedFeatures(SiteFeatures(codes, tuple(sizes)))


def random_instance(seed):
    """A small table: sparse Free-Wilson rows, numeric rows, rows of deficient rank, duplicates, in turn."""
    rng = np.random.default_rng(seed)
    kind = seed % 4
    if kind == 0:
        sizes = [(3, 4, 3), (5, 4), (2, 2, 3, 2), (4, 4, 3)][seed // 4 % 4]
        full = product(sizes)
        codes = full[np.sort(rng.choice(len(full), int(rng.integers(4, min(len(full), 30))), replace=False))]
        return SiteFeatures(codes, sizes)
    rows = rng.normal(size=(int(rng.integers(8, 40)), int(rng.integers(1, 9))))
    if kind == 2:
        rows = rows @ rng.normal(size=(rows.shape[1], rows.shape[1] + 3))
    if kind == 3:
        rows = np.vstack([rows, rows[:5], np.zeros((1, rows.shape[1]))]) * np.logspace(-2, 2, rows.shape[1])
    return DenseFeatures(rows)


def dense(features):
    return features.dense(np.arange(features.n_rows))


def check_is_design(design, candidates, upper=1.0):
    assert np.all(design.weights > 0)
    assert design.weights.max() <= upper * (1 + 1e-9)
    assert design.weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.all(np.diff(design.support) > 0)
    assert 0 <= design.support[0] <= design.support[-1] < candidates.n_rows
    assert design.lower_bound <= design.value
    assert math.isfinite(design.value)
    assert math.isfinite(design.gap)


@pytest.mark.parametrize("sizes", [(4, 5, 4, 3, 4), (2,), (3, 3), (5, 2), (2, 2, 2, 2, 2), (4, 3, 2), (20, 3)])
@pytest.mark.parametrize("gap", [1e-2, 1e-6, 1e-9])
def test_full_products_have_the_rank_as_their_optimum(sizes, gap):
    candidates = sites(product(sizes), sizes)
    d = 1 + sum(n - 1 for n in sizes)
    design = g_optimal(candidates, gap=gap)
    check_is_design(design, candidates)
    assert design.converged
    assert design.lower_bound == d
    assert d <= design.value <= d * (1 + gap)
    w = np.zeros(candidates.n_rows)
    w[design.support] = design.weights
    rows = dense(candidates.features)
    assert oracle.leverages(rows[design.support], design.weights, rows).max() == pytest.approx(design.value, rel=1e-9)
    assert len(design.support) <= d * (d + 1) // 2


@pytest.mark.parametrize("seed", few(20, of=60))
def test_agrees_with_a_slow_reference(seed):
    features = random_instance(seed)
    candidates = ProjectedFeatures(features)
    design = g_optimal(candidates, gap=1e-6)
    check_is_design(design, candidates)
    rows = dense(features)
    d = candidates.rank
    assert d == np.linalg.matrix_rank(rows)
    assert design.converged
    # The certificate is the true gap: recomputed from dense rows it is the same, never more.
    true = oracle.leverages(rows[design.support], design.weights, rows).max()
    assert true == pytest.approx(design.value, rel=1e-8)
    assert true / d - 1 <= design.gap + 1e-9
    assert len(design.support) <= d * (d + 1) // 2
    _, best = oracle.d_optimal(rows)
    x = oracle.coordinates(rows)[design.support]
    ours = np.linalg.slogdet(x.T @ (x * design.weights[:, None]))[1]
    assert ours == pytest.approx(best, abs=1e-5 * d)
    assert ours >= best - d * design.gap - 1e-9


@pytest.mark.parametrize("seed", range(16))
def test_the_lower_bound_is_below_the_optimum_and_the_optimum_below_the_value(seed):
    rng = np.random.default_rng(1000 + seed)
    rows = rng.normal(size=(14, 3))
    wanted = rng.normal(size=(9, 3)) if seed % 2 else None
    upper = [1.0, 0.1][seed // 2 % 2]
    features = DenseFeatures(rows if wanted is None else np.vstack([rows, wanted]))
    candidates = ProjectedFeatures(features, np.arange(14))
    targets = None if wanted is None else candidates.onto(np.arange(14, 23))
    design = g_optimal(candidates, targets=targets, upper=upper, gap=1e-6)
    check_is_design(design, candidates, upper)
    z = rows if wanted is None else wanted
    optimum = oracle.minimax(rows, z, upper)
    assert design.lower_bound <= optimum * (1 + 1e-7)
    assert optimum <= design.value * (1 + 1e-7)
    assert design.lower_bound >= 0.3 * optimum
    assert design.value == pytest.approx(oracle.leverages(rows[design.support], design.weights, z).max(), rel=1e-9)


@pytest.mark.parametrize("gap", [0.3, 0.06, 1e-2, 1e-3])
def test_fewer_compounds_for_a_larger_gap(gap):
    sizes = (4, 5, 4, 3, 4)
    candidates = sites(product(sizes), sizes)
    design = g_optimal(candidates, gap=gap)
    most = {0.3: 40, 0.06: 62, 1e-2: 84, 1e-3: 105}[gap]
    assert design.converged
    assert design.value <= 16 * (1 + gap)
    assert len(design.support) <= most


@pytest.mark.parametrize(("size", "loss"), [(16, 4.0), (32, 0.36), (48, 0.126), (64, 0.045), (80, 0.015)])
def test_a_largest_support_is_kept_with_an_honest_value(size, loss):
    sizes = (4, 5, 4, 3, 4)
    candidates = sites(product(sizes), sizes)
    design = g_optimal(candidates, max_support=size)
    check_is_design(design, candidates)
    assert len(design.support) <= size
    assert design.value <= 16 * (1 + loss)
    assert design.converged == (design.value <= 16 * (1 + 1e-3))
    assert design.value == pytest.approx(achieved(candidates, design.support, design.weights), rel=1e-9)


class TestRefusals:
    candidates = sites(product((3, 4)), (3, 4))

    def test_too_tight_a_bound_names_the_smallest(self):
        with pytest.raises(AssayPilotError, match=r"too little for 12 compounds.*1/12 = 0\.08333"):
            g_optimal(self.candidates, upper=0.08)

    def test_too_few_compounds_names_the_least(self):
        with pytest.raises(AssayPilotError, match=r"5 compounds are too few.*at least 6 compounds"):
            g_optimal(self.candidates, max_support=5)
        with pytest.raises(AssayPilotError, match="at least 10 compounds"):
            g_optimal(self.candidates, max_support=8, upper=0.1)

    @pytest.mark.parametrize("gap", [0.0, -1.0, math.nan, math.inf])
    def test_a_gap_must_be_positive(self, gap):
        with pytest.raises(ValueError, match="gap must be above 0"):
            g_optimal(self.candidates, gap=gap)

    def test_candidates_must_span_their_coordinates(self):
        with pytest.raises(ValueError, match="full column rank"):
            g_optimal(self.candidates.onto(np.array([0, 1, 2])))

    def test_nothing_to_choose_from(self):
        with pytest.raises(AssayPilotError, match=r"no compound to choose from.*at least one candidate"):
            g_optimal(self.candidates.onto(np.zeros(0, dtype=np.intp)))


def test_progress_rises_and_a_cancel_is_heard():
    sizes = (4, 5, 4, 3, 4)
    candidates = sites(product(sizes), sizes)
    heard = []
    g_optimal(candidates, max_support=48, report=lambda fraction, message: heard.append((fraction, message)))
    fractions = [fraction for fraction, _ in heard]
    assert fractions == sorted(fractions)
    assert fractions[0] == 0.0
    assert fractions[-1] == 1.0
    assert all(message for _, message in heard)

    def cancel(fraction, message):
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        g_optimal(candidates, report=cancel)


def test_large_tables_go_through_look_ups(monkeypatch):
    """A table above the dense limit: nothing asks for the coordinates of more than a part of it."""
    rng = np.random.default_rng(0)
    codes = np.unique(rng.integers(0, 12, (120_000, 5)), axis=0)
    candidates = sites(codes, (12,) * 5)
    asked = []
    features = candidates.features
    whole = features.dense

    def watched(rows):
        asked.append(len(rows))
        return whole(rows)

    monkeypatch.setattr(features, "dense", watched)
    design = g_optimal(candidates, gap=0.05)
    assert design.converged
    assert design.value <= 56 * 1.05
    assert max(asked) <= 4096
    assert len(design.support) <= 500


class TestAchieved:
    candidates = sites(product((3, 4)), (3, 4))

    def test_unequal_counts_against_the_plain_reference(self):
        rng = np.random.default_rng(7)
        rows = dense(self.candidates.features)
        for _ in range(20):
            counts = rng.integers(0, 4, 12)
            expected = oracle.leverages(rows, counts).max()
            assert achieved(self.candidates, np.arange(12), counts) == pytest.approx(expected)
            few = self.candidates.onto(np.array([0, 5]))
            if math.isfinite(expected):
                expected = oracle.leverages(rows, counts, rows[[0, 5]]).max()
            assert achieved(self.candidates, np.arange(12), counts, few) == pytest.approx(expected)


def test_a_real_table_of_mostly_single_compounds():
    table = DATA / "CHEMBL2321810_rgd_table.csv"
    if not table.exists():
        pytest.skip("the public test tables are not here")
    with table.open(encoding="utf-8", newline="") as lines:
        library = Library.listed(
            ("R1", "R2", "R3"),
            [(row["R1"], row["R2"], row["R3"]) for row in csv.DictReader(lines)],
            ids=[str(i) for i in range(628)],
        )
    candidates = ProjectedFeatures(SiteFeatures.of(library))
    assert candidates.rank == 516
    design = g_optimal(candidates, gap=1e-2)
    check_is_design(design, candidates)
    assert design.converged
    counts = apportion(design.weights, 700)
    assert achieved(candidates, design.support, counts) <= 1.0 + 1e-9
    # A compound that alone carries a substituent has leverage 1 however often the others are measured.
    assert achieved(candidates, design.support, counts) == pytest.approx(1.0)


def scattered(n, n_sites, size):
    places = np.random.default_rng(0).choice(size**n_sites, n, replace=False)
    return sites(np.column_stack(np.unravel_index(places, (size,) * n_sites)), (size,) * n_sites)


def test_large_supports_are_searched_in_few_looks():
    """Thousands of compounds in use: conjugate gradients, many in and out at once."""
    candidates = scattered(3_000, 5, 11)
    design = g_optimal(candidates, gap=1e-3)
    rows = dense(candidates.features)[candidates.rows] @ candidates.basis
    x = rows[design.support]
    inverse = np.linalg.inv((x * design.weights[:, None]).T @ x)
    leverages = np.einsum("ij,jk,ik->i", rows, inverse, rows)
    assert design.converged
    assert design.value == pytest.approx(leverages.max(), rel=1e-8)
    assert leverages.max() <= 51 * (1 + 1e-3) * (1 + 1e-9)
    assert design.iterations < 100


@pytest.mark.parametrize("seed", few(20, of=60))
def test_bounds_that_leave_little_room_end_in_a_design(seed):
    """Where what comes in takes all the room of others, V was singular on the way (a LinAlgError)."""
    rng = np.random.default_rng((17, seed))
    sizes = tuple(int(n) for n in rng.integers(2, 6, rng.integers(2, 5)))
    codes = product(sizes)
    codes = codes[np.sort(rng.choice(len(codes), min(len(codes), int(rng.integers(3, 60))), replace=False))]
    candidates = sites(codes, sizes)
    n = candidates.n_rows
    upper = float(rng.uniform(1.0, 2.0)) / n
    design = g_optimal(candidates, gap=1e-6, upper=upper)
    assert (design.weights <= upper * (1 + 1e-9) + 1e-12).all()
    assert design.weights.sum() == pytest.approx(1.0)
    x = candidates.coordinates()
    kept = candidates.coordinates(design.support)
    total = (kept * design.weights[:, None]).T @ kept
    assert design.value == pytest.approx(np.einsum("ij,jk,ik->i", x, np.linalg.inv(total), x).max(), rel=1e-6)
