import itertools

import numpy as np
import pytest

from assaypilot.engine.simulate.instances import names
from tests.engine.cli.test_keys import Maybe, Number, has

RUNS = ("--runs", "4", "--seed", "3")
LINFACT = ("simulate", "--instance", "linfact-3", "--strategy", "linfact-g", *RUNS)

SIMULATE = {
    str: "strategy",
    int: "runs errors seed undecided unfinished",
    dict: "measurements rounds",
    Number: "precision recall f1 error_rate error_rate_upper seconds_per_run",
    Maybe: "lower_bound oracle",
    list: "void",
}


@pytest.fixture
def measured(tmp_path):
    """A table of 12 compounds with additive values and replicates."""
    rng = np.random.default_rng(0)
    r1, r2 = {"H": 0.0, "Me": 0.4, "OMe": 0.9, "Cl": -0.3}, {"H": 0.0, "F": 0.6, "CF3": -0.8}
    rows = [
        f"{a}-{b},{a},{b},{6 + r1[a] + r2[b] + 0.1 * rng.normal():.3f},{3 - r1[a] + r2[b]:.3f}"
        for a, b in itertools.product(r1, r2)
        for _ in range(2)
    ]
    path = tmp_path / "measured.csv"
    path.write_text("\n".join(["ID,R1,R2,pIC50,Sol", *rows]) + "\n", encoding="utf-8")
    return path


def test_the_keys_are_a_promise(done):
    (document,) = done(*LINFACT)
    has(document, SIMULATE)
    assert set(document["measurements"]) == {"mean", "sd", "median"}
    assert "mean" in document["rounds"]
    assert (document["strategy"], document["runs"], document["seed"]) == ("linfact-g", 4, 3)
    assert done(*LINFACT[:-1], "4")[0]["measurements"] != document["measurements"], "of another seed"
    assert 0 < document["lower_bound"] < document["oracle"] < document["measurements"]["mean"]
    assert (document["delta"], document["goal"]) == (0.05, {"name": "epsilon-best", "epsilon": 0.3, "slack": 0.0})


def test_the_list(done, run):
    entries = done("simulate", "--list")
    assert [entry["name"] for entry in entries] == list(names())
    for entry in entries:
        has(entry, {str: "name paper", int: "compounds dimension"})
    text = run("simulate", "--list").out
    assert all(name in text for name in names())
    assert "rage-sphere: arms=100, d=9" in text


def test_several_strategies_are_several_objects_on_the_same_draws(done):
    documents = done(*LINFACT[:4], "linfact-g,proven,linfact-g", *RUNS, "--max-phases", "1")
    assert [entry["strategy"] for entry in documents] == ["linfact-g", "adaptive"]
    words = "simulate --instance gege-synthetic:arms=10 --strategy gege,gege-fixed-budget --budget 90"
    both = done(*words.split(), "--runs", "1")
    assert [entry["strategy"] for entry in both] == ["gege", "gege-fixed-budget"]
    assert both[0]["complexity"] == both[1]["complexity"]
    assert all(entry["measurements"]["mean"] <= 90 for entry in both)
    assert all(entry["lower_bound"] is None and entry["yardsticks_note"] for entry in both)


def test_a_parameter_goes_to_the_strategies_that_have_it(done, run):
    documents = done(*LINFACT, "--parameter", "decide=planned", "--parameter", "first_radius=0.2")
    assert documents[0]["parameters"] == {"decide": "planned", "first_radius": 0.2}
    assert documents[0]["measurements"] != done(*LINFACT)[0]["measurements"]
    answer = run(*LINFACT, "--parameter", "foo=1")
    assert answer.code == 1
    assert "no strategy here has a parameter 'foo'. There are linfact-g: decide" in answer.err


def test_goal_options_change_an_instance(done):
    (document,) = done(
        *LINFACT, "--epsilon", "0.4", "--slack", "0.2", "--delta", "0.3", "--sd", "0.1", "--per-round", "96"
    )
    assert document["goal"] == {"name": "epsilon-best", "epsilon": 0.4, "slack": 0.2}
    assert (document["delta"], document["noise"]) == (0.3, [0.1])
    assert document["rounds"]["mean"] > document["phases"]["mean"]
    (poor,) = done(*LINFACT, "--budget", "100")
    assert poor["measurements"]["mean"] <= 100
    assert poor["undecided"] + poor["right"] + poor["errors"] == 4


def test_a_table_by_its_fit_or_by_its_values(done, run, measured):
    table = ("simulate", "--table", measured, "--objective", "pIC50", "--strategy", "proven", "--epsilon", "0.5", *RUNS)
    (fit,), (values,) = done(*table), done(*table, "--truth", "values")
    assert fit["noise"] == values["noise"]
    assert 0.05 < fit["noise"][0] < 0.2  # from the replicates
    assert fit["void"] == []
    assert "additivity does not hold" in values["void"][0]
    assert fit["oracle"] > 0
    assert values["oracle"] is None
    assert "additivity does not hold" in run(*table, "--truth", "values").out


def pareto_of(table):
    return "simulate", "--table", table, "--goal", "pareto", "--strategy", "gege", "--sd", "0.1"


def test_goals_of_a_table(done, measured):
    (pareto,) = done(*pareto_of(measured), *RUNS, "--budget", "500")
    assert (pareto["goal"]["name"], pareto["endpoints"]) == ("pareto", 2)
    (named,) = done(
        "simulate",
        "--table", measured, "--goal", "pareto", "--objective", "Sol,pIC50", "--strategy", "proven",
        "--epsilon", "0.3", "--sd", "0.1", *RUNS, "--budget", "500",
    )  # fmt: skip
    assert named["goal"]["margins"] == [0.3, 0.3]


def test_the_series_model_runs_with_fewer_measurements_than_effects(done, measured):
    """Six effects, four measurements: a real series often has a substituent of its own for most compounds."""
    table = (
        "simulate",
        "--table",
        str(measured),
        "--endpoint",
        "pIC50;sd=0.1",
        "--truth",
        "values",
        "--epsilon",
        "0.5",
    )
    few = ("--strategy", "gaussian-process", "--per-round", "2", "--budget", "4", *RUNS)
    for options in ((), ("--sd", "unknown")):
        (document,) = done(*table, *few, *options)
        assert document["measurements"]["mean"] == 4
        assert document["noise_estimated"] is bool(options)


def test_what_cannot_be_run_is_refused_before_anything_is(run, monkeypatch):
    monkeypatch.setattr("assaypilot.engine.cli.simulating.simulate", None)
    monkeypatch.setattr("assaypilot.engine.cli.simulating.yardsticks", None)
    answer = run("simulate", "--instance", "linfact-1", "--strategy", "linfact-g,gege")
    assert answer.code == 1
    assert "gege does not answer" in answer.err
