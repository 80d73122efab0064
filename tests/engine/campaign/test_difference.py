"""Campaigns about a difference of two endpoints: what is measured and decided, and that it is as sure as it says."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from assaypilot.engine.campaign import candidates, verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.work_list import work_list
from assaypilot.engine.models.ols import least_squares
from tests.engine.campaign.making import replays
from tests.engine.campaign.trading import POTENCY, answers, finish, trade, truth

HERG = Endpoint("hERG", "log", noise_sd=0.3)
WHOLE = Endpoint("Selectivity", of=("pIC50", "hERG"))
SD = float(np.hypot(0.2, 0.3))


def means() -> np.ndarray:
    return truth("pIC50") - truth("hERG")


def selective(path: Path, *endpoints: Endpoint, **changes: Any) -> Campaign:
    given = {"goal": "epsilon-best", "objective": "Selectivity", "epsilon": 0.5, "slack": 0.5} | changes
    return trade(path, *(endpoints or (POTENCY, HERG, WHOLE)), **given)


def test_a_campaign_about_a_selectivity_is_decided_right(path: Path) -> None:
    with selective(path) as campaign:
        start = campaign.status()
        assert start.goal_sentence == "All compounds within 0.5 of the best Selectivity, cutoff soft by 0.5, 95 % sure"
        assert (start.goal_endpoints, start.measured_endpoints, start.objective) == ((2,), (0, 1), 2)
        assert (start.deciding_endpoints, start.requested_endpoints, start.entered_endpoints) == (
            (2,),
            (2, 0, 1),
            (0, 1),
        )
        assert start.endpoints[2].noise_sd == pytest.approx(SD)
        assert campaign._ledger.state.problem.noise == (pytest.approx(SD),)
        assert (campaign._ledger.per_sample, campaign._ledger.state.problem.capacity.per_round) == (2, 12)
        issued = campaign.plan()
        assert issued.endpoints == (0, 1)
        sheet = work_list(start, issued)
        assert [name for name in sheet.header if name in ("Value", "pIC50", "hERG", "Selectivity")] == ["pIC50", "hERG"]
        now = finish(campaign)
        replays(campaign)
    inside = now.candidates.status == 1
    assert AllEpsilonBest(0.5, 0.5).is_right(inside, means())
    assert now.counts["undecided"] == 0
    assert np.abs(now.candidates.estimate - means()).max() < 0.5
    assert set(now.candidates.lows) == {"Selectivity"}
    assert (now.candidates.low < means()).all()
    assert (means() < now.candidates.high).all()
    assert now.measurements_used == sum(m.n for m in now.measurements)
    assert {m.endpoint for m in now.measurements} == {0, 1}
    said = now.guarantee.sentence
    assert "SD at most 0.2 in pIC50 and 0.3 in hERG" in said
    assert "errors of pIC50 and hERG are independent of each other: Selectivity is a difference" in said
    assert verifying.verify(path, recompute=True).ok


@pytest.mark.slow
def test_selectivity_keeps_its_stated_error(tmp_path: Path) -> None:
    """n (fit - truth)^2 / sd^2, summed over what was measured, is chi square of the rank, though values were lost."""
    total, freedom = 0.0, 0
    for seed in range(30):
        with selective(tmp_path / f"{seed}.assaypilot", per_round=400, max_replicates=100) as campaign:
            issued = campaign.plan()
            came = answers(campaign, seed=seed)
            often = [campaign.status().library.ids[i.compound] for i in issued.items if i.replicates > 1]
            for name, endpoint in zip(often[:4], ("hERG", "pIC50", "hERG", "hERG"), strict=True):
                came.remove(next(r for r in came if (r.compound, r.endpoint) == (name, endpoint)))
            campaign.record(came)
            campaign.close_round("failed", "edge effect")
            ledger = campaign._ledger
            counts, levels = (span := ledger.span(1, 2)).counts, span.means
        assert (counts % 1 > 0).sum() == 4
        rows = np.flatnonzero(counts > 0)
        fit = least_squares(ledger.features, rows, counts[rows], levels[rows])
        off = fit.means()[rows] - means()[ledger.first[rows]]
        total += float(counts[rows] @ off**2) / SD**2
        freedom += 5
    assert chi2.ppf(0.001, freedom) < total < chi2.ppf(0.999, freedom)
    for factor in (1.5, 0.67):  # a noise that is wrong by half is seen
        assert not chi2.ppf(0.001, freedom) < total * factor**2 < chi2.ppf(0.999, freedom)


def test_part_that_is_missing_or_a_bound_gives_no_difference(path: Path) -> None:
    library_first = "R1=A|R2=A"
    history = [Result("R1=A|R2=A", 6.1, "pIC50"), Result("R1=B|R2=B", 7.5, "pIC50"), Result("R1=B|R2=B", 5.4, "hERG")]
    with selective(path, history=history) as campaign:
        found = candidates.pooled(campaign._ledger, 2)
        now = campaign.status()
        one, other = (now.library.ids.index(name) for name in (library_first, "R1=B|R2=B"))
        assert found.counts[[one, other]].tolist() == [0.0, 1.0]
        assert found.means[other] == pytest.approx(2.1)
        assert now.candidates.estimate[other] == pytest.approx(2.1)
        assert np.isnan(now.candidates.estimate[one])
        assert now.candidates.measured[[one, other]].tolist() == [0, 1]
        assert now.candidates.measured_of["Selectivity"][[one, other]].tolist() == [0, 1]
        campaign.record([Result(library_first, 4.0, "hERG", relation="<")])
        now = campaign.status()
        assert candidates.pooled(campaign._ledger, 2).counts[one] == 0.0
        assert now.candidates.censored[one] == 1
        replays(campaign)


def test_a_limit_on_a_selectivity(path: Path) -> None:
    limited = Endpoint("Selectivity", of=("pIC50", "hERG"), limit=Limit(">", 1.2))
    goal = {"objective": "pIC50", "epsilon": 0.9, "slack": 0.9, "budget": 60}
    with selective(path, POTENCY, HERG, limited, strategy="gaussian-process", **goal) as campaign:
        start = campaign.status()
        assert (start.limited_endpoints, start.measured_endpoints) == ((2,), (0, 1))
        assert "Selectivity > 1.2" in start.goal_sentence
        now = finish(campaign)
        replays(campaign)
    assert not (now.candidates.status[means() <= 0.8] == 1).any()
    assert now.candidates.probability_meets["Selectivity"][means() > 1.6].min() > 0.5
    assert verifying.verify(path, recompute=True).ok


def test_strategies_with_a_link_refuse_it(path: Path) -> None:
    given = {"strategy": "linfact-glm", "parameters": {"link": "logit", "bound": 4.0}}
    with pytest.raises(AssayPilotError, match="Selectivity is a difference of logarithms, and the logit link"):
        selective(path, **given)
    assert not path.exists()
