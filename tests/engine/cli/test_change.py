"""``change``: what follows is said first, and what is guaranteed changes only when somebody says yes."""

import json

import pytest

from tests.engine.cli.helpers import R1, R2, write_rows


@pytest.fixture
def campaign(tmp_path, run):
    rows = [(f"{a}-{b}", a, b, "", "") for a in R1 for b in R2]
    table = write_rows(tmp_path / "table.csv", [("ID", "R1", "R2", "pIC50", "hERG"), *rows])
    path = tmp_path / "x.assaypilot"
    spec = ["--endpoint", "pIC50;sd=0.2", "--endpoint", "hERG;sd=0.3"]
    assert run("new", path, "--table", table, *spec, "--objective", "pIC50", "--epsilon", "0.5").code == 0
    return path


def test_without_a_yes_it_is_reported_and_not_done(campaign, run):
    answer = run("change", campaign, "--epsilon", "0,3")
    assert answer.code == 1
    assert (
        "Changes the distance from the best from 0.5 to 0.3 and the softness of the cutoff from 0.25 to 0.15."
        in answer.out
    )
    assert "Say --yes to do it." in answer.err
    answer = run("change", campaign, "--epsilon", "0.3", "--json")
    assert answer.code == 1
    document = json.loads(answer.out)
    assert document["error"]["option"] == "--yes"
    assert document["consequences"][0].startswith("Changes the distance")
    assert "within 0.5 of" in run("status", campaign).out
    assert run("change", campaign, "--epsilon", "0.3", "--dry-run").code == 0
    assert "within 0.5 of" in run("status", campaign).out


def test_with_a_yes_it_is_done(campaign, run):
    words = ["--epsilon", "0.3", "--delta", "0.1", "--sd", "hERG=0.25"]
    answer = run("change", campaign, *words, "--note", "asked by Ann", "--yes", "--json")
    assert answer.code == 0
    document = json.loads(answer.out)
    assert document["changed"]
    assert document["goal"] == "All compounds within 0.3 of the best pIC50, cutoff soft by 0.15, 90 % sure"
    assert "(asked by Ann)" in run("log", campaign).out
    assert run("verify", campaign, "--recompute").code == 0


def test_compounds_are_added_from_a_table(campaign, tmp_path, run):
    table = tmp_path / "more.csv"
    table.write_text("Name,r2,R1,pIC50\nN-1,CF3,Et,7\nN-2,[H][*:2],Et,\nN-3,,Et,\nH-F,F,H,\n", encoding="utf-8")
    said = run("add", campaign, table, "--dry-run")
    assert said.code == 0
    assert "row 4: no substituent at r2" in said.out
    assert "Adds 2 compounds, to 14 compounds in all." in said.out
    assert "1 substituent new: R1 = Et." in said.out
    answer = run("add", campaign, table, "--json")
    document = json.loads(answer.out)
    assert (document["added"], document["compounds"]) == (["N-1", "N-2"], 14)
    assert document["not_used"] == [{"row": 4, "column": "r2", "reason": "no substituent at r2"}]
    assert run("verify", campaign, "--recompute").code == 0
    again = run("add", campaign, table)
    assert again.code == 1
    assert "all these compounds are in the campaign already" in again.err
    other = tmp_path / "other.csv"
    other.write_text("ID,R1\nN-4,Et\n", encoding="utf-8")
    assert "the table has no column R2" in run("add", campaign, other).err


def test_one_more_endpoint(campaign, run):
    answer = run("change", campaign, "--endpoint", "Sol (uM);sd=0.3;limit=>50", "--dry-run")
    assert answer.code == 0
    assert "gaussian-process and the endpoints, by Sol (uM) (Sol (uM) > 50 µM)." in answer.out
    answer = run("change", campaign, "--endpoint", "Solubility;unit=uM", "--json")
    assert answer.code == 0, "what is only recorded needs no yes"
    assert "decides nothing" in json.loads(answer.out)["consequences"][1]
    answer = run("change", campaign, "--endpoint", "logD;sd=0.2;direction=min", "--goal", "pareto", "--yes")
    assert answer.code == 0, answer.err
    assert "trade-offs between pIC50 and logD" in answer.out
    assert run("verify", campaign, "--recompute").code == 0
