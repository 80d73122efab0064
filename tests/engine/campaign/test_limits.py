"""Limits: what a phase proves to fail one is out whatever the goal says, and the strategy is not told."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assaypilot.engine.campaign import limits, verifying
from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.candidates import _overlaid
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import OUT
from tests.engine.campaign.making import replays
from tests.engine.campaign.trading import HERG, POTENCY, answers, decide_phase, finish, trade, truth

LIMITED = replace(HERG, limit=Limit("<", 5.1))
FAILING = truth("hERG") >= 5.1
ONE = {"goal": "epsilon-best", "objective": "pIC50", "slack": 0.5}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "limits.assaypilot"


def limited(path: Path, *endpoints: Endpoint, **changes: Any) -> Campaign:
    return trade(path, *(endpoints or (POTENCY, LIMITED)), **(ONE | changes))


def test_what_surely_fails_is_out_and_says_why(path: Path) -> None:
    with limited(path) as campaign:
        start = campaign.status()
        assert start.goal_sentence.endswith("cutoff soft by 0.5, hERG < 5.1, 95 % sure")
        assert (start.goal_endpoints, start.measured_endpoints, start.limited_endpoints) == ((0,), (0, 1), (1,))
        now = finish(campaign)
        replays(campaign)
        shown = now.candidates
        failed = shown.failed_limit >= 0
        assert failed.any()
        assert FAILING[failed].all(), "nothing that keeps to the limit is put out for it"
        assert (shown.status[failed] == OUT).all()
        assert {now.reason(c) for c in np.flatnonzero(failed)} == {"fails hERG < 5.1"}
        assert {now.reason(c) for c in np.flatnonzero(~failed)} == {None}
        # The best of all has a hERG of 5.5: the goal alone would have it in.
        best = int(truth("pIC50").argmax())
        assert FAILING[best]
        assert failed[best]
        assert campaign._ledger.state.status[campaign._ledger.arm_of[best]] != OUT
        assert "what is out because it fails hERG < 5.1 truly fails" in now.guarantee.sentence
        assert "still counts when others are compared with the best of all" in now.guarantee.assumptions[-1]
        decided = [entry.text for entry in campaign.history() if entry.kind == "phase_decided"]
        assert any("fail hERG < 5.1" in text for text in decided)
    assert verifying.verify(path, recompute=True).ok


def test_bounds_of_a_limit_against_least_squares_by_hand(path: Path) -> None:
    with limited(path, per_round=200, max_replicates=100) as campaign:
        decide_phase(campaign)
        ledger = campaign._ledger
        codes = ledger.library.codes
        rows = np.zeros((9, 7))
        rows[:, 0] = 1.0
        rows[np.arange(9), 1 + codes[:, 0]] = 1.0
        rows[np.arange(9), 4 + codes[:, 1]] = 1.0
        own = [m for m in ledger.measurements if m.phase == 1 and m.endpoint == 1]
        x, y = np.array([rows[m.compound] for m in own]), np.array([m.value for m in own])
        theta = np.linalg.lstsq(x, y, rcond=None)[0]
        norms = np.sqrt(np.sum(rows @ np.linalg.pinv(x.T @ x) * rows, axis=1))
        # Half of delta is the limit's: one endpoint of the goal, one limit.
        half = 0.3 * norms * math.sqrt(2 * math.log(2 * 9 * 1 * 2 / 0.025))
        now = campaign.status()
        assert np.allclose(now.candidates.limit_low["hERG"], rows @ theta - half)
        assert np.allclose(now.candidates.limit_high["hERG"], rows @ theta + half)
        assert set(np.flatnonzero(now.candidates.failed_limit >= 0)) == set(np.flatnonzero(rows @ theta - half >= 5.1))
        assert ledger.state.problem.delta == pytest.approx(0.025)


@pytest.mark.parametrize(
    ("goal", "n_limits", "expected"),
    [
        (1, 0, (0.05, 0.05)),
        (1, 1, (0.025, 0.025)),
        (2, 1, (0.1 / 3, 0.05 / 3)),
        (2, 2, (0.025, 0.0125)),
    ],
)
def test_the_error_is_shared(goal: int, n_limits: int, expected: tuple[float, float]) -> None:
    assert limits.shares(0.05, goal, n_limits) == pytest.approx(expected)
    own, each = limits.shares(0.05, goal, n_limits)
    assert own + n_limits * each == pytest.approx(0.05)


def test_how_often_a_limit_is_wrong(path: Path) -> None:
    """One phase, 300 assays drawn on it: intervals miss a true mean at most delta / 2 of the time, and do not idle."""
    with limited(path, per_round=200, max_replicates=100, delta=0.5) as campaign:
        decide_phase(campaign)
        ledger = campaign._ledger
        plain = ledger.measurements
        means, rng = truth("hERG"), np.random.default_rng(5)
        misses = 0
        spread = []
        for _ in range(300):
            ledger.measurements = [
                replace(m, value=float(means[m.compound] + 0.3 * rng.standard_normal())) if m.endpoint == 1 else m
                for m in plain
            ]
            verdict = limits.decide(ledger, 1, [])
            assert verdict is not None
            misses += bool(((verdict.low > means) | (verdict.high < means)).any())
            half = (verdict.high[0] - verdict.low[0]) / 2
            width = math.sqrt(2 * math.log(2 * 9 * 2 / 0.25))
            spread.append(((verdict.high[0] + verdict.low[0]) / 2 - means) / half * width)
        assert misses <= 300 * 0.25
        # Standardised errors of each compound are standard normal: widths are neither idle nor short.
        assert np.std(spread, axis=0) == pytest.approx(np.ones(9), abs=0.14)


@pytest.mark.parametrize(
    ("limit", "endpoint", "low", "high", "fails"),
    [
        ("<5", HERG, [4.0, 5.0, 5.1], [4.5, 6.0, 6.0], [False, True, True]),
        ("<=5", HERG, [4.0, 5.0, 5.1], [4.5, 6.0, 6.0], [False, False, True]),
        (">5", HERG, [4.0, 4.0, 5.1], [4.5, 5.0, 6.0], [True, True, False]),
        (">=5", HERG, [4.0, 4.0, 5.1], [4.5, 5.0, 6.0], [True, False, False]),
        # IC50 above 10 µM is a pIC50 below 5.
        (">10", Endpoint("IC50", "uM", "log", noise_sd=0.2), [4.0, 5.0, 5.1], [4.5, 6.0, 6.0], [False, True, True]),
        ("<10", Endpoint("IC50", "uM", "log", noise_sd=0.2), [4.0, 4.0, 5.1], [4.5, 4.9, 6.0], [True, True, False]),
    ],
)
def test_an_interval_that_is_all_beyond_the_limit_fails(
    limit: str, endpoint: Endpoint, low: list[float], high: list[float], fails: list[bool]
) -> None:
    endpoint = replace(endpoint, limit=Limit.parse(limit))
    assert limits._fails(endpoint, np.array(low), np.array(high)).tolist() == fails
    assert not limits._fails(endpoint, np.array([-np.inf]), np.array([np.inf])).any()


def test_a_first_decision_stands(path: Path) -> None:
    """Values of the next phase that say the opposite put nothing back in."""
    with limited(path, epsilon=0.3, slack=0.1) as campaign:
        before = decide_phase(campaign)
        failed = before.candidates.failed_limit >= 0
        rounds = before.candidates.decided_in_round[failed]
        assert failed.any()
        while campaign.status().phases_decided < 2 and campaign.plan() is not None:
            campaign.record([replace(r, value=3.0) if r.endpoint == "hERG" else r for r in answers(campaign)])
        now = replays(campaign)
        assert now.phases_decided == 2
        assert (now.candidates.failed_limit[failed] == 1).all()
        assert np.array_equal(now.candidates.decided_in_round[failed], rounds)


def test_it_is_over_when_what_is_open_fails(path: Path) -> None:
    """Every compound fails: the goal's own question stays open, and nothing is left to ask."""
    hopeless = replace(HERG, limit=Limit("<", 1.0))
    with limited(path, POTENCY, hopeless, epsilon=0.3, slack=0.01) as campaign:
        now = decide_phase(campaign)
        assert (now.candidates.status == OUT).all()
        assert (campaign._ledger.state.status == 0).any(), "the strategy would go on"
        assert now.finished
        assert campaign.plan() is None
        assert now.finish_reason == "every compound is decided; those the goal leaves open fail a limit"
        assert "every compound within 0.3 of the best pIC50 fails a limit" in now.statement
        replays(campaign)


def test_chances_of_keeping_to_a_limit(path: Path) -> None:
    with limited(path) as campaign:
        nothing = campaign.status().candidates.probability_meets
        assert list(nothing) == ["hERG"]
        assert np.isnan(nothing["hERG"]).all()
        now = decide_phase(campaign)
        chance = now.candidates.probability_meets["hERG"]
        assert chance[truth("hERG") > 5.6].max() < 0.2
        assert chance[truth("hERG") < 4.8].min() > 0.8
        failed = now.candidates.failed_limit >= 0
        assert chance[failed].max() < 0.01


def test_compound_that_is_in_and_probably_fails_a_limit_is_warned_of(path: Path) -> None:
    """The proof has not seen it fail; the estimate, which earlier values inform, has."""
    near = replace(HERG, limit=Limit("<", 6.0))
    with limited(path, POTENCY, near) as campaign:
        now = finish(campaign)
        name = now.library.ids[int(np.flatnonzero(now.candidates.status == 1)[0])]
    path.unlink()
    bad = [Result(name, 7.5, "hERG") for _ in range(200)]
    with limited(path, POTENCY, near, history=bad) as campaign:
        now = finish(campaign)
        chance = now.candidates.probability_meets["hERG"]
        doubtful = [now.library.ids[c] for c in np.flatnonzero((now.candidates.status == 1) & (chance < 0.05))]
        warned = [text for text in now.warnings if "likely to keep to" in text]
        assert len(warned) == bool(doubtful)
        assert all(one in warned[0] for one in doubtful[:5])
        assert doubtful, "the case must be there"


def test_those_in_that_may_still_fail_are_counted(path: Path) -> None:
    near = replace(HERG, limit=Limit("<", 5.5))
    with limited(path, POTENCY, near) as campaign:
        now = finish(campaign)
        shown = now.candidates
        unsure = int(((shown.status == 1) & (shown.limit_high["hERG"] > 5.5)).sum())
        assert (f"{unsure} of those in may still fail hERG < 5.5." in now.statement) == (unsure > 0)


def test_trade_offs_with_a_limit_on_one_of_them_and_on_a_third(path: Path) -> None:
    third = Endpoint("logD", noise_sd=0.2, limit=Limit("<", 2.1))
    with trade(path, POTENCY, LIMITED, third, objectives=("pIC50", "hERG"), per_round=60) as campaign:
        now = campaign.status()
        assert (now.goal_endpoints, now.measured_endpoints) == ((0, 1), (0, 1, 2))
        assert campaign._ledger.state.problem.delta == pytest.approx(0.025)
        assert now.goal_sentence.endswith(", hERG < 5.1 and logD < 2.1, 95 % sure")
        issued = campaign.plan()
        assert issued is not None
        assert issued.measurements == 3 * sum(item.replicates for item in issued.items)
        now = finish(campaign)
        for position, bad in ((1, FAILING), (2, truth("logD") >= 2.1)):
            assert bad[now.candidates.failed_limit == position].all()
        replays(campaign)
    assert verifying.verify(path, recompute=True).ok


def test_a_limit_that_does_not_follow_from_the_facts_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with limited(path) as campaign:
        decide_phase(campaign)
    plain = limits.decide

    def otherwise(books: Any, phase: int, before: Any) -> Any:
        verdict = plain(books, phase, before)
        return verdict and replace(verdict, outs=tuple(arms[:-1] for arms in verdict.outs))

    monkeypatch.setattr(limits, "decide", otherwise)
    texts = [problem.text for problem in verifying.verify(path, recompute=True).problems]
    assert "phase 1: the facts say something else about the limits" in texts


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"limit": Limit("<", 5.0), "noise_sd": None}, "noise .SD. of hERG is not known"),
        ({"limit": Limit(">", -1.0), "unit": "nM", "transform": "log"}, "-1 has no logarithm"),
    ],
)
def test_limits_that_cannot_be_decided_are_refused(path: Path, changes: dict[str, Any], says: str) -> None:
    with pytest.raises(AssayPilotError, match=says):
        limited(path, POTENCY, replace(HERG, **changes))


def test_the_round_that_put_a_compound_out(path: Path) -> None:
    """The earlier of the goal and the limit; what was in goes out in the round that proved the limit."""
    with limited(path) as campaign:
        state = replace(
            campaign._ledger.state,
            status=np.array([OUT, OUT, 1, 0, OUT, 1, 0, 3, 3], dtype=np.int8),
            decided_in_phase=np.array([1, 3, 1, 0, 2, 2, 0, 0, 0]),
        )
    failed = np.array([1, 1, 1, 1, -1, -1, -1, 1, -1])
    status, phases = _overlaid(state, failed, np.array([2, 2, 2, 2, 0, 0, 0, 2, 0]))
    assert status.tolist() == [OUT, OUT, OUT, OUT, OUT, 1, 0, OUT, 3]
    assert phases.tolist() == [1, 2, 2, 2, 2, 2, 0, 2, 0]
