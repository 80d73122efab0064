"""The plates of a round as the campaign keeps them: the same for everybody, taken back, and never half of them."""

import copy
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.events.fold import UNFIT
from assaypilot.engine.campaign.file.chain import Draft
from assaypilot.engine.campaign.file.store import Store
from assaypilot.engine.campaign.plating import layout_from_json, layout_to_json, plate_layout
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.plates import PlateUse, read_controls
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import answers, make

ENDS = PlateUse(96, read_controls(["1,12"]))
INNER = PlateUse(384, read_controls(["max=1", "min=24"]), edge=False)
LIMITED = Endpoint("logD", noise_sd=0.3, limit=Limit("<", 6.5))
CURVES = [Endpoint("pIC50", noise_sd=0.2, wells_per_measurement=10), LIMITED]


def planned(path: Path, **options: Any) -> Campaign:
    options = {"strategy": "gaussian-process"} | options if "endpoints" in options else options
    campaign = make(path / "x.assaypilot", per_round=48, **options)
    campaign.plan()
    return campaign


@pytest.mark.parametrize("use", [ENDS, INNER, PlateUse(24)])
@pytest.mark.parametrize("endpoints", [None, CURVES])
def test_a_colleague_sees_the_same_plates(tmp_path: Path, use: PlateUse, endpoints: list[Endpoint] | None) -> None:
    if endpoints is not None and use.size == 24:
        use = PlateUse(96, same_wells=True)
    with planned(tmp_path, **({} if endpoints is None else {"endpoints": endpoints})) as campaign:
        issued = campaign.lay_out(1, use)
        assert issued.layout == plate_layout(campaign.status(), issued, use)
        path, events = campaign.path, campaign.events
        assert campaign.lay_out(1, use) == issued
        assert campaign.events == events, "the same plates once more are nothing new"
        with Campaign.open(path, read_only=True) as other:
            assert other.round(1) == issued
            assert other.status().rounds[0].layout == issued.layout
            with pytest.raises(AssayPilotError, match="cannot be changed here"):
                other.lay_out(1, PlateUse(1536))
        campaign.record(answers(campaign))
        assert campaign.round(1).layout == issued.layout, "results move nothing"
    assert verify(path, recompute=True).ok


def test_plates_are_taken_back_and_laid_out_again(tmp_path: Path) -> None:
    with planned(tmp_path) as campaign:
        first = campaign.lay_out(1, ENDS).layout
        second = campaign.lay_out(1, INNER).layout
        assert campaign.undo_label == "Lay out on plates"
        campaign.undo()
        assert campaign.round(1).layout == first
        campaign.redo()
        assert campaign.round(1).layout == second
        campaign.lay_out(1, None)
        assert campaign.round(1).layout is None
        assert campaign.undo() == "Take the plates away"
        assert campaign.round(1).layout == second
        for _ in range(2):
            campaign.undo()
        assert campaign.round(1).layout is None
        assert campaign.undo_label == "Plan round 1"
        assert [entry.text for entry in campaign.history() if entry.kind == "plates_laid_out"] == [
            "Round 1 laid out on 1 plate of 96 wells, controls in columns 1, 12",
            "Round 1 laid out on 1 plate of 384 wells, controls in columns max=1; min=24, no measurement in the "
            "outermost wells",
            "Plates of round 1 taken away",
        ]


def test_what_is_on_no_plate_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    with planned(tmp_path) as campaign:
        events = campaign.events
        with pytest.raises(AssayPilotError, match="no round 7"):
            campaign.lay_out(7, ENDS)
        campaign.lay_out(1, None)
        campaign.withdraw_round()
        with pytest.raises(AssayPilotError, match="round 1 was withdrawn"):
            campaign.lay_out(1, ENDS)
        assert campaign.events == events + 1


def broken(layout: dict[str, Any], how: str) -> dict[str, Any]:
    """A layout with one thing wrong."""
    bad = copy.deepcopy(layout)
    placed = bad["plates"][0]["placed"]
    match how:
        case "one missing":
            placed.pop()
        case "one twice":
            placed[0] = placed[1]
        case "two in a well":
            placed[0]["wells"] = placed[1]["wells"]
        case "a control's well":
            placed[0]["wells"] = ["A1"]
        case "no such well":
            placed[0]["wells"] = ["J1"]
        case "no well":
            placed[0]["wells"] = []
        case "another compound":
            placed[0]["compound"] = 10**9
        case "no size":
            del bad["size"]
        case "size":
            bad["size"] = 95
        case "wells of no list":
            placed[0]["wells"] = 3
        case "named twice":
            bad["plates"].append(bad["plates"][0] | {"placed": []})
    return bad


HOW = ("one missing", "one twice", "two in a well", "a control's well", "no such well", "no well", "another compound",
       "no size", "size", "wells of no list", "named twice")  # fmt: skip


@pytest.mark.parametrize("how", HOW)
def test_a_file_that_lays_out_something_else_is_refused_in_a_line(tmp_path: Path, how: str) -> None:
    with planned(tmp_path) as campaign:
        issued = campaign.lay_out(1, ENDS)
        path, kept = campaign.path, layout_to_json(issued.layout)
        assert kept is not None
        assert layout_from_json(kept, issued) == issued.layout
        with pytest.raises(UNFIT):
            layout_from_json(broken(kept, how), issued)
    with Store.open(path) as store:
        store.append([Draft("plates_laid_out", {"round": 1, "layout": broken(kept, how), "before": None})], {})
    with pytest.raises(AssayPilotError):
        Campaign.open(path)
    found = verify(path)
    assert not found.ok
    assert "plates_laid_out does not follow" in found.problems[0].text
