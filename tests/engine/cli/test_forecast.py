"""``forecast``: what a user and a script are told."""

import pytest

from assaypilot.engine.simulate import series_forecast
from tests.engine.cli.test_keys import Number, has

TABLE = "ID,R1,R2\n" + "\n".join(f"C{i}{j},a{i},b{j}" for i in range(4) for j in range(3)) + "\n"


@pytest.fixture
def file(tmp_path, run):
    table = tmp_path / "table.csv"
    table.write_text(TABLE, encoding="utf-8")

    def make(*options):
        path = tmp_path / "c.assaypilot"
        goal = ("--endpoint", "pIC50", "--epsilon", "0.5", "--strategy", "linfact-g", "--per-round", "12")
        sd = () if "--sd" in options else ("--sd", "0.2")
        assert run("new", path, "--table", table, *goal, *sd, *options).code == 0
        return path

    return make


def test_the_keys_that_are_promised(run, file):
    document = run("forecast", file("--budget", "500"), "--json", "--runs", "9", "--seed", "4").document
    has(document, {
        dict: "measurements measurements_to_finish rounds rounds_to_finish budget next_round",
        Number: "decided", bool: "open_ended", str: "assumed", int: "runs seed",
    })  # fmt: skip
    assert (document["runs"], document["seed"]) == (9, 4)
    left = document["measurements_to_finish"]
    assert 0 < left["low"] <= left["median"] <= left["high"] <= 500
    assert sum(document["budget"][key] for key in ("in", "out", "undecided")) == pytest.approx(12)


def test_status_states_it_too_when_asked(done, run, file):
    campaign = file()
    told = done("status", campaign, "--forecast")["forecast"]
    whole = done("forecast", campaign)
    assert told == {key: whole[key] for key in ("measurements_to_finish", "rounds_to_finish")}
    assert set(told["measurements_to_finish"]) == {"low", "median", "high"}
    assert done("status", campaign)["forecast"] is None  # it takes a second
    assert "measurements in all" in run("status", campaign, "--forecast").out
    refused = run("status", campaign, "--forecast", "--round", "0")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert "--forecast: a forecast is of where the campaign stands now" in refused.err


def test_a_budget_below_a_round_is_one_round_and_not_called_finished(done, run, file):
    """A plate of 12 with 6 measurements left: all six at once; noise of 3 leaves everything open."""
    campaign = file("--strategy", "gaussian-process", "--sd", "3", "--budget", "6")
    assert done("plan", campaign)["measurements"] == 6
    assert run("plan", campaign, "--withdraw").code == 0
    (point,) = done("forecast", campaign)["curve"]
    assert (point["measurements"], point["finished"]) == (6, 0.0)


@pytest.mark.slow
def test_a_large_library_has_a_forecast(done, run, tmp_path, monkeypatch):
    """Twenty-two thousand compounds: more than are drawn jointly."""
    monkeypatch.setattr(series_forecast, "_RUNS", 1)
    monkeypatch.setattr(series_forecast, "_ROUNDS", 2)
    table, path = tmp_path / "large.csv", tmp_path / "large.assaypilot"
    rows = (f"C{a}-{b}-{c},a{a},b{b},c{c}" for a in range(28) for b in range(28) for c in range(28))
    table.write_text("\n".join(("ID,R1,R2,R3", *rows)), encoding="utf-8")
    goal = ("--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5", "--strategy", "gaussian-process")
    assert run("new", path, "--table", table, *goal).code == 0
    assert [point["measurements"] for point in done("forecast", path)["curve"]] == [96, 192]


def test_forecast_does_not_call_a_table_with_values_of_one_endpoint_unmeasured(done, run, tmp_path):
    table, path = tmp_path / "table.csv", tmp_path / "c.assaypilot"
    rows = (f"C{i}{j},a{i},b{j},{6 + i - j / 2}" for i in range(4) for j in range(3))
    table.write_text("\n".join(("ID,R1,R2,pIC50", *rows)), encoding="utf-8")
    ends = ("--endpoint", "pIC50;sd=0.2", "--endpoint", "hERG;sd=0.3;direction=min", "--goal", "pareto")
    assert run("new", path, "--table", table, *ends, "--epsilon", "0.3", "--strategy", "auto").code == 0
    said = done("forecast", path, "--runs", "1")["assumed"]
    assert said.startswith("Not every endpoint of the goal is measured yet")
