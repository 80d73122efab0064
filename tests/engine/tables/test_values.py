"""What cells say: numbers, bounds, yes and no; what is shown of several, and what is asked about."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.entries import may_be_bounds, no_p_value, read_entry, shown
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.values import parse_number


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from([".", ","]))
def test_a_number_is_read_as_it_was_written(number, decimal):
    text = format(number, ".6f") + "1"  # seven decimals: never in doubt with a thousands mark
    assert parse_number(text.replace(".", decimal), decimal) == float(text)


@pytest.mark.parametrize("own", ["uM", "nM", "pM"])
@pytest.mark.parametrize("name", ["IC50 (nM)", "IC50 (uM)", "IC50"])
@pytest.mark.parametrize("row", ["nM", "uM", "µM", "mM", ""])
def test_the_row_says_the_unit_then_the_endpoint_and_the_header_last(name, own, row):
    size = {"pM": 1e-12, "nM": 1e-9, "uM": 1e-6, "µM": 1e-6, "mM": 1e-3}
    endpoint = Endpoint(name, own, "log")
    entry = read_entry(endpoint, "10", unit=row)
    assert endpoint.to_model(entry.value, entry.unit) == pytest.approx(-math.log10(10 * size[row or own]))


def test_a_concentration_in_a_p_scale_cell_is_converted_and_noted():
    entry = read_entry(Endpoint("pIC50"), ">35 nM")
    assert (entry.value, entry.relation, entry.note) == (pytest.approx(7.4559, abs=1e-4), "<", "entered as >35 nM")


def test_a_bare_number_that_is_no_pic50_is_named():
    pic50 = Endpoint("pIC50")
    assert no_p_value(pic50, read_entry(pic50, "35")) == "35 is no pIC50: write 35 nM if it is a concentration"
    assert no_p_value(pic50, read_entry(pic50, "7.2")) is None
    assert no_p_value(pic50, read_entry(pic50, "35 nM")) is None
    assert no_p_value(Endpoint("yield"), read_entry(Endpoint("yield"), "35")) is None


def test_unused_parts_stay_with_the_value_and_sds_of_concentrations_are_dropped():
    p = Endpoint("pIC50")
    entry = read_entry(p, "7.2 ± 0.1")
    assert (entry.value, entry.n, entry.sd, entry.note) == (7.2, 1, None, "entered as 7.2 ± 0.1")
    assert no_p_value(p, read_entry(p, "35*")) == "35 is no pIC50: write 35 nM if it is a concentration"
    for cells in ({"text": "35 nM (n=2, sd=4)"}, {"text": "35 nM (n=2)", "sd": "4"}):
        entry = read_entry(p, **cells)
        assert entry.value == pytest.approx(7.456, abs=1e-3)
        assert (entry.n, entry.sd) == (2, None)
        assert entry.note == f"entered as {cells['text']}; its SD (4) is not used"
    # What the cell says goes before what its row says.
    assert read_entry(Endpoint("IC50", "nM", "log"), "35 (n=2)", n="5").n == 2


@pytest.mark.parametrize(
    ("values", "result"),
    [
        ([("=", 20.0), ("=", 30.0), ("<", 100.0)], (("=", 25.0),)),
        ([("<", 1.0), ("<", 10.0)], (("<", 1.0),)),
        ([("<", 2.0), ("=", 8.0)], (("<", 5.0),)),
        ([(">", 8.0), ("=", 2.0)], ((">", 5.0),)),
        ([(">", 1.0), ("=", 2.0)], (("=", 2.0),)),
        ([(">", 3.0), (">", 5.0)], ((">", 5.0),)),
        ([(">", 5.0), ("<", 10.0)], ((">", 5.0), ("<", 10.0))),
        ([("<", 1.0), ("=", 5.0), (">", 9.0)], (("=", 5.0),)),
        ([("=", 5.0), ("<", 5.0)], (("<", 5.0),)),
        ([], ()),
    ],
)
def test_the_rule(values, result):
    assert shown(values) == result


RELATIONS = st.sampled_from(["=", "<", ">"])
VALUES = st.lists(st.tuples(RELATIONS, st.floats(-5, 5)), min_size=1, max_size=6)
TURNED = {"=": "=", "<": ">", ">": "<"}


@given(VALUES)
def test_turning_the_scale_around_turns_the_answer_around(values):
    # A concentration and its negative logarithm say the same.
    there = shown([(TURNED[relation], -value) for relation, value in values])
    back = sorted((TURNED[relation], -value) for relation, value in there)
    assert [one[0] for one in back] == [one[0] for one in sorted(shown(values))]
    assert [one[1] for one in back] == pytest.approx([one[1] for one in sorted(shown(values))])


IC50 = Endpoint("IC50 (nM)", "nM", "log")


def asked(values, endpoint=IC50, relation="="):
    return may_be_bounds(endpoint, [Result(f"c{n}", v, endpoint.name, relation) for n, v in enumerate(values)])


@pytest.mark.parametrize("last", [10_000, 30_000, 100_000, 50_000])
def test_a_round_end_that_repeats_is_asked_about(last):
    said = asked([3.1, 45, 800, 12.5, *[last] * 4])
    assert said.startswith(f"4 values of IC50 (nM) are exactly {last} nM, and none is less potent.")
    assert f"write >{last}:" in said


@pytest.mark.parametrize(
    "values",
    [
        [3.1, 45, 800, 12.5, 10_000, 10_000],  # twice is chance
        [3.1, 45, 800, 12.5, *[7_431] * 4],  # nobody tests that
        [10, 10, 10, 100, 100, 100, 1000, 1000, 1000],  # MICs repeat everywhere
        [3.1, 10_000, 10_000, 10_000, 45, 12_345],  # not the last one
        [10_000] * 3,
    ],
)
def test_what_is_hardly_an_end_is_not(values):
    assert asked(values) is None


ROWS = [("a", "Me", "H", 1), ("b", "Me", "Cl", 0), ("c", "Et", "H", 1), ("d", "Et", "Cl", 0), ("e", "Pr", "H", 0)]


def table(path: Path, words: tuple[str, str], name: str = "Active", more: str = "") -> Path:
    lines = [f"{key},{r1},{r2},{words[0] if value else words[1]}" for key, r1, r2, value in ROWS]
    path.write_text(f"ID,R1,R2,{name}\n" + "\n".join(lines) + f"\n{more}")
    return path


def imported(path: Path, *endpoints: str):
    raw = read_table(path)
    return import_table(raw, propose(raw, TableOptions(endpoints=tuple(map(parse_endpoint_spec, endpoints)))))


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (("1", "0"), None),
        (("Active", "inactive"), ("Active", "inactive")),
        (("pos", "NEG"), ("pos", "NEG")),
        (("+", "-"), ("+", "-")),
        (("hit", "no hit"), ("hit", "no hit")),
        (("yes", "No"), ("yes", "No")),
        (("TRUE", "FALSE"), ("TRUE", "FALSE")),
    ],
)
def test_a_column_of_answers_is_an_endpoint_with_the_words_of_the_table(tmp_path: Path, words, kept) -> None:
    found = imported(table(tmp_path / "t.csv", words, more="f,Pr,Cl,\n"))
    (endpoint,) = found.endpoints
    assert (endpoint.kind, endpoint.words, endpoint.noise_sd) == ("yes-no", kept, 0.5)
    assert [(r.compound, r.value) for r in found.history] == [(key, value) for key, *_, value in ROWS]
    assert any(f"what is compared is the chance of {words[0]}" in note for note in found.notes)
    assert Endpoint.from_json(endpoint.as_json()) == endpoint


def test_dash_is_an_answer_only_where_there_is_a_plus() -> None:
    assert read_entry(Endpoint("A", kind="yes-no", words=("+", "-")), "-").value == 0.0  # type: ignore[union-attr]
    assert read_entry(Endpoint("A", kind="yes-no", words=("active", "inactive")), "-") is None
