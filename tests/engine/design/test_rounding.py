import itertools
import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from assaypilot.engine.design import apportion, ceilings, g_optimal
from assaypilot.engine.design.directions import Rows
from assaypilot.engine.design.pairs import Pairs
from assaypilot.engine.design.rounding import round_design
from assaypilot.engine.design.xy import xy_optimal
from assaypilot.engine.domain.features import ProjectedFeatures, SiteFeatures
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.phased import fewest
from tests.strategies import plain

weights = st.lists(st.integers(1, 1000), min_size=1, max_size=25)


@given(weights, st.integers(0, 3000))
def test_apportioned_counts_sum_to_n_and_leave_nobody_out(parts, n):
    w = np.array(parts) / sum(parts)
    counts = apportion(w, n)
    assert counts.sum() == n
    assert counts.min() >= (1 if n >= len(parts) else 0)


@given(weights, st.integers(0, 500))
def test_apportionment_is_efficient(parts, n):
    """Theorem 12.6 (Pukelsheim): efficient if and only if max (n_i - 1) / w_i <= min n_i / w_i."""
    n += len(parts)
    counts = apportion(np.array(parts) / sum(parts), n)
    largest = max(Fraction(int(c) - 1, p) for c, p in zip(counts, parts, strict=True))
    smallest = min(Fraction(int(c), p) for c, p in zip(counts, parts, strict=True))
    assert largest <= smallest * (1 + Fraction(1, 10**12))


@given(weights, st.floats(0.01, 1e5))
def test_ceilings_are_the_least_whole_numbers_not_below(parts, total):
    w = np.array(parts) / sum(parts)
    counts = ceilings(w, total)
    assert np.all(counts >= w * total * (1 - 2e-9))
    assert np.all(counts - 1 < w * total)
    assert counts.sum() <= total * (1 + 1e-12) + len(parts)


def test_a_rounding_error_is_no_measurement():
    assert 3 * 0.1 * 10 > 3
    assert ceilings([0.1 * 3, 0.7], 10.0).tolist() == [3, 7]
    assert ceilings([0.5, 0.5], 3.0).tolist() == [2, 2]
    assert ceilings([1e-12, 1.0, 0.0], 5.0).tolist() == [1, 5, 0]
    assert ceilings([1.0], 0.0).tolist() == [0]


@pytest.mark.parametrize("bad", [[], [math.nan, 1.0], [-0.1, 1.1], [0.0, 0.0], [math.inf]])
def test_weights_that_are_none(bad):
    with pytest.raises(ValueError, match="weights must be finite"):
        apportion(bad, 5)
    with pytest.raises(ValueError, match="weights must be finite"):
        ceilings(bad, 5.0)


@dataclass(frozen=True)
class Share:
    support: np.ndarray
    weights: np.ndarray


def one_hot(*sizes):
    codes = np.array(list(itertools.product(*map(range, sizes))))
    return ProjectedFeatures(SiteFeatures(codes, sizes))


def reached(x, y, counts, base=0.0):
    """The largest y'V^-1y for V = base + the counts' information, times the number of measurements."""
    v = base * counts.sum() + (x * counts[:, None]).T @ x
    if np.linalg.matrix_rank(v) < x.shape[1]:
        return math.inf
    return float(np.einsum("ij,ij->i", y, np.linalg.solve(v, y.T).T).max()) * counts.sum()


def whole(rounded, m):
    counts = np.zeros(m, dtype=int)
    counts[rounded.support] = rounded.counts
    return counts


def all_counts(m, n, low, high):
    for counts in itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))):
        if sum(counts) == n:
            yield np.array(counts)


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(1, 3), st.integers(0, 3), st.booleans(), st.booleans())
def test_stated_value_is_reached_and_possible(seed, m, d, extra, bounded, pairs):
    """Against all counts there are: what is said is what is reached, and never better than possible."""
    rng = np.random.default_rng(seed)
    d = min(d, m)
    x = rng.normal(size=(m, d))
    n = d + extra
    low, most = np.zeros(m, dtype=int), int(rng.integers(1, 4)) if bounded else n
    low[rng.integers(0, m)] = bounded
    high = np.full(m, most)
    y = np.array([a - b for a, b in itertools.combinations(x, 2)]) if pairs else x
    best = min((reached(x, y, c) for c in all_counts(m, n, low, high)), default=math.inf)
    assume(math.isfinite(best) and best < 1e6)
    design = Share(np.arange(m), np.full(m, 1.0 / m))
    rounded = round_design(
        design, plain(x), n, directions=Pairs(plain(x)) if pairs else None, least=low, most=most if bounded else None
    )
    counts = whole(rounded, m)
    assert counts.sum() == n
    assert np.all((low <= counts) & (counts <= high))
    assert rounded.value == pytest.approx(reached(x, y, counts), rel=1e-6)
    assert rounded.value >= best * (1 - 1e-9)
    event(f"optimal: {rounded.value <= best * (1 + 1e-9)}")


def test_most_small_tables_are_rounded_to_the_optimum():
    rng = np.random.default_rng(5)
    hits = 0
    for _ in range(60):
        x = rng.normal(size=(5, 2))
        best = min(reached(x, x, c) for c in all_counts(5, 5, [0] * 5, [5] * 5))
        hits += round_design(g_optimal(plain(x)), plain(x), 5).value <= best * (1 + 1e-9)
    assert hits >= 50  # 59 when this was written


def test_the_value_is_never_a_bound():
    """Both papers promise something at 45 d measurements; what is said is what is reached."""
    candidates = one_hot(4, 5, 4, 3, 4)
    x = candidates.coordinates()
    design = g_optimal(candidates)
    found = {m: round_design(design, candidates, 45 * 16, method=m) for m in ("apportion", "swap", "exchange", "best")}
    for method, rounded in found.items():
        counts = whole(rounded, len(x))
        assert counts.sum() == 720
        assert rounded.value == pytest.approx(reached(x, x, counts), rel=1e-9)
        assert rounded.value >= 16 * (1 - 1e-9)
        assert rounded.value <= design.value * (1 + 2 * len(design.support) / 720)
        assert rounded.method == method or method == "best"
    assert found["best"].value <= min(one.value for one in found.values())
    assert found["best"].value < 16.2
    assert found["best"].finished
    assert not found["apportion"].finished
    assert set(found["apportion"].support) == set(found["swap"].support) == set(design.support.tolist())


@pytest.mark.parametrize(("n", "at_most"), [(96, 17.6), (192, 16.8), (384, 16.4)])
def test_what_is_reached_on_960_compounds(n, at_most):
    candidates = one_hot(4, 5, 4, 3, 4)
    design = g_optimal(candidates)
    plainly = round_design(design, candidates, n, method="apportion").value
    best = round_design(design, candidates, n)
    assert best.value <= at_most
    assert best.value < 0.98 * plainly


def test_swaps_are_within_their_factor():
    """N >= 5 d / kappa^2 gives 1 + 6 kappa; on weights that are spread thinly, far from whole counts."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(400, 4))
    n = 2000
    design = Share(np.arange(400), rng.dirichlet(np.full(400, 0.3)))
    exact = reached(x, x, design.weights)
    kappa = math.sqrt(5 * 4 / n)
    rounded = round_design(design, plain(x), n, method="swap")
    assert rounded.value <= exact * (1 + 6 * kappa)


def test_forced_and_limited_compounds():
    candidates = one_hot(3, 3)
    design = g_optimal(candidates)
    least = np.zeros(9, dtype=int)
    least[4] = 2
    for method in ("apportion", "swap", "exchange", "best"):
        counts = whole(round_design(design, candidates, 9, method=method, least=least, most=2), 9)
        assert counts.sum() == 9
        assert counts[4] == 2
        assert counts.max() <= 2


def test_too_few_measurements_are_refused():
    with pytest.raises(AssayPilotError, match=r"1 measurement is too few to estimate 2 effects. Plan at least 2"):
        round_design(Share(np.arange(2), np.array([0.5, 0.5])), plain(np.eye(2)), 1)


def test_a_design_that_leaves_an_effect_alone_needs_no_measurement_of_it():
    x = np.eye(3)
    wanted = Rows(np.array([[1.0, -1.0, 0.0]]))
    design = xy_optimal(plain(x), wanted)
    rounded = round_design(design, plain(x), 2, directions=wanted)
    assert whole(rounded, 3).tolist() == [1, 1, 0]
    assert rounded.value == pytest.approx(4.0)
    with pytest.raises(AssayPilotError, match="Plan at least 2 measurements"):
        round_design(design, plain(x), 1, directions=wanted)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"n": 4}, r"4 measurements are too few to estimate 5 effects. Plan at least 5 measurements."),
        ({"n": 0}, r"0 measurements estimate nothing. Plan at least one."),
        ({"most": 1, "n": 10}, r"10 measurements do not fit: .* allow 9 in all. Plan at most 9 measurements"),
        (
            {"least": np.full(9, 2)},
            r"compounds alone take 18 measurements, and only 8 are planned. Plan at least 18",
        ),
        # Every effect could be estimated, but not with the one measurement the required compound leaves.
        (
            {"least": np.array([4] + [0] * 8), "n": 6},
            r"6 measurements within these limits cannot estimate",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(wrong, said):
    candidates = one_hot(3, 3)
    options = {"n": 8, **wrong}
    with pytest.raises(AssayPilotError) as refusal:
        round_design(g_optimal(candidates), candidates, options.pop("n"), **options)
    assert re.search(said, str(refusal.value))
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("sizes", [(4, 5, 4, 3, 4), (3, 4)])
@pytest.mark.parametrize("wells", [0.9, 2.5, 8.0])
def test_few_measurements_keep_what_is_asked(sizes, wells):
    """Every difference of a whole product; no more than rounding up, no fewer than the optimum."""
    table = ProjectedFeatures(
        SiteFeatures(np.array(list(itertools.product(*map(range, sizes))), dtype=np.int32), sizes)
    )
    pairs = Pairs(table)
    design = xy_optimal(table, pairs, gap=1e-3)
    n = max(math.ceil(wells * design.value), table.rank)
    most = int(ceilings(design.weights, n).sum())
    whole = partial(round_design, design, table, method="exchange", directions=pairs, looks=40)
    found = fewest(whole, n, most + 1, wells, tries=4)
    assert found is not None
    x = table.coordinates()
    v = (x[found.support] * found.counts[:, None]).T @ x[found.support]
    u = x @ np.linalg.cholesky(np.linalg.inv(v))
    farthest = max(float(((u - row) ** 2).sum(axis=1).max()) for row in u)
    assert found.value == pytest.approx(farthest * found.counts.sum(), rel=1e-6)
    assert farthest <= (1 + 1e-9) / wells
    assert wells * design.lower_bound * (1 - 1e-9) <= found.counts.sum() <= most
    assert found.counts.sum() <= 1.2 * n + 2
