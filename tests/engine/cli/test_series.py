"""The default of the command line: a campaign under the series model, from a table to a shortlist."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.engine.cli.helpers import read_sheet, write_rows

SITES = {"R1": "ABCDEF", "R2": "GHIJ", "R3": "KLM"}


@pytest.fixture
def truth():
    """Values that no sum of site effects explains."""
    rng = np.random.default_rng(5)
    effects = [dict(zip(labels, rng.normal(0.0, 0.6, len(labels)), strict=True)) for labels in SITES.values()]
    names = list(itertools.product(*SITES.values()))
    return {"".join(n): 6.0 + sum(e[s] for e, s in zip(effects, n, strict=True)) + rng.normal(0.0, 0.3) for n in names}


@pytest.fixture
def table(tmp_path, truth):
    return write_rows(tmp_path / "series.csv", [["ID", *SITES], *([name, *name] for name in truth)])


def play(done, path, truth, rounds, seed=1):
    """Plan and record some rounds; return the documents of the plans."""
    rng, plans = np.random.default_rng(seed), []
    for number in range(rounds):
        plan = done("plan", path)
        if plan["finished"]:
            break
        plans.append(plan)
        asked = [entry["id"] for entry in plan["compounds"] for _ in range(entry["replicates"])]
        rows = [("ID", "Value"), *((name, truth[name] + 0.15 * rng.standard_normal()) for name in asked)]
        done("record", path, write_rows(path.with_name(f"results{number}-{seed}.csv"), rows), "--close")
    return plans


def new(done, tmp_path, table, *more, sd=0.15):
    path = tmp_path / "x.assaypilot"
    words = ("--endpoint", f"pIC50;sd={sd}", "--epsilon", "0.4", "--per-round", "12")
    return path, done("new", path, "--table", table, "--sites", "R1,R2,R3", *words, *more)


def test_repeat_has_the_reason_of_its_own_chances(done, tmp_path, table, truth):
    """With nothing new left to measure, compounds far from the border are repeated, too."""
    path, _ = new(done, tmp_path, table, "--per-round", "72", "--strategy", "auto")
    play(done, path, truth, 1)
    known = {one["id"]: one["probability_within_epsilon"] for one in done("status", path)["compounds"]}
    reasons = {one["id"]: one["reason"] for one in done("plan", path)["compounds"]}
    assert all(text.startswith("repeat: ") for text in reasons.values())
    hopeless = [reasons[name] for name in reasons if known[name] < 0.02]
    assert hopeless
    assert not any("may be in" in text or "border" in text for text in hopeless)
    assert all("may be in" in reasons[name] for name in reasons if known[name] >= 0.02)


def test_default_campaign_finds_best_and_states_expected_errors(done, tmp_path, table, truth):
    path, made = new(done, tmp_path, table, "--strategy", "auto")
    assert made["strategy"] == "gaussian-process"
    play(done, path, truth, 1)
    assert done("forecast", path)["curve"][0]["measurements"] == 24
    assert done("forecast", path, "--runs", "2")["runs"] == 2
    play(done, path, truth, 3, seed=2)
    now = done("status", path)
    assert now["claim"]["kind"] == "calibrated"
    assert 0.0 <= now["claim"]["expected_missed"] < 6.0
    assert 0.0 <= now["claim"]["expected_wrong"] < 3.0
    best = max(truth, key=truth.__getitem__)
    entry = next(one for one in now["compounds"] if one["id"] == best)
    assert entry["status"] != "out"
    assert entry["measured"] > 0
    assert done("verify", path, "--recompute")["ok"]


def test_measured_compound_at_the_top_is_never_out(done, tmp_path, table, truth):
    path, _ = new(done, tmp_path, table, "--strategy", "auto")
    play(done, path, truth, 3)
    # Of a compound that was measured before, the mean of all its values would count.
    new_ones = [one["id"] for one in done("status", path)["compounds"] if not one["measured"]]
    odd = min(new_ones, key=truth.__getitem__)
    results = tmp_path / "odd.csv"
    results.write_text(f"ID,Value\n{odd},{max(truth.values()) + 1.0}\n", encoding="utf-8")
    done("record", path, results)
    entry = next(one for one in done("status", path)["compounds"] if one["id"] == odd)
    assert entry["status"] != "out"


def test_values_of_the_table_count_from_the_start(done, tmp_path, table, truth):
    rows = table.read_text(encoding="utf-8").splitlines()
    known = [
        f"{row},{truth[row.split(',')[0]]:.2f}" if number % 2 else f"{row}," for number, row in enumerate(rows[1:])
    ]
    table.write_text("\n".join([rows[0] + ",pIC50", *known]), encoding="utf-8")
    path, _ = new(done, tmp_path, table, "--strategy", "auto")
    plan = done("plan", path)
    assert all(entry["expected"] is not None for entry in plan["compounds"])
    best = sorted(truth, key=truth.__getitem__)[-12:]
    assert len({entry["id"] for entry in plan["compounds"]} & set(best)) >= 4


def test_products_state_how_many_compounds_have_to_be_made_and_entries_their_measured_means(done, tmp_path, truth):
    some = list(enumerate(list(truth)[::5]))
    rows = [[f"CPD-{number}", *name, truth[name] + shift] for number, name in some for shift in (0.1, -0.1)]
    table = write_rows(tmp_path / "part.csv", [["ID", *SITES, "pIC50"], *rows])
    path, _ = new(done, tmp_path, table, "--strategy", "auto", "--product")
    plan = done("plan", path)
    made = sum(entry["id"].startswith("CPD") for entry in plan["compounds"])
    assert (plan["in_stock"], plan["to_make"]) == (made, len(plan["compounds"]) - made)
    assert plan["to_make"] > 0
    entries = {entry["id"]: entry for entry in done("status", path, "--only", "all")["compounds"]}
    first = entries["CPD-0"]
    assert first["measured"] == 2
    assert first["measured_mean"] == pytest.approx(next(iter(truth.values())))
    assert first["measured_sd"] == pytest.approx(0.2 / 2**0.5)
    assert any(entry["measured_mean"] is None and entry["measured"] == 0 for entry in entries.values())


def test_audit_is_planned_recorded_and_stated(done, tmp_path, table, truth):
    path, _ = new(done, tmp_path, table, "--strategy", "auto")
    play(done, path, truth, 1)
    issued = done("audit", path, "--size", "20", "--out", tmp_path / "audit.csv")
    assert issued["audit"]["sampled"] == len(issued["compounds"]) == 20
    rows = [("ID", "Value"), *((entry["id"], truth[entry["id"]]) for entry in issued["compounds"])]
    done("record", path, write_rows(tmp_path / "audited.csv", rows), "--close")
    audit = done("status", path)["claim"]["audit"]
    assert audit["sampled"] == 20
    members = sum(truth[entry["id"]] >= max(truth.values()) - 0.4 for entry in issued["compounds"])
    assert audit["members_found"] >= members
    left = sum(value >= max(truth.values()) - 0.4 for value in truth.values())
    assert left - members <= audit["missed_upper"]
    assert audit["missed_share_upper"] == audit["missed_upper"] / audit["population"]
    assert done("verify", path)["ok"]
    assert any(entry["text"].startswith("Audit round 2 issued") for entry in done("log", path))


@pytest.mark.parametrize("shift", [0.0, 2.0])
def test_each_round_is_judged_by_what_was_predicted_for_it(done, tmp_path, table, truth, shift):
    """Values of the third round that nobody could foresee are noticed; others fall inside about as often as stated."""
    path, _ = new(done, tmp_path, table, "--strategy", "auto")
    play(done, path, truth, 2)
    signs = itertools.cycle((-1.0, 1.0))
    off = {name: value + shift * next(signs) for name, value in truth.items()}
    plan = play(done, path, off, 1, seed=2)[0]
    check = done("status", path)["claim"]["model_check"]
    inside = 0
    values: dict[str, list[float]] = {}
    for name, value in recorded(path, "results0-2.csv"):
        values.setdefault(name, []).append(value)
    for entry in plan["compounds"]:
        mean, n = np.mean(values[entry["id"]]), len(values[entry["id"]])
        side = entry["high"] - entry["expected"] if mean > entry["expected"] else entry["expected"] - entry["low"]
        inside += abs(mean - entry["expected"]) <= np.hypot(side, 1.96 * 0.15 / n**0.5)
    assert (check["round"], check["last_predicted"], check["last_inside"]) == (3, len(plan["compounds"]), inside)
    assert check["predicted"] == check["last_predicted"] + len({name for name, _ in recorded(path, "results1-1.csv")})
    assert check["narrow"] == (shift > 0)


def recorded(path, name):
    """The ids and values of a results table; nothing was predicted for the first round."""
    return [(row["ID"], float(row["Value"])) for row in read_sheet(path.parent / name)[1]]


def test_overview_lists_every_campaign_of_a_folder_and_names_what_cannot_be_read(done, refused, tmp_path, table, truth):
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        path, _ = new(done, tmp_path / name, table, "--strategy", "auto")
        path.rename(tmp_path / f"{name}.assaypilot")
    play(done, tmp_path / "b.assaypilot", truth, 1)
    (tmp_path / "c.assaypilot").write_bytes(b"no campaign")
    first, second, third = done("overview", tmp_path)
    assert [Path(entry["file"]).stem for entry in (first, second, third)] == ["a", "b", "c"]
    assert (first["round"], first["next"], second["round"], second["measurements_used"]) == (0, "plan", 1, 12)
    assert "This is not an AssayPilot campaign" in third["error"]
    assert str(tmp_path) not in third["error"], "the line begins with the file"
    assert "no such file or folder" in refused("overview", tmp_path / "nowhere")


def test_a_decided_campaign_goes_on_when_values_come_that_contradict_it(done, tmp_path, table, truth):
    path, _ = new(done, tmp_path, table, "--strategy", "auto")
    play(done, path, truth, 20)
    assert done("status", path)["finished"]
    best = max(truth.values())
    out = [entry["id"] for entry in done("status", path, "--only", "out")["compounds"] if not entry["measured"]]
    late = [("ID", "Value"), *((name, best - 0.3 + 0.1 * number) for number, name in enumerate(out[:4]))]
    done("record", path, write_rows(tmp_path / "late.csv", late))
    now = done("status", path)
    assert not now["finished"]
    assert set(out[:4]).isdisjoint(entry["id"] for entry in done("status", path, "--only", "out")["compounds"])
    assert done("plan", path)["compounds"]
    assert done("verify", path)["ok"]


@pytest.mark.parametrize("goal", ["limit", pytest.param("pareto", marks=pytest.mark.slow)])
def test_an_endpoint_that_no_one_measured_yet_is_no_dead_end(done, tmp_path, goal):
    """Values of one endpoint from before, none of the other: rounds are planned, and nothing is said to be certain."""
    rng = np.random.default_rng(2)
    rows = []
    for row in range(100):
        value = 6 + 0.1 * (row // 10) + 0.1 * (row % 10) + 0.1 * rng.standard_normal()
        rows.append([f"C{row}", f"a{row // 10}", f"b{row % 10}", f"{value:.2f}" if row < 60 else "", ""])
    table = write_rows(tmp_path / "one.csv", [["ID", "R1", "R2", "pIC50", "hERG"], *rows])
    path = tmp_path / f"{goal}.assaypilot"
    other = "hERG;sd=0.1;limit=<5" if goal == "limit" else "hERG;sd=0.1;direction=min"
    what = ["--objective", "pIC50", "--epsilon", "0.4"] if goal == "limit" else ["--goal", "pareto", "--epsilon", "0.3"]
    what += ["--strategy", "gaussian-process", "--per-round", "40"]
    done("new", path, "--table", table, "--endpoint", "pIC50;sd=0.1", "--endpoint", other, *what)
    before = done("status", path)
    assert before["counts"]["in"] == 0
    assert not before["finished"]
    assert done("forecast", path)["curve"]
    planned = done("plan", path)["compounds"]
    assert planned
    rows = [
        [entry["id"], replicate, f"{7 + rng.normal():.3f}", f"{4 + 0.1 * rng.normal():.3f}"]
        for entry in planned
        for replicate in range(entry["replicates"])
    ]
    results = write_rows(tmp_path / "results.csv", [["ID", "Replicate", "pIC50", "hERG"], *rows])
    done("record", path, results, "--close")
    after = done("status", path)
    told = next(one for one in after["compounds"] if one["id"] == planned[0]["id"])
    assert abs(told["estimate"]["hERG"] - 4.0) < 0.5
    assert done("plan", path)["compounds"] or after["finished"]
