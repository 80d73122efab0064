"""Pairs of sites that a model takes as one: the substituents there act together, whatever they do alone.

A pair is a site of its own whose substituents are the combinations that occur, as integer codes like those of any other
site. So a combination that no compound of the table carries has no column, and one that cannot be measured is not
estimable, like a substituent of its own. Everything shown keeps to the sites of the table.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..arrays import Ints
from ..errors import AssayPilotError

Pairs = tuple[tuple[str, str], ...]
"""Pairs of site names, each in the order of the sites."""


def pair_name(pair: Sequence[str]) -> str:
    """Return what a pair is called: ``R1 with R2``."""
    return " with ".join(pair)


def chosen_pairs(sites: Sequence[str], texts: Sequence[str]) -> Pairs:
    """Return the pairs that texts like ``R1,R2`` name, each once, in the order of the sites.

    AssayPilotError for anything but two different sites of the table.
    """
    known = {name.casefold(): place for place, name in enumerate(sites)}
    found: dict[tuple[str, str], None] = {}
    for text in texts:
        names = [part.strip() for part in text.replace("+", ",").replace(";", ",").split(",") if part.strip()]
        unknown = [part for part in names if part.casefold() not in known]
        if unknown:
            raise AssayPilotError(
                f"there is no site {unknown[0]!r}", option="--interaction", mend=f"The sites are {', '.join(sites)}."
            )
        places = sorted({known[part.casefold()] for part in names})
        if len(names) != 2 or len(places) != 2:
            raise AssayPilotError(
                f"an interaction is between two different sites, got {text.strip()!r}",
                option="--interaction",
                mend=f"For example {sites[0]},{sites[1]}; several are given one by one."
                if len(sites) > 1
                else "A table with one site has none.",
            )
        found[sites[places[0]], sites[places[1]]] = None
    return tuple(found)


def merged(
    codes: NDArray[np.int32], sizes: Sequence[int], pairs: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.int32], list[Ints]]:
    """Return the codes of the sites that are in no pair, then of the pairs; and each pair's combinations.

    ``codes`` is ``(n, n_sites)``, ``pairs`` are places of sites. A combination is ``first * sizes[second] + second``;
    those of a pair are all that occur, in that order.
    """
    inside = {place for pair in pairs for place in pair}
    alone = [place for place in range(len(sizes)) if place not in inside]
    columns, combinations = [codes[:, place] for place in alone], []
    for first, second in pairs:
        both = codes[:, first].astype(np.intp) * sizes[second] + codes[:, second]
        occurring, column = np.unique(both, return_inverse=True)
        columns.append(column.astype(np.int32))
        combinations.append(occurring)
    return np.ascontiguousarray(np.column_stack(columns), dtype=np.int32), combinations
