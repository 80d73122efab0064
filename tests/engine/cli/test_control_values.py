"""Values of controls on the command line: numbered, corrected, left out and told, as in the window."""

import itertools
from pathlib import Path

import pytest

from tests.engine.cli.helpers import R1, R2, fill, truth_of


@pytest.fixture
def plated(table, tmp_path, done):
    """A campaign on plates with two controls, one round of which is in: REF-1 reads 0.5 too high."""
    path, sheet = tmp_path / "p.assaypilot", tmp_path / "w.csv"
    rows = [("ID", "R1", "R2", "pIC50"), *((f"{a}-{b}", a, b, "") for a in R1 for b in R2)]
    done("new", path, "--table", table(rows), "--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", "--per-round", "48",
         "--control", "REF-1;value=7.1", "--control", "REF-2")  # fmt: skip
    done("plan", path, "--plate", 96, "--control-columns", "REF-1=1", "--control-columns", "REF-2=12", "--out", sheet)
    shifts, controls = itertools.cycle((0.0, 0.05, 0.1, 0.15, 0.2)), {"REF-1": 7.6, "REF-2": 6.2}
    fill(sheet, lambda row: controls.get(row["ID"]) or round(truth_of(row["R1"], row["R2"]) + next(shifts), 2))
    assert done("record", path, sheet)["controls"] == 16
    return path


def of_controls(done, path: Path, *words: str) -> list[dict]:
    return [one for one in done("log", path, "--values", *words) if one["control"]]


def test_they_are_listed_with_numbers_of_their_own(plated, done, run):
    every = done("log", plated, "--values")
    own = of_controls(done, plated)
    assert [one["number"] for one in own] == [f"C{k}" for k in range(1, 17)]
    assert every[-16:] == own, "after the compounds"
    assert [one["number"] for one in every[:-16]] == list(range(1, len(every) - 15))
    assert (own[0]["id"], own[0]["value"], own[0]["plate"], own[0]["well"]) == ("REF-1", 7.6, "R1-P1", "A1")
    assert {one["id"] for one in done("log", plated, "--values", "ref-2")} == {"REF-2"}
    lines = run("log", plated, "--values", "REF-1").out.splitlines()
    assert lines[1].split()[:4] == ["C1", "REF-1", "pIC50", "7.6"]
    assert done("status", plated)["controls"]["readings"] == own
