"""Confirmation rounds on plates that shift their values: how often all lies where it was predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import kstest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.confirmed import Confirmation
from assaypilot.engine.campaign.state import Round, Settings
from assaypilot.engine.controls import Control
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.measurements import Result
from tests.engine.campaign.making import replays
from tests.engine.campaign.test_confirmation import NOISE, additive, series

PLATES = ("P1", "P2")
READS = 7.1


class Lab:
    """Measures on plates, each with a shift of its own (SD 0.8) and so many controls."""

    def __init__(self, path: Path, seed: int = 0, *, nominal: float | None = READS) -> None:
        self.library = series()
        self.truth, self.rng = additive(self.library, seed), np.random.default_rng((9, seed))
        values = () if nominal is None else (("pIC50", nominal),)
        settings = Settings(
            "pIC50", epsilon=0.8, slack=0.8, per_round=64, strategy="adaptive", blocks="plate",
            controls=(Control("REF-1", values),),
        )  # fmt: skip
        endpoints = (Endpoint("pIC50", noise_sd=NOISE),)
        self.campaign = Campaign.create(path, library=self.library, endpoints=endpoints, settings=settings)
        while (issued := self.campaign.plan()) is not None:
            self.campaign.record(self.answers(issued, 4))

    def value(self, mean: float) -> float:
        return float(mean + NOISE * self.rng.standard_normal())

    def answers(self, issued: Round, controls: int) -> list[Result]:
        shifts = dict(zip(PLATES, 0.8 * self.rng.standard_normal(len(PLATES)), strict=True))
        each = [item.compound for item in issued.items for _ in range(item.replicates)]
        where = [(compound, PLATES[k % len(PLATES)]) for k, compound in enumerate(each)]
        found = [
            Result(self.library.ids[compound], self.value(self.truth[compound] + shifts[plate]), plate=plate)
            for compound, plate in where
        ]
        return found + [
            Result("REF-1", self.value(READS + shift), plate=plate)
            for plate, shift in shifts.items()
            for _ in range(controls)
        ]

    def confirmed(self, controls: int) -> Confirmation:
        issued = self.campaign.plan_confirmation()
        assert issued is not None
        self.campaign.record(self.answers(issued, controls))
        return self.campaign.status().confirmation


@pytest.mark.parametrize(("nominal", "controls"), [(READS, 4), (None, 1)])
def test_values_lie_in_their_intervals_as_often_as_stated_whatever_plates_shift(
    tmp_path: Path, nominal: float | None, controls: int
) -> None:
    """Standardised errors are normal, one of each campaign; and all of a campaign lie inside 95 times in 100."""
    firsts, insides, untold = [], 0, 0
    for seed in range(10):
        lab = Lab(tmp_path / f"{seed}.assaypilot", seed, nominal=nominal)
        with lab.campaign:
            found = lab.confirmed(controls)
        checks = [check for check in found.checks if check.value is not None and check.off is not None]
        assert len(checks) == len(found.checks)
        firsts.append(checks[0].off / checks[0].half * checks[0].prediction.width)  # type: ignore[operator]
        insides += all(check.inside for check in checks)
        untold += all(abs(check.off + check.shift) <= check.half for check in checks)  # type: ignore[operator]
    assert kstest(firsts, "norm").pvalue > 0.01
    assert insides >= 7, "of 10; fewer once in 970 at 0.95"
    assert untold <= insides - 4, "a shift that is left in is noticed"


def test_fewer_controls_than_expected_widen_the_interval(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "c.assaypilot")
    with lab.campaign as campaign:
        check = lab.confirmed(1).checks[0]
        said = check.prediction
        assert said.level == pytest.approx(1 / 4), "as many controls as on the plates before"
        assert said.high - said.mean == pytest.approx(said.width * np.hypot(said.sd, NOISE * np.sqrt(1 + 1 / 4)))
        assert check.half == pytest.approx(said.width * np.hypot(said.sd, NOISE * np.sqrt(1 + 1)))
        assert verify(campaign.path, recompute=True).ok
        replays(campaign)


def test_without_a_control_nothing_is_confirmed_until_it_comes(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "c.assaypilot")
    with lab.campaign as campaign:
        issued = campaign.plan_confirmation()
        assert issued is not None
        told = lab.answers(issued, 2)
        campaign.record([one for one in told if one.compound != "REF-1"])
        now = campaign.status()
        found = now.confirmation
        assert now.open_round is not None, "its controls are waited for"
        assert set(found.unread) == {check.prediction.compound for check in found.checks} == set(found.not_measured)
        assert f"{len(found.unread)} measured where no control tells what the plate shifts." in found.sentence
        assert all("has no control and confirms nothing" in text for text in now.quality.lacking)
        campaign.record([one for one in told if one.compound == "REF-1"])
        now = campaign.status()
        assert now.open_round is None
        assert not now.confirmation.unread
        assert len(now.confirmation.confirmed) == len(found.checks)
        assert verify(campaign.path, recompute=True).ok


def test_a_bound_is_held_against_the_prediction_without_its_plate(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "c.assaypilot")
    with lab.campaign as campaign:
        issued = campaign.plan_confirmation()
        assert issued is not None
        first, other = issued.items[0], issued.items[1]
        names = [campaign.status().library.ids[item.compound] for item in (first, other)]
        far = first.expected + 1.5  # type: ignore[operator]
        bounds = [Result(names[0], far, relation=">", plate="A"), Result(names[1], far, relation=">", plate="B")]
        controls = [Result("REF-1", READS + shift, plate=plate) for plate, shift in (("A", 0.0), ("B", 2.0))]
        campaign.record(bounds + controls)
        found = campaign.status().confirmation
        assert found.states[first.compound] is False, "beyond all that was predicted"
        assert found.states[other.compound] is None, "on a plate that reads 2 higher it may be anything"


def test_a_plate_that_shifts_makes_no_value_look_wrong(tmp_path: Path) -> None:
    lab = Lab(tmp_path / "c.assaypilot")
    with lab.campaign as campaign:
        issued = campaign.plan_confirmation()
        assert issued is not None
        names = [lab.library.ids[item.compound] for item in issued.items]
        means = [lab.value(lab.truth[item.compound]) for item in issued.items]
        values = [Result(name, mean + 3.0, plate="P9") for name, mean in zip(names, means, strict=True)]
        off = Result(names[0], means[0] + 5.0, plate="P9")
        campaign.record([off, *values[1:]])
        now = campaign.status()
        assert not any("more than 4 SD" in text for text in now.warnings), "nobody knows what its plate shifts"
        campaign.record([Result("REF-1", READS + 3.0, plate="P9") for _ in range(4)])
        now = campaign.status()
        (said,) = [text for text in now.warnings if "lies more than 4 SD" in text]
        assert said.startswith("1 value")
        assert names[0] in said
