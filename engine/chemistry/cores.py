"""The core of a series with its numbered sites, and structures put together from it and substituents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any

from ..domain.library import Library, is_hydrogen
from ..errors import AssayPilotError
from ..system.guarded import LONGEST_SMILES, MOST_ATOMS
from ..system.progress import Report, silent
from .structures import spelled

_OPTION = "--core"
_FILES = (".mol", ".mdl", ".sdf", ".sd", ".smi", ".smiles")
_LARGEST_FILE = 1_000_000
_MOST = 50
_R_IN_SMILES = re.compile(r"\[R(\d{1,2})\]")
_LABEL = re.compile(r"_?R#?(\d{1,2})")
_HIGHEST = 99
_FEWEST = 3
"""Heavy atoms; a smaller core is found everywhere."""
_EXAMPLE = "For example 'c1ccc([*:1])c([*:2])c1'."


@dataclass(frozen=True, slots=True)
class Core:
    """A core in one spelling."""

    smiles: str
    """With ``[*:n]`` where site n is; without any when its sites are not given."""
    numbers: tuple[int, ...] = ()
    """The numbers of its sites, ascending."""

    @property
    def sites(self) -> tuple[str, ...]:
        """``R1``, ``R2`` and so on."""
        return tuple(map(site_name, self.numbers))


def site_name(number: int) -> str:
    """Return the name of the site of a number."""
    return f"R{number}"


def read_cores(texts: Sequence[str]) -> tuple[Core, ...]:
    """Return the cores given as texts: each a SMILES, or the name of a .mol, .sdf or .smi file (with one or more).

    AssayPilotError when one cannot be read, has no single meaning, or only some have numbered sites.
    """
    cores: list[Core] = []
    for text in texts:
        if text.strip().lower().endswith(_FILES):
            cores += _from_file(Path(text.strip()))
        else:
            cores.append(parse_core(text))
    distinct = tuple(dict.fromkeys(cores))
    if len(distinct) > _MOST:
        raise AssayPilotError(f"{len(distinct)} cores are more than {_MOST}", option=_OPTION)
    if len({bool(core.numbers) for core in distinct}) > 1:
        raise AssayPilotError(
            "some cores have numbered sites and some have none",
            option=_OPTION,
            mend="Number the sites of all of them, so that R1 means the same everywhere. " + _EXAMPLE,
        )
    return distinct


def parse_core(text: str) -> Core:
    """Return the core in a SMILES text, its sites as ``[*:1]``, ``[1*]``, ``[R1]`` or ``*``.

    AssayPilotError has the reason.
    """
    from rdkit import Chem, rdBase

    if len(text) > LONGEST_SMILES:
        raise AssayPilotError(f"a core of {len(text):,} characters is too long", option=_OPTION, mend=_EXAMPLE)
    stripped = _R_IN_SMILES.sub(r"[*:\1]", text.strip())
    if not stripped:
        raise AssayPilotError("the core is empty", option=_OPTION, mend=_EXAMPLE)
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(stripped)
        if molecule is None:
            raise AssayPilotError(
                f"the core {text.strip()!r} cannot be read as SMILES, and is no .mol or .sdf file",
                option=_OPTION,
                mend=_EXAMPLE,
            )
        return _core(molecule, None)


def _from_file(path: Path) -> list[Core]:
    from rdkit import Chem, rdBase

    try:
        if path.stat().st_size > _LARGEST_FILE:
            raise AssayPilotError("this file is too large to hold a core", file=path.name, option=_OPTION)
        content = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        raise AssayPilotError(
            "there is no such file", file=path.name, option=_OPTION, mend="Check the name and the folder."
        ) from None
    except OSError as error:
        raise AssayPilotError(f"the file cannot be read ({error.strerror})", file=path.name, option=_OPTION) from None
    if path.suffix.lower() in (".smi", ".smiles"):
        lines = [line for line in content.splitlines() if line.strip()]
        return [parse_core(line.split()[0] if "|" not in line else line) for line in lines]
    blocks = [block for block in re.split(r"^\$\$\$\$[^\n]*\n?", content, flags=re.M) if block.strip()]
    with rdBase.BlockLogs():
        molecules: list[Any] = [Chem.MolFromMolBlock(block.split("M  END")[0] + "M  END\n") for block in blocks]
        if not molecules or None in molecules:
            raise AssayPilotError(
                "there is no structure in the file"
                if not molecules
                else f"record {molecules.index(None) + 1} is no molfile that can be read",
                file=path.name,
                option=_OPTION,
                mend="Draw the core again and save it as a molfile.",
            )
        return [_core(molecule, path.name) for molecule in molecules]


def _core(molecule: Any, file: str | None) -> Core:
    from rdkit import Chem

    def refused(message: str, mend: str = _EXAMPLE) -> AssayPilotError:
        return AssayPilotError(message, file=file, option=_OPTION, mend=mend)

    if len(Chem.GetMolFrags(molecule)) > 1:
        raise refused("the core has several parts", "Give several cores one by one.")
    if molecule.GetNumHeavyAtoms() > MOST_ATOMS:
        raise refused(f"the core has more than {MOST_ATOMS} heavy atoms")
    molecule = Chem.RWMol(molecule)
    ends = [atom for atom in molecule.GetAtoms() if atom.GetAtomicNum() == 0]
    if any(map(_matches_several, molecule.GetAtoms())):
        raise refused(
            "the core has an atom that stands for several elements",
            "Give one core for each.",
        )
    if molecule.GetNumHeavyAtoms() < _FEWEST:
        raise refused(f"the core has fewer than {_FEWEST} heavy atoms, so it would be found everywhere")
    numbers = _numbers(ends)
    for atom, number in zip(ends, numbers, strict=True):
        if atom.GetDegree() != 1:
            raise refused(f"site R{number} is part of a chain or ring of the core; it must be at an end")
        if not 1 <= number <= _HIGHEST:
            raise refused(f"a site's number must be between 1 and {_HIGHEST}, got {number}")
    twice = [number for number in numbers if numbers.count(number) > 1]
    if twice:
        raise refused(f"site R{twice[0]} is in the core twice; each site needs a number of its own")
    for atom in molecule.GetAtoms():
        atom.SetAtomMapNum(0)
    for atom, number in zip(ends, numbers, strict=True):
        # A new atom, so that nothing of a query or an isotope is left.
        fresh = Chem.Atom(0)
        fresh.SetAtomMapNum(number)
        molecule.ReplaceAtom(atom.GetIdx(), fresh)
    return Core(str(Chem.MolToSmiles(molecule)), tuple(sorted(numbers)))


def _matches_several(atom: Any) -> bool:
    """Whether an atom is a list of elements or another query; a site of a molfile is a query for anything."""
    return bool(atom.HasQuery()) and not atom.HasProp("_MolFileRLabel") and "AtomNull" not in atom.DescribeQuery()


def _numbers(ends: Sequence[Any]) -> list[int]:
    """Return the number of each end, by whatever way it was written.

    Those without one get the numbers that are free.
    """
    numbers: list[int | None] = []
    for atom in ends:
        number: int | None = None
        if atom.HasProp("_MolFileRLabel"):
            number = int(atom.GetUnsignedProp("_MolFileRLabel"))
        elif atom.GetAtomMapNum():
            number = int(atom.GetAtomMapNum())
        elif atom.GetIsotope():
            number = int(atom.GetIsotope())
        else:
            for name in ("atomLabel", "dummyLabel"):
                match = _LABEL.fullmatch(atom.GetProp(name)) if atom.HasProp(name) else None
                if match is not None:
                    number = int(match[1])
                    break
        numbers.append(number)
    taken = {number for number in numbers if number is not None}
    free = (number for number in range(1, len(ends) + len(taken) + 2) if number not in taken)
    return [next(free) if number is None else number for number in numbers]


def core_form(core: str) -> str:
    """Return the core as a substituent of the site ``Core``: with single bonds to its sites, whatever their atoms."""
    if "=[*:" not in core and "#[*:" not in core and "]=" not in core and "]#" not in core:
        return core
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(core)
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 0:
            bond = atom.GetBonds()[0]
            bond.SetStereo(Chem.BondStereo.STEREONONE)
            bond.SetBondType(Chem.BondType.SINGLE)
    Chem.SanitizeMol(molecule)
    return str(Chem.MolToSmiles(molecule))


CORE_SITE = "Core"
"""The name of the site whose substituents are forms of the core: several cores, or one with different stereo."""
NO_SITE = "(no site)"
"""The substituent at a site of another core that this core does not have."""

_ENDS = re.compile(r"\[\*:(\d+)\]")


def assemble(core: str, substituents: Iterable[str]) -> str:
    """Return the canonical isomeric SMILES of a core with its sites filled.

    Raises ValueError when the parts do not fit.

    ``core`` has ``[*:n]`` at each site, every substituent one ``[*:n]`` or, where it joins sites, several; relative
    stereo (``|&1:..|``) is kept. Parts are joined as drawn, so a stereocentre of the core keeps its sense with another
    substituent.
    """
    from rdkit import Chem, rdBase

    # What joins two sites is given at both of them.
    parts = list(dict.fromkeys(part for part in substituents if part != NO_SITE))
    needed = sorted(_ENDS.findall(core))
    given = sorted(number for part in parts for number in _ENDS.findall(part))
    if needed != given:
        raise ValueError(
            f"the core has the sites {', '.join(needed) or 'none'}, the parts {', '.join(given) or 'none'}"
        )
    with rdBase.BlockLogs():
        try:
            together = reduce(Chem.CombineMols, [_part(text) for text in (core, *parts)])
            joined = Chem.molzip(together) if parts else together
            Chem.SanitizeMol(joined)
            return spelled(Chem.RemoveHs(joined))
        except (RuntimeError, Chem.MolSanitizeException) as error:
            raise ValueError("the parts do not make a structure") from error


@lru_cache(maxsize=20_000)
def _part(text: str) -> Any:
    from rdkit import Chem

    if is_hydrogen(text):
        text = f"[H][*:{_ENDS.findall(text)[0]}]"
    molecule = Chem.MolFromSmiles(text)
    if molecule is None:
        raise ValueError(f"{text} is no structure")
    return molecule


_EVERY = 50


def product_smiles(library: Library, compound: int) -> str:
    """Return the SMILES of a compound put together from its substituents; empty when its parts do not make one.

    It is empty without a core, for merged substituents, and where the joined parts are not a valid structure. It is
    also empty where a site was left out at which the compounds differ.
    """
    if library.scaffold is None:
        return ""
    carried = dict(library.scaffold.fixed) | library.substituents(compound)
    core = carried.pop(CORE_SITE, "")
    try:
        return assemble(core, carried.values()) if core else ""
    except ValueError:
        return ""


def with_structures(library: Library, report: Report = silent, *, most: int = 5_000) -> Library:
    """Return the library with structures where it has none, up to ``most`` compounds in their order.

    Itself without a core.
    """
    if library.scaffold is None:
        return library
    smiles = list(library.smiles or [""] * len(library))
    lacking = [place for place, text in enumerate(smiles) if not text][:most]
    for done, place in enumerate(lacking):
        if done % _EVERY == 0:
            report(done / len(lacking), f"Drawing compounds: {done:,} of {len(lacking):,}")
        smiles[place] = product_smiles(library, place)
    return replace(library, smiles=tuple(smiles) if any(smiles) else None)
