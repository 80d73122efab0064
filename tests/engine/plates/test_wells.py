import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.plates import FORMATS, Well, read_well, wells_text
from assaypilot.engine.text import in_letters


@pytest.mark.parametrize(("size", "last"), [(24, "D6"), (48, "F8"), (96, "H12"), (384, "P24"), (1536, "AF48")], ids=str)
def test_the_last_well_of_each_plate(size, last):
    shape = FORMATS[size]
    assert shape.wells == size
    assert str(shape) == f"{size:,}-well plate"
    assert str(Well(shape.rows - 1, shape.columns - 1)) == last
    assert read_well(last, shape) == Well(shape.rows - 1, shape.columns - 1)


def test_letters_go_on_after_z():
    assert [in_letters(row) for row in (0, 7, 25, 26, 31, 51, 52)] == ["A", "H", "Z", "AA", "AF", "AZ", "BA"]


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_every_spelling_of_a_well_is_read(size, data):
    shape = FORMATS[size]
    well = Well(data.draw(st.integers(0, shape.rows - 1)), data.draw(st.integers(0, shape.columns - 1)))
    letters, number = in_letters(well.row), well.column + 1
    for text in (
        f"{letters}{number}",
        f"{letters.lower()}{number:02d}",
        f" {letters}-{number:03d} ",
        f"{letters} {number}",
    ):
        assert read_well(text, shape) == well


@given(st.integers(1, 6), st.integers(1, 8), st.data())
def test_ranges_say_all_wells_in_their_order(rows, columns, data):
    wells = [Well(r, c) for r in range(rows) for c in range(columns)][: data.draw(st.integers(1, rows * columns))]
    said = []
    for part in wells_text(wells).split(", "):
        first, _, last = part.partition("-")
        a, b = (read_well(text, FORMATS[1536]) for text in (first, last or first))
        said += [Well(r, c) for r in range(a.row, b.row + 1) for c in range(a.column, b.column + 1)]
    assert said == wells
