"""``exclude``, ``include``, ``correct`` and ``log --values``: a recorded value that is wrong, by its number."""

import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.engine.cli import main
from tests.engine.cli.helpers import R1, R2, fill_in, truth_of


@pytest.fixture(scope="module")
def decided(tmp_path_factory):
    """A campaign of twelve compounds with one value each from before, measured until it was decided."""
    folder, rng = tmp_path_factory.mktemp("decided"), np.random.default_rng(3)
    pairs = {f"C-{i:02d}": pair for i, pair in enumerate((a, b) for a in R1 for b in R2)}
    lines = [f"{name},{a},{b},{truth_of(a, b):.2f}" for name, (a, b) in pairs.items()]
    (folder / "table.csv").write_text("\n".join(["ID,R1,R2,pIC50", *lines]), encoding="utf-8")
    path = folder / "x.assaypilot"
    with redirect_stdout(StringIO()):
        words = f"new {path} --table {folder / 'table.csv'} --epsilon 0.5 --sd 0.2 --strategy proven"
        assert main(words.split()) == 0
        for number in range(1, 9):
            out = folder / f"round{number}.csv"
            assert main(["plan", str(path), "--out", str(out)]) == 0
            if not out.exists():
                break
            fill_in(out, lambda name: truth_of(*pairs[name]), rng, 0.2)
            assert main(["record", str(path), str(out)]) == 0
    return path


@pytest.fixture
def measured(decided, tmp_path):
    """That campaign, to be changed."""
    return Path(shutil.copy(decided, tmp_path / "x.assaypilot"))


def _values(done, path: Path, *words: str) -> list[dict]:
    return done("log", path, "--values", *words)


def test_a_value_of_history_is_corrected_and_kept_as_it_was_entered(measured, done, run):
    (first, *_) = _values(done, measured, "C-00")
    assert first["round"] == 0
    answer = run("correct", measured, first["number"], "6,25", "--reason", "digits swapped")
    assert answer.code == 0, answer.err
    assert "corrected to 6.25: digits swapped" in answer.out
    (after, *_) = _values(done, measured, "C-00")
    assert (after["value"], after["entered"], after["corrected"]) == (6.25, first["value"], "digits swapped")
    assert done("verify", measured, "--recompute")["ok"]


def test_what_changes_a_decision_is_reported_and_needs_a_yes(measured, done, run):
    before = done("status", measured)
    assert before["counts"]["undecided"] == 0
    best = before["in"][0]
    number = next(one["number"] for one in _values(done, measured, best) if one["round"])
    words = ["correct", measured, number, "3", "--reason", "plate read anew"]
    answer = run(*words)
    assert answer.code == 1
    assert "Then " in answer.out
    assert "(now " in answer.out
    assert "Say --yes to do it." in answer.err
    assert done(*words, "--dry-run")["changed"] is False
    assert done("status", measured)["head"] == before["head"]
    found = done(*words, "--yes")
    assert found["changed"]
    assert found["value"] == 3.0
    assert found["counts"] == done("status", measured)["counts"] != before["counts"]
    said = found["consequences"][-1]
    assert ENDS in found["consequences"]
    assert f"{found['counts']['in']:,} in (now {before['counts']['in']:,})" in said
    assert done("verify", measured, "--recompute")["ok"]


def test_a_comma_that_may_be_a_thousands_mark_is_not_guessed_at(table, tmp_path, done, refused):
    rows = [("ID", "R1", "R2", "IC50 (nM)")]
    rows += [(f"{a}-{b}", a, b, "" if (a, b) != ("H", "H") else "950") for a in R1 for b in R2]
    path = tmp_path / "n.assaypilot"
    done("new", path, "--table", table(rows), "--epsilon", "0.5", "--sd", "0.2")
    assert "can be read in two ways" in refused("correct", path, 1, "1,250", "--reason", "x")
    found = done("correct", path, 1, ">1.25 uM", "--reason", "not reached")
    assert (found["value"], found["relation"], found["unit"], found["entered"]) == (1250.0, ">", "nM", 950.0)
