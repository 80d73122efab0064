"""The figures of reports and slides, curves on pages, and what pictures of structure and activity need."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, Ints
from ..campaign.state import Status
from ..chemistry.calculated import properties_of
from ..chemistry.names import site_names
from ..curves.analysis import Curve
from ..domain.derived import pooled_of
from ..domain.endpoint import Endpoint
from ..domain.features import SiteFeatures
from ..domain.measurements import Pooled, pool
from ..figures.palette import LIGHT, Palette
from ..models.contributions import SiteContributions, contributions
from ..models.diagnostics import leave_one_out
from ..models.matched_pairs import MatchedPairs, matched_pairs, pairs_of_change
from ..models.ols import Estimate, least_squares
from ..system.progress import Report, silent
from .formats import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Shape = tuple[float, float]

_PANEL = 34
"""Substituents in one picture; a site with more of them has several."""
_MOST = 340
"""Substituents of one site that are drawn."""


def as_png(figure: Figure, dpi: float) -> io.BytesIO:
    """Return a figure as a picture for a page or a slide."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    stream = io.BytesIO()
    figure.set_dpi(dpi)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a box is drawn instead
        canvas: Any = FigureCanvasAgg(figure)  # its methods carry no types
        canvas.print_png(stream)
    stream.seek(0)
    return stream


@dataclass(frozen=True, eq=False)
class Measured:
    """The usable measurements of one endpoint, history included."""

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
    """Return contributions of substituents, the best of a site first, in figures for a page, ``width`` inches wide.

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


_DPI = 150.0
_COLUMNS, _ROWS = 4, 5
_PAGE = (8.27, 11.69)
"""A4, inches."""
_TEXT, _SMALL = 7.5, 6.0
_LETTERS = 26
_FLAGS = 44
"""Letters of the flags above a curve."""


def write_plots(path: Path, curves: Sequence[Curve], values: Sequence[str], axis: str, report: Report = silent) -> None:
    """Write the pages of curves as PDF."""
    from matplotlib.backends.backend_pdf import PdfPages

    with whole_file(path) as temporary, PdfPages(temporary) as pdf:
        for number, page in enumerate(curve_pages(curves, values, axis, dpi=_DPI), start=1):
            report(0.9, f"Drawing page {number}")
            pdf.savefig(page, facecolor=page.get_facecolor())


def curve_pages(
    curves: Sequence[Curve], values: Sequence[str], axis: str, *, palette: Palette = LIGHT, dpi: float = 100.0
) -> Iterator[Figure]:
    """Yield pages of up to 20 curves; ``values`` are the texts of their values, ``axis`` labels responses."""
    from matplotlib.figure import Figure

    from ..figures.canvas import style

    each = _COLUMNS * _ROWS
    for first in range(0, len(curves), each):
        figure = Figure(figsize=_PAGE, dpi=dpi, facecolor=palette.background)
        for place, curve in enumerate(curves[first : first + each]):
            row, column = divmod(place, _COLUMNS)
            left, bottom = 0.065 + column * 0.24, 0.995 - (row + 1) * 0.191
            axes = figure.add_axes((left, bottom, 0.185, 0.125))
            style(axes, palette)
            _draw(axes, curve, values[first + place], palette)
        figure.text(0.5, 0.006, "log10 concentration (mol/L)", ha="center", color=palette.muted, fontsize=_TEXT)
        figure.text(0.012, 0.5, axis, va="center", rotation=90, color=palette.muted, fontsize=_TEXT, parse_math=False)
        yield figure


def _draw(axes: Axes, curve: Curve, value: str, palette: Palette) -> None:
    """Draw one curve: used points filled, outliers ringed, excluded points as crosses."""
    from ..figures.canvas import cut_middle, round_ticks, whole_ticks

    warn = palette.cutoff
    x, y, used, outliers = curve.x, curve.y, curve.used, curve.outliers
    clean = used & ~outliers
    axes.plot(x[clean], y[clean], "o", markersize=3.0, color=palette.muted, zorder=3)
    axes.plot(x[outliers], y[outliers], "o", markersize=5.0, markerfacecolor="none", markeredgecolor=warn, zorder=4)
    axes.plot(x[~used], y[~used], "x", markersize=4.0, color=warn, zorder=4)
    fit = curve.fit
    if fit is not None:
        along = np.linspace(x.min() - 0.2, x.max() + 0.2, 120)
        axes.plot(along, fit.at(along), color=palette.accent, linewidth=1.2, zorder=2)
        if curve.relation == "=":
            axes.axvspan(max(fit.low, along[0]), min(fit.high, along[-1]), color=palette.grid, zorder=0)
            axes.axvline(fit.log_c50, color=palette.muted, linewidth=0.6, zorder=1)
    axes.tick_params(labelsize=_SMALL, length=2.0)
    axes.xaxis.set_major_locator(whole_ticks(5))
    axes.yaxis.set_major_locator(round_ticks(4))
    where = f" · {curve.plate}" if curve.plate else ""
    for height, text, colour, points in (
        (1.22, cut_middle(f"{curve.compound}{where}", _LETTERS), palette.text, _TEXT),
        (1.11, value, palette.text, _SMALL),
        (1.01, cut_middle("; ".join(curve.flags), _FLAGS), warn, _SMALL),
    ):
        axes.text(0.0, height, text, transform=axes.transAxes, color=colour, fontsize=points, parse_math=False)


@dataclass(frozen=True, eq=False)
class Look:
    """Numbers of one endpoint, model scale."""

    status: Status
    place: int
    """The endpoint's position."""
    estimate: Floats
    """``(n,)``, per compound; NaN where unknown."""
    determinations: Ints
    """``(n,)``, usable ones."""
    bounded: Ints
    """``(n,)``, those of which only a bound is known."""
    best_with: tuple[Ints, ...]
    """For each site ``(size,)`` the compound that shows a substituent: the best one that carries it; -1 for none."""
    contributions: tuple[SiteContributions, ...]
    rows: Ints
    """``(m,)``, the measured compounds."""
    means: Floats
    counts: Floats
    predicted: Floats
    """``(m,)``, from the other compounds; NaN where they determine nothing."""
    surprise: Floats
    """``(m,)``, measured less predicted in SDs of that difference; NaN as above."""
    by_round: Ints
    """Measurements of round 0 (before the first), 1, ..."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint."""
        return self.status.endpoints[self.place]

    @property
    def empty(self) -> bool:
        """Whether nothing is known yet."""
        return not bool(np.isfinite(self.estimate).any())


def look(status: Status, place: int, report: Report = silent) -> Look:
    """Everything of one endpoint; tens of milliseconds for a table, seconds for a million compounds."""
    report(0.0, "Fitting")
    library, endpoint = status.library, status.endpoints[place]
    data = measured(status, place)
    report(0.4, "Contributions")
    noise = np.nan if endpoint.noise_sd is None else endpoint.noise_sd
    found = contributions(library, data.fit, data.rows, data.counts, noise)
    predicted = leave_one_out(data.fit, data.rows, data.means, data.counts)
    report(0.6, "Where the measurements went")
    sizes = tuple(len(site.substituents) for site in library.sites)
    own = {place} if endpoint.of is None else {k for k, one in enumerate(status.endpoints) if one.name in endpoint.of}
    used = [m for m in status.measurements if m.endpoint in own and not m.withdrawn and m.excluded is None]
    numbers = np.array([m.n for m in used], dtype=np.intp)
    rounds = np.array([m.round for m in used], dtype=np.intp)
    last = max((one.number for one in status.rounds), default=0)
    report(0.8, "The best with each substituent")
    known, n = status.candidates, len(library)
    estimate = known.estimates[endpoint.name]
    return Look(
        status=status,
        place=place,
        estimate=estimate,
        determinations=known.measured_of[endpoint.name],
        bounded=np.bincount([m.compound for m in used if m.relation != "="], minlength=n).astype(np.intp),
        best_with=_best_with(library.codes, sizes, np.where(np.isfinite(estimate), endpoint.sign * estimate, -np.inf)),
        contributions=found,
        rows=data.rows,
        means=data.means,
        counts=data.counts,
        predicted=predicted,
        surprise=_surprise(data, predicted, noise if noise > 0 else 1.0),
        by_round=np.rint(np.bincount(rounds, numbers, last + 1)).astype(np.intp),
    )


@dataclass(frozen=True, eq=False)
class Compared:
    """The matched pairs, cliffs and quadruples of one endpoint."""

    status: Status
    place: int
    """The endpoint's position."""
    rows: Ints
    """``(m,)``, the compounds with a value."""
    means: Floats
    """``(m,)``, model scale."""
    found: MatchedPairs

    def of_change(self, row: int) -> Ints:
        """Return the compounds that show a change of the list, those before it first."""
        one = self.found.changes
        return pairs_of_change(
            self.status.library.codes, self.rows, int(one.site[row]), int(one.before[row]), int(one.after[row])
        )


def compared(status: Status, place: int) -> Compared:
    """Compare the compounds with a value of one endpoint; a second for 10,000 of them."""
    endpoint, known = status.endpoints[place], means_of(status, place)
    rows = np.flatnonzero(known.counts > 0)
    means = known.means[rows]
    noise = np.nan if endpoint.noise_sd is None else endpoint.noise_sd
    found = matched_pairs(status.library.codes, rows, means, known.counts[rows], noise, endpoint.sign)
    return Compared(status, place, rows, means, found)


def _surprise(data: Measured, predicted: Floats, noise: float) -> Floats:
    """Each compound's difference from its prediction over the SD of that difference, sigma / sqrt(n (1 - h)).

    It is the externally estimated residual with the noise given (Cook and Weisberg 1982, section 2.2).
    """
    leverage = np.minimum(data.fit.features.quadratic(data.fit.covariance, data.rows) * data.counts, 1.0)
    found: Floats = (data.means - predicted) * np.sqrt(data.counts * (1.0 - leverage)) / noise
    return found


def _best_with(codes: NDArray[np.integer], sizes: tuple[int, ...], values: Floats) -> tuple[Ints, ...]:
    """For each site and substituent the compound with the largest value that carries it; -1 where none does."""
    order = np.argsort(values, kind="stable")  # of several assignments the last one stays
    found = []
    for site, size in enumerate(sizes):
        best = np.full(size, -1, dtype=np.intp)
        best[codes[order, site]] = order
        found.append(best)
    return tuple(found)
