"""A campaign as a notebook shows it: lines of text, a page with structures, figures by name."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..campaign.state import Status
from ..chemistry.names import carried_names, site_names
from ..errors import AssayPilotError
from ..export.answer import picture_of
from ..export.pictures import look
from ..export.shortlist import brief_table, ranked
from ..figures.heat import heat_map, heat_size, pair_map
from ..figures.rounds import set_by_round
from ..text import many

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_WIDE, _NOTES, _LONGEST = 88, 3, 3
"""Letters in a line; warnings that are shown; lines of each text."""
_ROWS, _PICTURE = 10, (150, 100)
"""Compounds on a page, and pixels of each structure."""


def lines(now: Status, path: Path, *, temporary: bool) -> list[str]:
    """Return a campaign in at most twenty lines of at most 88 letters, but for its path."""
    found = [f"Campaign {now.name} in {path}{' (temporary: save(path) keeps it)' if temporary else ''}"]
    for text in (now.goal_sentence, *_standing(now), now.statement):
        found += _wrapped(text)
    for text in now.warnings[:_NOTES]:
        found += _wrapped(f"Note: {text}")
    left = len(now.warnings) - _NOTES
    return [*found, f"  {left} more notes in .warnings"] if left > 0 else found


def html(now: Status, path: Path, *, temporary: bool) -> str:
    """Return the same as a page, with the best compounds and their structures."""
    where = f"{path}{' (temporary: save(path) keeps it)' if temporary else ''}"
    paragraphs = "".join(f"<div>{escape(text)}</div>" for text in (now.goal_sentence, *_standing(now), now.statement))
    notes = "".join(f"<li>{escape(text)}</li>" for text in now.warnings[:_NOTES])
    return (
        f"<div><strong>{escape(now.name)}</strong> <small>{escape(where)}</small>{paragraphs}"
        f"{f'<ul>{notes}</ul>' if notes else ''}{_table(now)}</div>"
    )


def _standing(now: Status) -> list[str]:
    counts, issued = now.counts, now.open_round
    where = "no round is open"
    if issued is not None:
        where = f"round {issued.number} is open, {issued.missing:,} of {issued.measurements:,} to come"
    if now.finished:
        where = f"finished: {now.finish_reason}"
    return [
        f"{now.strategy}; {many(now.measurements_used, 'measurement')} in {many(now.rounds_made, 'round')}; {where}",
        f"{many(len(now.library), 'compound')}: {counts['in']:,} in, {counts['undecided']:,} undecided, "
        f"{counts['out']:,} out, {counts['not_estimable']:,} not estimable",
    ]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(
        text, _WIDE, initial_indent="  ", subsequent_indent="    ", max_lines=_LONGEST, placeholder=" …"
    )


def _table(now: Status) -> str:
    known, library = now.candidates, now.library
    best = [compound for compound in ranked(now).tolist()[:_ROWS] if np.isfinite(known.estimate[compound])]
    if not best:
        return ""
    sheet = brief_table(now, best)
    frame = pd.DataFrame(sheet.texts(), columns=list(sheet.header))
    carried = [carried_names(library, compound) for compound in best]
    for place, site in enumerate(library.sites, start=1):
        frame.insert(place, site.name, [of_one[site.name] for of_one in carried], allow_duplicates=True)
    frame = frame.map(escape)
    frame.columns = frame.columns.map(escape)
    pictures = _structures(now, best)
    if any(pictures):
        frame.insert(0, "", pictures)
    with pd.option_context("display.max_colwidth", None):
        return frame.to_html(index=False, escape=False, border=0)


def _structures(now: Status, compounds: list[int]) -> list[str]:
    """Return the structures as SVG in one style; "" where there is none."""
    if now.library.smiles is None:
        return [""] * len(compounds)
    from ..figures.aligned import Aligned

    smiles = [now.library.smiles[compound] for compound in compounds]
    drawer = Aligned.of(now.library, smiles)
    drawn = [drawer.svg(text, *_PICTURE) if text else None for text in smiles]
    return ["" if one is None else one[one.find("<svg") :] for one in drawn]


Sites = tuple[str, str] | None
Size = tuple[float, float] | None
_DPI = 100.0


def picture(now: Status, kind: str, sites: Sites, size: Size) -> Figure:
    """Return a figure of a campaign; AssayPilotError for a kind or a site that there is not."""
    kinds: dict[str, Callable[[], Figure]] = {
        "candidates": lambda: picture_of(now).draw(size or (9.0, 4.0), _DPI),
        "rounds": lambda: set_by_round(now.sets, size=size or (6.0, 3.0), dpi=_DPI),
        "map": lambda: _map(now, sites, size),
    }
    if kind not in kinds:
        raise AssayPilotError(f"there is no plot {kind!r}", mend=f"Choose one of: {', '.join(kinds)}.")
    return _shown(kinds[kind]())


def _map(now: Status, sites: Sites, size: Size) -> Figure:
    library = now.library
    names = [site.name for site in library.sites]
    if len(names) < 2:
        raise AssayPilotError("a map needs two sites, and there is one", mend="Plot the candidates.")
    chosen = sites or (names[0], names[1])
    if len(set(chosen)) != 2 or not set(chosen) <= set(names):
        raise AssayPilotError(
            f"a map needs two different sites, got {', '.join(map(str, chosen))}", mend=f"There are {', '.join(names)}."
        )
    down, across = names.index(chosen[0]), names.index(chosen[1])
    known = look(now, now.objective)
    view = pair_map(
        library.codes,
        tuple(len(site.substituents) for site in library.sites),
        (down, across),
        known.estimate,
        known.determinations,
        sign=known.endpoint.sign,
        bounded=known.bounded,
    )
    rows = [site_names(library.sites[down].substituents)[code] for code in view.rows]
    columns = [site_names(library.sites[across].substituents)[code] for code in view.columns]
    return heat_map(
        view,
        rows,
        columns,
        sites=chosen,
        quantity=known.endpoint.scale_name,
        sign=known.endpoint.sign,
        size=size or heat_size(rows, columns, chosen),
        dpi=_DPI,
    )


def _shown(figure: Figure) -> Figure:
    """Return the figure, which Jupyter shows although pyplot does not know it."""

    def png() -> bytes:
        stream = io.BytesIO()
        figure.savefig(stream, format="png")
        return stream.getvalue()

    figure.__dict__["_repr_png_"] = png
    return figure
