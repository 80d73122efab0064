"""new -> plan -> record (the work list, filled in) -> status -> export, on real tables and through to the decision."""

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from assaypilot import datasets
from assaypilot.engine.campaign.file.store import Store
from tests.engine.cli.helpers import fill_in, read_sheet, write_sheet
from tests.strategies import few


@dataclass(frozen=True)
class Series:
    """A table, what is wanted of it, and what is known about it."""

    sites: tuple[str, ...]
    objective: str
    epsilon: float
    sd: float
    rank: int
    r2: float
    q2: float
    rows: int


TETRACYCLINE = Series(("R", "X", "Y"), "activity", 80.0, 25.0, 6, 0.906, 0.443, 10)
ANTIADRENERGIC = Series(("para", "meta"), "log 1/C", 0.4, 0.1, 11, 0.939, 0.772, 22)
COVBOOST = Series(("prime", "boost"), "ln NT50", 0.3, 0.1, 11, 0.98, 0.9, 20)
SHIPPED = [("tetracycline", TETRACYCLINE), ("antiadrenergic", ANTIADRENERGIC), ("covboost", COVBOOST)]


def additive_truth(path: Path, sites: tuple[str, ...], value: str) -> dict[tuple[str, ...], float]:
    """The additive part of a table by its substituents, from a dense fit of our own."""
    _, rows = read_sheet(path)
    labels = [tuple(row[site] for site in sites) for row in rows]
    columns = [(n, label) for n in range(len(sites)) for label in dict.fromkeys(row[n] for row in labels)]
    x = np.array([[1.0, *(float(row[n] == label) for n, label in columns)] for row in labels])
    y = np.array([float(row[value]) for row in rows])
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    return dict(zip(labels, fitted.tolist(), strict=True))


def travel(run, done, path: Path, series: Series, column: str, folder: Path) -> None:
    """A whole campaign; the lab works on the work lists, and sends the first one back in two halves."""
    truth = additive_truth(path, series.sites, column)
    campaign = folder / "series.assaypilot"
    goal = ["--objective", column, "--epsilon", series.epsilon, "--sd", series.sd, "--per-round", 96]
    fit = done("check", path, "--sites", ",".join(series.sites))["additive_fit"][column]
    if series is not COVBOOST:  # no published figures for that one
        assert (fit["r2"], fit["q2"]) == pytest.approx((series.r2, series.q2), abs=5e-4)
    made = done(
        "new", campaign, "--table", path, "--sites", ",".join(series.sites), *goal, "--max-replicates", 24, "--seed", 5
    )
    assert (made["rank"], made["compounds"]) == (series.rank, series.rows)
    measure: dict[str, float] = {}
    rng = np.random.default_rng(17)
    measured = 0
    for number in itertools.count(1):
        assert number < 60
        work = folder / f"round {number}.csv"
        plan = done("plan", campaign, "--out", work)
        if plan["finished"]:
            assert plan["compounds"] == []
            assert not work.exists()
            break
        for entry in plan["compounds"]:
            measure[entry["id"]] = truth[tuple(entry["sites"][site] for site in series.sites)]
        if number <= 3:  # filled in and sent bit by bit
            fill_in_endpoint(work, column, measure, rng, series.sd, keep=0.5)
            half = done("record", campaign, work)
            assert 0 < half["accepted"] < plan["measurements"]
            assert half["round_closed"] is False
            assert half["rejected"] == []
            assert done("plan", campaign)["round"] == number
            measured += half["accepted"]
        fill_in_endpoint(work, column, measure, rng, series.sd)
        record = done("record", campaign, work)
        measured += record["accepted"]
        assert record["round_closed"] is True
        assert record["unplanned"] == 0
        assert record["rejected"] == []
    status = done("status", campaign)
    assert status["finished"] is True
    assert status["measurements_used"] == measured
    # The table's own values may contradict that effects add up, which ends a proof.
    assert status["guarantee"]["holds"] or "farthest from what the others predict" in str(status["guarantee"])
    assert status["undecided"] == []
    best = max(truth.values())
    behind = {entry["id"]: best - measure_of(done, path, series, truth)[entry["id"]] for entry in status["compounds"]}
    slack = series.epsilon / 2
    assert {name for name, gap in behind.items() if gap <= series.epsilon} <= set(status["in"])
    assert {name for name, gap in behind.items() if gap > series.epsilon + slack}.isdisjoint(status["in"])
    exported = done("export", campaign, folder / "shortlist.csv")
    header, rows = read_sheet(folder / "shortlist.csv")
    assert exported["rows"] == len(rows) == status["counts"]["in"] > 0
    assert [row["ID"] for row in rows] == status["in"]
    assert set(series.sites) < set(header)
    assert {row["Campaign head"] for row in rows} == {status["head"]}
    assert done("verify", campaign, "--recompute")["ok"] is True
    assert "Decided" in run("status", campaign).out


def measure_of(done, path: Path, series: Series, truth: dict[tuple[str, ...], float]) -> dict[str, float]:
    """The truth by id; tables without ids have theirs made from the substituents."""
    _, rows = read_sheet(path)
    id_column = done("check", path, "--sites", ",".join(series.sites))["id_column"]
    out = {}
    for row in rows:
        labels = tuple(row[site] for site in series.sites)
        made = "|".join(f"{site}={label}" for site, label in zip(series.sites, labels, strict=True))
        out[row[id_column] if id_column else made] = truth[labels]
    return out


def fill_in_endpoint(
    path: Path, column: str, measure: dict[str, float], rng: np.random.Generator, sd: float, keep: float = 1.0
) -> None:
    """Fills in the empty cells of a work list: the column Value, or the objective's own with several endpoints."""
    header, rows = read_sheet(path)
    target = "Value" if "Value" in header else column
    for row in rows:
        if not row[target] and rng.random() < keep:
            row[target] = f"{measure[row['ID']] + sd * rng.standard_normal():.4f}"
    write_sheet(path, header, rows)


@pytest.mark.parametrize("number", few(1, of=len(SHIPPED)))
def test_shipped_tables(run, done, tmp_path, number):
    name, series = SHIPPED[number]
    travel(run, done, datasets.load(name).path, series, series.objective, tmp_path)


def test_decided_campaign_reports_it(run, done, small, tmp_path):
    campaign = tmp_path / "done.assaypilot"
    done("new", campaign, "--table", small, "--epsilon", "3", "--sd", "0.01", "--per-round", "96")
    while not (plan := done("plan", campaign, "--out", tmp_path / "work.csv"))["finished"]:
        assert plan["round"] < 9
        fill_in(tmp_path / "work.csv", lambda _: 6.0, np.random.default_rng(0), 0.01)
        assert done("record", campaign, tmp_path / "work.csv")["round_closed"]
    nothing = tmp_path / "nothing.csv"
    answer = run("plan", campaign, "--out", nothing)
    assert answer.code == 0
    assert "No round was issued" in answer.out
    assert f"{nothing} was not written." in answer.out
    assert not nothing.exists()
    assert done("status", campaign)["counts"]["in"] == 12


def test_results_unavailable_and_close_are_one_transaction(done, run, campaign, tmp_path, monkeypatch):
    plan = done("plan", campaign)
    one, gone, *_ = (entry["id"] for entry in plan["compounds"])
    path = tmp_path / "results.csv"
    path.write_text(f"ID,Value\n{one},6.2\n", encoding="utf-8")
    words = ("record", campaign, path, "--unavailable", gone, "--close", "--missing", "failed")
    before = campaign.read_bytes()
    with monkeypatch.context() as broken:
        broken.setattr("assaypilot.engine.campaign.results.recording.closed_round", lambda *_: 1 / 0)
        assert run(*words).code != 0
    assert campaign.read_bytes() == before, "what cannot be done as a whole is not done in part"

    written = []
    append = Store.append
    monkeypatch.setattr(
        Store, "append", lambda self, drafts, parts: (written.append(drafts), append(self, drafts, parts))
    )
    record = done(*words)
    assert (record["accepted"], record["unavailable"], record["round_closed"]) == (1, [gone], True)
    (kinds,) = [[draft.kind for draft in drafts] for drafts in written]
    assert kinds[:3] == ["results_recorded", "compounds_unavailable", "round_closed"]
    assert f"Unavailable: {gone} (reported with results)" in [line["text"] for line in done("log", campaign)]
