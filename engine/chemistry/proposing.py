"""A core for a series that came without one: what its structures have in common, to be confirmed by eye."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from assaypilot.engine.chemistry.cores import Core, parse_core
from assaypilot.engine.chemistry.labelling import with_sites
from assaypilot.engine.chemistry.splitting import Splitter
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.progress import Report, silent

__all__ = ["Proposal", "propose_cores"]

_SAMPLE = 200
"""Structures looked at for the shares."""
_COMPARED = 30
"""Structures compared all at once, which is the slow part."""
_SECONDS = 2
_SHARES = (1.0, 0.8, 0.6)
_SCAFFOLDS = 12
_FEWEST_SHARE = 0.3
_MOST_SITES = 9
_RARE = 0.03
"""Where fewer of the sample carry something there is no site: those few are listed, the others stay comparable."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A core and how much of the series it covers."""

    core: Core
    """With numbered sites."""
    used: int
    """Structures of the sample that it takes apart."""
    sample: int
    """Structures looked at."""


def propose_cores(smiles: Sequence[str], report: Report = silent, *, most: int = 3) -> tuple[Proposal, ...]:
    """Cores that most of the structures share, the best first; empty when there is none.

    Candidates are maximum common substructures of all, four and three fifths of a sample, and its ring scaffolds
    (Bemis and Murcko 1996); a candidate scores its share of the sample times its heavy atoms. ``report`` may raise
    Cancelled.
    """
    from rdkit import Chem, rdBase

    given = [text for text in dict.fromkeys(smiles) if text]
    with rdBase.BlockLogs():
        sample = [mol for text in _spread(given, _SAMPLE) if (mol := Chem.MolFromSmiles(text)) is not None]
    if len(sample) < 2:
        return ()
    found: dict[str, tuple[float, Proposal]] = {}
    candidates = dict.fromkeys(_candidates(sample, report))
    for place, text in enumerate(candidates):
        report(0.6 + 0.4 * place / len(candidates), "Trying cores")
        try:
            core = with_sites(parse_core(text), sample, least=max(1, round(_RARE * len(sample))))
        except AssayPilotError:
            continue  # too small, or nothing stands on it
        if len(core.numbers) > _MOST_SITES or core.smiles in found:
            continue
        splitter = Splitter(core)
        with rdBase.BlockLogs():
            used = sum(bool(splitter.ways(molecule)[0]) for molecule in sample)
        share = used / len(sample)
        if used > 1 and share >= _FEWEST_SHARE:
            size = Chem.MolFromSmiles(core.smiles).GetNumHeavyAtoms() - len(core.numbers)
            found[core.smiles] = (share * size, Proposal(core, used, len(sample)))
    report(1.0, "Cores proposed")
    order = sorted(found, key=lambda text: (-found[text][0], text))
    return tuple(found[text][1] for text in order[:most])


def _candidates(sample: Sequence[Any], report: Report) -> Iterator[str]:
    """SMILES of parts that several structures share, without stereo."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdFMCS
    from rdkit.Chem.Scaffolds import MurckoScaffold

    scaffold_of: Any = MurckoScaffold.GetScaffoldForMol  # it carries no types
    compared = _spread(sample, _COMPARED)
    with rdBase.BlockLogs():
        for step, share in enumerate(_SHARES):
            report(0.6 * step / len(_SHARES), "Looking for what the structures share")
            common = rdFMCS.FindMCS(
                compared,
                threshold=share,
                timeout=_SECONDS,
                ringMatchesRingOnly=True,
                completeRingsOnly=True,
            )
            pattern = Chem.MolFromSmarts(common.smartsString) if common.numAtoms else None
            for molecule in compared if pattern is not None else ():
                match = molecule.GetSubstructMatch(pattern)
                if match:
                    yield _whole_rings(molecule, match)
                    break
        scaffolds: Counter[str] = Counter()
        for molecule in sample:
            text = str(Chem.MolToSmiles(scaffold_of(molecule), isomericSmiles=False))
            scaffolds[text] += bool(text)
    for text, _ in scaffolds.most_common(_SCAFFOLDS):
        if text:
            yield text


def _whole_rings(molecule: Any, match: Sequence[int]) -> str:
    """The SMILES of a part of a molecule without the atoms of rings that are not whole in it."""
    from rdkit import Chem

    inside = set(match)
    rings = [set(ring) for ring in molecule.GetRingInfo().AtomRings()]
    whole = set().union(*(ring for ring in rings if ring <= inside))
    broken = set().union(*rings) - whole
    kept = inside - broken
    if not kept:
        return ""
    text = str(Chem.MolFragmentToSmiles(molecule, sorted(kept), isomericSmiles=False))
    return max(text.split("."), key=len)


def _spread(items: Sequence[Any], most: int) -> list[Any]:
    """At most so many of the items, evenly over all of them."""
    step = max(1, -(-len(items) // most))
    return list(items[::step])
