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
