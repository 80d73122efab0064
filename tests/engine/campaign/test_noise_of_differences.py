"""Noise by class in calculated differences: the SD of each compound's difference is that of both its classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.audit import verify
from assaypilot.engine.campaign.changing.terms import Change
from assaypilot.engine.campaign.noise import precision
from assaypilot.engine.difference import difference
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.measurements import Pooled, Result
from assaypilot.engine.noise_classes import NoiseClasses
from assaypilot.engine.stated_noise import StatedNoise
from tests.engine.campaign.making import make, replays, truth

LOUD = NoiseClasses("R1", (("B", 0.6),))
FIRST = Endpoint("pIC50", noise_sd=0.2, noise_classes=LOUD)
SECOND = Endpoint("pKi", noise_sd=0.3)
WHOLE = Endpoint("Selectivity", of=("pIC50", "pKi"))


def selective(path: Path, *parts: Endpoint, **changes):
    own = {"objective": "Selectivity", "per_round": 48, "max_replicates": 4, "epsilon": 0.6}
    return make(path, endpoints=(*parts, WHOLE), **{**own, **changes})


def play(campaign, rounds: int) -> None:
    rng = np.random.default_rng(4)
    for _ in range(rounds):
        issued = campaign.plan()
        library = campaign.status().library
        loud = library.codes[:, 0] == 1
        campaign.record(
            [
                Result(library.ids[item.compound], float(mean + sd * rng.standard_normal()), name)
                for item in issued.items
                for _ in range(item.replicates)
                for name, mean, sd in (
                    ("pIC50", truth(library)[item.compound], 0.6 if loud[item.compound] else 0.2),
                    ("pKi", 5.0, 0.3),
                )
            ]
        )


def test_counts_and_worth_give_each_compound_its_own_variance(tmp_path: Path) -> None:
    with selective(tmp_path / "x.assaypilot", FIRST, SECOND) as campaign:
        ledger = campaign._ledger
        worth = precision.of_compounds(ledger, 2)
        loud = ledger.library.codes[:, 0] == 1
        sds = np.where(loud, 0.6, 0.2)
        largest = ledger.endpoints[2].noise_sd
        assert largest == pytest.approx(np.hypot(0.6, 0.3))
        assert worth[loud] == pytest.approx(1.0)
        assert worth[~loud] == pytest.approx(0.45 / 0.13)
        n1, n2 = np.arange(1.0, 10.0), np.array([3.0, 2.0, 3.0, 1.0, 5.0, 2.0, 7.0, 8.0, 1.0])
        told = difference(Pooled(n1, np.zeros(9)), Pooled(n2, np.zeros(9)), (sds, 0.3))
        assert largest**2 / (told.counts * worth) == pytest.approx(sds**2 / n1 + 0.09 / n2)
        # So have estimates, whose parts are counted in their largest SDs first.
        counted = Pooled(n1 * precision.of_compounds(ledger, 0), np.zeros(9))
        told = difference(counted, Pooled(n2, np.zeros(9)), (0.6, 0.3))
        assert largest**2 / told.counts == pytest.approx(sds**2 / n1 + 0.09 / n2)


def test_a_difference_is_decided_by_the_classes_of_its_parts(tmp_path: Path) -> None:
    with selective(tmp_path / "x.assaypilot", FIRST, SECOND) as campaign:
        play(campaign, 2)
        ledger = campaign._ledger
        memory = ledger.state.memory
        loud = ledger.library.codes[ledger.first][memory["arms"], 0] == 1
        whole = np.where(loud, memory["counts"], memory["counts"] * 0.13 / 0.45)
        assert whole == pytest.approx(np.round(whole))
        assert (~loud).any()
        assert campaign.status().guarantee.holds
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_classes_of_a_part_that_change_on_the_way_have_their_price(tmp_path: Path) -> None:
    with selective(tmp_path / "x.assaypilot", Endpoint("pIC50", noise_sd=0.2), SECOND) as campaign:
        play(campaign, 1)
        campaign.change(Change(noise={"pIC50": StatedNoise(None, classes=LOUD)}))
        assert campaign._ledger.error == pytest.approx(0.05)
        play(campaign, 1)
        campaign.change(Change(noise={"pIC50": StatedNoise(None, classes=NoiseClasses("R1", (("B", 0.5),)))}))
        assert campaign._ledger.error == pytest.approx(0.1)
        replays(campaign)
    assert verify(tmp_path / "x.assaypilot", recompute=True).ok


def test_sds_by_class_that_nobody_knows_are_none_of_a_difference(tmp_path: Path) -> None:
    unknown = Endpoint("pIC50", noise_sd=0.2, noise_estimated=True, noise_classes=LOUD)
    with pytest.raises(AssayPilotError, match="part of a difference, and nobody knows"):
        selective(tmp_path / "x.assaypilot", unknown, SECOND)
