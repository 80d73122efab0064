"""Points of dose-response curves are never read as replicates, neither in a table nor in results."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.normalise import is_dose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results

SERIES = "ID,R1,R2\na,Me,F\nb,H,F\nc,Me,Cl\n"


def series(*specs):
    raw = parse_text(SERIES)
    return import_table(raw, propose(raw, TableOptions(endpoints=tuple(map(parse_endpoint_spec, specs)))))


def imported(text):
    raw = parse_text(text)
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("header", "points"),
    [
        ("Conc (uM),Inhibition (%)", ["10,90", "1,50", "0.1,8"]),
        ("Concentration [M],Response", ["1e-5,90", "1e-6,50"]),
        ("logConc,Activity", ["-5,90", "-6,50"]),
        ("log[M],Value", ["-5,90", "-6,50"]),
        ("[Inhibitor] (nM),% activity", ["100,12", "1000,40"]),
    ],
)
def test_a_table_of_points_has_compounds_and_no_values(header, points):
    rows = [f"{name},{labels},{point}" for name, labels in (("a", "Me,F"), ("b", "H,F")) for point in points]
    table = imported(f"ID,R1,R2,{header}\n" + "\n".join(rows) + "\n")
    assert table.compounds == 2
    assert table.history == ()
    response = header.split(",")[1]
    assert any(
        f"tested at up to {len(points)} concentrations" in text and "give one fitted value" in text and response in text
        for text in table.warnings
    )


def test_the_unit_beside_concentrations_makes_no_potencies_of_responses():
    known = series("pIC50;sd=0.2")
    text = "ID,Concentration,Unit,Value\na,10,uM,90\na,1,uM,50\nb,10,uM,60\nb,1,uM,20\n"
    with pytest.raises(AssayPilotError, match="Points of curves are no replicates"):
        read_results(parse_text(text), known.library, known.endpoints)


def test_one_concentration_is_a_result_like_any_other():
    known = series("Inhibition;unit=%;sd=5")
    text = "ID,Conc (uM),Inhibition (%)\na,10,90\nb,10,50\nb,10,54\n"
    results = read_results(parse_text(text), known.library, known.endpoints)
    assert [(r.compound, r.value) for r in results.results] == [("a", 90.0), ("b", 50.0), ("b", 54.0)]


def test_one_compound_is_enough_and_a_single_point_beside_curves_is_one_too():
    known = series("IC50;unit=nM;sd=0.2")
    alone = "ID,Conc (uM),Value\na,10,90\na,1,50\na,0.1,20\n"
    beside = "ID,Conc (uM),Value\na,10,90\na,1,50\nb,10,80\n"
    for text in (alone, beside):
        with pytest.raises(AssayPilotError, match="Points of curves are no replicates"):
            read_results(parse_text(text), known.library, known.endpoints)


def test_what_is_named_otherwise_than_the_points_is_read():
    known = series("Clint;sd=5")
    text = "ID,Endpoint,Conc (uM),Value\na,Inhibition,10,90\na,Inhibition,1,50\na,Clint,1,33\nb,Clint,1,20\n"
    table = read_results(parse_text(text), known.library, known.endpoints)
    assert [(r.compound, r.value) for r in table.results] == [("a", 33.0), ("b", 20.0)]
    assert any("Not read as values: Value" in text for text in table.warnings)


def test_a_condition_called_concentration_is_none():
    # One product under many conditions: its concentration is a site, not what a curve is drawn over.
    text = "Name,R1,R2,Concentration,Yield\n" + "".join(
        f"P,{a},{b},{c},{d}\n" for a, b, c, d in (("Me", "F", 1, 50), ("H", "F", 2, 60), ("Me", "Cl", 1, 20))
    )
    assert parse_text(text).points == ""
    conditions = TableOptions(sites=("R1", "R2", "Concentration"))
    assert propose(parse_text(text), conditions).sites == ("R1", "R2", "Concentration")
    assert not is_dose("ATP conc (uM)")
    assert not is_dose("Plasma concentration")
