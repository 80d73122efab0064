"""What adaptive takes beside LinFACT-G and the oracle: the committed report keeps its bars, and hides no miss."""

import numpy as np
import pytest

from assaypilot.engine.domain.features import DenseFeatures
from assaypilot.engine.simulate.baselines.oracle import oracle
from assaypilot.engine.simulate.runner import run_of
from assaypilot.engine.strategies.designs import table as projected
from tests.published import against
from tests.published.against_runs import AT_BORDERS, BORDERS, NOISES, OTHERWISE, made, units
from tests.published.against_tables import LEAST, MOST, PAIRS, SETTINGS, TABLES, table
from tests.published.all_at_once import all_at_once
from tests.published.calibration_checks import KS_FLOOR
from tests.published.calibration_rows import tables

TEXT = against.REPORT.read_text(encoding="utf-8")
ROWS = tables(TEXT)[0]


def number(cell):
    return float(cell.replace(",", ""))


def test_the_report_says_what_its_rows_come_to():
    """By its own figures: what it says of each pair, and of all."""
    names = {pair.name for pair in PAIRS}
    assert {row[0] for row in ROWS} == names
    assert len(ROWS) == len(names)
    for row in ROWS:
        ours, plain, _, every, own, at_once, bound = map(number, row[2:9])
        # Medians are printed as whole numbers.
        assert float(row[9]) == pytest.approx(ours / plain, abs=2e-3)
        assert float(row[10]) == pytest.approx(ours / own, abs=2e-2)
        assert float(row[11]) == pytest.approx(ours / at_once, abs=2e-2)
        assert own < every
        assert bound < own < at_once
    shares = [float(row[9]) for row in ROWS]
    assert np.median(shares) <= 1 / against.SHARE
    assert f"in {sum(share <= 1 / against.SHARE for share in shares)} of {len(ROWS)})" in TEXT.replace("\n", " ")


def test_the_own_oracle_is_at_the_level_of_one_compound_put_in():
    """4.07 beside 5.31 standard errors for 960 compounds."""
    assert against.own_oracle(0, 1000) == pytest.approx(1000 * (4.07 / 5.31) ** 2, rel=0.01)


def test_all_at_once_takes_what_chance_says():
    """Two compounds, each measured half of the time: n from (gap + error / sqrt(n)) >= level * 2 / sqrt(n)."""
    table = projected(DenseFeatures(np.eye(2)), np.arange(2))
    one = all_at_once(table, [1.0, 0.0], 0.5, 0.0, level=3.0, best_level=2.0, draws=4000)
    assert one == pytest.approx((2.0 * 3.0 / 0.5) ** 2, rel=0.05)
    # Of many that are alike the least lucky one counts.
    many = projected(DenseFeatures(np.eye(9)), np.arange(9))
    theta = np.array([1.0] + 8 * [0.0])
    assert all_at_once(many, theta, 0.5, 0.0, level=3.0, best_level=2.0) > 1.3 * own(many, theta)


def own(candidates, theta):
    """Measurements with which each comparison alone holds half of the time, at three standard errors."""
    return 9.0 * oracle(candidates, theta, 0.5).value


def row(kind, measurements, run=0, wrong=False):
    return {"kind": kind, "pair": 0, "run": run, "measurements": measurements, "wrong": wrong, "undecided": 0}


def test_a_report_notices_errors_that_are_too_large():
    steps = np.random.default_rng(0).standard_normal(200).tolist()
    others = [row("linfact-g", 1250), row("oracle", 209), row("all at once", 234), row("bound", 8.8)]
    text = against.report([*others, row("adaptive", 383) | {"steps": steps}])
    assert tables(text)[0][0][2:6] == ["383", "1,250", "-", "209"]
    assert "Wrong: 0 of 1 campaigns" in text
    wide = against.report([*others, row("adaptive", 383) | {"steps": [1.3 * step for step in steps * 5]}])
    # Too small by a third: errors as large as these are noticed.
    assert float(wide.partition("Smirnov p ")[2].split(".\n")[0]) < KS_FLOOR


def test_errors_that_are_not_normal_have_their_rows():
    found = [row("noise", 100 + k, k, wrong=k < 3) | {"pair": 5} for k in range(10)]
    told = tables(against.other_noise(found))[0]
    assert told == [["3 % gross errors", "0.3", "10", "3", "0.300", "0.067 to 0.652", "104"]]
    assert [cells[2] for cells in tables(TEXT)[-2]] == len(NOISES) * [str(OTHERWISE)]


def test_delta_is_spent_at_the_border_and_never_passed():
    """By one-sided limits of the report: nowhere more than delta, and not shown to be less than a third of 0.3."""
    found = tables(TEXT)[-1]
    assert [(float(delta), int(n), int(runs)) for n, delta, runs, *_ in found] == [
        (*one, AT_BORDERS) for one in BORDERS
    ]
    assert all(float(least) <= float(delta) for _, delta, *_, least, _ in found)
    assert all(float(most) > 0.1 for _, delta, *_, most in found if delta == "0.3")


def test_tables_have_their_stated_properties():
    assert len(PAIRS) == TABLES * len(SETTINGS)
    sizes = [table(k).make(0) for k in range(1, TABLES)]
    assert all(LEAST <= drawn.n_arms <= MOST for drawn in sizes)
    assert all(3 <= drawn.features.codes.shape[1] <= 6 for drawn in sizes)
    every = units()
    assert len(every) == len(set(every))
    assert {unit[1] for unit in every if unit[0] == "adaptive"} == set(range(len(PAIRS)))


@pytest.mark.slow
def test_a_unit_is_a_run_of_simulate_and_its_errors_are_those_decided_by():
    found = made("adaptive", 0, 3)
    run = run_of(PAIRS[0].task("adaptive"), 3)
    assert (found["measurements"], found["phases"], found["wrong"]) == (run.measurements, run.phases, run.wrong)
    assert found["reason"] == "decided"
    # The first phase has no leader yet, and a phase need not tell every difference.
    assert 1 <= len(found["steps"]) < found["phases"]
    assert max(map(abs, found["steps"])) < 5
