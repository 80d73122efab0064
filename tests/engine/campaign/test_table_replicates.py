"""Replicates of the table that tell an unknown noise: what leaving some out does to the guarantee."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.models.sd_bound import spent, upper_factor
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


def test_causes_that_are_always_reported_cost_nothing_and_those_reported_at_will_do() -> None:
    """The figures of ``results.amending``: a walk at one look, and a bound on the noise at all its looks."""
    rng, runs, level = np.random.default_rng(3), 40_000, 0.3
    limit = norm.isf(level)

    def passed(values: np.ndarray) -> np.ndarray:
        return np.asarray(values.sum(axis=1) > limit * np.sqrt(values.shape[1]))

    values = rng.standard_normal((runs, 10))
    whole, told = passed(values), (passed(values[:, 1:]), passed(values[:, ::2]))
    for found, at_will in zip(told, (0.35, 0.41), strict=True):
        assert found.mean() == pytest.approx(level, abs=0.01)
        assert (whole | found).mean() == pytest.approx(at_will, abs=0.012)

    least = np.array([(nu / upper_factor(nu, level) ** 2) for nu in range(2, 129, 2)])

    def below(squares: np.ndarray) -> np.ndarray:
        sums = np.cumsum(squares, axis=1)[:, 1::2]
        return np.asarray((sums <= least[: sums.shape[1]]).any(axis=1))

    squares = rng.standard_normal((10_000, 128)) ** 2
    whole, some = below(squares), below(squares[:, rng.permutation(128)[:64]])
    spent_by = [spent(128) * level, spent(64) * level]
    assert whole.mean() == pytest.approx(spent_by[0], abs=0.015)
    assert some.mean() == pytest.approx(spent_by[1], abs=0.015)
    assert (whole | some).mean() > spent_by[0] + 0.03
