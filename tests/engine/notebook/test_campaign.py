"""The Python API of a campaign: DataFrames in and out, the same decisions as the command line."""

import itertools
import json
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

import assaypilot.engine
from assaypilot.engine import AssayPilotError, Campaign, load_dataset, read_table
from assaypilot.engine.cli import main

SITES = {"R1": "ABCDEF", "R2": "GHIJ", "R3": "KLM"}


@pytest.fixture(scope="module")
def series():
    """72 compounds whose values no sum of site effects explains; the index is the id."""
    rng = np.random.default_rng(5)
    effects = [dict(zip(labels, rng.normal(0.0, 0.6, len(labels)), strict=True)) for labels in SITES.values()]
    rows = []
    for labels in itertools.product(*SITES.values()):
        level = 6.0 + sum(own[label] for own, label in zip(effects, labels, strict=True)) + rng.normal(0.0, 0.3)
        rows.append({"ID": "".join(labels), **dict(zip(SITES, labels, strict=True)), "truth": level})
    return pd.DataFrame(rows).set_index("ID")


@pytest.fixture
def start(series, tmp_path):
    """Make a campaign of the series, closed at the end."""
    made = []

    def call(path="x.assaypilot", **options):
        given = {"sites": list(SITES), "endpoints": {"pIC50": {"sd": 0.15}}, "epsilon": 0.4, "per_round": 12} | options
        made.append(Campaign.from_table(series.drop(columns="truth"), tmp_path / path, **given))
        return made[-1]

    yield call
    for campaign in made:
        campaign.close()


def measured(series, asked, seed=1):
    rng = np.random.default_rng(seed)
    rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
    return rows.assign(Value=series.loc[rows["ID"], "truth"].to_numpy() + rng.normal(0.0, 0.15, len(rows)))


def test_quickstart_takes_less_than_five_seconds_and_finds_the_best(series, start):
    begun = time.perf_counter()
    campaign = start(epsilon=0.1)
    for seed in range(3):
        asked = campaign.recommend()
        assert asked["replicates"].sum() == 12
        assert campaign.add(measured(series, asked, seed)).round_closed
    found = campaign.candidates()
    assert time.perf_counter() - begun < 5.0
    assert len(found) == 72
    assert found.loc[0, "id"] == series["truth"].idxmax()
    inside = found.set_index("id")
    truth = series.loc[inside.index, "truth"]
    assert ((inside["low"] <= truth) & (truth <= inside["high"])).mean() > 0.85
    assert inside.loc[series.index, list(SITES)].equals(series[list(SITES)])


def test_rounds_are_those_of_the_command_line(series, start, tmp_path, capsys):
    """The same table, terms and results: the same compounds, estimates and statuses, whichever way they came."""
    series.drop(columns="truth").to_csv(tmp_path / "series.csv")
    other = tmp_path / "cli.assaypilot"

    def cli(*words):
        assert main([*map(str, words), "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    words = ("--sites", "R1,R2,R3", "--endpoint", "pIC50;sd=0.15", "--epsilon", "0.4", "--per-round", "12")
    cli("new", other, "--table", tmp_path / "series.csv", *words)
    campaign = start()
    for number in range(2):
        asked, plan = campaign.recommend(), cli("plan", other)["compounds"]
        assert asked["ID"].tolist() == [entry["id"] for entry in plan]
        assert asked["reason"].tolist() == [entry["reason"] for entry in plan]
        results = measured(series, asked, number)
        results.to_csv(tmp_path / "results.csv", index=False)
        cli("record", other, tmp_path / "results.csv")
        campaign.add(results)
    ours = campaign.candidates().set_index("id")
    theirs = pd.DataFrame(cli("status", other)["compounds"]).set_index("id")
    assert set(theirs.columns) <= set(ours.columns)
    assert ours["estimate"].to_numpy() == pytest.approx(theirs.loc[ours.index, "estimate"].to_numpy())
    assert ours["status"].tolist() == theirs.loc[ours.index, "status"].tolist()


def test_open_round_comes_again_after_reopening(series, start, tmp_path):
    campaign = start()
    asked = campaign.recommend(6)
    assert asked["replicates"].sum() == 6
    part = measured(series, asked)
    first = campaign.add(part.iloc[:2])
    assert (first.accepted, first.round_closed) == (2, False)
    campaign.close()
    with Campaign.open(tmp_path / "x.assaypilot") as again:
        pd.testing.assert_frame_equal(again.recommend(20), asked)
        assert again.add(part.iloc[2:], close=True).round_closed
        assert again.recommend()["replicates"].sum() == 6


def test_results_twice_are_refused_and_wrong_rows_named(series, start):
    campaign = start()
    results = measured(series, campaign.recommend())
    campaign.add(results.iloc[:4])
    with pytest.raises(AssayPilotError, match="already"):
        campaign.add(results.iloc[:4])
    wrong = pd.DataFrame({"ID": ["AGK", "nobody", "BGK"], "Value": [6.1, 6.2, "high"]})
    with pytest.warns(UserWarning, match=r"2 of 3 rows were not used: row 1: 'nobody' is no compound"):
        done = campaign.add(wrong)
    assert done.accepted == 1
    assert done.rejected["row"].tolist() == [1, 2]
    with pytest.raises(AssayPilotError, match="no column of compound ids"):
        campaign.add(pd.DataFrame({"Value": [1.0]}))


def test_predictions_are_those_of_candidates_and_wide_for_new_substituents(series, start):
    campaign = start()
    with pytest.raises(AssayPilotError, match="at least one value"):
        campaign.predict(pd.DataFrame({"ID": ["AGK"]}))
    for seed in range(3):
        campaign.add(measured(series, campaign.recommend(), seed))
    known = campaign.candidates().set_index("id")
    found = campaign.predict(pd.DataFrame({"ID": ["AGK", "FJM"]}))
    columns = ["estimate", "low", "high"]
    assert found[columns].to_numpy() == pytest.approx(known.loc[["AGK", "FJM"], columns].to_numpy())
    turned = campaign.predict(pd.DataFrame({"ID": ["FJM", "AGK"]}, index=[1, 0]))
    assert turned.index.tolist() == [1, 0]
    assert turned["estimate"].reindex([0, 1]).tolist() == found["estimate"].tolist()
    new = campaign.predict(pd.DataFrame({"R1": ["A", "new"], "R2": ["G", "G"], "R3": ["K", "K"]}))
    assert new.loc[0, columns].tolist() == pytest.approx(known.loc["AGK", columns].tolist())
    width = new["high"] - new["low"]
    assert width[1] > 1.5 * width[0]
    assert 4.0 < new.loc[1, "estimate"] < 8.0
    with pytest.raises(AssayPilotError, match=r"neither a column of ids nor of R2, R3"):
        campaign.predict(pd.DataFrame({"R1": ["A"]}))


def test_several_endpoints_have_columns_each(series, start):
    campaign = start(endpoints={"pIC50": {"sd": 0.15}, "LogD": {"sd": 0.1, "direction": "min"}}, goal="pareto")
    asked = campaign.recommend()
    rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
    truth = series.loc[rows["ID"], "truth"].to_numpy()
    done = campaign.add(rows.assign(pIC50=truth, LogD=10.0 - truth))
    assert done.accepted == 2 * len(rows)
    found = campaign.candidates()
    assert {"estimate pIC50", "estimate LogD", "low LogD", "measured_of pIC50"} <= set(found.columns)
    assert {"estimate pIC50", "high LogD"} <= set(campaign.predict(found[["id"]]).columns)


def test_finished_campaign_recommends_nothing(series, start):
    campaign = start(epsilon=3.0, slack=1.0, delta=0.3, per_round=6)
    while not campaign.finished:
        campaign.add(measured(series, campaign.recommend()))
    assert len(campaign.recommend()) == 0
    assert list(campaign.recommend().columns)[:4] == ["ID", "R1", "R2", "R3"]
    assert "finished" in repr(campaign)
    assert campaign.claim["kind"] == "calibrated"
    assert campaign.claim["audit"] is None
    drawn = campaign.audit(3)
    campaign.add(measured(series, drawn))
    audit = campaign.claim["audit"]
    assert audit["sampled"] == len(drawn)
    assert 0 <= audit["missed_share_upper"] <= 1
    while not campaign.finished:  # the values of the audit count, and may open the answer again
        campaign.add(measured(series, campaign.recommend()))
    confirm = campaign.confirm()
    assert set(confirm["ID"]) <= set(campaign.candidates("in")["id"])


def test_forecasts_have_a_row_for_each_round_or_a_range(start):
    curve = start().forecast()
    assert list(curve.columns) == ["measurements", "found", "best_found", "missed", "wrong", "finished"]
    assert curve["measurements"].is_monotonic_increasing
    spread = start("proven.assaypilot", strategy="proven", sites=["R1", "R2"]).forecast()
    assert list(spread.index) == ["measurements", "rounds"]
    assert (spread["low"] <= spread["high"]).all()


def test_notebooks_show_text_pages_and_plots(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    table = load_dataset("antiadrenergic")
    with Campaign.from_table(
        table, id="ID", smiles="SMILES", sites=["para", "meta"], endpoints={"log 1/C": 0.2}, epsilon=0.5, name="<b>"
    ) as campaign:
        lines = repr(campaign).splitlines()
        assert len(lines) <= 20
        assert max(map(len, lines[1:])) <= 92
        assert f"{campaign.path} (temporary" in lines[0]
        page = campaign._repr_html_()
        assert page.count("<svg") == 10
        assert "&lt;b&gt;" in page
        assert "<b>" not in page
        for kind in ("candidates", "rounds", "map"):
            assert campaign.plot(kind)._repr_png_().startswith(b"\x89PNG")
        with pytest.raises(AssayPilotError, match="Choose one of: candidates, rounds, map"):
            campaign.plot("pie")
        with pytest.raises(AssayPilotError, match=r"two different sites, got para, ortho. There are para, meta\."):
            campaign.plot("map", sites=("para", "ortho"))
        assert campaign.log()["kind"].iloc[0] == "campaign_created"
        assert campaign.export(tmp_path / "all.csv", only="all") == len(table)
        campaign.save(tmp_path / "kept.assaypilot")
    with Campaign.open(tmp_path / "kept.assaypilot", read_only=True) as kept:
        assert len(kept.candidates()) == len(table)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"per_rond": 3}, r"there is no option 'per_rond'. Did you mean per_round\?"),
        ({"epsilon": None, "endpoints": {"x": {"sd": 1.0}}, "sites": ["R1", "R9"]}, "R9"),
        ({"endpoints": {"pIC50": {"sd": "a lot"}}}, "sd must be a number"),
        ({"endpoints": {"pIC50": {"colour": 1}}}, "'colour' is not known here"),
        ({"strategy": "gausian-process"}, "Did you mean gaussian-process"),
        ({"goal": "worst"}, "there is no goal 'worst'"),
        ({"blank": "x"}, "blank must be one of missing, h"),
        ({"epsilon": -1.0}, "^epsilon: "),
        ({"per_round": 0}, "^per_round: .* must be 1 or more"),
        ({"endpoints": {"pIC50": {"sd": -1.0}}}, r"^sd: .* for example 0\.2"),
    ],
)
def test_wrong_terms_are_refused_in_one_line(start, tmp_path, options, why):
    with pytest.raises(AssayPilotError, match=why) as refused:
        start(**options)
    assert "\n" not in str(refused.value)
    assert "--" not in str(refused.value)
    assert not (tmp_path / "x.assaypilot").exists()


def test_wrong_calls_are_refused_in_one_line(start):
    campaign = start()
    for call, why in (
        (lambda: campaign.recommend(2.5), "a whole number of measurements, got 2.5"),
        (lambda: campaign.recommend(0), "must be 1 or more"),
        (lambda: campaign.candidates("best"), "Choose one of: in, undecided"),
        (lambda: campaign.export("x.csv", only="best"), "Choose one of: in, undecided"),
        (lambda: load_dataset("nothing"), "^dataset: there is no shipped table 'nothing'"),
        (lambda: campaign.add(pd.DataFrame({"ID": ["AGK"], "Value": [np.nan]})), "no value is filled in"),
        (lambda: campaign.add([1.0]), "must be a DataFrame or a path"),
    ):
        with pytest.raises(AssayPilotError, match=why):
            call()
    campaign.close()
    with pytest.raises(AssayPilotError, match="was closed"):
        campaign.recommend()
    assert "72 compounds" in repr(campaign)


def test_wrong_word_for_missing_results_is_refused_and_leaves_the_history_readable(series, start):
    campaign = start(strategy="adaptive")
    campaign.add(measured(series, campaign.recommend()).head(3))
    with pytest.raises(AssayPilotError, match=r"'fail'.*one of: return, failed, other"):
        campaign.close_round("fail")
    campaign.close_round("failed")
    assert "lost for lab reasons" in campaign.log()["text"].iloc[-1]


def test_refused_audit_says_how_to_go_on_after_a_plan_was_undone(series, start):
    campaign = start()
    campaign.add(measured(series, campaign.recommend()))
    campaign.recommend()
    campaign.undo()
    with pytest.raises(AssayPilotError, match=r"the next round is planned.*Issue it, enter its results"):
        campaign.audit(5)


def test_wrong_tables_are_refused_in_one_line(tmp_path):
    for table, why in (
        (pd.DataFrame(), "the table is empty"),
        (pd.DataFrame([["a", 7]], columns=pd.MultiIndex.from_tuples([("x", "R1"), ("y", "pIC50")])), "2 levels"),
        ([1, 2], "must be a DataFrame or a path"),
        (pd.DataFrame([["a", "b"]], columns=["R1", "R1"]), "two columns are called R1"),
        (tmp_path / "absent.csv", "absent.csv"),
    ):
        with pytest.raises(AssayPilotError, match=why):
            Campaign.from_table(table, endpoints={"pIC50": 0.2}, epsilon=0.5)


def test_tables_keep_ids_bounds_and_numbers(tmp_path):
    (tmp_path / "x.csv").write_text("ID;R1;IC50;n\n007;Me;>10000;1\n008;Et;12,5;\n", encoding="utf-8")
    found = read_table(tmp_path / "x.csv")
    assert found["ID"].tolist() == ["007", "008"]
    assert found["IC50"].tolist() == [">10000", "12,5"]
    assert found["n"].tolist()[0] == 1
    assert found["n"].isna().tolist() == [False, True]


def test_public_names_are_there_and_importing_them_loads_nothing():
    for name in assaypilot.engine.__all__:
        assert getattr(assaypilot.engine, name).__doc__, name
    assert 12 <= len(assaypilot.engine.__all__) <= 14
    with pytest.raises(AttributeError):
        _ = assaypilot.engine.nothing
    code = (
        "import time, sys; t = time.perf_counter(); import assaypilot.engine; s = time.perf_counter() - t;"
        "print(s < 0.5, any(name in sys.modules for name in ('numpy', 'pandas', 'rdkit', 'matplotlib')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split() == ["True", "False"]
