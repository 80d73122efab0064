"""The report of published numbers: what it is made of, and that the committed one is whole."""

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from assaypilot.engine.simulate.parallel import simulate
from assaypilot.engine.simulate.runner import Run
from tests.published import published
from tests.published.cases import Case, Found, Kept, interval, one_run, ratio, run_all, some
from tests.published.child import measure
from tests.published.pictures import FOLDER, LARGEST
from tests.published.section import Claim, Section, Verdict, as_often_right, at_most, better, fewer

CASE = Case("linfact-7", "linfact-g", 3, {"decide": "planned"})


def run(number, measurements=100, f1=1.0, wrong=False, undecided=0):
    return Run(number, 1.0, 1.0, f1, wrong, undecided, False, measurements, 1, 1, "decided", 0.001)


def found(name, runs, instance="i"):
    return Found(Case(instance, "uniform", len(runs), {}, name), tuple(runs), ())


def test_a_run_is_one_of_simulate():
    """The same numbers as the command line's, so that they can be looked at there."""
    assert tuple(some(CASE, range(3))) == simulate(CASE.task(), 3)


def test_slack_given_to_a_strategy_does_not_change_its_score():
    """Told that everything within 5 is good enough it takes what is worse, and that is wrong."""
    told = replace(CASE, told_slack=5.0)
    assert one_run(told, 0).precision < 1.0
    assert one_run(told, 0).wrong
    assert not one_run(CASE, 0).wrong


def test_intervals_and_ratios():
    values = [3.0, 5.0, 10.0]
    mean, half = interval(values)
    low, high = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert (mean - half, mean + half) == pytest.approx((low, high))
    assert interval([4.0]) == (4.0, math.inf)
    one = found("a", [run(0, 100), run(1, 1000)])
    other = found("b", [run(0, 200), run(1, 2000)])
    assert ratio(one, other) == pytest.approx((0.5, 0.5, 0.5))


def test_verdicts():
    by = {
        ("i", "few"): found("few", [run(k, 100 + k) for k in range(10)]),
        ("i", "many"): found("many", [run(k, 1000 + k, f1=0.5, wrong=True) for k in range(10)]),
        ("i", "about"): found("about", [run(k, (50, 200)[k % 2]) for k in range(10)]),
    }
    assert fewer(("i",), "few", "many")(by).holds is True
    assert fewer(("i",), "many", "few")(by).holds is False
    assert fewer(("i",), "few", "about")(by).holds is None
    assert better(("i",), ("few",), ("many",))(by).holds is True
    assert better(("i",), ("many",), ("few",))(by).holds is False
    assert as_often_right(("i",), "few", "many")(by).holds is True
    assert as_often_right(("i",), "many", "few")(by).holds is False
    assert as_often_right(("i",), "few", "about")(by).holds is None
    assert [at_most("i", "few", limit)(by).holds for limit in (200, 50, 105)] == [True, False, None]
    assert [Verdict.of(each, "").holds for each in itertools.product((True, None, False), repeat=2)] == [
        *(True, None, False),
        *(None, None, False),
        *(False, False, False),
    ]


def test_a_section_says_what_does_not_hold_and_what_was_left_out(monkeypatch, tmp_path):
    monkeypatch.setattr("tests.published.section.DATA", tmp_path)
    section = Section(
        "x",
        "Title",
        "Intro.",
        (CASE, replace(CASE, strategy="gse", file="none.csv"), Case("gse-static", "gse", 4, {}, "GSE")),
        (
            Claim("A.", at_most("linfact-7", "linfact-g", 10), "because."),
            Claim("B.", at_most("linfact-7", "nobody", 10)),
        ),
    )
    with ThreadPoolExecutor(1) as pool:
        text, results = section.markdown(0.5, pool)
    assert [len(one.runs) for one in results] == [2, 2]
    assert "Skipped, because the shared data folder has no none.csv." in text
    assert "- A. **DOES NOT HOLD**: linfact-g " in text
    assert text.rstrip().endswith("- B. **not told apart**: not run here.")
    assert " Why: because." in text
    assert "- GSE: a fixed budget promises no error probability" in text


def test_every_case_can_be_run():
    """Names, parameters and budgets are right: each strategy starts."""
    for section in published.SECTIONS:
        cases = section.cases if isinstance(section, Section) else [timed.case for timed in section.timed]
        keys = [(case.instance, case.name) for case in cases]
        assert len(set(keys)) == len(keys), section.name
        for case in cases:
            if not case.file:
                task = case.task()
                assert task.strategy.info.name == case.strategy


def test_runs_that_were_made_are_not_made_again(tmp_path, monkeypatch):
    path = tmp_path / "runs.jsonl"
    with ThreadPoolExecutor(1) as pool:
        whole = run_all([CASE], pool, Kept(path))
        # A cut in the midst of a line.
        path.write_text(path.read_text(encoding="utf-8")[:-30], encoding="utf-8")
        made = []
        monkeypatch.setattr(
            "tests.published.cases.some", lambda case, numbers: made.extend(numbers) or some(case, numbers)
        )
        again = run_all([replace(CASE, label="another name")], pool, Kept(path))
    assert made == [2]
    assert [one.runs for one in again] == [one.runs for one in whole]
    assert len(Kept(path)) == 3


@pytest.mark.slow
def test_a_case_in_a_process_of_its_own():
    seen = measure(replace(CASE, runs=2))
    assert 0 < seen.later < 60
    assert seen.peak is None or 20 < seen.peak < 300


def test_the_committed_report_is_whole():
    text = published.REPORT.read_text(encoding="utf-8")
    assert text.startswith(published.HEAD)
    for section in published.SECTIONS:
        assert published.mark(section.name) + f"## {section.title}\n" in text
        if isinstance(section, Section):
            picture = FOLDER / f"{section.name}.svg"
            assert f"](pictures/{picture.name})" in text or not section.figure
            assert not section.figure or picture.stat().st_size < LARGEST
    assert {path.stem for path in FOLDER.iterdir()} <= {section.name for section in published.SECTIONS}


def test_the_top_counts_what_holds_and_names_what_does_not():
    row = "| i | GEGE | {} | 1.0 |\n"
    text = published.summary(
        {
            "gege": row.format(30) + "- A. **holds**: x.\n- The same, B. **DOES NOT HOLD**: y. Why: z.\n",
            "gege-noc": row.format(7) + "- C. **not told apart**: x.\n- Ours: D. **DOES NOT HOLD**: y.\n",
            "memory": "- E. **holds**: x.\n",
        }
    )
    rows = ["| GEGE | 1 | 1 | 1 | 7 | A. (The same, B.) |", "| ours | 0 | 1 | 0 | - | Ours: D. |"]
    assert text.splitlines()[-4:-2] == rows
    # These rows are none of those that are asked for.
    assert text.endswith(" of the cases then: gege, gege-noc.\n")
    committed = published.REPORT.read_text(encoding="utf-8")
    verdicts = [line for line in committed.splitlines() if line.startswith("- ") and "**DOES NOT HOLD**" in line]
    assert verdicts
    assert all(line[2:].partition(" **")[0] in committed.partition("<!-- section")[0] for line in verdicts)
