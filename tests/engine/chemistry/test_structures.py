import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import AllChem

from assaypilot.engine.chemistry.structures import identity, read_structure, read_structures, salt_note, same_structure


def test_the_note_counts_structures_not_waters():
    note = salt_note(read_structures(["O.O.CCN", "O.CCO", "Cl.CCN", "CCC", "[Na+].CC[O-]"]))
    assert note == (
        "Salts and solvents were left out of 4 structures (O: 2, Cl: 1, [Na+]: 1); 1 of them took the neutral form."
    )


@given(st.text(alphabet="CcNnOoS[]()=#+-@/\\%123H.*:| &$~>", max_size=30) | st.text(max_size=20))
def test_no_text_stops_the_reading(text):
    found = read_structure(text)
    assert bool(found.smiles) != bool(found.reason)
    if found.smiles:
        assert read_structure(found.smiles).smiles == found.smiles


def test_racemate_enantiomer_and_flat_drawing_are_three():
    texts = ["C[C@H](F)O |&1:1|", "C[C@H](F)O", "C[C@@H](F)O", "CC(F)O", "C[C@H](F)O |o1:1|"]
    smiles = [read_structure(text).smiles for text in texts]
    for merge in ("none", "charge", "tautomer"):
        assert same_structure("abcde", smiles, merge) == ()


def test_the_same_structure_under_two_ids():
    smiles = [read_structure(text).smiles for text in ("OCC", "CCO", "CCO", "CCN", "")]
    assert same_structure(["A", "B", "A", "C", "D"], smiles) == (("A", "B"),)
    assert same_structure(["A", "A", "A", "C", "D"], smiles) == ()


def test_charge_forms_and_tautomers_only_on_request():
    acid, anion = read_structure("CC(=O)O").smiles, read_structure("CC(=O)[O-]").smiles
    lactam, lactim = read_structure("O=c1cccc[nH]1").smiles, read_structure("Oc1ccccn1").smiles
    ids, smiles = ["a", "b", "c", "d"], [acid, anion, lactam, lactim]
    assert same_structure(ids, smiles) == ()
    assert same_structure(ids, smiles, "charge") == (("a", "b"),)
    assert same_structure(ids, smiles, "tautomer") == (("a", "b"), ("c", "d"))
    assert identity("", "tautomer") == ""


@pytest.mark.parametrize("smiles", ["CCO", "CC[C@H](C)N", "C/C=C/C", "CCO.Cl", "OC(=O)c1ccccc1"])
def test_a_drawing_in_a_cell_is_read_as_the_structure_it_shows(smiles):
    molecule = Chem.MolFromSmiles(smiles)
    AllChem.Compute2DCoords(molecule)
    expected = read_structure(smiles)
    for block in (Chem.MolToMolBlock(molecule), Chem.MolToV3KMolBlock(molecule)):
        # As a program writes it, as a reader of tables trims it, and without anything in its first lines.
        bare = "\n\n\n" + "\n".join(block.split("\n")[3:])
        for text in (block, block.strip(), bare.strip(), block.replace("\n", "\r\n")):
            found = read_structure(text)
            assert (found.smiles, found.left_out, found.text) == (expected.smiles, expected.left_out, text)
