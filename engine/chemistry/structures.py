"""A structure as a table writes it: read, without its salt, in one spelling, and compared with others."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

from ..system.guarded import LONGEST_BLOCK, LONGEST_SMILES, MOST_ATOMS
from ..system.progress import Report, silent

_REPORT_EVERY = 200
_LONGEST_SHOWN = 60
_BLOCK_END = "M  END"
_COUNTS_WIDTH = 39
_MORE = re.compile(r"[@/\\.:|*\s]|\[\d*H|\A\Z")
"""Features of a spelling that need a second look: stereo, several parts, numbered or open ends, hydrogen."""
_CLEARLY_LARGER = 2.0
"""Least heavy atoms of the parent per heavy atom of a second part that is no known salt."""


@dataclass(frozen=True, slots=True)
class Structure:
    """One cell's structure: the compound in one spelling, or why there is none."""

    text: str
    """As it was written."""
    smiles: str = ""
    """Canonical isomeric SMILES of the parent, with ``|&1:..|`` where the stereo is relative; empty with a reason."""
    left_out: tuple[str, ...] = ()
    """SMILES of the counter-ions and solvents that were left out."""
    neutralised: bool = False
    """Whether the parent lost the charge that its counter-ion balanced."""
    reason: str = ""
    """Why it cannot be used; empty when it can."""


def read_structures(texts: Sequence[str], report: Report = silent, *, ours: bool = False) -> tuple[Structure, ...]:
    """Each text read, in order; equal texts are read once. ``report`` may raise Cancelled.

    ``ours``: the texts are what ``spelled`` gave, so that those without stereo, salts and the like need no reading.
    """
    known: dict[str, Structure] = {}
    out = []
    for place, text in enumerate(texts):
        if place % _REPORT_EVERY == 0:
            report(place / max(1, len(texts)), f"Reading structures: {place:,} of {len(texts):,}")
        found = known.get(text)
        if found is None:
            plain = ours and _MORE.search(text) is None
            found = known[text] = Structure(text, text) if plain else read_structure(text)
        out.append(found)
    return tuple(out)


def read_structure(text: str) -> Structure:
    """Return the structure in a SMILES, CXSMILES or molblock.

    Never raises for a bad one, which has a reason instead.
    """
    from rdkit import Chem, rdBase

    stripped = text.strip()
    if not stripped:
        return Structure(text, reason="there is no structure")
    if _BLOCK_END in stripped:
        try:
            return replace(read_structure(_drawn(stripped)), text=text)
        except Unreadable as error:
            return Structure(text, reason=str(error))
    if len(stripped) > LONGEST_SMILES:
        return Structure(text, reason=f"a structure of {len(stripped):,} characters is too long")
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(stripped, _parameters(hydrogens="[H" in stripped))
        if molecule is None:
            drawn = Chem.MolFromSmiles(stripped.split()[0], sanitize=False)
            why = "it cannot be read as SMILES" if drawn is None else complaint(drawn)
            return Structure(text, reason=f"{_shown(stripped)} is no structure: {why}")
        if not molecule.GetNumAtoms():
            return Structure(text, reason="the structure is empty")
        if not molecule.GetNumHeavyAtoms():
            return Structure(text, reason=f"{_shown(stripped)} has no heavy atom")
        if molecule.GetNumHeavyAtoms() > MOST_ATOMS:
            return Structure(text, reason=too_large(molecule))
        if ":" in stripped:  # numbers of atoms in a reaction are no part of the compound
            for atom in molecule.GetAtoms():
                atom.SetAtomMapNum(0)
        if "." not in stripped:
            return Structure(text, spelled(molecule))
        return _parent(text, molecule)


_NOTHING = " 0" + "  0" * 11 + "\n"
"""The empty end of an atom's line; without it the line means the same and is read faster."""


class Unreadable(ValueError):
    """Why a molblock is no structure."""


def smiles_of(block: str) -> str:
    """Return the canonical isomeric SMILES of a molblock, "" when it has no atoms; Unreadable has the fault.

    Stereo is read from wedges, or from the coordinates of a three-dimensional structure; relative stereo is written as
    in CXSMILES.
    """
    from rdkit import Chem, rdBase

    if not block.strip():
        return ""
    if len(block) > LONGEST_BLOCK:
        raise Unreadable(f"a structure of {len(block):,} characters is too long")
    with rdBase.BlockLogs():
        try:
            # Looking for hydrogens to remove takes a quarter of the time, and most drawings have none.
            hydrogens = "H" in block and " H " in block
            molecule: Any = Chem.MolFromMolBlock(block.replace(_NOTHING, "\n"), removeHs=hydrogens)
            drawn: Any = molecule or Chem.MolFromMolBlock(block, sanitize=False, strictParsing=False)
        except (RuntimeError, ValueError, OverflowError):
            molecule = drawn = None
        if drawn is None:
            raise Unreadable("the structure is damaged: its lines do not hold the atoms and bonds they promise")
        if molecule is None:
            raise Unreadable(f"the structure is damaged: {complaint(drawn)}")
        if molecule.GetNumHeavyAtoms() > MOST_ATOMS:
            raise Unreadable(too_large(molecule))
        return spelled(molecule) if molecule.GetNumAtoms() else ""


def _drawn(text: str) -> str:
    """Return the spelling of a molblock in a table's cell, its outer blanks trimmed; Unreadable has the fault."""
    lines = text.splitlines()
    counts = next((place for place, line in enumerate(lines[:4]) if line.rstrip().endswith(("V2000", "V3000"))), None)
    if counts is None:
        raise Unreadable("the structure is damaged: it has no line with its numbers of atoms and bonds")
    # The counts stand in fixed columns, which end with the version; blanks in front may have been trimmed.
    lines[counts] = lines[counts].rstrip().rjust(_COUNTS_WIDTH)
    return smiles_of("\n".join([*[""] * (3 - counts), *lines]) + "\n")


def spelled(molecule: Any) -> str:
    """Return the canonical isomeric SMILES of a molecule, followed by its relative stereo when it has any.

    An enantiomer, the racemate drawn with ``|&1:..|`` and the structure drawn flat are three spellings.
    """
    from rdkit import Chem

    if not molecule.GetStereoGroups():
        return str(Chem.MolToSmiles(molecule))
    copy = Chem.Mol(molecule)
    Chem.CanonicalizeEnhancedStereo(copy)
    fields: Any = Chem.CXSmilesFields.CX_ENHANCEDSTEREO
    return str(Chem.MolToCXSmiles(copy, Chem.SmilesWriteParams(), fields)).strip()


def too_large(molecule: Any) -> str:
    """Return why a molecule is no compound of a series: it has too many atoms."""
    return f"a structure of {molecule.GetNumHeavyAtoms():,} heavy atoms is too large; at most {MOST_ATOMS} are read"


def salt_note(structures: Sequence[Structure]) -> str:
    """One sentence on what was left out of how many structures; empty when nothing was."""
    salts = [found for found in structures if found.left_out]
    if not salts:
        return ""
    parts = Counter(part for found in salts for part in dict.fromkeys(found.left_out))
    named = ", ".join(f"{part}: {count}" for part, count in parts.most_common(5))
    more = f" and {len(parts) - 5} others" if len(parts) > 5 else ""
    charged = sum(found.neutralised for found in salts)
    also = f"; {charged} of them took the neutral form" if charged else ""
    many = "structure" if len(salts) == 1 else "structures"
    return f"Salts and solvents were left out of {len(salts):,} {many} ({named}{more}){also}."


def parsed(smiles: str) -> Any:
    """RDKit's molecule of a SMILES text, or None; hydrogens that are written as atoms belong to their neighbours."""
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles, _parameters(hydrogens="[H" in smiles))


def heavy_atoms(text: str) -> int:
    """Return the heavy atoms of a SMILES or molblock; 0 where it cannot be read as a structure."""
    found = read_structure(text)
    if found.reason:
        return 0
    molecule = parsed(found.smiles)
    return 0 if molecule is None else int(molecule.GetNumHeavyAtoms())


@cache
def _parameters(*, hydrogens: bool) -> Any:
    from rdkit import Chem

    parameters: Any = Chem.SmilesParserParams()  # its stubs give every option the wrong type
    parameters.removeHs = hydrogens  # looking for some takes a quarter of the time, and most texts write none
    parameters.strictCXSMILES = False  # what is behind the structure is often a name
    parameters.parseName = True
    return parameters


def complaint(molecule: Any) -> str:
    """Return the chemical fault of a molecule that was read without sanitisation, in a few words."""
    from rdkit import Chem

    try:
        problems = Chem.DetectChemistryProblems(molecule)
    except (RuntimeError, ValueError, OverflowError):
        problems = ()
    kind = problems[0].GetType() if problems else ""
    if kind == "AtomValenceException":
        place = problems[0].GetAtomIdx()
        return f"atom {place + 1} ({molecule.GetAtomWithIdx(place).GetSymbol()}) has too many bonds"
    if kind == "KekulizeException":
        return "its aromatic rings cannot be drawn with single and double bonds (an [nH] may be missing)"
    return "its atoms and bonds do not fit together"


def _parent(text: str, molecule: Any) -> Structure:
    """Return the parent of a structure of several parts: what is no known salt or solvent and clearly the largest."""
    from rdkit import Chem

    parts = [(spelled(part), part) for part in Chem.GetMolFrags(molecule, asMols=True)]
    different = dict(parts)
    kept = {name: part for name, part in different.items() if not _is_salt(part)}
    if not kept:
        kept = different
    order = sorted(kept, key=lambda name: (-_size(kept[name]), name))
    if len(order) > 1 and _size(kept[order[0]]) < _CLEARLY_LARGER * _size(kept[order[1]]):
        return Structure(
            text, reason=f"{_shown(text.strip())} is a mixture of {len(order)} compounds; one of them must be named"
        )
    name = order[0]
    left_out = tuple(other for other, _ in parts if other != name)
    parent, neutral = kept[name], False
    if Chem.GetFormalCharge(parent) and any(Chem.GetFormalCharge(different[other]) for other in left_out):
        # Without its counter-ion the charge is only how the salt was written; a quaternary nitrogen keeps its own.
        calm = uncharger().uncharge(parent)
        neutral = spelled(calm) != name
        parent = calm
    return Structure(text, spelled(parent), left_out, neutral)


def _size(molecule: Any) -> int:
    """Heavy atoms, those of a molecule without carbon counting little."""
    organic = any(atom.GetAtomicNum() == 6 for atom in molecule.GetAtoms())
    return int(molecule.GetNumHeavyAtoms()) if organic else 1


def _is_salt(molecule: Any) -> bool:
    return not _salts().StripMol(molecule, dontRemoveEverything=False).GetNumAtoms()


@cache
def _salts() -> Any:
    from rdkit.Chem import SaltRemover

    remover: Any = SaltRemover.SaltRemover  # it carries no types
    return remover()


@cache
def uncharger() -> Any:
    """Return RDKit's tool that takes charges away where a proton can."""
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.Uncharger()


def _shown(text: str) -> str:
    line = " ".join(text.split())
    return f"'{line if len(line) <= _LONGEST_SHOWN else line[: _LONGEST_SHOWN - 1] + '…'}'"


Merge = Literal["none", "charge", "tautomer"]
"""Structures that count as one compound: identical ones; also charge forms; also tautomers."""

_EVERY = 50
_POINT = re.compile(r"\[\d*\*(?::\d+)?\]|\[R\d*\]|\*")
"""An attachment point as different programs write it: ``[*:1]``, ``[1*]``, ``[R1]``, ``*``."""
_EXTENSION = re.compile(r"\s*\|[^|]*\|$")
"""Atom names after the structure in an extended SMILES."""


def identity(smiles: str, merge: Merge = "none") -> str:
    """Return the spelling that all drawings of one compound share; empty for an empty text.

    ``smiles`` is what ``read_structure`` gives. Stereo is always part of it: racemate and enantiomer are two. RDKit's
    canonical tautomer loses the stereo of what tautomerism flattens, which is why it is used on request only.
    """
    if merge == "none" or not smiles:
        return smiles
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None:
            return smiles
        molecule = uncharger().uncharge(molecule)
        if merge == "tautomer":
            molecule = _enumerator().Canonicalize(molecule)
        return spelled(molecule)


def same_structure(
    ids: Sequence[str], smiles: Sequence[str], merge: Merge = "none", report: Report = silent
) -> tuple[tuple[str, ...], ...]:
    """Return groups of two and more different ids that are one compound, in order of appearance.

    Empty texts belong to none.

    ``ids`` and ``smiles`` are of one length; the same id may come several times.
    """
    groups: dict[str, dict[str, None]] = {}
    known: dict[str, str] = {}
    for place, (name, text) in enumerate(zip(ids, smiles, strict=True)):
        if merge != "none" and place % _EVERY == 0:
            report(place / max(1, len(ids)), f"Comparing structures: {place:,} of {len(ids):,}")
        if not text:
            continue
        key = known.get(text)
        if key is None:
            key = known[text] = identity(text, merge)
        groups.setdefault(key, {})[name] = None
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


@cache
def _enumerator() -> Any:
    from rdkit.Chem.MolStandardize import rdMolStandardize

    return rdMolStandardize.TautomerEnumerator()


def attached(text: str) -> str | None:
    """Return the letters of a SMILES with exactly one attachment point, sorted; None for any other text.

    Spellings of one structure share them, so that only texts that do need be parsed.
    """
    bare, points = _POINT.subn("", _EXTENSION.sub("", text))
    if points != 1 or re.search(r"[^A-Za-z0-9\[\]()=#$@+\-/\\.%:]", bare):
        return None
    return "".join(sorted(re.sub(r"[^A-Za-z]", "", bare).casefold()))


def canonical_substituent(text: str) -> str | None:
    """Return the canonical SMILES of a substituent with one attachment point, whatever its number.

    None when it is none.
    """
    from rdkit import Chem, rdBase

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(_POINT.sub("*", _EXTENSION.sub("", text)))
    return None if molecule is None else str(Chem.MolToSmiles(molecule))
