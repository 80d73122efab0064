"""The structures of a library as they were taken apart, so that those that come later are taken apart alike."""

from __future__ import annotations

from ..domain.labels import is_hydrogen
from ..domain.library import Library
from ..errors import AssayPilotError
from .assembling import CORE_SITE, NO_SITE
from .cores import parse_core
from .decomposition import Decomposition, Parts

__all__ = ["parts_of"]

_MOST = 20_000
"""Compounds that are enough to say which substituents a site has most often."""


def parts_of(library: Library) -> Decomposition:
    """Return what ``decompose`` found when the library was made; nothing at sites that were left out of it.

    AssayPilotError where substituents were taken together, so that a site has others than the structures.
    """
    scaffold = library.scaffold
    if scaffold is None:
        raise ValueError("a library whose sites were not made from structures")
    for site in library.sites:
        for label in site.substituents:
            if "[*:" not in label and label != NO_SITE and not is_hydrogen(label):
                raise AssayPilotError(
                    f"{label} at {site.name} stands for several substituents, which structures do not say",
                    mend=f"Give the table the columns {', '.join(one.name for one in library.sites)}.",
                )
    fixed = dict(scaffold.fixed)
    numbers = sorted({number for core in scaffold.cores for number in parse_core(core).numbers})
    sites = (*(() if CORE_SITE in fixed else (CORE_SITE,)), *(f"R{number}" for number in numbers))
    parts = []
    for compound in range(min(len(library), _MOST)):
        carried = fixed | library.substituents(compound)
        core = carried.get(CORE_SITE, scaffold.cores[0])
        parts.append(Parts(core, tuple(carried.get(site, "") for site in sites)))
    return Decomposition(scaffold.cores, sites, tuple(parts), ("",) * len(parts))
