"""Structures drawn alike: every picture of a library turned so that the core lies in the same place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assaypilot.engine.figures.structures import common_core

__all__ = ["Aligned"]

_LARGEST = 300
"""Heavy atoms above which a structure is not drawn: nobody could read it, and laying it out takes minutes."""


class Aligned:
    """Draws structures, those that hold one of some cores turned to it.

    ``cores`` are SMILES that may have attachment points (``[*:1]``), as a library's scaffold has them; without any,
    the part most of ``smiles`` have in common takes their place.
    """

    def __init__(self, cores: Sequence[str], smiles: Sequence[str] = ()) -> None:
        found = [template for core in cores if (template := _template(core)) is not None]
        if not found:
            common = common_core(smiles)
            template = _template(common) if common else None
            found = [] if template is None else [template]
        # The largest first: a core may be part of another one.
        self._templates = sorted(found, key=lambda template: -int(template.GetNumAtoms()))

    @property
    def core(self) -> bool:
        """Whether there is anything to turn structures to."""
        return bool(self._templates)

    def molecule(self, smiles: str) -> Any | None:
        """The structure with coordinates, as RDKit has it; None when RDKit cannot read it, or nobody the picture."""
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor

        with rdBase.BlockLogs():
            molecule = Chem.MolFromSmiles(smiles)
            if molecule is None or not 0 < molecule.GetNumHeavyAtoms() <= _LARGEST:
                return None
            for template in self._templates:
                if molecule.HasSubstructMatch(template):
                    rdDepictor.GenerateDepictionMatching2DStructure(molecule, template)
                    return molecule
            rdDepictor.Compute2DCoords(molecule)
        return molecule

    def svg(self, smiles: str, width: int, height: int) -> str | None:
        """The picture as SVG, ``width`` x ``height`` pixels, on a transparent ground; None where there is none."""
        from rdkit.Chem.Draw import rdMolDraw2D

        return self._drawn(rdMolDraw2D.MolDraw2DSVG(width, height), smiles, height)

    def png(self, smiles: str, width: int, height: int, *, scale: float = 1.0) -> bytes | None:
        """The picture as PNG of ``scale`` x the size, on white, which looks like the SVG of that size."""
        from rdkit.Chem.Draw import rdMolDraw2D

        drawing = rdMolDraw2D.MolDraw2DCairo(round(width * scale), round(height * scale))
        return self._drawn(drawing, smiles, height, scale, white=True)

    def _drawn(self, drawing: Any, smiles: str, height: int, scale: float = 1.0, *, white: bool = False) -> Any | None:
        from rdkit import rdBase
        from rdkit.Chem.Draw import rdMolDraw2D

        molecule = self.molecule(smiles)
        if molecule is None:
            return None
        options = drawing.drawOptions()
        options.clearBackground = white
        options.padding = 0.05
        options.bondLineWidth = 1.1 * scale
        options.scaleBondWidth = False
        # One scale for small pictures, so that a ring is as large in each of them.
        options.fixedBondLength = max(9.0, min(24.0, 0.2 * height)) * scale
        options.minFontSize = round(5 * scale)
        options.maxFontSize = round(13 * scale)
        with rdBase.BlockLogs():
            rdMolDraw2D.PrepareAndDrawMolecule(drawing, molecule)
        drawing.FinishDrawing()
        return drawing.GetDrawingText()


def _template(core: str) -> Any | None:
    """The core with coordinates and without its attachment points, which are laid out with it; None if not readable."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdDepictor

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(core)
        if molecule is None or not molecule.GetNumHeavyAtoms():
            return None
        rdDepictor.Compute2DCoords(molecule, canonOrient=True)
        editable = Chem.RWMol(molecule)
        for place in sorted((a.GetIdx() for a in molecule.GetAtoms() if a.GetAtomicNum() == 0), reverse=True):
            editable.RemoveAtom(place)
        if not editable.GetNumAtoms():
            return None
        # An aromatic nitrogen that lost its substituent is no valid molecule any more, and is a good template.
        template = editable.GetMol()
        template.UpdatePropertyCache(strict=False)
        Chem.FastFindRings(template)
    return template
