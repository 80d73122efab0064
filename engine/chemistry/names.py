"""Short names of substituents, as chemists write them: OMe, cPr, NHAc, 4-F-Ph, 3-pyridyl.

A small grammar reads the structure from its attachment point outwards; a ring system is looked up in a table. What the
grammar cannot name keeps a compact SMILES without the attachment point. ``rings.csv`` has the rings: SMILES, name with
{} for the locant of the attachment point, locants of the atoms as written. ``groups.csv`` has the functional groups by
which a site's building blocks are named when all of them have it: SMARTS of what reacts, its first atom the one that
carries it, and the name from the group outwards. ``carbons.csv`` has the saturated carbons with names of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from ..domain.library import is_hydrogen
from .name_grammar import UnnamedError, inside, listed_rows, stereo_of, whole_name

if TYPE_CHECKING:
    from ..domain.library import Library


_POINT: Final = re.compile(r"\[\d*\*(?::\d+)?\]|\[R\d*\]|\*")
_LONGEST: Final = 250
"""Most characters of a label to be named; a name would not shorten longer ones."""
_MOST_ATOMS: Final = 40
_SYNTAX: Final = re.compile(r"[=#(\[]|[CcNn]1")
"""Parts of a building block's SMILES that plain labels do not have."""
_LEAST_ATOMS: Final = 3
"""Heavy atoms of a building block."""


def short_names(labels: Iterable[str]) -> tuple[str, ...]:
    """Return one name for each label, in order; different labels keep different names.

    Labels that would share a name show their compact SMILES, and the label itself where that is shared, too.
    """
    texts = tuple(labels)
    different = tuple(dict.fromkeys(texts))
    forms = {label: (*_forms(label), label) for label in different}
    forms |= {label: (name, label, label) for label, name in _building_blocks(different).items()}
    depth = dict.fromkeys(different, 0)
    while True:
        shown = {label: forms[label][depth[label]] for label in different}
        shared = Counter(shown.values())
        vague = [label for label in different if shared[shown[label]] > 1 and shown[label] != label]
        if not vague:
            return tuple(shown[label] for label in texts)
        for label in vague:
            depth[label] += 1


@lru_cache(maxsize=256)
def site_names(substituents: tuple[str, ...]) -> tuple[str, ...]:
    """Return the short names of a site's substituents, in order; cached, because every page uses them.

    Every spelling of hydrogen is ``H``, although a table may have several.
    """
    names = zip(substituents, short_names(substituents), strict=True)
    return tuple("H" if is_hydrogen(label) else name for label, name in names)


def carried_names(library: Library, compound: int) -> dict[str, str]:
    """Return the short names of what a compound carries, by site name."""
    codes = library.codes[compound].tolist()
    return {site.name: site_names(site.substituents)[code] for site, code in zip(library.sites, codes, strict=True)}


def short_name(label: str) -> str:
    """Return the name of a substituent written as SMILES with one attachment point: ``[*:1]``, ``*``, ``[1*]``.

    Any spelling of hydrogen is ``H``; any label that is no such SMILES is returned unchanged.
    """
    return _forms(label)[0]


def drawable(labels: tuple[str, ...]) -> tuple[bool, ...]:
    """Return whether each label of a site is a structure: one with an attachment point, or a building block."""
    whole = bool(_molecules(labels))
    return tuple("*" in label or whole for label in labels)


def pictures(library: Library, site: int) -> tuple[str, ...]:
    """Return the structure to draw for each substituent of a site: from the table, or a label that is one."""
    labels = library.sites[site].substituents
    forms = library.forms(library.sites[site].name, labels)
    if forms != labels:
        return forms
    return tuple(label if drawn else "" for label, drawn in zip(labels, drawable(labels), strict=True))


@lru_cache(maxsize=256)
def _molecules(labels: tuple[str, ...]) -> dict[str, Any]:
    """Return the building blocks of a site as RDKit has them, by their SMILES; none where any label is not one."""
    if len(labels) < 2 or any("*" in label or len(label) > _LONGEST for label in labels):
        return {}
    if not any(_SYNTAX.search(label) for label in labels):
        return {}
    from rdkit import Chem, rdBase

    found = {}
    with rdBase.BlockLogs():
        for label in labels:
            molecule = Chem.MolFromSmiles(label)
            if molecule is None or molecule.GetNumHeavyAtoms() < _LEAST_ATOMS:
                return {}
            found[label] = molecule
    return found


def _building_blocks(labels: tuple[str, ...]) -> dict[str, str]:
    """Return the names of a site's building blocks by the functional group they share; what has none is left out."""
    molecules = _molecules(labels)
    if not molecules:
        return {}
    from rdkit import Chem

    for smarts, pattern in listed_rows("groups.csv"):
        query = Chem.MolFromSmarts(smarts)
        matches = {label: molecule.GetSubstructMatches(query) for label, molecule in molecules.items()}
        if all(matches.values()):
            names = {}
            for label, molecule in molecules.items():
                found = [both for match in matches[label] if (both := _without(molecule, match)) is not None]
                if found:
                    stereo, name = min(found, key=lambda both: (len(both[1]), both))
                    names[label] = stereo + pattern.format(inside(name))
            return names
    return {}


def _without(molecule: Any, match: tuple[int, ...]) -> tuple[str, str] | None:
    """Return the stereo and name of what the first atom of a match belongs to, from it outwards.

    None when it has none.
    """
    from rdkit import Chem

    group = Chem.RWMol(molecule)
    group.AddBond(match[0], group.AddAtom(Chem.Atom(0)), Chem.BondType.SINGLE)
    for atom in sorted(match[1:], reverse=True):
        group.RemoveAtom(atom)
    try:
        Chem.SanitizeMol(group)
        end = next(atom.GetIdx() for atom in group.GetAtoms() if not atom.GetAtomicNum())
        if group.GetNumAtoms() > _MOST_ATOMS or len(Chem.GetMolFrags(group)) > 1:
            return None
        return stereo_of(group, end), whole_name(group, end)
    except (UnnamedError, ValueError):  # RDKit refuses what it cannot make sense of by a ValueError
        return None


@lru_cache(maxsize=65_536)
def _forms(label: str) -> tuple[str, str]:
    """Return the name and the compact SMILES of a label; both are the label itself where it is no substituent."""
    if is_hydrogen(label):
        return "H", "H"
    points = _POINT.findall(label)
    if not points or len(label) > _LONGEST or label == points[0]:
        return label, label
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(_POINT.sub("*", label))
        if molecule is None or molecule.GetNumAtoms() < 2:
            return label, label
        if len(points) > 1:
            plain = str(Chem.MolToSmiles(molecule))
            return plain, plain
        end = next(atom.GetIdx() for atom in molecule.GetAtoms() if not atom.GetAtomicNum())
        compact = str(Chem.MolToSmiles(molecule, rootedAtAtom=end)).removeprefix("*")
        if molecule.GetNumAtoms() > _MOST_ATOMS or "." in compact:
            return compact, compact
        try:
            return stereo_of(molecule, end) + whole_name(molecule, end), compact
        except UnnamedError:
            return compact, compact
