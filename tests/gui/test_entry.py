"""Typed results: every form a chemist uses, what is asked back, and what is kept."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.tables.entries import is_empty
from assaypilot.gui.round.entry import Entry, parse_cells, parse_entry, parts_of, result_of

P = Endpoint("pIC50", noise_sd=0.2)
IC50 = Endpoint("IC50", "nM", "log", noise_sd=0.2)
ACTIVITY = Endpoint("Activity", kind="yes-no", words=("active", "inactive"))


def typed(text, endpoint):
    """The values of a text in a cell of a round."""
    return [parse_entry(part, endpoint) for part in parts_of(text) if not is_empty(endpoint, part)]


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
