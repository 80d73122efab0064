"""Plates that shift their values, and controls, said in the middle of a campaign, and taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.campaign.plates.moving import moved_in_words
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.cli import main
from assaypilot.engine.controls import Control, parse_control
from assaypilot.engine.endpoint import Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Result
from assaypilot.engine.plates.layout import PlateUse
from tests.engine.campaign import trading
from tests.engine.campaign.making import ENDPOINTS, answers, make, replays, truth
from tests.engine.campaign.test_blocks import came

REF = parse_control("REF-1;value=7.1")
PLATES = Change(blocks="plate", controls=(REF,))
OWN = {"per_round": 24, "max_replicates": 4, "slack": 0.3, "strategy": "adaptive"}


def bare(results: Sequence[Result], *, named: bool) -> list[Result]:
    """What a lab brings that reads no controls, and names its plates or does not."""
    values = [one for one in results if one.compound != "ref-1"]
    return values if named else [replace(one, plate="", well="") for one in values]


def sound(campaign: Campaign) -> Status:
    found = verify(campaign.path, recompute=True)
    assert found.ok, found.problems
    return replays(campaign)


def wrong(now: Status) -> bool:
    means, status = truth(now.library), now.candidates.status
    within, worse = means >= means.max() - 0.5, means < means.max() - 0.8
    return bool((within & (status == 2)).any() or (worse & (status == 1)).any())


def go_on(campaign: Campaign, **options: object) -> Status:
    for _ in range(20):
        if campaign.plan() is None:
            break
        campaign.record(came(campaign, **options))
    return campaign.status()


def test_phases_of_named_plates_go_on_counting_and_it_can_be_taken_back(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN) as campaign:
        campaign.plan()
        campaign.record(bare(came(campaign, shift=1.0), named=True), close=True)
        before = campaign.status()
        told = " ".join(campaign.consequences(PLATES))
        assert "what is taken out from nothing to plate effects and the controls from none to REF-1 (7.1)" in told
        assert "what was measured tells only how compounds of one plate differ" in told
        assert "The guarantee holds, wrong at most 1 time in 10" in told
        assert "whoever has seen results may choose what suits them best" in told
        now = campaign.change(PLATES, "controls of another project drifted")
        assert now.guarantee.holds
        assert np.isnan(now.candidates.estimate).all(), "without a control there is no level"
        assert now.guarantee.delta == pytest.approx(0.1)
        assert (now.candidates.status == 1).sum() == (before.candidates.status == 1).sum(), "differences are known"
        sound(campaign)
        campaign.undo()
        assert np.allclose(sound(campaign).candidates.estimate, before.candidates.estimate)
        campaign.redo()
        assert campaign.status().settings.blocks == "plate"
        now = go_on(campaign, shift=1.0)
        assert now.finished
        assert not wrong(now)
        assert abs(now.candidates.estimate - truth(now.library)).max() < 0.4
        sound(campaign)
        told = " ".join(campaign.consequences(Change(blocks="none")))
        assert "From then on plates are taken to shift nothing." in told
        now = campaign.change(Change(blocks="none"))
        assert now.settings.blocks == "none"
        assert now.guarantee.delta == pytest.approx(0.1), "the same two ways"
        assert "wrong at most 15 times in 100" in " ".join(campaign.consequences(Change(blocks="round")))
        assert [one.name for one in now.settings.controls] == ["REF-1"]
        sound(campaign)
        campaign.correct(1, 6.4, reason="typo")
        sound(campaign)


def test_values_of_unknown_plates_decide_nothing_and_enter_no_estimate(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN) as campaign:
        campaign.plan()
        campaign.record(bare(came(campaign, shift=1.0), named=False), close=True)
        told = " ".join(campaign.consequences(PLATES))
        assert "24 of 24 values so far name no plate" in told
        assert "say round effects instead" in told
        now = campaign.change(PLATES)
        assert not (now.candidates.status == 1).any()
        assert np.isnan(now.candidates.estimate).all()
        assert now.guarantee.holds
        now = go_on(campaign, shift=1.0)
        assert not wrong(now)
        sound(campaign)
        told = " ".join(campaign.consequences(Change(blocks="round")))
        assert "name no" not in told, "each knows its round"


def test_where_the_campaign_keeps_its_plates_a_value_knows_its_own(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN) as campaign:
        issued = campaign.plan()
        assert issued is not None
        layout = campaign.lay_out(issued.number, PlateUse(24, edge=False)).layout
        assert layout is not None
        assert len(layout.plates) > 1
        means, names = truth(campaign.status().library), campaign.status().library.ids
        shifts, rng = {plate.name: 3.0 * k for k, plate in enumerate(layout.plates)}, np.random.default_rng(5)
        values = [
            Result(names[one.compound], float(means[one.compound] + shifts[plate.name] + 0.2 * rng.normal()),
                   well=one.well)
            for plate in layout.plates
            for one in plate.placed
        ]  # fmt: skip
        campaign.record(values, close=True)
        campaign.change(PLATES)
        ledger = campaign._ledger
        known = [blocking.known_block(ledger, m) for m in ledger.measurements]
        placed = {plate.name.casefold() for plate in layout.plates}
        assert {block[1] for block in known if block is not None} == placed
        # One in the same well of two plates can be meant by either.
        for m, block in zip(ledger.measurements, known, strict=True):
            where = [
                plate.name.casefold()
                for plate in layout.plates
                for one in plate.placed
                if one.compound == m.compound and one.well == m.entered.well
            ]
            assert block == ((1, where[0]) if len(where) == 1 else None)
        found = blocking.of_phase(ledger, 1, 0).fit(ledger).means()
        assert abs(found - found.mean() - means + means.mean()).max() < 0.5, "three units between plates are taken out"
        sound(campaign)


def test_taking_unnamed_plates_for_one_would_be_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def errors(folder: str) -> int:
        (tmp_path / folder).mkdir()
        found = 0
        for seed in range(6):
            with make(tmp_path / folder / f"{seed}.assaypilot", **OWN) as campaign:
                campaign.plan()
                now, rng = campaign.status(), np.random.default_rng(seed)
                assert now.open_round is not None
                means = truth(now.library)
                # Half of the compounds on a plate that reads 3 higher, and nobody wrote down which.
                high = rng.permutation(len(means)) < len(means) // 2
                values = [
                    Result(now.library.ids[c], float(means[c] + 3.0 * high[c] + 0.2 * rng.normal()))
                    for c in (item.compound for item in now.open_round.items for _ in range(item.replicates))
                ]
                campaign.record(values, close=True)
                found += wrong(campaign.change(PLATES))
        return found

    assert errors("known") == 0
    monkeypatch.setattr(blocking, "known_block", lambda books, one: blocking.block_of(books.settings.blocks, one))
    assert errors("as one") >= 3


def test_trade_offs_keep_their_guarantee_too(tmp_path: Path) -> None:
    control = Control("REF-1", (("pIC50", 7.0), ("hERG", 5.0)))
    with trading.trade(tmp_path / "x.assaypilot", strategy="adaptive", per_round=48) as campaign:
        campaign.plan()
        campaign.record(trading.answers(campaign), close=True)
        now = campaign.change(Change(blocks="round", controls=(control,)))
        assert now.guarantee.holds
        sound(campaign)


def test_controls_come_at_any_time_and_what_was_read_stays_what_it_should_read(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN) as campaign:
        campaign.plan()
        campaign.record(bare(came(campaign), named=True), close=True)
        unsaid = Change(controls=(Control("REF-1"),))
        told = " ".join(campaign.consequences(unsaid))
        assert unsaid.of_capacity_alone is False
        assert "REF-1 is to be measured in every round from the next one on" in told
        assert "The guarantee is not touched." in told
        before = campaign.status()
        now = campaign.change(unsaid)
        assert np.array_equal(now.candidates.status, before.candidates.status)
        assert campaign.change(PLATES).settings.controls == (Control("REF-1", (("pIC50", 7.1),)),), "not read yet"
        campaign.plan()
        campaign.record(came(campaign), close=True)
        with pytest.raises(AssayPilotError, match="REF-1 was read 6 times in pIC50 already"):
            campaign.change(Change(controls=(parse_control("REF-1;value=6.9"),)))
        with pytest.raises(AssayPilotError, match="nothing would be different"):
            campaign.change(Change(controls=(REF,)))
        campaign.change(Change(endpoint=Endpoint("hERG")))
        now = campaign.change(Change(controls=(parse_control("REF-1;hERG=5"),)))
        assert dict(now.settings.controls[0].values) == {"pIC50": 7.1, "hERG": 5.0}, "which was read in none"
        now = campaign.change(Change(controls=(parse_control("REF-2;pIC50=5"),)))
        assert [one.name for one in now.settings.controls] == ["REF-1", "REF-2"]
        assert now.guarantee.holds
        sound(campaign)


def test_what_cannot_be_is_one_plain_line(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN | {"per_round": 8}) as campaign:
        with pytest.raises(AssayPilotError, match="there is no control"):
            campaign.change(Change(blocks="plate"))
        with pytest.raises(AssayPilotError, match="no blocks 'well'"):
            campaign.change(Change(blocks="well", controls=(REF,)))
        with pytest.raises(AssayPilotError, match="is a compound of the library"):
            campaign.change(Change(controls=(Control(campaign.status().library.ids[0]),)))
        with pytest.raises(AssayPilotError, match="of no measured endpoint"):
            campaign.change(Change(controls=(Control("REF-1", (("hERG", 5.0),)),)))
        now = campaign.change(PLATES)
        assert now.settings.blocks == "plate", "before the first result everything may change"
        assert now.guarantee.delta == pytest.approx(0.05)
        campaign.undo()
        campaign.plan()
        with pytest.raises(AssayPilotError, match="round 1 is open"):
            campaign.change(PLATES)
        campaign.record(bare(came(campaign), named=True), close=True)
        with pytest.raises(AssayPilotError, match="phase 1 of adaptive has results"):
            campaign.change(PLATES)
    with (
        make(tmp_path / "y.assaypilot", strategy="linfact-g") as campaign,
        pytest.raises(AssayPilotError, match="takes no plate effects out"),
    ):
        campaign.change(PLATES)
    limited = Endpoint("logD", noise_sd=0.2, direction="min", limit=Limit("<", 3.0))
    with make(tmp_path / "z.assaypilot", endpoints=(Endpoint("pIC50", noise_sd=0.2), limited), **OWN) as campaign:
        told = " ".join(campaign.consequences(Change(blocks="plate", controls=(Control("REF-1", (("pIC50", 7.1),)),))))
        assert "no control has a nominal value in logD" in told


def test_plates_of_read_values_stay_where_plates_have_effects(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **OWN, blocks="plate", controls=(REF,)) as campaign:
        issued = campaign.plan()
        assert issued is not None
        campaign.lay_out(issued.number, PlateUse(96))
        assert campaign.lay_out(issued.number, PlateUse(384)).layout is not None, "nothing was read yet"
        campaign.record(came(campaign)[:3])
        with pytest.raises(AssayPilotError, match="3 values of round 1 were read where it stood"):
            campaign.lay_out(issued.number, PlateUse(96))
        with pytest.raises(AssayPilotError, match="other plates would put them elsewhere"):
            campaign.lay_out(issued.number, None)
        assert campaign.lay_out(issued.number, PlateUse(384)).layout is not None, "as they are they may stay"
    with make(tmp_path / "y.assaypilot", **OWN) as campaign:
        issued = campaign.plan()
        assert issued is not None
        assert moved_in_words(campaign.status(), issued.number) == ()
        campaign.record(came(campaign)[:1])
        assert campaign.lay_out(issued.number, PlateUse(96)).layout is not None, "they mean nothing to decisions"
        (said,) = moved_in_words(campaign.status(), issued.number)
        assert said.startswith("1 value of round 1 is in already. It keeps the plate and wells")


def test_the_command_line_says_it_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **OWN) as campaign:
        campaign.plan()
        campaign.record(bare(came(campaign), named=True), close=True)
    told = ["--blocks", "plate", "--control", "REF-1;value=7.1"]
    assert main(["change", str(path), *told, "--dry-run"]) == 0
    assert "may then be shifted alike" in capsys.readouterr().out
    assert main(["change", str(path), *told]) == 1, "it changes what is decided, and nobody said yes"
    assert main(["change", str(path), *told, "--yes"]) == 0
    assert main(["change", str(path), "--blocks", "none", "--yes"]) == 0
    assert "taken to shift nothing" in capsys.readouterr().out
    assert main(["plan", str(path)]) == 0
    with Campaign.open(path) as campaign:
        campaign.record(came(campaign)[:2])
    capsys.readouterr()
    assert main(["plan", str(path), "--plate", "96"]) == 0
    assert "2 values of round 2 are in already" in capsys.readouterr().out


def test_an_unknown_noise_has_another_sequence_of_replicates_beside_plates(tmp_path: Path) -> None:
    """Twice all decisions, and one more bound of the noise: replicates of two plates are not compared any more."""
    unknown = replace(ENDPOINTS[0], noise_estimated=True)
    with make(tmp_path / "x.assaypilot", endpoints=(unknown,), **OWN) as campaign:
        campaign.plan()
        campaign.record(answers(campaign), close=True)
        assert campaign.status().guarantee.delta == pytest.approx(0.05)
        campaign.change(PLATES)
        assert campaign.status().guarantee.delta == pytest.approx(0.05 * (2.0 + 0.1))
