"""Layouts of cores and their matches in molecules, so that each site of a series has one place in all pictures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from ..arrays import Floats
from ..chemistry.splitting import hanging_on
from ..domain.library import Library, is_hydrogen

_MOST_MATCHES = 64
"""Most matches of a symmetric core in a molecule that are distinguished."""
_SECONDS = 2
"""For the part that two cores have in common."""
_CLOSE = 1e-3
"""Of a bond of 1.5."""
_TURNS = (0, 30, 60, 90, -60, -30)
_SHAPE = 1.4
"""Width of a picture by its height."""
_LETTERS = 1.5
"""Room that atoms' letters take beyond the atoms."""
_WORTH_IT = 0.95
"""Smaller than this the drawings must become for a core to be turned."""
_LARGE_RING = 8
"""Atoms of a ring above which a polygon is no good picture of it."""
_END = re.compile(r"\[\*:(\d+)\]")

Branch = tuple[tuple[int, int], ...]
"""Atomic numbers of the heavy atoms of a substituent with how often each is there."""


def carried(library: Library, compound: int) -> dict[int, str]:
    """Return a compound's substituents by number of site, where these are structures: ``{1: "C[*:1]"}``."""
    labels = library.substituents(compound)
    if library.scaffold is not None:
        labels = dict(library.scaffold.fixed) | labels
    found = [(_END.findall(text), text) for text in labels.values()]
    return {int(numbers[0]): text for numbers, text in found if len(numbers) == 1}


def lay_out(molecule: Any) -> None:
    """Give a molecule coordinates in the plane.

    RDKit's templates of ring systems take 50 MB of every process that loads them. They serve bridged and large rings;
    all others look the same without them, and most series have no such rings.
    """
    from rdkit.Chem import rdDepictor

    rdDepictor.Compute2DCoords(molecule, useRingTemplates=_bridged_or_large(molecule))


def _bridged_or_large(molecule: Any) -> bool:
    """Whether rings share more than a bond, three rings share an atom that is not flat, or a ring is large."""
    found = molecule.GetRingInfo()
    rings = [set(ring) for ring in found.BondRings()]
    if any(len(ring) > _LARGE_RING for ring in rings):
        return True
    if any(len(one & other) > 1 for one, other in combinations(rings, 2)):
        return True
    return any(found.NumAtomRings(atom.GetIdx()) > 2 and not atom.GetIsAromatic() for atom in molecule.GetAtoms())


class DrawnCore:
    """One core with coordinates, ready to be looked for."""

    def __init__(self, drawn: Any, sites: Mapping[int, int]) -> None:
        self.drawn = drawn
        """Without its open ends."""
        self._sites = sites
        """The core's atom at each site, by the number of the site."""

    @property
    def size(self) -> int:
        """Its atoms."""
        return int(self.drawn.GetNumAtoms())

    @classmethod
    def read(cls, text: str) -> DrawnCore | None:
        """Return the core of a SMILES with ``[*:n]`` at its sites; None when it cannot be read."""
        from rdkit import Chem
        from rdkit.Chem import rdDepictor

        whole = Chem.MolFromSmiles(text)
        if whole is None or not whole.GetNumHeavyAtoms():
            return None
        lay_out(whole)
        rdDepictor.NormalizeDepiction(whole)
        rdDepictor.StraightenDepiction(whole)
        bare = Chem.RWMol(whole)
        ends = {atom.GetIdx(): atom for atom in whole.GetAtoms() if atom.GetAtomicNum() == 0 and atom.GetDegree() == 1}
        kept = [atom.GetIdx() for atom in whole.GetAtoms() if atom.GetIdx() not in ends]
        place = {old: new for new, old in enumerate(kept)}
        sites = {}
        for atom in ends.values():
            neighbour = atom.GetNeighbors()[0].GetIdx()
            if atom.GetAtomMapNum() and neighbour in place:
                sites[atom.GetAtomMapNum()] = place[neighbour]
        for index in sorted(ends, reverse=True):
            bare.RemoveAtom(index)
        if not kept:
            return None
        # An aromatic nitrogen that lost its substituent is no valid molecule any more, and is a good template.
        drawn = bare.GetMol()
        drawn.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(drawn)
        return cls(drawn, sites)

    def turn_to(self, first: DrawnCore) -> None:
        """Align the core with another one by their common part."""
        from rdkit import Chem
        from rdkit.Chem import rdFMCS

        shared = rdFMCS.FindMCS(
            [first.drawn, self.drawn],
            timeout=_SECONDS,
            atomCompare=rdFMCS.AtomCompare.CompareAny,
            bondCompare=rdFMCS.BondCompare.CompareAny,
            ringMatchesRingOnly=True,
        )
        query = Chem.MolFromSmarts(shared.smartsString) if shared.numAtoms > 1 else None
        if query is None:
            return
        pairs = list(zip(first.drawn.GetSubstructMatch(query), self.drawn.GetSubstructMatch(query), strict=True))
        first.lay(self.drawn, pairs)

    def turn(self, degrees: float) -> None:
        """Turn the core in the plane."""
        conformer = self.drawn.GetConformer()
        conformer.SetPositions(conformer.GetPositions() @ _rotation(degrees).T)

    def lay(self, molecule: Any, pairs: Sequence[tuple[int, int]]) -> None:
        """Give a molecule coordinates with the core as drawn; ``pairs`` as from ``place``."""
        from rdkit.Chem import rdDepictor

        if not pairs:  # RDKit would end the program
            lay_out(molecule)
            return
        rdDepictor.GenerateDepictionMatching2DStructure(molecule, self.drawn, pairs)
        # RDKit keeps the core's shape, but now and then lays it down as its mirror image, elsewhere.
        positions = molecule.GetConformer().GetPositions()
        ours, theirs = (list(column) for column in zip(*pairs, strict=True))
        moved = _laid_over(positions, positions[theirs], self.drawn.GetConformer().GetPositions()[ours])
        if np.abs(moved - positions).max() > _CLOSE:
            molecule.GetConformer().SetPositions(moved)

    def place(self, molecule: Any, carried: Mapping[int, str]) -> list[tuple[int, int]]:
        """(core atom, molecule atom) of the best place of the core in a molecule; empty when it is not in it."""
        matches = molecule.GetSubstructMatches(self.drawn, uniquify=False, maxMatches=_MOST_MATCHES)
        if not matches:
            return []
        known = {site: text for site, text in carried.items() if site in self._sites}
        best = matches[0]
        if len(matches) > 1 and known:
            expected = {site: _branch_of(text) for site, text in known.items()}
            best = max(matches, key=lambda match: self._agreement(molecule, match, expected))
        return list(enumerate(best))

    def _agreement(self, molecule: Any, match: Sequence[int], expected: Mapping[int, Branch]) -> int:
        """Return the number of sites at which a match has the expected substituent."""
        inside = set(match)
        agreed = 0
        for site, branch in expected.items():
            around = [a.GetIdx() for a in molecule.GetAtomWithIdx(match[self._sites[site]]).GetNeighbors()]
            outer = [_branch(molecule, index, inside) for index in around if index not in inside]
            agreed += branch in outer or (not branch and not outer)
        return agreed


def widest_turn(drawings: Sequence[Floats]) -> float:
    """Degrees by which drawings ``(n_atoms, 3)`` are turned to be as large as can be in pictures wider than high.

    A multiple of 30, so that bonds stay upright; 0 when nothing is much better.
    """
    sizes = []
    for degrees in _TURNS:
        turned = [(drawing @ _rotation(degrees).T)[:, :2] for drawing in drawings]
        spans = np.array([np.ptp(xy, axis=0) + _LETTERS for xy in turned])
        sizes.append(float(np.maximum(spans[:, 0] / _SHAPE, spans[:, 1]).mean()))
    best = int(np.argmin(sizes))
    return float(_TURNS[best]) if sizes[best] < _WORTH_IT * sizes[0] else 0.0


def _rotation(degrees: float) -> Floats:
    """``(3, 3)``, the rotation about the axis that looks at us."""
    sine, cosine = np.sin(np.radians(degrees)), np.cos(np.radians(degrees))
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _laid_over(positions: Floats, these: Floats, those: Floats) -> Floats:
    """``(n, 3)``, positions turned, mirrored and moved in the plane so that ``these`` come nearest to ``those``.

    Orthogonal Procrustes: with A and B centred, the turn is U V' of the singular value decomposition of A'B.
    """
    here, there = these[:, :2].mean(axis=0), those[:, :2].mean(axis=0)
    left, _, right = np.linalg.svd((these[:, :2] - here).T @ (those[:, :2] - there))
    moved = np.zeros_like(positions)
    moved[:, :2] = (positions[:, :2] - here) @ (left @ right) + there
    return moved


@lru_cache(maxsize=4_096)
def _branch_of(text: str) -> Branch:
    """Return the heavy atoms of a substituent; none for hydrogen and for what is no structure."""
    from rdkit import Chem

    molecule = None if is_hydrogen(text) else Chem.MolFromSmiles(text)
    if molecule is None:
        return ()
    counts = Counter(atom.GetAtomicNum() for atom in molecule.GetAtoms() if atom.GetAtomicNum() > 1)
    return tuple(sorted(counts.items()))


def _branch(molecule: Any, start: int, inside: set[int]) -> Branch:
    """Return the heavy atoms that hang on an atom outside of a core, without passing through it."""
    hanging = hanging_on(molecule, start, inside)
    counts = Counter(molecule.GetAtomWithIdx(index).GetAtomicNum() for index in hanging)
    return tuple(sorted((number, count) for number, count in counts.items() if number > 1))
