from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.spreading import spread


def pairs(places):
    """All pairs of replicates of one item."""
    return [pair for own in places for pair in combinations(own, 2)]


def in_line(places):
    """Pairs of replicates in one row or column of a plate."""
    return sum(a[0] == b[0] and (a[1] == b[1] or a[2] == b[2]) for a, b in pairs(places))


def touching(places):
    """Pairs of replicates side by side or corner to corner."""
    return sum(a[0] == b[0] and abs(a[1] - b[1]) < 2 and abs(a[2] - b[2]) < 2 for a, b in pairs(places))


def on_plates(places):
    """What is taken of each plate."""
    every = [place for own in places for place in own]
    return [[p[1:] for p in every if p[0] == plate] for plate in range(max((p[0] for p in every), default=-1) + 1)]


grids = st.tuples(st.integers(1, 16), st.integers(1, 24))
rounds = st.lists(st.integers(0, 6), max_size=60)


@given(grids, rounds, st.tuples(st.integers(0, 9), st.integers(1, 9)))
def test_every_measurement_has_a_place_of_its_own(grid, replicates, entropy):
    rows, columns = grid
    places = spread(replicates, rows, columns, entropy)
    assert [len(own) for own in places] == replicates
    every = [place for own in places for place in own]
    assert len(set(every)) == len(every)
    assert all(0 <= row < rows and 0 <= column < columns for _, row, column in every)
    sizes = [len(plate) for plate in on_plates(places)]
    assert len(sizes) == -(-len(every) // (rows * columns)), "as few plates as can be"
    assert not sizes or max(sizes) - min(sizes) <= 1, "evenly filled"
    for own in places:
        counts = [sum(place[0] == plate for place in own) for plate in range(len(sizes))]
        assert not counts or max(counts) - min(counts) <= 1, "replicates are dealt to all plates"
    assert spread(replicates, rows, columns, entropy) == places, "the same again"


@given(st.integers(2, 16), st.integers(2, 24), st.data())
def test_replicates_share_neither_row_nor_column(rows, columns, data):
    """However full the plates are, with as many replicates as the shorter side and fewer than the longer."""
    most = min(rows, columns, max(rows, columns) - 1)
    replicates = data.draw(st.lists(st.integers(1, most), min_size=1, max_size=40))
    places = spread(replicates, rows, columns, (data.draw(st.integers(0, 99)), 1))
    assert in_line(places) == 0


@pytest.mark.parametrize(("rows", "columns"), [(8, 12), (8, 10), (6, 10), (16, 24), (16, 20), (14, 22)])
@pytest.mark.parametrize("k", [2, 3, 4, 6])
@pytest.mark.parametrize("share", [0.3, 0.8, 1.0, 2.4])
def test_on_the_usual_plates_replicates_do_not_even_touch(rows, columns, k, share):
    for seed in range(4):
        places = spread([k] * int(share * rows * columns / k), rows, columns, (seed, 1))
        assert in_line(places) == touching(places) == 0


def test_replicates_on_different_plates_stand_in_different_places():
    for seed in range(5):
        places = spread([2] * 80, 8, 10, (seed, 1))
        assert all(a[0] != b[0] for a, b in pairs(places)), "one on each plate"
        assert all(a[1:] != b[1:] for a, b in pairs(places))


def test_seed_and_round_draw_the_order_by_lot():
    first = spread([1] * 80, 8, 10, (0, 1))
    assert first != spread([1] * 80, 8, 10, (0, 2))
    assert first != spread([1] * 80, 8, 10, (1, 1))
    # Over many rounds the first item of the list comes to stand all over the plate.
    seen = {spread([1] * 80, 8, 10, (0, number))[0][0][1:] for number in range(200)}
    assert len(seen) > 60


def test_a_layout_that_was_printed_once_stays_as_it_is():
    """As stored: another version of this program or of numpy must not move what a lab has pipetted."""
    assert spread([2, 1, 3], 4, 3, (7, 1)) == [[(0, 2, 0), (0, 0, 1)], [(0, 1, 0)], [(0, 3, 1), (0, 0, 0), (0, 1, 2)]]
    places = spread([3] * 40, 8, 10, (2026, 4))
    assert [places[k] for k in (0, 17, 39)] == [
        [(0, 7, 4), (0, 6, 6), (1, 4, 0)],
        [(0, 1, 0), (0, 0, 5), (1, 6, 4)],
        [(0, 1, 6), (1, 3, 3), (1, 6, 6)],
    ]
