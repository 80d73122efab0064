"""Rounds cut from a phase: everything once, never above what the lab takes, spanning where that can be."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.campaign.layout import lay_out, next_round, reasons
from assaypilot.engine.domain.library import Library
from tests.strategies import libraries, seeds


@st.composite
def phases(draw):
    """Counts, vectors of any rank, and what the lab takes."""
    rng = np.random.default_rng(draw(seeds))
    m = draw(st.integers(1, 10))
    counts = rng.integers(1, draw(st.sampled_from([3, 9, 40])), m)
    d = draw(st.integers(1, m))
    vectors = rng.normal(size=(m, d))
    if draw(st.booleans()):
        vectors = np.eye(m)[:, :d] if d == m else rng.integers(0, 2, (m, d)).astype(float)
    return counts, vectors, draw(st.integers(1, 30)), draw(st.integers(1, 8)), draw(st.integers(0, 1000))


def totals(order, m):
    out = np.zeros(m, dtype=int)
    for position, n in order:
        out[position] += n
    return out


def rounds_of(order, per_round, replicates, come=lambda asked: asked):
    """The rounds that are issued until nothing is left, when ``come`` of each round's items come back."""
    done, rounds = {}, []
    while chosen := next_round(order, done, per_round, replicates):
        rounds.append(chosen)
        for compound, n in come(chosen):
            done[compound] = done.get(compound, 0) + n
        assert len(rounds) < 10_000
    return rounds


@given(phases())
def test_every_planned_measurement_is_laid_out_once(phase):
    counts, vectors, per_round, replicates, seed = phase
    order = lay_out(counts, vectors, per_round, replicates, seed)
    assert totals(order, len(counts)).tolist() == counts.tolist()
    assert all(1 <= n <= replicates for _, n in order)
    assert lay_out(counts, vectors, per_round, replicates, seed) == order


def test_the_last_round_leaves_nothing_behind():
    """Found by search: two compounds need all their places in both rounds, others must not take them first."""
    order = lay_out(np.array([4, 4, 1, 1]), np.eye(4), per_round=5, max_replicates=2, seed=0)
    assert totals(order, 4).tolist() == [4, 4, 1, 1]
    assert len(rounds_of(order, 5, 2)) == 2


@given(phases())
def test_rounds_hold_what_the_lab_takes_and_come_to_the_plan(phase):
    counts, vectors, per_round, replicates, seed = phase
    order = lay_out(counts, vectors, per_round, replicates, seed)
    rounds = rounds_of(order, per_round, replicates)
    assert totals([item for one in rounds for item in one], len(counts)).tolist() == counts.tolist()
    for one in rounds:
        assert 1 <= sum(n for _, n in one) <= per_round
        assert max(n for _, n in one) <= replicates
        assert len({compound for compound, _ in one}) == len(one)
    fewest = max(math.ceil(counts.sum() / per_round), math.ceil(counts.max() / replicates))
    assert len(rounds) == fewest


@given(phases())
def test_the_first_round_spans_when_it_has_the_room(phase):
    counts, vectors, per_round, replicates, _ = phase
    rank = np.linalg.matrix_rank(vectors)
    fewest = max(math.ceil(counts.sum() / per_round), math.ceil(counts.max() / replicates))
    # Places that compounds must have in the first round, or the last one could not take what is left.
    bound = np.maximum(counts - replicates * (fewest - 1), 0)
    first = [compound for compound, _ in rounds_of(lay_out(*phase), per_round, replicates)[0]]
    if np.maximum(bound - 1, 0).sum() + rank + (bound > 0).sum() <= min(per_round, counts.sum()):
        assert np.linalg.matrix_rank(vectors[first]) == rank


@given(phases(), seeds)
def test_what_is_missing_is_in_the_next_round(phase, seed):
    counts, _, per_round, replicates, _ = phase
    order = lay_out(*phase)
    rng = np.random.default_rng(seed)
    done = {}
    while chosen := next_round(order, done, per_round, replicates):
        came = {compound: int(rng.integers(0, n + 1)) for compound, n in chosen}
        if not any(came.values()):
            came[chosen[0][0]] = 1
        for compound, n in came.items():
            done[compound] = done.get(compound, 0) + n
        missing = {compound: n - came[compound] for compound, n in chosen if n > came[compound]}
        following = dict(next_round(order, done, per_round, replicates))
        for compound, n in missing.items():
            assert following[compound] >= n
    assert totals(done.items(), len(counts)).tolist() == counts.tolist()


@given(phases(), seeds)
def test_a_changed_capacity_still_comes_to_the_plan(phase, seed):
    counts, _, _, _, _ = phase
    order = lay_out(*phase)
    rng = np.random.default_rng(seed)
    done = {}
    for _ in range(10_000):
        chosen = next_round(order, done, int(rng.integers(1, 12)), int(rng.integers(1, 5)))
        if not chosen:
            break
        for compound, n in chosen:
            done[compound] = done.get(compound, 0) + n
    assert totals(done.items(), len(counts)).tolist() == counts.tolist()


@given(libraries(min_compounds=1), seeds)
def test_every_compound_of_a_round_has_its_reason(library, seed):
    rng = np.random.default_rng(seed)
    compounds = rng.permutation(len(library))[: 1 + int(rng.integers(len(library)))].tolist()
    texts = reasons(library, compounds)
    assert len(texts) == len(compounds)
    assert all(texts)
    single = [k for k in range(len(library.sites)) if len(set(library.codes[compounds, k].tolist())) == 1]
    if len(single) == len(library.sites):
        assert set(texts) == {"repeats the measurement"}


def test_reasons_name_what_is_new_then_what_is_rarest():
    library = Library.listed(
        ["R1", "R2", "R3"],
        [["Me", "Cl", "H"], ["Me", "F", "H"], ["Et", "Br", "H"], ["Et", "Cl", "H"]],
    )
    assert reasons(library, [0, 1, 2, 3]) == [
        "brings in R1 = Me, R2 = Cl",
        "brings in R2 = F",
        "brings in R1 = Et, R2 = Br",
        # R1 = Et and R2 = Cl were there once each; the first site is named.
        "settles R1 = Et",
    ]
    wide = Library.listed(["A", "B", "C"], [["1", "2", "3"], ["4", "5", "6"]])
    assert reasons(wide, [0, 1])[0] == "brings in A = 1, B = 2 and 1 more"
