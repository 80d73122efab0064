"""The sites of a core that came without: where the structures of a series carry something."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from ..errors import AssayPilotError
from .cores import Core, parse_core
from .splitting import Splitter

__all__ = ["with_sites"]


def with_sites(core: Core, molecules: Sequence[Any], *, least: int = 1) -> Core:
    """Return core with a site at each atom where at least ``least`` structures carry something, in the core's order.

    One site per atom. Where the core lies in a structure in several ways, the one counts that uses the atoms most
    structures use, so a symmetric core gets as few sites as it can. ``molecules`` are RDKit's, None where there is
    none. AssayPilotError when no structure has the core, or none carries anything there.
    """
    from rdkit import Chem, rdBase

    splitter = Splitter(core)
    bare = Chem.MolFromSmiles(core.smiles)
    room = {atom.GetIdx() for atom in bare.GetAtoms() if atom.GetTotalNumHs()}
    choices: list[list[frozenset[int]]] = []
    with rdBase.BlockLogs():
        for molecule in molecules:
            if molecule is None:
                continue
            outer = [splitter.outer_bonds(molecule, match) for match in splitter.places(molecule)]
            places = {frozenset(position for position, _ in bonds) for bonds in outer if bonds is not None}
            # An azole lies in a structure in two ways, of which one has its substituent where the core has a hydrogen.
            places = {place for place in places if place <= room} or places
            if places:
                fewest = min(map(len, places))
                choices.append(sorted((place for place in places if len(place) == fewest), key=sorted))
    if not choices:
        raise AssayPilotError(
            f"no structure of the table has the core {core.smiles}",
            option="--core",
            mend="Draw it with what all compounds share.",
        )
    # Those with one choice say first which atoms are used, then those with the fewest; never by the order of the rows.
    used: Counter[int] = Counter()
    for choice in sorted(choices, key=lambda places: (len(places), [sorted(place) for place in places])):
        best = min(choice, key=lambda place: (sum(not used[k] for k in place), -sum(used[k] for k in place)))
        used.update(best)
    taken = sorted(place for place, count in used.items() if count >= least)
    if not taken:
        raise AssayPilotError(
            f"no structure carries anything on the core {core.smiles}",
            option="--core",
            mend="Draw a smaller core, so that the compounds differ in what stands on it.",
        )
    molecule = Chem.RWMol(Chem.MolFromSmiles(core.smiles))
    for number, position in enumerate(taken, start=1):
        atom = molecule.GetAtomWithIdx(position)
        end = molecule.AddAtom(Chem.Atom(0))
        molecule.GetAtomWithIdx(end).SetAtomMapNum(number)
        molecule.AddBond(position, end, Chem.BondType.SINGLE)
        if atom.GetNumExplicitHs():
            atom.SetNumExplicitHs(atom.GetNumExplicitHs() - 1)  # [nH]: the hydrogen is what stands at the site
    try:
        with rdBase.BlockLogs():
            Chem.SanitizeMol(molecule)
    except Chem.MolSanitizeException:
        raise AssayPilotError(
            f"the core {core.smiles} has no room for a site where the compounds differ",
            option="--core",
            mend="Number its sites yourself, for example --core 'c1ccc([*:1])c([*:2])c1'.",
        ) from None
    return parse_core(str(Chem.MolToSmiles(molecule)))
