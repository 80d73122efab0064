"""The strategies by name. A new one is one file (or a folder) and one line here.

Each is loaded when it is first asked for: a campaign needs one of them, and opening it should not wait for the rest.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

from assaypilot.engine.endpoint import Kind
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.strategies.protocol import Strategy, StrategyInfo

__all__ = ["baselines", "check_parameters", "choose", "get", "named_by", "propose", "strategies", "with_link"]

_STRATEGIES = {
    "linfact-g": "linfact.g_optimal.LinFactG",
    "linfact-xy": "linfact.xy_optimal.LinFactXY",
    "linfact-xy-as-printed": "linfact.xy_optimal.LinFactXYAsPrinted",
    "linfact-mis": "linfact.misspecified.LinFactMis",
    "linfact-glm": "linfact.glm.LinFactGlm",
    "likelihood": "likelihood.likelihood.Likelihood",
    "epsilon-best-fixed-budget": "epsilon_best_fixed_budget.EpsilonBestFixedBudget",
    "gege": "gege.confidence.Gege",
    "gege-fixed-budget": "gege.fixed_budget.GegeFixedBudget",
    "rage": "rage.rage.Rage",
    "lingame": "lingame.lingame.LinGame",
    "lingame-c": "lingame.lingame.LinGameC",
    "gse": "gse.gse.Gse",
    "adaptive": "adaptive.goals.AdaptiveGoals",
}
_BASELINES = {
    "uniform": "baselines.uniform.Uniform",
    "static-g": "baselines.static.StaticG",
    "static-xy": "baselines.static.StaticXY",
    "oracle": "baselines.oracle.OracleRun",
    "lingape": "baselines.lingape.LinGapE",
    "m-lingape": "baselines.m_lingape.MLinGapE",
    "lingifa": "baselines.lingifa.LinGIFA",
    "ege-sh": "baselines.ege.EgeSh",
    "ege-sr": "baselines.ege.EgeSr",
    "ape": "baselines.ape.Ape",
    "od-linbai": "baselines.od_linbai.OdLinBai",
    "bayesgap": "baselines.bayesgap.BayesGap",
    "kgcb": "baselines.kgcb.Kgcb",
    "lazy-tts": "baselines.lazy_tts.LazyTts",
}
_IN_PHASES = {"epsilon-best": "linfact-g", "pareto": "gege", "best": "rage"}
"""What ``auto`` takes for a goal where ``adaptive`` is not the better choice."""
_OF_ANSWERS = ("epsilon-best", "best")
"""Goals that ``likelihood`` answers, which ``auto`` takes for yes and no, and for counts."""
_LINKED: dict[Kind, dict[str, str]] = {
    "yes-no": {"link": "logit", "model": "logistic"},
    "count": {"link": "log", "model": "poisson"},
}
_LARGE = 20_000
"""Values of compounds, one for each endpoint, above which ``adaptive`` takes more than some seconds for a plan."""


@cache
def _kind(name: str) -> type[Strategy]:
    module, _, kind = {**_STRATEGIES, **_BASELINES}[name].rpartition(".")
    return cast(type[Strategy], getattr(import_module(f"{__package__}.{module}"), kind))


def strategies() -> tuple[type[Strategy], ...]:
    """What a campaign can be run by."""
    return tuple(map(_kind, _STRATEGIES))


def baselines() -> tuple[type[Strategy], ...]:
    """What simulations can compare with."""
    return tuple(map(_kind, _BASELINES))


def named_by(flag: str) -> str:
    """The names of the strategies whose info says so, in the order of the alphabet, with commas."""
    return ", ".join(sorted(one.info.name for one in strategies() if getattr(one.info, flag)))


def get(name: str) -> Strategy:
    """The strategy or baseline of that name; AssayPilotError names the ones there are."""
    return _named(name, (*_STRATEGIES, *_BASELINES))


def _named(name: str, offered: Iterable[str]) -> Strategy:
    if name in _STRATEGIES or name in _BASELINES:
        return _kind(name)()
    names = list(offered)
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise AssayPilotError(
        f"there is no strategy {name!r}",
        option="--strategy",
        mend=f"{meant}Choose auto or one of: {', '.join(names)}.",
    )


def propose(
    goal: str, *, values: int = 0, limited: bool = False, parameters: Iterable[str] = (), kind: Kind = "value"
) -> tuple[Strategy, str]:
    """What ``auto`` takes for a goal, and why, to be read after "because".

    That is ``adaptive``: it takes a fraction of the measurements of the others at the same confidence. It does so with
    small rounds (a phase has as many as every effect needs), and within a budget (what is decided by then holds). It
    is not taken for a table of very many ``values`` (compounds times endpoints), because its plans take long there; nor
    when compounds are ``limited`` by another endpoint, which is told by phases that bound every compound; nor when
    ``parameters`` are given that it does not have; nor where one endpoint is no plain value but of another ``kind``.
    """
    if kind != "value" and goal in _OF_ANSWERS:
        what = "yes and no" if kind == "yes-no" else "counts"
        return _for_goal("likelihood", goal), f"its guarantee is exact for {what}"
    if goal not in _IN_PHASES:
        raise AssayPilotError(f"no strategy answers the goal {goal!r}", option="--goal")
    phased = _for_goal(_IN_PHASES[goal], goal)
    given = set(parameters)
    if values > _LARGE:
        return phased, f"adaptive would need fewer measurements, but up to minutes to plan a round of {values:,} values"
    if limited:
        return phased, "its phases bound every compound, so limits are told from the same measurements"
    if given and given <= {parameter.name for parameter in phased.info.parameters}:
        return phased, f"it has {', '.join(sorted(given))}"
    return _for_goal("adaptive", goal), "it needs the fewest measurements of those with a guarantee"


def choose(
    name: str,
    goal: str,
    *,
    values: int = 0,
    limited: bool = False,
    parameters: Iterable[str] = (),
    blocks: str = "none",
    kind: Kind = "value",
) -> tuple[Strategy, str]:
    """The strategy of a campaign for a goal and one sentence why; ``auto`` takes the one that fits: see ``propose``.

    ``blocks``: what is to be taken out of the values, such as ``plate``; only some strategies can. ``kind``: of the
    one endpoint that the goal is about.
    """
    if name == "auto" and blocks != "none" and goal in _IN_PHASES:
        strategy = _for_goal("adaptive", goal)
        why = f"it takes {blocks} effects out"
        return strategy, f"{strategy.info.name}, because {why}: {strategy.info.guarantee}"
    if name == "auto":
        strategy, why = propose(goal, values=values, limited=limited, parameters=parameters, kind=kind)
        return strategy, f"{strategy.info.name}, because {why}: {strategy.info.guarantee}"
    strategy = _named(name, _STRATEGIES)
    if strategy.info.baseline:
        raise AssayPilotError(
            f"{name} is for comparison in simulations only",
            option="--strategy",
            mend=f"Choose auto or one of: {', '.join(_STRATEGIES)}.",
        )
    if goal not in strategy.info.goals:
        raise AssayPilotError(
            f"{name} does not answer the goal {goal!r}",
            option="--strategy",
            mend=f"It answers: {', '.join(strategy.info.goals)}.",
        )
    strategy = _for_goal(name, goal)
    if blocks != "none" and not strategy.info.blocks:
        raise AssayPilotError(
            f"{name} cannot take {blocks} effects out",
            option="--blocks",
            mend="Choose adaptive, or leave --blocks out.",
        )
    return strategy, f"{name}, as chosen: {strategy.info.guarantee}"


def _for_goal(name: str, goal: str) -> Strategy:
    """The strategy, or the part of it that answers the goal, so that what it promises is about this goal alone."""
    strategy = _kind(name)()
    part = getattr(strategy, "for_goal", None)
    return cast(Strategy, part(goal)) if part else strategy


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


def with_link(info: StrategyInfo, kind: Kind, given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the link (or model) that a kind of values needs, where the strategy has one, unless said."""
    wanted = _LINKED.get(kind, {})
    names = {parameter.name for parameter in info.parameters}
    return {**{name: value for name, value in wanted.items() if name in names}, **given}
