"""Every refusal is one plain line with the mend, and nothing is written."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.cli.helpers import read_sheet, write_sheet

GOAL = ("--epsilon", "0.5", "--sd", "0.2")
HEADER = ("ID", "R1", "R2", "pIC50")
ROWS = [
    ("C1", "H", "H", "6.0"),
    ("C2", "H", "F", "6.5"),
    ("C3", "Me", "H", "6.4"),
    ("C4", "Me", "F", "7.1"),
]


@pytest.fixture
def unchanged(folder: Callable[[], dict[str, bytes]], refused: Callable[..., str]) -> Callable[..., str]:
    """The line of a refusal after which the folder is as it was."""

    def call(*words: object) -> str:
        before = folder()
        line = refused(*words)
        assert folder() == before
        return line

    return call


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "new.assaypilot"


@pytest.fixture
def planned(campaign: Path, tmp_path: Path, done: Callable[..., Any]) -> Path:
    """A campaign with round 1 open; its work list is ``work.csv``."""
    done("plan", campaign, "--out", tmp_path / "work.csv")
    return campaign


def results(tmp_path: Path, *rows: str, name: str = "results.csv", header: str = "ID,Value") -> Path:
    path = tmp_path / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize("command", ["check", "new"])
class TestTables:
    @pytest.fixture
    def words(self, command: str, target: Path) -> Callable[[Path], list[object]]:
        if command == "check":
            return lambda path: ["check", path]
        return lambda path: ["new", target, "--table", path, *GOAL]

    def test_missing(self, unchanged, words, tmp_path):
        line = unchanged(*words(tmp_path / "nowhere.csv"))
        assert "nowhere.csv: there is no such file. Check the name and the folder." in line

    def test_empty(self, unchanged, words, tmp_path):
        path = tmp_path / "empty.csv"
        path.write_bytes(b"\xef\xbb\xbf\n\n")
        assert "empty.csv: the file is empty. Export the table again" in unchanged(*words(path))

    def test_header_only(self, unchanged, words, table):
        line = unchanged(*words(table([HEADER])))
        assert "there is a header but no row below it. Add the compounds." in line

    def test_wrong_delimiter(self, unchanged, words, table):
        line = unchanged(*words(table([HEADER, *ROWS], delimiter="^")))
        assert "only one column was found" in line
        assert "Save the table as csv" in line

    def test_no_site_column(self, unchanged, words, table):
        line = unchanged(*words(table([("ID", "Left", "pIC50"), *((row[0], row[1], row[3]) for row in ROWS)])))
        assert "option" not in line
        assert "--sites: there is no site column (R1, R2, ...). Name the columns with the substituents: --sites" in line

    def test_one_compound(self, unchanged, words, table):
        line = unchanged(*words(table([HEADER, ROWS[0]])))
        assert "there is only one compound (C1)" in line
        assert "two or more" in line

    def test_one_substituent(self, unchanged, words, table):
        line = unchanged(*words(table([("ID", "R1", "pIC50"), ("C1", "H", "6"), ("C2", "H", "7")])))
        assert "column R1" in line
        assert "one substituent (H)" in line
        assert "Add compounds with another substituent there." in line

    def test_a_folder(self, unchanged, words, tmp_path):
        assert "this is a folder, not a table. Name the file in it." in unchanged(*words(tmp_path))

    def test_a_workbook(self, unchanged, words, tmp_path):
        path = tmp_path / "table.xlsx"
        path.write_bytes(b"PK\x03\x04 and so on")
        assert "the workbook is damaged: it cannot be unpacked" in unchanged(*words(path))

    def test_no_such_column(self, unchanged, words, small):
        line = unchanged(*words(small), "--sites", "R1,R9")
        assert "--sites: there is no column 'R9'; the columns are ID, R1, R2, pIC50. Name one of them." in line

    def test_strange_endpoint(self, unchanged, words, small):
        line = unchanged(*words(small), "--endpoint", "pIC50;ceiling=5")
        assert "ceiling' is not known here; known are unit, direction" in line
        line = unchanged(*words(small), "--endpoint", "pIC50;limit=5")
        assert "--endpoint: '5' is no limit. For example limit=<5 or limit=>=6." in line


def test_duplicate_ids_with_other_substituents_are_left_out_and_named(done, table, target):
    path = table([HEADER, *ROWS, ("C4", "H", "Cl", "5.1")])
    made = done("new", target, "--table", path, *GOAL)
    assert made["compounds"] == len(ROWS) - 1
    (said,) = [text for text in made["warnings"] if "only you know what was meant" in text]
    assert "row 5, 6 (id 'C4' has other substituents in row 6" in said
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


# ---------------------------------------------------------------------- goals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--epsilon", "0"], "--epsilon: epsilon must be a number > 0"),
        (["--epsilon", "-1"], "--epsilon: epsilon must be a number > 0"),
        (["--epsilon", "nan"], "--epsilon: epsilon must be a number > 0"),
        (["--epsilon", "inf"], "--epsilon: epsilon must be a number > 0"),
        (["--slack", "-0.1"], "--slack: slack must be a number >= 0"),
        (["--slack", "nan"], "--slack: slack must be a number >= 0"),
        (
            ["--delta", "0"],
            "--delta: delta (1 - confidence) must be above 0 and below 1, got 0.0. 0.05 means 95",
        ),
        (["--delta", "1"], "--delta: delta (1 - confidence) must be above 0 and below 1"),
        (["--delta", "nan"], "--delta: delta (1 - confidence) must be above 0 and below 1"),
        (["--sd", "0"], "--sd: assay noise (SD) of pIC50 must be a number > 0"),
        (["--sd", "-0.2"], "--sd: assay noise (SD) of pIC50 must be a number > 0"),
        (["--sd", "nan"], "--sd: assay noise (SD) of pIC50 must be a number > 0"),
        (["--sd", "inf"], "--sd: assay noise (SD) of pIC50 must be a number > 0"),
        (["--per-round", "0"], "--per-round: measurements per round must be 1 or more"),
        (["--budget", "0"], "--budget: the budget must be 1 or more"),
        (["--max-replicates", "0"], "--max-replicates: measurements of one compound in a round must be 1 or more"),
        (
            ["--goal", "threshold"],
            "--goal: there is no goal 'threshold'. Choose one of: epsilon-best, pareto, best, top.",
        ),
        (["--goal", "pareto"], "--goal: the Pareto set needs at least two endpoints, got 1. Name another endpoint"),
        (["--strategy", "linfact"], "--strategy: there is no strategy 'linfact'. Did you mean linfact-g?"),
        (["--parameter", "speed=3"], "--parameter: adaptive has no parameter 'speed'"),
        (["--objective", "hERG"], "--objective: there is no endpoint 'hERG'. Choose one of: pIC50."),
    ],
)
def test_goal_out_of_range(unchanged, small, target, options, said):
    line = unchanged("new", target, "--table", small, *GOAL, *options)
    assert said in line


def test_noise_that_nobody_gives_is_usual_at_first_and_named(done, small, target):
    made = done("new", target, "--table", small, "--epsilon", "0.5")
    assert (made["noise_sd"], made["endpoints"][0]["noise_estimated"]) == (0.3, True)
    assert any("0.3 is taken at first (log values)" in text for text in made["warnings"])
    assert any('--endpoint "pIC50;sd=..."' in text for text in made["warnings"])


def test_noise_from_replicates_is_used(done, table, target):
    path = table([HEADER, *ROWS, ("C4", "Me", "F", "7.3"), ("C1", "H", "H", "6.2")])
    made = done("new", target, "--table", path, "--epsilon", "0.5")
    assert made["noise_sd"] == pytest.approx(0.2 / 2**0.5)


def test_epsilon_that_nobody_gives_is_usual_and_named(done, small, target):
    made = done("new", target, "--table", small, "--sd", "0.2")
    assert made["goal"].startswith("All compounds within 0.5 of the best pIC50")
    assert any(text.endswith("(log values). Give yours: --epsilon.") for text in made["warnings"])


def test_epsilon_with_the_endpoint(done, small, target):
    made = done("new", target, "--table", small, "--endpoint", "pIC50;sd=0.2;epsilon=0,3")
    assert made["goal"].startswith("All compounds within 0.3 of the best pIC50")


def test_two_endpoints_and_no_objective(unchanged, done, table, target):
    path = table([(*HEADER, "hERG"), *((*row, "5.0") for row in ROWS)])
    line = unchanged("new", target, "--table", path, *GOAL)
    assert "--objective: there are 2 endpoints: pIC50, hERG. Say which one the goal is about" in line
    assert done("new", target, "--table", path, *GOAL, "--objective", "HERG")["objective"] == "hERG"


def test_no_endpoint(unchanged, table, target):
    path = table([HEADER[:3], *(row[:3] for row in ROWS)])
    line = unchanged("new", target, "--table", path, *GOAL)
    assert "--endpoint: the table has no column of measured values" in line


# ---------------------------------------------------------------------- places


def test_new_never_overwrites(unchanged, campaign, small):
    line = unchanged("new", campaign, "--table", small, *GOAL)
    assert "small.assaypilot: there is already a file of this name. Choose another name." in line


def test_new_in_no_folder(unchanged, small, tmp_path):
    line = unchanged("new", tmp_path / "no" / "x.assaypilot", "--table", small, *GOAL)
    assert "there is no such folder. Make the folder, or choose another." in line


LOCKED = Path("/sys")
no_locked_folder = pytest.mark.skipif(not LOCKED.is_dir(), reason="needs a folder in which nobody can write")


@no_locked_folder
def test_read_only_folder(unchanged, campaign, small):
    assert "read-only" in unchanged("new", LOCKED / "x.assaypilot", "--table", small, *GOAL)
    assert "cannot be written here" in unchanged("export", campaign, LOCKED / "x.csv")
    line = unchanged("plan", campaign, "--out", LOCKED / "x.csv")
    assert "/sys/x.csv, --out: cannot be written here" in line
    assert "Choose another folder" in line


def test_a_place_for_the_work_list_is_checked_before_the_round_is_issued(unchanged, campaign, done, tmp_path):
    for out, said in [
        (tmp_path / "no" / "w.csv", "--out: there is no such folder"),
        (tmp_path / "w.xlsx", "--out: this is not the name of a csv or pdf file. Choose a name that ends in .csv"),
        (tmp_path / "w", "--out: this is not the name of a csv or pdf file"),
        ("", "--out: this is not the name of a csv or pdf file"),
    ]:
        assert said in unchanged("plan", campaign, "--out", out)
    assert done("status", campaign)["round"] == 0


def test_export_over_the_campaign_itself(unchanged, campaign, tmp_path):
    twin = tmp_path / "campaign.csv"
    campaign.rename(twin)
    assert "this is the campaign file itself" in unchanged("export", twin, twin)


def test_full_disk(unchanged, campaign, tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assaypilot.engine.export.whole.os.fsync", full)
    line = unchanged("export", campaign, tmp_path / "list.csv")
    assert "list.csv: the disk is full. Free some space or choose another folder." in line


# ---------------------------------------------------------------------- files that are no campaign


@pytest.mark.parametrize("command", ["plan", "status", "log", "verify", "record", "export"])
class TestFiles:
    @pytest.fixture
    def words(self, command: str, tmp_path: Path) -> Callable[[Path], list[object]]:
        more: dict[str, list[object]] = {
            "record": [results(tmp_path, "C-00,6.1")],
            "export": [tmp_path / "out.csv"],
        }
        return lambda path: [command, path, *more.get(command, [])]

    def test_missing(self, unchanged, words, tmp_path):
        line = unchanged(*words(tmp_path / "nowhere.assaypilot"))
        assert "nowhere.assaypilot" in line

    def test_not_a_campaign(self, unchanged, words, small):
        line = unchanged(*words(small))
        assert "This is not an AssayPilot campaign" in line

    def test_another_database(self, unchanged, words, tmp_path):
        path = tmp_path / "other.assaypilot"
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE t (x)")
        assert "This is not an AssayPilot campaign" in unchanged(*words(path))

    def test_newer(self, unchanged, words, campaign):
        with closing(sqlite3.connect(campaign)) as connection:
            connection.execute("PRAGMA user_version = 99")
        line = unchanged(*words(campaign))
        assert "newer" in line
        assert "AssayPilot" in line


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


def test_verify_with_a_head_of_another_file(run, campaign):
    assert run("verify", campaign, "--head", "0123456789abcdef").code == 1


# ---------------------------------------------------------------------- results


def test_results_missing_or_empty(unchanged, planned, tmp_path):
    assert "there is no such file" in unchanged("record", planned, tmp_path / "nowhere.csv")
    (tmp_path / "empty.csv").touch()
    assert "the file is empty" in unchanged("record", planned, tmp_path / "empty.csv")


def test_work_list_not_filled_in(unchanged, planned, tmp_path):
    assert "no value is filled in. Fill in the column Value" in unchanged("record", planned, tmp_path / "work.csv")


def test_results_without_ids_or_values(unchanged, planned, tmp_path):
    assert "there is no column of compound ids" in unchanged(
        "record", planned, results(tmp_path, "1,2", header="Foo,Value")
    )
    assert "there is no column Value" in unchanged("record", planned, results(tmp_path, "C-00,2", header="ID,Foo"))


def test_unknown_id(unchanged, planned, tmp_path):
    line = unchanged("record", planned, results(tmp_path, "X-99,6.1", "X-98,6.2"))
    assert "results.csv, row 2, column ID: 'X-99' is no compound of this campaign (and 1 more row)" in line
    assert "nothing was recorded. Correct the table" in line


def test_some_unknown_ids_do_not_stop_the_rest(done, planned, tmp_path):
    document = done("record", planned, results(tmp_path, "X-99,6.1", "C-00,6.2"))
    assert document["accepted"] == 1
    assert document["rejected"] == [{"row": 2, "reason": "column ID: 'X-99' is no compound of this campaign"}]


@pytest.mark.parametrize("text", ["active", "NaN", "inf", "-inf", "1e999"])
def test_text_in_the_value_column(unchanged, done, planned, tmp_path, text):
    line = unchanged("record", planned, results(tmp_path, f"C-00,{text}"))
    assert "results.csv, row 2, column Value:" in line
    document = done("record", planned, results(tmp_path, "C-00,6.1", f"C-01,{text}", name="more.csv"))
    assert document["accepted"] == 1
    assert document["rejected"][0]["row"] == 3


def test_the_same_results_twice(unchanged, done, planned, tmp_path):
    path = results(tmp_path, "C-00,6.1", "C-01,6.2")
    done("record", planned, path)
    assert "--again" in unchanged("record", planned, path)
    same = results(tmp_path, "C-00,6.1", "C-01,6.2", "", name="another name.csv")
    assert "--again" in unchanged("record", planned, same)
    assert done("record", planned, path, "--again")["accepted"] == 2


def test_a_round_closed_twice(unchanged, done, planned, tmp_path):
    done("record", planned, results(tmp_path, "C-00,6.1"), "--close")
    line = unchanged("record", planned, "--close")
    assert "--close: there is no open round to close. Plan the next round first" in line
    more = results(tmp_path, "C-01,6.2", name="more.csv")
    assert "--close: there is no open round" in unchanged("record", planned, more, "--close")


def test_unavailable_unknown(unchanged, planned, tmp_path):
    path = results(tmp_path, "C-00,6.1")
    line = unchanged("record", planned, path, "--unavailable", "C-01,X-99")
    assert "--unavailable: there is no compound 'X-99' in the campaign. Check the id." in line


def test_filled_in_work_list_is_not_overwritten(unchanged, planned, tmp_path):
    path = tmp_path / "work.csv"
    header, rows = read_sheet(path)
    rows[3]["Value"] = "6.1"
    write_sheet(path, header, rows)
    line = unchanged("plan", planned, "--out", path)
    assert "values filled in, which would be lost. Record it first, or choose another name." in line


def test_a_file_that_another_program_has_open(campaign, tmp_path):
    from assaypilot.engine.campaign.campaign import Campaign

    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    with Campaign.open(campaign) as held:
        assert not held.read_only
        before = held.head
        answer = subprocess.run(
            [sys.executable, "-m", "assaypilot.engine.cli", "plan", str(campaign)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert answer.returncode == 1
        assert answer.stderr.count("\n") == 1
        assert "small.assaypilot" in answer.stderr
        assert "internal error" not in answer.stderr
        look = subprocess.run(
            [sys.executable, "-m", "assaypilot.engine.cli", "status", str(campaign)],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert look.returncode == 0
    with Campaign.open(campaign) as after:
        assert after.head == before
