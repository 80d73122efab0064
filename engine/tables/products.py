"""What becomes of the compounds of a table: every combination of their substituents, fewer of them, other ids."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..domain.labels import label_text
from ..domain.library import LARGEST_PRODUCT, Library
from ..domain.measurements import Result
from ..errors import AssayPilotError
from ..models.sparse import Step, Thinned, drop_site, keep_seen, merge_substituents
from .options import TableMapping
from .raw import Problem

_FIRST_LISTED = 10_000
"""Combinations listed at first of a product that is too large to list."""


def left_to_make(listed: Library, mapping: TableMapping, history: Sequence[Result]) -> int:
    """Return how many combinations a table leaves to measure that measured all it lists; 0 where a choice was made."""
    if mapping.product or mapping.available or mapping.stock or mapping.interactions:
        return 0
    if not {result.compound for result in history} >= set(listed.ids):
        return 0
    return math.prod(len(site.substituents) for site in listed.sites) - len(np.unique(listed.codes, axis=0))


def whole_product(
    listed: Library, history: list[Result], notes: list[str], *, only_listed: bool
) -> tuple[Library, list[Result], dict[str, str]]:
    """Every combination of the substituents, and what each listed id is there.

    Values of compounds the product cannot tell apart go to the first. With ``only_listed`` what no row lists cannot be
    measured.
    """
    if listed.n_combinations > LARGEST_PRODUCT and not only_listed and not listed.interactions:
        product = _some_combinations(listed)
    else:
        product = Library.product(listed.sites, known=listed)
    if only_listed:
        places = [place for name in listed.ids if (place := product.find(name)) is not None]
        had = np.zeros(len(product), dtype=bool)
        had[places] = product.measurable[places]
        product = replace(product, measurable=had)
        notes.append(f"Only what the table lists can be measured: {int(had.sum()):,} of {len(product):,} compounds.")
    names: dict[str, str] = {}
    by_codes: dict[tuple[int, ...], str] = {}
    for name, codes in zip(listed.ids, listed.codes.tolist(), strict=True):
        names[name] = by_codes.setdefault(tuple(codes), name)
    merged = [name for name, first in names.items() if name != first]
    if merged:
        notes.append(f"In the whole product, {len(merged)} compounds with substituents of another take its name.")
    every = f"The library is every combination of the substituents: {listed.n_combinations:,} compounds."
    if product.partial:
        every += f" {len(product):,} are listed; before each round those join that may be the best by then."
    notes.append(every)
    return product, [replace(result, compound=names[result.compound]) for result in history], names


def _some_combinations(listed: Library) -> Library:
    """Return the compounds of a table and others of all their combinations, every substituent of a site as often."""
    rng, places = np.random.default_rng(0), np.sort(np.unique(listed.codes, axis=0, return_index=True)[1])
    n = _FIRST_LISTED
    each = [len(site.substituents) for site in listed.sites]
    columns = [np.concatenate([rng.permutation(size) for _ in range(n // size + 1)])[:n] for size in each]
    more = listed.combined(np.unique(np.stack(columns, axis=1), axis=0))
    smiles = None if listed.smiles is None else (*(listed.smiles[place] for place in places), *("",) * len(more))
    return Library(
        listed.sites,
        np.vstack([listed.codes[places], more.codes]),
        (*(listed.ids[place] for place in places), *more.ids),
        smiles,
        np.concatenate([listed.measurable[places], more.measurable]),
        listed.scaffold,
        partial=True,
    )


def also_called(library: Library, names: dict[str, str], merged: tuple[tuple[str, str], ...]) -> Library:
    """Return the library that also finds its compounds by the ids that were merged into theirs.

    ``names``: what each listed id is called in the library; ``merged``: ids with the one that took them up.
    """
    own = set(library.ids)
    also = {name: called for name, called in names.items() if name not in own and called in own}
    also |= {other: called for other, name in merged if (called := names.get(name)) in own and other not in own}
    return replace(library, aliases=tuple(also.items())) if also else library


def thin(
    library: Library, mapping: TableMapping, rows: Sequence[int], of_row: list[int], problems: list[Problem]
) -> tuple[Library, tuple[Step, ...]]:
    """Return the library after the steps the mapping asks for, and the steps.

    ``of_row`` is the compound of each row (by its position in ``library``), -1 where the row is not used: rows of
    compounds that are taken out become -1, each with a problem. ``rows`` are the rows' numbers.
    """
    steps = []
    for text in mapping.joined:
        thinned = merge_substituents(library, *_joined(text))
        library = thinned.library
        steps.append(thinned.step)
    for name in mapping.drop_sites:
        thinned = drop_site(library, name)
        library = thinned.library
        steps.append(thinned.step)
    if mapping.min_seen > 1:
        thinned = keep_seen(library, mapping.min_seen)
        steps.append(thinned.step)
        _take_out(library, thinned, mapping.min_seen, rows, of_row, problems)
        library = thinned.library
    return library, tuple(steps)


def _joined(text: str) -> tuple[str, tuple[str, ...], str]:
    """Site, labels and new name of ``SITE:LABEL,LABEL=NAME``; a label may hold =, as SMILES do, the name may not."""
    site, colon, rest = text.partition(":")
    labels, equals, name = rest.rpartition("=")
    if not (site.strip() and colon and equals and labels.strip() and name.strip()):
        raise AssayPilotError(
            f"{text!r} is not SITE:LABEL,LABEL=NAME", option="--join-substituents", mend="For example R1:Me,Et=alkyl."
        )
    return site, tuple(label.strip() for label in labels.split(",") if label.strip()), name.strip()


def _take_out(
    full: Library,
    thinned: Thinned,
    least: int,
    rows: Sequence[int],
    of_row: list[int],
    problems: list[Problem],
) -> None:
    left = {site.name: set(site.substituents) for site in thinned.library.sites}
    stays = set(thinned.kept.tolist())
    for place, compound in enumerate(of_row):
        if compound < 0 or compound in stays:
            continue
        carried = full.substituents(compound)
        gone = [name for name, label in carried.items() if label not in left.get(name, (label,))]
        site = next(iter(gone or [name for name in carried if name not in left]))
        problems.append(
            Problem(
                rows[place],
                site,
                f"{label_text(carried[site])} is carried by fewer than {least} of the compounds that stay",
            )
        )
        of_row[place] = -1
