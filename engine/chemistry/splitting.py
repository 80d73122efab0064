"""The decompositions of a molecule with a core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, islice, permutations, product, repeat
from typing import Any

from .cores import Core, site_name
from .structures import spelled

_MOST_MATCHES = 1000
_MOST_WAYS = 64
"""Most assignments of one molecule that are distinguished; a core with more is too symmetric to use."""


@dataclass(frozen=True, slots=True)
class Way:
    """One decomposition of a molecule."""

    core: str
    """The core as it is in this molecule, with its stereo and ``[*:n]`` at every site."""
    substituents: tuple[str, ...]
    """SMILES with one ``[*:n]`` each, one per site of the core; hydrogen is ``[H][*:n]``.

    A ring that joins sites is one substituent of all of them: the same text, with a ``[*:n]`` for each, at each.
    """

    @property
    def bridged(self) -> bool:
        """Whether a substituent joins two sites."""
        return len(set(self.substituents)) < len(self.substituents)


_Cut = tuple[tuple[int, int, int], ...]
"""The bonds to cut: ``(core atom, outer atom, site)``; the outer atom is -1 for hydrogen."""


class Splitter:
    """One core, ready to be looked for in many molecules."""

    def __init__(self, core: Core) -> None:
        from rdkit import Chem

        self.core = core
        whole = Chem.MolFromSmiles(core.smiles)
        labelled = Chem.RWMol(whole)
        sites: dict[int, list[int]] = {}
        ends = []
        for atom in labelled.GetAtoms():
            if atom.GetAtomicNum() == 0:
                number, neighbour = atom.GetAtomMapNum(), atom.GetNeighbors()[0].GetIdx()
                sites.setdefault(neighbour, []).append(number)
                ends.append(atom.GetIdx())
                atom.SetAtomMapNum(0)
                atom.SetIsotope(number)
        self._stereo = Chem.Mol(labelled) if _has_stereo(whole) else None
        """The core with its sites as isotopes, when its stereo has to be compared."""
        scaffold = Chem.RWMol(labelled)
        kept = [index for index in range(scaffold.GetNumAtoms()) if index not in set(ends)]
        place = {old: new for new, old in enumerate(kept)}
        for index in sorted(ends, reverse=True):
            scaffold.RemoveAtom(index)
        self._scaffold = scaffold.GetMol()
        """The core without its sites; matched without stereo, which its loose ends would not carry."""
        self._sites = {place[index]: tuple(sorted(numbers)) for index, numbers in sites.items()}
        self._n_bonds = self._scaffold.GetNumBonds()
        parameters: Any = Chem.SubstructMatchParameters()  # its stubs give every option the wrong type
        parameters.uniquify = False
        parameters.useChirality = False
        parameters.maxMatches = _MOST_MATCHES
        self._parameters = parameters

    def places(self, molecule: Any) -> list[tuple[int, ...]]:
        """Return the matches of the bare core in a molecule: its atoms in the order of the core's."""
        return [tuple(match) for match in molecule.GetSubstructMatches(self._scaffold, self._parameters)]

    def outer_bonds(self, molecule: Any, match: Sequence[int]) -> list[tuple[int, int]] | None:
        """``(core position, outer atom)`` of every bond that leaves a match; None when the match closes other rings."""
        position = {atom: k for k, atom in enumerate(match)}
        outer, inner = [], 0
        for atom, k in position.items():
            for neighbour in molecule.GetAtomWithIdx(atom).GetNeighbors():
                other = neighbour.GetIdx()
                if other in position:
                    inner += 1
                else:
                    outer.append((k, other))
        return outer if inner == 2 * self._n_bonds else None

    def ways(self, molecule: Any) -> tuple[tuple[Way, ...], str]:
        """Return the different decompositions of a molecule, and a reason when there is none."""
        cuts, reasons = self._all_cuts(molecule)
        found: dict[tuple[str, ...], Way] = {}
        for cut in cuts:
            way = self._parts_by(molecule, cut)
            if isinstance(way, str):
                reasons.setdefault(way, 6)
            else:
                found.setdefault((way.core, *way.substituents), way)
        if found:
            return tuple(found.values()), ""
        return (), max(reasons, key=lambda reason: reasons[reason])

    def is_arbitrary(self, molecule: Any) -> bool | None:
        """Return whether a molecule has several decompositions, or a ring that joins sites; None without any.

        It is what ``ways`` says, in a fraction of the time: parts are written only where they have to be compared.
        """
        cuts, _ = self._all_cuts(molecule)
        if self._stereo is None:
            cuts = {cut: match for cut, match in cuts.items() if not _prevented(molecule, cut, _opened(molecule, cut))}
            if len({frozenset(number for _, other, number in cut if other < 0) for cut in cuts}) > 1:
                return True  # hydrogen is at different sites
            if len(cuts) == 1:
                ((cut, match),) = cuts.items()
                outer = {other for _, other, _ in cut if other >= 0}
                return any(not outer.isdisjoint(hanging_on(molecule, one, set(match)) - {one}) for one in outer)
        ways, _ = self.ways(molecule) if cuts else ((), "")
        return len(ways) > 1 or ways[0].bridged if ways else None

    def _all_cuts(self, molecule: Any) -> tuple[dict[_Cut, tuple[int, ...]], dict[str, int]]:
        """Return the different cuts of a molecule, each with its match, and reasons for the matches without one."""
        if _ends(molecule):
            return {}, {"the structure has an open end (*)": 0}
        matches = self.places(molecule)
        reasons: dict[str, int] = {} if matches else {"the core is not in this structure": 0}
        cuts: dict[frozenset[tuple[int, int, int]], tuple[_Cut, tuple[int, ...]]] = {}
        for match in matches:
            outer = self.outer_bonds(molecule, match)
            if outer is None:
                reasons["a further ring bond joins two atoms of the core"] = 1
                continue
            reason = self._obstacle(molecule, match, outer)
            if reason is not None:
                reasons.setdefault(*reason)
                continue
            for cut in self._cuts(match, outer):
                cuts.setdefault(frozenset(cut), (cut, match))
                if len(cuts) >= _MOST_WAYS:
                    break
        return dict(cuts.values()), reasons

    def _obstacle(
        self, molecule: Any, match: Sequence[int], outer: Sequence[tuple[int, int]]
    ) -> tuple[str, int] | None:
        """Return why a match cannot be split at the sites, and how near it came; None when it can."""
        at: dict[int, list[int]] = {}
        for position, other in outer:
            at.setdefault(position, []).append(other)
        if any(position not in self._sites for position in at):
            return "it has the core, with a substituent where the core has no site", 3
        for position, others in at.items():
            if len(others) > len(self._sites[position]):
                names = ", ".join(map(site_name, self._sites[position]))
                return f"more substituents than sites at one atom of the core ({names})", 4
        inside = set(match)
        seen: dict[int, int] = {}
        for position, other in outer:
            if seen.get(other) == position:
                return f"a ring closes over {site_name(self._sites[position][0])}", 5
            for atom in hanging_on(molecule, other, inside):
                seen[atom] = position
        return None

    def _cuts(self, match: Sequence[int], outer: Sequence[tuple[int, int]]) -> Iterator[_Cut]:
        """Every assignment of the outer atoms to the sites of their core atom; -1 where hydrogen is."""
        at: dict[int, list[int]] = {position: [] for position in self._sites}
        for position, other in outer:
            at[position].append(other)
        choices: list[Iterable[_Cut]] = []
        for position, others in at.items():
            numbers = self._sites[position]
            orders = dict.fromkeys(permutations(others + [-1] * (len(numbers) - len(others))))
            choices.append([tuple(zip(repeat(match[position]), order, numbers)) for order in orders])
        return (tuple(chain(*ends)) for ends in islice(product(*choices), _MOST_WAYS))

    def _parts_by(self, molecule: Any, cut: _Cut) -> Way | str:
        """Return the parts of a molecule by the bonds to cut, or the reason as a text."""
        from rdkit import Chem

        whole = _opened(molecule, cut)
        prevented = _prevented(molecule, cut, whole)
        if prevented:
            return prevented
        drawn_as_given = whole is molecule
        hydrogens: dict[int, list[int]] = {}
        bare = _bare(cut)
        if bare:
            whole = Chem.AddHs(whole, onlyOnAtoms=list(bare))
            for atom in bare:
                around = [neighbour.GetIdx() for neighbour in whole.GetAtomWithIdx(atom).GetNeighbors()]
                hydrogens[atom] = [index for index in around if index >= molecule.GetNumAtoms()]
        bonds, labels = [], []
        for atom, other, number in cut:
            end = other if other >= 0 else hydrogens[atom].pop(0)
            bonds.append(whole.GetBondBetweenAtoms(atom, end).GetIdx())
            labels.append((number, number))
        if not bonds:
            return Way(spelled(molecule), ())
        opened = Chem.FragmentOnBonds(whole, bonds, dummyLabels=labels)
        atoms_of: list[tuple[int, ...]] = []
        parts = Chem.GetMolFrags(opened, asMols=True, sanitizeFrags=False, fragsMolAtomMapping=atoms_of)
        core, substituents = "", dict[int, str]()
        for part, atoms in zip(parts, atoms_of, strict=True):
            if not drawn_as_given:
                Chem.SanitizeMol(part)  # each part finds the aromatic rings of its own
            if cut[0][0] in atoms:
                if self._stereo is not None and not part.HasSubstructMatch(self._stereo, useChirality=True):
                    return "it has the core with other stereo"
                core = _written(_without_hydrogens(part))
            else:
                numbers = [end.GetIsotope() for end in _ends(part)]
                substituents |= dict.fromkeys(numbers, _written(part))
        return Way(core, tuple(substituents[number] for number in self.core.numbers))


def _bare(cut: _Cut) -> dict[int, list[int]]:
    """Return the sites of a cut with hydrogen, by their core atom."""
    found: dict[int, list[int]] = {}
    for atom, other, number in cut:
        if other < 0:
            found.setdefault(atom, []).append(number)
    return found


def _prevented(molecule: Any, cut: _Cut, opened: Any) -> str:
    """Return why a molecule, drawn for a cut as ``_opened`` does, cannot be cut; "" where it can."""
    if opened is None:
        names = " and ".join(site_name(number) for number in sorted(end[2] for end in cut if end[1] >= 0))
        return f"an aromatic ring over {names} cannot be opened there; draw it as a core of its own"
    for atom, numbers in _bare(cut).items():
        if molecule.GetAtomWithIdx(atom).GetTotalNumHs() < len(numbers):
            return f"nothing stands at {site_name(numbers[0])}, not even hydrogen"
    return ""


def _opened(molecule: Any, cut: _Cut) -> Any:
    """Return the molecule drawn with single bonds where it is to be cut; None where aromatic rings do not allow that.

    A fused ring is aromatic with its core. Separated, the core stays aromatic and the rest is a chain of double bonds.
    """
    from rdkit import Chem

    ends = [(atom, other) for atom, other, _ in cut if other >= 0]
    fused = [pair for pair in ends if molecule.GetBondBetweenAtoms(*pair).GetIsAromatic()]
    if not fused:
        return molecule
    drawn = Chem.RWMol(molecule)
    for pair in fused:
        bond = drawn.GetBondBetweenAtoms(*pair)
        bond.SetBondType(Chem.BondType.SINGLE)
        bond.SetIsAromatic(False)
    try:
        Chem.Kekulize(drawn, clearAromaticFlags=True)
    except (Chem.KekulizeException, ValueError):
        return None
    return drawn.GetMol()


def _written(part: Any) -> str:
    """Return the SMILES of a part, its open ends as ``[*:n]``."""
    for atom in _ends(part):
        atom.SetAtomMapNum(atom.GetIsotope())
        atom.SetIsotope(0)
    return spelled(part)


def _ends(molecule: Any) -> Sequence[Any]:
    """Return the open ends of a molecule or part: atoms without an element."""
    found: Sequence[Any] = molecule.GetAtomsMatchingQuery(_of_element(0))
    return found


@cache
def _of_element(number: int) -> Any:
    """Return a query for the atoms of one element; a loop over all atoms would take longer than all else here."""
    from rdkit.Chem import rdqueries

    return rdqueries.AtomNumEqualsQueryAtom(number)


def _without_hydrogens(part: Any) -> Any:
    """Return the core without the hydrogens that were added next to a site."""
    from rdkit import Chem

    return Chem.RemoveHs(part) if part.GetAtomsMatchingQuery(_of_element(1)) else part


def hanging_on(molecule: Any, start: int, inside: set[int]) -> set[int]:
    """Return the atoms that hang on one outer atom, itself included, without passing through those of the core."""
    seen, todo = {start}, [start]
    while todo:
        for neighbour in molecule.GetAtomWithIdx(todo.pop()).GetNeighbors():
            index = neighbour.GetIdx()
            if index not in seen and index not in inside:
                seen.add(index)
                todo.append(index)
    return seen


def _has_stereo(molecule: Any) -> bool:
    from rdkit import Chem

    centres = any(atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED for atom in molecule.GetAtoms())
    return centres or any(bond.GetStereo() != Chem.BondStereo.STEREONONE for bond in molecule.GetBonds())
