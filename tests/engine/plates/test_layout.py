import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.plates.layout import Control, PlateUse, read_controls
from assaypilot.engine.domain.plates.wells import FORMATS, Well, wells_text
from assaypilot.engine.errors import AssayPilotError

ENDS = read_controls(["1,12"])


def texts(use, wells):
    """The wells of every place of a plate, as people read them."""
    grid = use.grid(wells)
    return [wells_text(grid.at(i, j)) for i in range(len(grid.tops)) for j in range(len(grid.lefts))]


def test_single_wells_use_all_that_is_free():
    assert len(texts(PlateUse(96), 1)) == 96
    inner = texts(PlateUse(96, ENDS, edge=False), 1)
    assert (inner[0], inner[-1], len(inner)) == ("B2", "G11", 60)
    assert PlateUse(96, ENDS, edge=False).free_wells == 60
    assert PlateUse(384, read_controls(["1,2,23,24"])).free_wells == 320


def test_a_curve_stands_along_a_row_or_a_column_whichever_gives_more():
    assert texts(PlateUse(96, ENDS), 10) == [f"{row}2-{row}11" for row in "ABCDEFGH"]
    # Eight in a column give ten curves, eight in a row would give eight.
    assert texts(PlateUse(96, ENDS), 8) == [f"A{column}-H{column}" for column in range(2, 12)]
    # As many either way: along the row, as curves are read.
    assert texts(PlateUse(96), 4)[:4] == ["A1-A4", "A5-A8", "A9-A12", "B1-B4"]
    assert texts(PlateUse(96), 12) == [f"{row}1-{row}12" for row in "ABCDEFGH"]


def test_a_curve_longer_than_any_line_is_folded_into_adjacent_ones():
    assert texts(PlateUse(96, ENDS), 20) == [f"{a}2-{a}11, {b}2-{b}11" for a, b in ("AB", "CD", "EF", "GH")]
    assert texts(PlateUse(384, read_controls(["1,2,23,24"])), 20)[0] == "A3-A22"
    # 13 wells in two columns of seven, of which one place stays empty: six of them; two rows of seven would give four.
    assert texts(PlateUse(96), 13) == [f"A{a}-G{a}, A{a + 1}-F{a + 1}" for a in (1, 3, 5, 7, 9, 11)]
    # Two columns of eight give five, two rows of eight would give four.
    assert texts(PlateUse(96, ENDS), 16)[:2] == ["A2-H2, A3-H3", "A4-H4, A5-H5"]


def test_controls_within_the_plate_are_not_reached_across():
    use = PlateUse(96, (Control("DMSO", (6,)),))
    assert texts(use, 5)[:2] == ["A1-A5", "A7-A11"]
    assert all("6" not in re.findall(r"\d+", text) for text in texts(use, 3))


def test_controls_that_share_columns_take_turns():
    wells = PlateUse(96, ENDS).control_wells()
    assert len(wells) == 16
    assert [wells[Well(row, 0)] for row in range(4)] == ["max", "min", "max", "min"]
    assert [wells[Well(row, 11)] for row in range(4)] == ["min", "max", "min", "max"]
    own = PlateUse(96, read_controls(["max=1", "min=12"]), edge=False).control_wells()
    assert {own[Well(row, 0)] for row in range(8)} == {"max"}, "edge or not, controls stand where they are told to"
    assert {own[Well(row, 11)] for row in range(8)} == {"min"}


@given(st.sampled_from(sorted(FORMATS)), st.integers(1, 60), st.booleans(), st.data())
def test_places_never_overlap_and_keep_to_what_is_free(size, wells, edge, data):
    shape = FORMATS[size]
    columns = data.draw(st.lists(st.integers(1, shape.columns), max_size=4, unique=True))
    try:
        use = PlateUse(size, (Control("c", tuple(columns)),) if columns else (), edge=edge)
        grid = use.grid(wells)
    except AssayPilotError:
        assume(False)
    places = [grid.at(i, j) for i in range(len(grid.tops)) for j in range(len(grid.lefts))]
    used = [well for place in places for well in place]
    assert len(set(used)) == len(used) == wells * len(places) == wells * len(grid)
    assert not set(used) & set(use.control_wells())
    for well in used:
        assert 0 <= well.row < shape.rows
        assert 0 <= well.column < shape.columns
        assert edge or (0 < well.row < shape.rows - 1 and 0 < well.column < shape.columns - 1)
    for place in places:
        in_order = sorted(place, key=lambda well: (well.column, well.row)) if grid.down else sorted(place)
        assert list(place) == in_order, "reading order, down the columns or along the rows"
        rows, across = {well.row for well in place}, {well.column for well in place}
        assert max(rows) - min(rows) + 1 == len(rows)
        assert max(across) - min(across) + 1 == len(across)


@given(st.sampled_from([24, 96, 384]), st.integers(1, 24))
def test_no_straight_line_gives_more_places(size, wells):
    """Against counting the lines that fit, row by row and column by column."""
    shape = FORMATS[size]
    along = shape.rows * (shape.columns // wells)
    down = shape.columns * (shape.rows // wells)
    assume(along or down)
    assert len(PlateUse(size).grid(wells)) == max(along, down)


def test_refusals():
    def line(*arguments, **more):
        with pytest.raises(AssayPilotError) as error:
            PlateUse(*arguments, **more)
        return str(error.value)

    assert line(95) == "--plate: there is no plate of 95 wells here. Choose one of: 24, 48, 96, 384, 1536."
    assert line(96, read_controls(["1,13"])) == (
        "--control-columns: a 96-well plate has no column 13. Its columns are 1 to 12."
    )
    assert "has no column 0" in line(96, (Control("max", (0,)),))
    everything = read_controls([",".join(map(str, range(1, 13)))])
    assert line(96, everything) == (
        "--control-columns: no free well is left on a 96-well plate. Leave more columns to the compounds, or choose a "
        "larger plate."
    )
    assert "no free well is left" in line(24, read_controls(["2,3,4,5"]), edge=False)
    assert "the control Max is named twice" in line(96, read_controls(["1", "Max=12"]))
    assert "the name of a control must have 1 to 24 letters" in line(96, (Control(" ", (1,)),))
    assert "the name of a control must have 1 to 24 letters" in line(96, (Control("a\nb", (1,)),))
    assert "the columns in which the control max stands are missing" in line(96, (Control("max", ()),))


def test_a_measurement_that_fits_nowhere_is_refused():
    with pytest.raises(AssayPilotError) as error:
        PlateUse(96, ENDS).grid(81, "a measurement of IC50")
    assert str(error.value) == (
        "--plate: a measurement of IC50 takes 81 wells, but a 96-well plate has 80 free wells. Choose a larger plate, "
        "or leave it more columns."
    )
    with pytest.raises(AssayPilotError, match="takes 1,000,000,000,000 wells, but a 96-well plate has 80 free wells"):
        PlateUse(96, ENDS).grid(10**12)
    with pytest.raises(AssayPilotError, match="takes 10 wells, but a 24-well plate has 16 free wells and not so many"):
        PlateUse(24, (Control("max", (2, 4)),)).grid(10)


def test_controls_are_read():
    assert read_controls(["1, 12"]) == (Control("max", (1, 12)), Control("min", (1, 12)))
    assert read_controls(["max=1", "min = 12,11"]) == (Control("max", (1,)), Control("min", (12, 11)))
    assert read_controls(["a=b=2,2"]) == (Control("a=b", (2,)),)
    assert read_controls([]) == ()
    for text in ("", "max", "max=", "1;2", "1-3", "x,1", "²", "1000"):
        with pytest.raises(AssayPilotError, match=r"names no columns\. For example 1,12 or max=1"):
            read_controls([text])
