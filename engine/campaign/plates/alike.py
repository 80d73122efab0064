"""Rounds, lists and plates that are alike: where blocks have effects, what shares one is a balanced copy of the rest.

Which compounds are measured, and how often, is the strategy's; here it is said which of them share a round, follow each
other on the list, and share a plate, by nothing but their substituents. Whatever the lab makes of it, what really stood
on which plate is what counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assaypilot.engine.arrays import Floats, Ints
from assaypilot.engine.campaign.state import Round, Status
from assaypilot.engine.design.dealing import coordinates, exchanged, in_turn
from assaypilot.engine.design.keeping import dealt_for
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.library import Library

__all__ = ["ALONG", "between_rounds", "listed", "on_plates", "said_of_list"]

ALONG = {"plate": "plates", "batch": "batches", "date": "days"}
"""Blocks that a lab fills along the list, and several of them in words."""


def _rows(library: Library, compounds: Sequence[int]) -> Floats:
    return SiteFeatures.of(library).dense(np.asarray(compounds, dtype=np.intp))


def on_plates(
    library: Library,
    compounds: Sequence[int],
    counts: Sequence[int],
    sizes: tuple[int, int],
    *,
    together: int = 1,
    directions: Floats | None = None,
    controls: float = 0.0,
) -> Ints:
    """``(n_plates, n)``, measurements of each compound on each plate; ``sizes``: how many plates, and what one holds.

    ``together`` 2: two by two; ``directions`` and ``controls``: see ``dealt_for``.
    """
    x, of_each = _rows(library, compounds), np.asarray(counts, dtype=np.intp)
    return dealt_for(x, of_each, sizes, together=together, directions=directions, controls=controls)


def listed(library: Library, chosen: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The (compound, measurements) of a round in an order of which every stretch is about a copy of the whole."""
    counts = np.array([n for _, n in chosen], dtype=np.intp)
    return [chosen[place] for place in in_turn(_rows(library, [compound for compound, _ in chosen]), counts)]


def said_of_list(status: Status, issued: Round) -> str:
    """How plates (batches, days) are filled along a round; empty where it is laid out, or does not matter."""
    several = ALONG.get(status.settings.blocks)
    if several is None or issued.confirmation or issued.layout is not None or issued.state != "open":
        return ""
    return f"Fill {several} along this list, and they come out alike"


def between_rounds(runs: Sequence[tuple[int, int]], x: Floats, counts: Ints, per_round: int) -> list[tuple[int, int]]:
    """A phase's (position, measurements) runs, of which every ``per_round`` measurements are a round: rounds alike.

    ``x`` ``(m, d)``: features of the positions, ``counts`` their measurements. Compounds that are in one round alone
    change places with others of as many measurements.
    """
    where, sizes = np.array([run[0] for run in runs], dtype=np.intp), np.array([run[1] for run in runs], dtype=np.intp)
    at = (np.cumsum(sizes) - sizes) // per_round
    whole = sizes == counts[where]
    kinds = np.where(whole, sizes, -1 - np.arange(len(runs)))
    z = sizes[:, None] * coordinates(x, counts)[where]
    now = exchanged(z, at, np.bincount(at, sizes).astype(np.float64), kinds)
    return [runs[place] for place in np.argsort(now, kind="stable")]
