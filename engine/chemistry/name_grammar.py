"""The grammar of short names: a group from its attachment point outwards, and a ring system as the table has it."""

from __future__ import annotations

import csv
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, Final

_SIMPLE: Final = frozenset({"Me", "Et", "Pr", "iPr", "Bu", "tBu", "F", "Cl", "Br", "I", "D", "Ph", "Bn"})
"""Names that need no parentheses when a number follows: ``NMe2``, ``CHF2``."""
_HALOGENS: Final = frozenset({"F", "Cl", "Br", "I"})
_TIMES: Final = ("", "", "di", "tri", "tetra", "penta", "hexa")


class UnnamedError(Exception):
    """The grammar has no name for this part."""


def whole_name(molecule: Any, end: int) -> str:
    """Return the name of a substituent from its attachment point (the atom ``end``) outwards, without its stereo."""
    start = molecule.GetAtomWithIdx(end)
    (bond,) = start.GetBonds()
    first = bond.GetOtherAtom(start)
    if bond.GetBondTypeAsDouble() == 2 and first.GetSymbol() == "O":
        return "=O"
    name = _group(first, bond)
    return re.sub(r"(?:CH2){3,}", lambda found: f"(CH2){len(found[0]) // 3}", name)


def stereo_of(molecule: Any, end: int) -> str:
    """``(R)-``, ``(E)-`` or nothing; unnamed where the sense depends on what the group is attached to."""
    from rdkit import Chem
    from rdkit.Chem import rdCIPLabeler

    none = Chem.BondStereo.STEREONONE, Chem.BondStereo.STEREOANY
    atoms = [atom.GetIdx() for atom in molecule.GetAtoms() if atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED]
    bonds = [bond.GetIdx() for bond in molecule.GetBonds() if bond.GetStereo() not in none]
    if not atoms and not bonds:
        return ""
    if len(atoms) + len(bonds) > 1:
        raise UnnamedError
    senses = set()
    for neighbour, around in (("C", ()), ("C", ("F",) * 3), ("C", ("C",) * 3), ("N", ()), ("O", ()), ("S", ("O",) * 2)):
        whole = Chem.RWMol(molecule)
        whole.ReplaceAtom(end, Chem.Atom(neighbour), preserveProps=True)
        for symbol in around:
            whole.AddBond(end, whole.AddAtom(Chem.Atom(symbol)), Chem.BondType.SINGLE)
        try:
            Chem.SanitizeMol(whole)
            rdCIPLabeler.AssignCIPLabels(whole, maxRecursiveIterations=10_000)
        except (RuntimeError, ValueError):
            raise UnnamedError from None
        marked = whole.GetAtomWithIdx(atoms[0]) if atoms else whole.GetBondWithIdx(bonds[0])
        senses.add(marked.GetProp("_CIPCode") if marked.HasProp("_CIPCode") else "")
    sense = senses.pop()
    if senses or sense not in ("R", "S", "E", "Z"):
        raise UnnamedError
    return f"({sense})-"


def _group(atom: Any, came: Any) -> str:
    """Return the name of what begins at ``atom``, reached over the bond ``came``; UnnamedError when there is none."""
    if came.GetBondTypeAsDouble() != 1 or (atom.GetIsotope() and atom.GetAtomicNum() != 1):
        raise UnnamedError
    if atom.IsInRing():
        return _ring(atom, came)
    bonds = [bond for bond in atom.GetBonds() if bond.GetIdx() != came.GetIdx()]
    symbol: str = atom.GetSymbol()
    if atom.GetFormalCharge():
        return _charged(atom, bonds)
    doubled = sorted(
        (bond.GetOtherAtom(atom).GetSymbol(), bond.GetBondTypeAsDouble())
        for bond in bonds
        if bond.GetBondTypeAsDouble() > 1
    )
    single = [bond for bond in bonds if bond.GetBondTypeAsDouble() == 1]
    if symbol == "C" and doubled:
        return _unsaturated_carbon(atom, bonds, single, came)
    names = [_group(bond.GetOtherAtom(atom), bond) for bond in single]
    hydrogens = atom.GetTotalNumHs()
    if not doubled and symbol == "C":
        return _saturated_carbon(names, hydrogens)
    if not doubled and symbol in ("N", "O", "S", "B", "Si", "Se", *_HALOGENS):
        if symbol == "S" and names == ["F"] * 5:
            return "SF5"
        return symbol + _hydrogens(hydrogens) + _joined(names)
    if symbol == "H" and atom.GetIsotope() == 2:
        return "D"
    oxygens = len(doubled) if all(pair == ("O", 2.0) for pair in doubled) else 0
    if oxygens and (symbol, oxygens) in (("S", 1), ("S", 2), ("P", 1)) and not hydrogens:
        name = symbol + ("O2" if oxygens == 2 else "O") + _joined(names)
        return {"SO2OH": "SO3H", "SOOH": "SO2H"}.get(name, name)
    raise UnnamedError


def _charged(atom: Any, bonds: list[Any]) -> str:
    """Nitro and carboxylate; other charges have no name."""
    others = sorted(
        (bond.GetOtherAtom(atom).GetSymbol(), bond.GetOtherAtom(atom).GetFormalCharge(), bond.GetBondTypeAsDouble())
        for bond in bonds
    )
    if atom.GetSymbol() == "N" and others == [("O", -1, 1.0), ("O", 0, 2.0)]:
        return "NO2"
    if atom.GetSymbol() == "O" and not others:
        return "O-"
    raise UnnamedError


def _saturated_carbon(names: list[str], hydrogens: int) -> str:
    known = _carbons().get(tuple(sorted(names)))
    if known:
        return known
    if hydrogens == 2 and names[0].endswith("-Ph"):
        return names[0].removesuffix("Ph") + "Bn"
    return "C" + _hydrogens(hydrogens) + _joined(names)


def _unsaturated_carbon(atom: Any, bonds: list[Any], single: list[Any], came: Any) -> str:
    """Carbonyl, nitrile, alkyne and alkene."""
    multiple = [bond for bond in bonds if bond.GetBondTypeAsDouble() > 1]
    if len(multiple) != 1:
        raise UnnamedError
    other = multiple[0].GetOtherAtom(atom)
    beyond = [bond for bond in other.GetBonds() if bond.GetIdx() != multiple[0].GetIdx()]
    if other.IsInRing() or other.GetFormalCharge() or other.GetIsotope():
        raise UnnamedError
    names = [_group(bond.GetOtherAtom(atom), bond) for bond in single]
    if multiple[0].GetBondTypeAsDouble() == 3:
        if other.GetSymbol() == "N":
            return "CN"
        return "C≡C" + (inside(_group(beyond[0].GetOtherAtom(other), beyond[0])) if beyond else "H")
    if other.GetSymbol() == "O":
        return _carbonyl(names[0], came, atom) if names else "CHO"
    if other.GetSymbol() != "C" or any(bond.GetBondTypeAsDouble() > 1 for bond in beyond):
        raise UnnamedError
    far = [_group(bond.GetOtherAtom(other), bond) for bond in beyond]
    if not names and not far:
        return "vinyl"
    return f"C{_hydrogens(1 - len(names))}{_around(names)}=C{_hydrogens(2 - len(far))}{_joined(far)}"


def _carbonyl(name: str, came: Any, atom: Any) -> str:
    on_carbon = came.GetOtherAtom(atom).GetSymbol() not in ("N", "*")
    if name == "Me":
        return "Ac"
    if name.startswith("O") and not name.startswith("O-"):
        acid = "CO2" + name[1:]
        return acid if on_carbon else {"CO2tBu": "Boc", "CO2Bn": "Cbz"}.get(acid, acid)
    if name == "O-":
        return "CO2-"
    return "CO" + inside(name)


def _ring(atom: Any, came: Any) -> str:
    """Return a ring system of the table with what it carries, numbered from low.

    ``3-Cl-4-F-Ph``, ``2-oxo-piperidin-1-yl``.
    """
    molecule = atom.GetOwningMol()
    members = _system(molecule, atom.GetIdx())
    if any(molecule.GetAtomWithIdx(k).GetFormalCharge() for k in members):
        raise UnnamedError
    fragment, order = _bare(molecule, members)
    from rdkit import Chem

    found = _ring_table().get(Chem.MolToSmiles(fragment))
    if found is None:
        raise UnnamedError
    template, pattern, locants = found
    carried = {}
    for place, member in enumerate(order):
        here = molecule.GetAtomWithIdx(member)
        outside = [
            b for b in here.GetBonds() if b.GetOtherAtomIdx(member) not in members and b.GetIdx() != came.GetIdx()
        ]
        carried[place] = sorted(_on_ring(bond.GetOtherAtom(here), bond) for bond in outside)
    best = None
    for match in fragment.GetSubstructMatches(template, uniquify=False, maxMatches=200):
        if any(
            fragment.GetAtomWithIdx(place).GetTotalNumHs() != template.GetAtomWithIdx(k).GetTotalNumHs()
            for k, place in enumerate(match)
        ):
            continue
        locant = {place: locants[k] for k, place in enumerate(match)}
        groups = sorted((_locant_order(locant[place]), name) for place, names in carried.items() for name in names)
        choice = (_locant_order(locant[order.index(atom.GetIdx())]), [where for where, _ in groups], groups)
        best = choice if best is None or choice < best else best
    if best is None or ("{}" not in pattern and best[0] != (1, "")):
        raise UnnamedError
    return _substituted(pattern.format(_locant_text(best[0])), best[2])


def _substituted(stem: str, groups: list[tuple[tuple[int, str], str]]) -> str:
    places: dict[str, list[tuple[int, str]]] = {}
    for where, name in groups:
        places.setdefault(name, []).append(where)
    parts = []
    for name in sorted(places, key=str.casefold):
        many = len(places[name])
        times = _TIMES[many] if many < len(_TIMES) else "poly"
        parts.append(f"{','.join(map(_locant_text, places[name]))}-{times}{inside(name)}-")
    return "".join(parts) + stem


def _on_ring(atom: Any, bond: Any) -> str:
    if bond.GetBondTypeAsDouble() == 2 and atom.GetSymbol() == "O":
        return "oxo"
    return _group(atom, bond)


def _system(molecule: Any, start: int) -> frozenset[int]:
    """Return the atoms of all rings that share an atom, beginning with those of ``start``."""
    rings = [frozenset(ring) for ring in molecule.GetRingInfo().AtomRings()]
    members = frozenset({start})
    while True:
        grown = members.union(*(ring for ring in rings if ring & members))
        if grown == members:
            return members
        members = grown


def _bare(molecule: Any, members: frozenset[int]) -> tuple[Any, list[int]]:
    """Return a ring system with hydrogens in place of what it carries, and its atoms' numbers in the molecule."""
    from rdkit import Chem

    bare = Chem.RWMol()
    order = sorted(members)
    for member in order:
        atom = molecule.GetAtomWithIdx(member)
        if atom.GetIsotope():
            raise UnnamedError
        made = Chem.Atom(atom.GetAtomicNum())
        made.SetIsAromatic(atom.GetIsAromatic())
        outside = [bond for bond in atom.GetBonds() if bond.GetOtherAtomIdx(member) not in members]
        if atom.GetIsAromatic() and any(bond.GetBondTypeAsDouble() != 1 for bond in outside):
            raise UnnamedError  # a pyridone and its like
        if atom.GetIsAromatic() and atom.GetSymbol() == "N":
            made.SetNumExplicitHs(atom.GetTotalNumHs() + len(outside))
        bare.AddAtom(made)
    for bond in molecule.GetBonds():
        begin, end = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        if begin in members and end in members:
            bare.AddBond(order.index(begin), order.index(end), bond.GetBondType())
    try:
        Chem.SanitizeMol(bare)
    except (Chem.MolSanitizeException, ValueError):
        raise UnnamedError from None
    return bare, order


@cache
def listed_rows(file: str) -> tuple[tuple[str, ...], ...]:
    """Return the rows of a table in this folder, without its header."""
    with Path(__file__).with_name(file).open(encoding="utf-8", newline="") as lines:
        return tuple(map(tuple, csv.reader(lines)))[1:]


@cache
def _carbons() -> dict[tuple[str, ...], str]:
    """Return the saturated carbons that have a name of their own, by the names of what they carry."""
    return {tuple(carried.split()): name for carried, name in listed_rows("carbons.csv")}


@cache
def _ring_table() -> dict[str, tuple[Any, str, tuple[str, ...]]]:
    from rdkit import Chem

    table = {}
    for smiles, pattern, locants in listed_rows("rings.csv"):
        template = Chem.MolFromSmiles(smiles)
        table[str(Chem.MolToSmiles(template))] = (template, pattern, tuple(locants.split()))
    return table


def _locant_order(text: str) -> tuple[int, str]:
    number = text.rstrip("ab")
    return int(number), text[len(number) :]


def _locant_text(locant: tuple[int, str]) -> str:
    return f"{locant[0]}{locant[1]}"


def _hydrogens(count: int) -> str:
    return "" if count < 1 else "H" if count == 1 else f"H{count}"


def inside(name: str) -> str:
    """Return the name as a part of another: in parentheses where it has a hyphen of its own."""
    bare = name
    while "(" in bare:
        fewer = re.sub(r"\([^()]*\)", "", bare)
        if fewer == bare:
            break
        bare = fewer
    return f"({name})" if "-" in bare else name


def _around(names: list[str]) -> str:
    return "".join(f"({name})" for name in sorted(names))


def _joined(names: list[str]) -> str:
    """Join several groups on one atom: repeated ones first, then those on carbon; all but the last in brackets."""
    counts = Counter(names)
    order = sorted(counts, key=lambda name: (counts[name] == 1, name[0] in "FBIONS" or name == "Cl", name))
    out = ""
    for place, name in enumerate(order):
        if counts[name] > 1:
            out += (name if name in _SIMPLE else f"({name})") + str(counts[name])
        else:
            out += inside(name) if place == len(order) - 1 else f"({name})"
    return out
