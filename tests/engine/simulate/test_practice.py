"""The practice campaign: the table as described, its truth, and results that fit the open round."""

from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.simulate.practice import create_practice, is_practice, practice_results, practice_truth
from tests.engine.campaign.making import make


def test_the_truth_is_the_one_described() -> None:
    """6 + effects of normal(0, 0.5) from default_rng(2070) for each site in order; figures of the description."""
    truth = practice_truth()
    rng = np.random.default_rng(2070)
    means = np.array([6.0])
    for n in (4, 5, 4, 3, 4):
        means = (means[:, None] + rng.normal(0, 0.5, n)).ravel()
    assert np.allclose(np.sort(truth), np.sort(means))
    assert len(truth) == 960
    assert round(float(truth.max()), 2) == 8.40
    assert round(float(np.ptp(truth)), 2) == 3.98
    assert int((truth >= truth.max() - 0.5).sum()) == 20
    assert int((truth >= truth.max() - 1.0).sum()) == 77


def test_the_practice_campaign_is_as_described(tmp_path: Path) -> None:
    with create_practice(tmp_path / "p.assaypilot", seed=7) as campaign:
        now = campaign.status()
        settings = now.settings
        assert (settings.epsilon, settings.slack, settings.delta, settings.per_round) == (0.5, 0.5, 0.05, 384)
        assert settings.seed == 7
        assert now.endpoints[0].noise_sd == 0.2
        assert len(now.library) == 960
        assert is_practice(campaign)
        with make(tmp_path / "x.assaypilot") as other:
            assert not is_practice(other)
        assert "for practice" in " ".join(now.warnings)
    assert verify(tmp_path / "p.assaypilot").ok


def test_results_fill_the_round_and_are_the_same_when_asked_again(tmp_path: Path) -> None:
    with create_practice(tmp_path / "p.assaypilot") as campaign:
        issued = campaign.plan()
        results = practice_results(campaign, issued)
        assert results == practice_results(campaign, issued)
        assert len(results) == issued.measurements
        report = campaign.record(results)
        assert (report.accepted, report.unplanned, report.round_closed) == (len(results), 0, True)
        assert campaign.status().phases_decided == 1
