import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rdkit import Chem

from assaypilot.engine.campaign.state import Status
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.formats import write
from assaypilot.engine.tables.opening import read_table
from tests.engine.export.making import NASTY, SMILES, nasty_library


def records(path: Path) -> list[Any]:
    """The molecules of a file as RDKit reads them: no line of ours between."""
    return list(Chem.SDMolSupplier(str(path)))


def test_one_record_per_compound_with_its_row_as_properties(tmp_path: Path, nasty: Status) -> None:
    path = tmp_path / "x.sdf"
    now = contents(nasty, Choice("all"))
    assert write(path, now) == 9
    found = records(path)
    sheet = now.shortlist_with_provenance
    assert [mol.GetProp("ID") for mol in found] == [NASTY[c] for c in now.compounds]
    assert [Chem.MolToSmiles(mol) for mol in found] == [SMILES[c] for c in now.compounds]
    for mol, row in zip(found, sheet.rows, strict=True):
        assert mol.GetProp("_Name").strip() == row[sheet.header.index("ID")]
        for name, cell in zip(sheet.header, row, strict=True):
            if name == "SMILES" or cell is None or cell == "":
                assert not mol.HasProp(name)
            elif isinstance(cell, float):
                assert mol.GetDoubleProp(name) == cell
            elif isinstance(cell, int):
                assert mol.GetIntProp(name) == cell
            else:
                assert mol.GetProp(name) == cell


def test_the_core_lies_alike_and_each_site_at_its_own_end(tmp_path: Path, nasty: Status) -> None:
    path = tmp_path / "x.sdf"
    order = tuple(range(9))
    write(path, contents(nasty, Choice("all", order)))
    ring = Chem.MolFromSmarts("c1ccccc1")
    places, ends = [], {1: [], 2: []}
    for compound, mol in enumerate(records(path)):
        xy = mol.GetConformer().GetPositions()[:, :2]
        atoms = mol.GetSubstructMatch(ring)
        places.append(sorted(np.round(xy[list(atoms)], 3).tolist()))
        for site, code in ((1, compound // 3), (2, compound % 3)):
            if code:  # where the first atom of the substituent stands
                first = {(1, 1): "C", (1, 2): "Cl", (2, 1): "F", (2, 2): "C"}[site, code]
                around = [
                    n.GetIdx()
                    for k in atoms
                    for n in mol.GetAtomWithIdx(k).GetNeighbors()
                    if n.GetIdx() not in atoms
                    and n.GetSymbol() == first
                    and (n.GetDegree() == 1) == (site == 1 or code == 1)
                ]
                ends[site].append(xy[around[0]])
    assert all(place == places[0] for place in places)
    for own in ends.values():
        assert np.ptp(own, axis=0).max() < 0.5
    assert np.linalg.norm(np.mean(ends[1], axis=0) - np.mean(ends[2], axis=0)) > 3


STRUCTURES = (
    "CC=CC",  # nobody said which
    "C/C=C/C",
    r"C/C=C\C",
    "C[C@H](F)Cl",
    "CC(F)Cl",
    "C[C@H](F)Cl |&1:1|",
    "C[C@H](F)C[C@@H](O)Cl |o1:1,&2:4|",
    "C[N+](C)(C)CC",
    "[2H]CC",
    "C" * 290,
)


def status_with(status: Status, structures: tuple[str, ...]) -> Status:
    """The same campaign, its first compounds with these structures and nothing to align to."""
    from assaypilot.engine.chemistry.structures import read_structure

    smiles = [read_structure(text).smiles if text else "" for text in structures]
    padded = tuple((smiles + list(SMILES))[:9])
    return dataclasses.replace(status, library=dataclasses.replace(status.library, smiles=padded, scaffold=None))


@pytest.mark.parametrize("start", [0, 5])
def test_every_kind_of_structure_is_read_back_the_same(tmp_path: Path, nasty: Status, start: int) -> None:
    status = status_with(nasty, STRUCTURES[start : start + 5])
    path = tmp_path / "x.sdf"
    write(path, contents(status, Choice("all", tuple(range(9)))))
    assert read_table(path).column("SMILES") == status.library.smiles
    text = path.read_text(encoding="utf-8")
    assert text.count("V3000") == (0 if start == 0 else 2)  # relative stereo


@pytest.fixture
def campaign(nasty: Status) -> Callable[[], Status]:
    """The status, as something that can be printed in a line."""
    return lambda: nasty


LINES = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
BREAKERS = st.sampled_from(
    [
        "$$$$",
        "> <x>",
        ">  <y>",
        "M  END",
        "a\n\nb",
        "a\n$$$$\nb",
        "a\n>  <z>\n1",
        "\r",
        "<>",
        ">10000",
        "x > y",
        "\ufeff",
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(names=st.lists(LINES | BREAKERS, min_size=9, max_size=9), site=LINES | BREAKERS)
def test_no_text_breaks_the_format(tmp_path: Path, campaign: Callable[[], Status], names: list[str], site: str) -> None:
    nasty = campaign()
    ids = tuple(f"{k} {name}" if k % 2 else f"{name} {k}" for k, name in enumerate(names))
    library = nasty_library(ids)
    library = dataclasses.replace(
        library, sites=(dataclasses.replace(library.sites[0], name=f"R1 {site}"), library.sites[1])
    )
    status = dataclasses.replace(nasty, library=library)
    path = tmp_path / "x.sdf"
    write(path, contents(status, Choice("all", tuple(range(9)))))
    table = read_table(path)
    assert table.column("SMILES") == SMILES
    assert table.problems == ()

    def plain(text: str) -> str:
        """What is left of a text for everybody: its letters and digits."""
        return "".join(letter for letter in text if letter.isalnum())

    assert list(map(plain, table.column("ID"))) == list(map(plain, ids))
    assert [float(text) for text in table.column("pIC50 estimate")] == [
        round(float(value), 3) for value in nasty.candidates.estimate
    ]
    assert not any(math.isnan(float(text)) for text in table.column("P(within 0.5)"))
