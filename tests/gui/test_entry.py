"""Typed results: every form a chemist uses, what is asked back, and what is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.tables.entries import is_empty
from assaypilot.engine.tables.values import Value
from assaypilot.gui.round.entry import parse_entry, parts_of, result_of, shown_entry

P = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50", "nM", "log", noise_sd=0.2)
ACTIVITY = Endpoint("Activity", kind="yes-no", words=("active", "inactive"))


def typed(text, endpoint):
    """The values of a text in a cell of a round."""
    return [parse_entry(part, endpoint) for part in parts_of(text) if not is_empty(endpoint, part)]


def test_an_answer_is_shown_as_its_word():
    for text, shown in (("1", "active"), ("no", "inactive"), ("3/4", "3/4")):
        assert shown_entry(parse_entry(text, ACTIVITY), ACTIVITY) == shown


def test_concentration_is_converted_as_the_engine_does():
    entry = parse_entry("35 nM", P)
    assert entry.value == pytest.approx(7.4559, abs=1e-4)
    assert shown_entry(entry, P) == "7.46"
    result = result_of(entry, "X", P)
    assert result.comment == "entered as 35 nM"
    assert result.unit is None


def test_a_cell_holds_one_value_as_in_a_table():
    for cell in ("7.62 / 7.58", "7.62\n7.58"):
        with pytest.raises(ValueError, match="holds several values; give each a row of its own"):
            parse_entry(cell, P)


def test_sd_of_a_concentration_is_not_taken_for_that_of_its_logarithm():
    entry = parse_entry("35 nM (n=2, sd=4)", P)
    assert (entry.n, entry.sd) == (2, None)
    assert result_of(entry, "X", P).comment == "entered as 35 nM (n=2, sd=4); its SD (4) is not used"
    spread = parse_entry("7.6 ± 0.2", P)
    assert (spread.value, spread.sd) == (7.6, None)
    assert result_of(spread, "X", P).comment == "entered as 7.6 ± 0.2"


@given(value=st.floats(3.0, 11.0).map(lambda x: round(x, 2)), n=st.integers(1, 9))
def test_shown_entry_reads_back_as_the_same(value, n):
    again = parse_entry(shown_entry(Value(value, n=n), P), P)
    assert (again.value, again.n or 1) == (value, n)


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused_with_a_reason(text):
    reason = "read"
    try:
        typed(text, P)
    except ValueError as error:
        reason = str(error)
    assert reason
