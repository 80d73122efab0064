"""Dose-response curves on pages: points, fit, half-maximal concentration with its interval, and what to look at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from ..curves.analysis import Curve
from ..figures.canvas import cut_middle, round_ticks, style, whole_ticks
from ..figures.palette import LIGHT, Palette
from ..system.progress import Report, silent
from .whole import whole_file

ENDINGS = (".pdf", ".png")
_DPI = 150.0
_COLUMNS, _ROWS = 4, 5
_PAGE = (8.27, 11.69)
"""A4, inches."""
_TEXT, _SMALL = 7.5, 6.0
_LETTERS = 26
_FLAGS = 44
"""Letters of the flags above a curve."""


def write_plots(
    path: Path, curves: Sequence[Curve], values: Sequence[str], axis: str, report: Report = silent
) -> list[Path]:
    """Write the pages; a PNG has one page, and further pages become NAME-2.png and so on. Return the files."""
    pages = curve_pages(curves, values, axis, dpi=_DPI)
    if path.suffix.casefold() == ".pdf":
        with whole_file(path) as beside, PdfPages(beside) as pdf:
            for number, page in enumerate(pages, start=1):
                report(0.9, f"Drawing page {number}")
                pdf.savefig(page, facecolor=page.get_facecolor())
        return [path]
    written = []
    for number, page in enumerate(pages, start=1):
        report(0.9, f"Drawing page {number}")
        file = path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
        with whole_file(file) as beside:
            page.savefig(beside, format="png", facecolor=page.get_facecolor())
        written.append(file)
    return written


def curve_pages(
    curves: Sequence[Curve], values: Sequence[str], axis: str, *, palette: Palette = LIGHT, dpi: float = 100.0
) -> Iterator[Figure]:
    """Yield pages of up to 20 curves; ``values`` says the value of each, ``axis`` what responses are."""
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
