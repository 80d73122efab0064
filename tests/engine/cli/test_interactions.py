"""Sites taken together, from the command line: what check proposes, and what all other commands make of it."""

import numpy as np
import pytest

from tests.engine.cli.helpers import write_rows

LABELS = {"R1": ("H", "Me", "Cl", "F"), "R2": ("H", "OMe", "CN"), "R3": ("a", "b", "c")}


@pytest.fixture
def table(tmp_path):
    """A series in which R1 and R2 act together, measured once."""
    rng = np.random.default_rng(5)
    both = rng.normal(0.0, 0.6, (4, 3))
    own = {site: rng.normal(0.0, 0.8, len(labels)) for site, labels in LABELS.items()}
    rows = [["ID", *LABELS, "pIC50"]]
    for a, b, c in np.ndindex(*map(len, LABELS.values())):
        mean = 6 + own["R1"][a] + own["R2"][b] + own["R3"][c] + both[a, b] + 0.15 * rng.normal()
        rows.append([f"C-{a}{b}{c}", LABELS["R1"][a], LABELS["R2"][b], LABELS["R3"][c], f"{mean:.3f}"])
    return write_rows(tmp_path / "series.csv", rows)


SPEC = ("--endpoint", "pIC50;sd=0.15")
GOAL = (*SPEC, "--epsilon", "0.5")


def test_check_proposes_the_pair_and_shows_what_it_gains(run, table):
    found = run("check", table, *SPEC, "--json").document
    first = found["interactions"]["pIC50"][0]
    assert first["sites"] == ["R1", "R2"]
    assert first["worth_trying"]
    assert (first["rank_before"], first["rank_after"]) == (8, 14)
    assert first["q2_after"] > first["q2_before"]
    assert first["lack_before"] < 0.001 < first["lack_after"]
    assert "R1 and R2 act together" in run("check", table, *SPEC).out
    taken = run("check", table, *SPEC, "--interaction", "R2,R1", "--json").document
    assert taken["rank"] == 14
    assert [site["name"] for site in taken["sites"]] == ["R1", "R2", "R3"]
    assert not any("act together" in text for text in taken["warnings"])
    assert "12 combinations occur" in " ".join(taken["notes"])


def test_a_campaign_design_and_simulation_with_the_pair(run, table, tmp_path):
    plain = run("new", tmp_path / "plain.assaypilot", "--table", table, *GOAL)
    assert plain.code == 0
    assert "No guarantee" in plain.out
    told = run("new", tmp_path / "a.assaypilot", "--table", table, *GOAL, "--interaction", "R1,R2", "--json").document
    assert told["rank"] == 14
    assert told["additivity"][0]["verdict"] == "not contradicted"
    issued = run("plan", tmp_path / "a.assaypilot", "--json").document
    assert set(issued["compounds"][0]["sites"]) == set(LABELS)
    design = run("design", table, "--criterion", "g", "--measurements", 40, "--interaction", "R1,R2", "--json").document
    assert design["value"] == pytest.approx(14.0, rel=0.01)
    made = run(
        "simulate", "--table", table, "--truth", "values", *GOAL, "--slack", "0.5", "--strategy", "adaptive",
        "--runs", 2, "--seed", 1, "--interaction", "R1,R2", "--json",
    ).document  # fmt: skip
    assert made[0]["errors"] == 0
