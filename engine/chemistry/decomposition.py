"""Decomposition of a series into core and substituents, and assembly; sites keep their names."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..domain.library import Library
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from ..text import listed
from .cores import CORE_SITE, NO_SITE, Core, assemble, core_form, parse_core
from .splitting import Splitter, Way
from .structures import parsed, spelled


def with_sites(core: Core, molecules: Sequence[Any], *, least: int = 1) -> Core:
    """Return core with a site at each atom where at least ``least`` structures carry something, in the core's order.

    One site per atom. Where a core matches a structure in several ways, the match on the most used atoms counts. A
    symmetric core so gets as few sites as possible. ``molecules`` are RDKit's, or None. AssayPilotError when no
    structure has the core, or none carries anything there.
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
            # An azole matches in two ways; one of them has its substituent where the core has a hydrogen.
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
    # Structures with one choice decide first, then those with the fewest; the order of the rows does not matter.
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
            atom.SetNumExplicitHs(atom.GetNumExplicitHs() - 1)  # [nH]: the hydrogen is the substituent
    try:
        with rdBase.BlockLogs():
            Chem.SanitizeMol(molecule)
    except Chem.MolSanitizeException:
        raise AssayPilotError(
            f"the core {core.smiles} has no room for a site where the compounds differ",
            option="--core",
            mend="Number its sites yourself, for example 'c1ccc([*:1])c([*:2])c1'.",
        ) from None
    return parse_core(str(Chem.MolToSmiles(molecule)))


TIMEOUT = 120.0
"""Seconds after which the remaining structures are not decomposed."""
_REPORT_EVERY = 20
_PASSES = 10


@dataclass(frozen=True, slots=True)
class Parts:
    """One decomposed structure."""

    core: str
    """The core as it is in this structure, with ``[*:n]`` at each site: what ``assemble`` needs."""
    substituents: tuple[str, ...]
    """One per site of the decomposition, in its order."""
    ways: int = 1
    """Number of possible decompositions; more than 1 where the core is symmetric."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The sites of a series and what each structure carries there; plain texts and numbers throughout."""

    cores: tuple[str, ...]
    """With numbered sites, which never change."""
    sites: tuple[str, ...]
    """R1, R2, ... by number; ``Core`` first when the core has several forms."""
    parts: tuple[Parts | None, ...]
    """One per structure in the order given; None where it was not decomposed."""
    reasons: tuple[str, ...]
    """Why not, one per structure; empty where it was."""
    labelled: bool = True
    """Whether the sites were given with the core; else they were found from the substituents of the series."""

    @property
    def used(self) -> int:
        """Number of decomposed structures."""
        return sum(part is not None for part in self.parts)

    def notes(self, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """Return the notes for the user: sites that were found, symmetric assignments.

        ``names`` are those of the structures.
        """
        notes = []
        numbered = ", ".join(site for site in self.sites if site != CORE_SITE)
        if not self.labelled:
            notes.append(
                f"The core came without sites; they were found where the compounds differ and numbered {numbered}: "
                f"{'; '.join(self.cores)}. They keep their numbers when compounds are added."
            )
        if CORE_SITE in self.sites:
            forms = len({part.substituents[0] for part in self.parts if part is not None})
            notes.append(
                f"The core has {forms} forms (structure or stereo); they are the substituents of a site {CORE_SITE}."
            )
        several = [place for place, part in enumerate(self.parts) if part is not None and part.ways > 1]
        if several:
            shown = listed([str(place + 1) if names is None else names[place] for place in several], 3)
            notes.append(
                f"The core is symmetric: {len(several):,} of {self.used:,} compounds can be taken apart in more than "
                "one way. Each was assigned so that substituents stay at the site where most compounds have them, "
                f"which is arbitrary ({shown})."
            )
        return tuple(notes)


def decompose(
    cores: Sequence[Core], smiles: Sequence[str], report: Report = silent, *, timeout: float = TIMEOUT
) -> Decomposition:
    """Return the decomposed structures; the first core that fits is used.

    Every site keeps its column, hydrogen or not.

    ``smiles`` are what ``read_structure`` gives, empty where there is none. Cores without sites get them from the
    structures. The substituents of the series decide symmetric assignments; every decomposition is assembled
    again and compared. ``report`` may raise Cancelled.
    """
    labelled = all(core.numbers for core in cores)
    molecules = _molecules(smiles)
    if not labelled:
        cores = tuple(with_sites(core, molecules) for core in cores)
    numbers = sorted({number for core in cores for number in core.numbers})
    empty = Decomposition(tuple(core.smiles for core in cores), tuple(f"R{n}" for n in numbers), (), (), labelled)
    ways, reasons = _all_ways(empty, molecules, report, timeout)
    forms = {core_form(way.core) for choice in ways for way in choice[1]}
    if len(forms) > 1:
        empty = replace(empty, sites=(CORE_SITE, *empty.sites))
    return _chosen(empty, ways, reasons, smiles)


def extend(
    known: Decomposition, smiles: Sequence[str], report: Report = silent, *, timeout: float = TIMEOUT
) -> Decomposition:
    """``known`` with more structures behind its own, which stay as they are; no site is added or renamed.

    Where there is no site for forms of the core, a structure with a new form of the core is listed.
    """
    ways, reasons = _all_ways(known, _molecules(smiles), report, timeout)
    if CORE_SITE not in known.sites:
        form = next((core_form(part.core) for part in known.parts if part is not None), None)
        for place, (index, choice) in enumerate(ways):
            fitting = tuple(way for way in choice if form is None or core_form(way.core) == form)
            if choice and not fitting:
                reasons[place] = "its core has another form (stereo) than that of the series, which has no site for it"
            ways[place] = (index, fitting)
    return _chosen(known, ways, reasons, smiles)


_Choice = tuple[int, tuple[Way, ...]]
"""A core, and the decompositions of a structure with it."""


def _molecules(smiles: Sequence[str]) -> list[Any]:
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return [parsed(text) if text else None for text in smiles]


def _all_ways(
    known: Decomposition, molecules: Sequence[Any], report: Report, timeout: float
) -> tuple[list[_Choice], list[str]]:
    from rdkit import rdBase

    splitters = [Splitter(parse_core(core)) for core in known.cores]
    end = time.monotonic() + timeout
    ways: list[_Choice] = []
    reasons = []
    with rdBase.BlockLogs():
        for place, molecule in enumerate(molecules):
            if place % _REPORT_EVERY == 0:
                report(place / len(molecules), f"Taking apart: {place:,} of {len(molecules):,} structures")
            found: _Choice = (0, ())
            reason = "there is no structure"
            if molecule is not None and time.monotonic() > end:
                reason = f"not reached within {timeout:g} s"
            elif molecule is not None:
                tried = []
                for index, splitter in enumerate(splitters):
                    choice, reason = splitter.ways(molecule)
                    if choice:
                        found = (index, choice)
                        break
                    tried.append(reason)
                else:
                    # The reason of the core that came nearest; a core that is not in the structure came least near.
                    reason = next((text for text in tried if "is not in" not in text), tried[0])
            ways.append(found)
            reasons.append(reason)
    report(1.0, "Structures taken apart")
    return ways, reasons


def _chosen(known: Decomposition, ways: list[_Choice], reasons: list[str], smiles: Sequence[str]) -> Decomposition:
    """Return the decomposition with one way for each structure."""
    numbers = [parse_core(core).numbers for core in known.cores]
    ways = [(index, tuple(sorted(choice, key=lambda way: (way.substituents, way.core)))) for index, choice in ways]
    rows = [[_row(known.sites, numbers[index], way) for way in choice] for index, choice in ways]
    counts: list[Counter[str]] = [Counter() for _ in known.sites]
    for part in known.parts:
        if part is not None:
            _count(counts, part.substituents, 1)
    picks = _picks(rows, counts)
    parts: list[Parts | None] = []
    for place, (row, pick) in enumerate(zip(rows, picks, strict=True)):
        if pick < 0:
            parts.append(None)
            continue
        way = ways[place][1][pick]
        try:
            again = assemble(way.core, way.substituents)
            # A spelling made from a drawing may be another one once it is read and written.
            same = again == smiles[place] or again == _respelled(smiles[place])
        except ValueError:
            same = False
        if not same:
            reasons[place] = "put together again from its parts it is another structure"
        parts.append(Parts(way.core, row[pick], len(row)) if same else None)
    return replace(known, parts=known.parts + tuple(parts), reasons=known.reasons + tuple(reasons))


def _respelled(smiles: str) -> str:
    """Return the spelling of a structure that was read from its spelling."""
    from rdkit import rdBase

    with rdBase.BlockLogs():
        molecule = parsed(smiles)
        return "" if molecule is None else spelled(molecule)


def _row(sites: tuple[str, ...], numbers: tuple[int, ...], way: Way) -> tuple[str, ...]:
    carried = {f"R{number}": text for number, text in zip(numbers, way.substituents, strict=True)}
    carried[CORE_SITE] = core_form(way.core)
    return tuple(carried.get(site, NO_SITE) for site in sites)


def _picks(rows: Sequence[Sequence[tuple[str, ...]]], counts: list[Counter[str]]) -> list[int]:
    """One way of each structure, -1 where there is none: the substituents stay where most structures have them.

    Maximises the sum over structures and sites of log(1 + how many others carry the same there), one structure after
    another until nothing changes; ``counts`` are those of the structures that are settled.
    """
    picks = [-1] * len(rows)
    open_rows = []
    for place, row in enumerate(rows):
        if len(row) == 1:
            picks[place] = 0
            _count(counts, row[0], 1)
        elif row:
            open_rows.append(place)
    open_rows.sort(key=lambda place: tuple(rows[place]))  # not by the order of the rows of a table
    for _ in range(_PASSES):
        changed = False
        for place in open_rows:
            row = rows[place]
            if picks[place] >= 0:
                _count(counts, row[picks[place]], -1)
            gains = [sum(math.log1p(count[text]) for count, text in zip(counts, way, strict=True)) for way in row]
            best = min(range(len(row)), key=lambda k: (-round(gains[k], 9), row[k]))
            changed |= best != picks[place]
            picks[place] = best
            _count(counts, row[best], 1)
        if not changed:
            break
    return picks


def _count(counts: list[Counter[str]], row: Sequence[str], by: int) -> None:
    for count, text in zip(counts, row, strict=True):
        count[text] += by


_MOST = 20_000
"""Compounds that suffice to find the most frequent substituents of a site."""


def parts_of(library: Library) -> Decomposition:
    """Return the decomposition from which the library was made."""
    scaffold = library.scaffold
    if scaffold is None:
        raise ValueError("a library whose sites were not made from structures")
    fixed = dict(scaffold.fixed)
    numbers = sorted({number for core in scaffold.cores for number in parse_core(core).numbers})
    sites = (*(() if CORE_SITE in fixed else (CORE_SITE,)), *(f"R{number}" for number in numbers))
    parts = []
    for compound in range(min(len(library), _MOST)):
        carried = fixed | library.substituents(compound)
        core = carried.get(CORE_SITE, scaffold.cores[0])
        parts.append(Parts(core, tuple(carried.get(site, "") for site in sites)))
    return Decomposition(scaffold.cores, sites, tuple(parts), ("",) * len(parts))
