"""Columns of yes and no, and of counts: recognised, read as 1 and 0, and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from assaypilot.engine.cli.program import main
from assaypilot.engine.domain import kinds
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.entries import Unreadable, read_entry
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec

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


@pytest.mark.parametrize("words", [("1", "0.5"), ("7.1", "6.2"), ("red", "blue"), ("1", "1")])
def test_other_columns_are_not(tmp_path: Path, words: tuple[str, str]) -> None:
    assert all(endpoint.kind == "value" for endpoint in imported(table(tmp_path / "t.csv", words)).endpoints)


@pytest.mark.parametrize(
    ("text", "value", "n"),
    [("ACTIVE", 1, 1), (" inactive ", 0, 1), ("pos", 1, 1), ("no", 0, 1), ("1", 1, 1), ("3/4", 0.75, 4), ("0/3", 0, 3)],
)
def test_what_can_stand_in_a_cell(text: str, value: float, n: int) -> None:
    entry = read_entry(Endpoint("Active", kind="yes-no", words=("active", "inactive")), text)
    assert entry is not None
    assert (entry.value, entry.n) == (value, n)


@pytest.mark.parametrize("text", ["maybe", "1.2", "-1", ">0.5", "5/4"])
def test_what_cannot(text: str) -> None:
    with pytest.raises(Unreadable):
        read_entry(Endpoint("Active", kind="yes-no", words=("active", "inactive")), text)


def test_a_dash_is_an_answer_only_beside_a_plus() -> None:
    assert read_entry(Endpoint("A", kind="yes-no", words=("+", "-")), "-").value == 0.0  # type: ignore[union-attr]
    assert read_entry(Endpoint("A", kind="yes-no", words=("active", "inactive")), "-") is None


def test_words_turned_around_keep_their_meaning() -> None:
    """Where no is the wanted word, other ways of saying yes are the unwanted one."""
    turned = Endpoint("Tox", kind="yes-no", words=("negative", "positive"))
    found = [kinds.said(turned, text) for text in ("negative", "positive", "pos", "neg", "yes", "1")]
    assert found == [1, 0, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a;kind=maybe", "kind must be value, yes-no or count, got 'maybe'"),
        ("a;words=active", "words are two with a slash between them"),
        ("a;words=x/X", "must be two different ones"),
        ("a;kind=count;words=a/b", "has words for yes and no, and is none"),
        ("a;kind=yes-no;sd=0.3", "there is no assay noise (SD) to give"),
    ],
)
def test_what_does_not_go_together_is_refused(text: str, says: str) -> None:
    with pytest.raises(AssayPilotError) as refused:
        parse_endpoint_spec(text)
    assert says in refused.value.message


def test_the_command_line_makes_a_campaign_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, source = str(tmp_path / "x.assaypilot"), str(table(tmp_path / "t.csv", ("active", "inactive")))
    assert main(["new", file, "--table", source, "--sites", "R1,R2", "--epsilon", "0.2"]) == 0
    out = capsys.readouterr().out
    assert "All compounds within 0.2 of the best chance that Active is active" in out
    assert "Strategy gaussian-process" in out
    assert "Assay noise" not in out
