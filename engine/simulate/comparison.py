"""All that a simulation can run, by name: strategies, and baselines to compare them with."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import cast

from ..strategies import registry
from ..strategies.protocol import Strategy

_BASELINES = {
    "uniform": "baselines.static.Uniform",
    "static-g": "baselines.static.StaticG",
    "static-xy": "baselines.static.StaticXY",
    "oracle": "baselines.oracle.OracleRun",
    "lingape": "baselines.lingape.LinGapE",
    "m-lingape": "baselines.lingape.MLinGapE",
    "lingifa": "baselines.lingape.LinGIFA",
    "ege-sh": "baselines.ege.EgeSh",
    "ege-sr": "baselines.ege.EgeSr",
    "ape": "baselines.ape.Ape",
    "od-linbai": "baselines.elimination.OdLinBai",
    "dkm": "baselines.variants.Dkm",
    "xy-adaptive": "baselines.variants.XYAdaptive",
    "alba": "baselines.elimination.Alba",
    "peace": "baselines.peace.Peace",
    "bayesgap": "baselines.bayesgap.BayesGap",
    "kgcb": "baselines.bayesgap.Kgcb",
    "lazy-tts": "baselines.lazy_tts.LazyTts",
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
