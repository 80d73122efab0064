"""What a strategy cannot decide on is refused before anything is written, with the condition, the value and a mend."""

from collections.abc import Sequence

import pytest

from tests.engine.cli.helpers import R1, R2

NEAR = ("--epsilon", "0.5")


@pytest.fixture
def bare(table):
    """Twelve compounds, two sites, no values; six effects."""
    rows: list[Sequence[object]] = [("ID", "R1", "R2")]
    return table([*rows, *((f"C-{i:02d}", a, b) for i, (a, b) in enumerate((a, b) for a in R1 for b in R2))])


def test_results_of_yes_and_no_are_refused_whole(bare, table, tmp_path, done, refused):
    path = tmp_path / "x.assaypilot"
    done("new", path, "--table", bare, "--endpoint", "score;sd=0.2", *NEAR)
    asked = done("plan", path)["compounds"]
    rows = [("ID", "Value"), *((entry["id"], k % 2) for k, entry in enumerate(asked))]
    line = refused("record", path, table(rows, name="r.csv"))
    assert f"all {len(asked)} values of score are 0 or 1" in line
    assert done("status", path)["measurements_used"] == 0
    # One value between them, and they are what they are.
    rows[1] = (rows[1][0], 0.4)
    assert done("record", path, table(rows, name="r.csv"))["accepted"] == len(asked)


def test_values_of_another_unit_are_recorded_when_their_unit_is_given(table, tmp_path, done, refused):
    path = tmp_path / "x.assaypilot"
    rows = [(f"C-{i}", a, b, 20 + 90 * i) for i, (a, b) in enumerate((a, b) for a in R1 for b in R2)]
    known = table([("ID", "R1", "R2", "IC50 (nM)"), *rows])
    done("new", path, "--table", known, "--endpoint", "IC50 (nM);sd=0.2", *NEAR)
    results = table([("ID", "IC50"), ("C-1", 0.012), ("C-2", 0.25), ("C-3", 0.9)], name="r.csv")
    line = refused("record", path, results)
    assert "lie about a factor of 1,000 from the 12 before" in line
    assert "--unit uM; --unit nM if they are right" in line
    assert done("record", path, results, "--unit", "uM")["accepted"] == 3
    assert [(entry["value"], entry["unit"]) for entry in done("log", path, "--values")][-1] == (0.9, "uM")
