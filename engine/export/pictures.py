"""The figures of a campaign, for reports and slides: the one that shows its answer, and those that back it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Floats, Ints
from ..campaign.state import Status
from ..chemistry.calculated import properties_of
from ..chemistry.names import site_names
from ..domain.difference import pooled_of
from ..domain.features import SiteFeatures
from ..domain.measurements import Pooled, pool
from ..models.contributions import contributions
from ..models.leave_one_out import leave_one_out
from ..models.ols import Estimate, least_squares

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Shape = tuple[float, float]

_PANEL = 34
"""Substituents in one picture; a site with more of them has several."""
_MOST = 340
"""Substituents of one site that are drawn."""


def rounds_figure(status: Status, size: Shape, dpi: float = 100.0) -> Figure:
    """Return the set by round: compounds in and undecided."""
    from ..figures.rounds import counts_by_round, set_by_round

    last = max((issued.number for issued in status.rounds if issued.state == "closed"), default=0)
    inside, undecided = counts_by_round(status.candidates.status, status.candidates.decided_in_round, last)
    return set_by_round(inside, undecided, size=size, dpi=dpi)


@dataclass(frozen=True, eq=False)
class Measured:
    """What was measured of one endpoint and can be used, history included."""

    rows: Ints
    """``(m,)``, the compounds."""
    means: Floats
    """``(m,)``, model scale."""
    counts: Floats
    """``(m,)``, determinations."""
    fit: Estimate
    """The additive model, by least squares."""


def measured(status: Status, endpoint: int) -> Measured:
    """Return the means of the compounds measured for an endpoint (its position)."""
    found = means_of(status, endpoint)
    rows = np.flatnonzero(found.counts > 0)
    means, counts = found.means[rows], found.counts[rows]
    return Measured(rows, means, counts, least_squares(SiteFeatures.of(status.library), rows, counts, means))


def means_of(status: Status, endpoint: int) -> Pooled:
    """Return mean and count ``(n,)`` of each compound's usable values, model scale; earlier ones included."""

    def of_measured(position: int) -> Pooled:
        used = [m for m in status.measurements if m.endpoint == position and m.usable]
        return pool((m.compound for m in used), (m.value for m in used), (m.n for m in used), len(status.library))

    return pooled_of(status.endpoints, endpoint, of_measured, properties_of(status.library))


def contribution_figures(status: Status, endpoint: int, data: Measured, width: float) -> list[Figure]:
    """Return what each substituent adds, the best of a site first, in figures that fit a page, ``width`` inches wide.

    All of an endpoint share the ends of their axes. Sites with very many substituents leave out the middle.
    """
    from ..figures.blocks import Block, contribution_ends, forest_plot

    own = status.endpoints[endpoint]
    noise = np.nan if own.noise_sd is None else own.noise_sd  # without it no interval is known
    found = contributions(status.library, data.fit, data.rows, data.counts, noise)
    sites = [site for site in found if len(site.substituents) > 1]
    panels: list[list[tuple[Block, tuple[Floats, Floats, Floats, Ints]]]] = []
    room = 0
    for site in sites:
        ordered = sorted(site.substituents, key=lambda one: (np.isnan(one.value), -own.sign * np.nan_to_num(one.value)))
        left_out = max(len(ordered) - _MOST, 0)
        ordered = ordered[: _MOST // 2] + ordered[-_MOST // 2 :] if left_out else ordered
        labels = tuple(one.substituent for one in site.substituents)
        names = dict(zip(labels, site_names(labels), strict=True))
        for start in range(0, len(ordered), _PANEL):
            part = ordered[start : start + _PANEL]
            title = f"{site.site}, continued" if start else site.site
            block = Block(title, tuple(names[one.substituent] for one in part), 0 if start else left_out)
            value, low, high = (np.array([getattr(one, name) for one in part]) for name in ("value", "low", "high"))
            if room < len(part):
                panels.append([])
                room = _PANEL
            panels[-1].append((block, (value, low, high, np.array([one.measurements for one in part]))))
            room -= len(part) + 2  # a heading, and what is free above it
    value, low, high = (
        np.array([getattr(one, name) for site in sites for one in site.substituents])
        for name in ("value", "low", "high")
    )
    ends = contribution_ends(value, low, high)
    return [
        forest_plot(
            [block for block, _ in panel], [numbers for _, numbers in panel], ends=ends, quantity=own.scale_name,
            sign=own.sign, width=width,
        )
        for panel in panels
    ]  # fmt: skip


def agreement_figure(status: Status, endpoint: int, data: Measured, size: Shape, dpi: float = 100.0) -> Figure:
    """Measured against predicted from the others."""
    from ..figures.predictions import agreement_plot

    predicted = leave_one_out(data.fit, data.rows, data.means, data.counts)
    own = status.endpoints[endpoint]
    return agreement_plot(
        predicted, data.means, status.candidates.status[data.rows], quantity=own.scale_name, noise_sd=own.noise_sd,
        size=size, dpi=dpi,
    )  # fmt: skip
