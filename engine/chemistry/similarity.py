"""How alike the substituents of a site are, from their structures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..arrays import Floats
from ..domain.labels import is_hydrogen
from ..domain.library import Library

__all__ = ["library_similarity", "substituent_similarity"]

_RADIUS = 2
_LONGEST = 400
"""Characters of a SMILES beyond which nobody means a substituent."""
_MOST = 5_000
"""Substituents of a site up to which all pairs are compared."""
_ATOMS = 2
"""Heavy atoms of a typical substituent below which labels such as ``C`` or ``N`` are letters, not structures."""


def library_similarity(library: Library) -> tuple[Floats | None, ...]:
    """Return the similarity of the substituents of every modelled site; None where labels are no structures."""
    sites, _ = library.modelled
    return tuple(substituent_similarity(site.substituents) for site in sites)


def substituent_similarity(labels: Sequence[str]) -> Floats | None:
    """Return the Tanimoto similarity of count Morgan fingerprints ``(l, l)``; None unless every label is a SMILES.

    Positive semidefinite with ones on the diagonal. Hydrogen is like nothing else.
    """
    return _similarity(tuple(labels))


@lru_cache(maxsize=64)
def _similarity(labels: tuple[str, ...]) -> Floats | None:
    if not 2 <= len(labels) <= _MOST or any(len(label) > _LONGEST for label in labels):
        return None
    from rdkit import Chem, DataStructs, rdBase
    from rdkit.Chem import rdFingerprintGenerator

    molecules: list[Any] = []
    with rdBase.BlockLogs():
        for label in labels:
            molecule = None if is_hydrogen(label) or not label.strip() else Chem.MolFromSmiles(label)
            if molecule is None and not (is_hydrogen(label) or not label.strip()):
                return None
            molecules.append(molecule)
    atoms = [molecule.GetNumHeavyAtoms() for molecule in molecules if molecule is not None]
    attached = any("*" in label for label in labels)
    if len(atoms) < 2 or (not attached and float(np.median(atoms)) < _ATOMS):
        return None
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=_RADIUS)
    prints: list[Any] = [
        None if molecule is None else generator.GetCountFingerprint(molecule) for molecule in molecules
    ]
    similarity = np.eye(len(labels))
    known = [place for place, one in enumerate(prints) if one is not None]
    for position, place in enumerate(known):
        others = known[:position]
        if others:
            row = DataStructs.BulkTanimotoSimilarity(prints[place], [prints[other] for other in others])
            similarity[place, others] = similarity[others, place] = row
    similarity.setflags(write=False)
    return similarity
