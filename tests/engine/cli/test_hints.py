"""What a command says before anybody relies on it."""

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


def test_own_lists_and_text_that_is_no_table_are_written_over(done, campaign, tmp_path):
    for ending in ("csv", "xlsx"):
        out = tmp_path / f"own.{ending}"
        assert [done("export", campaign, out, "--only", "all")["rows"] for _ in range(2)] == [12, 12]
    for _ in range(2):
        done("plan", campaign, "--out", tmp_path / "round.csv")
    (tmp_path / "old.csv").write_text("old", encoding="utf-8")
    assert done("export", campaign, tmp_path / "old.csv", "--only", "all")["rows"] == 12


def test_sds_of_single_runs_do_not_take_the_place_of_the_stated_noise(run, table, tmp_path):
    rng = np.random.default_rng(3)
    effects = rng.normal(0, 0.5, (2, 6))
    rows = [
        (f"C{i}{j}", f"a{i}", f"b{j}", round(6 + effects[0, i] + effects[1, j] + rng.normal(0, 0.2), 3), 0.04, 3)
        for i in range(6)
        for j in range(6)
    ]
    path = table([(*HEADER, "SD", "n"), *rows])
    new = ("new", tmp_path / "x.assaypilot", "--table", path, "--epsilon", "0.5", "--endpoint")
    said = run(*new, "pIC50;sd=0.2").out
    assert "the additive model fits" in said
    assert "what the assay noise (SD 0.2) explains" in said
    assert "No guarantee" not in said
    # Where nothing is stated these SDs are all that is known of the noise.
    assert "beyond the assay noise (SD 0.04," in run("check", path).out


def test_every_step_names_the_command_that_comes_next(run, campaign, tmp_path):
    def ends(*words):
        return run(*words).out.rstrip().splitlines()[-1]

    sheet = tmp_path / "round1.csv"
    assert ends("status", campaign) == f"Next: assaypilot plan {campaign} --out round1.csv"
    run("plan", campaign, "--out", sheet)
    assert ends("status", campaign).startswith("Next: fill in the work list of round 1, then: assaypilot record ")
    fill_in(sheet, lambda name: 6.0, np.random.default_rng(1), 0.1)
    assert ends("record", campaign, sheet) == f"Next: assaypilot plan {campaign} --out round2.csv"
