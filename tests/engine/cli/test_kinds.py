"""Campaigns about yes and no, and about counts, from the table to what is known, with nothing but the command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.cli.program import main
from tests.engine.cli.helpers import fill, write_rows

R1, R2 = ("Me", "Et", "Pr"), ("H", "F")
CHANCES = dict(zip([(a, b) for a in R1 for b in R2], (0.9, 0.8, 0.6, 0.4, 0.1, 0.05), strict=True))


def said(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert main([*map(str, words), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def library(path: Path, endpoint: str, values: Any) -> Path:
    rows = [(f"C{i}", a, b, value) for i, ((a, b), value) in enumerate(zip(CHANCES, values, strict=True))]
    return write_rows(path, [("ID", "R1", "R2", endpoint), *rows])


def filled(path: Path, value_of: Any) -> None:
    fill(path, lambda row: value_of(CHANCES[row["R1"], row["R2"]]))


def test_answers_come_back_in_words_and_chances_are_shown(tmp_path, capsys):
    table = library(tmp_path / "t.csv", "Activity", ["active", "", "inactive", "", "inactive", ""])
    file, work, rng = tmp_path / "a.assaypilot", tmp_path / "r.csv", np.random.default_rng(0)
    new = said(capsys, "new", file, "--table", table, "--epsilon", "0.3", "--slack", "0.3", "--per-round", "96",
               "--max-replicates", "40", "--strategy", "linfact-glm")  # fmt: skip
    assert (new["strategy"], new["history"]) == ("linfact-glm", 3)
    for _ in range(2):
        said(capsys, "plan", file, "--out", work)
        filled(work, lambda chance: "Active" if rng.random() < chance else "inactive")
        assert said(capsys, "record", file, work)["rejected"] == []
    now = said(capsys, "status", file)
    assert now["guarantee"]["holds"]
    assert "effects of the substituents add up on the logit scale" in now["guarantee"]["assumptions"][0]
    assert "within 0.3 log odds of the best chance that Activity is active" in str(now)
    known = {one["id"]: one for one in now["compounds"]}
    for place, chance in enumerate(CHANCES.values()):
        one = known[f"C{place}"]
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


@pytest.mark.parametrize(
    ("endpoint", "kind"), [pytest.param("Activity", "yes-no", marks=pytest.mark.slow), ("Colonies", "count")]
)
def test_the_series_model_finds_the_best_by_answers_and_by_counts(tmp_path, capsys, endpoint, kind):
    table = library(tmp_path / "t.csv", endpoint, [""] * 6)
    file, work, rng = tmp_path / "a.assaypilot", tmp_path / "r.csv", np.random.default_rng(4)
    far = 0.3 if kind == "yes-no" else 12
    new = said(capsys, "new", file, "--table", table, "--endpoint", f"{endpoint};kind={kind}", "--epsilon", far,
               "--per-round", "24")  # fmt: skip
    assert new["strategy"] == "gaussian-process"
    for _ in range(12):
        plan = said(capsys, "plan", file, "--out", work)
        if plan["finished"]:
            break
        filled(work, lambda chance: int(rng.random() < chance) if kind == "yes-no" else rng.poisson(40 * chance))
        assert said(capsys, "record", file, work)["rejected"] == []
    now = said(capsys, "status", file)
    assert now["claim"]["kind"] == "calibrated"
    assert {"C0", "C1"} <= set(now["in"]) <= {"C0", "C1", "C2"}
    assert "log odds" not in str(now)
    for one, chance in zip(sorted(now["compounds"], key=lambda one: one["id"]), CHANCES.values(), strict=True):
        truth = chance if kind == "yes-no" else 40 * chance
        assert one["low"] <= truth <= one["high"]
    curve = said(capsys, "forecast", file)["curve"]
    assert all(0.0 <= point["found"] <= 1.0 for point in curve)
