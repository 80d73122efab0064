"""A word of caution where replicates of some compounds scatter far more than of others, and one noise is assumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.campaign.noise import known as assay_noise
from assaypilot.engine.campaign.plates import blocking
from assaypilot.engine.measurements import Measurement, pure_error
from assaypilot.engine.models.uneven import Louder, louder

if TYPE_CHECKING:
    from assaypilot.engine.campaign.replay import Ledger

__all__ = ["cautions"]


_MANY = 60
"""Substituents of a site beyond which it is not asked: each has too few replicates."""


def cautions(ledger: Ledger) -> tuple[str, ...]:
    """One sentence for each measured endpoint of which that is so; empty for most."""
    told = (_of_endpoint(ledger, k) for k in ledger.measured if k not in ledger.coarse)
    return tuple(text for text in told if text)


def _of_endpoint(ledger: Ledger, position: int) -> str:
    """Compared are the substituents of each site, and compounds of high and of low means."""
    compounds, means, squares, freedom = _cells(ledger, position)
    if not len(compounds):
        return ""
    groups, names = [], []
    for column, site in enumerate(ledger.library.sites):
        own = ledger.library.codes[compounds, column]
        for code in np.unique(own) if len(site.substituents) <= _MANY else ():
            groups.append(own == code)
            names.append((f"with {site.substituents[code]} at {site.name}", f"{site.name}: {site.substituents[code]}"))
    middle = float(np.median(means))
    scale = ledger.endpoints[position].scale_name
    for above in (True, False):
        groups.append((means > middle) if above else (means <= middle))
        names.append((f"with {scale} {'above' if above else 'up to'} {middle:.3g}", ""))
    found = louder(squares, freedom, groups)
    return _said(ledger, position, found[0], *names[found[0].group]) if found else ""


def _cells(ledger: Ledger, position: int) -> tuple[Ints, Floats, Floats, Ints]:
    """Compound, mean, squares and degrees of freedom of all that was measured twice in a round, in that order.

    Squares are in units in which classes that were stated scatter alike.
    """
    endpoint = ledger.endpoints[position]
    own: dict[tuple[int, int, object], list[Measurement]] = {}
    for m in ledger.measurements:
        if m.endpoint == position and m.usable:
            place = None if not m.round else blocking.together(ledger, m)
            own.setdefault((m.round, m.compound, place), []).append(m)
    worth = assay_noise.worth(ledger, position)
    cells = []
    for (_, compound, _), values in own.items():
        sds = [endpoint.sd_to_model(m.entered.value, m.entered.sd) for m in values]
        n = [m.n for m in values]
        squares, freedom, _ = pure_error([0] * len(values), [m.value for m in values], n, sds)
        if freedom:
            mean = float(np.average([m.value for m in values], weights=n))
            cells.append((compound, mean, squares * worth[compound], freedom))
    told = np.array([cell[1:3] for cell in cells]).reshape(-1, 2)
    compounds, freedoms = (np.array([cell[k] for cell in cells], dtype=np.intp) for k in (0, 3))
    return compounds, told[:, 0], told[:, 1], freedoms


def _said(ledger: Ledger, position: int, one: Louder, who: str, typed: str) -> str:
    endpoint = ledger.endpoints[position]
    stated = endpoint.noise_sd or 0.0
    text = (
        f"Measurements of {endpoint.scale_name} of compounds {who} scatter {one.times:.2g} times as much as those of "
        f"the others: SD {one.sd:.2g} from {one.freedom:,} degrees of freedom, beside {one.other_sd:.2g} from "
        f"{one.other_freedom:,}"
    )
    if endpoint.noise_classes is not None and endpoint.noise_estimated:
        return f"{text}, in units in which the classes that are estimated scatter alike, and each has one noise."
    if endpoint.noise_classes is not None:
        return f"{text}, in units in which the classes that were stated scatter alike; check their SDs."
    if endpoint.noise_estimated:
        return f"{text}, and one noise is estimated for all. Say the larger SD for all: assaypilot change --sd."
    if one.sd <= stated:
        saves = f'; a new campaign with --noise-class "{typed}={one.sd:.2g}" takes fewer measurements' if typed else ""
        return f"{text}. The SD of {stated:.3g} that decisions use is no less, so they hold{saves}."
    other = f', or --noise-class "{typed}={one.sd:.2g}" in a new campaign' if typed else ""
    return (
        f"{text}, and {stated:.3g} is used for all: what is decided about them may be wrong more often than stated. "
        f"Use the larger SD: assaypilot change --sd{other}."
    )
