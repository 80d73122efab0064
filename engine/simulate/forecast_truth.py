"""What the truth may be: contributions drawn from their posterior, all results of an endpoint given.

Contributions of one site are normal around nothing with an SD of their own, which is not known either: it is drawn
along with them (Gibbs sampling), from the site's contributions so far, and from a prior: the table's usual
size times a factor of the site. Where nothing was measured, that prior is all there is. Its figures are those of seven
public tables on a logarithmic scale with 16 sites, 10 to 628 compounds each (variance components): SDs of 0.15 to 0.99,
of which the geometric mean is ``SIZE``. How they spread is taken a little wider than it is there: seven are few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular

from ..arrays import Floats, Ints
from ..campaign.candidates import pooled
from ..campaign.noise import informing
from ..campaign.replay import Ledger
from ..models.glm import curvature, fit_glm
from ..text import joined, number

SIZE = 0.45
"""SD of the contributions of a site, in log units, where nothing is known."""
SPREAD = 1.85
"""The factor up or down that the SD of a site's contributions has around it: of the table, and of the site in it."""
_OF_TABLE = 0.45
"""SD of the logarithm of a table's usual size around ``SIZE``."""
_OF_SITE = 0.42
"""SD of the logarithm of a site's size around its table's."""

_OF_EPSILON = 0.9
"""The same SD in differences that do not matter, where the scale is not logarithmic."""
_OF_NOISE = 2.25
"""The same in assay noise, where no such difference was given either."""
_ENOUGH = 5
"""Number of measured compounds from which their spread defines what is large."""
_BURN_IN = 60
_BETWEEN = 5
"""Sweeps between two draws that are used."""
_WORK = 2e9
"""Floating-point operations all sweeps may take: of tables of many substituents there are fewer."""
_GRID = np.linspace(-4.0, 4.0, 81)
"""SDs of a site that are tried, in SDs of their logarithm."""


class Source(NamedTuple):
    """What is known of one endpoint."""

    measured: Ints
    counts: Floats
    means: Floats
    """On the scale on which effects add up; that of the endpoint, not turned around."""
    noise: float
    unit: float
    """The SD of a site's contributions that is assumed before anything is known."""
    unit_text: str
    """The unit in words."""
    centre: float
    """Centre of means when nothing was measured."""


def sources(ledger: Ledger, endpoints: Sequence[int]) -> list[Source]:
    """Return the information of all results, history included, about these endpoints."""
    return [_source(ledger, endpoint) for endpoint in endpoints]


def _source(ledger: Ledger, position: int) -> Source:
    endpoint = informing(ledger)[position]
    data = pooled(ledger, position)
    measured = np.flatnonzero(data.counts > 0)
    counts, means = data.counts[measured], data.means[measured]
    noise = endpoint.noise_sd or 1.0
    link, bound = ledger.link
    if position == ledger.objective and link != "identity":
        noise = 1.0
        if len(measured):
            predictors = fit_glm(ledger.features, measured, counts, means, link, bound).predictors(measured)
            counts, means = counts * curvature(link, predictors), predictors
        return Source(measured, counts, means, noise, 2.0 * SIZE, f"{number(2.0 * SIZE)} on the {link} scale", 0.0)
    margin = endpoint.epsilon or ledger.settings.distance
    if endpoint.is_log:
        unit, unit_text = SIZE, f"{number(SIZE)} log units"
    elif margin > 0:
        unit, unit_text = _OF_EPSILON * margin, f"{number(_OF_EPSILON)} times the difference that does not matter"
    else:
        unit, unit_text = _OF_NOISE * noise, f"{number(_OF_NOISE)} times the assay noise"
    if not endpoint.is_log and len(measured) >= _ENOUGH:
        # Measured values define the scale better than assumptions.
        unit = max(float(np.std(means)) / math.sqrt(len(ledger.features.sizes)), noise / 4.0)
    edges = [edge for edge in (endpoint.lowest, endpoint.highest) if math.isfinite(edge)]
    return Source(measured, counts, means, noise, unit, unit_text, edges[0] if edges else 0.0)


def words(ledger: Ledger, known: Sequence[Source], endpoints: Sequence[int]) -> str:
    """Return one sentence: what the simulated truths are drawn from."""
    parts = []
    for source, position in zip(known, endpoints, strict=True):
        name = ledger.endpoints[position].scale_name
        if len(source.measured):
            results = "all results so far" if ledger.spent() else "the values from before the campaign"
            parts.append(f"of {name} from {results}")
        else:
            parts.append(
                f"of {name}, of which nothing was measured, with an SD of {source.unit_text} at each site, "
                f"give or take a factor of {number(SPREAD)}"
            )
    return f"Simulated with contributions {joined(parts)}, adding up as in the model."


def draw(ledger: Ledger, source: Source, n: int, rng: np.random.Generator) -> Floats:
    """Return the means of all arms, ``(n, n_arms)``, on the scale on which effects add up, drawn from what is known."""
    features = ledger.features
    columns = features.n_columns
    sites = np.repeat(np.arange(len(features.sizes)), features.sizes)
    usual = math.log(source.unit) + _OF_TABLE * rng.standard_normal((n, 1))
    sds = np.exp(usual + _OF_SITE * rng.standard_normal((n, len(features.sizes))))
    if not len(source.measured):
        effects = np.concatenate(
            [np.full((n, 1), source.centre), sds[:, sites] * rng.standard_normal((n, len(sites)))], 1
        )
        if source.centre:
            effects[:, 0] += source.unit * math.sqrt(len(features.sizes)) * rng.standard_normal(n)
        return np.array([features.times(row) for row in effects])
    precision = features.gram(source.counts, source.measured) / source.noise**2
    centre = float(source.counts @ source.means / source.counts.sum())
    moment = features.moment(source.counts * (source.means - centre), source.measured) / source.noise**2
    far = 10.0 * max(source.unit, source.noise, float(np.std(source.means)))
    most = max(int(_WORK / (columns**3 + 1e4)), n)
    between = max(min(_BETWEEN, most // (2 * n)), 1)
    burn_in = min(_BURN_IN, max(most - between * n, 5))
    sd = sds[0]
    out = np.empty((n, features.n_rows))
    for sweep in range(burn_in + between * n):
        prior = np.concatenate([[far**-2], sd[sites] ** -2.0])
        factor = cholesky(precision + np.diag(prior), lower=True)
        mean = cho_solve((factor, True), moment)
        effects = mean + solve_triangular(factor.T, rng.standard_normal(columns), lower=False)
        size = _table_size(sd, source.unit, rng)
        sd = _site_sds(effects[1:], features.sizes, size, rng)
        place, rest = divmod(sweep - burn_in, between)
        if place >= 0 and rest == 0:
            out[place] = centre + features.times(effects)
    return out


def _table_size(sds: Floats, unit: float, rng: np.random.Generator) -> float:
    """Return a table's usual size, drawn given the SDs of its sites."""
    precision, before = len(sds) / _OF_SITE**2, 1.0 / _OF_TABLE**2
    mean = (np.log(sds).sum() / _OF_SITE**2 + math.log(unit) * before) / (precision + before)
    return math.exp(mean + rng.standard_normal() / math.sqrt(precision + before))


def _site_sds(effects: Floats, sizes: Sequence[int], usual: float, rng: np.random.Generator) -> Floats:
    """Return an SD per site, drawn given the site's contributions and the table's usual size."""
    scales = usual * np.exp(_OF_SITE * _GRID)
    edges = np.cumsum([0, *sizes])
    squares = np.add.reduceat(effects**2, edges[:-1])[:, None]
    chances = -0.5 * _GRID**2 - np.array(sizes)[:, None] * np.log(scales) - squares / (2.0 * scales**2)
    chances = np.exp(chances - chances.max(axis=1, keepdims=True)).cumsum(axis=1)
    picked = (chances < rng.random((len(sizes), 1)) * chances[:, -1:]).sum(axis=1)
    found: Floats = scales[np.minimum(picked, len(_GRID) - 1)]
    return found
