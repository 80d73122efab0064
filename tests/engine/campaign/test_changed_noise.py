"""What is said of the assay noise after results were seen: by whom it could be chosen, and what that is stated to cost.

The other way round: each of these tests fails where the rule it is about is left out.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing import terms
from assaypilot.engine.campaign.changing.decisions import derive
from assaypilot.engine.campaign.changing.restarting import Restart, begin_anew, consequences_of_restart
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.noise import scatter
from assaypilot.engine.controls import Control
from assaypilot.engine.difference import with_noise
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.measurements import Result
from assaypilot.engine.models.sd_bound import spent, upper_factor
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stated_noise import StatedNoise
from tests.engine.campaign.making import answers, decide_phase, make, replays, small_library, truth

GUESS = Endpoint("pIC50", noise_sd=0.3, noise_estimated=True)
OPEN = {"epsilon": 0.1, "slack": 0.05}
"""A goal that takes more than two phases."""


def cut(campaign: Campaign, limit: float) -> None:
    """One more phase, of which what lies below a limit comes as a bound."""
    before = campaign.status().phases_decided
    while campaign.status().phases_decided == before:
        assert campaign.plan() is not None
        told = answers(campaign)
        below = [Result(r.compound, limit, r.endpoint, relation="<") if r.value < limit else r for r in told]
        campaign.record(below, close=True)


@pytest.mark.parametrize("first", [Endpoint("pIC50", noise_sd=0.2), replace(GUESS, noise_sd=0.2)])
def test_cells_go_on_counting_as_they_did_when_another_sd_is_said(tmp_path: Path, first: Endpoint) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **OPEN, endpoints=(first,), per_round=24, max_replicates=6) as campaign:
        cut(campaign, 5.45)
        cut(campaign, 5.45)
        planned = campaign._ledger.estimates[2].memory["shy"]
        campaign.change(Change(noise={"pIC50": 0.6}))
        ledger = campaign._ledger
        now = ledger.anew
        np.testing.assert_array_equal(now.decision.memory["shy"], planned)
        # By the new SD they would have been chosen after their values.
        chosen = derive(ledger, 2, now.measurable, now.decision.spent)
        assert not np.array_equal(chosen.memory["shy"], planned)
        # The next phase counts by what is said now, and stays so when something else is said.
        cut(campaign, 5.45)
        third = campaign._ledger.estimates[3].memory["shy"]
        campaign.change(Change(noise={"pIC50": 0.25}))
        np.testing.assert_array_equal(campaign._ledger.anew.decision.memory["shy"], third)
        number = next(m.number for m in campaign.status().measurements if m.counted and m.relation == "=")
        campaign.correct(number, 6.31, reason="typed wrong")
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_a_log_that_does_not_say_the_rules_is_read_by_those_it_was_written_by(tmp_path, monkeypatch) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **OPEN, per_round=24, max_replicates=6) as campaign:
        cut(campaign, 5.45)
        cut(campaign, 5.45)
        planned = campaign._ledger.estimates[2].memory["shy"]
        monkeypatch.setattr(terms, "rules", lambda ledger: 1)
        campaign.change(Change(noise={"pIC50": 0.6}))
        monkeypatch.undo()
        before = campaign._ledger.anew.decision
        assert not np.array_equal(before.memory["shy"], planned)
        number = next(m.number for m in campaign.status().measurements if m.counted and m.relation == "=")
        campaign.exclude(number, "leak", judgement=False)
        assert campaign._ledger.anew.rules == 1
        replays(campaign)
    assert verify(path, recompute=True).ok


def of_table(library, each: int = 4, sd: float = 0.1) -> list[Result]:
    rng = np.random.default_rng(2)
    means = zip(library.ids, truth(library), strict=True)
    return [Result(name, float(mean + sd * rng.standard_normal())) for name, mean in means for _ in range(each)]


def test_replicates_of_the_table_that_change_decide_everything_again(tmp_path: Path) -> None:
    """Otherwise some decisions would stand that rest on one sequence of replicates, and others on another."""
    path, history = tmp_path / "x.assaypilot", of_table(small_library())
    unknown = Endpoint("pIC50", noise_estimated=True)
    with make(path, **OPEN, endpoints=(unknown,), history=history, per_round=16) as campaign:
        decide_phase(campaign)
        decide_phase(campaign)

        def one_sequence() -> bool:
            ledger = campaign._ledger
            return all(ledger.spreads[phase] == scatter.spreads(ledger, phase) for phase in (1, 2))

        before = campaign._ledger.spreads[1][0]
        campaign.exclude(2, "a leak", judgement=False)
        assert campaign._ledger.spreads[1][0].freedom == before.freedom - 1
        assert one_sequence()
        assert "1 value left out for technical causes" in campaign.status().guarantee.sentence
        campaign.correct(7, 6.95, reason="typed wrong")
        assert one_sequence()
        assert "1 value corrected because" in campaign.status().guarantee.sentence
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_who_picks_replicates_of_the_table_promises_nothing_where_the_noise_rests_on_them(tmp_path: Path) -> None:
    history = of_table(small_library())
    for unknown in (True, False):
        endpoint = Endpoint("pIC50", noise_sd=0.2, noise_estimated=unknown)
        with make(tmp_path / f"{unknown}.assaypilot", endpoints=(endpoint,), history=history, per_round=16) as campaign:
            campaign.exclude(2, "too far off", judgement=True)
            # With a known noise no decision rests on what the table says.
            assert campaign.status().guarantee.holds != unknown
    marked = [replace(history[0], excluded=True, comment="outlier"), *history[1:]]
    unknown = Endpoint("pIC50", noise_estimated=True)
    with make(tmp_path / "m.assaypilot", endpoints=(unknown,), history=marked, per_round=16) as campaign:
        assert "(1 value left out there for causes unrelated to the values)" in campaign.status().guarantee.sentence


def test_each_guess_and_each_further_bound_has_a_share_once_values_were_cut(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"

    def stated(campaign: Campaign) -> float:
        return campaign.status().guarantee.delta / 0.05

    def guess(sd: float) -> Change:
        return Change(noise={"pIC50": StatedNoise(sd, estimated=True)})

    with make(path, **OPEN, endpoints=(GUESS,), per_round=48, max_replicates=6) as campaign:
        decide_phase(campaign)
        assert stated(campaign) == pytest.approx(1.0)
        # Where nothing was cut a guess chooses nothing.
        campaign.change(guess(0.5))
        assert stated(campaign) == pytest.approx(1.0)
        cut(campaign, 5.3)
        assert stated(campaign) == pytest.approx(1.1)
        cut(campaign, 5.3)
        assert stated(campaign) == pytest.approx(1.1)
        # A second guess beside a bound, and a bound beyond it.
        told = campaign.consequences(guess(0.2))
        assert any("6 times in 100" in sentence for sentence in told)
        assert any("whoever has seen results may choose" in sentence for sentence in told)
        campaign.change(guess(0.2))
        assert stated(campaign) == pytest.approx(1.2)
        cut(campaign, 7.0)
        assert stated(campaign) == pytest.approx(1.3)
        campaign.change(guess(0.25))
        assert stated(campaign) == pytest.approx(1.4)
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_classes_given_up_after_results_are_another_way_of_weighing_them(tmp_path: Path) -> None:
    differs = Endpoint("pIC50", noise_sd=0.2, noise_classes=NoiseClasses("R1", (("B", 0.4),)))
    for strategy, times in (("adaptive", 2.0), ("linfact-g", 1.0)):
        path = tmp_path / f"{strategy}.assaypilot"
        with make(path, **OPEN, strategy=strategy, endpoints=(differs,), per_round=24, max_replicates=6) as campaign:
            decide_phase(campaign)
            assert campaign.status().guarantee.delta == pytest.approx(0.05)
            campaign.change(Change(noise={"pIC50": 0.4}))
            assert campaign.status().guarantee.delta == pytest.approx(0.05 * times)
            campaign.change(Change(noise={"pIC50": 0.5}))  # One SD beside another weighs all alike.
            assert campaign.status().guarantee.delta == pytest.approx(0.05 * times)
            replays(campaign)


@pytest.mark.parametrize("lacking", [0, 1])
def test_parts_in_unequal_numbers_are_weighed_by_their_noise(tmp_path: Path, lacking: int) -> None:
    endpoints = with_noise([
        Endpoint("pIC50", noise_sd=0.2),
        Endpoint("pKi", noise_sd=0.2),
        Endpoint("S", of=("pIC50", "pKi")),
    ])  # fmt: skip
    path, rng = tmp_path / "x.assaypilot", np.random.default_rng(1)
    with make(path, **OPEN, endpoints=endpoints, objective="S", per_round=96, max_replicates=6) as campaign:
        issued = campaign.plan()
        results = [
            Result(campaign.status().library.ids[item.compound], float(rng.normal(6.0, 0.2)), name)
            for item in issued.items
            for name in ("pIC50", "pKi")
            for _ in range(item.replicates)
        ]
        campaign.record(results[lacking:], close=True, missing="failed")
        campaign.change(Change(noise={"pIC50": 0.4, "pKi": 0.4}))
        assert campaign.status().guarantee.delta == pytest.approx(0.05)
        campaign.change(Change(noise={"pIC50": 0.6}))
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * (1 + lacking))
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_plates_that_are_said_to_shift_make_another_sequence_of_replicates(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    for endpoint, times in ((GUESS, 2.1), (replace(GUESS, noise_estimated=False), 2.0)):
        path = tmp_path / f"{times}.assaypilot"
        with make(path, **OPEN, endpoints=(endpoint,), per_round=24, max_replicates=6) as campaign:
            decide_phase(campaign)
            campaign.change(Change(blocks="round", controls=(Control("REF"),)))
            assert campaign.status().guarantee.delta == pytest.approx(0.05 * times)
            replays(campaign)
        assert verify(path, recompute=True).ok


def test_what_was_left_out_is_not_forgotten_by_beginning_anew(tmp_path: Path) -> None:
    """Replicates of the first campaign tell the noise of the second, and which of them are missing must be seen."""
    more = Restart(endpoint=Endpoint("Solubility", unit="uM", transform="log"))
    for unknown in (True, False):
        path, endpoint = tmp_path / f"{unknown}.assaypilot", replace(GUESS, noise_estimated=unknown)
        with make(path, **OPEN, endpoints=(endpoint,), per_round=24, max_replicates=6) as campaign:
            decide_phase(campaign)
            campaign.exclude(2, "too far off", judgement=True)
            now = campaign.status()
        assert f"{len(now.measurements) - 1} values go with it" in " ".join(consequences_of_restart(now, more))
        with begin_anew(now, tmp_path / f"{unknown}-2.assaypilot", more) as other:
            then = other.status()
            assert [m.excluded for m in then.measurements if m.excluded] == ["too far off"] * unknown
            assert ("(1 value left out there for causes" in then.guarantee.sentence) == unknown


def test_nothing_is_guaranteed_where_what_was_chosen_may_all_be_wrong(tmp_path: Path) -> None:
    differs = Endpoint("pIC50", noise_sd=0.2, noise_classes=NoiseClasses("R1", (("B", 0.4),)))
    with make(tmp_path / "x.assaypilot", **OPEN, endpoints=(differs,), delta=0.3, per_round=24) as campaign:
        decide_phase(campaign)
        campaign.change(Change(noise={"pIC50": 0.4}))
        now = campaign.status()
        assert (now.guarantee.holds, now.guarantee.delta) == (True, pytest.approx(0.6))
        blocks = Change(blocks="round", controls=(Control("REF"),))
        assert any("Nothing would be guaranteed any more" in told for told in campaign.consequences(blocks))
        campaign.change(blocks)
        now = campaign.status()
        assert not now.guarantee.holds
        assert "in so many ways that all of them may be wrong" in now.guarantee.sentence
        assert "nothing promised" in now.goal_sentence


def test_causes_that_are_always_told_cost_nothing_and_those_told_at_will_do() -> None:
    """The figures of ``results.amending``: a walk at one look, and a bound on the noise at all its looks."""
    rng, runs, level = np.random.default_rng(3), 40_000, 0.3
    limit = norm.isf(level)

    def passed(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.sum(axis=1) > limit * np.sqrt(values.shape[1]))

    values = rng.standard_normal((runs, 10))
    whole, told = passed(values), (passed(values[:, 1:]), passed(values[:, ::2]))
    for found, at_will in zip(told, (0.35, 0.41), strict=True):
        assert found.mean() == pytest.approx(level, abs=0.01)
        assert (whole | found).mean() == pytest.approx(at_will, abs=0.012)

    least = np.array([(nu / upper_factor(nu, level) ** 2) for nu in range(2, 129, 2)])

    def below(squares: np.ndarray) -> np.ndarray:
        sums = np.cumsum(squares, axis=1)[:, 1::2]
        return np.asarray((sums <= least[: sums.shape[1]]).any(axis=1))

    squares = rng.standard_normal((10_000, 128)) ** 2
    whole, some = below(squares), below(squares[:, rng.permutation(128)[:64]])
    spent_by = [spent(128) * level, spent(64) * level]
    assert whole.mean() == pytest.approx(spent_by[0], abs=0.015)
    assert some.mean() == pytest.approx(spent_by[1], abs=0.015)
    assert (whole | some).mean() > spent_by[0] + 0.03
