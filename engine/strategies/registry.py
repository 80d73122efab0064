"""The strategies by name. A new one is one file (or a folder) and one line here.

Each is loaded on first use: a campaign needs one of them, and opening it should not wait for the rest.
Other packages add theirs by entry points of the group ``assaypilot.strategies``, ``NAME = "package.module:Class"``,
where ``Class.info.name`` is NAME; names of built-in ones are not taken.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from ..domain.endpoint import Kind
from ..errors import AssayPilotError
from .protocol import Calibrated, Divided, Strategy, StrategyInfo

GROUP = "assaypilot.strategies"
"""The group of entry points by which other packages provide strategies."""

_STRATEGIES = {
    "gaussian-process": "gaussian_process.strategy.GaussianProcess",
    "linfact-g": "linfact.linfact.LinFactG",
    "linfact-xy": "linfact.xy_optimal.LinFactXY",
    "linfact-xy-as-printed": "linfact.xy_optimal.LinFactXYAsPrinted",
    "linfact-mis": "linfact.extensions.LinFactMis",
    "linfact-glm": "linfact.extensions.LinFactGlm",
    "epsilon-best-fixed-budget": "epsilon_best_fixed_budget.EpsilonBestFixedBudget",
    "gege": "gege.confidence.Gege",
    "gege-fixed-budget": "gege.fixed_budget.GegeFixedBudget",
    "rage": "rage.rage.Rage",
    "lingame": "lingame.lingame.LinGame",
    "lingame-c": "lingame.lingame.LinGameC",
    "gse": "gse.Gse",
    "adaptive": "adaptive.goals.AdaptiveGoals",
}
_IN_PHASES = {"epsilon-best": "linfact-g", "pareto": "gege", "best": "rage"}
SERIES = "gaussian-process"
"""The series model, which continues where a proof ends."""
PROVEN_GOALS = tuple(_IN_PHASES)
"""Goals that some proven strategy answers."""
"""The choice of ``auto`` for a goal where ``adaptive`` is not the better one."""
_LINKED: dict[Kind, dict[str, Any]] = {
    "yes-no": {"link": "logit", "model": "logistic", "bound": 4.0},
    "count": {"link": "log", "model": "poisson"},
}
_LARGE = 20_000
"""Values of compounds, one for each endpoint, above which ``adaptive`` takes more than some seconds for a plan."""


@cache
def installed() -> dict[str, EntryPoint]:
    """Return the strategies of other packages by name, not loaded yet."""
    return {one.name: one for one in entry_points(group=GROUP) if one.name not in _STRATEGIES}


@cache
def _kind(name: str) -> type[Strategy]:
    if name not in _STRATEGIES:
        return _loaded(installed()[name])
    module, _, kind = _STRATEGIES[name].rpartition(".")
    return cast(type[Strategy], getattr(import_module(f"{__package__}.{module}"), kind))


def _loaded(entry: EntryPoint) -> type[Strategy]:
    """Return the strategy of another package; AssayPilotError when it cannot be loaded or is none."""
    package = entry.value if entry.dist is None else entry.dist.name
    mend = f"Update or remove the package {package}."
    try:
        kind = entry.load()
    except Exception as error:  # whatever a foreign module raises
        why = f"{type(error).__name__}: {error}"
        raise AssayPilotError(f"the strategy {entry.name} cannot be loaded ({why})", mend=mend) from error
    info = getattr(kind, "info", None)
    if not isinstance(info, StrategyInfo) or info.name != entry.name:
        reason = f"its info names {info.name!r}" if isinstance(info, StrategyInfo) else "it has no info"
        raise AssayPilotError(f"{entry.value} is no strategy {entry.name!r}: {reason}", mend=mend)
    return cast(type[Strategy], kind)


def strategies() -> tuple[type[Strategy], ...]:
    """Return what a campaign can be run by: ours, then those of other packages that can be loaded."""
    return (*map(_kind, _STRATEGIES), *(_kind(name) for name in sorted(installed()) if name not in failed()))


@cache
def failed() -> dict[str, str]:
    """Return by name why strategies of other packages cannot be loaded."""
    found = {}
    for name in installed():
        try:
            _kind(name)
        except AssayPilotError as error:
            found[name] = str(error)
    return found


def named_by(flag: str) -> str:
    """Return the names of the strategies whose info has this property, in alphabetical order, with commas."""
    return ", ".join(sorted(one.info.name for one in strategies() if getattr(one.info, flag)))


def get(name: str, also: Iterable[str] = ()) -> Strategy:
    """Return the strategy of that name; AssayPilotError names the ones there are, and what there is ``also``."""
    if name in _STRATEGIES or name in installed():
        return _kind(name)()
    names = [*_STRATEGIES, *sorted(installed()), *also]
    near = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise AssayPilotError(
        f"there is no strategy {name!r}",
        option="--strategy",
        mend=f"{meant}Choose auto, proven or one of: {', '.join(names)}. Or install the package that provides it.",
    )


def propose(
    goal: str, *, values: int = 0, parameters: Iterable[str] = (), kind: Kind = "value"
) -> tuple[Strategy, str]:
    """Return the strategy that ``auto`` takes for a goal, and the reason, to be read after "because".

    It is ``adaptive``, which takes a fraction of the measurements of the others at the same confidence. It does so with
    small rounds (a phase has as many as every effect needs), and within a budget (what is decided by then holds). It is
    not taken for a table of very many ``values`` (compounds times endpoints), because its plans take long there. Nor is
    it taken when ``parameters`` are given that it does not have, or where one endpoint is of another ``kind``.
    """
    if kind != "value" and goal == "epsilon-best":
        return _for_goal("linfact-glm", goal), f"it decides on {'yes and no' if kind == 'yes-no' else 'counts'}"
    if goal not in PROVEN_GOALS:
        raise AssayPilotError(
            f"no proven strategy answers the goal {goal!r}", option="--goal", mend="Choose the strategy auto."
        )
    phased = _for_goal(_IN_PHASES[goal], goal)
    given = set(parameters)
    if values > _LARGE:
        return phased, f"adaptive would need fewer measurements, but up to minutes to plan a round of {values:,} values"
    if given and given <= {parameter.name for parameter in phased.info.parameters}:
        return phased, f"it has {', '.join(sorted(given))}"
    return _for_goal("adaptive", goal), "it needs the fewest measurements of those with a guarantee"


def choose(
    name: str,
    goal: str,
    *,
    values: int = 0,
    parameters: Iterable[str] = (),
    kind: Kind = "value",
) -> tuple[Strategy, str]:
    """Return the strategy of a campaign for a goal and one sentence why.

    ``auto`` takes ``gaussian-process`` unless parameters of another are given; ``proven`` takes the proven strategy
    that fits, see ``propose``.

    ``kind``: of the one endpoint that the goal is about.
    """
    if name == "auto":
        strategy = _for_goal(SERIES, goal)
        own = {parameter.name for parameter in strategy.info.parameters}
        if set(parameters) <= own:
            why = "real series are seldom additive"
            return strategy, f"{strategy.info.name}, because {why}: {strategy.info.guarantee}"
    if name in ("auto", "proven"):
        strategy, why = propose(goal, values=values, parameters=parameters, kind=kind)
        return strategy, f"{strategy.info.name}, because {why}: {strategy.info.guarantee}"
    strategy = get(name)
    if goal not in strategy.info.goals:
        raise AssayPilotError(
            f"{name} does not answer the goal {goal!r}",
            option="--strategy",
            mend=f"It answers: {', '.join(strategy.info.goals)}.",
        )
    strategy = _for_goal(name, goal)
    return strategy, f"{name}, as chosen: {strategy.info.guarantee}"


def _for_goal(name: str, goal: str) -> Strategy:
    """Return the strategy, or its part that answers the goal, so that what it promises is about this goal."""
    return part_for(_kind(name)(), goal)


def part_for(strategy: Strategy, goal: str) -> Strategy:
    """Return the part of a strategy that answers a goal; the strategy itself where it is not divided by goals."""
    return strategy.for_goal(goal) if isinstance(strategy, Divided) else strategy


def states_errors(name: str) -> bool:
    """Return whether the strategy that ``choose`` takes by a name states expected errors instead of proving."""
    return name == "auto" or (name != "proven" and isinstance(get(name), Calibrated))


def check_parameters(strategy: Strategy, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the strategy's parameters with defaults filled in; AssayPilotError for an unknown name."""
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
    """Return the parameters with the link (or model) that a kind of values needs, where the strategy has one."""
    wanted = _LINKED.get(kind, {})
    lacking = {knob.name: value for knob in info.parameters if (value := wanted.get(knob.name)) is not None}
    if any(knob.name == "bound" and knob.default is not None for knob in info.parameters):
        lacking.pop("bound", None)
    return {**lacking, **given}
