"""Facts of structures for tables and filters, computed in another process: properties, alerts, substructures."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from ..errors import AssayPilotError
from ..system.progress import Report, silent

Value = TypeVar("Value")

_REPORT_EVERY = 50
FIGURES = ("mw", "clogp", "tpsa", "hbd", "heavy_atoms", "rotatable")
"""In the order in which they travel between processes: average molecular weight in g/mol, Wildman and Crippen's log P
(1999), the topological polar surface after Ertl (2000) in square angstroms, N-H and O-H groups, atoms but hydrogen,
and rotatable bonds."""
_REMEMBERED = 50_000
"""Structures whose figures are kept, for compounds that are added."""
_LIKE = "like"
"""The mark of a question for similar structures; no SMARTS begins with it."""
KCAL_PER_LOG = 1.37
"""2.303 R T at 300 K in kcal/mol: what one log unit of affinity is worth."""


def packed_figures(smiles: Sequence[str], report: Report = silent) -> bytes:
    """``FIGURES`` of each structure, as numbers of 8 bytes, NaN where there is none; alerts take ten times as long.

    Runs in another process: that one loads only what this needs, and the result returns as one block.
    """
    out = array("d")
    for found in _each(smiles, figures_of, "Calculating properties", report):
        out.extend(found)
    return out.tobytes()


@lru_cache(maxsize=_REMEMBERED)
def figures_of(text: str) -> tuple[float, ...]:
    """Return ``FIGURES`` of a structure, NaN where it is none."""
    molecule = _molecule(text)
    return (math.nan,) * len(FIGURES) if molecule is None else _figures(molecule)


def alerts_of(smiles: Sequence[str], report: Report = silent) -> tuple[str, ...]:
    """Return what each structure matches first of PAINS (Baell and Holloway 2010) and Brenk's list (2008), if any."""

    def alert(text: str) -> str:
        molecule = _molecule(text)
        return "" if molecule is None else _alert(molecule)

    return tuple(_each(smiles, alert, "Looking for alerts", report))


def _each(smiles: Sequence[str], of: Callable[[str], Value], doing: str, report: Report) -> list[Value]:
    """Something of each structure, in order; of equal ones once."""
    out: list[Value] = []
    known: dict[str, Value] = {}
    for place, text in enumerate(smiles):
        if place % _REPORT_EVERY == 0:
            report(place / len(smiles), f"{doing}: {place:,} of {len(smiles):,}")
        if text not in known:
            known[text] = of(text)
        out.append(known[text])
    return out


def _molecule(smiles: str) -> Any:
    """RDKit's molecule; None when the text is empty or no structure."""
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles) if smiles.strip() else None
    return molecule if molecule is not None and molecule.GetNumAtoms() else None


def _figures(molecule: Any) -> tuple[float, ...]:
    from rdkit import rdBase
    from rdkit.Chem import rdMolDescriptors

    with rdBase.BlockLogs():
        clogp, _ = rdMolDescriptors.CalcCrippenDescriptors(molecule)
        return (
            float(rdMolDescriptors._CalcMolWt(molecule)),
            float(clogp),
            float(rdMolDescriptors.CalcTPSA(molecule)),
            float(rdMolDescriptors.CalcNumHBD(molecule)),
            float(molecule.GetNumHeavyAtoms()),
            float(rdMolDescriptors.CalcNumRotatableBonds(molecule)),
        )


def _alert(molecule: Any) -> str:
    match = _alerts().GetFirstMatch(molecule)
    return "" if match is None else str(match.GetDescription())


@cache
def _alerts() -> Any:
    from rdkit.Chem import FilterCatalog

    parameters = FilterCatalog.FilterCatalogParams()
    for name in ("PAINS_A", "PAINS_B", "PAINS_C", "BRENK"):
        parameters.AddCatalog(getattr(FilterCatalog.FilterCatalogParams.FilterCatalogs, name))
    return FilterCatalog.FilterCatalog(parameters)


def similar_to(smiles: str, least: float) -> str:
    """Return the question, for ``holding``, for structures at least that similar (ECFP4, Tanimoto)."""
    return f"{_LIKE} {least:g} {smiles}"


def holding(smiles: Sequence[str], question: str, report: Report = silent) -> bytes:
    """Return one byte per structure, in order: 1 where it fits the question, 0 where not or unreadable.

    ``question``: a SMARTS or SMILES that structures must contain, or the result of ``similar_to``. AssayPilotError
    for one that cannot be read.
    """
    from rdkit import rdBase

    with rdBase.BlockLogs():
        fits = _similar(question) if question.startswith(f"{_LIKE} ") else _with_part(question)

    def found(text: str) -> int:
        molecule = _molecule(text)
        return int(molecule is not None and fits(molecule))

    return bytes(_each(smiles, found, "Looking through structures", report))


def _with_part(pattern: str) -> Callable[[Any], bool]:
    from rdkit import Chem

    query = Chem.MolFromSmarts(pattern) or Chem.MolFromSmiles(pattern)
    if query is None or not query.GetNumAtoms():
        raise AssayPilotError(
            f"no structure can be read from {pattern}", mend="Write it as SMILES or SMARTS, for example c1ccncc1."
        )
    return lambda molecule: bool(molecule.HasSubstructMatch(query))


def _similar(question: str) -> Callable[[Any], bool]:
    from rdkit import Chem, DataStructs
    from rdkit.Chem import rdFingerprintGenerator

    _, least, smiles = question.split(" ", 2)
    target = Chem.MolFromSmiles(smiles)
    if target is None or not target.GetNumAtoms():
        raise AssayPilotError(
            f"{smiles} is neither a compound nor a structure", mend="Write like: and an ID or a SMILES."
        )
    generator: Any = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    reference = generator.GetFingerprint(target)

    def fits(molecule: Any) -> bool:
        return bool(DataStructs.TanimotoSimilarity(reference, generator.GetFingerprint(molecule)) >= float(least))

    return fits
