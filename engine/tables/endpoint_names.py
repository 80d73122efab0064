"""Endpoints as users call them: by their name, without the unit, or by the scale they are modelled on."""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.endpoint import Endpoint
from ..errors import AssayPilotError
from .headers import split_unit

__all__ = ["named", "spellings"]


def spellings(endpoints: Sequence[Endpoint]) -> dict[str, str]:
    """Return the names of endpoints by every spelling, case-folded, that means only one of them.

    ``IC50 (nM)`` is also called ``IC50`` and, as that is what goals and statements call it, ``pIC50``.
    """
    found: dict[str, set[str]] = {}
    for endpoint in endpoints:
        for spelling in (split_unit(endpoint.name)[0], endpoint.scale_name):
            found.setdefault(spelling.strip().casefold(), set()).add(endpoint.name)
    short = {spelling: next(iter(names)) for spelling, names in found.items() if len(names) == 1}
    return short | {endpoint.name.casefold(): endpoint.name for endpoint in endpoints}


def named(texts: Sequence[str], endpoints: Sequence[Endpoint]) -> list[str]:
    """Return the names of the endpoints that texts mean, each one or, with commas, several.

    AssayPilotError for any other.
    """
    by_name = spellings(endpoints)
    found = []
    for text in texts:
        # A text that is a name as a whole is that endpoint, commas and all.
        for piece in [text] if text.strip().casefold() in by_name else text.split(","):
            name = by_name.get(piece.strip().casefold())
            if name is None:
                raise AssayPilotError(
                    f"there is no endpoint {piece.strip()!r}",
                    option="--objective",
                    mend=f"Choose one of: {', '.join(endpoint.name for endpoint in endpoints)}.",
                )
            found.append(name)
    return found
