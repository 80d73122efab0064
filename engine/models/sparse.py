"""A way forward for sparse series: fewer substituents or sites, each step with compounds and rank before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Ints
from ..domain.features import SiteFeatures, span_rank
from ..domain.labels import label_text
from ..domain.library import Library, Site
from ..errors import AssayPilotError

_JOIN = "--join-substituents"


@dataclass(frozen=True, slots=True)
class Step:
    """Result of one step; its input table is unchanged, so leaving the step out undoes it."""

    text: str
    compounds_before: int
    compounds_after: int
    rank_before: int
    rank_after: int
    max_rank_before: int
    max_rank_after: int

    def as_json(self) -> dict[str, Any]:
        """Return the JSON of the command line."""
        return asdict(self)

    @property
    def line(self) -> str:
        """The step for the log, in one line."""
        return (
            f"{self.text}: {self.compounds_before:,} -> {self.compounds_after:,} compounds, rank "
            f"{self.rank_before} of {self.max_rank_before} -> {self.rank_after} of {self.max_rank_after}."
        )


@dataclass(frozen=True, slots=True)
class Thinned:
    """A library after a step."""

    library: Library
    kept: Ints
    """The positions in the library before of the compounds it has, in order."""
    step: Step


def keep_seen(library: Library, least: int) -> Thinned:
    """Return the compounds whose every substituent is carried by at least ``least`` of the compounds that stay.

    Compounds that fail are removed together, repeatedly until all that are left pass: the largest such part of
    the library, whatever the order. A site with one substituent left is left out. AssayPilotError when fewer than two
    compounds stay.
    """
    if least < 1:
        raise AssayPilotError(f"at least 1 compound must carry a substituent, got {least}", option="--min-seen")
    kept = np.arange(len(library))
    while len(kept):
        codes = library.codes[kept]
        seen = np.column_stack(
            [
                np.bincount(codes[:, k], minlength=len(site.substituents))[codes[:, k]]
                for k, site in enumerate(library.sites)
            ]
        )
        passing = (seen >= least).all(axis=1)
        if passing.all():
            break
        kept = kept[passing]
    text = f"Only substituents that at least {least} compounds carry"
    return _thinned(library, kept, tuple(range(len(library.sites))), text, "--min-seen")


def drop_site(library: Library, name: str) -> Thinned:
    """Return the library without one site.

    Compounds that differed there alone are the same to the model from then on.
    """
    position = _site(library, name, "--drop-site")
    others = tuple(k for k in range(len(library.sites)) if k != position)
    return _thinned(
        library, np.arange(len(library)), others, f"Without site {library.sites[position].name}", "--drop-site"
    )


def merge_substituents(library: Library, name: str, labels: Sequence[str], into: str) -> Thinned:
    """Return the library with several substituents of a site as one, called ``into``.

    They must be different ones there.
    """
    position = _site(library, name, _JOIN)
    site = library.sites[position]
    codes = {_code(site, label) for label in labels}
    if len(codes) < 2:
        raise AssayPilotError(f"to merge substituents of {site.name}, name at least two", option=_JOIN)
    target = next((code for code, label in enumerate(site.substituents) if label == into), None)
    if target is not None and target not in codes:
        raise AssayPilotError(f"{into} is another substituent of {site.name}; choose another name", option=_JOIN)
    first = min(codes)
    column = library.codes[:, position].copy()
    column[np.isin(column, list(codes))] = first
    every = library.codes.copy()
    every[:, position] = column
    texts = tuple(into if code == first else label for code, label in enumerate(site.substituents))
    sites = tuple(Site(site.name, texts) if k == position else other for k, other in enumerate(library.sites))
    named = ", ".join(label_text(site.substituents[code]) for code in sorted(codes))
    merged = replace(library, sites=sites, codes=every)
    out = _thinned(
        merged, np.arange(len(library)), tuple(range(len(sites))), f"{named} at {site.name} count as {into}", _JOIN
    )
    rank, most = _rank(library)
    return replace(out, step=replace(out.step, rank_before=rank, max_rank_before=most))


def _site(library: Library, name: str, option: str) -> int:
    wanted = name.strip().casefold()
    for position, site in enumerate(library.sites):
        if site.name.casefold() == wanted:
            return position
    raise AssayPilotError(
        f"there is no site {name.strip()!r} with several substituents; the sites are "
        f"{', '.join(site.name for site in library.sites)}",
        option=option,
        mend="Name one of them.",
    )


def _code(site: Site, label: str) -> int:
    for code, text in enumerate(site.substituents):
        if label in (text, label_text(text)):
            return code
    raise AssayPilotError(f"{label} is no substituent of {site.name}", option=_JOIN)


def _thinned(library: Library, kept: Ints, positions: Sequence[int], text: str, option: str) -> Thinned:
    """Return the library of some compounds and sites, with the substituents that are left in their old order."""
    if len(kept) < 2:
        raise AssayPilotError(
            f"{text[0].lower()}{text[1:]}, {len(kept)} compounds would be left",
            option=option,
            mend="Ask for less, or leave a site out.",
        )
    sites, columns = [], []
    scaffold = library.scaffold
    for position in positions:
        codes = library.codes[kept, position]
        present = np.unique(codes)
        site = library.sites[position]
        labels = site.substituents
        if len(present) < 2:  # one substituent has no effect to estimate, but the structures have it
            if scaffold is not None:
                scaffold = replace(scaffold, fixed=(*scaffold.fixed, (site.name, labels[present[0]])))
            continue
        sites.append(Site(site.name, tuple(labels[code] for code in present)))
        columns.append(np.searchsorted(present, codes).astype(np.int32))
    if not sites:
        raise AssayPilotError(
            f"{text[0].lower()}{text[1:]}, no site with two substituents would be left",
            option=option,
            mend="Ask for less, or leave another site out.",
        )
    smaller = replace(
        library,
        sites=tuple(sites),
        codes=np.column_stack(columns),
        ids=tuple(library.ids[k] for k in kept),
        smiles=None if library.smiles is None else tuple(library.smiles[k] for k in kept),
        measurable=library.measurable[kept],
        scaffold=scaffold,
    )
    before, after = _rank(library), _rank(smaller)
    step = Step(text, len(library), len(smaller), before[0], after[0], before[1], after[1])
    return Thinned(smaller, kept.astype(np.intp), step)


def _rank(library: Library) -> tuple[int, int]:
    features = SiteFeatures.of(library)
    return span_rank(features), features.full_rank
