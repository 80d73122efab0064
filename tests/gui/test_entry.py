"""Typed results: every form a chemist uses, what is asked back, and what is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.tables.entries import is_empty
from assaypilot.gui.round.entry import Entry, Question, parse_cells, parse_entry, parts_of, result_of

P = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50", "nM", "log", noise_sd=0.2)
ACTIVITY = Endpoint("Activity", kind="yes-no", words=("active", "inactive"))


def typed(text, endpoint):
    """The values of a text in a cell of a round."""
    return [parse_entry(part, endpoint) for part in parts_of(text) if not is_empty(endpoint, part)]


@pytest.mark.parametrize(
    ("text", "endpoint", "expected"),
    [
        ("7.62", P, [(7.62, "=", None, 1, None)]),
        ("7,62", P, [(7.62, "=", None, 1, None)]),
        ("7.62; 7.58", P, [(7.62, "=", None, 1, None), (7.58, "=", None, 1, None)]),
        ("<5", P, [(5.0, "<", None, 1, None)]),
        (">10000 nM", P, [(5.0, "<", None, 1, None)]),  # a weak potency is a small pIC50
        (">10000 nM", IC50, [(10000.0, ">", "nM", 1, None)]),
        ("12 uM", IC50, [(12.0, "=", "µM", 1, None)]),
        ("7.6 (n=3, sd=0.2)", P, [(7.6, "=", None, 3, 0.2)]),
        ("7.6 (n = 3)", P, [(7.6, "=", None, 3, None)]),
        ("n.d.", P, []),
        ("", P, []),
        ("Active; inactive", ACTIVITY, [(1.0, "=", None, 1, None), (0.0, "=", None, 1, None)]),
        ("3/4", ACTIVITY, [(0.75, "=", None, 4, None)]),
        ("active (n=3)", ACTIVITY, [(1.0, "=", None, 3, None)]),
        ("-", ACTIVITY, []),
        (
            "-; +",
            Endpoint("Hit", kind="yes-no", words=("+", "-")),
            [(0.0, "=", None, 1, None), (1.0, "=", None, 1, None)],
        ),
        ("12", Endpoint("Colonies", kind="count"), [(12.0, "=", None, 1, None)]),
    ],
)
def test_every_form_of_entry_is_parsed(text, endpoint, expected):
    found = typed(text, endpoint)
    assert [(e.value, e.relation, e.unit, e.n, e.sd) for e in found] == expected


@pytest.mark.parametrize("text", ["maybe", "1.5", ">0.5", "2/1"])
def test_entry_that_is_no_yes_or_no_is_refused(text):
    with pytest.raises(ValueError, match=r"active nor inactive|a bound"):
        parse_entry(text, ACTIVITY)


def test_an_answer_is_shown_as_its_word():
    assert parse_entry("1", ACTIVITY).shown(ACTIVITY) == "active"
    assert result_of(parse_entry("no", ACTIVITY), "X", ACTIVITY).comment == "typed as no"


def test_concentration_is_converted_as_the_engine_does():
    entry = parse_entry("35 nM", P)
    assert entry.value == pytest.approx(7.4559, abs=1e-4)
    assert entry.shown(P) == "7.46"
    result = result_of(entry, "X", P)
    assert result.comment == "typed as 35 nM"
    assert result.unit is None


def test_a_pasted_cell_holds_one_value_as_in_a_table():
    assert [e.value for e in parse_cells(["7.62", "", "n.d.", "7.58 (n=2)"], P)] == [7.62, 7.58]
    for cell in ("7.62; 7.58", "7.62 / 7.58", "7.62\n7.58"):
        with pytest.raises(ValueError, match="holds several values; give each a row of its own"):
            parse_cells([cell], P)


def test_sd_of_a_concentration_is_not_taken_for_that_of_its_logarithm():
    entry = parse_entry("35 nM (n=2, sd=4)", P)
    assert (entry.n, entry.sd) == (2, None)
    assert result_of(entry, "X", P).comment == "typed as 35 nM (n=2, sd=4)"
    spread = parse_entry("7.6 ± 0.2", P)
    assert (spread.value, spread.sd) == (7.6, None)
    assert result_of(spread, "X", P).comment == "typed as 7.6 ± 0.2"


def test_a_bare_concentration_is_asked_about():
    with pytest.raises(Question, match=r"35 is no pIC50\. 35 nM\?") as question:
        parse_entry("35", P)
    assert question.value.suggestion == "35 nM"
    assert parse_entry(question.value.suggestion, P).value == pytest.approx(7.4559, abs=1e-4)
    assert parse_entry("35", IC50).value == 35.0


@pytest.mark.parametrize(
    ("text", "endpoint", "reason"),
    [
        ("oops", P, "not a number"),
        ("7.6 (m=3)", P, "a mean is written"),
        ("7.6 (n=3, sd=-1)", P, "cannot be negative"),
        ("0", IC50, "no logarithm"),
        ("-3", IC50, "no logarithm"),
        ("7 kg", P, "cannot be converted"),
        ("nan", P, "not a finite number"),
        ("1e999", P, "not a finite number"),
    ],
)
def test_refused_entry_says_why(text, endpoint, reason):
    with pytest.raises(ValueError, match=reason):
        typed(text, endpoint)


@given(value=st.floats(3.0, 11.0).map(lambda x: round(x, 2)), n=st.integers(1, 9))
def test_shown_entry_reads_back_as_the_same(value, n):
    entry = Entry(value, "=", None, n, None, "")
    again = parse_entry(entry.shown(P), P)
    assert (again.value, again.n) == (value, n)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_reason(text):
    reason = "read"
    try:
        typed(text, P)
    except ValueError as error:
        reason = str(error)
    assert reason


def test_full_width_signs_are_read_and_a_trailing_sign_is_explained():
    for text in ("＞５；７．３", "＞５; ７．３"):
        assert [(one.value, one.relation) for one in typed(text, P)] == [(5.0, ">"), (7.3, "=")]
    with pytest.raises(ValueError, match="write >5 for more than 5, or <5 for less"):
        parse_entry("5>", P)
