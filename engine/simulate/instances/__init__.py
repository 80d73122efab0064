"""The instances of the five papers by name, each with the settings its paper uses.

``NAME`` is an instance as published; ``NAME:setting=value,...`` changes some of its settings.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...errors import AssayPilotError
from . import gege, gse, linfact, rage
from .instance import Drawn, Instance, Kind, Setting

__all__ = ["Drawn", "Instance", "Kind", "Listed", "get", "listing", "names"]


@dataclass(frozen=True, slots=True)
class Listed:
    """An available instance: how it is made, and its settings as published."""

    make: Callable[..., Instance]
    settings: Mapping[str, Setting]


def _all() -> dict[str, Listed]:
    entries: dict[str, Listed] = {}
    for number, (d, epsilon) in enumerate([(8, 0.1), (8, 0.2), (8, 0.3), (12, 0.1), (12, 0.2), (12, 0.3)], 1):
        entries[f"linfact-{number}"] = Listed(linfact.adaptive, {"d": d, "epsilon": epsilon})
    for number, d in enumerate((8, 12, 16), 7):
        entries[f"linfact-{number}"] = Listed(linfact.static, {"d": d, "gap": 1.0})
    entries["linfact-960"] = Listed(linfact.free_wilson, {"good": 20, "epsilon": 4.325, "seed": 1977})
    for arms, h, d in ((10, 2, 2), (50, 8, 2), (100, 8, 4), (200, 8, 8), (500, 8, 8)):
        entries[f"gege-{arms}-{h}-{d}"] = Listed(gege.gaussian, {"arms": arms, "h": h, "d": d})
    entries["gege-synthetic"] = Listed(gege.growing, {"arms": 50, "length": 1.0})
    entries["gege-noc"] = Listed(
        gege.measured_table,
        {"title": "NoC, 259 designs", "file": "", "directions": "min/max", "truth": "fit", "delta": 0.01},
    )
    entries["gege-energy"] = Listed(
        gege.measured_table,
        {
            "title": "energy efficiency, 768 buildings",
            "file": "",
            "directions": "min/min",
            "truth": "fit",
            "delta": 0.1,
        },
    )
    entries["covboost"] = Listed(gege.covboost, {"truth": "fit", "sd": 1.0})
    entries["rage-soare"] = Listed(rage.soare, {"d": 5, "angle": 0.01})
    entries["rage-moderate"] = Listed(rage.moderate, {"arms": 100})
    entries["rage-sphere"] = Listed(rage.sphere, {"arms": 100, "d": 9})
    entries["rage-transductive"] = Listed(rage.transductive, {"d": 20})
    entries["rage-multivariate"] = Listed(rage.multivariate, {"factors": 6})
    entries["lingame-hard"] = Listed(rage.hard, {"d": 2, "alpha": 0.1})
    entries["lingame-pi6"] = Listed(rage.hard, {"d": 2, "alpha": 0.5235987755982988})
    for d in (6, 8, 10, 12):
        entries[f"lingame-sphere-{d}"] = Listed(rage.near_sphere, {"arms": 20, "d": d})
    entries["gse-adaptive"] = Listed(gse.adaptive, {"arms": 16, "per_arm": 20})
    entries["gse-static"] = Listed(gse.static, {"gap": 1.0, "arms": 16, "per_arm": 20})
    entries["gse-sphere"] = Listed(gse.sphere, {"arms": 16, "d": 10, "variance": 10.0, "per_arm": 20})
    entries["gse-corner"] = Listed(gse.corner, {"arms": 16, "per_arm": 20})
    for d in (5, 7, 10, 12):
        entries[f"gse-logistic-{d}"] = Listed(gse.logistic, {"d": d, "arms": 8, "per_arm": 20})
    entries["gse-poisson"] = Listed(gse.counts, {"d": 5, "arms": 8, "per_arm": 20})
    entries["gse-automobile"] = Listed(gse.automobile, {"file": "", "arms": 16, "per_arm": 20})
    entries["practice-960"] = Listed(linfact.practice, {"epsilon": 0.5, "slack": 0.25, "sd": 0.2})
    return entries


_LISTED = _all()
_HIDDEN = ("title",)
"""Settings that are words for people only."""


def names() -> tuple[str, ...]:
    """Return the names of the instances."""
    return tuple(_LISTED)


def get(text: str) -> Instance:
    """Return the instance of ``NAME`` or ``NAME:setting=value,...``; AssayPilotError names those there are."""
    name, _, rest = (part.strip() for part in text.partition(":"))
    if name not in _LISTED:
        near = difflib.get_close_matches(name, _LISTED, n=1)
        raise AssayPilotError(
            f"there is no instance {name!r}; there are {', '.join(_LISTED)}",
            option="--instance",
            mend=f"Did you mean {near[0]}?" if near else "See assaypilot simulate --list.",
        )
    listed = _LISTED[name]
    settings = dict(listed.settings)
    for part in filter(None, (piece.strip() for piece in rest.split(","))):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        known = [setting for setting in settings if setting not in _HIDDEN]
        if not equals or key not in known:
            raise AssayPilotError(
                f"{name} has no setting {key!r}" if equals else f"{part!r} is not setting=value",
                option="--instance",
                mend=f"Its settings are {', '.join(known)}.",
            )
        settings[key] = _read(value)
    return listed.make(name if not rest else text.strip(), **settings)


def _read(text: str) -> Setting:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def listing() -> list[dict[str, Any]]:
    """Return one entry per instance: name, paper, compounds, dimension, and what else there is to know.

    Instances that need a file of the user are marked; their size is that of the paper's table.
    """
    files = {"gege-noc": (259, 4), "gege-energy": (768, 8), "gse-automobile": (16, 5)}
    entries: list[dict[str, Any]] = []
    for name, listed in _LISTED.items():
        settings = {key: value for key, value in listed.settings.items() if key not in _HIDDEN}
        entry: dict[str, Any] = {"name": name}
        if name in files:
            compounds, dimension = files[name]
            car = name == "gse-automobile"
            title = "the dearest of some cars" if car else listed.settings["title"]
            entry |= {"paper": "GSE" if car else "GEGE", "compounds": compounds, "dimension": dimension}
            entry |= {"title": f"{title} (needs {name}:file=PATH)", "goal": "best" if car else "pareto"}
            entry |= {"random": car, "delta": 0.05 if car else listed.settings["delta"]}
            entry |= {"budget": compounds * 20 if car else None}
        else:
            made = get(name)
            entry |= {"paper": made.paper, "compounds": made.compounds, "dimension": made.dimension}
            entry |= {"title": made.title, "goal": made.goal}
            entry |= {"random": made.random, "delta": made.delta, "budget": made.budget}
        entries.append(entry | {"settings": settings})
    return entries
