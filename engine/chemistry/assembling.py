"""Compounds put together from their core and substituents."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache, reduce
from typing import Any

from ..domain.library import Library, is_hydrogen
from ..system.progress import Report, silent
from .structures import spelled


def core_form(core: str) -> str:
    """Return the core as a substituent of the site ``Core``: with single bonds to its sites, whatever their atoms."""
    if "=[*:" not in core and "#[*:" not in core and "]=" not in core and "]#" not in core:
        return core
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(core)
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 0:
            bond = atom.GetBonds()[0]
            bond.SetStereo(Chem.BondStereo.STEREONONE)
            bond.SetBondType(Chem.BondType.SINGLE)
    Chem.SanitizeMol(molecule)
    return str(Chem.MolToSmiles(molecule))


CORE_SITE = "Core"
"""The name of the site whose substituents are forms of the core: several cores, or one with different stereo."""
NO_SITE = "(no site)"
"""The substituent at a site of another core that this core does not have."""

_ENDS = re.compile(r"\[\*:(\d+)\]")


def assemble(core: str, substituents: Iterable[str]) -> str:
    """Return the canonical isomeric SMILES of a core with its sites filled.

    Raises ValueError when the parts do not fit.

    ``core`` has ``[*:n]`` at each site, every substituent one ``[*:n]`` or, where it joins sites, several; relative
    stereo (``|&1:..|``) is kept. Parts are joined as drawn, so a stereocentre of the core keeps its sense with another
    substituent.
    """
    from rdkit import Chem, rdBase

    # What joins two sites is given at both of them.
    parts = list(dict.fromkeys(part for part in substituents if part != NO_SITE))
    needed = sorted(_ENDS.findall(core))
    given = sorted(number for part in parts for number in _ENDS.findall(part))
    if needed != given:
        raise ValueError(
            f"the core has the sites {', '.join(needed) or 'none'}, the parts {', '.join(given) or 'none'}"
        )
    with rdBase.BlockLogs():
        try:
            together = reduce(Chem.CombineMols, [_part(text) for text in (core, *parts)])
            joined = Chem.molzip(together) if parts else together
            Chem.SanitizeMol(joined)
            return spelled(Chem.RemoveHs(joined))
        except (RuntimeError, Chem.MolSanitizeException) as error:
            raise ValueError("the parts do not make a structure") from error


@lru_cache(maxsize=20_000)
def _part(text: str) -> Any:
    from rdkit import Chem

    if is_hydrogen(text):
        text = f"[H][*:{_ENDS.findall(text)[0]}]"
    molecule = Chem.MolFromSmiles(text)
    if molecule is None:
        raise ValueError(f"{text} is no structure")
    return molecule


_EVERY = 50


def product_smiles(library: Library, compound: int) -> str:
    """Return the SMILES of a compound put together from its substituents; empty when its parts do not make one.

    It is empty without a core, for merged substituents, and where the joined parts are not a valid structure. It is
    also empty where a site was left out at which the compounds differ.
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
        if done % _EVERY == 0:
            report(done / len(lacking), f"Drawing compounds: {done:,} of {len(lacking):,}")
        smiles[place] = product_smiles(library, place)
    return replace(library, smiles=tuple(smiles) if any(smiles) else None)
