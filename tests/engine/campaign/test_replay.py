"""The state as a fold of the log: order, forks, and what it refuses to take in."""

from pathlib import Path

import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.events.fold import KINDS, fold, rehearse, take
from assaypilot.engine.campaign.events.kind import Kind
from assaypilot.engine.campaign.file.chain import Draft, Event
from assaypilot.engine.campaign.replay import Ledger
from assaypilot.engine.campaign.view import build_status
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, decide_phase, differences, make

WIDE = {"per_round": 96, "max_replicates": 96}


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        decide_phase(campaign)
        campaign.plan()
        campaign.record(answers(campaign)[:5])
        yield campaign


def folded(campaign: Campaign, upto: int | None = None) -> Ledger:
    return fold(Ledger(campaign._store.part), campaign._store.events()[:upto])


def test_every_class_of_event_is_known_by_its_name() -> None:
    def below(kind: type[Kind]) -> set[type[Kind]]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    named = {kind for kind in below(Kind) if "name" in vars(kind) and isinstance(kind.name, str)}
    assert named == set(KINDS.values())


def test_the_fold_gives_what_working_gave(campaign: Campaign) -> None:
    assert differences(build_status(folded(campaign)), campaign.status()) == []


def test_a_fork_leaves_its_origin_alone(campaign: Campaign) -> None:
    ledger = folded(campaign)
    before = build_status(ledger)
    steps = list(ledger.undo), list(ledger.redo)
    fork = ledger.fork({})
    rehearse(fork, [
        Draft("measurement_excluded", {"number": 1, "reason": "odd", "judgement": True}),
        Draft("compounds_unavailable", {"compounds": [0, 1], "reason": "gone"}),
        Draft("undone", {"label": "Mark as unavailable"}),
        Draft("round_closed", {"round": 2, "missing": "other", "lost": [[4, 1, 0]]}),
        Draft("phase_empty", {"phase": 2, "round": 2}),
    ])  # fmt: skip
    assert differences(build_status(ledger), before) == []
    assert (ledger.undo, ledger.redo) == steps
    assert fork.sequence == ledger.sequence + 5
    assert fork.under_way is None
    assert not build_status(fork).guarantee.holds


@pytest.mark.parametrize("kind", ["unheard_of", "results_recorded"])
def test_what_a_newer_program_wrote_is_refused(campaign: Campaign, kind: str) -> None:
    with pytest.raises(AssayPilotError, match=r"was written by a newer AssayPilot"):
        take(folded(campaign), Event(99, "", "", kind, 99, {}, ""))


def test_equal_compounds_are_one_arm_and_the_first_available_is_measured(tmp_path: Path) -> None:
    rows = [["H", "Me"], ["H", "Me"], ["F", "Me"], ["H", "Et"], ["F", "Et"]]
    library = Library.listed(["R1", "R2"], rows, ids=["A", "B", "C", "D", "E"])
    with make(tmp_path / "x.assaypilot", library=library, **WIDE) as campaign:
        ledger = campaign._ledger
        assert ledger.n_arms == 4
        assert (ledger.arm_of[0], ledger.representative(0)) == (ledger.arm_of[1], 0)
        campaign.mark_unavailable(["A"], "used up")
        assert ledger.representative(0) == 1
        issued = campaign.plan()
        assert 0 not in {item.compound for item in issued.items}
        ids = library.ids
        results = [Result(ids[i.compound], 6.0 + 0.1 * i.compound) for i in issued.items for _ in range(i.replicates)]
        assert campaign.record(results).round_closed
        shown = campaign.status().candidates
        for array in (shown.estimate, shown.low, shown.high, shown.status, shown.probability_within_epsilon):
            assert array[0] == array[1]
        assert shown.made.tolist() == [False] + [name in {r.compound for r in results} for name in ids[1:]]
        campaign.mark_unavailable(["B"], "used up")
        with pytest.raises(AssayPilotError, match="is unavailable"):
            ledger.representative(0)
