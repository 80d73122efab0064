import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.csv_file import write_csv
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.results import read_results

LIBRARY = Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-1", "CPD-2", "-3"])
PIC50 = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2)
YIELD = Endpoint("yield", "%")


def read(text, *endpoints):
    raw = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return read_results(raw, LIBRARY, endpoints or (PIC50,))


def rejected(table):
    return [(r.row, r.column, r.reason) for r in table.rejected]


def refusal(text, *endpoints):
    with pytest.raises(AssayPilotError) as caught:
        read(text, *endpoints)
    return str(caught.value)


def test_one_row_per_measurement_with_everything():
    table = read(
        "compound|ENDPOINT|value|Qualifier|Units|Replicate|n|sd|Date|Plate|Well|Batch|Comments|Excluded\n"
        "cpd-1|ic50|> 10|=|uM|1|3|0.5|2024-05-06|P1|A01|B7|fine|\nCPD-2|IC50 (nM)|35|<|||||||||| yes",
        IC50,
        YIELD,
    )
    first, second = table.results
    assert (first.compound, first.endpoint, first.value, first.relation, first.unit) == (
        "CPD-1", "IC50 (nM)", 10, ">", "uM",
    )  # fmt: skip
    assert (first.replicate, first.n, first.sd, first.date, first.plate, first.well, first.batch, first.comment) == (
        "1", 3, 0.5, "2024-05-06", "P1", "A01", "B7", "fine",
    )  # fmt: skip
    assert (second.relation, second.unit, second.excluded, second.row) == ("<", None, True, 3)
    assert table.rejected == ()


def test_the_round_of_a_work_list():
    table = read("ID|Round|Value\nCPD-1|3|6\nCPD-1|3.0|6\nCPD-1|Round 3|6\nCPD-1||6\nCPD-1|spring|6\nCPD-1|0|6")
    assert [result.round for result in table.results] == [3, 3, 3, None, None, None]
    assert table.rejected == ()
    assert read("ID|Value\nCPD-1|6").results[0].round is None


def test_one_column_per_endpoint():
    table = read("ID|IC50|Yield|IC50 SD\nCPD-1|12,5|80|1,5\nCPD-2|PENDING|>90|\nCPD-2|NA||", IC50, YIELD)
    assert [(r.compound, r.endpoint, r.value, r.relation, r.sd) for r in table.results] == [
        ("CPD-1", "IC50 (nM)", 12.5, "=", 1.5),
        ("CPD-1", "yield", 80, "=", None),
        ("CPD-2", "yield", 90, ">", None),
    ]
    assert table.pending == 3


@pytest.mark.parametrize(
    ("header", "unit"),
    [
        ("IC50 (uM)", "µM"), ("IC50 [µM]", "µM"),
        ("Mean IC50 (nM)", None), ("IC50 (nM) mean", None), ("Value (uM)", "µM"),
        ("Result [nM]", None), ("IC50", None),
    ],
)  # fmt: skip
def test_a_column_is_known_in_the_labs_words_and_its_unit_is_that_of_its_values(header, unit):
    table = read(f"ID|{header}|SD|N|Qualifier\nCPD-1|5|0.1|3|\nCPD-2|> 20|||", IC50)
    assert [(r.value, r.relation, r.n, r.sd) for r in table.results] == [(5, "=", 3, 0.1), (20, ">", 1, None)]
    for result in table.results:
        of_nanomolar = IC50.to_model(result.value, result.unit)
        assert of_nanomolar == pytest.approx(IC50.to_model(result.value, unit))
    # A unit beside the value goes before that of the header.
    (own,) = read(f"ID|{header}|Units\nCPD-1|5|pM", IC50).results
    assert IC50.to_model(own.value, own.unit) == pytest.approx(IC50.to_model(5, "pM"))


def test_logarithms_in_a_column_of_concentrations_are_asked_about():
    (asked,) = read("ID|Value\nCPD-1|6.3\nCPD-2|7.1\n-3|5.8", IC50).warnings
    assert (
        asked == "All 3 values of IC50 (nM) lie between 5.8 and 7.1: are they pIC50 and not nM? They were taken as nM."
    )
    for text in ("CPD-1|6.3\nCPD-2|7.1\n-3|58", "CPD-1|6.3\nCPD-1|7.1\n-3|5.8", "CPD-1|6.3 uM\nCPD-2|7.1\n-3|5.8"):
        assert read(f"ID|Value\n{text}", IC50).warnings == ()
    assert read("ID|Value\nCPD-1|6.3\nCPD-2|7.1\n-3|5.8", PIC50).warnings == ()


def test_concentrations_are_known_as_those_of_their_logarithm():
    table = read("ID|IC50 (nM)\nCPD-1|100\nCPD-2|>1000")
    assert [(r.value, r.relation, r.comment) for r in table.results] == [
        (pytest.approx(7.0), "=", "entered as 100 nM"),
        (pytest.approx(6.0), "<", "entered as >1000 nM"),
    ]


@pytest.mark.parametrize("header", ["IC50 (mg/mL)", "IC50 (nM)|IC50 (uM)", "EC50 (nM)", "IC50 SD"])
def test_a_column_that_may_be_something_else_is_not_taken_for_the_endpoint(header):
    named = Endpoint("IC50", "nM", "log") if "|" in header else IC50
    if "|" in header:
        assert read(f"ID|{header}\nCPD-1|5|6", named).results[0].value == 5, "the endpoint's own unit"
        assert "there is no column Value" in refusal("ID|IC50 (pM)|IC50 (uM)\nCPD-1|5|6", named)
    else:
        assert "there is no column Value and none called IC50 (nM)" in refusal(f"ID|{header}\nCPD-1|5", named)
    assert "there is no column Value and none called pIC50" in refusal("ID|IC50\nCPD-1|5")


def test_what_cannot_be_recorded_is_listed_with_its_reason():
    table = read(
        "ID|Endpoint|Value|N\nCPD-9|pIC50|7|\nCPD-1|pIC50|high|\nCPD-1|pIC50|inf|\nCPD-1|pIC50|7|0\n"
        "CPD-1|logP|7|\n|pIC50|7|\nCPD-1|pIC50||\nCPD-1|pIC50|0 nM|\nCPD-1||6.5|"
    )
    assert rejected(table) == [
        (2, "ID", "'CPD-9' is no compound of this campaign"),
        (3, "Value", "'high' is not a number"),
        (4, "Value", "'inf' is not a finite number"),
        (5, "N", "n must be a whole number of 1 or more, got '0'"),
        (6, "Endpoint", "'logP' is no endpoint of this campaign (pIC50)"),
        (7, "ID", "the id is missing"),
        (9, "Value", "0 has no logarithm: is it below the limit of quantitation? Then write < and that limit"),
    ]
    # With one endpoint its name may be left out.
    assert [(r.row, r.value) for r in table.results] == [(10, 6.5)]
    assert table.pending == 1


def test_a_bare_number_is_asked_about_and_a_unit_answers():
    table = read("ID|Value\nCPD-1|35\nCPD-2|35 nM")
    assert table.warnings == ('Row 2, CPD-1: 35 is unusual for pIC50: "35 nM"?',)
    assert [r.value for r in table.results] == [35, pytest.approx(7.4559, abs=1e-4)]


def test_our_own_guard_is_removed_from_ids():
    assert read("ID|pIC50\n'-3|7").results[0].compound == "-3"


def test_ids_are_recognised_without_their_header():
    assert read("what|pIC50\nCPD-1|7").results[0].compound == "CPD-1"


def test_tables_that_are_no_results_are_refused_in_one_line():
    assert refusal("x|pIC50\nfoo|7") == (
        "there is no column of compound ids; the columns are x, pIC50. Call the column of compound ids ID."
    )
    assert refusal("ID|EC50\nCPD-1|7") == (
        "there is no column Value and none called pIC50; the columns are ID, EC50. "
        "Give columns ID, Endpoint and Value, or one column per endpoint."
    )
    assert refusal("ID|Value\nCPD-1|7", IC50, YIELD) == (
        "the results do not say which endpoint they are of. Add a column Endpoint with IC50 (nM), yield."
    )


def test_a_plain_ic50_is_that_of_the_only_endpoint_and_said():
    kin7 = Endpoint("KIN7 biochemical IC50", "nM", "log", noise_sd=0.2)
    table = read("Compound ID|IC50 (uM)|Remarks\nCPD-1|1,5|weak", kin7)
    assert [(one.value, one.unit, one.comment) for one in table.results] == [(1.5, "µM", "weak")]
    assert table.warnings == (
        "Column IC50 (uM) was taken for KIN7 biochemical IC50, the only endpoint of the campaign.",
    )
    # Nobody knows whose it is where there are two, nor whether another target's is meant.
    assert "there is no column Value" in refusal("ID|IC50 (nM)|hERG IC50 (nM)\nCPD-1|1|2", kin7)
    assert "there is no column Value" in refusal("ID|hERG IC50 (nM)\nCPD-1|2", kin7)
    assert "there is no column Value" in refusal("ID|Ki (nM)\nCPD-1|2", kin7)


def test_columns_of_no_endpoint_are_said():
    assert read("ID|pIC50|EC50 (nM)\nCPD-1|7|5").warnings == (
        "Not used, because they are no endpoint of this campaign: EC50 (nM).",
    )


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(LIBRARY.ids), st.floats(1e-3, 1e6), st.sampled_from(["=", "<", ">"])),
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
    table = read_results(read_table(path), LIBRARY, (Endpoint("dose", "mg"),))
    # A number with three decimals in a table of decimal commas may be a thousand: such a table says so, or reads it.
    unclear = {r.row for r in table.rejected if "two ways" in r.reason}
    assert len(unclear) == len(table.rejected)
    expected = [entry for row, entry in enumerate(entries, start=2) if row not in unclear]
    assert [(r.compound, r.value, r.relation) for r in table.results] == expected


def test_a_column_in_a_unit_that_is_no_other_spelling_of_the_endpoints_is_named():
    endpoints = (Endpoint("pIC50"), Endpoint("Solubility (uM)", "uM"))
    raw = parse_text(f"ID,pIC50,Solubility (mg/mL)\n{LIBRARY.ids[0]},6.1,0.3\n")
    read = read_results(raw, LIBRARY, endpoints)
    assert [(r.endpoint, r.value) for r in read.results] == [("pIC50", 6.1)]
    assert read.warnings == ("Not used, because their unit is not that of the endpoint: Solubility (mg/mL).",)
