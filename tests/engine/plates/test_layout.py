import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.plates import FORMATS, Control, PlateUse, Well, read_controls
from assaypilot.engine.errors import AssayPilotError

ENDS = read_controls(["1,12"])


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


def test_control_without_a_name_or_a_column_is_refused():
    for control, said in ((Control("a\nb", (1,)), "1 to 24 letters"), (Control("max", ()), "control max are missing")):
        with pytest.raises(AssayPilotError, match=said):
            PlateUse(96, (control,))
