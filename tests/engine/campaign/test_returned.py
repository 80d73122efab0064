"""Compounds that nothing could be said of, and that can be had again when others are in."""

import numpy as np
import pytest

from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, StockLine
from tests.engine.campaign.making import finish, make, replays


def lines(campaign, state):
    """Of the compounds with the best substituent at the first site (B); the best of the others is 0.9 behind."""
    codes = campaign.status().library.codes
    return [StockLine(int(c), state if codes[c, 0] == 1 else IN_STOCK) for c in range(len(codes))]


@pytest.mark.slow
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
            assert not stand.any()
        else:
            assert stand.any()
        assert not now.guarantee.holds
        assert not end.guarantee.holds
        assert end.library.ids[int(np.argmax(end.candidates.estimate))] == "R1=B|R2=B"
        replays(campaign)
    assert verify(path, recompute=True).ok


def test_the_one_found_best_is_not_promised_to_be_it_when_a_better_one_can_be_had_again(tmp_path):
    with make(tmp_path / "x.assaypilot", goal="best", slack=0.2, epsilon=None, per_round=24) as campaign:
        campaign.set_stock(lines(campaign, CANNOT))
        assert finish(campaign).guarantee.holds
        campaign.set_stock(lines(campaign, IN_STOCK))
        assert not finish(campaign).guarantee.holds
