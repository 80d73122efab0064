"""The strategies by name. A new one is one file and one line here."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.baselines.ape import Ape
from assaypilot.engine.strategies.baselines.bayesgap import BayesGap
from assaypilot.engine.strategies.baselines.ege import EgeSh, EgeSr
from assaypilot.engine.strategies.baselines.kgcb import Kgcb
from assaypilot.engine.strategies.baselines.lazy_tts import LazyTts
from assaypilot.engine.strategies.baselines.lingape import LinGapE
from assaypilot.engine.strategies.baselines.lingifa import LinGIFA
from assaypilot.engine.strategies.baselines.m_lingape import MLinGapE
from assaypilot.engine.strategies.baselines.od_linbai import OdLinBai
from assaypilot.engine.strategies.baselines.oracle import OracleRun
from assaypilot.engine.strategies.baselines.static import StaticG, StaticXY
from assaypilot.engine.strategies.baselines.uniform import Uniform
from assaypilot.engine.strategies.gege import Gege
from assaypilot.engine.strategies.gege_fixed_budget import GegeFixedBudget
from assaypilot.engine.strategies.gse import Gse
from assaypilot.engine.strategies.linfact_g import LinFactG
from assaypilot.engine.strategies.linfact_glm import LinFactGlm
from assaypilot.engine.strategies.linfact_mis import LinFactMis
from assaypilot.engine.strategies.linfact_xy import LinFactXY, LinFactXYAsPrinted
from assaypilot.engine.strategies.lingame import LinGame, LinGameC
from assaypilot.engine.strategies.protocol import Strategy
from assaypilot.engine.strategies.rage import Rage

__all__ = ["BASELINES", "STRATEGIES", "check_parameters", "choose", "get"]

STRATEGIES: tuple[type[Strategy], ...] = (
    LinFactG,
    LinFactXY,
    LinFactXYAsPrinted,
    LinFactMis,
    LinFactGlm,
    Gege,
    GegeFixedBudget,
    Rage,
    LinGame,
    LinGameC,
    Gse,
)
"""What a campaign can be run by; ``auto`` takes the first that fits the goal."""

BASELINES: tuple[type[Strategy], ...] = (
    Uniform,
    StaticG,
    StaticXY,
    OracleRun,
    LinGapE,
    MLinGapE,
    LinGIFA,
    EgeSh,
    EgeSr,
    Ape,
    OdLinBai,
    BayesGap,
    Kgcb,
    LazyTts,
)
"""What simulations can compare with."""


def get(name: str) -> Strategy:
    """The strategy or baseline of that name; AssayPilotError names the ones there are."""
    return _named(name, (*STRATEGIES, *BASELINES))


def _named(name: str, kinds: Sequence[type[Strategy]]) -> Strategy:
    for strategy in (*STRATEGIES, *BASELINES):
        if strategy.info.name == name:
            return strategy()
    names = [strategy.info.name for strategy in kinds]
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise AssayPilotError(
        f"there is no strategy {name!r}",
        option="--strategy",
        mend=f"{meant}Choose auto or one of: {', '.join(names)}.",
    )


def choose(name: str, goal: str) -> tuple[Strategy, str]:
    """The strategy of a campaign for a goal and one sentence why; ``auto`` takes the one that fits the goal."""
    if name == "auto":
        for candidate in STRATEGIES:
            if goal in candidate.info.goals:
                return candidate(), f"{candidate.info.name}: {candidate.info.guarantee}"
        raise AssayPilotError(f"no strategy answers the goal {goal!r}", option="--goal")
    strategy = _named(name, STRATEGIES)
    if strategy.info.baseline:
        raise AssayPilotError(
            f"{name} is for comparison in simulations only",
            option="--strategy",
            mend=f"Choose auto or one of: {', '.join(kind.info.name for kind in STRATEGIES)}.",
        )
    if goal not in strategy.info.goals:
        raise AssayPilotError(
            f"{name} does not answer the goal {goal!r}",
            option="--strategy",
            mend=f"It answers: {', '.join(strategy.info.goals)}.",
        )
    return strategy, f"{name}: as chosen"


def check_parameters(strategy: Strategy, given: Mapping[str, Any]) -> dict[str, Any]:
    """The strategy's parameters with defaults filled in; AssayPilotError for an unknown name."""
    known = {parameter.name: parameter.default for parameter in strategy.info.parameters}
    for name in given:
        if name not in known:
            raise AssayPilotError(
                f"{strategy.info.name} has no parameter {name!r}",
                option="--parameter",
                mend=f"It has: {', '.join(known)}." if known else "It has none.",
            )
    return {**known, **given}
