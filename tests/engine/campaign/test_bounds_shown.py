"""Values known only as bounds in what a campaign shows: estimates count them, decisions stay what they were."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtr

from assaypilot.engine.campaign import censoring
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.candidates import pooled, posterior_of
from assaypilot.engine.campaign.cautions import what_they_would_do
from assaypilot.engine.cli.program import main
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.export.bounds import COUNTED, bound_text, estimate_text, only_bounds, said
from assaypilot.engine.export.shortlist import table_of
from assaypilot.engine.models.beyond_model import beyond_model
from assaypilot.engine.models.ols import least_squares
from assaypilot.engine.models.tobit import Bounds, Cells
from tests.engine.campaign.making import answers, make, replays, small_library, truth
from tests.engine.campaign.test_bounds import WIDE, beyond
from tests.engine.models.test_tobit import table


def measured(path: Path, limit: float, rounds: int = 2, **options: object) -> Campaign:
    """A campaign some rounds on, of an assay that tells nothing below a limit."""
    campaign = make(path, **{**WIDE, **options})
    for _ in range(rounds):
        if campaign.plan() is None:
            break
        campaign.record(beyond(answers(campaign), limit), close=True)
    return campaign


def test_estimates_count_what_lies_below_the_limit(tmp_path: Path) -> None:
    with measured(tmp_path / "x.assaypilot", 5.7) as campaign:
        now = replays(campaign)
        known, ledger = now.candidates, campaign._ledger
        cut = np.flatnonzero((known.under["pIC50"] == 5.7) & (known.measured == 0))
        assert len(cut)
        assert (known.estimate[cut] < 5.7).all()
        np.testing.assert_allclose(known.estimate, truth(now.library), atol=0.35)
        assert [only_bounds(now, int(c)) for c in cut] == ["<5.7"] * len(cut)
        assert said(now) == COUNTED
        # Without them the same estimates are those of the exact values alone, as ever.
        data = pooled(ledger, 0)
        rows = np.flatnonzero(data.counts > 0)
        plain = least_squares(ledger.features, rows, data.counts[rows], data.means[rows])
        told = plain.estimable()
        assert np.abs(known.estimate - plain.means()[ledger.arm_of])[told[ledger.arm_of]].max() > 0.01


def test_where_nothing_is_cut_everything_is_as_it_was(tmp_path: Path) -> None:
    with measured(tmp_path / "x.assaypilot", -9.0) as campaign:
        now, ledger = campaign.status(), campaign._ledger
        data = pooled(ledger, 0)
        rows = np.flatnonzero(data.counts > 0)
        plain = least_squares(ledger.features, rows, data.counts[rows], data.means[rows])
        assert censoring.fitted(ledger, 0) is None
        assert np.array_equal(now.candidates.estimate, plain.means()[ledger.arm_of])
        assert (now.candidates.under, now.candidates.open_sides, said(now)) == ({}, {}, "")


def test_an_excluded_or_withdrawn_bound_counts_no_more(tmp_path: Path) -> None:
    with measured(tmp_path / "x.assaypilot", 5.7, rounds=1) as campaign:
        one = next(m for m in campaign.status().measurements if m.relation == "<")
        with_it = campaign.status().candidates.estimate
        campaign.exclude(one.number, "wrong plate", judgement=False)
        now = replays(campaign)
        assert not np.array_equal(now.candidates.estimate, with_it)
        others = [
            m for m in now.measurements if m.relation == "<" and m.compound == one.compound and m.excluded is None
        ]
        assert (bound_text(now, "pIC50", one.compound) == "<5.7") == bool(others)


def test_decisions_are_what_they_were(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same campaign without bounds in estimates asks for the same compounds, and decides the same of them."""
    with measured(tmp_path / "x.assaypilot", 5.7) as campaign:
        shown = campaign.status()
    monkeypatch.setattr(censoring, "bounds_of", lambda ledger, endpoint: ())
    with measured(tmp_path / "y.assaypilot", 5.7) as campaign:
        plain = campaign.status()
    assert not np.array_equal(shown.candidates.estimate, plain.candidates.estimate)
    for name in ("status", "decided_in_round", "low", "high"):
        assert np.array_equal(getattr(shown.candidates, name), getattr(plain.candidates, name), equal_nan=True)
    asked = [[(item.compound, item.replicates) for one in now.rounds for item in one.items] for now in (shown, plain)]
    assert asked[0] == asked[1]
    assert shown.guarantee == plain.guarantee


@pytest.mark.parametrize("relation", ["<", ">"])
def test_what_only_bounds_hold_is_shown_as_a_bound_and_has_no_end(tmp_path: Path, relation: str) -> None:
    """All compounds with one substituent lie beyond the range: nothing says how far."""
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        told = [
            replace(one, value=5.0 if relation == "<" else 8.0, relation=relation) if "R2=C" in one.compound else one
            for one in answers(campaign)
        ]
        campaign.record(told, close=True)
        now = replays(campaign)
        known, name = now.candidates, "pIC50"
        carry = np.array(["R2=C" in one for one in now.library.ids])
        side = -1 if relation == "<" else 1
        assert known.open_sides[name].tolist() == np.where(carry, side, 0).tolist()
        far = known.posterior_low if side < 0 else known.posterior_high
        near = known.posterior_high if side < 0 else known.posterior_low
        assert np.isinf(far[carry]).all()
        assert np.isfinite(far[~carry]).all()
        assert np.isfinite(near).all()
        for compound in np.flatnonzero(carry).tolist():
            text = estimate_text(now, name, compound)
            assert text.startswith(relation)
            if known.censored[compound]:
                assert -side * float(text[1:]) <= -side * (5.0 if side < 0 else 8.0)
        assert ("<5.0" if side < 0 else ">8.0") in [estimate_text(now, name, k) for k in np.flatnonzero(carry).tolist()]
        assert not estimate_text(now, name, int(np.flatnonzero(~carry)[0])).startswith(("<", ">"))


def test_a_difference_counts_the_bounds_of_both_parts(tmp_path: Path) -> None:
    endpoints = (
        Endpoint("A", noise_sd=0.2, unit="log"),
        Endpoint("B", noise_sd=0.2, unit="log"),
        Endpoint("D", of=("A", "B")),
    )
    with make(tmp_path / "x.assaypilot", endpoints=endpoints, objective="D", **WIDE) as campaign:
        campaign.plan()
        ids = campaign.status().library.ids
        level = truth(campaign.status().library)
        rng = np.random.default_rng(2)
        told = []
        for line in campaign.status().open_round.items:
            for _ in range(line.replicates):
                mean = float(level[line.compound])
                b = 5.0 + 0.2 * rng.standard_normal()
                told.append(Result(ids[line.compound], mean + 0.2 * rng.standard_normal(), endpoint="A"))
                told.append(Result(ids[line.compound], 5.05, endpoint="B", relation="<") if b < 5.05 else
                            Result(ids[line.compound], b, endpoint="B"))  # fmt: skip
        campaign.record(told)
        now = campaign.status()
        some = [m.compound for m in now.measurements if m.relation == "<"]
        assert some
        error = now.candidates.estimates["D"] - (level - 5.0)
        # Without its bounds B would lie higher, and D lower, by .19 in the mean; one compound has an SD of .2.
        assert abs(error.mean()) < 0.1
        assert np.abs(error).max() < 0.8
        view = posterior_of(campaign._ledger, 2)
        assert view is not None
        assert view.sigma == pytest.approx(np.hypot(0.2, 0.2))


def test_an_endpoint_that_nobody_knows_the_noise_of_counts_them_too(tmp_path: Path) -> None:
    endpoints = (Endpoint("pIC50", noise_sd=0.2), Endpoint("Solubility", unit="log"))
    with make(tmp_path / "x.assaypilot", endpoints=endpoints, objective="pIC50", **WIDE) as campaign:
        ids = campaign.status().library.ids
        level = truth(campaign.status().library)
        told = [
            Result(name, max(float(mean), 5.5), endpoint="Solubility", relation="<" if mean < 5.5 else "=")
            for name, mean in zip(ids, level, strict=True)
        ]
        campaign.record(told)
        known = campaign.status().candidates
        cut = level < 5.5
        assert cut.any()
        assert (known.estimates["Solubility"][cut] < 5.6).all()


@pytest.mark.parametrize(("cliff", "limit"), [(False, 5.0), (True, 5.0), (True, 5.4)])
def test_a_bound_far_from_what_others_predict_contradicts_additivity(tmp_path: Path, cliff: bool, limit: float) -> None:
    """A compound that should be at 7.4 and reads below 5 is no silence; those that belong there are no alarm."""
    with make(tmp_path / "x.assaypilot", library=small_library((3, 3)), **WIDE) as campaign:
        campaign.plan()
        told = beyond(answers(campaign), limit)
        if cliff:
            told = [replace(one, value=limit, relation="<") if one.compound == "R1=B|R2=B" else one for one in told]
        campaign.record(told, close=True)
        now = replays(campaign)
        (judged,) = now.additivity
        assert judged.contradicted is cliff
        assert [now.library.ids[one.row] for one in judged.beyond] == ["R1=B|R2=B"] * cliff
        if cliff:
            assert len(judged.compounds) == 5, "the cliff takes none of its neighbours along"
            assert f"R1=B|R2=B (<{limit:.2f}, predicted 7." in judged.sentence
            assert judged.sentence.split(":")[0] in now.guarantee.sentence
            assert judged.as_json(now.library.ids)["beyond"][0]["relation"] == "<"


def test_all_values_of_a_row_have_to_lie_beyond_for_that_to_count() -> None:
    """Of ``<5`` and ``<8`` together only that their mean is below 8 is known; of two ``<5`` that theirs is below 5."""
    features = SiteFeatures(np.array([[a, b] for a in range(3) for b in range(3)]), (3, 3))
    means = features.times(np.array([6.0, 0.0, 0.5, 1.0, 0.0, 0.5, 0.0]))
    exact = Cells(np.arange(8), np.ones(8), means[:8])
    predicted = float(means[8])

    def told(*limits: float) -> Bounds:
        k = len(limits)
        return Bounds(np.full(k, 8), np.ones(k), np.array(limits), np.ones(k), np.ones(k))

    assert not beyond_model(features, exact, told(8.0, 5.0), 0.2)
    (one,), (two,) = (beyond_model(features, exact, told(*limits), 0.2) for limits in ((5.0,), (5.2, 5.0)))
    assert (one.limit, two.limit) == (5.0, 5.2)
    assert one.predicted == pytest.approx(predicted)
    se = 0.2 * least_squares(features, *exact).half_norms(np.array([8]))[0]
    assert one.p == pytest.approx(float(ndtr((5.0 - predicted) / np.hypot(se, 0.2))), rel=1e-6)
    assert two.p == pytest.approx(float(ndtr((5.2 - predicted) / np.hypot(se, 0.2 / np.sqrt(2.0)))), rel=1e-6)


def test_bounds_of_additive_tables_raise_no_alarm() -> None:
    """Of 400 additive tables with a third of the values cut about none is contradicted by its bounds at 0.01."""
    alarms, least = 0, []
    for seed in range(400):
        features, _, exact, cut = table(np.random.default_rng(seed), (5, 4, 3), 50, 0.33)
        clear = exact.means > cut.limits[0] + 0.6
        inside = Cells(*(part[clear] for part in exact))
        found = beyond_model(features, inside, cut, 0.2)
        alarms += bool(found) and found[0].p < 0.01
        least += [one.p for one in found]
    assert alarms <= 10
    assert min(least) < 0.2


def test_status_and_tables_say_below_instead_of_a_number_nothing_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.assaypilot"
    endpoints = (Endpoint("IC50 (nM)", unit="nM", transform="log", noise_sd=0.2),)
    with make(path, endpoints=endpoints, objective="IC50 (nM)", **WIDE) as campaign:
        campaign.plan()
        told = [
            replace(one, value=10_000.0, relation=">") if "R2=C" in one.compound else one for one in answers(campaign)
        ]
        campaign.record(told, close=True)
        now = campaign.status()
    sheet = table_of(now, list(range(len(now.library))))
    rows = {str(row[0]): dict(zip(sheet.header, row, strict=True)) for row in sheet.rows}
    measured = {one.compound for one in told}
    for name, row in rows.items():
        if "R2=C" in name and name in measured:
            assert float(str(row["pIC50 estimate"]).removeprefix("<")) <= 5.0
            assert float(str(row["IC50 (nM) estimate"]).removeprefix(">")) >= 10_000.0
            assert row["Evidence"] == "predicted, measured only as a bound (<5.0)"
        elif "R2=C" not in name:
            assert isinstance(row["pIC50 estimate"], float)
    assert main(["status", str(path)]) == 0
    assert (rows["R1=B|R2=C"]["pIC50 estimate"], rows["R1=B|R2=C"]["IC50 (nM) estimate"]) == ("<5.0", ">10000")
    line = next(one for one in capsys.readouterr().out.splitlines() if one.startswith("R1=B|R2=C"))
    assert line.split().count("<5.0") == 2
    assert main(["status", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    bounds = {one["id"]: one.get("bounds", {}).get("IC50 (nM)") for one in document["compounds"]}
    assert {name for name, one in bounds.items() if one is not None} == {name for name in bounds if "R2=C" in name}
    assert all(one["open"] == "below" for one in bounds.values() if one is not None)


def test_of_counts_it_is_said_that_bounds_are_not_used(tmp_path: Path) -> None:
    endpoint = Endpoint("Colonies", kind="count")
    terms = {"objective": "Colonies", "epsilon": 0.3, "parameters": {"bound": 6.0}}
    with make(tmp_path / "x.assaypilot", endpoints=(endpoint,), **terms) as campaign:
        ids = campaign.status().library.ids
        campaign.record([Result(ids[0], 300, relation=">"), Result(ids[1], 20)])
        now = campaign.status()
    assert not now.bounds_counted
    assert any("known only as bounds, shown but not used: R1=A|R2=A" in text for text in now.warnings)
    assert now.candidates.open_sides == {}
    assert what_they_would_do(1, counted=now.bounds_counted).startswith(
        "1 value is known only as a bound: estimates do not use it, decisions count the bound itself."
    )
