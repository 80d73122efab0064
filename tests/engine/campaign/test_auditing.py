"""Audit rounds: who is drawn, what is stated, and that the limit holds as often as it says."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import hypergeom

from assaypilot.engine.campaign import auditing
from assaypilot.engine.campaign.auditing import audited, members_at_most
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import IN

SD = 0.2
SITES = [Site("R1", tuple("ABCDEFGH")), Site("R2", tuple("KLMNO")), Site("R3", tuple("XYZ"))]


def begin(path: Path, strategy: str = "gaussian-process") -> Campaign:
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=16, strategy=strategy)
    return Campaign.create(
        path, library=Library.product(SITES), endpoints=[Endpoint("pIC50", noise_sd=SD)], settings=settings
    )


def answer(campaign: Campaign, truth: np.ndarray, rng: np.random.Generator, *, lose: int = 0) -> None:
    """Record the open round, but for its last ``lose`` compounds, and close it."""
    now = campaign.status()
    items = now.open_round.items[: len(now.open_round.items) - lose]
    campaign.record(
        [
            Result(now.library.ids[item.compound], float(truth[item.compound] + SD * rng.standard_normal()))
            for item in items
            for _ in range(item.replicates)
        ],
        close=True,
        missing="failed" if lose else "return",
    )


@pytest.fixture
def truth() -> np.ndarray:
    rng = np.random.default_rng(2)
    codes = Library.product(SITES).codes
    return 6.0 + sum(rng.normal(0, 0.5, len(s.substituents))[codes[:, k]] for k, s in enumerate(SITES))


@pytest.fixture
def campaign(tmp_path: Path, truth: np.ndarray) -> Campaign:
    made = begin(tmp_path / "a.assaypilot")
    made.plan()
    answer(made, truth, np.random.default_rng(0))
    return made


@pytest.mark.parametrize(("sampled", "limit"), [(60, 44), (300, 7), (940, 0)])
def test_limits_without_a_find_are_the_published_ones(sampled: int, limit: int) -> None:
    assert members_at_most(940, sampled, 0) == limit


@pytest.mark.parametrize("found", [0, 1, 3])
def test_limit_is_the_largest_number_that_shows_so_few_with_five_per_cent(found: int) -> None:
    limit = members_at_most(200, 40, found)
    assert hypergeom.cdf(found, 200, limit, 40) >= 0.05 > hypergeom.cdf(found, 200, limit + 1, 40)
    assert members_at_most(200, 40, found, 0.9) > limit


def test_sample_is_of_what_is_not_in_and_was_not_measured(campaign: Campaign) -> None:
    before = campaign.status()
    issued = campaign.plan_audit(20)
    assert campaign.plan_audit(5) == issued
    compounds = [item.compound for item in issued.items]
    assert len(set(compounds)) == 20
    assert issued.title == "Audit round 2"
    assert issued.population == int(((before.candidates.measured == 0) & (before.candidates.status != IN)).sum())
    assert not before.candidates.measured[compounds].any()
    campaign.withdraw_round()
    campaign.plan()
    with pytest.raises(AssayPilotError, match="close it first"):
        campaign.plan_audit(5)


def test_a_finished_audit_is_stated_and_verifies(campaign: Campaign, truth: np.ndarray) -> None:
    used = campaign.status().measurements_used
    issued = campaign.plan_audit(30)
    assert campaign.status().claim.audit is None
    answer(campaign, truth, np.random.default_rng(1))
    now = campaign.status()
    assert (now.claim.audit.sampled, now.claim.audit.population) == (30, issued.population)
    assert now.claim.audit.sentence in now.statement
    assert now.measurements_used == used
    assert verify(campaign.path, recompute=True).ok


def test_what_did_not_come_back_counts_as_found(tmp_path: Path, truth: np.ndarray) -> None:
    found = []
    for lose in (0, 20):
        with begin(tmp_path / f"{lose}.assaypilot") as made:
            made.plan()
            answer(made, truth, np.random.default_rng(0))
            made.plan_audit(30)
            answer(made, truth, np.random.default_rng(1), lose=lose)
            audit = made.status().claim.audit
            found.append(audit.found)
    assert found[0] < found[1] <= found[0] + 20


def test_sizes_that_cannot_be_drawn_and_other_goals_are_refused(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(AssayPilotError, match="cannot be drawn"):
        campaign.plan_audit(1_000)
    with begin(tmp_path / "b.assaypilot") as fresh, pytest.raises(AssayPilotError, match="nothing was measured"):
        fresh.plan_audit(5)


@pytest.mark.parametrize("ties", [1, 100])
def test_limit_holds_where_many_measured_compounds_are_equally_good(ties: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The luckiest of many equals must not lift the border above members that lie exactly on it."""
    monkeypatch.setattr(auditing, "assay_noise", SimpleNamespace(informing=lambda _: [SimpleNamespace(noise_sd=SD)]))
    rng = np.random.default_rng(1)
    population, sampled, members, runs = 640, 300, 60, 30
    held = 0
    for _ in range(runs):
        truth = np.concatenate([np.full(members, 7.5), 6.7 - rng.uniform(0.0, 2.0, population - members)])
        drawn = rng.choice(population, sampled, replace=False)
        means = np.concatenate([truth[drawn], np.full(ties, 8.0)])
        compounds = np.concatenate([drawn, population + np.arange(ties)])
        values = means + SD * rng.standard_normal(len(means))
        ledger = SimpleNamespace(
            endpoints=[SimpleNamespace(sign=1)],
            objective=0,
            settings=SimpleNamespace(goal="epsilon-best", distance=0.5),
            measurements=[
                SimpleNamespace(
                    endpoint=0, compound=int(c), relation="=", excluded=None, withdrawn=False, value=float(v), n=1
                )
                for c, v in zip(compounds, values, strict=True)
            ],
            rounds=[
                SimpleNamespace(
                    population=population,
                    state="closed",
                    number=1,
                    items=[SimpleNamespace(compound=int(c)) for c in drawn],
                )
            ],
        )
        audit = audited(cast("Any", ledger))
        held += audit.missed >= members - int((drawn < members).sum())
    assert held >= 0.95 * runs
