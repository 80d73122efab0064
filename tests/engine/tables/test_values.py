import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.labels import label_text
from assaypilot.engine.tables.entries import Unreadable, doubt, read_entry
from assaypilot.engine.tables.values import parse_number, parse_relation


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([".", ","]))
def test_a_number_is_read_as_it_was_written(number, decimal):
    text = format(number, ".6f") + "1"  # seven decimals: never in doubt with a thousands mark
    assert parse_number(text.replace(".", decimal), decimal) == float(text)


def test_relations_of_their_own_column():
    assert [parse_relation(text) for text in ["", "=", ">", ">=", "<=", "'<'"]] == ["=", "=", ">", ">", "<", "<"]
    with pytest.raises(ValueError, match="'about' is no relation"):
        parse_relation("about")


@pytest.mark.parametrize("own", ["uM", "nM", "pM"])
@pytest.mark.parametrize("name", ["IC50 (nM)", "IC50 (uM)", "IC50"])
@pytest.mark.parametrize("row", ["nM", "uM", "µM", "mM", ""])
def test_the_row_says_the_unit_then_the_endpoint_and_the_header_last(name, own, row):
    size = {"pM": 1e-12, "nM": 1e-9, "uM": 1e-6, "µM": 1e-6, "mM": 1e-3}
    endpoint = Endpoint(name, own, "log")
    entry = read_entry(endpoint, "10", unit=row)
    assert endpoint.to_model(entry.value, entry.unit) == pytest.approx(-math.log10(10 * size[row or own]))


def test_a_unit_only_the_header_names_is_the_unit_of_its_values():
    assert read_entry(Endpoint("yield (%)"), "80", unit="%").unit is None
    with pytest.raises(Unreadable, match="cannot be converted"):
        read_entry(Endpoint("clearance (mL/min)", "L/h"), "80", unit="mL/min")


def test_an_entry_keeps_its_unit_and_the_cell_goes_before_the_row():
    ic50 = Endpoint("IC50 (nM)", "nM", "log")
    assert read_entry(ic50, "3.5", unit="uM").unit == "uM"
    entry = read_entry(ic50, "> 3.5 µM", unit="nM", relation="<", n="3", sd="0.5")
    assert (entry.value, entry.relation, entry.unit, entry.n, entry.sd) == (3.5, ">", "µM", 3, 0.5)
    assert ic50.relation_on_model(entry.relation) == "<"
    assert ic50.to_model(entry.value, entry.unit) == pytest.approx(5.4559, abs=1e-4)


def test_a_concentration_in_a_p_scale_cell_is_converted_and_noted():
    entry = read_entry(Endpoint("pIC50"), ">35 nM")
    assert (entry.value, entry.relation, entry.note) == (pytest.approx(7.4559, abs=1e-4), "<", "entered as >35 nM")


@pytest.mark.parametrize(
    ("cells", "reason", "part"),
    [
        (
            {"text": "0"},
            "0 has no logarithm: is it below the limit of quantitation? Then write < and that limit",
            "value",
        ),
        ({"text": "abc"}, "'abc' is not a number", "value"),
        ({"text": "5 g"}, "unit g cannot be converted to nM", "value"),
        ({"text": "5%"}, "unit % cannot be converted to nM", "value"),
        ({"text": "5", "unit": "g"}, "unit g cannot be converted to nM", "unit"),
        ({"text": "5", "n": "0"}, "n must be a whole number of 1 or more, got '0'", "n"),
        ({"text": "5", "n": "1.5"}, "n must be a whole number of 1 or more, got '1.5'", "n"),
        ({"text": "5", "n": "two"}, "n: 'two' is not a number", "n"),
        ({"text": "5", "sd": "-1"}, "SD must not be negative, got '-1'", "sd"),
        ({"text": "5", "relation": "?"}, "'?' is no relation (=, <, >, <= or >=)", "relation"),
    ],
)
def test_unreadable_entries_say_why(cells, reason, part):
    with pytest.raises(Unreadable) as caught:
        read_entry(Endpoint("IC50", "nM", "log"), **cells)
    assert (caught.value.reason, caught.value.part) == (reason, part)


def test_an_unlikely_bare_number_is_asked_about():
    pic50 = Endpoint("pIC50")
    assert doubt(pic50, read_entry(pic50, "35")) == '35 is unusual for pIC50: "35 nM"?'
    assert doubt(pic50, read_entry(pic50, "7.2")) is None
    assert doubt(pic50, read_entry(pic50, "35 nM")) is None
    assert doubt(Endpoint("yield"), read_entry(Endpoint("yield"), "35")) is None


def test_a_labs_sd_on_the_model_scale():
    assert Endpoint("pIC50").sd_to_model(7.0, 0.2) == 0.2
    # 10 % of an IC50 is 0.043 log units, whichever IC50 it is.
    assert Endpoint("IC50", "nM", "log").sd_to_model(50.0, 5.0) == pytest.approx(0.0434, abs=1e-4)
    assert Endpoint("IC50", "nM", "log").sd_to_model(50.0, None) is None


@pytest.mark.parametrize("label", ["H", "[H]", "[H][*:1]", "[H]*", "*[H]", "[*:2][H]", "[H]-[*:12]", "[1*][H]"])
def test_hydrogen_is_shown_as_h(label):
    assert label_text(label) == "H"


@pytest.mark.parametrize("label", ["Me", "C[*:1]", "HO", "[2H][*:1]", "OH", "h"])
def test_other_labels_are_shown_as_they_are(label):
    assert label_text(label) == label


def test_what_is_not_used_stays_beside_the_value_and_a_concentration_s_sd_is_none_of_its_logarithm():
    p = Endpoint("pIC50")
    entry = read_entry(p, "7.2 ± 0.1")
    assert (entry.value, entry.n, entry.sd, entry.note) == (7.2, 1, None, "entered as 7.2 ± 0.1")
    assert doubt(p, read_entry(p, "35*")) == '35 is unusual for pIC50: "35 nM"?'
    for cells in ({"text": "35 nM (n=2, sd=4)"}, {"text": "35 nM (n=2)", "sd": "4"}):
        entry = read_entry(p, **cells)
        assert entry.value == pytest.approx(7.456, abs=1e-3)
        assert (entry.n, entry.sd) == (2, None)
        assert entry.note == f"entered as {cells['text']}; its SD (4) is not used"
    # What the cell says goes before what its row says.
    assert read_entry(Endpoint("IC50", "nM", "log"), "35 (n=2)", n="5").n == 2
