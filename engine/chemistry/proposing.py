"""Cores for a series that came without one: what its structures have in common, the best first."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Floats
from ..errors import AssayPilotError
from ..system.progress import Report, silent
from .cores import Core, parse_core
from .decomposition import with_sites
from .splitting import Splitter

_SAMPLE = 200
"""Structures looked at for the shares."""
_COMPARED = 20
"""Structures compared all at once, which is the slow part."""
_SECONDS = 5
_PATIENCE = 5_000
"""Steps without a larger common part after which a search ends: nearly all of its time goes into proving the last."""
_ALL_SECONDS = 15.0
"""Of computing; after this no further candidate is tried. Not by the clock: a busy computer proposes the same."""
_SHARES = (1.0, 0.95, 0.8, 0.6)
_SCAFFOLDS = 12
_TRIED = 48
"""Candidates that are tried on all structures looked at."""
_LOOKED_AT = 40
"""Structures by which the candidates to try are chosen."""
_FEWEST_SHARE = 0.08
_FEWEST_ATOMS = 5
_MOST_SITES = 9
_RARE = 0.03
"""Least share of the sample with a substituent at a site; the few compounds below it are listed instead."""
_LOSS = 6.0
"""Penalty of a lost compound, in compounds whose atoms are all explained by the core."""
_LEAST = 0.25
"""Share of a compound's atoms below which a core explains less, in proportion to its size."""
_ANOTHER = 0.35
"""Least gain of one more core."""
_MOST_CORES = 4
_FEWEST_MORE = 4
"""Compounds that one more core has to keep; fewer are no series of their own."""
_ARBITRARY = 0.7
"""Share explained where a structure has several decompositions, or a ring joins two sites."""
_NITROGEN = 7
_POTENT = 3.0
"""Weight of one of the most potent quarter against one of the others."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A core and how much of the series it covers."""

    smiles: str
    """With numbered sites."""
    used: int
    """Structures of the sample that it decomposes."""
    sample: int
    """Structures looked at."""


@dataclass(frozen=True, slots=True)
class _Tried:
    """A candidate and what it keeps of each structure looked at."""

    core: Core
    explained: Floats
    """The share of its heavy atoms in the core, less where the assignment is arbitrary; NaN where it is lost."""
    share: float
    """The share of the heavy atoms of all that it keeps, however they are assigned."""

    @property
    def kept(self) -> int:
        return int(np.count_nonzero(~np.isnan(self.explained)))


def propose_set(
    smiles: Sequence[str], report: Report = silent, *, values: Sequence[float] | None = None
) -> tuple[tuple[Proposal, ...], tuple[Proposal, ...]]:
    """Return the cores to take together, one or, for several series in a table, more; and other single cores.

    Candidates are maximum common substructures of all, 95, 80 and 60 % of a sample, its ring scaffolds (Bemis and
    Murcko 1996) and their parts. The best keeps the most compounds, those with the highest ``values`` first, and
    explains most of their atoms without an arbitrary choice. The order of the rows does not matter. The sites of
    several cores are numbered on, so that R1 means the same in every compound. ``report`` may raise Cancelled.
    """
    tried, weights = _tried(smiles, values, report)
    if not tried:
        return (), ()
    ranked = sorted(tried, key=lambda one: (-_worth([one], weights), one.core.smiles))
    best: list[_Tried] = [ranked[0]]
    for start in ranked:
        found = [start]
        while len(found) < _MOST_CORES:
            rest = [one for one in ranked if one not in found and _are_series([*found, one])]
            nxt = max(rest, key=lambda one: _worth([*found, one], weights), default=None)
            if nxt is None or _worth([*found, nxt], weights) <= _worth(found, weights):
                break
            found.append(nxt)
        if _worth(found, weights) > _worth(best, weights) + 1e-9:
            best = found
    together = np.count_nonzero(np.any([~np.isnan(one.explained) for one in best], axis=0))
    # Several cores are for several series; one core that fits all compounds and is no mere ring of them is better.
    fits_all = [one for one in ranked if one.kept >= together and one.share >= _LEAST]
    best = fits_all[:1] or best
    best.sort(key=lambda one: (-one.kept, one.core.smiles))
    taken, highest = [], 0
    for one in best:
        taken.append(Proposal(_numbered_from(one.core, highest).smiles, one.kept, len(weights)))
        highest += len(one.core.numbers)
    others = [one for one in ranked if one not in best][:2]
    return tuple(taken), tuple(Proposal(one.core.smiles, one.kept, len(weights)) for one in others)


def _are_series(cores: Sequence[_Tried]) -> bool:
    """Whether each of several cores keeps a compound that all the others lose, and the last one a series of them."""
    kept = np.array([~np.isnan(one.explained) for one in cores])
    alone = np.count_nonzero(kept & (np.count_nonzero(kept, axis=0) == 1), axis=1)
    return bool(alone.min() > 0 and alone[-1] >= _FEWEST_MORE)


def _worth(cores: Sequence[_Tried], weights: Floats) -> float:
    """Return the score of cores: atoms explained, less penalties for lost compounds and for several cores."""
    explained = np.full(len(weights), np.nan)
    for one in cores:
        explained = np.where(np.isnan(explained), one.explained, explained)
    explained = np.nan_to_num(explained, nan=0.0)
    small = np.minimum(explained / _LEAST, 1.0)
    total = np.where(small < 1.0, small * _LEAST - (1.0 - small) * _LOSS, explained) @ weights
    return float(total / weights.sum()) - _ANOTHER * (len(cores) - 1)


def _numbered_from(core: Core, first: int) -> Core:
    """Return the core with its sites numbered from ``first`` + 1 on."""
    if not first:
        return core
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(core.smiles)
    for atom in molecule.GetAtoms():
        if atom.GetAtomicNum() == 0:
            atom.SetAtomMapNum(first + core.numbers.index(atom.GetAtomMapNum()) + 1)
    return parse_core(str(Chem.MolToSmiles(molecule)))


def _tried(smiles: Sequence[str], values: Sequence[float] | None, report: Report) -> tuple[list[_Tried], Floats]:
    """Return the candidates with what each keeps, and the weight of each structure looked at."""
    from rdkit import Chem, rdBase

    best: dict[str, float] = {}
    for text, value in zip(smiles, values if values is not None else [0.0] * len(smiles), strict=True):
        if text:
            best[text] = max(best.get(text, -np.inf), value)
    # By their spelling, not by the rows: the same compounds get the same proposal.
    given = _spread(sorted(best), _SAMPLE)
    with rdBase.BlockLogs():
        sample = [(text, mol) for text in given if (mol := Chem.MolFromSmiles(text)) is not None]
    if len(sample) < 2:
        return [], np.ones(len(sample))
    molecules = [mol for _, mol in sample]
    strength = np.array([best[text] for text, _ in sample])
    strength = np.where(np.isfinite(strength), strength, -np.inf)
    weights = np.ones(len(sample))
    if np.unique(strength[np.isfinite(strength)]).size > 1:
        weights[np.argsort(-strength, kind="stable")[: max(1, len(sample) // 4)]] = _POTENT
    end = time.process_time() + _ALL_SECONDS
    candidates = _worth_trying(list(dict.fromkeys(_candidates(molecules, report, end))), molecules)
    found: dict[str, _Tried] = {}
    for place, text in enumerate(candidates):
        report(0.6 + 0.4 * place / len(candidates), "Trying cores")
        if time.process_time() > end and found:
            break
        try:
            core = with_sites(parse_core(text), molecules, least=max(1, round(_RARE * len(sample))))
        except AssayPilotError:
            continue  # too small, or without substituents
        if len(core.numbers) > _MOST_SITES or core.smiles in found:
            continue
        size = Chem.MolFromSmiles(core.smiles).GetNumHeavyAtoms() - len(core.numbers)
        splitter = Splitter(core)
        explained, shares = np.full(len(sample), np.nan), []
        with rdBase.BlockLogs():
            for row, molecule in enumerate(molecules):
                arbitrary = splitter.is_arbitrary(molecule)
                if arbitrary is not None:
                    doubt = _ARBITRARY if arbitrary else 1.0
                    shares.append(size / molecule.GetNumHeavyAtoms())
                    explained[row] = doubt * shares[-1]
        tried = _Tried(core, explained, sum(shares) / max(len(shares), 1))
        if tried.kept > 1 and tried.kept >= _FEWEST_SHARE * len(sample):
            found[core.smiles] = tried
    report(1.0, "Cores proposed")
    return list(found.values()), weights


def _worth_trying(candidates: Sequence[str], molecules: Sequence[Any]) -> list[str]:
    """Return the candidates that promise most by a quick look: the atoms that they explain in a few structures."""
    from rdkit import Chem, rdBase

    few = _spread(molecules, _LOOKED_AT)
    promise: dict[str, float] = {}
    with rdBase.BlockLogs():
        for text in candidates:
            pattern = Chem.MolFromSmiles(text)
            if pattern is None or pattern.GetNumHeavyAtoms() < _FEWEST_ATOMS or not pattern.GetRingInfo().NumRings():
                continue
            share = sum(mol.HasSubstructMatch(pattern) for mol in few) / len(few)
            promise[text] = share * pattern.GetNumHeavyAtoms() ** 0.5
    return sorted(promise, key=lambda text: (-promise[text], text))[:_TRIED]


def scaffold_of(molecule: Any) -> Any:
    """Return the rings of a molecule and what joins them (Bemis and Murcko 1996).

    As RDKit's ``MurckoScaffold``, whose import takes a tenth of a second.
    """
    from rdkit import Chem

    scaffold = Chem.MurckoDecompose(molecule)
    scaffold.ClearComputedProps()
    scaffold.UpdatePropertyCache()
    Chem.GetSymmSSSR(scaffold)
    return scaffold


def _candidates(sample: Sequence[Any], report: Report, end: float) -> Iterator[str]:
    """SMILES of parts that several structures share, without stereo."""
    from rdkit import Chem, rdBase

    compared = _spread(sample, _COMPARED)
    with rdBase.BlockLogs():
        for step, share in enumerate(_SHARES):
            report(0.6 * step / len(_SHARES), "Looking for what the structures share")
            if time.process_time() > end:
                break
            shared = shared_part(compared, share, _SECONDS)
            if shared is not None:
                yield _whole_rings(*shared)
        scaffolds: Counter[str] = Counter()
        for molecule in sample:
            if not molecule.GetRingInfo().NumRings():
                continue  # a chain has no scaffold, and a long one takes minutes
            text = str(Chem.MolToSmiles(scaffold_of(molecule), isomericSmiles=False))
            scaffolds[text] += bool(text)
        common_ones = [text for text, _ in scaffolds.most_common(_SCAFFOLDS) if text]
        yield from common_ones
        for text in common_ones:
            yield from _parts(text)


def shared_part(molecules: Sequence[Any], share: float, seconds: int) -> tuple[Any, tuple[int, ...]] | None:
    """Return the largest part found, its rings whole, that a share of some molecules have: one of them and its atoms.

    The search counts its steps, so that a busy computer finds the same; ``seconds`` only end one that hangs.
    """
    from rdkit import Chem
    from rdkit.Chem import rdFMCS

    best = (0, 0)
    idle = 0

    class Patience(rdFMCS.MCSProgress):
        def __call__(self, step: Any, _: Any) -> bool:
            nonlocal best, idle
            size = (step.numBonds, step.numAtoms)
            best, idle = (size, 0) if size > best else (best, idle + 1)
            return idle < _PATIENCE

    parameters: Any = rdFMCS.MCSParameters()
    parameters.Threshold, parameters.Timeout = share, seconds
    parameters.ProgressCallback = Patience()
    parameters.AtomCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.RingMatchesRingOnly = True
    parameters.BondCompareParameters.CompleteRingsOnly = True
    common = rdFMCS.FindMCS(molecules, parameters)
    pattern = Chem.MolFromSmarts(common.smartsString) if common.numAtoms else None
    for molecule in molecules if pattern is not None else ():
        match = molecule.GetSubstructMatch(pattern)
        if match:
            return molecule, match
    return None


def _parts(scaffold: str) -> Iterator[str]:
    """Yield what is left of a scaffold when one of its chains between rings is cut, anywhere in the chain."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(scaffold)
    if molecule is None:
        return
    for bond in molecule.GetBonds():
        if bond.IsInRing() or bond.GetBondType() != Chem.BondType.SINGLE:
            continue
        opened = Chem.RWMol(molecule)
        opened.RemoveBond(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx())
        for atoms in Chem.GetMolFrags(opened):
            text = _cut_out(molecule, atoms)
            if text:
                yield text


def _whole_rings(molecule: Any, match: Sequence[int]) -> str:
    """Return the SMILES of a part of a molecule without the atoms of rings that are not whole in it."""
    inside = set(match)
    rings = [set(ring) for ring in molecule.GetRingInfo().AtomRings()]
    whole = set().union(*(ring for ring in rings if ring <= inside))
    broken = set().union(*rings) - whole
    kept = inside - broken
    if not kept:
        return ""
    return _cut_out(molecule, kept)


def _cut_out(molecule: Any, kept: Iterable[int]) -> str:
    """Return the SMILES of the largest piece of some atoms of a molecule, hydrogen where the others were.

    "" for none.
    """
    from rdkit import Chem

    inside = set(kept)
    part = Chem.RWMol(molecule)
    for atom in part.GetAtoms():
        outside = [other for other in atom.GetNeighbors() if other.GetIdx() not in inside]
        if outside and atom.GetIdx() in inside and atom.GetIsAromatic() and atom.GetAtomicNum() == _NITROGEN:
            atom.SetNumExplicitHs(1)
        atom.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
        if not atom.GetIsAromatic() and not atom.GetFormalCharge():
            atom.SetNoImplicit(False)  # as a stereocentre is written, it would keep room for nothing else
            atom.SetNumExplicitHs(0)
    for index in sorted(set(range(part.GetNumAtoms())) - inside, reverse=True):
        part.RemoveAtom(index)
    pieces = Chem.GetMolFrags(part, asMols=True, sanitizeFrags=False)
    if not pieces:
        return ""
    largest = max(pieces, key=lambda piece: piece.GetNumAtoms())
    try:
        Chem.SanitizeMol(largest)
    except (Chem.MolSanitizeException, ValueError):
        return ""
    return str(Chem.MolToSmiles(largest, isomericSmiles=False))


def _spread(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the items, evenly over all of them."""
    step = max(1, -(-len(items) // most))
    return list(items[::step])
