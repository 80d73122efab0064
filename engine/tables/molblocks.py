"""Drawn structures as SMILES: the one place where a molblock of an SD file becomes text a table can hold."""

from __future__ import annotations

from typing import Any

from ..system.limits import LONGEST_BLOCK, MOST_ATOMS

__all__ = ["Unreadable", "smiles_of"]

_NOTHING = " 0" + "  0" * 11 + "\n"
"""The end of an atom's line that says nothing; without it the line means the same and is read faster."""


class Unreadable(ValueError):
    """Why a molblock is no structure."""


def smiles_of(block: str) -> str:
    """Return the canonical isomeric SMILES of a molblock, "" when it has no atoms; Unreadable says what is wrong.

    Stereo is read from wedges, or from the coordinates of a three-dimensional structure; relative stereo is written as
    in CXSMILES.
    """
    from rdkit import Chem, rdBase

    from ..chemistry.structures import spelled, too_large

    if not block.strip():
        return ""
    if len(block) > LONGEST_BLOCK:
        raise Unreadable(f"a structure of {len(block):,} characters is too long")
    with rdBase.BlockLogs():
        try:
            # Looking for hydrogens to remove takes a quarter of the time, and most drawings have none.
            molecule = Chem.MolFromMolBlock(block.replace(_NOTHING, "\n"), removeHs="H" in block and " H " in block)
            if molecule is not None and molecule.GetNumHeavyAtoms() > MOST_ATOMS:
                raise Unreadable(too_large(molecule))
            if molecule is not None:
                return spelled(molecule) if molecule.GetNumAtoms() else ""
            complaint = _complaint(Chem.MolFromMolBlock(block, sanitize=False, strictParsing=False))
        except Unreadable:
            raise
        except (RuntimeError, ValueError, OverflowError):
            complaint = _complaint(None)
        raise Unreadable(complaint)


def _complaint(molecule: Any) -> str:
    """Return what is wrong with a molecule that could be read only without looking at its chemistry."""
    from rdkit import Chem

    if molecule is None:
        return "the structure is damaged: its lines do not hold the atoms and bonds they promise"
    problems = Chem.DetectChemistryProblems(molecule)
    if problems and problems[0].GetType() == "AtomValenceException":
        place = problems[0].GetAtomIdx()
        atom = molecule.GetAtomWithIdx(place)
        return f"atom {place + 1} ({atom.GetSymbol()}) of the structure has too many bonds"
    if problems and problems[0].GetType() == "KekulizeException":
        return "the aromatic rings of the structure cannot be drawn with single and double bonds"
    return "the structure is damaged"
