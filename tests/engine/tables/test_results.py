"""Results that come back: as vendors export them and as labs write them, with ids as programs change them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.controls import Control
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.plates import Control as Standing
from assaypilot.engine.domain.plates import Layout, Placed, Plate, PlateUse, Well
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.sheet import write_csv
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableMapping, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results

FILED = Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-1", "CPD-2", "-3"])


@given(
    st.lists(
        st.tuples(st.sampled_from(FILED.ids), st.floats(1e-3, 1e6), st.sampled_from(["=", "<", ">"])),
        min_size=1,
        max_size=10,
    ),
    st.sampled_from([".", ","]),
    st.booleans(),
)
def test_results_come_back_from_a_file_as_they_were(tmp_path_factory, entries, decimal, inside):
    path = tmp_path_factory.mktemp("results") / "results.csv"
    rows = []
    for compound, value, relation in entries:
        text = repr(value).replace(".", decimal)
        mark = "" if relation == "=" else relation
        rows.append([compound, f"{mark}{text}", ""] if inside else [compound, text, relation])
    write_csv(path, ["ID", "Value", "Relation"], rows)
    table = read_results(read_table(path), FILED, (Endpoint("dose", "mg"),))
    # A number with three decimals in a table of decimal commas may be a thousand: such a table says so, or reads it.
    unclear = {r.row for r in table.rejected if "two ways" in r.reason}
    assert len(unclear) == len(table.rejected)
    expected = [entry for row, entry in enumerate(entries, start=2) if row not in unclear]
    assert [(r.compound, r.value, r.relation) for r in table.results] == expected


IDS = ["AP-0001", "AP-0012", "AP-0120", "AP-0121"]
LIBRARY = Library.listed(["R1", "R2"], [["Me", "H"], ["Et", "H"], ["Me", "0.1"], ["Et", "0.1"]], ids=IDS)
IC50 = Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2)
PIC50 = Endpoint("pIC50", noise_sd=0.2)


def read(text, *endpoints, library=LIBRARY, **more):
    raw = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return read_results(raw, library, endpoints or (IC50,), **more)


def values(table):
    return [(r.compound, r.relation, r.value) for r in table.results]


def refusal(text, *endpoints, **more):
    with pytest.raises(AssayPilotError) as caught:
        read(text, *endpoints, **more)
    return str(caught.value)


def plates(*names, wells=1, controls=()):
    """Layouts of one round with the first two compounds on each plate: A1 and B2, and AP-0120 in C3."""
    use = PlateUse(96, tuple(controls))
    made = tuple(
        Plate(
            name,
            (0,),
            tuple(
                Placed(compound, (0,), k + 1, tuple(Well(row, column + n) for n in range(wells)))
                for compound, row, column in ((0, 0, 0), (1, 1, 1), (2, 2, 2))
            ),
        )
        for k, name in enumerate(names)
    )
    return (Layout(use, 3, made),)


def test_wells_name_their_compounds():
    table = read("Plate|Well|Result (nM)\nR3-P2|A01|10\nR3-P1|b2|20\nR3-P1|H12|5", layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate, r.replicate, r.round, r.value) for r in table.results] == [
        ("AP-0001", "R3-P2", "2", 3, 10), ("AP-0012", "R3-P1", "1", 3, 20),
    ]  # fmt: skip
    assert table.warnings == ("Wells where nothing stands were left out: H12.",)


def test_a_barcode_is_the_only_plate_and_none_of_several():
    text = "Plate Barcode|Well ID|Result\nBC1|A1|10\nBC1|B2|20"
    table = read(text, layouts=plates("R3-P1"))
    assert [(r.compound, r.plate) for r in table.results] == [("AP-0001", "R3-P1"), ("AP-0012", "R3-P1")]
    assert table.warnings == ("Plate BC1 was taken for R3-P1, the only one of round 3.",)
    said = refusal(text, layouts=plates("R3-P1", "R3-P2"))
    assert "'BC1' is no plate of this campaign" in said
    assert "(R3-P1, R3-P2), or add a column ID" in said
    assert "there is no column of compound ids" in refusal(text)
    assert "a measurement takes 3 wells on R3-P1" in refusal(text, layouts=plates("R3-P1", wells=3))


@pytest.mark.parametrize(("row", "col"), [("B", "2"), ("2", "02"), ("b", "2")])
def test_a_row_and_a_column_are_a_well(row, col):
    table = read(f"plate|row|col|pIC50\nR3-P1|{row}|{col}|7", PIC50, layouts=plates("R3-P1"))
    assert values(table) == [("AP-0012", "=", 7)]


def grid(first="", title=None, fill=None, corner=""):
    fill = fill or {"A1": "10", "B2": ">500", "C3": "ERR", "D4": "7"}
    lines = [title] if title else []
    lines.append("|".join([corner, *map(str, range(1, 13))]))
    lines += ["|".join([row, *(fill.get(f"{row}{n}", first) for n in range(1, 13))]) for row in "ABCDEFGH"]
    return "\n".join(lines)


def test_a_plate_that_is_drawn_is_read_well_by_well():
    table = read(grid(), layouts=plates("R3-P1"))
    assert values(table) == [("AP-0001", "=", 10), ("AP-0012", ">", 500)]
    assert [(r.row, r.column, r.reason) for r in table.rejected] == [(4, "Value, well C3", "'ERR' is not a number")]
    assert table.warnings == (
        "A plate is drawn (A1 to H12); 4 wells hold something, and each is a row.",
        "Wells where nothing stands were left out: D4.",
    )


def test_stacked_plates_are_separated_by_their_titles():
    text = grid(title="Plate: R3-P2") + "\n|\n" + grid(title="Plate|R3-P1", fill={"A1": "3"})
    table = read(text, layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate, r.value) for r in table.results] == [
        ("AP-0001", "R3-P2", 10), ("AP-0012", "R3-P2", 500), ("AP-0001", "R3-P1", 3),
    ]  # fmt: skip
    named = read(grid(corner="R3-P1", fill={"A1": "3"}), layouts=plates("R3-P1", "R3-P2"))
    assert [(r.compound, r.plate) for r in named.results] == [("AP-0001", "R3-P1")]
    assert "the wells do not say of which plate they are" in refusal(grid(), layouts=plates("R3-P1", "R3-P2"))


def test_controls_on_a_plate_are_read_where_the_campaign_knows_them():
    layouts = plates("R3-P1", controls=(Standing("REF", (12,)), Standing("max", (11,))))
    fill = {"A1": "10"} | {f"{row}{n}": "5" for row in "ABCDEFGH" for n in (11, 12)}
    known = read(grid(fill=fill), layouts=layouts, controls=(Control("REF"),))
    assert [r.compound for r in known.results].count("REF") == 8
    assert "Wells of controls were left out: max." in known.warnings
    assert len(read(grid(fill=fill), layouts=layouts).results) == 1


VAULT = Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-001", "CPD-002", "CPD-003"])
KINASE = Endpoint("IC50", "nM", "log", noise_sd=0.2)
P_KINASE = Endpoint("pIC50", noise_sd=0.2)

CDD = """
"Molecule Name","Batch Name","Synonyms","Run Date","Person","KinA: IC50 (uM)","KinA: IC50 (uM) +/-","KinA: Hill Slope"
"CPD-001","CPD-001-001","","2026-03-04","KL","0.035","0.004","1.1"
"CPD-002","CPD-002-001","","2026-03-04","KL",">10","",""
"CPD-003","CPD-003-002","","2026-03-05","KL","1.2","0.1","0.9"
"""
CDD_WITH_MODIFIERS = """
"CDD Number","Molecule Name","Batch Name","Run Date","Kinase A IC50 Modifier","Kinase A IC50 (uM)"
"CDD-12","CPD-001","CPD-001-001","2026-03-04","=","0.035"
"CDD-13","CPD-002","CPD-002-001","2026-03-04",">","10"
"CDD-14","CPD-003","CPD-003-002","2026-03-05","=","1.2"
"""
DOTMATICS = """
FORMATTED_ID,BATCH,EXPERIMENT_ID,PROTOCOL,ANALYSIS_NAME,RESULT_TYPE,OPERATOR,RESULT_VALUE,UNITS,EXPERIMENT_DATE,VALIDATED
CPD-001,1,EXP-77,Kinase A,Kinase A IC50,IC50,=,35,nM,2026-03-04,VALIDATED
CPD-002,1,EXP-77,Kinase A,Kinase A IC50,IC50,>,10000,nM,2026-03-04,VALIDATED
CPD-003,2,EXP-77,Kinase A,Kinase A IC50,IC50,=,1200,nM,2026-03-05,INVALIDATED
"""
BENCHLING = """
Entity,Run,Assay,Result Type,Operator,Value,Unit,Created At,Creator
CPD-001,RUN12,Kinase A,IC50,=,35,nM,2026-03-04T10:11:12Z,kl
CPD-002,RUN12,Kinase A,IC50,>,10000,nM,2026-03-04T10:11:12Z,kl
CPD-003,RUN12,Kinase A,IC50,=,1200,nM,2026-03-05T10:11:12Z,kl
"""
RECORD = "{0}\n  x\n\n  0  0  0  0  0  0  0  0  0  0999 V2000\nM  END\n> <ID>\n{0}\n\n> <IC50 (nM)>\n{1}\n\n$$$$\n"
SDF = "".join(RECORD.format(*one) for one in (("CPD-001", "35"), ("CPD-002", ">10000"), ("CPD-003", "1200")))
FILES = {
    "cdd.csv": CDD,
    "cdd_modifiers.csv": CDD_WITH_MODIFIERS,
    "dotmatics.csv": DOTMATICS,
    "benchling.csv": BENCHLING,
    "results.sdf": SDF,
}


@pytest.fixture(params=sorted(FILES))
def exported(request, tmp_path):
    path = tmp_path / request.param
    path.write_text(FILES[request.param].lstrip("\n"), encoding="utf-8")
    return path


@pytest.mark.parametrize("endpoint", [KINASE, P_KINASE], ids=lambda one: one.name)
def test_exported_results_are_read_with_bounds_and_units(exported, endpoint):
    found = read_results(read_table(exported), VAULT, [endpoint])
    assert found.rejected == ()
    values = [endpoint.to_model(one.value, one.unit) for one in found.results]
    assert values == pytest.approx([7.455932, 5.0, 5.920819], abs=1e-6)
    assert [endpoint.relation_on_model(one.relation) for one in found.results] == ["=", "<", "="]
    assert [one.compound for one in found.results] == list(VAULT.ids)


def series(*ids: str, header: str = "ID"):
    rows = "".join(f"{name},S{k % 2},T{k // 2},{6 + k / 10}\n" for k, name in enumerate(ids))
    raw = parse_text(f"{header},R1,R2,pIC50\n{rows}")
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("sent", "counts_for"),
    [
        ("1", "000001"),
        ("1.0", "000001"),
        ("000002", "000002"),
        ("0002", "000002"),
        ("3", None),
        ("1.5", None),
        ("-1", None),
    ],
)
def test_a_number_that_lost_its_zeros_is_still_its_compound(sent, counts_for):
    known = series("000001", "000002", "000004", "000005")
    results = read_results(parse_text(f"ID,pIC50\n{sent},7.1\n"), known.library, known.endpoints)
    assert [r.compound for r in results.results] == ([] if counts_for is None else [counts_for])
    assert len(results.rejected) == (counts_for is None)
    if counts_for is not None and sent != counts_for:
        assert results.warnings == (f"Row 2: {sent} is another id of {counts_for}, for which it counts.",)


def read_as_one(header: str, *rows: str, endpoint: str | None = None):
    raw = parse_text("\n".join([header, *rows]) + "\n")
    options = TableOptions(endpoints=() if endpoint is None else (parse_endpoint_spec(endpoint),))
    mapping = propose(raw, options)
    return mapping, import_table(raw, mapping)


RUNS = ("ID,R1,IC50 run 1 (nM),IC50 run 2 (nM),n", "a,Me,10,12,2", "b,H,300,,1", "c,Et,>10000,9000,2")


def test_runs_are_measurements_of_one_endpoint():
    mapping, read = read_as_one(*RUNS)
    assert [one.name for one in read.endpoints] == ["IC50 (nM)"]
    assert read.endpoints[0].scale_name == "pIC50"
    found = [(r.compound, r.value, r.relation, r.n) for r in read.history]
    # n is of the mean that is not there: it counts no run twice.
    assert found == [("a", 10.0, "=", 1), ("a", 12.0, "=", 1), ("b", 300.0, "=", 1), ("c", 10000.0, ">", 1),
                     ("c", 9000.0, "=", 1)]  # fmt: skip
    assert any("IC50 run 1 (nM), IC50 run 2 (nM) are its runs" in note for note in mapping.notes)
    assert TableMapping.from_json(mapping.as_json()) == mapping
    assert {"IC50 run 1 (nM)", "IC50 run 2 (nM)"} <= set(mapping.columns())


def test_results_have_a_column_for_each_run():
    _, read = read_as_one(*RUNS)
    raw = parse_text("ID,IC50 run 1 (uM),IC50 run 2 (uM)\na,0.01,0.012\nb,>10,\n")
    results = read_results(raw, read.library, read.endpoints).results
    assert [(r.compound, r.value, r.relation, r.unit, r.replicate) for r in results] == [
        ("a", 0.01, "=", "µM", "1"),
        ("a", 0.012, "=", "µM", "2"),
        ("b", 10.0, ">", "µM", "1"),
    ]
