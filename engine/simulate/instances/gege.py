"""GEGE's instances: the Pareto set. Section 5.1, appendix I; and the shipped table COV-BOOST."""

from __future__ import annotations

import csv
from functools import partial
from pathlib import Path

import numpy as np

from assaypilot import datasets

from ...arrays import Floats
from ...domain.features import SiteFeatures
from ...domain.goals import ParetoSet
from ...errors import AssayPilotError
from ...models.ols import least_squares
from .instance import Drawn, Instance, Setting, always, choice, dense, number, of_sites, redraw, shipped, whole

_FRONT = np.array([[-0.4, -1.0], [-0.6, -0.8], [-0.8, -0.6], [-1.0, -0.4]])
_BEHIND = np.array([0.15, 0.2, 0.25, 0.3])
_MARGIN = 0.3
"""The largest gap of the fixed arms; those that are added are dominated by more."""


def gaussian(name: str, arms: Setting, h: Setting, d: Setting) -> Instance:
    """[K, h, d] of Table 2 at delta 0.1: features are directions of Gaussian vectors, Theta is standard normal, SD 1.

    The paper times these sizes and does not report how the instances were made.
    """
    count, rank, endpoints = whole("arms", arms, 2), whole("h", h, 1), whole("d", d, 2)
    return Instance(
        name=name,
        paper="GEGE, Table 2",
        title=f"random: K = {count}, h = {rank}, d = {endpoints}",
        draw=partial(_gaussian, count, rank, endpoints),
        random=True,
        delta=0.1,
    )


def _gaussian(n: int, h: int, d: int, rng: np.random.Generator) -> Drawn:
    rows = rng.standard_normal((n, h))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return dense(rows, (rows @ rng.standard_normal((h, d))).T, ParetoSet((0.0,) * d))


def growing(name: str, arms: Setting, length: Setting) -> Instance:
    """Return the synthetic instance of section 5.1: h = 8, d = 2, delta 0.01; H1 and H2 are the same whatever K is.

    Arms 1 to 8 and Theta are fixed (the paper does not print them): e_1..e_8 with four arms on a front, 0.2 apart, and
    four behind it by 0.15 to 0.3. The others are drawn from U([0, 1]^h), normalised, and kept when they are dominated
    by more than any gap of the first eight, so that these keep the lowest gaps (of a million draws all were). SD 1.

    ``length`` of the first eight; their means stay. At 1 they are the G-optimal design whatever else there is, so that
    K changes nothing at all; shorter ones are informed by the others, and what a run takes depends on these.
    """
    count, size = whole("arms", arms, 8), number("length", length)
    return Instance(
        name=name,
        paper="GEGE, section 5.1",
        title=f"synthetic: K = {count}, h = 8, d = 2, complexity independent of K",
        draw=partial(_growing, count, size),
        random=count > 8,
        delta=0.01,
    )


def _growing(n: int, length: float, rng: np.random.Generator) -> Drawn:
    means = np.vstack([_FRONT, _FRONT - _BEHIND[:, None]])
    rows, theta = length * np.eye(8), means / length

    def draw() -> tuple[Floats, Floats]:
        row = rng.uniform(size=(1, 8))
        row /= np.linalg.norm(row)
        return row, row @ theta

    def far_behind(mean: Floats) -> bool:
        return bool((_FRONT - mean).min(axis=1).max() > _MARGIN)

    added = [redraw("the synthetic Pareto instance", draw, far_behind) for _ in range(n - 8)]
    if added:
        rows = np.vstack([rows, *(row for row, _ in added)])
        means = np.vstack([means, *(mean for _, mean in added)])
    return dense(rows, means.T, ParetoSet((0.0, 0.0)))


def measured_table(
    name: str,
    title: str,
    file: Setting,
    directions: Setting,
    truth: Setting,
    delta: Setting,
) -> Instance:
    """Return a table of numeric features whose last columns are endpoints: NoC (section 5.1), energy efficiency (I.2).

    ``directions`` has, for each endpoint, whether it should be large or small, for example ``min/max``. Features are
    normalised: centred, divided by their SD; endpoints are centred, which changes no Pareto set. ``truth`` fit: means
    are the least-squares fit, as in the paper where stated; values: the table's own, so that linearity does not
    hold. Rows with equal features are one arm, of their mean. SD 1 (the paper does not print it).
    """
    words = [choice("directions", word, ("min", "max")) for word in str(directions).split("/")]
    fitted = choice("truth", truth, ("fit", "values")) == "fit"
    if not str(file):
        raise AssayPilotError(
            f"{name} needs its table", option="--instance", mend=f"Name the file: --instance {name}:file=PATH."
        )
    rows, means = _read(Path(str(file)), len(words))
    means = means * np.where(np.array(words) == "min", -1.0, 1.0)
    if fitted:
        means = rows @ np.linalg.lstsq(rows, means, rcond=None)[0]
    drawn = dense(rows, means.T, ParetoSet((0.0,) * len(words)))
    notes = () if fitted else ("the true means are the table's own, so linearity does not hold and no error rate does",)
    return Instance(
        name=name,
        paper="GEGE, section 5.1 and appendix I.2",
        title=title,
        draw=partial(always, drawn),
        random=False,
        delta=number("delta", delta),
        notes=notes,
        void=notes,
    )


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
    library, columns = shipped("covboost")
    means = np.array([[float(text) for text in columns[name]] for name in datasets.load("covboost").endpoints])
    features = SiteFeatures.of(library)
    if fitted:
        everything, once = np.arange(len(library)), np.ones(len(library))
        means = np.array([least_squares(features, everything, once, row).means() for row in means])
    return of_sites(features, means, ParetoSet((0.0,) * len(means)), (sd,) * len(means))


def _read(path: Path, endpoints: int) -> tuple[Floats, Floats]:
    """Return normalised features ``(n, h)`` and centred values ``(n, endpoints)`` of the distinct rows of a file."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError):
        raise AssayPilotError("this table cannot be read", file=str(path), mend="Name a csv file.") from None
    separator = ";" if text.count(";") > text.count(",") else ","
    lines = [line for line in csv.reader(text.splitlines(), delimiter=separator) if any(cell.strip() for cell in line)]
    values = []
    for place, line in enumerate(lines[1:], 2):
        try:
            values.append([float(cell) for cell in line])
        except ValueError:
            raise AssayPilotError("not every cell is a number", file=str(path), row=place) from None
    if len(values) < 2 or len({len(line) for line in values}) > 1 or len(values[0]) <= endpoints:
        raise AssayPilotError(
            f"this is no table of numeric features and {endpoints} endpoints in its last columns",
            file=str(path),
            mend="Name a csv file with a header.",
        )
    table = np.array(values)
    if not np.isfinite(table).all():
        raise AssayPilotError("not every cell is a finite number", file=str(path))
    features, inverse, times = np.unique(table[:, :-endpoints], axis=0, return_inverse=True, return_counts=True)
    means = np.zeros((len(features), endpoints))
    np.add.at(means, inverse.ravel(), table[:, -endpoints:])
    means /= times[:, None]
    spread = features.std(axis=0)
    features = ((features - features.mean(axis=0)) / np.where(spread > 0, spread, 1.0))[:, spread > 0]
    return features, means - means.mean(axis=0)
