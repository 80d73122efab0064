"""The structures of compounds that no table has drawn: put together from a library's core and substituents."""

from __future__ import annotations

from dataclasses import replace

from ..domain.library import Library
from ..system.progress import Report, silent
from .assembling import CORE_SITE, assemble

__all__ = ["product_smiles", "with_structures"]

_REPORT_EVERY = 50


def product_smiles(library: Library, compound: int) -> str:
    """Return the SMILES of a compound put together from its substituents; empty when its parts do not make one.

    That is so without a core, for a site that was left out although the compounds differ there, for merged
    substituents, and where the joined parts are no structure.
    """
    if library.scaffold is None:
        return ""
    carried = dict(library.scaffold.fixed) | library.substituents(compound)
    core = carried.pop(CORE_SITE, "")
    try:
        return assemble(core, carried.values()) if core else ""
    except ValueError:
        return ""


def with_structures(library: Library, report: Report = silent, *, most: int = 5_000) -> Library:
    """Return the library with structures where it has none, up to ``most`` compounds in their order.

    Itself without a core.
    """
    if library.scaffold is None:
        return library
    smiles = list(library.smiles or [""] * len(library))
    lacking = [place for place, text in enumerate(smiles) if not text][:most]
    for done, place in enumerate(lacking):
        if done % _REPORT_EVERY == 0:
            report(done / len(lacking), f"Drawing compounds: {done:,} of {len(lacking):,}")
        smiles[place] = product_smiles(library, place)
    return replace(library, smiles=tuple(smiles) if any(smiles) else None)
