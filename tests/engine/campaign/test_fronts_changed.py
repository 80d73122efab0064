"""Another confidence, noise or limit for trade-offs after results: what holds, and what only other margins end."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing.decisions import derive
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.file.chain import Draft
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.measurements import Result
from assaypilot.engine.strategies.protocol import Decision
from tests.engine.campaign.making import replays
from tests.engine.campaign.trading import answers, decide_phase, finish, trade, truth

LOGD = Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 1.7))


def sound(campaign: Campaign) -> Status:
    found = verify(campaign.path, recompute=True)
    assert found.ok, found.problems
    return replays(campaign)


def go_on(campaign: Campaign, most: int = 12) -> Status:
    for number in range(most):
        if campaign.plan() is None:
            return campaign.status()
        now, rng = campaign.status(), np.random.default_rng((4, number))
        assert now.open_round is not None
        means = truth("logD", now.library)
        logd = [
            Result(now.library.ids[item.compound], float(value), "logD")
            for item in now.open_round.items
            for value in means[item.compound] + 0.2 * rng.standard_normal(item.replicates)
        ]
        campaign.record([*answers(campaign, only=("pIC50", "hERG")), *logd], close=True)
    raise AssertionError("no end in sight")


def test_a_limit_comes_to_trade_offs_and_is_decided_for_all_that_are_in(tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", strategy="adaptive", per_round=48) as campaign:
        before = finish(campaign)
        told = " ".join(campaign.consequences(Change(endpoint=LOGD)))
        assert "The guarantee holds for the new goal, wrong at most 1 time in 15" in told
        now = campaign.change(Change(endpoint=LOGD))
        assert now.guarantee.holds
        sound(campaign)
        campaign.undo()
        assert np.array_equal(campaign.status().candidates.status, before.candidates.status)
        campaign.redo()
        now = go_on(campaign)
        assert now.finished
        assert now.guarantee.holds
        means = truth("logD", now.library)
        failed = np.flatnonzero(now.candidates.failed_limit >= 0)
        assert set(failed) == set(np.flatnonzero((before.candidates.status == 1) & (means >= 1.7))) | set(failed)
        assert (means[failed] >= 1.7).all()
        assert "may still fail" not in now.statement
        first = next(m for m in now.measurements if m.endpoint == 1 and m.counted)
        campaign.correct(first.number, first.value + 0.05, reason="digits")
        sound(campaign)


@pytest.mark.parametrize("change", [Change(delta=0.01), Change(noise={"hERG": 0.4}), Change(noise={"hERG": 0.25})])
def test_confidence_and_noise_change_and_the_guarantee_holds(change: Change, tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        decide_phase(campaign)
        now = campaign.change(change)
        assert now.guarantee.holds
        sound(campaign)
        now = finish(campaign, seed=5)
        assert now.finished
        assert now.guarantee.holds


def test_other_margins_end_it(tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        decide_phase(campaign)
        told = " ".join(campaign.consequences(Change(epsilon=0.3)))
        assert "Nothing would be guaranteed any more" in told
        assert not campaign.change(Change(margins={"hERG": 0.2})).guarantee.holds


def test_what_a_larger_confidence_decides_a_smaller_one_decides_too(tmp_path: Path) -> None:
    """So errors of all confidences together are those of the smallest: whoever chooses by results gains nothing."""
    seen = 0
    for seed in range(4):
        with trade(tmp_path / f"{seed}.assaypilot", strategy="adaptive", delta=0.3) as campaign:
            decide_phase(campaign, seed=seed)
            decide_phase(campaign, seed=seed)
            found: list[Decision] = []
            for change in (Change(delta=d) for d in (0.2, 0.05, 0.01, 0.001)):
                ledger = campaign._ledger.fork({})
                drafts, _ = _drafts(campaign, change)
                ledger.rehearse(drafts)
                decision = derive(ledger, len(ledger.phases), ledger.measurable(), ledger.samples())
                assert decision is not None
                found.append(decision)
            for larger, smaller in pairwise(found):
                assert set(smaller.outs.tolist()) <= set(larger.outs.tolist())
                assert set(smaller.ins.tolist()) <= set(larger.ins.tolist()) | set(larger.outs.tolist())
                assert np.array_equal(smaller.memory["beaters"], larger.memory["beaters"])
                seen += len(larger.outs) - len(smaller.outs)
    assert seen > 0


def _drafts(campaign: Campaign, change: Change) -> tuple[list[Draft], dict[str, bytes]]:
    from assaypilot.engine.campaign.changing.terms import change_drafts

    (draft,), blobs = change_drafts(campaign._ledger, change)
    return [Draft(draft.kind, {**draft.data, "anew": None, "parts": []}, draft.version)], blobs
