"""Compounds added to trade-offs after results: what is said, decided anew, corrected, taken back and verified."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.engine.strategies.adaptive.pareto import AdaptivePareto
from tests.engine.campaign.making import replays
from tests.engine.campaign.trading import EFFECTS, HERG, POTENCY, decide_phase, finish, trade

MORE = Library.listed(["R1", "R2"], [["D", "A"], ["D", "B"], ["A", "D"]], ids=["new-1", "new-2", "new-3"])
"""A fourth substituent at either site: better in pIC50, and in hERG as the first two are."""


@pytest.fixture(autouse=True)
def wider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFECTS, "pIC50", ((0.0, 0.9, -0.4, 1.6), (0.0, 0.5, -0.7, -1.2)))
    monkeypatch.setitem(EFFECTS, "hERG", ((5.0, 5.8, 5.6, 5.0), (0.0, -0.3, 0.5, -0.9)))


def ids(now: Status, code: int) -> set[str]:
    return {now.library.ids[c] for c in np.flatnonzero(now.candidates.status == code)}


def sound(campaign: Campaign) -> None:
    assert verify(campaign.path, recompute=True).ok
    replays(campaign)


def test_who_is_out_stays_out_and_the_new_ones_are_compared(tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        before = finish(campaign)
        told = " ".join(campaign.consequences_of_adding(MORE))
        assert "Adds 3 compounds, to 12 compounds in all." in told
        assert "wrong at most 5.5 times in 100" in told
        assert "would be open again" in told
        now = campaign.add_compounds(MORE)
        assert ids(now, 2) == ids(before, 2), "the best can only be better now"
        assert not ids(now, 1)
        assert now.guarantee.holds
        assert "wrong at most 5.5 times in 100" in now.guarantee.sentence
        sound(campaign)
        campaign.undo()
        assert ids(campaign.status(), 1) == ids(before, 1)
        campaign.redo()
        now = finish(campaign, seed=2)
        assert "new-2" in ids(now, 1), "nothing is as potent"
        assert "new-3" in ids(now, 1), "and nothing as little in hERG"
        assert now.finished
        assert now.guarantee.holds
        sound(campaign)


def test_an_earlier_value_is_corrected_after_compounds_were_added(tmp_path: Path) -> None:
    with trade(tmp_path / "x.assaypilot", strategy="adaptive") as campaign:
        decide_phase(campaign)
        campaign.add_compounds(MORE)
        decide_phase(campaign, seed=1)
        first = next(m for m in campaign.status().measurements if m.endpoint == 0 and m.counted)
        campaign.correct(first.number, first.value + 0.1, reason="digits")
        sound(campaign)
        twice = Library.listed(["R1", "R2"], [["D", "D"]], ids=["new-4"])
        assert "wrong at most 5.75 times in 100" in " ".join(campaign.consequences_of_adding(twice))
        now = campaign.add_compounds(twice)
        assert now.guarantee.holds
        assert not ids(now, 1)
        sound(campaign)


def test_what_stands_on_plates_takes_compounds_in_too(tmp_path: Path) -> None:
    from assaypilot.engine.controls import Control
    from tests.engine.campaign.trading import answers

    control = Control("REF-1", (("pIC50", 7.0), ("hERG", 5.0)))
    with trade(tmp_path / "x.assaypilot", strategy="adaptive", blocks="round", controls=(control,)) as campaign:

        def round_of(shift: float) -> None:
            assert campaign.plan() is not None
            reads = [
                Result("REF-1", value + shift, endpoint)
                for endpoint, value in (("pIC50", 7.0), ("hERG", 5.0))
                for _ in range(4)
            ]
            campaign.record([*answers(campaign, shift=shift), *reads], close=True)

        round_of(0.7)
        campaign.add_compounds(MORE)
        round_of(-0.6)
        assert campaign.status().guarantee.holds
        sound(campaign)


def test_each_phase_names_who_beats_whom_by_the_noise_as_it_was_known_then(tmp_path: Path, monkeypatch) -> None:
    unknown = [dataclasses.replace(one, noise_estimated=True, noise_sd=0.4) for one in (POTENCY, HERG)]
    with trade(tmp_path / "x.assaypilot", *unknown, strategy="adaptive", epsilon=0.3, per_round=72) as campaign:
        for _ in range(3):
            decide_phase(campaign)
        then = [tuple(one.used for one in campaign._ledger.spreads[phase]) for phase in (1, 2, 3)]
        assert len(set(then)) == 3
        seen, decide = [], AdaptivePareto.decide

        def watched(self, state, outcome, named=None):
            seen.append(state.problem.noise)
            return decide(self, state, outcome, named)

        monkeypatch.setattr(AdaptivePareto, "decide", watched)
        campaign.add_compounds(MORE)
        assert seen == then
        monkeypatch.undo()
        sound(campaign)
