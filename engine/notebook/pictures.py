"""Figures of a campaign by name."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..campaign.state import Status
from ..chemistry.names import site_names
from ..errors import AssayPilotError
from ..export.answer import picture_of
from ..export.structure_activity import look
from ..figures.heat import heat_map, heat_size
from ..figures.pairs import pair_map
from ..figures.rounds import counts_by_round, set_by_round

if TYPE_CHECKING:
    from matplotlib.figure import Figure


Sites = tuple[str, str] | None
Size = tuple[float, float] | None
_DPI = 100.0


def picture(now: Status, kind: str, sites: Sites, size: Size) -> Figure:
    """Return a figure of a campaign; AssayPilotError for a kind or a site that there is not."""
    kinds: dict[str, Callable[[], Figure]] = {
        "candidates": lambda: picture_of(now).draw(size or (9.0, 4.0), _DPI),
        "rounds": lambda: _rounds(now, size),
        "map": lambda: _map(now, sites, size),
    }
    if kind not in kinds:
        raise AssayPilotError(f"there is no plot {kind!r}", mend=f"Choose one of: {', '.join(kinds)}.")
    return _shown(kinds[kind]())


def _rounds(now: Status, size: Size) -> Figure:
    last = max((one.number for one in now.rounds if one.state != "withdrawn"), default=0)
    counts = counts_by_round(now.candidates.status, now.candidates.decided_in_round, last)
    return set_by_round(*counts, size=size or (6.0, 3.0), dpi=_DPI)


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
