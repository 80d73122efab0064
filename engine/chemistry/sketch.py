"""A structure drawn by hand: atoms at places and bonds between them, changed step by step."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ..errors import AssayPilotError

BOND = 1.5
"""Length of a bond in the coordinates that RDKit makes, too."""
SITE = "R"
"""The element of a place where substituents go; in a pattern it is any atom."""
_NEAR = 0.4 * BOND
"""Distance at which a new atom is one that is there."""
_MOST = 200
"""Atoms of a structure that can be drawn."""
_CORNER = 2.0 * math.pi / 3.0


@dataclass(frozen=True, slots=True)
class Atom:
    """An atom: its element (``SITE`` for a site), its place, its charge, and the number of its site."""

    symbol: str
    x: float
    y: float
    charge: int = 0
    site: int = 0


@dataclass(frozen=True, slots=True)
class Bond:
    """A bond between two atoms, by their numbers, of order 1 to 3."""

    first: int
    second: int
    order: int = 1

    def other(self, atom: int) -> int:
        """Return the atom at the other end."""
        return self.second if atom == self.first else self.first


@dataclass(frozen=True)
class Sketch:
    """A drawn structure; every change returns a new one. Stereochemistry and isotopes are not in it."""

    atoms: tuple[Atom, ...] = ()
    bonds: tuple[Bond, ...] = ()

    @classmethod
    def of(cls, text: str) -> Sketch:
        """Return the structure of a SMILES or a molfile, laid out; AssayPilotError when it cannot be read or drawn."""
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor

        with rdBase.BlockLogs():
            molecule = Chem.MolFromMolBlock(text) if "M  END" in text else Chem.MolFromSmiles(text.strip())
            if molecule is None:
                raise AssayPilotError("this is no structure that can be read", mend="Give a SMILES or a molfile.")
            if molecule.GetNumAtoms() > _MOST:
                raise AssayPilotError(f"more than {_MOST} atoms cannot be drawn here", mend="Type the SMILES instead.")
            Chem.Kekulize(molecule, clearAromaticFlags=True)
            rdDepictor.Compute2DCoords(molecule)
            rdDepictor.StraightenDepiction(molecule)
        places = molecule.GetConformer().GetPositions()
        atoms = tuple(
            Atom(
                atom.GetSymbol() if atom.GetAtomicNum() else SITE,
                float(x),
                float(y),
                atom.GetFormalCharge(),
                0 if atom.GetAtomicNum() else atom.GetAtomMapNum() or atom.GetIsotope(),
            )
            for atom, (x, y, _) in zip(molecule.GetAtoms(), places, strict=True)
        )
        bonds = tuple(
            Bond(one.GetBeginAtomIdx(), one.GetEndAtomIdx(), max(1, min(3, int(one.GetBondTypeAsDouble()))))
            for one in molecule.GetBonds()
        )
        return cls(atoms, bonds)

    # ------------------------------------------------------------------ reading it

    @cached_property
    def molecule(self) -> Any:
        """The structure as RDKit has it, with its places; not checked, so that it can be drawn in any state."""
        from rdkit import Chem
        from rdkit.Geometry import Point3D

        made = Chem.RWMol()
        for one in self.atoms:
            atom = Chem.Atom(0 if one.symbol == SITE else one.symbol)
            atom.SetFormalCharge(one.charge)
            if one.symbol == SITE:
                atom.SetAtomMapNum(one.site)
                atom.SetProp("atomLabel", f"{SITE}{one.site or ''}")
            made.AddAtom(atom)
        for bond in self.bonds:
            made.AddBond(bond.first, bond.second, Chem.BondType.values[bond.order])
        places = Chem.Conformer(len(self.atoms))
        for number, one in enumerate(self.atoms):
            places.SetAtomPosition(number, Point3D(one.x, one.y, 0.0))
        made.AddConformer(places)
        made.UpdatePropertyCache(strict=False)
        return made

    @cached_property
    def wrong(self) -> tuple[int, ...]:
        """The atoms that have more bonds than they can have."""
        from rdkit import Chem, rdBase

        with rdBase.BlockLogs():
            found = Chem.DetectChemistryProblems(self.molecule)
        return tuple(one.GetAtomIdx() for one in found if hasattr(one, "GetAtomIdx"))

    @cached_property
    def smiles(self) -> str:
        """The SMILES, sites as ``[*:1]``; AssayPilotError for an atom with too many bonds."""
        from rdkit import Chem

        if self.wrong:
            symbol = self.atoms[self.wrong[0]].symbol
            raise AssayPilotError(f"{symbol} has more bonds than it can have", mend="Remove one, or charge the atom.")
        return str(Chem.MolToSmiles(_checked(self.molecule)))

    def bond_between(self, first: int, second: int) -> int | None:
        """Return the number of the bond between two atoms."""
        ends = {first, second}
        return next((n for n, one in enumerate(self.bonds) if {one.first, one.second} == ends), None)

    def neighbours(self, atom: int) -> list[int]:
        """Return the atoms that are bound to one."""
        return [one.other(atom) for one in self.bonds if atom in (one.first, one.second)]

    # ------------------------------------------------------------------ atoms

    def placed(self, symbol: str, x: float, y: float) -> Sketch:
        """Return the structure with a further atom, unbound."""
        return replace(self, atoms=(*self.atoms, self._atom(symbol, x, y)))

    def put(self, atom: int, symbol: str) -> Sketch:
        """Return the structure with another element in the place of an atom."""
        old = self.atoms[atom]
        if old.symbol == symbol == SITE:
            return self
        return self._with_atom(atom, self._atom(symbol, old.x, old.y))

    def charged(self, atom: int, by: int) -> Sketch:
        """Return the structure with an atom's charge changed."""
        old = self.atoms[atom]
        return self._with_atom(atom, replace(old, charge=old.charge + by))

    def grown(self, atom: int, symbol: str = "C", order: int = 1, toward: float | None = None) -> Sketch:
        """Return the structure with an atom bound to another: where there is room, or in a direction in radians."""
        here = self.atoms[atom]
        angle = self._free_angle(atom, order) if toward is None else toward
        x, y = here.x + BOND * math.cos(angle), here.y + BOND * math.sin(angle)
        there = self.nearest(x, y, _NEAR)
        if there is not None and there != atom:
            return self.joined(atom, there, order)
        made = self.placed(symbol, x, y)
        return replace(made, bonds=(*made.bonds, Bond(atom, len(self.atoms), order)))

    def without_atom(self, atom: int) -> Sketch:
        """Return the structure without an atom and its bonds."""

        def moved(number: int) -> int:
            return number - (number > atom)

        bonds = (
            Bond(moved(one.first), moved(one.second), one.order)
            for one in self.bonds
            if atom not in (one.first, one.second)
        )
        return Sketch((*self.atoms[:atom], *self.atoms[atom + 1 :]), tuple(bonds))

    # ------------------------------------------------------------------ bonds and rings

    def joined(self, first: int, second: int, order: int = 1) -> Sketch:
        """Return the structure with a bond between two atoms; one that is there gets the order."""
        known = self.bond_between(first, second)
        if known is not None:
            return self.ordered(known, order)
        return replace(self, bonds=(*self.bonds, Bond(first, second, order)))

    def ordered(self, bond: int, order: int) -> Sketch:
        """Return the structure with another order of a bond."""
        made = replace(self.bonds[bond], order=order)
        return replace(self, bonds=(*self.bonds[:bond], made, *self.bonds[bond + 1 :]))

    def without_bond(self, bond: int) -> Sketch:
        """Return the structure without a bond."""
        return replace(self, bonds=(*self.bonds[:bond], *self.bonds[bond + 1 :]))

    def with_ring(self, size: int, x: float, y: float, *, aromatic: bool = False) -> Sketch:
        """Return the structure with a ring around a place."""
        radius = 0.5 * BOND / math.sin(math.pi / size)
        corners = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in _around(size, 0.5 * math.pi)]
        return self._ring(corners, aromatic=aromatic)

    def ring_at(self, atom: int, size: int, *, aromatic: bool = False) -> Sketch:
        """Return the structure with a ring at an atom: one of its corners, or bound to it where it has two bonds."""
        if len(self.neighbours(atom)) > 1:
            return self.grown(atom).ring_at(len(self.atoms), size, aromatic=aromatic)
        here, angle = self.atoms[atom], self._free_angle(atom, 3)
        radius = 0.5 * BOND / math.sin(math.pi / size)
        x, y = here.x + radius * math.cos(angle), here.y + radius * math.sin(angle)
        corners = [(x + radius * math.cos(a), y + radius * math.sin(a)) for a in _around(size, angle + math.pi)]
        return self._ring(corners, aromatic=aromatic)

    def ring_on(self, bond: int, size: int, *, aromatic: bool = False) -> Sketch:
        """Return the structure with a ring on a bond, at the side with more room."""
        ends = (self.bonds[bond].first, self.bonds[bond].second)
        first, second = (self.atoms[atom] for atom in ends)
        height, radius = 0.5 * BOND / math.tan(math.pi / size), 0.5 * BOND / math.sin(math.pi / size)
        middle, along = ((first.x + second.x) / 2, (first.y + second.y) / 2), (second.x - first.x, second.y - first.y)
        length = math.hypot(*along) or 1.0
        across = (-along[1] / length, along[0] / length)
        sides = [(middle[0] + side * height * across[0], middle[1] + side * height * across[1]) for side in (1, -1)]
        x, y = min(sides, key=lambda at: self._crowding(at[0], at[1], ends))
        start = math.atan2(first.y - y, first.x - x)
        turn = math.remainder(math.atan2(second.y - y, second.x - x) - start, 2.0 * math.pi)
        corners = [
            (x + radius * math.cos(start + n * turn), y + radius * math.sin(start + n * turn)) for n in range(size)
        ]
        return self._ring(corners, aromatic=aromatic)

    # ------------------------------------------------------------------ inside

    def nearest(self, x: float, y: float, within: float) -> int | None:
        """Return the atom nearest to a place, if one is within a distance."""
        far = [math.hypot(one.x - x, one.y - y) for one in self.atoms]
        best = min(range(len(far)), key=far.__getitem__, default=None)
        return best if best is not None and far[best] <= within else None

    def nearest_bond(self, x: float, y: float, within: float) -> int | None:
        """Return the bond nearest to a place, if one is within a distance."""

        def far(one: Bond) -> float:
            a, b = self.atoms[one.first], self.atoms[one.second]
            along, up = b.x - a.x, b.y - a.y
            share = ((x - a.x) * along + (y - a.y) * up) / max(along**2 + up**2, 1e-9)
            share = min(max(share, 0.0), 1.0)
            return math.hypot(a.x + share * along - x, a.y + share * up - y)

        best = min(range(len(self.bonds)), key=lambda n: far(self.bonds[n]), default=None)
        return best if best is not None and far(self.bonds[best]) <= within else None

    def _atom(self, symbol: str, x: float, y: float) -> Atom:
        """Return a new atom; a site has the next number."""
        number = 1 + max((one.site for one in self.atoms), default=0) if symbol == SITE else 0
        return Atom(symbol, x, y, site=number)

    def _with_atom(self, atom: int, made: Atom) -> Sketch:
        return replace(self, atoms=(*self.atoms[:atom], made, *self.atoms[atom + 1 :]))

    def _ring(self, corners: Sequence[tuple[float, float]], *, aromatic: bool) -> Sketch:
        """Return the structure with a ring through these places, its atoms those that are there already."""
        made, ring = self, list[int]()
        for x, y in corners:
            there = made.nearest(x, y, _NEAR)
            made = made if there is not None else made.placed("C", x, y)
            ring.append(len(made.atoms) - 1 if there is None else there)
        edges = list(zip(ring, (*ring[1:], ring[0]), strict=True))
        for first, second in edges:
            if made.bond_between(first, second) is None:
                made = made.joined(first, second)
        if not aromatic:
            return made
        turned = (made._with_doubles([*edges[start:], *edges[:start]]) for start in (0, 1))
        return max(turned, key=lambda one: sum(bond.order == 2 for bond in one.bonds))

    def _with_doubles(self, edges: Sequence[tuple[int, int]]) -> Sketch:
        """Return the structure with double bonds along a ring wherever neither atom has one."""
        made = self
        for first, second in edges:
            full = {end for one in made.bonds if one.order > 1 for end in (one.first, one.second)}
            known = made.bond_between(first, second)
            if known is not None and not full & {first, second}:
                made = made.ordered(known, 2)
        return made

    def _crowding(self, x: float, y: float, but: Collection[int]) -> float:
        """Return how crowded a place is by all atoms but some: the sum of their inverse squared distances."""
        others = (one for number, one in enumerate(self.atoms) if number not in but)
        return sum(1.0 / max((one.x - x) ** 2 + (one.y - y) ** 2, 0.01) for one in others)

    def _free_angle(self, atom: int, order: int) -> float:
        """Return the direction in which a new bond of an atom has most room."""
        here = self.atoms[atom]
        taken = sorted(
            math.atan2(self.atoms[one].y - here.y, self.atoms[one].x - here.x) for one in self.neighbours(atom)
        )
        if not taken:
            return math.pi / 6.0
        if len(taken) == 1:
            linear = order == 3 or any(one.order == 3 for one in self.bonds if atom in (one.first, one.second))
            offered = [taken[0] + math.pi] if linear else [taken[0] + _CORNER, taken[0] - _CORNER]
        else:
            ends = [*taken[1:], taken[0] + 2.0 * math.pi]
            widest = max(end - start for start, end in zip(taken, ends, strict=True))
            offered = [(start + end) / 2 for start, end in zip(taken, ends, strict=True) if end - start > 0.9 * widest]

        def crowding(angle: float) -> float:
            return self._crowding(here.x + BOND * math.cos(angle), here.y + BOND * math.sin(angle), (atom,))

        return min(offered, key=crowding)


def _around(size: int, start: float) -> list[float]:
    """Return the directions of the corners of a ring, the first at ``start``."""
    return [start + 2.0 * math.pi * corner / size for corner in range(size)]


def _checked(molecule: Any) -> Any:
    """Return a copy of a molecule with its aromatic rings found."""
    from rdkit import Chem, rdBase

    made = Chem.Mol(molecule)
    with rdBase.BlockLogs():
        Chem.SanitizeMol(made)
    return made
