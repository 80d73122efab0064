"""Instances made of the shipped tables: practice-960 and COV-BOOST."""

from __future__ import annotations

import csv
from functools import partial

import numpy as np

from assaypilot import datasets

from ...domain.features import SiteFeatures
from ...domain.goals import AllEpsilonBest, Goal, ParetoSet
from ...domain.library import Library
from ...models.ols import least_squares
from .instance import Drawn, Instance, Setting, choice, number


def practice(name: str, epsilon: Setting, slack: Setting, sd: Setting) -> Instance:
    """Return the practice table: 960 compounds with synthetic effects, whose truth is shipped; SD 0.2, within 0.5."""
    goal = AllEpsilonBest(number("epsilon", epsilon), number("slack", slack, -1e-300))
    return Instance(
        name=name,
        paper="shipped table (SYNTHETIC), the shape of LinFACT, section 7.2",
        title=f"practice table, within {goal.epsilon:g} of the best",
        draw=partial(_practice, goal, number("sd", sd)),
        random=False,
    )


def _practice(goal: AllEpsilonBest, sd: float, _: np.random.Generator) -> Drawn:
    library, _ids = _table("practice-960", "ID")
    known = dict(zip(*datasets.truth("practice-960"), strict=True))
    truth = np.array([known[name] for name in library.ids])
    return _drawn(library, truth[None], goal, (sd,), {"m": int(goal.members(truth).sum())})


def covboost(name: str, truth: Setting, sd: Setting) -> Instance:
    """COV-BOOST: 2 primes x 10 third doses, three immune responses (logarithms), all to be large; the Pareto set.

    ``truth`` fit: the additive fit of the published means; values: the means themselves, which are not additive. The
    SD between measurements is not part of the table: 1 unless given. delta 0.1.
    """
    fitted = choice("truth", truth, ("fit", "values")) == "fit"
    void = () if fitted else ("the true means are the table's own, so additivity does not hold and no error rate does",)
    return Instance(
        name=name,
        paper="Munro et al. 2021, shipped table; for GEGE",
        title="COV-BOOST: 20 vaccinations, 3 responses",
        draw=partial(_covboost, fitted, number("sd", sd)),
        random=False,
        delta=0.1,
        notes=void,
        void=void,
    )


def _covboost(fitted: bool, sd: float, _: np.random.Generator) -> Drawn:
    library, columns = _table("covboost", None)
    means = np.array([[float(text) for text in columns[name]] for name in datasets.load("covboost").endpoints])
    if fitted:
        everything, once = np.arange(len(library)), np.ones(len(library))
        features = SiteFeatures.of(library)
        means = np.array([least_squares(features, everything, once, row).means() for row in means])
    return _drawn(library, means, ParetoSet((0.0,) * len(means)), (sd,) * len(means), {})


def _drawn(library: Library, truth: np.ndarray, goal: Goal, noise: tuple[float, ...], hints: dict[str, int]) -> Drawn:
    everything = np.ones(len(library), dtype=bool)
    return Drawn(SiteFeatures.of(library), truth, truth, everything, everything, goal, noise, hints=hints)


def _table(name: str, id_column: str | None) -> tuple[Library, dict[str, list[str]]]:
    """Return the library of a shipped table and its columns as text."""
    entry = datasets.load(name)
    with entry.path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    ids = None if id_column is None else [row[id_column] for row in rows]
    library = Library.listed(entry.sites, [tuple(row[site] for site in entry.sites) for row in rows], ids=ids)
    return library, {column: [row[column] for row in rows] for column in rows[0]}
