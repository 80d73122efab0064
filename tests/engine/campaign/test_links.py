"""Campaigns about yes and no, or counts: decided on the scale of a link, shown as the values they stand for."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Source
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from tests.engine.campaign.making import make, replays, small_library

LOGIT = {"strategy": "linfact-glm", "parameters": {"link": "logit", "bound": 3.0, "first_radius": 0.9}}
WIDE: dict[str, Any] = {"epsilon": 1.5, "slack": 1.4, "per_round": 4000, "max_replicates": 2000}
LIBRARY = small_library()
PREDICTOR = sum(
    np.array(effects)[LIBRARY.codes[:, k]] for k, effects in enumerate(((-1.0, 1.0, 0.4), (0.8, -1.2, 0.0)))
)
SHARE = 1.0 / (1.0 + np.exp(-PREDICTOR))


def _campaign(path: Path, **lab: int) -> Campaign:
    share = Endpoint("share", noise_sd=0.5)
    return make(path, endpoints=(share,), objective="share", library=LIBRARY, **LOGIT, **(WIDE | lab))


def _yes_or_no(campaign: Campaign, seed: int = 0, **said: Any) -> list[Result]:
    issued = campaign.status().open_round
    rng = np.random.default_rng((seed, issued.number))
    return [
        Result(LIBRARY.ids[item.compound], float(rng.random() < SHARE[item.compound]), **said)
        for item in issued.items
        for _ in range(item.replicates)
    ]


@pytest.mark.slow
def test_bounds_estimates_and_cutoff_are_shares_like_the_values(path: Path) -> None:
    with _campaign(path) as campaign:
        while not campaign.status().phases_decided:
            assert campaign.plan() is not None
            campaign.record(_yes_or_no(campaign), close=True)
        campaign.plan()
        now = replays(campaign)
        seen = now.candidates
        assert np.abs(seen.estimate - SHARE).max() < 0.1
        known = np.isfinite(seen.low)
        assert known.any()
        assert np.all((seen.low[known] > 0) & (seen.low[known] < SHARE[known]))
        assert np.all((seen.high[known] < 1) & (seen.high[known] > SHARE[known]))
        assert np.all((seen.posterior_low < seen.estimate) & (seen.estimate < seen.posterior_high))
        # 1.5 log odds below the best, which is a share of 0.858.
        assert seen.cutoff == pytest.approx(1.0 / (1.0 + np.exp(1.5 - 1.8)), abs=0.08)
        assert seen.soft_cutoff < seen.cutoff
        for item in now.open_round.items:
            assert item.expected == pytest.approx(SHARE[item.compound], abs=0.1)
            assert item.low is not None
            assert item.high is not None
            assert 0 < item.low < item.high < 1
        # What is likely follows log odds, not differences of shares: these all are within 1.5 of any share.
        far = PREDICTOR.max() - PREDICTOR > 2.2
        assert seen.probability_within_epsilon[far].max() < 0.1
        assert seen.probability_within_epsilon[PREDICTOR.argmax()] == pytest.approx(1.0)


def test_its_words_name_the_scale_and_the_kind_of_values(path: Path) -> None:
    with _campaign(path) as campaign:
        now = campaign.status()
        assert now.goal_sentence.startswith(
            "All compounds within 1.5 log odds of the best share, cutoff soft by 1.4 log"
        )
        assert "none that is worse by more than 2.9 log odds is in" in now.guarantee.sentence
        assert "measurements of share are independent shares between 0 and 1" in now.guarantee.assumptions
        assert not any("normally" in text for text in now.guarantee.assumptions)
        assert now.probability_names == ("within 1.5 log odds", "within 2.9 log odds")


def test_yes_and_no_that_agree_with_earlier_ones_are_not_taken_for_them(path: Path) -> None:
    """Leaving out what agrees would leave the rarer answer: the estimate would be wrong."""
    with _campaign(path, per_round=90, max_replicates=10) as campaign:
        campaign.plan()
        results = _yes_or_no(campaign)
        for number in range(3):
            report = campaign.record(results, source=Source("r.csv", f"{number:064x}"), close_when_complete=False)
            assert (report.accepted, report.duplicates) == (len(results), 0)
        # Those that say where they were measured, or the very same file, are.
        told = [Result(LIBRARY.ids[0], 1.0, plate="P1", well="A1"), Result(LIBRARY.ids[1], 0.0, plate="P1", well="A2")]
        campaign.record(told, source=Source("s.csv", "e" * 64), close_when_complete=False)
        with pytest.raises(AssayPilotError, match="all 2 results are in the campaign already"):
            campaign.record(told, source=Source("t.csv", "f" * 64))
        with pytest.raises(AssayPilotError, match="these results are in the campaign already"):
            campaign.record(results, source=Source("r.csv", f"{2:064x}"))


def test_a_correction_to_what_no_share_can_be_is_refused(path: Path) -> None:
    with _campaign(path) as campaign:
        campaign.plan()
        campaign.record(_yes_or_no(campaign)[:5])
        with pytest.raises(AssayPilotError, match=r"share 1\.5, and the logit link takes values from 0 to 1"):
            campaign.correct(1, 1.5, reason="typed wrong")
        campaign.correct(1, 0.5, reason="typed wrong")
