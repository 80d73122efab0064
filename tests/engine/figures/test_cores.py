from typing import Any

import numpy as np
import pytest
from rdkit import Chem

from assaypilot.engine.chemistry.cores import CORE_SITE
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.figures.aligned import Aligned
from assaypilot.engine.figures.cores import carried
from tests.engine.export.making import CORE, SMILES, nasty_library


def positions(molecule: Any, pattern: str) -> np.ndarray:
    """Where the atoms of a part are drawn, in the order of the pattern."""
    atoms = molecule.GetSubstructMatch(Chem.MolFromSmarts(pattern))
    assert atoms, pattern
    return molecule.GetConformer().GetPositions()[list(atoms), :2]


def test_what_a_compound_carries_by_site() -> None:
    library = nasty_library()
    assert carried(library, 4) == {1: "C[*:1]", 2: "F[*:2]"}
    one = Library(
        (Site("R2", ("F[*:2]", "[H][*:2]")),),
        np.array([[0], [1]], dtype=np.int32),
        ("a", "b"),
        None,
        scaffold=Scaffold((CORE,), ((CORE_SITE, CORE), ("R1", "C[*:1]"))),
    )
    assert carried(one, 0) == {1: "C[*:1]", 2: "F[*:2]"}  # the core itself is no substituent
    assert carried(Library.listed(["R1"], [["Me"], ["Cl"]]), 0) == {}


@pytest.mark.parametrize("compound", range(9))
def test_a_symmetric_core_lies_by_what_stands_at_its_sites(compound: int) -> None:
    library = nasty_library()
    aligned = Aligned((CORE,))
    reference = aligned.molecule("Clc1ccc(F)cc1", {1: "Cl[*:1]", 2: "F[*:2]"})
    ends = {1: positions(reference, "Cl")[0], 2: positions(reference, "F")[0]}
    molecule = aligned.molecule(SMILES[compound], carried(library, compound))
    first = {"C[*:1]": "[CH3]", "Cl[*:1]": "Cl", "F[*:2]": "F", "OC(C=C[*:2])=O": "[CH1;!R]c"}
    for site, text in carried(library, compound).items():
        if text in first:
            assert np.linalg.norm(positions(molecule, first[text])[0] - ends[site]) < 0.5


def test_turned_over_when_the_sites_are_exchanged() -> None:
    aligned = Aligned((CORE,))
    one = positions(aligned.molecule("Clc1ccc(F)cc1", {1: "Cl[*:1]", 2: "F[*:2]"}), "Cl")
    other = positions(aligned.molecule("Clc1ccc(F)cc1", {1: "F[*:1]", 2: "Cl[*:2]"}), "Cl")
    assert np.linalg.norm(one - other) > 3


def test_a_molecule_without_the_core_is_drawn_all_the_same() -> None:
    molecule = Aligned((CORE,)).molecule("C1CC2CCC1CC2")
    assert molecule.GetNumConformers() == 1
    xy = positions(molecule, "C1CC2CCC1CC2")
    distances = np.linalg.norm(xy[:, None] - xy[None], axis=-1) + 10 * np.eye(len(xy))
    assert distances.min() > 0.4  # no two atoms on one spot
