"""Strategies to compare with, which no campaign offers, by name, and what several of them share."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, cast

from ...strategies import registry
from ...strategies.phased import Phased, one_of, over_budget, settled, whole
from ...strategies.protocol import Parameter, Problem, State, StopReason, Strategy

AT_BUDGET = Parameter(
    "at_budget",
    "undecided",
    "undecided: what is not proven stays open; guess: the estimates decide it, without a promise",
)
BATCH = Parameter("batch", None, "measurements per phase; none: the lab's round, or 1 without a capacity")


class Baseline(Phased):
    """A strategy that ends when everything is decided or its budget is used up."""

    def check(self, problem: Problem) -> dict[str, Any]:
        """Return the parameters with their defaults.

        AssayPilotError for one of those that several have out of range.
        """
        given = self.parameters(problem)
        if "at_budget" in given:
            one_of("at_budget", given["at_budget"], ("undecided", "guess"))
        if given.get("batch") is not None:
            whole("batch", given["batch"])
        return given

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return a guess at the budget is no proof."""
        if self.parameters(problem).get("at_budget") == "guess" and problem.budget is not None:
            return ("what is not proven when the budget ends is decided by the estimates",)
        return ()

    def batch(self, problem: Problem) -> int:
        """Return the measurements per phase: as given, else the lab's round, else 1."""
        given = self.parameters(problem)["batch"]
        if given is not None:
            return int(given)
        return problem.capacity.per_round if problem.capacity and problem.capacity.per_round < 10**6 else 1

    def stop(self, state: State) -> tuple[StopReason, ...]:
        """Return whether everything is decided, nothing is left to measure, or the budget is used up."""
        return settled(state) or over_budget(state, 1)


class FixedBudget(Baseline):
    """A strategy that plans with a fixed number of measurements."""

    def void(self, problem: Problem) -> tuple[str, ...]:
        """Return that a fixed budget promises no error probability."""
        return ("a fixed budget promises no error probability: the answer is the best guess it allows",)


_BASELINES = {
    "uniform": "static.Uniform",
    "static-g": "static.StaticG",
    "static-xy": "static.StaticXY",
    "oracle": "oracle.OracleRun",
    "lingape": "lingape.LinGapE",
    "m-lingape": "lingape.MLinGapE",
    "lingifa": "lingape.LinGIFA",
    "ege-sh": "ege.EgeSh",
    "ege-sr": "ege.EgeSr",
    "ape": "ape.Ape",
    "od-linbai": "elimination.OdLinBai",
    "dkm": "lazy_tts.Dkm",
    "xy-adaptive": "static.XYAdaptive",
    "alba": "elimination.Alba",
    "peace": "elimination.Peace",
    "bayesgap": "bayesgap.BayesGap",
    "kgcb": "bayesgap.Kgcb",
    "lazy-tts": "lazy_tts.LazyTts",
}


@cache
def _kind(name: str) -> type[Strategy]:
    module, _, kind = _BASELINES[name].rpartition(".")
    return cast(type[Strategy], getattr(import_module(f"{__package__}.{module}"), kind))


def baselines() -> tuple[type[Strategy], ...]:
    """Return what is for comparison only."""
    return tuple(map(_kind, _BASELINES))


def get(name: str) -> Strategy:
    """Return the strategy or baseline of that name; AssayPilotError names the ones there are."""
    return _kind(name)() if name in _BASELINES else registry.get(name, also=tuple(_BASELINES))
