"""Results on another scale, in another unit, or under other names of sites than the campaign's: converted, and said."""

import math

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.results import read_results

LIBRARY = Library.listed(
    ["R1", "Temperature"], [["Me", "20"], ["Et", "20"], ["Me", "40"], ["Et", "60"]], ids=["a", "b", "c", "d"]
)
IC50 = Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2)
PIC50 = Endpoint("pIC50", noise_sd=0.2)


def read(text, endpoint):
    return read_results(parse_text(text), LIBRARY, [endpoint])


@pytest.mark.parametrize("text", ["ID,pIC50\na,8\nb,<5.5\n", "ID,Endpoint,Value\na,pIC50,8\nb,pIC50,<5.5\n"])
def test_logarithms_of_a_concentration_are_converted_and_their_bounds_turned(text):
    table = read(text, IC50)
    assert [(r.compound, r.relation, r.value) for r in table.results] == [("a", "=", 10.0), ("b", ">", 3162.27766)]
    assert [r.comment for r in table.results] == ["entered as pIC50 8", "entered as pIC50 <5.5"]
    assert [IC50.to_model(r.value, r.unit) for r in table.results] == pytest.approx([8.0, 5.5])


def test_the_columns_that_hold_logarithms_are_said_and_their_sd_is_not_used():
    table = read("ID,pIC50,pIC50 SD,pIC50 N\na,8,0.2,3\n", IC50)
    assert table.warnings == ("Column pIC50 holds logarithms of IC50 (nM), which were converted.",)
    assert [(r.n, r.sd, r.comment) for r in table.results] == [(3, None, "entered as pIC50 8; its SD is not used")]


def test_a_number_that_is_no_logarithm_is_not_converted():
    table = read("ID,pIC50\na,35\nb,7\n", IC50)
    assert [(one.row, one.reason) for one in table.rejected] == [(2, "35 is no pIC50")]
    assert [r.compound for r in table.results] == ["b"]
    unit = read("ID,pIC50\na,35 nM\n", IC50)
    assert [(r.value, r.unit) for r in unit.results] == [(35.0, None)]


def test_rows_that_say_ic50_are_converted_by_their_unit_alone():
    table = read("ID,Endpoint,Value,Unit\na,IC50,10,nM\nb,IC50,>3,uM\nc,IC50,12,\n", PIC50)
    assert [(r.compound, r.relation, round(r.value, 3)) for r in table.results] == [("a", "=", 8.0), ("b", "<", 5.523)]
    assert [(one.row, one.reason) for one in table.rejected] == [(4, "'12' has no unit, so its logarithm is not known")]
    assert math.isclose(table.results[0].value, 8.0)


def test_a_column_without_a_unit_is_refused_with_the_mend():
    with pytest.raises(AssayPilotError) as refused:
        read("ID,IC50\na,12\n", PIC50)
    assert str(refused.value).endswith(
        "Say the unit of IC50 in its header, IC50 (nM): its logarithm is not known without."
    )


def test_what_stands_beside_the_values_and_is_not_used_is_said():
    table = read("ID,pIC50,pIC50,SEM\na,7,7.2,0.1\n", PIC50)
    assert [r.value for r in table.results] == [7.0]
    said = "\n".join(table.warnings)
    assert "their header stands twice: pIC50 (2). Replicates are called pIC50 run 1, pIC50 run 2." in said
    assert "a standard error is no SD: SEM." in said


def test_renamed_columns_of_sites_are_known_by_what_stands_in_them():
    table = read("Acid,T (°C),pIC50\nMe,20,7\nEt,60.0,6\n", PIC50)
    assert [(r.compound, r.value) for r in table.results] == [("a", 7.0), ("d", 6.0)]
    assert table.warnings == (
        "By what stands in them columns were taken for sites: Acid for R1, T (°C) for Temperature. Is that right?",
    )
    group = read("R-group 1,Temperature,pIC50\nMe,40,7\n", PIC50)
    assert [r.compound for r in group.results] == ["c"]
    assert group.warnings == ()


@pytest.mark.parametrize(
    "text",
    [
        "Acid,Amine,T,pIC50\nMe,Et,20,7\nEt,Me,20,6\n",  # two columns could be R1
        "Acid,T,pIC50\nPr,20,7\nBu,40,6\n",
        "Acid,pIC50\nMe,20\n",
    ],
)
def test_where_it_is_not_clear_which_column_is_meant_nothing_is_guessed(text):
    with pytest.raises(AssayPilotError, match="there is no column of compound ids"):
        read(text, PIC50)
