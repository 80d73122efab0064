"""Forecasts beside plates: an open round is still to come, and plates go on taking what they took."""

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.controls import Control
from assaypilot.engine.measurements import Result
from assaypilot.engine.models.blocks import NO_BLOCK, Cells
from assaypilot.engine.simulate import forecast_runs
from assaypilot.engine.simulate.forecast import forecast_campaign
from assaypilot.engine.simulate.forecast_blocks import beside, share_left
from tests.engine.campaign.making import make, truth

REF = Control("REF-1", (("pIC50", 7.1),))


def begun(path, blocks="plate"):
    return make(path / f"{blocks}.assaypilot", blocks=blocks, controls=(REF,), per_round=24, slack=0.3)


def measured(campaign: Campaign, aliased: bool, share: float = 1.0) -> None:
    """Nothing; records the open round, on two plates: one for each half of the first site, or both alike."""
    now = campaign.status()
    means, rng = truth(now.library), np.random.default_rng(3)
    each = [item.compound for item in now.open_round.items for _ in range(item.replicates)]
    each = sorted(each, key=lambda compound: now.library.codes[compound, 0])
    results = []
    for k, compound in enumerate(each[: int(share * len(each))]):
        plate = "P1" if (k < len(each) // 2 if aliased else k % 2) else "P2"
        value = means[compound] + 0.2 * rng.standard_normal()
        results.append(Result(now.library.ids[compound], float(value), plate=plate, well=f"A{k}"))
    for plate in ("P1", "P2"):
        results += [Result("REF-1", 7.1 + 0.2 * float(rng.standard_normal()), plate=plate, well="H1")]
    campaign.record(results)


def test_a_round_that_was_planned_is_worth_what_it_was_before(tmp_path):
    """It comes back whole, though nobody knows yet from which plates."""
    with begun(tmp_path) as campaign:
        before = forecast_campaign(campaign.path, runs=9)
        campaign.plan()
        after = forecast_campaign(campaign.path, runs=9)
    assert after.next_round == before.next_round
    assert after.measurements == before.measurements
    assert after.next_round.decided > 0


def test_what_is_still_to_come_of_a_round_counts_beside_what_came(tmp_path):
    with begun(tmp_path) as campaign:
        campaign.plan()
        measured(campaign, aliased=False, share=0.5)
        part = forecast_campaign(campaign.path, runs=9)
        assert part.next_round.measurements == campaign.status().open_round.missing
        assert part.next_round.decided > 0


def test_plates_that_take_much_make_the_forecast_longer(tmp_path):
    """The same compounds and round, on plates that are copies of each other and on plates that are none."""
    left, made = {}, {}
    for aliased in (False, True):
        folder = tmp_path / str(aliased)
        folder.mkdir()
        with begun(folder) as campaign:
            assert share_left(campaign._ledger) == 1.0
            campaign.plan()
            measured(campaign, aliased)
            left[aliased] = share_left(campaign._ledger)
            made[aliased] = forecast_campaign(campaign.path, runs=19).measurements.middle
    assert 0.1 <= left[True] < 0.8 < left[False] <= 1.0
    assert made[True] > made[False]
    with begun(tmp_path, "none") as campaign:
        assert share_left(campaign._ledger) == 1.0


def test_what_plates_take_is_made_up_for(tmp_path, monkeypatch):
    """Two fifths of the information: about so many more measurements, but for the first round, which does not know."""
    made = {}
    with begun(tmp_path) as campaign:
        for share in (1.0, 0.4):
            monkeypatch.setattr(forecast_runs, "share_left", lambda _, share=share: share)
            made[share] = forecast_campaign(campaign.path, runs=9).measurements.middle
    assert 1.3 * made[1.0] < made[0.4] < 3.5 * made[1.0]


def test_cells_are_joined():
    cells = Cells(
        np.array([2]), np.array([0]), np.ones((1, 1)), np.full((1, 1), 5.0), np.ones((1, 1)), np.zeros((1, 1))
    )
    counts, means = np.array([[0.0, 2.0, 1.0]]), np.array([[0.0, 6.0, 7.0]])
    joined = beside(cells, counts, means)
    assert joined.arms.tolist() == [2, 1, 2]
    assert joined.blocks.tolist() == [0, NO_BLOCK, NO_BLOCK]
    assert joined.counts == pytest.approx(np.array([[1.0, 2.0, 1.0]]))
    assert joined.means == pytest.approx(np.array([[5.0, 6.0, 7.0]]))
    assert joined.control_counts is cells.control_counts
