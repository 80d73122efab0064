"""Goals and limits from the command line: two endpoints, one best compound, and what can be had against what could."""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.cli.program import main
from assaypilot.engine.domain.goals import ParetoSet
from tests.engine.cli.helpers import R1, R2, fill, read_sheet, truth_of, write_sheet

Done = Callable[..., Any]
IDS = {f"C-{i:02d}": (a, b) for i, (a, b) in enumerate((a, b) for a in R1 for b in R2)}
SIDE = {"H": 4.5, "Me": 5.1, "OMe": 5.6, "Cl": 5.4}
TRUTH = {
    "pIC50": {name: truth_of(*parts) for name, parts in IDS.items()},
    "hERG": {name: SIDE[a] + {"H": 0.0, "F": -0.4, "CF3": 0.5}[b] for name, (a, b) in IDS.items()},
}
BOTH = ("--endpoint", "pIC50;sd=0.2", "--endpoint", "hERG;sd=0.3;direction=min")
GOOD = np.array([list(TRUTH["pIC50"].values()), [-value for value in TRUTH["hERG"].values()]])


def fill_in(path: Path, rng: np.random.Generator, lost: Sequence[str] = ()) -> int:
    """Fills in the columns of a work list as a lab would; how many values."""
    header, rows = read_sheet(path)
    filled = 0
    for row in rows:
        for name, sd in (("pIC50", 0.2), ("hERG", 0.3)):
            if name in row and row[name] == "" and f"{row['ID']} {name}" not in lost:
                row[name] = f"{TRUTH[name][row['ID']] + sd * rng.standard_normal():.4f}"
                filled += 1
    write_sheet(path, header, rows)
    return filled


def play(campaign: Path, done: Done, folder: Path, most: int = 150) -> dict[str, Any]:
    """Rounds as work lists until nothing is asked; the final status."""
    rng = np.random.default_rng(0)
    for number in range(most):
        sheet = folder / f"round{number}.csv"
        plan = done("plan", campaign, "--out", sheet)
        if plan["finished"]:
            return dict(done("status", campaign))
        fill_in(sheet, rng)
        done("record", campaign, sheet)
    raise AssertionError("no end in sight")


def test_trade_offs_from_a_table_to_a_shortlist(small, tmp_path, done, run):
    campaign = tmp_path / "trade.assaypilot"
    made = done("new", campaign, "--table", small, *BOTH, "--goal", "pareto", "--epsilon", "0.6", "--per-round", "96")
    assert (made["objectives"], made["strategy"]) == (["pIC50", "hERG"], "adaptive")
    assert [(e["name"], e["noise_sd"], e["in_goal"]) for e in made["endpoints"]] == [
        ("pIC50", 0.2, True),
        ("hERG", 0.3, True),
    ]
    sheet = tmp_path / "work.csv"
    plan = done("plan", campaign, "--out", sheet)
    assert plan["endpoints"] == ["pIC50", "hERG"]
    replicates = sum(entry["replicates"] for entry in plan["compounds"])
    assert plan["measurements"] == 2 * replicates <= 96
    header, rows = read_sheet(sheet)
    assert {"pIC50", "hERG"} <= set(header)
    assert "Value" not in header
    assert len(rows) == replicates
    # The hERG values of one compound are lost and come again, alone.
    one = rows[0]["ID"]
    filled = fill_in(sheet, np.random.default_rng(1), lost=[f"{one} hERG"])
    record = done("record", campaign, sheet, "--close")
    assert (record["accepted"], record["round_closed"], record["unplanned"]) == (filled, True, 0)
    again = done("plan", campaign, "--out", tmp_path / "again.csv")
    (entry,) = (entry for entry in again["compounds"] if "replicates_of" in entry and entry["id"] == one)
    assert entry["replicates_of"]["hERG"] == entry["replicates"] > entry["replicates_of"]["pIC50"]
    _, rows = read_sheet(tmp_path / "again.csv")
    mine = [row for row in rows if row["ID"] == one]
    assert sum(row["pIC50"] == "N/A" for row in mine) == entry["replicates"] - entry["replicates_of"]["pIC50"]
    assert all(row["hERG"] == "" for row in mine)
    assert run("plan", campaign, "--out", tmp_path / "again.csv").code == 0, "N/A is no value that would be lost"
    final = play(campaign, done, tmp_path)
    assert final["finished"]
    inside = np.isin(list(IDS), final["in"])
    assert ParetoSet((0.6, 0.6)).is_right(inside, GOOD)
    first = final["compounds"][0]
    assert set(first["estimate"]) == set(first["low"]) == set(first["high"]) == {"pIC50", "hERG"}
    assert final["probabilities"] == {"within_epsilon": "trade-off", "within_slack": "trade-off up to 0.6"}
    assert final["measurements_used"] % 2 == 0
    done("export", campaign, tmp_path / "short.csv")
    header, rows = read_sheet(tmp_path / "short.csv")
    assert {row["ID"] for row in rows} == set(final["in"])
    assert {"pIC50 low", "hERG low", "P(trade-off)", "Assay noise (SD) of hERG"} <= set(header)
    assert done("verify", campaign, "--recompute")["ok"]
    shown = run("status", campaign).out
    assert "hERG estimate" in shown
    assert shown.count("P(trade-off") == 2
    assert "The best trade-offs between pIC50 and hERG" in shown


def test_a_limit_puts_compounds_out(small, tmp_path, done, run):
    campaign = tmp_path / "limit.assaypilot"
    specs = ("--endpoint", "pIC50;sd=0.2", "--endpoint", "hERG;sd=0.3;limit=<5")
    goal = ("--objective", "pIC50", "--epsilon", "0.5", "--slack", "0.5", "--budget", "120")
    made = done("new", campaign, "--table", small, *specs, *goal, "--strategy", "gaussian-process")
    assert [(e["name"], e["limit"], e["in_goal"]) for e in made["endpoints"]] == [
        ("pIC50", None, True),
        ("hERG", "hERG < 5", False),
    ]
    final = play(campaign, done, tmp_path)
    assert final["limits"] == ["hERG < 5"]
    chances = {entry["id"]: entry["probability_meets_limits"]["hERG"] for entry in final["compounds"]}
    assert all(chances[name] < 0.5 for name, value in TRUTH["hERG"].items() if value > 5.5)
    assert "hERG < 5" in final["goal"]
    shown = run("status", campaign).out
    assert "P(hERG < 5)" in shown
    done("export", campaign, tmp_path / "all.csv", "--only", "all")
    _, rows = read_sheet(tmp_path / "all.csv")
    assert all(0 <= float(row["P(hERG < 5)"]) <= 1 for row in rows)


def test_the_best_of_what_could_be_made_from_what_is_there(table, tmp_path, done):
    """X: a dozen compounds in stock. Z: every combination. Nothing but what is listed is ever asked for."""
    sizes = {"R1": "ABCD", "R2": "EFGH", "R3": "IJK"}
    effects = {label: 0.35 * (k % 4) - 0.2 * (k % 3) for k, label in enumerate("ABCDEFGHIJK")}
    every = list(itertools.product(*sizes.values()))
    stock = [combination for k, combination in enumerate(every) if k % 5 in (0, 2)]
    path = table([("ID", *sizes), *((f"S{k}", *combination) for k, combination in enumerate(stock))], name="stock.csv")
    campaign = tmp_path / "best.assaypilot"
    made = done(
        "new", campaign, "--table", path, "--product", "--only-listed", "--endpoint", "pIC50;sd=0.1",
        "--goal", "best", "--slack", "0.1",
    )  # fmt: skip
    assert (made["compounds"], made["strategy"]) == (48, "adaptive")
    by_id = {f"S{k}": combination for k, combination in enumerate(stock)}
    rng = np.random.default_rng(0)
    for number in range(100):
        sheet = tmp_path / f"{number}.csv"
        plan = done("plan", campaign, "--out", sheet)
        if plan["finished"]:
            break
        assert {entry["id"] for entry in plan["compounds"]} <= set(by_id)
        fill(sheet, lambda row: 6 + sum(effects[x] for x in by_id[row["ID"]]) + 0.1 * rng.standard_normal())
        done("record", campaign, sheet)
    final = done("status", campaign)
    (best,) = final["in"]
    value = {name: sum(effects[x] for x in combination) for name, combination in by_id.items()}
    carried = by_id.get(best) or tuple(part.split("=")[1] for part in best.split("|"))
    assert sum(effects[x] for x in carried) >= max(sum(effects[x] for x in c) for c in every) - 0.1
    assert max(value.values()) <= sum(effects[x] for x in carried) + 0.1
    assert final["probabilities"]["within_epsilon"] == "best"


def test_the_best_ten_are_asked_for_by_their_number(tmp_path, capsys):
    file, table = tmp_path / "a.assaypilot", tmp_path / "t.csv"
    rows = [f"C{a}{b},a{a},b{b},{5 + 0.3 * a + 0.2 * b:.2f}\n" for a in range(8) for b in range(6)]
    table.write_text("ID,R1,R2,pIC50\n" + "".join(rows))
    words = ["new", str(file), "--table", str(table), "--sd", "0.05", "--top", "5", "--slack", "0.15", "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["strategy"] == "gaussian-process"
    assert main(["status", str(file), "--json"]) == 0
    now = json.loads(capsys.readouterr().out)
    assert len(now["in"]) == 5
    truth = {f"C{a}{b}": 5 + 0.3 * a + 0.2 * b for a in range(8) for b in range(6)}
    last = sorted(truth.values())[-5]
    assert all(truth[one] >= last - 0.15 - 1e-9 for one in now["in"])
    assert "The 5 compounds with the best pIC50" in str(now)


@pytest.mark.parametrize(("limit", "asked"), [("<5", True), (">10", False)])
def test_limit_that_leaves_out_the_better_compounds_is_asked_about(done, tmp_path, limit, asked):
    table = tmp_path / "table.csv"
    table.write_text("ID,R1,R2,IC50 (nM),hERG IC50 (uM)\na,H,F,30,2\nb,Me,F,300,10\nc,H,Cl,3,30\n", encoding="utf-8")
    specs = ("--endpoint", "IC50 (nM);sd=0.2", "--endpoint", f"hERG IC50 (uM);sd=0.2;limit={limit}")
    goal = ("--objective", "IC50 (nM)", "--strategy", "gaussian-process")
    made = done("new", tmp_path / "c.assaypilot", "--table", table, *specs, *goal)
    assert any("leaves out the better compounds" in text for text in made["warnings"]) == asked
