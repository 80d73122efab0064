"""Compounds that nothing could be said of, and that can be had again when others are in."""

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.library import Library
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stock import CANNOT, IN_STOCK, StockLine
from tests.engine.campaign.making import decide_phase, finish, make, replays, small_library


def lines(campaign, state):
    """Of the compounds with the best substituent at the first site (B); the best of the others is 0.9 behind."""
    codes = campaign.status().library.codes
    return [StockLine(int(c), state if codes[c, 0] == 1 else IN_STOCK) for c in range(len(codes))]


@pytest.mark.parametrize("strategy", ["adaptive", "linfact-g", "linfact-xy"])
def test_who_is_in_is_not_promised_to_be_near_one_that_it_was_never_compared_with(tmp_path, strategy):
    path = tmp_path / "x.assaypilot"
    with make(path, strategy=strategy, epsilon=0.3, slack=0.3, max_replicates=4, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        done = finish(campaign)
        ins = done.candidates.status == 1
        assert done.guarantee.holds
        assert ins.any()
        assert done.counts["not_estimable"] == 3
        campaign.set_stock(lines(campaign, IN_STOCK))
        now = campaign.status()
        end = finish(campaign)
        stand = (end.candidates.status == 1)[ins]
        if strategy == "adaptive":
            assert (now.candidates.status[ins] == 0).all()
            assert now.guarantee.holds
            assert end.guarantee.holds
            # Two bests, one after the other: what is for who is in, and who is not the best, is spent on each.
            assert done.guarantee.delta == pytest.approx(0.05)
            assert done.goal_sentence.endswith(", 95 % sure")
            assert end.goal_sentence.endswith(", 95 % sure asked for, 92.25 % promised")
            assert end.guarantee.delta == now.guarantee.delta == pytest.approx(0.05 * 1.55)
            assert not stand.any()
        else:
            assert stand.any()
            assert "put in before others could be had again" in end.guarantee.sentence
            assert not end.guarantee.holds
        assert end.library.ids[int(np.argmax(end.candidates.estimate))] == "R1=B|R2=B"
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_the_one_found_best_is_not_promised_to_be_it_when_a_better_one_can_be_had_again(tmp_path):
    with make(tmp_path / "x.assaypilot", goal="best", slack=0.2, epsilon=None, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        assert finish(campaign).guarantee.holds
        campaign.set_stock(lines(campaign, IN_STOCK))
        # Two bests: each may be refuted as the best, and the one named be taken to be near each.
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * (1.0 + 0.475 + 0.475))
        end = finish(campaign)
        assert "a compound that can be had again is better than the one found best" in end.guarantee.sentence
        assert not end.guarantee.holds


@pytest.mark.parametrize("strategy", ["linfact-g", "adaptive"])
def test_where_all_could_be_estimated_all_the_while_nothing_is_said(tmp_path, strategy):
    with make(tmp_path / "x.assaypilot", strategy=strategy, per_round=24) as campaign:
        campaign.set_stock([StockLine(0, CANNOT)])
        finish(campaign)
        campaign.set_stock([StockLine(0, IN_STOCK)])
        end = finish(campaign)
        assert end.guarantee.holds
        assert end.guarantee.delta == pytest.approx(0.05)


def test_who_was_put_in_by_a_change_is_compared_with_those_that_can_be_had_again_as_well(tmp_path):
    """No phase put anybody in; another distance from the best did, of those that could be estimated then."""
    path = tmp_path / "x.assaypilot"
    goal = {"epsilon": 0.05, "slack": 0.02}
    with make(path, strategy="adaptive", **goal, max_replicates=4, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        decide_phase(campaign)
        assert campaign.status().counts["in"] == 0
        campaign.change(Change(epsilon=0.9, slack=0.9))
        there = campaign.status()
        ins = there.candidates.status == 1
        assert ins.any()
        assert there.guarantee.delta == pytest.approx(0.05 * 1.05)
        campaign.set_stock(lines(campaign, IN_STOCK))
        now = campaign.status()
        assert (now.candidates.status[ins] == 0).all()
        assert now.guarantee.holds
        assert now.guarantee.delta == pytest.approx(0.05 * 1.6)
        end = finish(campaign)
        assert end.guarantee.holds
        # The worst is 2 behind those that came back, and 1.1 behind the best of the others.
        assert not (end.candidates.status == 1)[end.library.ids.index("R1=C|R2=C")]
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_of_compounds_that_were_added_before_it_is_spent_again_as_well(tmp_path):
    whole = small_library()
    new = np.arange(len(whole)) == whole.ids.index("R1=C|R2=C")
    ids = np.array(whole.ids)
    before, more = (
        Library(whole.sites, whole.codes[some], tuple(ids[some]), None, np.ones(int(some.sum()), dtype=bool))
        for some in (~new, new)
    )
    goal = {"epsilon": 0.3, "slack": 0.3, "strategy": "adaptive"}
    with make(tmp_path / "x.assaypilot", library=before, **goal, max_replicates=4, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        assert finish(campaign).counts["in"]
        campaign.add_compounds(more)
        assert finish(campaign).guarantee.delta == pytest.approx(0.05 * 1.1)
        campaign.set_stock(lines(campaign, IN_STOCK))
        # Among the first compounds and the one that was added alike.
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * 1.1 * 1.55)


def test_others_that_a_new_compound_tells_of_are_others_that_came_back(tmp_path):
    """None with the best substituent at the first site can be measured until one more compound has it."""
    whole, path = small_library(), tmp_path / "x.assaypilot"
    best = whole.codes[:, 0] == 1
    new = best & (whole.codes[:, 1] == 2)
    ids = np.array(whole.ids)
    before = Library(whole.sites, whole.codes[~new], tuple(ids[~new]), None, ~best[~new])
    more = Library(whole.sites, whole.codes[new], tuple(ids[new]), None, np.array([True]))
    goal = {"epsilon": 0.3, "slack": 0.3, "strategy": "adaptive"}
    with make(path, library=before, **goal, max_replicates=4, per_round=24) as campaign:
        done = finish(campaign)
        ins = np.flatnonzero(done.candidates.status == 1)
        assert len(ins)
        assert done.counts["not_estimable"] == 2
        told = " ".join(campaign.consequences_of_adding(more))
        assert "others can be estimated that could not be before" in told
        assert "stay below" not in told
        campaign.add_compounds(more)
        assert (campaign.status().candidates.status[ins] == 0).all()
        # A second best of those that were there, beside the share of the new one.
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * (1.1 + 0.55))
        finish(campaign)
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_a_second_best_costs_in_each_way_in_which_measurements_were_weighed(tmp_path):
    differs = Endpoint("pIC50", noise_sd=0.2, noise_classes=NoiseClasses("R1", (("C", 0.3),)))
    goal = {"strategy": "adaptive", "epsilon": 0.3, "slack": 0.3}
    with make(tmp_path / "x.assaypilot", endpoints=(differs,), **goal, max_replicates=4, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        assert finish(campaign).counts["in"]
        campaign.change(Change(noise={"pIC50": 0.3}))
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * 2.0)
        campaign.set_stock(lines(campaign, IN_STOCK))
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * 2.0 * 1.55)
