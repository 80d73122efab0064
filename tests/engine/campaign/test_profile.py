"""Campaigns about a profile: that they find the best score, that P(met) is calibrated, and how they are made."""

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rdkit import Chem
from rdkit.Chem import Crippen, rdMolDescriptors

from assaypilot.engine import Campaign
from assaypilot.engine.campaign.campaign import Campaign as FileCampaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.cli.program import main
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.measured import measured_means
from assaypilot.engine.notebook.frames import Endpoints
from assaypilot.engine.simulate.forecast import forecast_campaign

SIZE, NOISE = 8, 0.2
PAIRS = list(itertools.product(range(SIZE), range(SIZE)))
IDS = [f"C{number:02d}" for number in range(len(PAIRS))]
TABLE = pd.DataFrame({"ID": IDS, "R1": [f"A{a}" for a, _ in PAIRS], "R2": [f"B{b}" for _, b in PAIRS]})
ENDPOINTS: Endpoints = {"pIC50": {"sd": NOISE}, "phERG": {"sd": NOISE, "direction": "min"}}
PROFILE = {"pIC50": (6, 8), "phERG": (6, 5)}


class Series:
    """A series of compounds with a truth in both endpoints that a seed makes up, and an assay."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.truth = {"pIC50": self._endpoint(6.5, 0.6), "phERG": self._endpoint(5.5, 0.5)}

    def _endpoint(self, middle: float, sd: float) -> np.ndarray:
        first, second = self.rng.normal(0, sd, SIZE), self.rng.normal(0, sd, SIZE)
        sums = np.array([first[a] + second[b] for a, b in PAIRS])
        return np.asarray(middle + sums + self.rng.normal(0, 0.15, len(PAIRS)))

    @property
    def desirabilities(self) -> np.ndarray:
        return np.clip([(self.truth["pIC50"] - 6.0) / 2.0, 6.0 - self.truth["phERG"]], 0.0, 1.0)

    @property
    def score(self) -> np.ndarray:
        return np.asarray(np.sqrt(self.desirabilities.prod(axis=0)))

    def measure(self, asked: pd.DataFrame) -> pd.DataFrame:
        rows = [
            (name, endpoint, values[IDS.index(name)] + self.rng.normal(0, NOISE))
            for name, n in zip(asked["ID"], asked["replicates"], strict=True)
            for _ in range(n)
            for endpoint, values in self.truth.items()
        ]
        return pd.DataFrame(rows, columns=["ID", "Endpoint", "Value"])

    def play(self, campaign: Campaign, rounds: int) -> pd.DataFrame:
        """Rounds of a campaign, then its candidates in the order of the table."""
        for _ in range(rounds):
            asked = campaign.recommend()
            if not len(asked):
                break
            campaign.add(self.measure(asked), close=True)
        return campaign.candidates().set_index("id").loc[IDS]


def begin(path: Path | None = None, **options: Any) -> Campaign:
    given: dict[str, Any] = {"profile": PROFILE, "epsilon": 0.1, "per_round": 32, "endpoints": ENDPOINTS} | options
    return Campaign.from_table(TABLE, path, **given)


@pytest.mark.slow
def test_campaigns_find_the_best_by_score_and_state_calibrated_chances_of_meeting_the_profile() -> None:
    inside, chances, met, covered = [], [], [], []
    for seed in range(8):
        series = Series(seed)
        with begin(seed=seed) as campaign:
            found = series.play(campaign, 3)
        inside.append(found["status"].iloc[int(series.score.argmax())] != "out")
        chances.append(found["probability_profile_met"].to_numpy(float))
        met.append((series.desirabilities >= 0.5).all(axis=0))
        low, high = found["desirability low"], found["desirability high"]
        covered.append((low - 1e-9 <= series.score) & (series.score <= high + 1e-9))
    assert sum(inside) >= 7
    p, is_met = np.concatenate(chances), np.concatenate(met)
    # Of the whole the expected number is met, to three of its SDs, and so of those in doubt.
    for group in (p >= 0.0, (p > 0.1) & (p < 0.9)):
        error = abs(p[group].sum() - is_met[group].sum())
        assert error <= 3.0 * np.sqrt((p * (1.0 - p))[group].sum()) + 1.0
    assert p[is_met].mean() > 0.7 > 0.1 > p[~is_met].mean()
    assert 0.9 <= np.concatenate(covered).mean() <= 0.995


def test_every_round_measures_the_parts_and_decisions_come_out_the_same_again(tmp_path: Path) -> None:
    path = tmp_path / "profile.assaypilot"
    series = Series(3)
    with begin(path) as campaign:
        series.play(campaign, 2)
    with FileCampaign.open(path) as core:
        now = core.status()
        assert {m.endpoint for m in now.measurements} == {0, 1}
        assert [now.endpoints[k].name for k in now.goal_endpoints] == ["Desirability"]
    assert verify(path, recompute=True).ok


def test_profile_next_to_another_objective_is_only_a_column() -> None:
    series = Series(4)
    with begin(objective="pIC50", epsilon=0.5) as campaign:
        potent = series.play(campaign, 3)
    best = series.truth["pIC50"].argmax()
    assert potent["status"].iloc[int(best)] == "in"
    assert np.corrcoef(potent["desirability estimate"], series.score)[0, 1] > 0.85
    assert ((potent["probability_profile_met"] >= 0) & (potent["probability_profile_met"] <= 1)).all()


def test_endpoint_without_values_is_measured_in_the_first_round() -> None:
    series = Series(5)
    table = TABLE.assign(pIC50=series.truth["pIC50"])
    with Campaign.from_table(table, endpoints=ENDPOINTS, profile=PROFILE, epsilon=0.1, per_round=32) as campaign:
        asked = campaign.recommend()
        # Spread over the substituents, though every compound has a value of the other endpoint.
        assert asked["R1"].nunique() == SIZE
        assert asked["R2"].nunique() == SIZE
        campaign.add(series.measure(asked), close=True)
        assert campaign.candidates()["desirability estimate"].notna().all()


def test_forecast_plays_campaigns_to_high_scores_before_any_value(tmp_path: Path) -> None:
    path = tmp_path / "forecast.assaypilot"
    begin(path).close()
    curve = forecast_campaign(path).curve
    assert curve[-1].best_found > curve[0].best_found
    assert curve[-1].best_found >= 0.5


def test_proven_strategy_refuses_a_profile() -> None:
    with pytest.raises(AssayPilotError) as refused:
        begin(strategy="adaptive")
    assert refused.value.option == "strategy"
    assert "gaussian-process" in (refused.value.mend or "")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    series = Series(6)
    values = {name: own.round(2) for name, own in series.truth.items()}
    TABLE.assign(**values).to_csv(path, index=False)
    return path


def test_command_line_makes_a_profile_and_exports_its_columns(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    campaign, sheet = tmp_path / "c.assaypilot", tmp_path / "out.csv"

    def done(*words: str | Path) -> dict[str, Any]:
        assert main([*map(str, words), "--json"]) == 0
        return dict(json.loads(capsys.readouterr().out))

    curves = ("--profile", "pIC50:6..8", "--profile", "phERG:6..5;weight=0.5")
    made = done("new", campaign, "--table", table, "--sd", "0.2", *curves)
    assert (made["strategy"], made["objective"]) == ("gaussian-process", "Desirability")
    assert made["endpoints"][0]["curves"] == ["pIC50:6..8", "phERG:6..5;weight=0.5"]
    first = done("status", campaign)["compounds"][0]
    assert set(first["desirability"]) == {"estimate", "low", "high"}
    assert 0.0 <= first["desirability"]["low"] <= first["desirability"]["high"] <= 1.0
    assert 0.0 <= first["probability_profile_met"] <= 1.0
    done("export", campaign, sheet, "--only", "all")
    written = pd.read_csv(sheet)
    assert written["Desirability estimate"].between(0, 1).all()
    assert written["P(profile met)"].between(0, 1).all()


@pytest.mark.parametrize(
    "curves", [["pIC50:6..6"], ["logP:1..3"], ["pIC50"], ["pIC50:6..8", "pIC50:5..7"]], ids=" ".join
)
def test_profile_that_cannot_be_is_refused_in_one_line(
    curves: list[str], table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.assaypilot"
    words: list[str] = [word for curve in curves for word in ("--profile", curve)]
    assert main(["new", str(path), "--table", str(table), "--sd", "0.2", *words]) == 1
    assert capsys.readouterr().err.strip().count("\n") == 0
    assert not path.exists()


def test_changed_curves_decide_again_and_undo_takes_them_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "c.assaypilot"
    series = Series(7)
    with begin(path) as campaign:
        before = series.play(campaign, 2)["desirability estimate"].to_numpy(float)

    def scores() -> np.ndarray:
        with Campaign.open(path) as campaign:
            return campaign.candidates().set_index("id").loc[IDS]["desirability estimate"].to_numpy(float)

    assert main(["change", str(path), "--profile", "phERG:5..4", "--yes"]) == 0
    assert "pIC50:6..8, phERG:5..4" in capsys.readouterr().out
    stricter = scores()
    assert (stricter <= before + 1e-9).all()
    assert stricter.sum() < before.sum()
    assert verify(path, recompute=True).ok
    with FileCampaign.open(path) as core:
        core.undo()
        np.testing.assert_allclose(scores_of(core), before)
        core.redo()
        np.testing.assert_allclose(scores_of(core), stricter)
        assert [curve.text for curve in core.status().endpoints[-1].curves] == ["pIC50:6..8", "phERG:5..4"]


def scores_of(core: FileCampaign) -> np.ndarray:
    return np.asarray(core.status().candidates.estimates["Desirability"])


SMILES = {
    name: f"{'C' * (1 + a)}Oc1ccc({'N' * (b % 2)}{'C' * (1 + b)})cc1" for name, (a, b) in zip(IDS, PAIRS, strict=True)
}
STRUCTURES = TABLE.assign(SMILES=[SMILES[name] for name in IDS])


def begin_with_properties(path: Path | None = None, table: pd.DataFrame = STRUCTURES, **options: Any) -> Campaign:
    curves = {**PROFILE, "clogp": (5, 3), "Rotatable bonds": "12..8;weight=0.5"}
    given: dict[str, Any] = {"profile": curves, "epsilon": 0.1, "per_round": 32, "endpoints": ENDPOINTS} | options
    return Campaign.from_table(table, path, **given)


def wanted_of_structures() -> np.ndarray:
    """The share of the score that structures tell, by RDKit."""
    found = []
    for name in IDS:
        molecule = Chem.MolFromSmiles(SMILES[name])
        logp = np.clip((5.0 - Crippen.MolLogP(molecule)) / 2.0, 0.0, 1.0)
        bonds = np.clip((12.0 - rdMolDescriptors.CalcNumRotatableBonds(molecule)) / 4.0, 0.0, 1.0)
        found.append((logp, bonds))
    return np.array(found).T


def test_calculated_properties_count_exactly_in_the_score_and_are_never_asked_for(tmp_path: Path) -> None:
    path, series = tmp_path / "c.assaypilot", Series(3)
    logp, bonds = wanted_of_structures()
    score = np.prod(np.array([*series.desirabilities, logp, np.sqrt(bonds)]), axis=0) ** (1.0 / 3.5)
    with begin_with_properties(path) as campaign:
        found = series.play(campaign, 2)
    with FileCampaign.open(path) as core:
        now = core.status()
        assert {m.endpoint for m in now.measurements} == {0, 1}
        assert now.measured_endpoints == (0, 1)
        profile = measured_means(now, len(now.endpoints) - 1)
        parts = [measured_means(now, place) for place in (0, 1)]
        for compound, one in profile.items():
            potency, herg = (means[compound].mean for means in parts)
            own = np.clip([(potency - 6.0) / 2.0, 6.0 - herg], 0.0, 1.0)
            wanted = (own.prod() * logp[compound] * np.sqrt(bonds[compound])) ** (1.0 / 3.5)
            assert one.mean == pytest.approx(wanted)
    hopeless = logp == 0.0
    assert 0 < hopeless.sum() < len(IDS)
    assert (found["desirability high"][hopeless] == 0.0).all()
    assert (found["probability_profile_met"][(logp < 0.5) | (bonds < 0.5)] == 0.0).all()
    low, high = found["desirability low"], found["desirability high"]
    assert ((low - 1e-9 <= score) & (score <= high + 1e-9)).mean() > 0.8
    assert verify(path, recompute=True).ok


def test_property_without_any_structure_is_refused() -> None:
    with pytest.raises(AssayPilotError, match="calculated from structures"):
        begin_with_properties(table=TABLE)
    with pytest.raises(AssayPilotError, match="no curve of a measured endpoint"):
        begin_with_properties(profile={"MW": (550, 450)})


def test_endpoint_of_the_table_takes_the_place_of_a_property_of_its_name() -> None:
    own: Endpoints = {"pIC50": {"sd": NOISE}, "clogp": {"sd": NOISE}}
    with begin_with_properties(endpoints=own, profile={"pIC50": (6, 8), "cLogP": (5, 3)}) as campaign:
        asked = campaign.recommend()
        values = [(name, "clogp", 4.0) for name in asked["ID"]]
        added = campaign.add(pd.DataFrame(values, columns=["ID", "Endpoint", "Value"]))
    assert added.accepted == len(values)
