"""Pictures of structures as SVG, drawn by RDKit; needs neither Qt nor matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["common_core", "structure_svg"]


def common_core(smiles: Sequence[str], *, sample: int = 60) -> str | None:
    """The SMILES of the smallest ring scaffold found in most of a sample of the structures; None when there is none.

    Pictures aligned to it show the same part of the molecule at the same place.
    """
    from rdkit import Chem, rdBase
    from rdkit.Chem.Scaffolds import MurckoScaffold

    scaffold_of: Any = MurckoScaffold.GetScaffoldForMol  # it carries no types

    given = [text for text in smiles if text]
    step = max(1, len(given) // sample)
    with rdBase.BlockLogs():
        molecules = [mol for text in given[::step][:sample] if (mol := Chem.MolFromSmiles(text)) is not None]
        scaffolds: dict[str, Any] = {}
        for molecule in molecules:
            scaffold = scaffold_of(molecule)
            if scaffold.GetNumAtoms():
                scaffolds.setdefault(Chem.MolToSmiles(scaffold), scaffold)
        best: tuple[float, int, str] | None = None
        for text, scaffold in sorted(scaffolds.items(), key=lambda pair: pair[1].GetNumAtoms())[:12]:
            share = sum(molecule.HasSubstructMatch(scaffold) for molecule in molecules) / len(molecules)
            score = (round(share, 1), scaffold.GetNumAtoms(), text)
            if share >= 0.5 and (best is None or score > best):
                best = score
    return None if best is None else best[2]


def structure_svg(smiles: str, width: int, height: int, *, dark: bool = False, core: str | None = None) -> str | None:
    """The picture of a structure on a transparent ground; None when RDKit cannot read it.

    With ``core`` (SMILES) the picture is turned so that this part lies as in all others that have it.
    """
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(smiles)
        if molecule is None or molecule.GetNumAtoms() == 0:
            return None
        template = Chem.MolFromSmiles(core) if core else None
        rdDepictor.Compute2DCoords(molecule)
        if template is not None and molecule.HasSubstructMatch(template):
            rdDepictor.Compute2DCoords(template)
            rdDepictor.GenerateDepictionMatching2DStructure(molecule, template)
        drawing = rdMolDraw2D.MolDraw2DSVG(width, height)
        options: Any = drawing.drawOptions()  # its stubs give every option the wrong type
        if dark:
            rdMolDraw2D.SetDarkMode(drawing)
        options.clearBackground = False
        options.padding = 0.06
        options.bondLineWidth = 1.3
        # One scale for small pictures, so that a benzene ring is as large in each row of a table.
        options.fixedBondLength = max(10.0, min(26.0, 0.215 * height))
        rdMolDraw2D.PrepareAndDrawMolecule(drawing, molecule)
        drawing.FinishDrawing()
        text: str = drawing.GetDrawingText()
    return text
