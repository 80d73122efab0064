"""The JSON of every command, key by key: these names are a promise."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from tests.engine.cli.helpers import R1, R2, fill_in, truth_of

Number = (int, float)
Maybe = (int, float, type(None))
Text = (str, type(None))


def has(document: Mapping[str, Any], keys: Mapping[Any, str]) -> None:
    """Asserts that every promised key is there with a value of its kind; ``keys``: names by their kind."""
    for kind, names in keys.items():
        for key in names.split():
            value = document[key]
            assert isinstance(value, kind), (key, value)
            assert kind is bool or not isinstance(value, bool), (key, value)


CHECK = {
    int: "rows_read rows_used compounds library_size rank max_rank",
    list: "not_used sites endpoints warnings",
    str: "encoding delimiter",
    Text: "id_column smiles_column",
    dict: "additive_fit",
}
STATUS = {
    int: "round phase measurements_used events",
    bool: "finished",
    str: "statement head",
    dict: "guarantee counts",
    list: "in undecided compounds",
    type(None): "forecast",
}
COMPOUND = {
    str: "id status",
    (int, type(None)): "decided_in_round",
    Maybe: "estimate low high probability_within_epsilon probability_within_slack",
    int: "measured",
    bool: "made",
}
PLAN = {
    int: "round phase measurements",
    str: "strategy",
    bool: "finished",
    list: "compounds",
    dict: "certificate",
    Number: "seconds",
}
RECORD = {int: "accepted unplanned duplicates excluded round", list: "rejected", bool: "round_closed"}


@pytest.fixture
def played(campaign, done, tmp_path):
    """Round 1 planned and its work list half filled in and recorded."""
    plan = done("plan", campaign, "--out", tmp_path / "work.csv")
    ids = {f"C-{i:02d}": truth_of(a, b) for i, (a, b) in enumerate((a, b) for a in R1 for b in R2)}
    filled = fill_in(tmp_path / "work.csv", ids.__getitem__, np.random.default_rng(1), 0.2, keep=0.5)
    record = done("record", campaign, tmp_path / "work.csv")
    return campaign, plan, record, filled


def test_check(done, small):
    document = done("check", small)
    has(document, CHECK)
    assert (document["rows_read"], document["rows_used"], document["compounds"]) == (12, 12, 12)
    assert (document["rank"], document["max_rank"], document["library_size"]) == (6, 6, 12)
    assert [site["name"] for site in document["sites"]] == ["R1", "R2"]
    assert document["sites"][1]["substituents"] == [{"label": label, "count": 4} for label in R2]
    (endpoint,) = document["endpoints"]
    has(endpoint, {str: "name unit direction", int: "measured censored replicate_groups"})
    assert endpoint["noise_sd"] is None
    has(document["additive_fit"]["pIC50"], {Number: "r2", Maybe: "q2 residual_sd", int: "leverage_one"})


def test_new(done, small, tmp_path):
    document = done("new", tmp_path / "a.assaypilot", "--table", small, "--epsilon", "0.5", "--sd", "0.2")
    has(document, {str: "file strategy why", int: "compounds rank max_rank", list: "warnings"})
    assert document["file"] == str(tmp_path / "a.assaypilot")
    assert document["strategy"] == "adaptive"


def test_plan(done, campaign):
    document = done("plan", campaign)
    has(document, PLAN)
    assert document["round"] == 1
    assert document["measurements"] == sum(entry["replicates"] for entry in document["compounds"]) <= 24
    for entry in document["compounds"]:
        has(entry, {str: "id reason", int: "replicates", Maybe: "expected low high", dict: "sites"})
        assert set(entry["sites"]) == {"R1", "R2"}
    has(document["certificate"], {str: "criterion", Number: "value lower_bound"})
    assert document["certificate"]["value"] >= document["certificate"]["lower_bound"] - 1e-9
    again = done("plan", campaign)
    assert {**again, "seconds": 0} == {**document, "seconds": 0}


def test_record(done, played):
    _, _, record, filled = played
    has(record, RECORD)
    assert record["accepted"] == filled
    assert (record["round"], record["round_closed"], record["unplanned"], record["duplicates"]) == (1, False, 0, 0)


def test_status(done, played):
    campaign, plan, record, _ = played
    document = done("status", campaign)
    has(document, STATUS)
    has(document["guarantee"], {Number: "delta", bool: "holds", list: "assumptions"})
    assert set(document["counts"]) == {"in", "out", "undecided", "not_estimable"}
    assert sum(document["counts"].values()) == len(document["compounds"]) == 12
    for entry in document["compounds"]:
        has(entry, COMPOUND)
        assert entry["status"] in {"in", "out", "undecided", "not_estimable"}
    assert document["measurements_used"] == record["accepted"]
    assert document["round"] == plan["round"]
    assert document["truncated"] is False


def test_status_cut(done, campaign):
    document = done("status", campaign, "--limit", "3")
    assert len(document["compounds"]) == 3
    assert document["truncated"] is True
    assert sum(document["counts"].values()) == 12
    assert len(document["undecided"]) == 12
    assert done("status", campaign, "--only", "in")["compounds"] == []
    undecided = done("status", campaign, "--only", "undecided")["compounds"]
    assert len(undecided) == 12
    estimates = [entry["estimate"] for entry in undecided]
    assert estimates == sorted(estimates, reverse=True)


def test_export_log_verify(done, played, tmp_path):
    campaign = played[0]
    exported = done("export", campaign, tmp_path / "list.csv", "--only", "all")
    has(exported, {str: "file head", int: "rows"})
    assert exported["rows"] == 12
    log = done("log", campaign)
    assert isinstance(log, list)
    for entry in log:
        has(entry, {int: "sequence", str: "time author kind text"})
    assert [entry["sequence"] for entry in log] == list(range(1, len(log) + 1))
    for words in ((), ("--recompute",)):
        verified = done("verify", campaign, *words)
        has(verified, {bool: "ok", int: "events", str: "head", list: "problems"})
        assert verified["ok"] is True
        assert verified["problems"] == []
        assert verified["events"] == len(log)
        assert verified["head"] == exported["head"] == done("status", campaign)["head"]
    assert done("verify", campaign, "--head", exported["head"][:12])["ok"] is True


def test_strategies(done):
    for entry in done("strategies"):
        has(entry, {str: "name guarantee", list: "goals parameters", bool: "baseline"})
        for knob in entry["parameters"]:
            assert {"name", "default", "meaning"} <= set(knob)


def test_datasets(done):
    document = done("datasets")
    for entry in document:
        has(entry, {str: "name source licence", int: "rows", list: "sites"})
        words = [word for endpoint in entry["endpoints"] for word in ("--endpoint", endpoint)]
        checked = done("check", entry["file"], "--sites", ",".join(entry["sites"]), *words)
        assert checked["rows_used"] == entry["rows"]
        assert [site["name"] for site in checked["sites"]] == entry["sites"]
    assert {"tetracycline", "antiadrenergic", "covboost", "practice-960"} == {entry["name"] for entry in document}


def test_doctor(done):
    document = done("doctor")
    has(document, {str: "assaypilot python platform sqlite", dict: "packages qt write_access locale"})
    assert {"version", "platform", "fonts", "problem"} <= set(document["qt"])
    assert all(isinstance(value, bool) for value in document["write_access"].values())
