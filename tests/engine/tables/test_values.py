import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.labels import label_text
from assaypilot.engine.tables.entries import Unreadable, doubt, read_entry
from assaypilot.engine.tables.values import Value, is_missing, parse_number, parse_relation, parse_value


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([".", ","]))
def test_a_number_is_read_as_it_was_written(number, decimal):
    text = format(number, ".6f") + "1"  # seven decimals: never in doubt with a thousands mark
    assert parse_number(text.replace(".", decimal), decimal) == float(text)


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
    [
        ("1,234,567", ".", 1234567),
        ("12,345.6", ".", 12345.6),
        ("12.345,6", ",", 12345.6),
        ("1 234,5", ",", 1234.5),
        ("0,123", ".", 0.123),
        ("6.12", ",", 6.12),
        ("1,234", ",", 1.234),
        (".5", ".", 0.5),
        ("1,5e3", ",", 1500),
        ("26.000000000000000000000000000000", ".", 26),
    ],
)
def test_marks_of_decimals_and_thousands(text, decimal, value):
    assert parse_number(text, decimal) == value


@pytest.mark.parametrize(("text", "decimal"), [("1,234", "."), ("1.234", ",")])
def test_what_can_be_read_in_two_ways_is_not_guessed(text, decimal):
    with pytest.raises(ValueError, match="can be read in two ways; write it without a thousands mark"):
        parse_number(text, decimal)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("＞５", Value(5.0, ">")),
        ("＜＝１０．５", Value(10.5, "<")),
        ("≧10　nM", Value(10.0, ">", "nM")),
        ("≦3", Value(3.0, "<")),
        ("－２", Value(-2.0)),
        ("１,５", Value(1.5)),
    ],
)
def test_full_width_signs_are_ordinary_ones(text, value):
    assert parse_value(text, "," if "," in text else ".") == value
    assert parse_relation("＞＝") == ">"
    assert parse_number("３．５") == 3.5
    assert is_missing("Ｎ／Ａ")
    assert is_missing("－")


@pytest.mark.parametrize(
    ("text", "write"),
    [
        ("5>", "write >5 for more than 5, or <5 for less"),
        ("10000 <=", "write >10000 for more than 10000, or <10000 for less"),
        ("5 nM>", "write >5 nM for more than 5 nM, or <5 nM for less"),
        ("0.3> uM", "write >0.3 uM for more than 0.3 uM"),
        ("5＞", "write >5 for more than 5"),
    ],
)
def test_a_sign_behind_its_number_is_refused_with_what_to_write(text, write):
    with pytest.raises(ValueError, match="has its sign behind the number") as caught:
        parse_value(text)
    assert write in str(caught.value)


@pytest.mark.parametrize(
    "text", ["abc", "1_0", "1.2.3", "1,2,3", "--5", "0x10", "5 5", "", "<", "1e", "1A", "3Me", "5m"]
)
def test_text_is_no_number(text):
    with pytest.raises(ValueError, match="is not a number"):
        parse_value(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.036; 0.012", "holds several values; give each a row of its own"),
        ("5 nM / 7 nM", "holds several values"),
        ("0.5, 0.7", "holds several values"),
        ("1.2 and 1.4", "holds several values"),
        ("7,5\n7,7", "holds several values"),
        ("25-80%", "is a range"),
        ("25-80% at 80 uM", "is a range"),
        ("5 to 7 nM", "is a range"),
        ("1.5–2.5", "is a range"),
        ("~5", "is only about a value"),
        ("ca. 30 nM", "is only about a value"),
        ("≈0.4", "is only about a value"),
        ("7.6 (3) (4)", "holds more than a value; give N and SD columns of their own"),
        ("7.6 (m=3)", "holds more than a value"),
        ("7.6 (n=0)", "holds more than a value"),
        ("7.6 (n=3", "holds more than a value"),
        ("7.6 ± ", "holds more than a value"),
        ("7.6 ± 0.1 ± 0.2", "holds more than a value"),
        ("#DIV/0!", r"the formula in this cell failed \(#DIV/0!\)"),
        ("#VALUE!", "the formula in this cell failed"),
        ("2024-01-02", "is a date; a spreadsheet may have made it of a number"),
        ("inactive", "is not a number"),
        ("no binding", "is not a number"),
        ("*7.5", "is not a number"),
        ("7.5#", "is not a number"),
        ("5.1.7", "is not a number"),
    ],
)
def test_what_labs_write_instead_of_one_value_says_what_it_is(text, why):
    with pytest.raises(ValueError, match=why):
        parse_value(text)


@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-Infinity", "1e400"])
def test_nan_and_infinities_are_no_values(text):
    with pytest.raises(ValueError, match="is not a finite number"):
        parse_value(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (">10000", Value(10000, ">")),
        ("< 5", Value(5, "<")),
        (">= 3.5 µM", Value(3.5, ">", "µM")),
        ("≤2", Value(2, "<")),
        ("=7", Value(7)),
        ("35 nM", Value(35, "=", "nM")),
        ("35nM", Value(35, "=", "nM")),
        ("12 %", Value(12, "=", "%")),
        ("-5", Value(-5)),
    ],
)
def test_relation_and_unit_inside_the_cell(text, value):
    assert parse_value(text) == value


@pytest.mark.parametrize("text", ["", "NA", "n/a", "ND", "n.d.", "-", "Pending", " – "])
def test_missing_words_are_missing(text):
    assert is_missing(text)
    assert read_entry(Endpoint("x"), text) is None


@pytest.mark.parametrize("text", ["0", "none?", "H", "n"])
def test_other_words_are_not(text):
    assert not is_missing(text)


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


@pytest.mark.parametrize(
    ("text", "value", "unit", "n", "sd", "rest"),
    [
        ("7.2 ± 0.1", 7.2, None, None, None, "± 0.1"),
        ("35 ± 4 nM", 35.0, "nM", None, None, "± 4 nM"),
        ("35 nM +/- 4 nM", 35.0, "nM", None, None, "+/- 4 nM"),
        ("7.2 (n=3)", 7.2, None, 3, None, ""),
        ("7.2; n = 3", 7.2, None, 3, None, ""),
        ("7.2 (n=3, SD=0.1)", 7.2, None, 3, 0.1, ""),
        ("10 nM [sd 2; n 4]", 10.0, "nM", 4, 2.0, ""),
        ("7.2 ± 0.1 (n=3)", 7.2, None, 3, None, "± 0.1"),
        ("7.2 **", 7.2, None, None, None, "**"),
        ("7.2†", 7.2, None, None, None, "†"),
    ],
)
def test_what_stands_behind_a_value_is_used_when_it_says_what_it_is(text, value, unit, n, sd, rest):
    found = parse_value(text)
    assert (found.value, found.relation, found.unit, found.n, found.sd, found.rest) == (value, "=", unit, n, sd, rest)
    # With decimal commas it is the same.
    assert parse_value(text.replace(".", ","), ",").value == value


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


@pytest.mark.parametrize(
    ("text", "value", "unit", "rest"),
    [
        ("7.6 (3)", 7.6, None, "(3)"),
        ("132.9 nM (3.0)", 132.9, "nM", "(3.0)"),
        ("1.2 × 10-6", 1.2e-6, None, ""),
        ("1.2x10^-6 M", 1.2e-6, "M", ""),
        ("<3,5·10⁻⁹", 3.5e-9, None, ""),
        ("2 x 10 5", 2e5, None, ""),
    ],
)
def test_a_number_in_parentheses_and_powers_of_ten(text, value, unit, rest):
    found = parse_value(text, "," if "," in text else ".")
    assert (found.value, found.unit, found.rest) == (pytest.approx(value), unit, rest)


@pytest.mark.parametrize("text", ["2x10-6.5", "x 10-6", "7 (1 µM)"])
def test_what_looks_like_a_power_and_is_none(text):
    with pytest.raises(ValueError, match=r"number|value"):
        parse_value(text)
