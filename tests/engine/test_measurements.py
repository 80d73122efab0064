import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.measurements import Measurement, Result, determinations, pool, replicate_noise

N_ARMS = 5
entries = st.lists(
    st.tuples(
        st.integers(0, N_ARMS - 1),
        st.floats(-10, 10),
        st.integers(1, 6),
        st.one_of(st.none(), st.floats(0, 3)),
    ),
    max_size=20,
)


@given(entries)
def test_pooled_counts_and_means_are_those_of_all_single_determinations(rows):
    pooled = pool([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows], N_ARMS)
    for arm in range(N_ARMS):
        singles = [value for a, value, n, _ in rows if a == arm for _ in range(n)]
        assert pooled.counts[arm] == len(singles)
        assert pooled.means[arm] == pytest.approx(np.mean(singles) if singles else 0.0, abs=1e-12)
    assert pooled.counts.shape == pooled.means.shape == (N_ARMS,)


@given(entries)
def test_noise_is_the_pooled_variance_within_compounds(rows):
    """Against the definition, compound by compound: within what the lab averaged, and between its values."""
    squares, freedom, behind = 0.0, 0, 0
    for arm in range(N_ARMS):
        own = [(v, n, sd) for a, v, n, sd in rows if a == arm]
        told = False
        for _, n, sd in own:
            if n > 1 and sd is not None:
                squares += (n - 1) * sd**2
                freedom += n - 1
                told = True
        if len(own) > 1:
            centre = sum(n * v for v, n, _ in own) / sum(n for _, n, _ in own)
            # A mean of n determinations scatters with sigma^2 / n.
            squares += sum(n * (v - centre) ** 2 for v, n, _ in own)
            freedom += len(own) - 1
            told = True
        behind += told
    sd, compounds = replicate_noise(*([r[k] for r in rows] for k in range(4)))
    if freedom:
        assert sd == pytest.approx(math.sqrt(squares / freedom), rel=1e-9, abs=1e-9)
        assert compounds == behind
    else:
        assert (sd, compounds) == (None, 0)


@given(st.integers(0, 2**32 - 1))
def test_means_with_their_sd_say_the_same_as_their_single_values(seed):
    """(n, mean, SD) holds all that the single values tell about the noise, when each compound has one mean."""
    rng = np.random.default_rng(seed)
    singles, means = [], []
    for arm in range(4):
        n = int(rng.integers(1, 5))
        values = rng.normal(arm, 0.3, n)
        singles += [(arm, v, 1, None) for v in values]
        means.append((arm, values.mean(), n, values.std(ddof=1) if n > 1 else None))
    one = replicate_noise(*([r[k] for r in singles] for k in range(4)))
    two = replicate_noise(*([r[k] for r in means] for k in range(4)))
    assert one[1] == two[1]
    assert one[0] is two[0] is None or one[0] == pytest.approx(two[0])


def test_usable_measurements_are_exact_and_kept():
    entered = Result("A", 7.0)
    m = Measurement(1, 0, 0, 7.0, "=", 1, entered, round=1, phase=1, counted=1)
    assert m.usable
    assert not replace(m, excluded="bubble").usable
    assert not Measurement(1, 0, 0, 7.0, "<", 1, entered, round=1, phase=1).usable
    assert not Measurement(1, 0, 0, 7.0, "=", 1, entered, round=1, phase=1, withdrawn=True).usable


def test_sds_of_the_stated_noise_are_taken_for_runs_of_their_own_but_for_one_table_in_a_hundred():
    rng = np.random.default_rng(5)
    sds = 0.2 * np.sqrt(rng.chisquare(2, (2000, 12)) / 2)
    once = sum(determinations([3] * 12, list(row), 0.2) == [1] * 12 for row in sds)
    assert 5 <= once <= 40  # 20 of 2,000
    assert all(determinations([3] * 12, list(0.2 * row), 0.2) == [1] * 12 for row in sds[:100])


def test_determinations_without_an_sd_or_a_stated_noise_are_as_they_are():
    few = [3, 1, 2, 4]
    assert determinations(few, [0.01, None, None, 0.02], None) == few
    assert determinations(few, [None] * 4, 0.2) == few
    assert determinations([3, 3], [0.01, 0.01], 0.2) == [3, 3], "four degrees of freedom are too few to ask"
    assert determinations([3, 1, 2, 4, 3], [0.01, None, None, 0.02, 0.01], 0.2) == [1, 1, 2, 1, 1]
