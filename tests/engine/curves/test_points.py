"""Tables of readings: lists, columns of concentrations, columns of compounds, plates beside a map."""

import pytest

from assaypilot.engine.curves.points import Columns, read_points, with_map
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import read_table


@pytest.fixture
def read(tmp_path):
    """Return the table that a csv text holds, points kept."""

    def call(text, name="raw.csv"):
        path = tmp_path / name
        path.write_text(text.strip("\n") + "\n", encoding="utf-8")
        return read_table(path, points=True)

    return call


def told(points):
    return [(p.compound, p.role, round(p.concentration * 1e6, 6), p.response) for p in points.points]


def refusal(raw):
    with pytest.raises(AssayPilotError) as caught:
        read_points(raw)
    return str(caught.value)


def test_list_gives_one_point_for_each_row(read):
    found = read_points(
        read("""
Compound,Conc (nM),Signal,Plate,Well,Replicate,Excluded
A,1000,910,P1,B2,1,
A,100,5100,P1,B3,2,air bubble
A,1,no read,P1,B4,2,
DMSO,,10000,P1,A1,,no
Positive control,,400,P1,A2,,
""")
    )
    assert told(found) == [
        ("A", "compound", 1.0, 910.0),
        ("A", "compound", 0.1, 5100.0),
        ("DMSO", "neutral", 0.0, 10000.0),
        ("Positive control", "full", 0.0, 400.0),
    ]
    assert [point.excluded for point in found.points] == ["", "air bubble", "", ""]
    assert [(point.plate, point.well, point.replicate, point.row) for point in found.points][1] == ("P1", "B3", "2", 3)
    assert found.scale == "raw"
    assert found.rejected == ((4, "'no read' is not a number"),)


@pytest.mark.parametrize(
    ("header", "cells", "micromolar"),
    [
        ("Concentration,Unit", "10,nM", 0.01),
        ("Conc (uM)", "10", 10.0),
        ("log[M]", "-5", 10.0),
        ("Concentration", "10 nM", 0.01),
    ],
)
def test_concentrations_keep_their_unit(read, header, cells, micromolar):
    found = read_points(read(f"ID,{header},Response\nA,{cells},1\nB,{cells},2"))
    assert [point.concentration * 1e6 for point in found.points] == pytest.approx([micromolar] * 2)


def test_concentration_without_unit_is_rejected_until_it_is_given(read):
    raw = read("ID,Concentration,Response\nA,10,1\nA,1,2")
    assert "the concentration has no unit; give one" in refusal(raw)
    assert [p.concentration for p in read_points(raw, Columns(unit="nM")).points] == pytest.approx([1e-8, 1e-9])


@pytest.mark.parametrize(
    ("header", "scale"),
    [("% inhibition", "effect"), ("Inhibition (%)", "effect"), ("% activity", "remaining"), ("RFU", "raw")],
)
def test_name_of_the_response_says_its_scale(read, header, scale):
    raw = read(f"ID,Conc (uM),{header}\nA,10,1\nA,1,2")
    assert read_points(raw).scale == scale
    assert read_points(raw, Columns(scale="remaining")).scale == "remaining"


def test_columns_called_after_concentrations_are_points(read):
    found = read_points(read("ID,10 uM,1 uM,100 nM\nA,95,60,8\nB,40,,1"))
    assert told(found) == [
        ("A", "compound", 10.0, 95.0), ("A", "compound", 1.0, 60.0), ("A", "compound", 0.1, 8.0),
        ("B", "compound", 10.0, 40.0), ("B", "compound", 0.1, 1.0),
    ]  # fmt: skip


def test_prism_layout_has_a_column_for_each_replicate_of_a_compound(read):
    found = read_points(read("log[M],CPD-1,CPD-1,CPD-2\n-5,95,97,40\n-6,50,52,3"))
    assert [p.compound for p in found.points] == ["CPD-1", "CPD-1", "CPD-2"] * 2
    assert [p.response for p in found.points] == [95.0, 97.0, 40.0, 50.0, 52.0, 3.0]
    assert found.points[3].concentration == pytest.approx(1e-6)


PLATE = """
Plate,P7,,,,,,,,,,,
,1,2,3,4,5,6,7,8,9,10,11,12
A,10,20,30,40,50,60,70,80,90,100,110,120
B,11,21,31,41,51,61,71,81,91,101,111,121
C,,,,,,,,,,,,
D,,,,,,,,,,,,
E,,,,,,,,,,,,
F,,,,,,,,,,,,
G,,,,,,,,,,,,
H,,,,,,,,,,,,
"""


def test_plate_of_a_reader_is_read_by_its_map(read):
    plate_map = read("Well,ID,Concentration (uM),Control\nA01,C-1,10,\nA2,C-1,1,\nB1,,,DMSO\nB2,,,max", "map.csv")
    raw = with_map(read(PLATE), plate_map)
    found = read_points(raw, Columns(full=("max",)))
    assert told(found) == [
        ("C-1", "compound", 10.0, 10.0), ("C-1", "compound", 1.0, 20.0), ("DMSO", "neutral", 0.0, 11.0),
        ("max", "full", 0.0, 21.0),
    ]  # fmt: skip
    assert {point.plate for point in found.points} == {"P7"}
    assert "20 wells that the map does not name are left out." in found.warnings
    unnamed = read_points(raw)
    assert "Wells called max are left out: name them as neutral or of full effect." in unnamed.warnings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ID,Signal\nA,10", "there is no column of concentrations; the columns are ID, Signal"),
        ("Conc (uM),Plate,Batch\n1,2,3", "there is no column of compound ids"),
        (
            "ID,Conc (uM),RFU,RLU\nA,1,2,3",
            "several columns may be the response: RFU, RLU. Name the column of responses",
        ),
        ("ID,Conc (mg/mL),RFU\nA,1,2", "mg/mL is no unit of concentrations"),
    ],
)
def test_table_without_what_a_curve_needs_is_refused(read, text, said):
    assert said in refusal(read(text))


def test_map_of_other_plates_is_refused(read):
    plate_map = read("Plate,Well,ID,Concentration (uM)\nX1,A1,C-1,1\nX2,A1,C-1,2", "map.csv")
    with pytest.raises(AssayPilotError, match=r"no well of the readings \(plates P7\) is in the map \(X1, X2\)"):
        with_map(read(PLATE), plate_map)
