"""Replicates of the table that tell an unknown noise: what leaving some out does to the guarantee."""

from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from tests.engine.campaign.making import decide_phase, make, replays, small_library, truth

OPEN = {"epsilon": 0.1, "slack": 0.05}
"""A goal that takes more than two phases."""


def of_table(library, each: int = 4, sd: float = 0.1) -> list[Result]:
    rng = np.random.default_rng(2)
    means = zip(library.ids, truth(library), strict=True)
    return [Result(name, float(mean + sd * rng.standard_normal())) for name, mean in means for _ in range(each)]


def test_replicates_of_the_table_that_change_after_a_decision_hand_over(tmp_path: Path) -> None:
    """Otherwise some decisions would stand that rest on one sequence of replicates, and others on another."""
    path, history = tmp_path / "x.assaypilot", of_table(small_library())
    unknown = Endpoint("pIC50", noise_estimated=True)
    with make(path, **OPEN, endpoints=(unknown,), history=history, per_round=16) as campaign:
        campaign.correct(7, 6.95, reason="typed wrong")
        decide_phase(campaign)
        assert campaign.status().claim.kind == "proven"
        campaign.exclude(2, "a leak", judgement=False)
        assert replays(campaign).claim.kind == "calibrated"
    assert verify(path, recompute=True).ok


def test_who_picks_replicates_of_the_table_promises_nothing_where_the_noise_rests_on_them(tmp_path: Path) -> None:
    history = of_table(small_library())
    for unknown in (True, False):
        endpoint = Endpoint("pIC50", noise_sd=0.2, noise_estimated=unknown)
        with make(tmp_path / f"{unknown}.assaypilot", endpoints=(endpoint,), history=history, per_round=16) as campaign:
            campaign.exclude(2, "too far off", judgement=True)
            # With a known noise no decision rests on what the table says.
            assert campaign.status().guarantee.holds != unknown
