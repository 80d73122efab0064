"""Changed terms in the middle of a campaign: what they do to decisions and the guarantee, kept in the log."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.change_effects import ENDS
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.domain.noise import StatedNoise
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign import making
from tests.engine.campaign.making import answers, decide_phase, finish, replays, truth

WIDE: dict[str, Any] = {"per_round": 5000, "max_replicates": 5000}


def make(path: Path, **changes: Any) -> Campaign:
    """A campaign on the small table, by LinFACT-G where no other strategy is asked for."""
    return making.make(path, **{"strategy": "linfact-g", **changes})


def ids(status: Status, word: str) -> set[str]:
    code = {"undecided": 0, "in": 1, "out": 2}[word]
    return {name for name, one in zip(status.library.ids, status.candidates.status, strict=True) if one == code}


def within(campaign: Campaign, distance: float) -> set[str]:
    library = campaign.status().library
    means = truth(library)
    return {name for name, mean in zip(library.ids, means, strict=True) if mean >= means.max() - distance}


def sound(campaign: Campaign) -> None:
    path = campaign.path
    replays(campaign)
    found = verify(path, recompute=True)
    assert found.ok, found.problems


def test_before_the_first_result_everything_may_change(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        said = " ".join(campaign.consequences(Change(epsilon=1.5, slack=None, delta=0.1, noise={"PIC50": 0.1})))
        assert "No result was seen yet" in said
        assert campaign.events == len(campaign.history())
        now = campaign.change(Change(epsilon=1.5, slack=None, delta=0.1, noise={"PIC50": 0.1}), "asked by Ann")
        assert now.settings.slack == 0.75
        assert now.endpoints[0].noise_sd == 0.1
        assert now.goal_sentence == "All compounds within 1.5 of the best pIC50, cutoff soft by 0.75, 90 % sure"
        assert now.guarantee.holds
        few = finish(campaign).measurements_used
        sound(campaign)
    with make(
        tmp_path / "y.assaypilot", epsilon=1.5, slack=0.75, delta=0.1, endpoints=(Endpoint("pIC50", noise_sd=0.1),)
    ) as same:
        assert finish(same).measurements_used == few, "the same as if it had been said at the start"


STRATEGIES = ["linfact-g", "linfact-xy", "lingame", "adaptive", "epsilon-best-fixed-budget"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_goal_changed_after_results_of_a_proof_continues_under_the_series_model(strategy: str, tmp_path: Path) -> None:
    terms = {"epsilon": 0.3, "slack": 0.3, "budget": 400, **WIDE}
    with make(tmp_path / "x.assaypilot", strategy=strategy, **terms) as campaign:
        first = finish(campaign)
        assert within(campaign, 0.3) <= ids(first, "in") <= within(campaign, 0.6)
        assert ENDS in campaign.consequences(Change(epsilon=1.0))
        now = campaign.change(Change(epsilon=1.0))
        assert (now.strategy, now.claim.kind) == ("gaussian-process", "calibrated")
        assert now.measurements == first.measurements
        assert not ids(now, "out") & within(campaign, 1.0), "who is out by 0.3 need not be by 1"
        assert campaign.undo() == "Change the terms"
        assert replays(campaign).strategy == strategy
        assert np.array_equal(campaign.status().candidates.status, first.candidates.status)
        assert campaign.redo() == "Change the terms"
        assert campaign.status().strategy == "gaussian-process"
        assert not any("proof" in text for text in campaign.consequences(Change(epsilon=0.8)))
        campaign.change(Change(epsilon=0.8))
        sound(campaign)


def test_every_change_after_results_ends_a_proof(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="adaptive", **WIDE) as campaign:
        decide_phase(campaign)
        assert campaign.status().guarantee.holds
        for change in (
            Change(slack=0.1),
            Change(delta=0.2),
            Change(noise={"pIC50": 0.3}),
            Change(noise={"pIC50": StatedNoise(0.3, estimated=True)}),
            Change(limits={"pIC50": Limit(">", 5.0)}),
        ):
            assert campaign.change(change).claim.kind == "calibrated", change
            campaign.undo()
            assert campaign.status().claim.kind == "proven"
        campaign.redo()
        sound(campaign)


def test_another_proof_after_results_is_refused(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        assert campaign.change(Change(strategy="adaptive")).guarantee.holds
        decide_phase(campaign)
        with pytest.raises(AssayPilotError, match="linfact-g proves only what was fixed before the first result"):
            campaign.change(Change(strategy="linfact-g"))
        campaign.change(Change(strategy="gaussian-process"))
        with pytest.raises(AssayPilotError, match="adaptive proves only"):
            campaign.change(Change(strategy="adaptive"))


@pytest.mark.usefixtures("planned_phases")
def test_a_change_in_the_middle_of_a_phase(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", per_round=8, max_replicates=2) as campaign:
        campaign.plan()
        with pytest.raises(AssayPilotError, match="round 1 is open"):
            campaign.change(Change(epsilon=0.3))
        campaign.record(answers(campaign), close=True)
        assert campaign.status().phase is not None
        now = campaign.change(Change(epsilon=0.3))
        assert now.phase is None, "the series model decides every round"
        decide_phase(campaign)
        sound(campaign)


def test_what_the_lab_takes_changes_with_a_round_open(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", per_round=8, max_replicates=2) as campaign:
        first = campaign.plan()
        said = " ".join(campaign.consequences(Change(per_round=5, max_replicates=1)))
        assert "The guarantee is not touched" in said
        now = campaign.change(Change(per_round=5, max_replicates=1, budget=9))
        assert now.open_round == first
        assert campaign.undo_label == "Change the terms"
        campaign.record(answers(campaign), close=True)
        second = campaign.plan()
        assert (second.measurements, max(item.replicates for item in second.items)) == (5, 1)
        assert second.phase == first.phase
        while campaign.status().phase is not None:
            campaign.plan()
            campaign.record(answers(campaign), close=True)
        assert campaign.status().finished, "no phase begins beyond the budget"
        assert campaign.status().guarantee.holds
        campaign.change(Change(budget=None))
        assert not campaign.status().finished
        sound(campaign)


def test_limits_change_and_one_more_comes(tmp_path: Path) -> None:
    endpoints = (
        Endpoint("pIC50", noise_sd=0.2),
        Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 6.5)),
    )
    with make(tmp_path / "x.assaypilot", endpoints=endpoints, strategy="gaussian-process", **WIDE) as campaign:
        campaign.plan()
        campaign.record([*answers(campaign), *trading_like(campaign)], close=True)
        first = campaign.status()
        loose = campaign.change(Change(limits={"logD": Limit("<", 9.0)}))
        without = campaign.change(Change(limits={"logD": None}))
        assert without.measured_endpoints == (0,)
        assert without.measurements_used == loose.measurements_used
        campaign.undo()
        both = campaign.change(Change(limits={"pIC50": Limit(">", 5.7)}))
        assert "pIC50 > 5.7 and logD < 9" in both.goal_sentence
        campaign.undo()
        campaign.undo()
        back = campaign.status()
        assert np.array_equal(back.candidates.status, first.candidates.status)
        sound(campaign)


def trading_like(campaign: Campaign) -> list[Any]:
    """LogD as large as pIC50, for every compound of the round."""
    status = campaign.status()
    means, rng = truth(status.library), np.random.default_rng(5)
    return [
        Result(status.library.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()), "logD")
        for item in status.open_round.items
        for _ in range(item.replicates)
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (Change(), "nothing would be different"),
        (Change(epsilon=0.5), "nothing would be different"),
        (Change(epsilon=-1.0), "epsilon must be a number > 0"),
        (Change(delta=1.0), "delta"),
        (Change(per_round=0), "measurements per round must be 1 or more"),
        (Change(budget=2), "a budget of 2 is below one measurement per effect"),
        (Change(noise={"hERG": 0.1}), "there is no endpoint 'hERG'"),
        (Change(noise={"pIC50": -0.1}), "must be a number > 0"),
        (Change(limits={"pIC50": Limit("<", 5.0)}, noise={"logD": 0.0}), "there is no endpoint 'logD'"),
    ],
)  # fmt: skip
def test_what_cannot_be_changed_is_refused_and_nothing_is_written(change: Change, words: str, tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot") as campaign:
        events = campaign.events
        for command in (campaign.consequences, campaign.change):
            with pytest.raises(AssayPilotError, match=words):
                command(change)
        assert campaign.events == events


MORE = Library.listed(
    ["r1", "R2"], [["A", "C"], ["D", "B"], ["D", "C"], ["B", "D"]], ids=["R1=A|R2=C", "new-1", "new-2", "new-3"]
)
"""One that is there already, and three with two new substituents."""


def effects(library: Library, best: float) -> np.ndarray:
    """As ``truth``, with R1 = D so much better than A, and R2 = D worse."""
    sizes = (np.array([0.0, 0.9, -0.4, best]), np.array([0.0, 0.5, -0.7, -1.5]))
    return 6.0 + sum(sizes[k][library.codes[:, k]] for k in range(2))


def go_on(campaign: Campaign, best: float) -> Status:
    rng = np.random.default_rng(8)
    while campaign.plan() is not None:
        now = campaign.status()
        means = effects(now.library, best)
        told = [
            Result(now.library.ids[item.compound], float(means[item.compound] + 0.2 * rng.standard_normal()))
            for item in now.open_round.items
            for _ in range(item.replicates)
        ]
        campaign.record(told, close=True)
    return campaign.status()


@pytest.mark.parametrize("strategy", ["rage", "adaptive", "gaussian-process"])
def test_compounds_with_a_new_substituent_are_taken_in(strategy: str, tmp_path: Path) -> None:
    goal: dict[str, Any] = {"goal": "best", "slack": 0.3} if strategy == "rage" else {"epsilon": 0.3, "slack": 0.3}
    with make(tmp_path / "x.assaypilot", strategy=strategy, **goal, per_round=36, max_replicates=4) as campaign:
        decide_phase(campaign)
        first = campaign.status()
        told = " ".join(campaign.consequences_of_adding(MORE))
        assert "Adds 3 compounds, to 12 compounds in all. 2 substituents new: R1 = D, R2 = D." in told
        assert (ENDS in told) is (strategy != "gaussian-process")
        assert campaign.status() is first
        now = campaign.add_compounds(MORE, "a new series", Source("new.csv"))
        assert now.library.ids[:9] == first.library.ids
        assert (now.strategy, now.claim.kind) == ("gaussian-process", "calibrated")
        added = next(one.text for one in campaign.history() if one.kind == "compounds_added")
        assert added == "3 compounds added from new.csv: new-1, new-2, new-3 (a new series)"
        replays(campaign)
        assert campaign.undo() == "Add compounds"
        assert replays(campaign).library == first.library
        if strategy != "gaussian-process":
            assert campaign.undo() == "Change the terms"
            assert campaign.redo() == "Change the terms"
        assert campaign.redo() == "Add compounds"
        now = go_on(campaign, 1.6)
        assert "new-1" in ids(now, "in"), "it is better than all that were compared"
        campaign.correct(1, 6.0, reason="typo")
        sound(campaign)


def test_compounds_before_the_first_result_change_nothing_else(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", strategy="adaptive", **WIDE) as campaign:
        campaign.plan()
        with pytest.raises(AssayPilotError, match="round 1 is open"):
            campaign.add_compounds(MORE)
        campaign.undo()
        assert len(campaign.add_compounds(MORE).library) == 12
        now = go_on(campaign, 1.6)
        assert "new-1" in ids(now, "in")
        assert now.guarantee.holds
        with pytest.raises(AssayPilotError, match="in the campaign already"):
            campaign.add_compounds(MORE)
        sound(campaign)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (Library.listed(["R1", "R3"], [["A", "B"]]), "has the sites R1, R2, these compounds R1, R3"),
        (Library.listed(["R1", "R2"], [["A", "B"]], ids=["R1=A|R2=A"]), "with other substituents"),
    ],
)
def test_compounds_that_cannot_be_added(more: Library, words: str, tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", per_round=8) as campaign:
        with pytest.raises(AssayPilotError, match=words):
            campaign.add_compounds(more)
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        with pytest.raises(AssayPilotError, match="phase 1 is under way"):
            campaign.add_compounds(MORE)
