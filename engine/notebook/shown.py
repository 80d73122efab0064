"""A campaign as a notebook shows it: some lines of text, or a small page with structures."""

from __future__ import annotations

import textwrap
from html import escape
from pathlib import Path

import numpy as np

from ..campaign.phrases import many
from ..campaign.state import STATUSES, Status
from ..chemistry.names import carried_names
from ..export.shortlist import decimals_of, ranked
from .terms import keywords

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
        found += _wrapped(f"Note: {keywords(text)}")
    left = len(now.warnings) - _NOTES
    return [*found, f"  {left} more notes in .warnings"] if left > 0 else found


def html(now: Status, path: Path, *, temporary: bool) -> str:
    """Return the same as a page, with the best compounds and their structures."""
    where = f"{path}{' (temporary: save(path) keeps it)' if temporary else ''}"
    said = "".join(f"<div>{escape(text)}</div>" for text in (now.goal_sentence, *_standing(now), now.statement))
    notes = "".join(f"<li>{escape(keywords(text))}</li>" for text in now.warnings[:_NOTES])
    return (
        f"<div><strong>{escape(now.name)}</strong> <small>{escape(where)}</small>{said}"
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
    known, library, digits = now.candidates, now.library, decimals_of(now)
    best = [compound for compound in ranked(now).tolist()[:_ROWS] if np.isfinite(known.estimate[compound])]
    if not best:
        return ""
    pictures = _structures(now, best)
    scale = now.endpoints[now.objective].scale_name
    head = [*([""] if any(pictures) else []), "ID", *(site.name for site in library.sites), "Status"]
    head += [scale, "low", "high", f"P({now.probability_names[0]})", "measured"]
    rows = []
    for compound, drawn in zip(best, pictures, strict=True):
        numbers = (known.estimate[compound], known.posterior_low[compound], known.posterior_high[compound])
        chance = known.probability_within_epsilon[compound]
        cells = [
            library.ids[compound],
            *carried_names(library, compound).values(),
            STATUSES[known.status[compound]],
            *(f"{value:.{digits}f}" if np.isfinite(value) else "" for value in numbers),
            f"{chance:.2f}" if np.isfinite(chance) else "",
            str(int(known.measured[compound])),
        ]
        first = f"<td>{drawn}</td>" if any(pictures) else ""
        rows.append(f"<tr>{first}{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>")
    header = "".join(f"<th>{escape(text)}</th>" for text in head)
    return f"<table><thead><tr>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _structures(now: Status, compounds: list[int]) -> list[str]:
    """Return the structures as SVG, drawn alike; "" where there is none."""
    library = now.library
    if library.smiles is None:
        return [""] * len(compounds)
    from ..figures.aligned import Aligned

    smiles = [library.smiles[compound] for compound in compounds]
    drawer = Aligned(() if library.scaffold is None else library.scaffold.cores, [text for text in smiles if text])
    drawn = [drawer.svg(text, *_PICTURE) if text else None for text in smiles]
    return ["" if one is None else one[one.find("<svg") :] for one in drawn]
