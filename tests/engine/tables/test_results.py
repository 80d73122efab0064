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


@pytest.mark.parametrize("header", ["IC50 (mg/mL)", "IC50 (nM)|IC50 (uM)", "EC50 (nM)", "IC50 SD"])
def test_a_column_that_may_be_something_else_is_not_taken_for_the_endpoint(header):
    named = Endpoint("IC50", "nM", "log") if "|" in header else IC50
    if "|" in header:
        assert read(f"ID|{header}\nCPD-1|5|6", named).results[0].value == 5, "the endpoint's own unit"
        assert "there is no column Value" in refusal("ID|IC50 (pM)|IC50 (uM)\nCPD-1|5|6", named)
    else:
        assert "there is no column Value and none called IC50 (nM)" in refusal(f"ID|{header}\nCPD-1|5", named)
    assert "there is no column Value and none called pIC50" in refusal("ID|IC50\nCPD-1|5")


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
