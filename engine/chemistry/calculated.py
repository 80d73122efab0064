"""The calculated columns of a library: for every compound by addition where that is exact, else from its structure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assaypilot.engine.arrays import Flags, Floats, Ints
from assaypilot.engine.chemistry.assembling import NO_SITE
from assaypilot.engine.chemistry.decomposition import CORE_SITE
from assaypilot.engine.chemistry.products import product_smiles
from assaypilot.engine.chemistry.properties import KCAL_PER_LOG, Properties, properties
from assaypilot.engine.labels import is_hydrogen
from assaypilot.engine.library import Library
from assaypilot.engine.progress import Report, silent

__all__ = ["ADDITIVE", "MOST_ASSEMBLED", "additive", "columns"]


ADDITIVE = ("MW", "TPSA", "HBD", "Heavy atoms")
"""What the parts of a compound add up to, exactly."""
MOST_ASSEMBLED = 5_000
"""Compounds without a structure that are put together for one call: two seconds of work."""

_ENDS = re.compile(r"\[\*:(\d+)\]")
_REPORT_EVERY = 50
_MOST_SITES = 62


def columns(
    library: Library,
    rows: Sequence[int] | Ints | None = None,
    values: Mapping[str, ArrayLike] | None = None,
    report: Report = silent,
) -> dict[str, NDArray[Any]]:
    """MW, cLogP, TPSA, HBD, heavy atoms, LE and LLE of each endpoint, and the first alert, ``(n_rows,)`` each.

    ``rows``: places in the library, all when None. ``values``: potencies of these rows on a logarithmic scale by the
    endpoint's name (estimates or means), NaN where there is none; they give ``LE name`` and ``LLE name``. NaN (an empty
    alert) where the structure is not known. Of compounds that nobody has drawn, all sums are known; cLogP and alerts
    are not sums, and are known for the first ``MOST_ASSEMBLED`` of the rows. ``report`` may raise Cancelled.
    """
    places = np.arange(len(library)) if rows is None else np.asarray(rows, dtype=np.intp)
    out = _of_structures(library, places, report)
    drawn = np.isfinite(out["MW"])
    if not drawn.all():
        sums = additive(library, places[~drawn])
        for name in ADDITIVE:
            out[name][~drawn] = sums[name]
    alerts = out.pop("Alert")
    for name, given in (values or {}).items():
        potency = np.asarray(given, dtype=np.float64)
        if potency.shape != places.shape:
            raise ValueError(f"{name}: {potency.shape} values for {places.shape} rows")
        atoms = np.where(out["Heavy atoms"] > 0, out["Heavy atoms"], np.nan)
        out[f"LE {name}"] = KCAL_PER_LOG * potency / atoms
        out[f"LLE {name}"] = potency - out["cLogP"]
    out["Alert"] = alerts
    return out


def _of_structures(library: Library, places: Ints, report: Report) -> dict[str, NDArray[Any]]:
    """The columns of the rows whose structure is drawn, or put together here."""
    found: list[Properties | None] = []
    assembled = 0
    for done, place in enumerate(places.tolist()):
        if done % _REPORT_EVERY == 0:
            report(done / len(places), f"Calculating properties: {done:,} of {len(places):,}")
        text = "" if library.smiles is None else library.smiles[place]
        if not text and library.scaffold is not None and assembled < MOST_ASSEMBLED:
            text = product_smiles(library, place)
            assembled += 1
        found.append(_known(text) if text else None)

    def numbers(name: str) -> Floats:
        return np.array([np.nan if one is None else getattr(one, name) for one in found], dtype=np.float64)

    return {
        "MW": numbers("mw"),
        "cLogP": numbers("clogp"),
        "TPSA": numbers("tpsa"),
        "HBD": numbers("hbd"),
        "Heavy atoms": numbers("heavy_atoms"),
        "Alert": np.array(["" if one is None else one.alert for one in found], dtype=object),
    }


@lru_cache(maxsize=50_000)
def _known(smiles: str) -> Properties | None:
    return properties(smiles)


def additive(library: Library, rows: Sequence[int] | Ints | None = None) -> dict[str, Floats]:
    """MW, TPSA, HBD and heavy atoms of compounds as the sums over core and substituents, ``(n_rows,)`` each.

    Exact: each is a sum over atoms that sees an atom's bonds and hydrogens, not what is behind them (Ertl 2000 for
    TPSA); a hydrogen at a site counts with the core, since it may make a donor of the atom it is on. NaN without a
    core, and where the parts do not make a compound.
    """
    places = np.arange(len(library)) if rows is None else np.asarray(rows, dtype=np.intp)
    nothing = {name: np.full(len(places), np.nan) for name in ADDITIVE}
    if library.scaffold is None or not len(places):
        return nothing
    pieces = [
        _Pieces.of(site.substituents, library.codes[places, k])
        for k, site in enumerate(library.sites)
        if site.name != CORE_SITE
    ]
    fixed = dict(library.scaffold.fixed)
    alike = np.zeros(len(places), dtype=np.intp)
    pieces += [_Pieces.of((text,), alike) for name, text in fixed.items() if name != CORE_SITE]
    form = next((k for k, site in enumerate(library.sites) if site.name == CORE_SITE), None)
    cores = (fixed.get(CORE_SITE, ""),) if form is None else library.sites[form].substituents
    of_core = alike if form is None else library.codes[places, form].astype(np.intp)
    numbers = sorted({number for core in cores for number in map(int, _ENDS.findall(core))})
    if not numbers or len(numbers) > _MOST_SITES:
        return nothing
    bit = {number: 1 << place for place, number in enumerate(numbers)}
    filled = np.zeros(len(places), dtype=np.int64)
    bare = np.zeros(len(places), dtype=np.int64)
    total = np.zeros((len(places), len(ADDITIVE)))
    for piece in pieces:
        total += piece.figures
        marks = np.array([bit.get(number, 0) for number in piece.numbers], dtype=np.int64)[piece.codes]
        total[(marks == 0) & ~piece.absent | ((filled & marks) != 0)] = np.nan
        filled |= marks
        bare |= np.where(piece.hydrogen, marks, 0)
    kinds, kind = np.unique(filled, return_inverse=True)
    bares, which = np.unique(bare, return_inverse=True)
    groups, group = np.unique((of_core * len(kinds) + kind) * len(bares) + which, return_inverse=True)
    added = np.empty((len(groups), len(ADDITIVE)))
    for place, code in enumerate(groups.tolist()):
        rest, h = divmod(code, len(bares))
        core, there = divmod(rest, len(kinds))
        added[place] = _core_figures(cores[core], _at(numbers, int(kinds[there])), _at(numbers, int(bares[h])))
    total += added[group]
    return {name: np.ascontiguousarray(total[:, place]) for place, name in enumerate(ADDITIVE)}


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """What the compounds carry at one site."""

    codes: Ints
    numbers: tuple[int, ...]
    """The number of the site each substituent has its open end for; 0 when it has none, or several."""
    figures: Floats
    """``(n_rows, 4)``; 0 for hydrogen, which is the core's, and for a site that is not there; NaN when not known."""
    hydrogen: Flags
    absent: Flags
    """Where the compound's core has no such site."""

    @classmethod
    def of(cls, substituents: Sequence[str], codes: NDArray[Any]) -> _Pieces:
        numbers = []
        figures = np.zeros((len(substituents), len(ADDITIVE)))
        for place, text in enumerate(substituents):
            ends = _ENDS.findall(text)
            numbers.append(int(ends[0]) if len(ends) == 1 else 0)
            if text != NO_SITE and not is_hydrogen(text):
                figures[place] = _figures(text)
        hydrogen = np.array([is_hydrogen(text) for text in substituents])
        absent = np.array([text == NO_SITE for text in substituents])
        return cls(codes.astype(np.intp), tuple(numbers), figures[codes], hydrogen[codes], absent[codes])


@lru_cache(maxsize=50_000)
def _figures(smiles: str) -> tuple[float, float, float, float]:
    """MW, TPSA, HBD and heavy atoms of a part; its open ends weigh nothing."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        return _of_molecule(molecule) if molecule is not None else (np.nan,) * 4


def _at(numbers: Sequence[int], bits: int) -> tuple[int, ...]:
    """The numbers whose bit is set, by their order."""
    return tuple(number for place, number in enumerate(numbers) if bits >> place & 1)


def _core_figures(core: str, filled: Sequence[int], bare: Sequence[int]) -> tuple[float, float, float, float]:
    """The same of a core with hydrogen at the sites ``bare``; NaN unless just its own sites are filled."""
    from rdkit import Chem, rdBase

    if sorted(map(int, _ENDS.findall(core))) != sorted(filled):
        return (np.nan,) * 4
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(core)
        if molecule is None:
            return (np.nan,) * 4
        editable = Chem.RWMol(molecule)
        for atom in editable.GetAtoms():
            if atom.GetAtomicNum() == 0 and atom.GetAtomMapNum() in bare:
                atom.SetAtomMapNum(0)
                atom.SetAtomicNum(1)
        try:
            return _of_molecule(Chem.RemoveHs(editable.GetMol()))
        except Chem.MolSanitizeException:
            return (np.nan,) * 4


def _of_molecule(molecule: Any) -> tuple[float, float, float, float]:
    from rdkit.Chem import rdMolDescriptors

    return (
        float(rdMolDescriptors._CalcMolWt(molecule)),
        float(rdMolDescriptors.CalcTPSA(molecule)),
        float(rdMolDescriptors.CalcNumHBD(molecule)),
        float(molecule.GetNumHeavyAtoms()),
    )
