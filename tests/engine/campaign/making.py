"""Small campaigns for the tests: a table, a truth, an assay, and what it means for two states to be equal."""

import dataclasses
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.issued_rounds import Round
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.campaign.state import Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result

EFFECTS = ((0.0, 0.9, -0.4), (0.0, 0.5, -0.7))
"""Of the substituents of the small table; its best compound is ``R1=B|R2=B``."""

SETTINGS = Settings("pIC50", epsilon=0.5, slack=0.5, per_round=8, max_replicates=2, seed=3)
ENDPOINTS = (Endpoint("pIC50", noise_sd=0.2),)


def small_library(sizes: tuple[int, ...] = (3, 3), measurable: Iterable[bool] | None = None) -> Library:
    """All combinations of the sites, substituents named A, B, C, ..."""
    sites = [Site(f"R{k + 1}", tuple("ABCDEFGH"[:n])) for k, n in enumerate(sizes)]
    library = Library.product(sites)
    if measurable is None:
        return library
    return Library(library.sites, library.codes, library.ids, None, np.array(list(measurable)))


def truth(library: Library) -> np.ndarray:
    """The mean of every compound: 6 plus the effects of its substituents."""
    return 6.0 + sum(np.array(EFFECTS[k])[library.codes[:, k]] for k in range(len(library.sites)))


def make(path: Path, **changes: Any) -> Campaign:
    """A campaign on the small table; ``changes`` are settings, or library, endpoints, history."""
    own = {key: changes.pop(key) for key in ("library", "endpoints", "history") if key in changes}
    arguments = {"library": small_library(), "endpoints": ENDPOINTS} | own
    return Campaign.create(path, settings=dataclasses.replace(SETTINGS, **changes), **arguments)


def answers(campaign: Campaign, issued: Round | None = None, *, noise: float = 0.2, extra: int = 0) -> list[Result]:
    """What an assay says for a round (the open one): every measurement asked for, in the entry unit."""
    status = campaign.status()
    issued = issued or status.open_round
    endpoint = status.endpoints[status.objective]
    means = endpoint.sign * truth(status.library)
    rng = np.random.default_rng((11, issued.number))
    results = []
    for item in issued.items:
        for _ in range(item.replicates + extra):
            value = float(means[item.compound] + noise * rng.standard_normal())
            results.append(Result(status.library.ids[item.compound], endpoint.from_model(value), endpoint.name))
    return results


def decide_phase(campaign: Campaign) -> None:
    """Rounds until one more phase is decided."""
    before = campaign.status().phases_decided
    while campaign.status().phases_decided == before:
        assert campaign.plan() is not None
        campaign.record(answers(campaign), close=True)


def finish(campaign: Campaign) -> Status:
    """Rounds until nothing more is asked."""
    while campaign.plan() is not None:
        campaign.record(answers(campaign), close=True)
    return campaign.status()


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Where two values differ, down to every array and text; equal when there is nothing."""
    if one is other:
        return []
    if type(one) is not type(other):
        return [f"{where}: {type(one).__name__} and {type(other).__name__}"]
    if isinstance(one, str | int | float):  # most of what there is
        return [] if one == other or (one != one and other != other) else [f"{where}: {one!r} and {other!r}"]
    if isinstance(one, np.ndarray):
        same = one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")
        return [] if same else [f"{where}: {one} and {other}"]
    if isinstance(one, Library):
        return [] if one == other else [f"{where}: another library"]
    if dataclasses.is_dataclass(one):
        names = [field.name for field in dataclasses.fields(one)]
        return [d for n in names for d in differences(getattr(one, n), getattr(other, n), f"{where}.{n}")]
    if isinstance(one, Mapping):
        if list(one) != list(other):
            return [f"{where}: keys {list(one)} and {list(other)}"]
        return [d for key in one for d in differences(one[key], other[key], f"{where}[{key!r}]")]
    if isinstance(one, (list, tuple)):
        if len(one) != len(other):
            return [f"{where}: {len(one)} and {len(other)} entries"]
        return [d for k, (a, b) in enumerate(zip(one, other, strict=True)) for d in differences(a, b, f"{where}[{k}]")]
    return [] if one == other else [f"{where}: {one!r} and {other!r}"]


def replays(campaign: Campaign) -> Status:
    """The campaign's status, after a look that the file, opened again, gives the same."""
    with Campaign.open(campaign.path, read_only=True) as other:
        assert differences(campaign.status(), other.status()) == []
        assert (other.undo_label, other.redo_label) == (campaign.undo_label, campaign.redo_label)
        assert len(other.history()) == campaign.events
    return campaign.status()
