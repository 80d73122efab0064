"""Goals about several endpoints: what a round asks, what comes back of each, and what is decided and said."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign import candidates, verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.domain.goals import ParetoSet
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import replays
from tests.engine.campaign.trading import HERG, POTENCY, answers, finish, samples, trade, truth

GOOD = np.array([truth("pIC50"), -truth("hERG")])
"""Larger is better in both."""


def test_the_best_trade_offs_are_found(path: Path) -> None:
    with trade(path, epsilon=0.6) as campaign:
        start = campaign.status()
        assert start.goal_sentence == (
            "The best trade-offs between pIC50 and hERG, differences up to 0.6 not counted, 95 % sure"
        )
        assert (start.goal_endpoints, start.measured_endpoints, start.margins) == ((0, 1), (0, 1), (0.6, 0.6))
        assert (start.strategy, start.objective, start.settings.softness) == ("adaptive", 0, 0.0)
        now = finish(campaign)
        replays(campaign)
    goal = ParetoSet((0.6, 0.6))
    inside = now.candidates.status == 1
    assert goal.is_right(inside, GOOD)
    assert now.counts["undecided"] == 0
    assert now.statement.startswith(f"Decided after {now.measurements_used:,} measurements: {inside.sum()} of 9 comp")
    assert "no other compound is better in both by more than 0.6" in now.statement
    assert now.guarantee.sentence.startswith(
        "Every compound that no other truly beats in both is in; none that another beats in both by more than 0.6 is in"
    )
    assert "SD at most 0.2 in pIC50 and 0.3 in hERG" in now.guarantee.sentence
    assert np.isnan([now.candidates.cutoff, now.candidates.soft_cutoff]).all()
    chance = now.candidates.probability_within_epsilon
    assert chance[goal.members(GOOD)].min() > 0.2
    assert chance[~goal.acceptable(GOOD)].max() < 0.2
    assert now.probability_names == ("trade-off", "trade-off up to 0.6")
    assert verifying.verify(path, recompute=True).ok


def test_a_measurement_is_of_one_endpoint(path: Path) -> None:
    """96 measurements of two endpoints are 48 replicates of compounds; so the budget."""
    with trade(path, per_round=25, budget=61, slack=None) as campaign:
        issued = campaign.plan()
        assert (samples(issued), issued.measurements) == (12, 24)
        problem = campaign._ledger.state.problem
        assert (problem.capacity.per_round, problem.budget) == (12, 30)
        assert campaign.status().phase.total == 2 * sum(campaign._ledger.under_way.planned.values())
        campaign.record(answers(campaign)[:7])
        assert campaign.status().measurements_used == 7
        assert campaign._ledger.samples() == 4, "rounded up"
        campaign.record(answers(campaign))
        now = finish(campaign)
        assert now.measurements_used <= 61
        if "budget" in now.finish_reason:
            assert "one more decision needs at least" in now.finish_reason
            assert int(now.finish_reason.split("needs at least ")[1]) % 2 == 0


def test_what_one_endpoint_lacks_comes_again_alone(path: Path) -> None:
    with trade(path) as campaign:
        first = campaign.plan()
        here = answers(campaign)
        short = [r for r in here if r.endpoint == "pIC50"] + [r for r in here if r.endpoint == "hERG"][3:]
        campaign.record(short)
        now = campaign.status()
        assert now.open_round.missing_of == (0, 3)
        assert (now.open_round.missing, now.open_round.came) == (3, first.measurements - 3)
        assert sum(now.open_round.returned) == samples(first) - 3
        campaign.close_round()
        again = campaign.plan()
        partial = [item for item in again.items if item.asked]
        assert sum(item.of(0) for item in partial) == sum(item.replicates for item in partial) - 3
        assert all(item.of(1) == item.replicates for item in partial)
        assert again.measurements == 2 * samples(again) - 3
        assert replays(campaign).open_round == again
        # A value of the endpoint that is in already is beyond what was asked.
        item = next(item for item in partial if item.of(0) == 0)
        report = campaign.record([Result(now.library.ids[item.compound], 6.0, "pIC50")])
        assert (report.accepted, report.unplanned) == (1, 1)
        assert campaign.record(answers(campaign, only=["hERG"])).round_closed is (again.missing_of[0] == 0)
        while campaign.status().phases_decided == 0:
            if campaign.status().open_round is None:
                campaign.plan()
            campaign.record(answers(campaign))
        outcome = campaign._ledger.outcome(1, campaign._ledger.phases[0].allocation, 0)
        assert outcome.complete
        assert (outcome.counts[:, outcome.allocation.arms] == outcome.allocation.counts).all()
        replays(campaign)


def test_margins_of_endpoints_of_the_campaign_and_none(path: Path, tmp_path: Path) -> None:
    own = (replace(POTENCY, epsilon=0.2), replace(HERG, epsilon=0.4))
    with trade(path, *own) as campaign:
        assert campaign.status().margins == (0.2, 0.4)
        assert "differences up to 0.2 in pIC50 and 0.4 in hERG not counted" in campaign.status().goal_sentence
    with trade(tmp_path / "b.assaypilot", own[0], HERG) as campaign:
        assert campaign.status().margins == (0.2, 0.5)
    with trade(tmp_path / "c.assaypilot", epsilon=None) as campaign:
        now = replays(campaign)
        assert now.margins == (0.0, 0.0)
        assert now.goal_sentence == "The best trade-offs between pIC50 and hERG, 95 % sure"
        assert any("almost equal may keep the set from ever being decided" in text for text in now.warnings)
    with pytest.raises(AssayPilotError, match="give every endpoint of a Pareto goal a difference"):
        trade(tmp_path / "d.assaypilot", own[0], HERG, epsilon=None)


@pytest.mark.parametrize(("slack", "epsilon", "softness"), [(None, 0.5, 0.25), (0.4, None, 0.4), (None, None, 0.0)])
def test_the_best_compound(path: Path, slack: float | None, epsilon: float | None, softness: float) -> None:
    with trade(path, POTENCY, goal="best", slack=slack, epsilon=epsilon) as campaign:
        start = campaign.status()
        assert start.settings.softness == softness
        assert start.strategy == "adaptive"
        assert any("ever being decided" in text for text in start.warnings) == (softness == 0.0)
        near = f", or one within {softness:g} of it" if softness else ""
        assert start.goal_sentence == f"The compound with the best pIC50{near}, 95 % sure"
        assert start.guarantee.sentence.startswith("The compound that ends up in truly has the best pIC50")
        now = finish(campaign)
        replays(campaign)
        (best,) = np.flatnonzero(now.candidates.status == 1)
        assert truth("pIC50")[best] >= truth("pIC50").max() - softness
        assert now.counts == {"undecided": 0, "in": 1, "out": 8, "not_estimable": 0}
        assert f"{now.library.ids[best]} has the best pIC50{near}." in now.statement
        assert now.candidates.probability_within_epsilon.sum() == pytest.approx(1.0)
        assert now.probability_names == ("best", f"within {softness:g}" if softness else "best")
        assert now.candidates.cutoff == np.nanmax(now.candidates.estimate)
    assert verifying.verify(path, recompute=True).ok


def test_a_round_states_what_is_expected_of_every_endpoint(path: Path) -> None:
    with trade(path, epsilon=0.1, per_round=20, max_replicates=2) as campaign:
        first = campaign.plan()
        assert {item.each for item in first.items} == {(None, None)}
        assert first.items[0].expected_of(0) is None
        campaign.record(answers(campaign))
        issued = campaign.plan()
        replays(campaign)
        posterior = [candidates.posterior_of(campaign._ledger, k) for k in (0, 1)]
        for item in issued.items:
            for place, view in enumerate(posterior):
                arm = campaign._ledger.arm_of[[item.compound]]
                mean, sd = float(view.means(arm)[0]), float(view.sds(arm)[0])
                expected = (mean, mean - 1.96 * sd, mean + 1.96 * sd)
                assert item.expected_of(place) == pytest.approx(expected)
            assert (item.expected, item.low, item.high) == item.each[0]
    with Campaign.open(path) as campaign:
        assert campaign.status().open_round == issued
