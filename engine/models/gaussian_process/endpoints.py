"""The series model of several endpoints: what is known of one informs the others.

Endpoints of the same compounds often go together, such as potency in two assays. Each is fitted with the
expected values of endpoints that have more measured compounds. These are further effects, whose slopes are learned
with the rest (autoregressive co-kriging, Kennedy and O'Hagan 2000). So a cheap or older assay informs an expensive one,
and joint draws keep what both have in common. A compound's own values of an endpoint count fully.

Out of too many combinations of substituents to list, those that may be best are found by draws: a draw of the model is
a table of effects per site and pair of sites, so a beam search finds its best combinations site by site, and none of
the others is evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats, Ints
from .measured import Measured
from .series import SeriesPosterior

_FEWEST = 12
"""Compounds measured of an endpoint below which it informs no other."""
_KNOWN = 0.2
"""Share of an endpoint's variance that has to be known before it informs another: else the slope on it may be anything,
and draws of it move the other at random."""
_DRAWS, _SOME = 32, 2_000
"""Draws, and compounds, by which that is estimated."""

Fit = Callable[[int, Sequence[Floats]], SeriesPosterior]
"""How an endpoint is fitted: its place, and what is expected of others (see ``fit_series``)."""


@dataclass(frozen=True, slots=True)
class _Unit:
    """Mean of what is expected of an endpoint over all compounds, and the SD its values have there."""

    mean: float
    sd: float

    def standard(self, values: Floats) -> Floats:
        """Return values in these SDs from the mean."""
        return (values - self.mean) / self.sd


class Endpoints:
    """The series model of several endpoints, ``models`` in the order they were measured in."""

    def __init__(
        self,
        models: Sequence[SeriesPosterior],
        informed_by: Sequence[tuple[int, ...]],
        units: dict[int, _Unit],
        n_compounds: int,
    ) -> None:
        self.models = tuple(models)
        self._informed_by, self._units = tuple(informed_by), units
        self._every = np.arange(n_compounds)
        self._order = sorted(range(len(models)), key=lambda place: len(self._informed_by[place]))

    def draw(self, arms: Ints, n_draws: int, rng: np.random.Generator) -> Floats:
        """Draw the values of compounds jointly, ``(n_endpoints, n_draws, len(arms))``."""
        drawn = np.empty((len(self.models), n_draws, len(arms)))
        deviations: dict[int, Floats] = {}
        for place in self._order:
            model = self.models[place]
            # A model's draws come sorted by its scales; those of two endpoints meet in any order.
            order = np.arange(n_draws) if not deviations else rng.permutation(n_draws)
            far = [deviations[other][order] for other in self._informed_by[place]]
            drawn[place, order] = model.draw(arms, n_draws, rng, far)
            if place in self._units:
                unit = self._units[place]
                deviations[place] = unit.standard(drawn[place]) - unit.standard(model.middle(arms))
        return drawn

    def middle(self, arms: Ints) -> Floats:
        """Return the posterior medians of compounds at the likeliest scales, ``(n_endpoints, len(arms))``."""
        return np.stack([one.middle(arms) for one in self.models])

    def given(self, measured: Sequence[Measured]) -> Endpoints:
        """Return the model after other measurements, scales and variances taken as known."""
        found: dict[int, SeriesPosterior] = {}
        expected: dict[int, Floats] = {}
        for place in self._order:
            others = [expected[other] for other in self._informed_by[place]]
            found[place] = self.models[place].given(measured[place], others)
            if place in self._units:
                expected[place] = self._units[place].standard(found[place].middle(self._every))
        models = [found[place] for place in range(len(found))]
        return Endpoints(models, self._informed_by, self._units, len(self._every))


def fit_endpoints(fit: Fit, measured: Sequence[Measured], n_compounds: int) -> Endpoints:
    """Fit the series model of each endpoint, those with the most compounds measured first."""
    n_measured = [len(one.compounds(n_compounds)) for one in measured]
    order = sorted(range(len(measured)), key=lambda place: -n_measured[place])
    found: dict[int, SeriesPosterior] = {}
    informed_by: dict[int, tuple[int, ...]] = {}
    units: dict[int, _Unit] = {}
    expected: dict[int, Floats] = {}
    for place in order:
        informed_by[place] = tuple(expected)
        found[place] = fit(place, list(expected.values()))
        if n_measured[place] >= _FEWEST and place != order[-1]:
            values = found[place].middle(np.arange(n_compounds))
            unit = _informing(found[place], values)
            if unit is not None:
                units[place], expected[place] = unit, unit.standard(values)
    places = range(len(measured))
    return Endpoints([found[one] for one in places], [informed_by[one] for one in places], units, n_compounds)


def _informing(model: SeriesPosterior, expected: Floats) -> _Unit | None:
    """Return the unit of an endpoint that informs others; None where next to nothing is known of its differences."""
    some = np.unique(np.linspace(0, len(expected) - 1, min(_SOME, len(expected))).astype(np.intp))
    spread = float(model.draw(some, _DRAWS, np.random.default_rng(0)).var(axis=0).mean())
    known = float(expected.var())
    total = known + spread
    if not known > max(_KNOWN * total, (1e-9 * float(np.abs(expected).max())) ** 2):
        return None
    return _Unit(float(expected.mean()), math.sqrt(total))


_SEARCHED = 48
"""Draws of the model that are searched."""
_BEAM = 192
"""Partial combinations kept at each site, and combinations found in a draw."""


def best_combinations(
    posteriors: Sequence[SeriesPosterior], sizes: Sequence[int], rng: np.random.Generator
) -> NDArray[np.int32]:
    """Return the combinations that are best in joint draws, ``(m, n_sites)``, each once.

    ``posteriors``: one per endpoint, larger is better. Of several endpoints every draw weighs them at random, so
    that combinations from all along a front are found.
    """
    drawn = [one.effects(_SEARCHED, rng) for one in posteriors]
    found = []
    for draw in range(_SEARCHED):
        weights = rng.dirichlet(np.ones(len(drawn)))
        tables: dict[tuple[int, ...], Floats] = {}
        for weight, effects in zip(weights, drawn, strict=True):
            own = effects[draw]
            unit = np.sqrt(sum(float(table.var()) for table in own.values())) or 1.0
            for sites, table in own.items():
                # Beyond the sizes are the substituents of controls.
                known = table[tuple(slice(sizes[site]) for site in sites)]
                tables[sites] = tables.get(sites, 0.0) + weight / unit * known
        found.append(_best(tables, sizes))
    return np.unique(np.concatenate(found), axis=0)


def _best(tables: dict[tuple[int, ...], Floats], sizes: Sequence[int]) -> NDArray[np.int32]:
    """Return the best combinations by tables of effects: ``(size,)`` of a site, ``(size, size)`` of a pair."""
    codes = np.zeros((1, len(sizes)), dtype=np.int32)
    total = np.zeros(1)
    # What each remaining site adds to the combinations so far, ``(n, size)``: known of the sites that were chosen.
    open_sites = {site: np.array(tables.get((site,), np.zeros(size)))[None, :] for site, size in enumerate(sizes)}
    while open_sites:
        site = max(open_sites, key=lambda one: float(np.ptp(open_sites[one], axis=1).mean()))
        gain = open_sites.pop(site)
        value = total[:, None] + gain
        # As if each of the others took what is best for it, given those chosen so far.
        ahead = sum((other.max(axis=1) for other in open_sites.values()), np.zeros(len(total)))
        promise = (value + ahead[:, None]).ravel()
        kept = np.argsort(-promise, kind="stable")[:_BEAM]
        rows, choice = np.divmod(kept, sizes[site])
        total, codes = value.ravel()[kept], codes[rows]
        codes[:, site] = choice
        for other, added in open_sites.items():
            pair = (min(site, other), max(site, other))
            more = tables.get(pair)
            if more is None:
                open_sites[other] = added[rows]
            else:
                open_sites[other] = added[rows] + (more[choice] if site < other else more.T[choice])
    return codes
