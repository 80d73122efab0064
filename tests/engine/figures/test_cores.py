from typing import Any

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDepictor

from assaypilot.engine.chemistry.assembling import CORE_SITE
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.figures.aligned import Aligned
from assaypilot.engine.figures.cores import carried, widest_turn
from tests.engine.export.making import CORE, SMILES, nasty_library

PYRIDINE = "c1nc([*:1])ccc1[*:2]"


def positions(molecule: Any, pattern: str) -> np.ndarray:
    """Where the atoms of a part are drawn, in the order of the pattern."""
    atoms = molecule.GetSubstructMatch(Chem.MolFromSmarts(pattern))
    assert atoms, pattern
    return molecule.GetConformer().GetPositions()[list(atoms), :2]


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the templates of ring systems were asked for, each time coordinates were made."""
    asked: list[bool] = []
    plain = rdDepictor.Compute2DCoords

    def watched(molecule: Any, useRingTemplates: bool = False) -> int:
        asked.append(useRingTemplates)
        return plain(molecule, useRingTemplates=useRingTemplates)

    monkeypatch.setattr(rdDepictor, "Compute2DCoords", watched)
    return asked


@pytest.mark.parametrize(("core", "asked"), [("c1ccc2[nH]c([*:1])cc2c1", False), ("C1CC2CC1CN2[*:1]", True)])
def test_a_core_is_drawn_with_templates_where_it_needs_them(core: str, asked: bool, templates: list[bool]) -> None:
    assert Aligned((core,)).molecule("CCO") is not None
    assert templates == [asked, False]


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


def test_several_cores_lie_alike() -> None:
    aligned = Aligned((CORE, PYRIDINE))
    benzene = aligned.molecule("Clc1ccc(F)cc1", {1: "Cl[*:1]", 2: "F[*:2]"})
    pyridine = aligned.molecule("Clc1ccc(F)cn1", {1: "Cl[*:1]", 2: "F[*:2]"})
    rings = [np.sort(positions(m, "a1aaaaa1").round(2), axis=0) for m in (benzene, pyridine)]
    assert np.abs(rings[0] - rings[1]).max() < 0.1


def test_a_molecule_without_the_core_is_drawn_all_the_same() -> None:
    molecule = Aligned((CORE,)).molecule("C1CC2CCC1CC2")
    assert molecule.GetNumConformers() == 1
    xy = positions(molecule, "C1CC2CCC1CC2")
    distances = np.linalg.norm(xy[:, None] - xy[None], axis=-1) + 10 * np.eye(len(xy))
    assert distances.min() > 0.4  # no two atoms on one spot


def test_a_tall_series_is_turned_to_fill_wide_pictures() -> None:
    tall = np.zeros((9, 3))
    tall[:, 1] = np.arange(9)
    tall[1::2, 0] = 0.5
    assert abs(widest_turn([tall])) >= 60.0
    assert abs(widest_turn([tall[:, [1, 0, 2]]])) <= 30.0
    sulfonamide = "O=S(=O)(Nc1cccs1)c1ccc(Oc2ccccc2-c2ccccc2)c(C#N)c1"
    room = []
    for given in ((), (sulfonamide,)):
        aligned = Aligned(("N#Cc1cc(S(=O)(=O)[*:1])ccc1O[*:3]",), given)
        xy = aligned.molecule(sulfonamide).GetConformer().GetPositions()[:, :2]
        room.append(max(np.ptp(xy, axis=0) / (1.4, 1.0)))
    assert room[1] < 0.9 * room[0]
