"""Where plates have effects: the list, its plates and the rounds of a phase are copies of each other."""

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.controls import Control
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.library import Library, Site
from assaypilot.engine.measurements import Result
from assaypilot.engine.plates.layout import PlateUse, read_controls
from tests.engine.campaign.making import make
from tests.engine.design.test_dealing import certainty, filled_along

REF = Control("REF-1", (("pIC50", 7.1),))
FOUR = Library.product([Site("R1", tuple("ABCDEFG")), Site("R2", tuple("ABCDE")), Site("R3", tuple("ABCDE"))])
FEATURES = SiteFeatures.of(FOUR)


def planned(tmp_path, blocks, per_round=96, **changes):
    own = {"blocks": blocks, "controls": (REF,), "library": FOUR, "max_replicates": 4, "epsilon": 0.3, "slack": 0.2}
    campaign = make(tmp_path / f"{blocks}.assaypilot", per_round=per_round, **own | changes)
    campaign.plan()
    return campaign


def shares_of(layout):
    shares = np.zeros((len(layout.plates), FEATURES.n_rows), dtype=int)
    for at, plate in enumerate(layout.plates):
        for one in plate.placed:
            shares[at, one.compound] += 1
    return shares


@pytest.mark.parametrize(("use", "least"), [(PlateUse(96, read_controls(["REF-1=1"])), None),
                                            (PlateUse(48, read_controls(["REF-1=1"])), 0.99),
                                            (PlateUse(24, read_controls(["REF-1=1"])), 0.98)])  # fmt: skip
def test_plates_are_copies_of_the_round(tmp_path, use, least):
    with planned(tmp_path, "plate") as campaign:
        layout = campaign.lay_out(1, use).layout
        shares = shares_of(layout)
        issued = campaign.round(1)
        assert shares.sum() == issued.measurements
        assert np.ptp(shares.sum(axis=1)) <= 1
        for item in issued.items:
            assert np.ptp(shares[:, item.compound]) <= 1, "replicates on different plates"
        if least is not None:
            assert certainty(FEATURES, shares, 4) > least
        # The window that only shows it, and the same campaign opened by somebody else, see the same.
        assert campaign.lay_out(1, use).layout == layout
        path = campaign.path
    with planned(tmp_path, "none") as plain:
        by_lot = shares_of(plain.lay_out(1, use).layout)
        assert certainty(FEATURES, shares, 4) >= certainty(FEATURES, by_lot, 4)
    assert verify(path, recompute=True).ok


def test_the_list_can_be_filled_onto_plates_as_it_stands(tmp_path):
    """Of every size; the list without plate effects is in its own order, of the same compounds."""
    found = {}
    for blocks in ("plate", "batch", "date", "none", "round"):
        with planned(tmp_path, blocks) as campaign:
            items = campaign.round(1).items
            counts = np.zeros(FEATURES.n_rows, dtype=int)
            counts[[item.compound for item in items]] = [item.replicates for item in items]
            order = np.array([item.compound for item in items])
            found[blocks] = [certainty(FEATURES, filled_along(order, counts, n), 4) for n in (2, 3, 4, 6)]
            found[blocks, "counts"] = counts
    assert found["plate"] == found["batch"] == found["date"]
    assert found["none"] == found["round"]
    assert np.array_equal(found["plate", "counts"], found["none", "counts"])
    assert min(found["plate"]) > 0.93
    assert np.mean(found["plate"]) > np.mean(found["none"])


def test_rounds_of_one_phase_are_copies_of_it(tmp_path):
    """A lab with small rounds: what they tell of differences is not lost to them."""
    told = {}
    for blocks in ("round", "none"):
        with planned(tmp_path, blocks, per_round=20, max_replicates=2) as campaign:
            shares = []
            while not campaign.status().phases_decided:
                issued = campaign.status().open_round
                shares.append(np.zeros(FEATURES.n_rows, dtype=int))
                shares[-1][[item.compound for item in issued.items]] = [item.replicates for item in issued.items]
                results = [Result(FOUR.ids[i.compound], 6.0) for i in issued.items for _ in range(i.replicates)]
                campaign.record([*results, Result("REF-1", 7.1)])
                campaign.plan()
            told[blocks] = np.array(shares)
    assert len(told["round"]) == len(told["none"]) > 1
    assert np.array_equal(told["round"].sum(axis=0), told["none"].sum(axis=0))
    assert certainty(FEATURES, told["round"], 1) > max(certainty(FEATURES, told["none"], 1), 0.9)


@pytest.mark.parametrize("controls", [4, 0])
def test_what_plates_cost_is_held_against_what_they_would_cost_as_laid_out(tmp_path, controls):
    """One plate for each half of a site, or along the list: only the first is told that it could be had for less."""
    said = {}
    for halves in (True, False):
        folder = tmp_path / str(halves)
        folder.mkdir()
        with planned(folder, "plate") as campaign:
            each = [item.compound for item in campaign.round(1).items for _ in range(item.replicates)]
            each = sorted(each, key=lambda compound: FOUR.codes[compound, 0]) if halves else each
            plates = ["P1" if k < len(each) // 2 else "P2" for k in range(len(each))]
            if halves and not controls:  # no compound of one half on the other's plate: nothing tells them apart
                plates = ["P1" if FOUR.codes[compound, 0] < 3 else "P2" for compound in each]
            results = [
                Result(FOUR.ids[compound], 6.0 + 0.01 * k, plate=plate, well=f"W{k}")
                for k, (compound, plate) in enumerate(zip(each, plates, strict=True))
            ]
            results += [
                Result("REF-1", 7.0 + 0.1 * k, plate=p, well=f"C{k}") for p in ("P1", "P2") for k in range(controls)
            ]
            campaign.record(results)
            if not controls:
                campaign.close_round("failed")
            told = campaign.status().quality
            said[halves] = told.costs[0], told.notes[0]
    (badly, words), (well, few) = said[True], said[False]
    assert badly.lost > 0.1 > badly.laid_out >= 0.0
    assert "less than 1 %" in words
    if controls:
        assert ", plates as the program lays them out" in words
    else:
        assert badly.lost == 1.0
        assert "they stand where no control does; laid out by the program plates would cost" in words
    assert well.lost < 0.1
    assert well.laid_out is None
    assert "lays them out" not in few
