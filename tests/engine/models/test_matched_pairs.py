"""Matched pairs, cliffs and double-transformation cycles against loops over all compounds."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.models import matched_pairs as module
from assaypilot.engine.models.matched_pairs import matched_pairs

NOISE = 0.3


@st.composite
def measured(draw):
    """Codes of a library with gaps, the compounds measured in any order, their means and counts, and the sign."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    every = list(itertools.product(*map(range, sizes)))
    codes = np.array(draw(st.lists(st.sampled_from(every), min_size=1, max_size=24, unique=True)))
    rows = np.array(draw(st.permutations(range(len(codes))))[: draw(st.integers(0, len(codes)))], dtype=np.intp)
    means = np.array([draw(st.integers(-400, 400)) / 100 for _ in rows], dtype=float)
    counts = np.array([draw(st.integers(1, 4)) for _ in rows], dtype=float)
    return codes, rows, means, counts, draw(st.sampled_from([1, -1]))


def differing(one, other):
    """The sites at which two compounds differ."""
    return [place for place, (a, b) in enumerate(zip(one, other, strict=True)) if a != b]


@given(measured())
def test_changes_and_cliffs_are_those_of_a_loop_over_all_pairs(given_):
    codes, rows, means, counts, sign = given_
    found = matched_pairs(codes, rows, means, counts, NOISE, sign)
    differences = {}
    pairs = {}
    for i, j in itertools.permutations(range(len(rows)), 2):
        sites = differing(codes[rows[i]], codes[rows[j]])
        if len(sites) == 1:
            k = sites[0]
            change = (k, int(codes[rows[i], k]), int(codes[rows[j], k]))
            differences.setdefault(change, []).append(means[j] - means[i])
            pairs[int(rows[i]), int(rows[j])] = (change, means[j] - means[i], NOISE * math.hypot(
                counts[i] ** -0.5, counts[j] ** -0.5))  # fmt: skip
    changes = found.changes
    listed = [(int(k), int(a), int(b)) for k, a, b in zip(changes.site, changes.before, changes.after, strict=True)]
    assert len({(k, *sorted(pair)) for k, *pair in listed}) == len(listed) == len(differences) // 2
    for place, change in enumerate(listed):
        own = differences[change]
        assert changes.mean[place] == pytest.approx(np.mean(own), abs=1e-9)
        assert sign * changes.mean[place] >= -1e-9
        assert changes.pairs[place] == len(own)
        if len(own) > 1:
            assert changes.spread[place] == pytest.approx(np.std(own, ddof=1), abs=1e-9)
        else:
            assert math.isnan(changes.spread[place])
    once = changes.pairs == 1
    assert (np.diff(once.astype(int)) >= 0).all()
    assert all((np.diff(changes.least[part]) <= 1e-9).all() for part in (once, ~once))
    cliffs = found.cliffs
    assert found.count == len(cliffs.site) == len(pairs) // 2
    assert (np.diff(np.abs(cliffs.difference)) <= 1e-9).all()
    for k, a, b, difference, noise, elsewhere in zip(
        cliffs.site, cliffs.before, cliffs.after, cliffs.difference, cliffs.noise, cliffs.elsewhere, strict=True
    ):
        change, own_difference, own_noise = pairs[int(a), int(b)]
        assert (change[0], difference, noise) == pytest.approx((k, own_difference, own_noise))
        assert sign * difference >= 0
        others = sorted(differences[change])
        others.pop(int(np.argmin(np.abs(np.array(others) - difference))))
        assert elsewhere == pytest.approx(np.mean(others) if others else math.nan, abs=1e-9, nan_ok=True)


@given(measured())
def test_quadruples_are_those_of_a_loop_over_all_squares(given_):
    codes, rows, means, counts, sign = given_
    found = matched_pairs(codes, rows, means, counts, NOISE, sign).quadruples
    of = {tuple(codes[row].tolist()): (float(mean), float(n)) for row, mean, n in zip(rows, means, counts, strict=True)}
    row_of = {tuple(codes[row].tolist()): int(row) for row in rows}
    wanted = {}
    for a, axy in itertools.combinations(of, 2):
        sites = differing(a, axy)
        if len(sites) != 2:
            continue
        ax = tuple(axy[k] if k == sites[0] else a[k] for k in range(len(a)))
        ay = tuple(axy[k] if k == sites[1] else a[k] for k in range(len(a)))
        if ax in of and ay in of:
            four = (a, ax, ay, axy)
            wanted[frozenset(row_of[one] for one in four)] = (
                abs(of[axy][0] - of[ay][0] - of[ax][0] + of[a][0]),
                NOISE * math.sqrt(sum(1 / of[one][1] for one in four)),
            )
    assert found.count == len(wanted) == len(found.compounds)
    for four, values, double, noise, sites in zip(
        found.compounds, found.values, found.double_difference, found.noise, found.sites, strict=True
    ):
        assert (abs(double), noise) == pytest.approx(wanted[frozenset(four.tolist())], abs=1e-9)
        assert differing(codes[four[0]], codes[four[1]]) == differing(codes[four[2]], codes[four[3]]) == [sites[0]]
        assert differing(codes[four[0]], codes[four[2]]) == differing(codes[four[1]], codes[four[3]]) == [sites[1]]
        assert values == pytest.approx([of[tuple(codes[one].tolist())][0] for one in four])
        assert sign * values[3] == max(sign * values)
    if wanted:
        squares, noises = (np.mean([one[k] ** 2 for one in wanted.values()]) for k in (0, 1))
        assert found.spread == pytest.approx(math.sqrt(squares), abs=1e-9)
        assert found.spread_of_noise == pytest.approx(math.sqrt(noises))


@given(measured(), st.integers(1, 4))
def test_short_lists_hold_the_largest(given_, most):
    codes, rows, means, counts, sign = given_
    whole = matched_pairs(codes, rows, means, counts, NOISE, sign)
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MOST_CHANGES", "MOST_CLIFFS", "MOST_QUADRUPLES"):
            patch.setattr(module, name, most)
        short = matched_pairs(codes, rows, means, counts, NOISE, sign)
    assert short.changes.least == pytest.approx(whole.changes.least[:most])
    assert np.abs(short.cliffs.difference) == pytest.approx(np.abs(whole.cliffs.difference[:most]))
    doubles = np.abs(whole.quadruples.double_difference)
    assert np.abs(short.quadruples.double_difference) == pytest.approx(doubles[:most], abs=1e-9)
    assert (short.count, short.quadruples.count) == (whole.count, whole.quadruples.count)


def test_a_site_with_too_many_pairs_compares_the_substituents_measured_most(monkeypatch):
    monkeypatch.setattr(module, "MOST_PAIRS", 3)
    codes = np.array([[0, 0], [1, 0], [2, 0], [3, 0], [4, 0], [3, 1], [4, 1]])
    found = matched_pairs(codes, np.arange(7), np.arange(7.0), np.ones(7), NOISE)
    of_first = found.changes.site == 0
    assert {*found.changes.before[of_first], *found.changes.after[of_first]} == {3, 4}
    assert found.left_out.tolist() == [3, 0]


@pytest.mark.parametrize("noise", [NOISE, math.nan])
def test_nothing_measured_and_an_unknown_noise_make_no_trouble(noise):
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    nothing = matched_pairs(codes, np.zeros(0, np.intp), np.zeros(0), np.zeros(0), noise)
    assert (nothing.count, nothing.quadruples.count) == (0, 0)
    found = matched_pairs(codes, np.arange(4), np.array([0.0, 1.0, 2.0, 5.0]), np.ones(4), noise)
    assert found.quadruples.double_difference.tolist() == [2.0]
    assert found.quadruples.noise == pytest.approx([2 * noise], nan_ok=True)
    assert len(found.changes.mean) == 2
