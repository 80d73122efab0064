"""Structures that no compound has: a reason beside the row, in seconds, and a search for cores that ends."""

import random
import time

import pytest

from assaypilot.engine.chemistry.cores import parse_core
from assaypilot.engine.chemistry.structures import Unreadable, read_structure, smiles_of
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system import guarded
from assaypilot.engine.system.guarded import MOST_ATOMS
from assaypilot.engine.tables import structures
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text

pytestmark = pytest.mark.apart
SECONDS = 5.0


LARGEST = {
    "chain": "C" * MOST_ATOMS,
    "amides": "CC(=O)N" * (MOST_ATOMS // 4),
    "branches": "C(C)(C)" * (MOST_ATOMS // 3),
    "aromatic": "c1ccccc1-" * (MOST_ATOMS // 6 - 1) + "c1ccccc1",
    "keto": "CC(=O)CC(=O)C" * (MOST_ATOMS // 8),
    "ring": "C1" + "C" * (MOST_ATOMS - 2) + "C1",
}


@pytest.mark.parametrize("text", LARGEST.values(), ids=LARGEST)
def test_largest_structures_are_read_in_seconds(text):
    start = time.process_time()
    assert read_structure(text).reason == ""
    assert time.process_time() - start < SECONDS


def test_structure_with_too_many_atoms_has_a_reason():
    found = read_structure("C" * (MOST_ATOMS + 1))
    assert found.reason == "a structure of 301 heavy atoms is too large; at most 300 are read"
    assert "too long" in read_structure("C" * 5_001).reason
    with pytest.raises(AssayPilotError, match="more than 300 heavy atoms"):
        parse_core("C" * 400)


def test_damaged_drawing_whose_chemistry_cannot_be_examined_has_a_reason():
    rng = random.Random(5)
    from rdkit import Chem

    block = Chem.MolToMolBlock(Chem.MolFromSmiles("c1ccccc1C(=O)NC"))
    for _ in range(300):
        signs = list(block)
        for _ in range(rng.choice((1, 2, 5))):
            signs[rng.randrange(len(signs))] = rng.choice("0123456789 -CNXx*\n")
        try:
            smiles_of("".join(signs))
        except Unreadable as error:
            assert str(error)  # noqa: PT017  # some are read


def chains(length):
    rows = "".join(f"C{k},{'C' * (length - k)},{5 + k / 10}\n" for k in range(30))
    return parse_text("ID,SMILES,pIC50\n" + rows)


def test_search_for_a_core_that_takes_too_long_is_reported(monkeypatch):
    def late(*_, **__):
        raise guarded.TooLong("late")

    monkeypatch.setattr(structures, "guarded", late)
    with pytest.raises(AssayPilotError, match="no core was found in the time for it"):
        propose(chains(20))
