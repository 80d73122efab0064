"""The combinations of substituents that may be best, out of too many to list.

A draw of the model is a table of effects per site and pair of sites, so a beam search finds its best combinations
site by site, and none of the others is evaluated.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...arrays import Floats
from .series import SeriesPosterior

_DRAWS = 48
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
    drawn = [one.effects(_DRAWS, rng) for one in posteriors]
    found = []
    for draw in range(_DRAWS):
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
