"""What plates leave of what a round is for is said before they are filled; plates without controls end, too."""

import json

import numpy as np
import pytest

from assaypilot.engine.campaign.plates.foresight import said_of_plates
from assaypilot.engine.cli import main
from assaypilot.engine.controls import Control
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Result
from assaypilot.engine.plates.layout import PlateUse, read_controls
from tests.engine.campaign.making import make, small_library, truth

REF = Control("REF-1", (("pIC50", 7.1),))
BARE, BESIDE = PlateUse(24), PlateUse(24, read_controls(["REF-1=1"]))


def campaign_of(tmp_path, wells=1, **changes):
    """A campaign whose measurements take so many wells of a plate."""
    endpoints = (Endpoint("pIC50", noise_sd=0.2, wells_per_measurement=wells),)
    own = {"blocks": "plate", "controls": (REF,), "endpoints": endpoints, "epsilon": 0.3, "slack": 0.2, "per_round": 24}
    return make(tmp_path / f"{wells}.assaypilot", **own | changes)


def results_of(issued, use, seed=3):
    """What came back, every plate shifted; controls where the plates have room for them."""
    rng = np.random.default_rng((seed, issued.number))
    library, found = small_library(), []
    for plate in issued.layout.plates:
        shift = 0.3 * rng.standard_normal()
        for one in plate.placed:
            value = float(truth(library)[one.compound] + shift + 0.2 * rng.standard_normal())
            found.append(Result(library.ids[one.compound], value, "pIC50", plate=plate.name, well=one.well))
        for well in use.control_wells():
            value = 7.1 + shift + 0.2 * rng.standard_normal()
            found.append(Result("REF-1", value, "pIC50", plate=plate.name, well=str(well)))
    return found


def played(campaign, use, most=12):
    """The sentences said of every round, until the campaign ends."""
    said = []
    for _ in range(most):
        issued = campaign.plan()
        if issued is None:
            break
        issued = campaign.lay_out(issued.number, use)
        said.append(said_of_plates(campaign.status(), issued, issued.layout))
        campaign.record(results_of(issued, use))
        if campaign.status().open_round is not None:
            campaign.close_round("failed")
    return said


@pytest.mark.parametrize("use", [BARE, BESIDE])
def test_plates_with_and_without_controls_end_and_are_right(tmp_path, use):
    """Differences are all that is asked for; without a control no mean is known, and none is needed."""
    with campaign_of(tmp_path) as campaign:
        said = played(campaign, use)
        now = campaign.status()
        assert now.finished
        assert now.counts == {"in": 1, "out": 8, "undecided": 0, "not_estimable": 0}
        assert now.library.ids[int(np.flatnonzero(now.candidates.status == 1)[0])] == "R1=B|R2=B"
        assert not any(said)


def test_what_a_phase_is_for_is_known_while_it_is_under_way(tmp_path):
    with campaign_of(tmp_path) as campaign:
        assert campaign.status().aims is None
        issued = campaign.lay_out(campaign.plan().number, BESIDE)
        first = campaign.status().aims
        assert (first.phase, len(first.first), first.rows(campaign.status().library)) == (1, 0, None)
        campaign.record(results_of(issued, BESIDE))
        assert campaign.status().aims is None
        campaign.plan()
        now = campaign.status()
        assert now.aims.phase == 2
        best = now.library.find("R1=B|R2=B")
        assert set(now.aims.first) == {best}
        assert best not in now.aims.second
        assert now.aims.rows(now.library).shape == (len(now.aims.first), 7)
        assert (now.aims.precision > 0).all()
    with make(tmp_path / "none.assaypilot") as plain:
        plain.plan()
        assert plain.status().aims is None


def test_plates_of_one_measurement_without_a_control_tell_nothing(tmp_path):
    with campaign_of(tmp_path, wells=12) as campaign:
        issued = campaign.lay_out(campaign.plan().number, BESIDE)
        assert len(issued.layout.plates) == issued.measurements, "a column of four wells holds no control of twelve"
        (text,) = said_of_plates(campaign.status(), issued, issued.layout)
        assert text.startswith("As it stands on its plates round 1 tells nothing of what it is for: compounds")
        assert "without a control on R1-P1, R1-P2, R1-P3 and others. Put a control on each plate" in text
        # The same compounds on larger plates: nothing to say; nor of a round that is over, or laid out on nothing.
        larger = campaign.lay_out(1, PlateUse(384, read_controls(["REF-1=1"])))
        assert said_of_plates(campaign.status(), larger, larger.layout) == ()
        assert said_of_plates(campaign.status(), larger, None) == ()
        campaign.record(results_of(larger, PlateUse(384, read_controls(["REF-1=1"]))), close=True)
        assert said_of_plates(campaign.status(), campaign.round(1), larger.layout) == ()


def test_what_stands_elsewhere_than_it_was_laid_out_counts_where_it_stood(tmp_path):
    """The lab puts each compound on a plate of its own, and reads no control."""
    with campaign_of(tmp_path) as campaign:
        issued = campaign.lay_out(campaign.plan().number, BARE)
        assert said_of_plates(campaign.status(), issued, issued.layout) == ()
        moved = [
            Result(result.compound, result.value, "pIC50", plate=f"own {k}", well="A1")
            for k, result in enumerate(results_of(issued, BARE))
        ]
        campaign.record(moved[:-1])
        issued = campaign.round(1)
        (text,) = said_of_plates(campaign.status(), issued, issued.layout)
        assert "tells nothing of what it is for" in text
        # Then it is said of the phase, too, as it is decided.
        campaign.record(moved[-1:])
        campaign.close_round("failed")
        assert campaign.status().quality.costs[0].lost == 1.0
        with pytest.raises(AssayPilotError, match="were read where it stood"):
            campaign.lay_out(1, BESIDE)


def test_plates_that_take_much_of_it_are_said_with_what_controls_would_leave(tmp_path):
    with campaign_of(tmp_path, wells=6) as campaign:
        issued = campaign.lay_out(campaign.plan().number, BESIDE)
        (text,) = said_of_plates(campaign.status(), issued, issued.layout)
        assert text == (
            "As it stands on its plates round 1 tells 26 % less of what it is for than one large plate would; with 4 "
            "controls or more on each plate 8 % less"
        )


def test_the_command_line_says_it(tmp_path, capsys):
    with campaign_of(tmp_path, wells=12) as campaign:
        path = str(campaign.path)
    capsys.readouterr()
    assert main(["plan", path, "--plate", "24", "--control-columns", "REF-1=1"]) == 0
    assert "Note: As it stands on its plates round 1 tells nothing of what it is for" in capsys.readouterr().out
    assert main(["status", path]) == 0
    assert "Note: As it stands on its plates round 1 tells nothing" in capsys.readouterr().out
    assert main(["plan", path, "--json"]) == 0
    assert "tells nothing of what it is for" in json.loads(capsys.readouterr().out)["foreseen"][0]
    assert main(["status", path, "--json"]) == 0
    assert "tells nothing" in json.loads(capsys.readouterr().out)["controls"]["foreseen"][0]
