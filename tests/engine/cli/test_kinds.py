"""Campaigns about yes and no, and about counts, from the table to what is known, with nothing but the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.cli.program import main

R1, R2 = ("Me", "Et", "Pr"), ("H", "F")
CHANCES = dict(zip([(a, b) for a in R1 for b in R2], (0.9, 0.8, 0.6, 0.4, 0.1, 0.05), strict=True))


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def library(path: Path, endpoint: str, values: Any) -> Path:
    rows = [(f"C{i}", a, b, value) for i, ((a, b), value) in enumerate(zip(CHANCES, values, strict=True))]
    path.write_text(f"ID,R1,R2,{endpoint}\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    return path


def filled(path: Path, value_of: Any) -> None:
    with path.open(encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(row | {"Value": value_of(CHANCES[row["R1"], row["R2"]])} for row in rows)


def test_answers_come_back_in_words_and_chances_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = library(tmp_path / "t.csv", "Activity", ["active", "", "inactive", "", "inactive", ""])
    file, work, rng = tmp_path / "a.assaypilot", tmp_path / "r.csv", np.random.default_rng(0)
    new = said(capsys, "new", file, "--table", table, "--epsilon", "0.3", "--slack", "0.3", "--per-round", "96",
               "--max-replicates", "40")  # fmt: skip
    assert (new["strategy"], new["history"]) == ("likelihood", 3)
    for _ in range(6):
        said(capsys, "plan", file, "--out", work)
        filled(work, lambda chance: "Active" if rng.random() < chance else "inactive")
        assert said(capsys, "record", file, work)["rejected"] == []
    now = said(capsys, "status", file)
    assert now["guarantee"]["holds"]
    assert "effects of the substituents add up in log odds" in now["guarantee"]["assumptions"][0]
    assert "within 30 percentage points of the best chance that Activity is active" in str(now)
    known = {one["id"]: one for one in now["compounds"]}
    assert known["C5"]["status"] == "out"
    assert known["C0"]["status"] != "out"
    for place, chance in enumerate(CHANCES.values()):
        one = known[f"C{place}"]
        assert 0.0 <= one["low"] <= chance <= one["high"] <= 1.0
        assert one["estimate"] == pytest.approx(chance, abs=0.2)
    assert main(["log", str(file), "--values", "C0"]) == 0
    out = capsys.readouterr().out
    assert " active" in out
    assert said(capsys, "verify", file, "--recompute")["ok"]
    # A wrong word is refused by its row, what cannot be is not recorded.
    said(capsys, "plan", file, "--out", work)
    filled(work, lambda _: "perhaps")
    assert main(["record", str(file), str(work)]) == 1
    assert "neither active nor inactive" in capsys.readouterr().err


def test_counts_are_compared_by_factors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = library(tmp_path / "t.csv", "Colonies", [""] * 6)
    file, work, rng = tmp_path / "a.assaypilot", tmp_path / "r.csv", np.random.default_rng(1)
    new = said(capsys, "new", file, "--table", table, "--endpoint", "Colonies;kind=count", "--epsilon", "0.3",
               "--slack", "0.2", "--per-round", "48")  # fmt: skip
    assert new["strategy"] == "likelihood"
    for _ in range(4):
        plan = said(capsys, "plan", file, "--out", work)
        if plan["finished"]:
            break
        filled(work, lambda chance: rng.poisson(40 * chance))
        said(capsys, "record", file, work)
    now = said(capsys, "status", file)
    assert "within 0.3 log (2-fold) of the best Colonies" in str(now)
    means = [40 * chance for chance in CHANCES.values()]
    known = {one["id"]: one for one in now["compounds"]}
    for place, mean in enumerate(means):
        one = known[f"C{place}"]
        assert one["low"] <= 1.25 * mean
        assert one["high"] >= 0.8 * mean
    assert (known["C0"]["status"], known["C5"]["status"]) == ("in", "out")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--strategy", "adaptive"), "scatters more the larger it is: adaptive needs values that all scatter alike"),
        (("--strategy", "likelihood", "--parameter", "link=logit"), "Choose likelihood."),
        (("--blocks", "plate", "--control", "REF;value=3"), "adaptive needs values that all scatter alike"),
    ],
)
def test_what_cannot_decide_on_counts_is_refused(tmp_path: Path, capsys, more: Any, says: str) -> None:
    table = library(tmp_path / "t.csv", "Colonies", [""] * 6)
    words = [
        "new",
        tmp_path / "a.assaypilot",
        "--table",
        table,
        "--endpoint",
        "Colonies;kind=count",
        "--epsilon",
        "0.3",
    ]
    assert main([*map(str, words), *more]) == 1
    assert says in capsys.readouterr().err
    assert not (tmp_path / "a.assaypilot").exists()


def test_adaptive_takes_chances_as_sums_when_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = library(tmp_path / "t.csv", "Activity", ["active", "", "inactive", "", "inactive", ""])
    file = tmp_path / "a.assaypilot"
    said(capsys, "new", file, "--table", table, "--epsilon", "0.3", "--strategy", "adaptive")
    told = said(capsys, "status", file)["guarantee"]
    assert told["holds"]
    assert any("with an SD of 0.5, the largest that yes and no can have" in one for one in told["assumptions"])


@pytest.mark.parametrize(("strategy", "told"), [("linfact-xy", True), ("linfact-g", False), ("adaptive", False)])
def test_that_bounds_will_end_a_guarantee_is_said_when_the_campaign_is_made(tmp_path, capsys, strategy, told) -> None:
    table = tmp_path / "t.csv"
    rows = [f"C{i},{a},{b},{10.0 ** (i + 1):g}" for i, (a, b) in enumerate(CHANCES)]
    table.write_text("ID,R1,R2,IC50 (nM)\n" + "\n".join(rows) + "\n")
    words = ("--endpoint", "IC50 (nM);sd=0.2", "--epsilon", "0.5", "--strategy", strategy)
    new = said(capsys, "new", tmp_path / "a.assaypilot", "--table", table, *words)
    found = [text for text in new["warnings"] if text.startswith("No guarantee with bounds")]
    assert bool(found) is told
    assert not told or "linfact-xy promises nothing; adaptive takes such values in" in found[0]
