"""What adaptive takes beside LinFACT-G and the oracle: the committed report keeps its bars, and hides no miss."""

import numpy as np
import pytest

from assaypilot.engine.simulate.runner import run_of
from tests.published import against
from tests.published.against_runs import made, make, read, runs_of, units
from tests.published.against_tables import LEAST, MOST, PAIRS, SETTINGS, TABLES, table
from tests.published.calibration_checks import KS_FLOOR
from tests.published.calibration_rows import tables

TEXT = against.REPORT.read_text(encoding="utf-8")
ROWS = tables(TEXT)[0]
ABOVE = 2
"""Pairs, of 84, whose median may be above the bar, by less than a round: tables of many effects that are decided in
three rounds, where a last round of one measurement per effect counts for much."""


def number(cell):
    return float(cell.replace(",", ""))


def test_the_report_keeps_its_bars():
    """By its own figures: what it says of each pair, and of all."""
    names = {pair.name for pair in PAIRS}
    assert {row[0] for row in ROWS} <= names
    assert len(ROWS) == len({row[0] for row in ROWS})
    for row in ROWS:
        bar = against.bar(number(row[3]), number(row[5]))
        # Medians are printed as whole numbers.
        assert abs(number(row[7]) - bar) <= against.PER_ROUND
        assert (row[8] == "yes") == (number(row[2]) <= number(row[7])), row
    above = [row for row in ROWS if row[8] == "NO"]
    assert len(above) <= ABOVE, above
    # Those that miss it miss it by less than a round.
    assert all(number(row[2]) - number(row[7]) < against.PER_ROUND for row in above)
    assert np.median([number(row[6]) for row in ROWS]) <= 1 / against.SHARE
    assert f"Within the bar: {len(ROWS) - len(above)} of {len(ROWS)}." in TEXT


def row(kind, measurements, run=0, wrong=False):
    return {"kind": kind, "pair": 0, "run": run, "measurements": measurements, "wrong": wrong, "undecided": 0}


@pytest.mark.parametrize(("measurements", "word"), [(383, "yes"), (385, "NO")])
def test_a_report_says_who_is_above_the_bar(measurements, word):
    steps = np.random.default_rng(0).standard_normal(200).tolist()
    rows = [row("linfact-g", 1250), row("oracle", 209), row("adaptive", measurements) | {"steps": steps}]
    text = against.report(rows)
    assert tables(text)[0][0][-1] == word
    assert "Wrong: 0 of 1 campaigns" in text
    # Too small by a third: errors as large as these are noticed.
    wide = against.report([*rows[:2], rows[2] | {"steps": [1.3 * step for step in steps * 5]}])
    assert float(wide.partition("Smirnov p ")[2].split(".\n")[0]) < KS_FLOOR


def test_tables_are_as_they_are_said_to_be():
    assert len(PAIRS) == TABLES * len(SETTINGS)
    sizes = [table(k).make(0) for k in range(1, TABLES)]
    assert all(LEAST <= drawn.n_arms <= MOST for drawn in sizes)
    assert all(3 <= drawn.features.codes.shape[1] <= 6 for drawn in sizes)
    assert sum(map(runs_of, PAIRS)) >= 2000
    every = units()
    assert len(every) == len(set(every))
    assert {unit[1] for unit in every if unit[0] == "adaptive"} == set(range(len(PAIRS)))


def test_a_unit_is_a_run_of_simulate_and_its_errors_are_those_decided_by():
    found = made("adaptive", 0, 3)
    run = run_of(PAIRS[0].task("adaptive"), 3)
    assert (found["measurements"], found["phases"], found["wrong"]) == (run.measurements, run.phases, run.wrong)
    assert found["reason"] == "decided"
    # The first phase has no leader yet, and a phase need not tell every difference.
    assert 1 <= len(found["steps"]) < found["phases"]
    assert max(map(abs, found["steps"])) < 5


def test_what_was_cut_off_is_made_again(tmp_path):
    path = tmp_path / "runs.jsonl"
    make(path, jobs=1, most=1)
    whole = path.read_text(encoding="utf-8")
    assert [(found["kind"], found["run"]) for found in read(path)] == [("linfact-g", 0)]
    path.write_text(whole[:-9], encoding="utf-8")
    assert read(path) == []
    assert read(tmp_path / "none.jsonl") == []
