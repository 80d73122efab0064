"""What a simulation is played on: an instance, and one draw of it."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from assaypilot import datasets

from ...arrays import Flags, Floats
from ...domain.features import DenseFeatures, Features, SiteFeatures, span_rank
from ...domain.goals import Goal
from ...domain.library import Library
from ...errors import AssayPilotError

Seed = int | np.random.SeedSequence
Setting = int | float | str

Kind = Literal["gaussian", "bernoulli", "poisson"]
"""How a measurement scatters around its mean."""

_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Drawn:
    """One draw of an instance: the arms, their true means, and the question."""

    features: Features
    truth: Floats
    """``(n_endpoints, n_arms)``, larger is better, on the scale of the goal."""
    expected: Floats
    """``(n_endpoints, n_arms)`` the mean of one measurement; the truth itself but behind a link."""
    measurable: Flags
    """``(n_arms,)``: X."""
    wanted: Flags
    """``(n_arms,)``: Z."""
    goal: Goal
    noise: tuple[float, ...]
    """SD of one measurement, per endpoint; behind a link the largest there can be."""
    kind: Kind = "gaussian"
    hints: Mapping[str, Any] = field(default_factory=dict)
    """Known values for comparison methods, by the name of their parameter: ``m``, how many compounds to return."""

    similarity: tuple[Floats | None, ...] = ()
    """Per site the similarity of its substituents; see ``Problem``."""
    ends: tuple[tuple[float, float] | None, ...] = ()
    """Per endpoint what no mean can go far beyond; see ``Problem``."""

    @property
    def n_arms(self) -> int:
        """How many arms."""
        return self.features.n_rows


@dataclass(frozen=True, slots=True)
class Instance:
    """A problem by name whose truth is known, or drawn again in every run."""

    name: str
    paper: str
    """Where it comes from."""
    title: str
    draw: Callable[[np.random.Generator], Drawn]
    """One draw; a module's function, so that other processes can be sent it."""
    random: bool
    """Whether every run has its own draw."""
    delta: float = 0.05
    budget: int | None = None
    """Measurements in the whole campaign when the paper fixes them."""
    notes: tuple[str, ...] = ()
    """What a reader of the figures must know."""
    void: tuple[str, ...] = ()
    """Those of the notes for which no strategy promises anything."""

    @property
    def compounds(self) -> int:
        """Arms; of the first draw where their number is drawn."""
        return self.make(0).n_arms

    @property
    def dimension(self) -> int:
        """Number of effects that the arms determine; of the first draw likewise."""
        return span_rank(self.make(0).features)

    @property
    def goal(self) -> str:
        """The name of the goal."""
        return self.make(0).goal.name

    def make(self, seed: Seed) -> Drawn:
        """Return the draw of that seed; always the same one when nothing is random."""
        return self.draw(np.random.default_rng(seed))


def always(drawn: Drawn, _: np.random.Generator) -> Drawn:
    """Return the draw of an instance in which nothing is drawn: ``partial(always, drawn)``."""
    return drawn


def dense(
    rows: Floats,
    truth: Floats,
    goal: Goal,
    *,
    sd: float | tuple[float, ...] = 1.0,
    measurable: Flags | None = None,
    wanted: Flags | None = None,
    expected: Floats | None = None,
    kind: Kind = "gaussian",
    hints: Mapping[str, Any] | None = None,
) -> Drawn:
    """Return a draw with numeric features ``(n_arms, d)`` and a truth ``(n_arms,)`` or ``(n_endpoints, n_arms)``."""
    means = np.atleast_2d(np.asarray(truth, dtype=float))
    everything = np.ones(len(rows), dtype=bool)
    return Drawn(
        features=DenseFeatures(rows),
        truth=means,
        expected=means if expected is None else np.atleast_2d(expected),
        measurable=everything if measurable is None else measurable,
        wanted=everything if wanted is None else wanted,
        goal=goal,
        noise=(sd,) * len(means) if isinstance(sd, int | float) else sd,
        kind=kind,
        hints={} if hints is None else hints,
    )


def of_sites(
    features: SiteFeatures, truth: Floats, goal: Goal, noise: tuple[float, ...], hints: Mapping[str, Any] | None = None
) -> Drawn:
    """Return a draw of substituents of which all can be measured and are wanted, with a truth that is additive."""
    everything = np.ones(features.n_rows, dtype=bool)
    return Drawn(features, truth, truth, everything, everything, goal, noise, hints=hints or {})


def shipped(name: str, id_column: str | None = None) -> tuple[Library, dict[str, list[str]]]:
    """Return the library of a shipped table and its columns as text."""
    entry = datasets.load(name)
    with entry.path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    ids = None if id_column is None else [row[id_column] for row in rows]
    library = Library.listed(entry.sites, [tuple(row[site] for site in entry.sites) for row in rows], ids=ids)
    return library, {column: [row[column] for row in rows] for column in rows[0]}


def redraw(
    what: str, draw: Callable[[], tuple[Floats, Floats]], accept: Callable[[Floats], bool]
) -> tuple[Floats, Floats]:
    """Return the rows and means of the first draw whose means are accepted; AssayPilotError when none of many is."""
    for _ in range(_DRAWS):
        rows, means = draw()
        if accept(means):
            return rows, means
    raise AssayPilotError(f"{what}: no draw fits these settings", option="--instance", mend="Choose others.")


def whole(name: str, value: Setting, least: int, most: int | None = None) -> int:
    """Return a setting that is a whole number; AssayPilotError otherwise."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least or (most is not None and value > most):
        bounds = f"of {least} or more" if most is None else f"from {least} to {most}"
        raise AssayPilotError(f"{name} must be a whole number {bounds}, got {value!r}", option="--instance")
    return value


def number(name: str, value: Setting, above: float = 0.0) -> float:
    """Return a setting that is a number; AssayPilotError otherwise."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not (math.isfinite(value) and value > above):
        raise AssayPilotError(f"{name} must be a number above {above:g}, got {value!r}", option="--instance")
    return float(value)


def choice(name: str, value: Setting, words: tuple[str, ...]) -> str:
    """Return a setting that is one of some words; AssayPilotError otherwise."""
    if value not in words:
        raise AssayPilotError(f"{name} must be {' or '.join(words)}, got {value!r}", option="--instance")
    return str(value)
