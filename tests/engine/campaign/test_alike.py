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
