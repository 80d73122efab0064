"""Every strategy by name runs a campaign: plans are stored, results decide and are explained, and the file replays."""

import re
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.verifying import verify
from assaypilot.engine.strategies.registry import strategies
from tests.engine.campaign import trading
from tests.engine.campaign.making import answers, make, replays

WIDE: dict[str, Any] = {"epsilon": 0.8, "slack": 0.6, "per_round": 200, "max_replicates": 40}
EASY = {"linfact-mis": {"parameters": {"model_error": 0.01}}, "gse": {"budget": 60}}
EASY["epsilon-best-fixed-budget"] = {"budget": 400}
"""What some need beside, to have an end in reach."""


def _made(path: Path, name: str, goals: tuple[str, ...]) -> Campaign:
    if "pareto" in goals:
        more = {"budget": 400} if name == "gege-fixed-budget" else {}
        return trading.trade(path, strategy=name, per_round=400, max_replicates=100, **more)
    return make(path, strategy=name, goal=goals[0], **WIDE, **EASY.get(name, {}))


@pytest.mark.parametrize("kind", strategies(), ids=lambda kind: kind.info.name)
def test_from_the_first_plan_to_the_end(kind: Any, tmp_path: Path) -> None:
    name = kind.info.name
    path = tmp_path / "campaign.assaypilot"
    with _made(path, name, kind.info.goals) as campaign:
        for _ in range(40):
            if campaign.plan() is None:
                break
            replays(campaign)
            pareto = "pareto" in kind.info.goals
            campaign.record(trading.answers(campaign) if pareto else answers(campaign), close=True)
            reasons = campaign.reasons()
            for reasoning in map(reasons.of, range(9)):
                assert reasoning.why.endswith(".") or reasoning.sources
                assert not re.search(r"\b(nan|inf)\b", f"{reasoning.why} {reasoning.decide}")
                assert bool(reasoning.open) == (reasoning.heading == "Why undecided")
        now = replays(campaign)
        assert now.finished
        assert now.counts["undecided"] == 0
        assert now.counts["in"] >= 1
    found = verify(path, recompute=True)
    assert found.ok, found.problems
