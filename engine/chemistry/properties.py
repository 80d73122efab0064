"""Columns that chemists expect beside potency: size, lipophilicity, polar surface, efficiencies, an alert flag."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from assaypilot.engine.progress import Report, silent

__all__ = ["KCAL_PER_LOG", "Properties", "ligand_efficiency", "lipophilic_efficiency", "properties", "properties_of"]

_REPORT_EVERY = 50
KCAL_PER_LOG = 1.37
"""2.303 R T at 300 K in kcal/mol: what one log unit of affinity is worth."""


@dataclass(frozen=True, slots=True)
class Properties:
    """Figures of one structure, as RDKit computes them."""

    mw: float
    """Average molecular weight, g/mol."""
    clogp: float
    """Wildman and Crippen's log P (1999)."""
    tpsa: float
    """Topological polar surface area after Ertl (2000), square angstroms."""
    hbd: int
    """Hydrogen-bond donors (N-H and O-H groups)."""
    heavy_atoms: int
    alert: str
    """The first of PAINS (Baell and Holloway 2010) and Brenk's list (2008) that it matches; empty without one."""


def properties_of(smiles: Sequence[str], report: Report = silent) -> tuple[Properties | None, ...]:
    """The properties of each structure, in order; None where it is empty or cannot be read."""
    out: list[Properties | None] = []
    known: dict[str, Properties | None] = {}
    for place, text in enumerate(smiles):
        if place % _REPORT_EVERY == 0:
            report(place / len(smiles), f"Calculating properties: {place:,} of {len(smiles):,}")
        if text not in known:
            known[text] = properties(text)
        out.append(known[text])
    return tuple(out)


def properties(smiles: str) -> Properties | None:
    """The properties of one structure; None when the text is empty or no structure."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdMolDescriptors

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles) if smiles.strip() else None
        if molecule is None or not molecule.GetNumAtoms():
            return None
        match = _alerts().GetFirstMatch(molecule)
        clogp, _ = rdMolDescriptors.CalcCrippenDescriptors(molecule)
        return Properties(
            mw=float(rdMolDescriptors._CalcMolWt(molecule)),
            clogp=float(clogp),
            tpsa=float(rdMolDescriptors.CalcTPSA(molecule)),
            hbd=int(rdMolDescriptors.CalcNumHBD(molecule)),
            heavy_atoms=int(molecule.GetNumHeavyAtoms()),
            alert="" if match is None else str(match.GetDescription()),
        )


def ligand_efficiency(p_value: float, heavy_atoms: int) -> float | None:
    """LE, kcal/mol per heavy atom: 1.37 pIC50 / heavy atoms (Hopkins 2004); None without atoms."""
    return KCAL_PER_LOG * p_value / heavy_atoms if heavy_atoms else None


def lipophilic_efficiency(p_value: float, clogp: float) -> float:
    """LLE: pIC50 - cLogP (Leeson and Springthorpe 2007)."""
    return p_value - clogp


@cache
def _alerts() -> Any:
    from rdkit.Chem import FilterCatalog

    parameters = FilterCatalog.FilterCatalogParams()
    for name in ("PAINS_A", "PAINS_B", "PAINS_C", "BRENK"):
        parameters.AddCatalog(getattr(FilterCatalog.FilterCatalogParams.FilterCatalogs, name))
    return FilterCatalog.FilterCatalog(parameters)
