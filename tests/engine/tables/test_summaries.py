"""Rows of means and SDs among single measurements do not count beside these, in tables and in results."""

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.results import read_results

LIBRARY = Library.listed(["R1"], [["Me"], ["H"]], ids=["a", "b"])
PIC50 = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2)


@pytest.mark.parametrize("header", ["Replicate", "Type", "Row type", "Statistic"])
def test_means_beside_their_single_values_are_left_out(header):
    text = f"ID,{header},pIC50\na,1,6.0\na,2,6.2\na,Mean,6.1\na,SD,0.14\nb,Mean,7.0\n"
    raw = parse_text(text)
    assert raw.rows == (2, 3, 6)
    assert f"Rows 4, 5 sum up other rows by column {header} (Mean) and were left out." in raw.warnings
    results = read_results(raw, LIBRARY, [PIC50]).results
    assert [(r.compound, r.value, r.row) for r in results] == [("a", 6.0, 2), ("a", 6.2, 3), ("b", 7.0, 6)]


@pytest.mark.parametrize(
    "text",
    [
        "ID,Replicate,pIC50\na,1,6\na,2,6.2\n",
        "ID,Type,pIC50\na,mean,6\nb,mean,6.2\n",  # nothing but means
        "ID,Comment,pIC50\na,mean,6\na,x,6.2\n",
        "ID,Type,pIC50\na,max,6\na,min,6.2\n",
    ],
)
def test_other_rows_stay(text):
    assert len(parse_text(text)) == 2
    assert parse_text(text).warnings == ()


def test_the_unit_of_a_name_in_a_row_is_that_of_its_value():
    text = "Molecule Name,Readout Name,Value\na,IC50 (uM),0.01\nb,IC50 (nM),8\n"
    assert [(r.value, r.unit) for r in read_results(parse_text(text), LIBRARY, [IC50]).results] == [
        (0.01, "µM"),
        (8.0, None),
    ]
    logs = read_results(parse_text(text), LIBRARY, [PIC50]).results
    assert [round(r.value, 3) for r in logs] == [8.0, 8.097]


def test_spreads_behind_values_are_said_once():
    table = read_results(parse_text("ID,pIC50\na,6.0 ± 0.1\nb,7.0 ± 0.2\n"), LIBRARY, [PIC50])
    assert len([text for text in table.warnings if "stands behind a value" in text]) == 1
    assert any("('± 0.1' in row 2, and 1 more)" in text for text in table.warnings)


def test_a_second_table_of_two_columns_is_none_of_the_first():
    table = read_results(parse_text("ID,pIC50\na,6\n\nID,hERG pIC50\na,5\n"), LIBRARY, [PIC50])
    assert [(r.compound, r.value) for r in table.results] == [("a", 6.0)]
    assert any("In row 4 another table begins (ID, hERG pIC50)" in text for text in table.warnings)
