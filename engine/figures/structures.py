"""What the structures of a series have in common, so that pictures can be turned to it; needs RDKit alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["common_core"]

_COMPARED = 20
"""Structures whose largest common part is looked for."""
_SHARE = 0.8
"""Of them must have it."""
_SECONDS = 1
"""For looking for it; as a rule it takes hundredths."""
_SAMPLE = 60
"""Structures that are looked at."""


def common_core(smiles: Sequence[str]) -> str | None:
    """The SMILES of what most of a sample of the structures have in common, a ring at least; None without such a part.

    Pictures aligned to it show the same part of the molecule at the same place.
    """
    from rdkit import Chem, rdBase
    from rdkit.Chem.Scaffolds import MurckoScaffold

    scaffold_of: Any = MurckoScaffold.GetScaffoldForMol  # it carries no types

    given = [text for text in smiles if text]
    step = max(1, len(given) // _SAMPLE)
    with rdBase.BlockLogs():
        molecules = [mol for text in given[::step][:_SAMPLE] if (mol := Chem.MolFromSmiles(text)) is not None]
        scaffolds: dict[str, Any] = {}
        for molecule in molecules:
            scaffold = scaffold_of(molecule)
            if scaffold.GetNumAtoms():
                scaffolds.setdefault(Chem.MolToSmiles(scaffold), scaffold)
        best: tuple[float, int, str] | None = None
        parts = sorted(scaffolds.items(), key=lambda pair: pair[1].GetNumAtoms())[:12]
        for text, part in [*parts, *_shared(molecules)]:
            share = sum(molecule.HasSubstructMatch(part) for molecule in molecules) / len(molecules)
            score = (round(share, 1), part.GetNumAtoms(), text)
            if share >= 0.5 and (best is None or score > best):
                best = score
    return None if best is None else best[2]


def _shared(molecules: Sequence[Any]) -> list[tuple[str, Any]]:
    """The largest part, rings whole, that most of some structures share, as SMILES and as a molecule; or nothing.

    A ring alone can lie in a molecule in several ways; with what hangs on it in all of them it lies in one.
    """
    from rdkit import Chem
    from rdkit.Chem import rdFMCS

    compared = list(molecules[:: max(1, -(-len(molecules) // _COMPARED))])
    if len(compared) < 2:
        return []
    found = rdFMCS.FindMCS(
        compared, threshold=_SHARE, timeout=_SECONDS, ringMatchesRingOnly=True, completeRingsOnly=True
    )
    pattern = Chem.MolFromSmarts(found.smartsString) if found.numAtoms > 1 else None
    for molecule in compared if pattern is not None else ():
        match = molecule.GetSubstructMatch(pattern)
        if match:
            text = str(Chem.MolFragmentToSmiles(molecule, sorted(match), isomericSmiles=False))
            part = Chem.MolFromSmiles(text)  # None for an aromatic nitrogen that lost its substituent
            return [] if part is None or not part.GetRingInfo().NumRings() else [(text, part)]
    return []
