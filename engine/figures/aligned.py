"""Aligned structures: every picture of a library is turned so that the core is in the same place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..chemistry.proposing import scaffold_of, shared_part
from ..domain.library import Library
from .cores import DrawnCore, lay_out, widest_turn

_LARGEST = 300
"""Most heavy atoms of a drawn structure: larger ones are illegible, and their layout takes minutes."""
_SHORTEST_BOND, _LONGEST_BOND = 10.0, 24.0
_PADDING = 0.05
_DARKER = {9: (0.0, 0.45, 0.45), 15: (0.7, 0.35, 0.0), 16: (0.55, 0.48, 0.0), 17: (0.0, 0.5, 0.0)}
"""Colours of fluorine, phosphorus, sulfur and chlorine, which RDKit draws too light for paper."""
_LIGHTER = {7: (0.53, 0.65, 1.0), 35: (0.86, 0.56, 0.26)}
"""Colours of nitrogen and bromine, which RDKit draws too dark for a dark ground."""
_BOND = 1.5
"""Length of a bond in the coordinates RDKit makes."""
_SAMPLE = 40
"""Structures by which the core is turned so that pictures are well filled."""


class Aligned:
    """Draws structures; those that contain one of some cores are aligned to it.

    ``cores`` are SMILES that may have attachment points (``[*:1]``), as a library's scaffold has them; without any,
    the part most of ``smiles`` have in common takes their place. With ``smiles`` the core lies so that these fill
    pictures that are wider than high.
    """

    def __init__(self, cores: Sequence[str], smiles: Sequence[str] = ()) -> None:
        from rdkit import rdBase

        with rdBase.BlockLogs():
            found = [core for core in map(DrawnCore.read, cores) if core is not None]
            if not found:
                common = common_core(smiles)
                drawn = DrawnCore.read(common) if common else None
                found = [] if drawn is None else [drawn]
            # The largest first: a core may be part of another one.
            self._cores = sorted(found, key=lambda core: -core.size)
            if self._cores and smiles:
                sample = [text for text in smiles if text]
                step = -(-len(sample) // _SAMPLE) or 1
                laid = [molecule for text in sample[::step] if (molecule := self.molecule(text)) is not None]
                if laid:
                    self._cores[0].turn(widest_turn([one.GetConformer().GetPositions() for one in laid]))
            for core in self._cores[1:]:
                core.turn_to(self._cores[0])

    @classmethod
    def of(cls, library: Library, smiles: Sequence[str]) -> Aligned:
        """Return an ``Aligned`` for these structures of a library, turned to its cores."""
        return cls(() if library.scaffold is None else library.scaffold.cores, smiles)

    def molecule(self, smiles: str, carried: Mapping[int, str] | None = None) -> Any | None:
        """Return the structure with coordinates, as RDKit has it.

        None when RDKit cannot read it, or it is too large to draw.

        ``carried`` (see ``cores``) maps sites to substituents, so that a symmetric core is not turned over.
        """
        from rdkit import Chem, rdBase

        with rdBase.BlockLogs():
            molecule = Chem.MolFromSmiles(smiles)
            if molecule is None or not 0 < molecule.GetNumHeavyAtoms() <= _LARGEST:
                return None
            for core in self._cores:
                if pairs := core.place(molecule, carried or {}):
                    core.lay(molecule, pairs)
                    return molecule
            lay_out(molecule)
        return molecule

    def bond(self, smiles: Sequence[str], width: int, height: int, least: float = _SHORTEST_BOND) -> float:
        """Return pixels of a bond for pictures of these structures side by side, so that rings are equally large.

        Most of them fit then; the largest are drawn smaller. It is ``least`` pixels at least.
        """
        sizes = []
        for text in dict.fromkeys(smiles):
            molecule = self.molecule(text)
            if molecule is not None and molecule.GetNumBonds():
                places = molecule.GetConformer().GetPositions()
                across, up = places.max(axis=0)[:2] - places.min(axis=0)[:2]
                # A letter at an end needs a place, too.
                room = (1.0 - 2.0 * _PADDING) * _BOND
                sizes.append(room * min(width / (across + 0.3), height / (up + 0.3)))
        if not sizes:
            return _LONGEST_BOND
        return float(min(max(sorted(sizes)[len(sizes) // 10], least), _LONGEST_BOND))

    def svg(
        self,
        smiles: str,
        width: int,
        height: int,
        *,
        carried: Mapping[int, str] | None = None,
        bond: float | None = None,
        dark: bool = False,
    ) -> str | None:
        """Return the picture as SVG, ``width`` x ``height`` pixels, on a transparent ground; None where there is none.

        ``bond`` is the length of a bond in pixels, unless the structure is too large for it; ``dark``: the ground is.
        """
        from rdkit.Chem.Draw import rdMolDraw2D

        bond = _bond_in(height) if bond is None else bond
        return self._drawn(rdMolDraw2D.MolDraw2DSVG(width, height), self.molecule(smiles, carried), bond, dark=dark)

    def png(
        self,
        smiles: str,
        width: int,
        height: int,
        *,
        scale: float = 1.0,
        carried: Mapping[int, str] | None = None,
        bond: float | None = None,
    ) -> bytes | None:
        """Return the picture as PNG of ``scale`` x the size, on white, which looks like the SVG of that size."""
        from rdkit.Chem.Draw import rdMolDraw2D

        drawing = rdMolDraw2D.MolDraw2DCairo(round(width * scale), round(height * scale))
        bond = _bond_in(height) if bond is None else bond
        return self._drawn(drawing, self.molecule(smiles, carried), bond, scale, white=True)

    @staticmethod
    def _drawn(
        drawing: Any, molecule: Any | None, bond: float, scale: float = 1.0, *, white: bool = False, dark: bool = False
    ) -> Any | None:
        from rdkit import rdBase
        from rdkit.Chem.Draw import rdMolDraw2D

        if molecule is None:
            return None
        options = _dressed(drawing, scale, dark=dark)
        options.clearBackground = white
        options.padding = _PADDING
        if white:
            options.includeMetadata = False  # the molecule once more, inside the picture's file
        options.fixedBondLength = scale * bond / _BOND  # it is the length of a unit of the coordinates
        with rdBase.BlockLogs():
            rdMolDraw2D.PrepareAndDrawMolecule(drawing, molecule)
        drawing.FinishDrawing()
        return drawing.GetDrawingText()


def drawn_in_place(
    molecule: Any, width: int, height: int, *, unit: float, middle: tuple[float, float], dark: bool = False
) -> str:
    """Return the picture of a molecule as SVG, its coordinates kept: ``unit`` pixels each, ``middle`` in the middle.

    It need not be a possible one.
    """
    from rdkit import rdBase
    from rdkit.Chem.Draw import rdMolDraw2D
    from rdkit.Geometry import Point2D

    drawing = rdMolDraw2D.MolDraw2DSVG(width, height)
    options = _dressed(drawing, 1.0, dark=dark)
    options.prepareMolsBeforeDrawing = options.clearBackground = False
    options.padding = 0.0
    x, y, far, up = *middle, width / unit / 2, height / unit / 2
    drawing.SetScale(width, height, Point2D(x - far, y - up), Point2D(x + far, y + up))
    with rdBase.BlockLogs():
        drawing.DrawMolecule(molecule)
    drawing.FinishDrawing()
    return str(drawing.GetDrawingText())


def _dressed(drawing: Any, scale: float, *, dark: bool) -> Any:
    """Return the options of a drawing, set to our lines, letters and colours."""
    from rdkit.Chem.Draw import rdMolDraw2D

    if dark:
        rdMolDraw2D.SetDarkMode(drawing)
    options = drawing.drawOptions()
    options.bondLineWidth = 1.1 * scale
    options.scaleBondWidth = False
    options.updateAtomPalette(_LIGHTER if dark else _DARKER)
    options.minFontSize = round(5 * scale)
    options.maxFontSize = round(13 * scale)
    options.flagCloseContactsDist = -1  # else RDKit marks long chains in small pictures red
    return options


def _bond_in(height: int) -> float:
    """Return pixels of a bond in a single picture: one scale for small pictures, so that rings are equal."""
    return _BOND * max(9.0, min(24.0, 0.2 * height))


_COMPARED = 20
"""Most structures searched for their largest common part."""
_SHARE = 0.8
"""Of them must have it."""
_SECONDS = 1
"""For looking for it; as a rule it takes hundredths."""
_LOOKED_AT = 60
"""Structures that are looked at."""


def common_core(smiles: Sequence[str]) -> str | None:
    """Return the SMILES of what most of a sample of the structures have in common, a ring at least.

    None without such a part.

    Pictures aligned to it show the same part of the molecule at the same place.
    """
    from rdkit import Chem, rdBase

    given = [text for text in smiles if text]
    step = max(1, len(given) // _LOOKED_AT)
    with rdBase.BlockLogs():
        molecules = [mol for text in given[::step][:_LOOKED_AT] if (mol := Chem.MolFromSmiles(text)) is not None]
        scaffolds: dict[str, Any] = {}
        for molecule in molecules:
            scaffold = scaffold_of(molecule)
            if scaffold.GetNumAtoms():
                scaffolds.setdefault(Chem.MolToSmiles(scaffold), scaffold)
        best: tuple[float, int, str] | None = None
        parts = sorted(scaffolds.items(), key=lambda pair: pair[1].GetNumAtoms())[:12]
        for text, part in [*parts, *_shared(molecules)]:
            share = sum(molecule.HasSubstructMatch(part) for molecule in molecules) / len(molecules)
            score = (round(share, 1), part.GetNumAtoms(), text)
            if share >= 0.5 and (best is None or score > best):
                best = score
    return None if best is None else best[2]


def _shared(molecules: Sequence[Any]) -> list[tuple[str, Any]]:
    """Return the largest part, rings whole, that most of some structures share, as SMILES and as a molecule.

    Or nothing.

    A ring alone can match a molecule in several ways; with the substituents that all have, it matches in one.
    """
    from rdkit import Chem

    compared = list(molecules[:: max(1, -(-len(molecules) // _COMPARED))])
    shared = shared_part(compared, _SHARE, _SECONDS) if len(compared) > 1 else None
    if shared is None or len(shared[1]) < 2:
        return []
    molecule, match = shared
    text = str(Chem.MolFragmentToSmiles(molecule, sorted(match), isomericSmiles=False))
    part = Chem.MolFromSmiles(text)  # None for an aromatic nitrogen that lost its substituent
    return [] if part is None or not part.GetRingInfo().NumRings() else [(text, part)]
