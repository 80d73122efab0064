"""What a command says before anybody relies on it."""

import shlex

import numpy as np

from tests.engine.cli.helpers import fill_in

HEADER = ("ID", "R1", "R2", "pIC50")
GOAL = ("--epsilon", "0.5", "--sd", "0.1")


def grid(value):
    return [HEADER, *((f"C{i}{j}", f"a{i}", f"b{j}", value(i, j)) for i in range(4) for j in range(4))]


def test_new_states_how_well_contributions_add_up_before_it_promises_anything(run, done, table, tmp_path):
    path = table(grid(lambda i, j: 5 + i * j % 3))
    answer = run("new", tmp_path / "x.assaypilot", "--table", path, *GOAL)
    assert answer.code == 0
    lines = answer.out.splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("pIC50: the additive model does not fit"))
    assert at < next(k for k, line in enumerate(lines) if line.startswith("Strategy"))
    document = done("new", tmp_path / "y.assaypilot", "--table", path, *GOAL)
    assert document["model_report"]["pIC50"]["sentence"] == lines[at]


def test_next_command_can_be_pasted_where_names_have_spaces(run, campaign, tmp_path):
    path, sheet = tmp_path / "my series (1).assaypilot", tmp_path / "round 1.csv"
    campaign.rename(path)
    assert shlex.split(run("status", path).out.splitlines()[-1])[3] == str(path)
    said = run("plan", path, "--out", sheet).out.splitlines()[-1]
    assert shlex.split(said)[-2:] == [str(path), str(sheet)]


def test_every_step_names_the_command_that_comes_next(run, campaign, tmp_path):
    def ends(*words):
        return run(*words).out.rstrip().splitlines()[-1]

    sheet = tmp_path / "round1.csv"
    assert ends("status", campaign) == f"Next: assaypilot plan {campaign} --out round1.csv"
    run("plan", campaign, "--out", sheet)
    assert ends("status", campaign).startswith("Next: fill in the work list of round 1, then: assaypilot record ")
    fill_in(sheet, lambda name: 6.0, np.random.default_rng(1), 0.1)
    assert ends("record", campaign, sheet) == f"Next: assaypilot plan {campaign} --out round2.csv"
