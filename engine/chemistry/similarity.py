"""Similarity of the substituents of a site, from their structures."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..domain.library import Library, is_hydrogen

_RADIUS = 2
_LONGEST = 400
"""Characters of the longest SMILES that is taken for a substituent."""
_MOST = 5_000
"""Substituents of a site up to which all pairs are compared."""
_HALOGENS = frozenset({9, 17, 35, 53})
_SAME = 1e-9
_ATOMS = 2
"""Heavy atoms of a typical substituent below which labels such as ``C`` or ``N`` are letters, not structures."""


def library_similarity(library: Library) -> tuple[Floats | None, ...]:
    """Return the similarity of the substituents of every modelled site; None where no structures are known."""
    sites, _ = library.modelled
    return tuple(substituent_similarity(library.forms(site.name, site.substituents)) for site in sites)


def substituent_similarity(labels: Sequence[str]) -> Floats | None:
    """Return the similarity of substituents, ``(l, l)``; None unless every label is a SMILES.

    The mean of three similarities: Tanimoto of count Morgan fingerprints (groups), Tanimoto of atom pairs (shape), and
    a Gaussian kernel of physical descriptors (size and polarity). Positive semidefinite with ones on the diagonal.
    Hydrogen is like nothing else.
    """
    return _similarity(tuple(labels))


@lru_cache(maxsize=64)
def _similarity(labels: tuple[str, ...]) -> Floats | None:
    if not 2 <= len(labels) <= _MOST or any(len(label) > _LONGEST for label in labels):
        return None
    from rdkit import Chem, rdBase
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
    similarity = np.eye(len(labels))
    known = [place for place, molecule in enumerate(molecules) if molecule is not None]
    fingerprints = (
        rdFingerprintGenerator.GetMorganGenerator(radius=_RADIUS),
        rdFingerprintGenerator.GetAtomPairGenerator(),
    )
    counts = (np.stack([one.GetCountFingerprintAsNumPy(molecules[at]) for at in known]) for one in fingerprints)
    kernels = [_physical(molecules, known), *map(_tanimoto, counts)]
    similarity[np.ix_(known, known)] = np.mean(kernels, axis=0)
    similarity.setflags(write=False)
    return similarity


def _tanimoto(counts: NDArray[np.integer]) -> Floats:
    """Return the Tanimoto similarity of counts ``(n, bits)``: the sum of the smaller ones over that of the larger.

    A substituent without counts, such as a single atom without pairs, is similar to nothing else.
    """
    smaller = np.zeros((len(counts), len(counts)), dtype=np.float32)
    for level in range(1, int(counts.max()) + 1):
        reached = counts >= level
        reached = reached[:, reached.any(axis=0)].astype(np.float32)
        smaller += reached @ reached.T
    total = counts.sum(axis=1, dtype=np.float64)
    larger = total[:, None] + total - smaller
    found: Floats = np.divide(smaller, larger, out=np.eye(len(counts)), where=larger > 0)
    return found


def _physical(molecules: Sequence[Any], known: Sequence[int]) -> Floats:
    """Return a Gaussian kernel of standardised descriptors, as wide as the median distance, ``(n, n)``."""
    from rdkit.Chem import GetFormalCharge, rdMolDescriptors, rdPartialCharges

    figures = []
    for place in known:
        molecule = molecules[place]
        rdPartialCharges.ComputeGasteigerCharges(molecule)
        charges = np.array([atom.GetDoubleProp("_GasteigerCharge") for atom in molecule.GetAtoms()])
        charges[~np.isfinite(charges)] = 0.0  # of atoms that the method has no parameters for
        numbers = [atom.GetAtomicNum() for atom in molecule.GetAtoms()]
        figures.append(
            [
                *rdMolDescriptors.CalcCrippenDescriptors(molecule),
                rdMolDescriptors.CalcTPSA(molecule),
                rdMolDescriptors.CalcNumHBD(molecule),
                rdMolDescriptors.CalcNumHBA(molecule),
                rdMolDescriptors.CalcFractionCSP3(molecule),
                rdMolDescriptors.CalcNumRotatableBonds(molecule),
                rdMolDescriptors.CalcNumAromaticRings(molecule),
                rdMolDescriptors.CalcNumRings(molecule),
                rdMolDescriptors.CalcNumHeteroatoms(molecule),
                rdMolDescriptors.CalcLabuteASA(molecule),
                np.sqrt(molecule.GetNumHeavyAtoms()),
                sum(number in _HALOGENS for number in numbers),
                GetFormalCharge(molecule),
                charges.max(),
                charges.min(),
            ]
        )
    values = np.array(figures, dtype=np.float64)
    spread = values.std(axis=0)
    values = (values - values.mean(axis=0))[:, spread > _SAME] / spread[spread > _SAME]
    lengths = (values**2).sum(axis=1)
    distances = np.maximum(lengths[:, None] + lengths - 2.0 * values @ values.T, 0.0)
    np.fill_diagonal(distances, 0.0)
    different = distances[distances > _SAME]
    kernel: Floats = np.exp(-distances / (np.median(different) if len(different) else 1.0))
    return kernel
