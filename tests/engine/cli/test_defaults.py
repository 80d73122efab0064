"""What a command takes where nothing is said, what it leaves out and names, and results that come twice."""

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from assaypilot.engine.campaign.campaign import Campaign

GOAL = ("--epsilon", "0.5", "--sd", "0.2")
HEADER = ("ID", "R1", "R2", "pIC50")
ROWS = [
    ("C1", "H", "H", "6.0"),
    ("C2", "H", "F", "6.5"),
    ("C3", "Me", "H", "6.4"),
    ("C4", "Me", "F", "7.1"),
]


@pytest.fixture
def unchanged(folder, refused):
    """The line of a refusal after which the folder is as it was."""

    def call(*words: object) -> str:
        before = folder()
        line = refused(*words)
        assert folder() == before
        return line

    return call


@pytest.fixture
def target(tmp_path):
    return tmp_path / "new.assaypilot"


@pytest.fixture
def planned(campaign, tmp_path, done):
    """A campaign with round 1 open; its work list is ``work.csv``."""
    done("plan", campaign, "--out", tmp_path / "work.csv")
    return campaign


def results(tmp_path: Path, *rows: str, name: str = "results.csv", header: str = "ID,Value") -> Path:
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_duplicate_ids_with_other_substituents_are_left_out_and_named(done, table, target):
    path = table([HEADER, *ROWS, ("C4", "H", "Cl", "5.1")])
    made = done("new", target, "--table", path, *GOAL)
    assert made["compounds"] == len(ROWS) - 1
    (said,) = [text for text in made["warnings"] if "only you know what was meant" in text]
    assert "row 5, 6 (id 'C4' has different substituents" in said
    assert said.endswith("correct the table to use them")
    listed = done("check", path)["not_used"]
    assert [(entry["row"], entry["column"]) for entry in listed] == [(5, "ID"), (6, "ID")]


@pytest.mark.parametrize("text", ["inactive", "NaN", "inf", "1e999", "see note"])
def test_a_value_that_is_no_number_is_named_and_left_out(done, table, target, text):
    path = table([HEADER, *ROWS, ("C5", "H", "Cl", text)])
    (entry,) = done("check", path)["not_used"]
    assert (entry["row"], entry["column"]) == (6, "pIC50")
    assert text.casefold() in entry["reason"].casefold()
    made = done("new", target, "--table", path, *GOAL)
    assert any(
        "1 row or value of the table not used; the first is row 6, column pIC50:" in text for text in made["warnings"]
    )
    assert made["compounds"] == 5


def test_full_disk(unchanged, campaign, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assaypilot.engine.export.formats.os.fsync", full)
    line = unchanged("export", campaign, tmp_path / "list.csv")
    assert "list.csv: the disk is full. Free some space or choose another folder." in line


def test_verify_names_what_was_changed(run, campaign):
    with closing(sqlite3.connect(campaign)) as connection:
        connection.execute("CREATE TRIGGER foreign_one AFTER INSERT ON event BEGIN SELECT 1; END")
        connection.commit()
    answer = run("verify", campaign)
    assert answer.code == 1
    assert "NOT consistent" in answer.out
    assert "foreign_one" in answer.out
    document = run("verify", campaign, "--json")
    assert document.code == 1
    assert document.document["ok"] is False
    assert any("foreign_one" in problem["text"] for problem in document.document["problems"])


def test_some_unknown_ids_do_not_stop_the_rest(done, planned, tmp_path):
    document = done("record", planned, results(tmp_path, "X-99,6.1", "C-00,6.2"))
    assert document["accepted"] == 1
    assert document["rejected"] == [{"row": 2, "reason": "column ID: 'X-99' is no compound of this campaign"}]


def test_the_same_results_twice(unchanged, done, planned, tmp_path):
    path = results(tmp_path, "C-00,6.1", "C-01,6.2")
    done("record", planned, path)
    assert "--again" in unchanged("record", planned, path)
    same = results(tmp_path, "C-00,6.1", "C-01,6.2", "", name="another name.csv")
    assert "--again" in unchanged("record", planned, same)
    assert done("record", planned, path, "--again")["accepted"] == 2


def test_a_file_that_another_program_has_open(done, campaign):
    words = [sys.executable, "-m", "assaypilot.engine.cli", "plan", str(campaign)]
    with Campaign.open(campaign) as held:
        before = held.head
        answer = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (answer.returncode, answer.stderr.count("\n")) == (1, 1)
        assert "small.assaypilot" in answer.stderr
        assert "internal error" not in answer.stderr
        assert done("status", campaign)["head"] == before
    with Campaign.open(campaign) as after:
        assert after.head == before
