from typing import Any

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import rdDepictor

from assaypilot.engine.chemistry.assembling import CORE_SITE
from assaypilot.engine.domain.library import Library, Scaffold, Site
from assaypilot.engine.figures.aligned import Aligned
from assaypilot.engine.figures.cores import DrawnCore, carried, lay_out, widest_turn
from tests.engine.export.making import CORE, SMILES, nasty_library
from tests.public import DATA

PYRIDINE = "c1nc([*:1])ccc1[*:2]"


PLAIN = (
    "C1CC1c1cc2cc[nH]c2cc1N1CCOCC1",
    "c1ccc2c(c1)ccc1c2cccn1",
    "CC12CCC3C(CCC4CC(O)CCC34C)C1CCC2O",
    "C1CC12CNC2",
    "C1=Cc2cccc3cccc1c23",
    "C1CCCCCCC1",
    "CCO",
)
"""Rings that share a bond or an atom at most, and no large one."""
BRIDGED_OR_LARGE = (
    "CN1C2CCC1CC(O)C2",
    "C1CN2CCC1CC2",
    "C1CC2CCC1C2",
    "CN1CCC23C4C1CC5=C2C(=C(C=C5)O)OC3C(C=C4)O",
    "C12C3C4C1C5C4C3C25",
    "C1CCCCCCCCC1",
    "C1CCCCCCCCCCC(=O)N1",
)


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


@pytest.mark.parametrize("smiles", [*PLAIN, *BRIDGED_OR_LARGE])
def test_templates_of_rings_are_loaded_where_they_change_the_picture(smiles: str, templates: list[bool]) -> None:
    ours, plain, theirs = (Chem.MolFromSmiles(smiles) for _ in range(3))
    lay_out(ours)
    assert templates == [smiles in BRIDGED_OR_LARGE]  # 50 MB of the process
    rdDepictor.Compute2DCoords(plain)
    rdDepictor.Compute2DCoords(theirs, useRingTemplates=True)
    best, alone, found = (one.GetConformer().GetPositions() for one in (theirs, plain, ours))
    assert np.abs(found - best).max() < 1e-6
    assert (np.abs(alone - best).max() > 0.1) == (smiles in BRIDGED_OR_LARGE)


@pytest.mark.parametrize(("core", "asked"), [("c1ccc2[nH]c([*:1])cc2c1", False), ("C1CC2CC1CN2[*:1]", True)])
def test_a_core_is_drawn_with_templates_where_it_needs_them(core: str, asked: bool, templates: list[bool]) -> None:
    assert Aligned((core,)).molecule("CCO") is not None
    assert templates == [asked, False]


def test_a_molecule_that_holds_nothing_of_a_core_is_drawn_by_itself() -> None:
    core, molecule = DrawnCore.read(CORE), Chem.MolFromSmiles("CCO")
    assert core.place(molecule, {}) == []
    core.lay(molecule, [])
    assert molecule.GetNumConformers() == 1


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


def test_an_aromatic_nitrogen_that_lost_its_substituent_is_found() -> None:
    core = DrawnCore.read("c1cc2c(cc1[*:1])c([*:2])nn2[*:3]")
    assert core.size == 9
    for smiles in ("Cc1nn(CC)c2ccccc12", "c1ccc2[nH]ncc2c1"):
        molecule = Chem.MolFromSmiles(smiles)
        assert len(core.place(molecule, {})) == 9
    assert core.place(Chem.MolFromSmiles("CCO"), {}) == []


@pytest.mark.parametrize("text", ["", "not a structure", "[*:1][*:2]", "[*:1]"])
def test_what_is_no_core_is_none(text: str) -> None:
    assert DrawnCore.read(text) is None


def test_a_molecule_without_the_core_is_drawn_all_the_same() -> None:
    molecule = Aligned((CORE,)).molecule("C1CC2CCC1CC2")
    assert molecule.GetNumConformers() == 1
    xy = positions(molecule, "C1CC2CCC1CC2")
    distances = np.linalg.norm(xy[:, None] - xy[None], axis=-1) + 10 * np.eye(len(xy))
    assert distances.min() > 0.4  # no two atoms on one spot


def test_a_public_series_is_drawn_at_one_place() -> None:
    shared = DATA / "pw_CHEMBL2321810.smi"
    if not shared.exists():
        pytest.skip("the public tables are not beside the project")
    from assaypilot.engine.chemistry.cores import read_cores

    core = read_cores([str(shared.with_name("pw_CHEMBL2321810_scaffold.mol"))])[0].smiles
    aligned = Aligned((core,))
    drawn = DrawnCore.read(core)
    seen = 0
    for line in shared.read_text().splitlines()[:200]:
        molecule = aligned.molecule(line.split()[0])
        pairs = drawn.place(Chem.Mol(molecule), {})
        if not pairs:
            continue
        seen += 1
        matches = molecule.GetSubstructMatches(drawn.drawn, uniquify=False)
        want = drawn.drawn.GetConformer().GetPositions()
        xyz = molecule.GetConformer().GetPositions()
        assert min(np.abs(xyz[list(match)] - want).max() for match in matches) < 1e-3
    assert seen > 50


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
