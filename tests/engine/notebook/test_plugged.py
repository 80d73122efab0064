"""Strategies of other packages: found by their entry point, and named like our own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from assaypilot.engine import AssayPilotError, Campaign, compare_strategies, list_strategies
from assaypilot.engine.cli import main as run
from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.strategies import registry
from assaypilot.engine.strategies.protocol import Problem
from assaypilot.engine.system.progress import silent
from tests.engine.notebook.ridge import Ridge

EXAMPLES = ("halving", "ridge")


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a package with entry points, as pip leaves it."""

    def installed(**entries):
        folder = tmp_path / "site"
        info = folder / "others-1.0.dist-info"
        info.mkdir(parents=True)
        for example in EXAMPLES:
            text = Path(__file__).with_name(f"{example}.py").read_text(encoding="utf-8")
            (folder / f"{example}_of_others.py").write_text(text, encoding="utf-8")
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: others\nVersion: 1.0\n", encoding="utf-8")
        lines = [f"{name} = {value}" for name, value in entries.items()]
        (info / "entry_points.txt").write_text(f"[{registry.GROUP}]\n" + "\n".join(lines) + "\n", encoding="utf-8")
        monkeypatch.syspath_prepend(folder)
        forget()

    def forget():
        for function in (registry.installed, registry.failed, registry._kind):
            function.cache_clear()

    yield installed
    monkeypatch.undo()
    forget()


def document(capsys, *words):
    code = run([*map(str, words), "--json"])
    return code, json.loads(capsys.readouterr().out)


def problem(n=12):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"ID": [f"C{k}" for k in range(n)], "R1": list("ABCD") * (n // 4), "R2": list("XYZ") * (n // 3)}
    )
    return frame.assign(truth=rng.normal(6.0, 1.0, n))


def test_installed_strategy_is_listed_and_simulated_next_to_ours(install, capsys):
    install(halving="halving_of_others:Halving")
    assert "halving" in list_strategies().index
    assert "halving" in {entry["name"] for entry in document(capsys, "strategies")[1]}
    words = ("simulate", "--instance", "rage-soare", "--strategy", "halving,rage", "--runs", "3")
    code, found = document(capsys, *words)
    assert code == 0
    assert [entry["strategy"] for entry in found] == ["halving", "rage"]
    # 6 compounds: 3 each of 6, 3 and then 1 left: 3 x (6 + 3) measurements.
    assert found[0]["measurements"]["mean"] == 27


def test_contest_on_own_problem_takes_installed_and_given_strategies(install):
    install(halving="halving_of_others:Halving")
    own = registry.get("halving")
    found = compare_strategies(
        ["halving", "uniform"], problem(), truth="truth", goal="best", slack=0.2, noise_sd=0.01, budget=200, runs=2
    )
    assert list(found.index) == ["halving", "uniform"]
    assert found.loc["halving", "recall"] == 1.0
    assert not found.loc["halving", "promises"]
    again = compare_strategies(
        own, problem(), truth="truth", goal="best", slack=0.2, noise_sd=0.01, budget=200, runs=2, parameters={"each": 1}
    )
    assert again.loc["halving", "measurements"] == found.loc["halving", "measurements"] / 3


def test_campaign_runs_by_installed_strategy(install, tmp_path):
    install(halving="halving_of_others:Halving")
    table = problem()
    truth = table.set_index("ID")["truth"]
    path = tmp_path / "x.assaypilot"
    with Campaign.from_table(
        table[["ID", "R1", "R2"]], path, endpoints={"pIC50": 0.01}, goal="best", strategy="halving", per_round=96
    ) as campaign:
        while not campaign.finished:
            asked = campaign.recommend()
            rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
            campaign.add(rows.assign(Value=truth[rows["ID"]].to_numpy()))
        assert campaign.candidates("in")["id"].tolist() == [truth.idxmax()]


def test_strategy_that_ignores_the_budget_is_held_to_it(install, tmp_path):
    install(halving="halving_of_others:Halving")

    class Spender(type(registry.get("halving"))):
        def stop(self, state):
            return ()

        def ask(self, state, report=silent):
            unlimited = replace(state, problem=replace(state.problem, capacity=None))
            return super().ask(unlimited, report)

    table = problem()
    (found,) = compare_strategies(
        Spender(), table, truth="truth", goal="best", slack=0.2, noise_sd=0.01, budget=20, runs=2
    )["measurements"]
    assert found == 20


def test_strategy_that_is_not_there_any_more_is_named(tmp_path):
    with pytest.raises(AssayPilotError, match=r"there is no strategy 'halving'.*install the package"):
        Campaign.from_table(
            problem(), tmp_path / "x.assaypilot", endpoints={"pIC50": 0.1}, epsilon=1.0, strategy="halving"
        )


def test_campaign_of_a_removed_strategy_is_refused_and_not_called_inconsistent(install, tmp_path, capsys):
    install(halving="halving_of_others:Halving")
    path = tmp_path / "x.assaypilot"
    Campaign.from_table(problem(), path, endpoints={"pIC50": 0.1}, goal="best", strategy="halving").close()
    (tmp_path / "site" / "others-1.0.dist-info" / "entry_points.txt").unlink()
    for function in (registry.installed, registry._kind):
        function.cache_clear()
    for command in ("status", "verify"):
        code, found = document(capsys, command, path)
        assert code == 1
        assert "strategy of another package: there is no strategy 'halving'" in found["error"]["message"]
        assert found["error"]["file"] == str(path)
        assert found["error"]["mend"] == "Install the package that provides it, or update it."
    assert "Install the package" in str(document(capsys, "overview", tmp_path)[1])


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("nowhere_at_all:Nothing", "ModuleNotFoundError"),
        ("halving_of_others:Missing", "AttributeError"),
        ("halving_of_others:np", "it has no info"),
        ("halving_of_others:Halving", "its info names 'halving'"),
    ],
)
def test_broken_strategy_is_reported_and_harms_no_other(install, capsys, value, why):
    install(broken=value)
    assert {"linfact-g", "gaussian-process"} <= set(list_strategies().index)
    assert run(["strategies"]) == 0
    assert why in capsys.readouterr().out
    with pytest.raises(AssayPilotError, match=r"package others\.$") as refused:
        registry.get("broken")
    assert why in str(refused.value)


def test_installed_strategy_that_states_expected_errors_does_all_that_ours_does(install, capsys, tmp_path):
    install(ridge="ridge_of_others:Ridge")
    sites = pd.MultiIndex.from_product([list("ABCDEF"), list("UVWXYZ")]).to_frame(index=False, name=["R1", "R2"])
    rng = np.random.default_rng(5)
    effects = {label: rng.normal(0.0, 0.6) for label in "ABCDEFUVWXYZ"}
    truth = 6.0 + sites["R1"].map(effects) + sites["R2"].map(effects)
    table = sites.assign(ID=[f"C{k}" for k in range(36)], pIC50=truth.where(sites.index % 9 == 0).round(2))
    path = tmp_path / "x.assaypilot"
    with Campaign.from_table(
        table, path, endpoints={"pIC50": 0.05}, epsilon=0.4, slack=0.2, strategy="ridge", per_round=12
    ) as campaign:
        assert campaign.forecast()["found"].iloc[-1] > 0.5
        while not campaign.finished:
            asked = campaign.recommend()
            rows = asked.loc[asked.index.repeat(asked["replicates"]), ["ID", "round"]]
            values = truth.set_axis(table["ID"])[rows["ID"]].to_numpy() + 0.05 * rng.standard_normal(len(rows))
            campaign.add(rows.assign(Value=values))
        inside = set(campaign.candidates("in")["id"])
    best = truth.max()
    assert set(table["ID"][truth >= best - 0.4]) <= inside <= set(table["ID"][truth >= best - 0.6])
    claim = document(capsys, "status", path)[1]["claim"]
    assert claim["kind"] == "calibrated"
    assert claim["expected_missed"] + claim["expected_wrong"] <= 0.05
    assert document(capsys, "verify", path)[1]["ok"]
    assert document(capsys, "audit", path, "--size", "4")[0] == 0


def test_strategy_without_a_search_lists_no_more_combinations():
    library = Library.listed(("R1", "R2"), [("A", "X"), ("B", "Y"), ("A", "Y")])
    every = np.ones(3, dtype=bool)
    asked = Problem(SiteFeatures.of(library), every, every, AllEpsilonBest(0.5), 0.05, (0.2,))
    found = Ridge().search(Ridge().start(asked))
    assert found.shape == (0, 2)
    assert len(library.combined(found)) == 0
