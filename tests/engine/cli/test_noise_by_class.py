"""Noise by class from the command line: estimated where nobody knows it, of compounds that are added, and changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

ROWS = [f"{a}{b},{a},{b},{'poor' if a == 'x' else 'ok'}" for a in "xyz" for b in "pqr"]
GOAL = ("--endpoint", "pIC50", "--epsilon", "0.5", "--sites", "R1,R2", "--per-round", "24")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["ID,R1,R2,Sol", *ROWS]) + "\n", encoding="utf-8")
    return path


def test_each_class_is_estimated_where_nobody_knows_it(tmp_path: Path, table: Path, run) -> None:
    path = tmp_path / "x.assaypilot"
    told = run("new", path, "--table", table, *GOAL, "--sd", "unknown:0.2", "--noise-class", "Sol: poor")
    assert told.code == 0
    assert "Assay noise (SD) of pIC50: unknown, at first 0.2; 0.2 where Sol is poor" in told.out
    assert "where Sol is poor and of all others are estimated apart" in told.out
    noise = json.loads(run("status", path, "--json").out)["noise"]
    assert [one["class"] for one in noise] == ["of all others", "where Sol is poor"]


@pytest.mark.parametrize(
    ("noise", "why"),
    [
        (("--sd", "0.2", "--noise-class", "Sol: poor"), "where Sol is poor is not given"),
        (("--sd", "unknown", "--noise-class", "Sol: bad"), "no compound is bad in Sol"),
        (("--sd", "unknown", "--noise-class", "Hue"), "no site or column 'Hue'"),
        (("--sd", "unknown", "--noise-class", "Sol: poor, poor"), "poor at Sol is named twice"),
        (("--sd", "unknown", "--noise-class", "Sol", "--strategy", "linfact-g"), "linfact-g has no bounds"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_no_file(tmp_path: Path, table: Path, run, noise, why) -> None:
    told = run("new", tmp_path / "x.assaypilot", "--table", table, *GOAL, *noise)
    assert told.code == 1
    assert why in told.err
    assert not (tmp_path / "x.assaypilot").exists()


def test_added_compounds_have_the_noise_their_table_says(tmp_path: Path, table: Path, run) -> None:
    path, more = tmp_path / "x.assaypilot", tmp_path / "more.csv"
    assert run("new", path, "--table", table, *GOAL, "--sd", "0.2", "--noise-class", "Sol: poor=0.5").code == 0
    more.write_text("ID,R1,R2,sol\nn1,w,p,poor\nn2,w,q,ok\n", encoding="utf-8")
    told = run("add", path, more)
    assert told.code == 0
    assert "1 where Sol is poor and 1 among all others (ok being no class of its own)" in told.out
    more.write_text("ID,R1,R2\nn3,w,r\n", encoding="utf-8")
    assert "Nothing says the Sol of the new compounds" in run("add", path, more).out


def test_classes_are_given_to_a_campaign_that_runs(tmp_path: Path, table: Path, run) -> None:
    path = tmp_path / "x.assaypilot"
    assert run("new", path, "--table", table, *GOAL, "--sd", "0.2").code == 0
    assert run("change", path, "--noise-class", "R1: x=0.5", "--yes").code == 0
    assert "SD at most 0.2; 0.5 with x at R1" in run("status", path).out
    assert run("change", path, "--sd", "0.3", "--noise-class", "pIC50;R1: x=0.6", "--yes").code == 0
    assert "SD at most 0.3; 0.6 with x at R1" in run("status", path).out
    assert "no site 'R9'" in run("change", path, "--noise-class", "R9: x=0.6", "--yes").err
    assert "does not say whose" in run("change", path, "--noise-class", "R1: ", "--yes").err
    assert run("change", path, "--sd", "0.3", "--yes").code == 0
    assert "with x at R1" not in run("status", path).out
