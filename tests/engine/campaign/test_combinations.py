"""Products that are too large to list: combinations join the library as they may be the best."""

import json
import re

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.cli.__main__ import main
from tests.engine.cli.helpers import write_rows

SITES, SIZE, ROWS = 4, 40, 160


@pytest.fixture
def table(tmp_path):
    """160 rows of 40^4 combinations, with values."""
    rng = np.random.default_rng(4)
    effects = rng.standard_normal((SITES, SIZE))
    codes = np.stack([rng.permutation(np.arange(ROWS) % SIZE) for _ in range(SITES)], axis=1)
    values = 6 + effects[np.arange(SITES), codes].sum(axis=1) + 0.1 * rng.standard_normal(ROWS)
    rows = [["ID", *(f"R{k + 1}" for k in range(SITES)), "score"]]
    for row, (code, value) in enumerate(zip(codes, values, strict=True)):
        rows.append([f"C{row}", *(f"s{c}" for c in code), f"{value:.2f}"])
    return write_rows(tmp_path / "table.csv", rows), effects


def run(capsys, *words):
    code = main([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def made(capsys, table, path, *more):
    return run(capsys, "new", path, "--table", table, "--product", "--endpoint", "score;sd=0.1;epsilon=0.5",
               "--per-round", 24, *more)  # fmt: skip


def value(effects, row):
    codes = [int(row["sites"][f"R{k + 1}"][1:]) for k in range(SITES)]
    return 6 + float(effects[np.arange(SITES), codes].sum())


@pytest.mark.slow
def test_rounds_go_where_no_list_was(capsys, table, tmp_path):
    path, (file, effects) = tmp_path / "big.apilot", table
    code, document = made(capsys, file, path)
    assert (code, document["combinations"]) == (0, SIZE**SITES)
    first = run(capsys, "status", path)[1]
    assert first["combinations"] == SIZE**SITES
    best, rng = [], np.random.default_rng(9)
    for number in range(1, 6):
        planned = run(capsys, "plan", path)[1]
        if planned["finished"]:
            break
        best.append(max(value(effects, row) for row in planned["compounds"]))
        rows = [
            (row["id"], replicate + 1, f"{value(effects, row) + 0.1 * rng.standard_normal():.4f}")
            for row in planned["compounds"]
            for replicate in range(row["replicates"])
        ]
        results = write_rows(tmp_path / f"results{number}.csv", [("ID", "Replicate", "Value"), *rows])
        code, document = run(capsys, "record", path, results)
        assert code == 0, document
    assert planned["finished"]
    after = run(capsys, "status", path)[1]
    listed = sum(after["counts"].values())
    assert listed > sum(first["counts"].values())
    assert f"{listed:,} listed of {SIZE**SITES:,}" in after["guarantee"]["sentence"]
    # The best of 2.6 million is found though 10,000 were listed at first.
    top = 6 + effects.max(axis=1).sum()
    assert max(best) >= top - 0.5
    assert verify(path, recompute=True).ok
    with Campaign.open(path) as campaign:
        assert campaign.status().library.partial


def test_a_plan_taken_back_leaves_what_was_listed(capsys, table, tmp_path):
    path = tmp_path / "big.apilot"
    made(capsys, table[0], path)
    with Campaign.open(path) as campaign:
        one = campaign.plan()
        listed = len(campaign.status().library)
        told = next(entry.text for entry in campaign.history() if entry.kind == "combinations_listed")
        assert re.fullmatch(rf"[\d,]+ combinations listed that may be the best, {listed:,} of 2,560,000 by now", told)
        assert campaign.undo_label is not None
        campaign.undo()
        assert campaign.undo_label is None
        assert len(campaign.status().library) == listed
        again = campaign.plan()
        assert [item.compound for item in again.items] == [item.compound for item in one.items]


def test_strategies_that_compare_everything_refuse(capsys, table, tmp_path):
    code, document = made(capsys, table[0], tmp_path / "big.apilot", "--strategy", "linfact-g")
    assert code == 1
    assert "2,560,000" in document["error"]["message"]
    assert not (tmp_path / "big.apilot").exists()


def test_a_design_of_too_many_compounds_is_refused(capsys, table):
    code, document = run(capsys, "design", table[0], "--criterion", "g", "--measurements", 200, "--product")
    assert code == 1
    assert "2,560,000" in document["error"]["message"]
