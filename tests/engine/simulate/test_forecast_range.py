"""Forecasts where the assay has a range: truths that keep to the bounds, and values beyond that come as such."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.simulate.assay_range import AssayRange
from assaypilot.engine.simulate.forecast import forecast_campaign
from assaypilot.engine.simulate.forecast_range import seen_range, together, within
from assaypilot.engine.simulate.forecast_truth import draw, sources, words
from assaypilot.engine.strategies.protocol import Allocation, Certificate
from tests.engine.campaign.making import answers, make
from tests.engine.campaign.test_bounds import WIDE, beyond
from tests.engine.simulate.test_assay_range import drawn_of
from tests.strategies import product


def test_truths_keep_to_what_the_bounds_say(tmp_path: Path) -> None:
    with make(tmp_path / "x.assaypilot", **WIDE) as campaign:
        campaign.plan()
        # All with R2=C lie below 5, and nothing tells how far.
        told = [replace(one, value=5.0, relation="<") if "R2=C" in one.compound else one for one in answers(campaign)]
        campaign.record(told, close=True)
        ledger = campaign._ledger
        known = sources(ledger, [0])
        truths = draw(ledger, known[0], 60, np.random.default_rng(1))[:, ledger.arm_of]
        ids = campaign.status().library.ids
        there = {one.compound for one in told}
        cut = [k for k, name in enumerate(ids) if "R2=C" in name and name in there]
        assert cut
        assert np.quantile(truths[:, cut], 0.9) < 5.1
        assert np.quantile(truths[:, cut], 0.1) < 4.7
        without = draw(ledger, known[0]._replace(bounds=None), 60, np.random.default_rng(1))[:, ledger.arm_of]
        assert np.median(without[:, cut]) > 5.3
        assert seen_range(ledger, 0) == AssayRange(low=5.0)
        assert words(ledger, known, [0]).endswith("Values of pIC50 below 5 come as bounds, as they did so far.")


def test_a_forecast_with_bounds_in_an_open_round_is_made(tmp_path: Path) -> None:
    path = tmp_path / "x.assaypilot"
    with make(path, **WIDE) as campaign:
        campaign.plan()
        told = beyond(answers(campaign), 5.7)
        campaign.record(told[: len(told) // 2])
    found = forecast_campaign(path, runs=9)
    assert found.measurements.low >= len(told)
    assert "come as bounds" in found.assumed


@pytest.mark.parametrize("takes", [True, False])
def test_shares_of_measurements_scatter_as_they_should_and_are_cut(takes: bool) -> None:
    features = SiteFeatures(product((2, 2)), (2, 2))
    truth = np.array([[0.0, 3.0, 6.0, 9.0]])
    drawn = drawn_of(features, truth, (0.5,), None)
    shares = np.array([2.4, 2.4, 2.4, 2.4])
    asked = Allocation(1, np.arange(4), shares, 1.0, Certificate("g", 1.0, 1.0))
    rng = np.random.default_rng(0)
    many = [within(drawn, asked, rng, 0, [AssayRange(3.0, np.inf)], takes=takes) for _ in range(800)]
    means = np.array([one.means[0] for one in many])
    assert means[:, 2].std() == pytest.approx(0.5 / np.sqrt(2.4), rel=0.08)
    counts = np.array([one.counts[0] for one in many])
    assert counts[:, 2].min() == counts[:, 3].min() == pytest.approx(2.4)
    assert (counts[:, 0] == (2.4 if takes else 0.0)).all()
    if takes:
        assert all(one.low is not None and one.low[0, 0] == -np.inf and one.high[0, 0] == 3.0 for one in many)
        both = together(many[0], many[1])
        assert (both.low[0, 0], both.means[0, 0], both.high[0, 0]) == (-np.inf, 3.0, 3.0)
        assert both.counts[0, 2] == pytest.approx(4.8)
        assert both.low[0, 2] == both.means[0, 2] == both.high[0, 2]
    else:
        assert all(one.low is None for one in many)
