"""Writes dose-response curves as a PDF of pages, or as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib.backends.backend_pdf import PdfPages

from ..curves.analysis import Curve
from ..figures.dose_response import curve_pages
from ..system.progress import Report, silent
from .whole import whole_file

ENDINGS = (".pdf", ".png")
_DPI = 150.0


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
