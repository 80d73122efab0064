"""Structures drawn by hand, beside what RDKit reads of the same structure's SMILES."""

import pytest
from rdkit import Chem

from assaypilot.engine.chemistry.sketch import BOND, SITE, Sketch
from assaypilot.engine.errors import AssayPilotError


def canonical(smiles):
    """The SMILES as RDKit writes it."""
    return Chem.MolToSmiles(Chem.MolFromSmiles(smiles))


def chain(symbols):
    """Atoms bound one to the next, each put where there is room."""
    made = Sketch().placed(symbols[0], 0.0, 0.0)
    for number, symbol in enumerate(symbols[1:]):
        made = made.grown(number, symbol)
    return made


@pytest.mark.parametrize(
    "smiles",
    ["CN(C)CC(Br)c1ccc([*:1])c([*:2])c1", "c1cc[nH]c1", "[O-][N+](=O)c1ccccc1", "C1CC2CC1CC2", "OC(=O)C#N.[Na+]",
     "c1ccc2c(c1)[nH]c1ccccc12", "CS(=O)(=O)N1CCN(CC1)c1ncccn1"],
)  # fmt: skip
def test_structures_that_are_read_keep_their_smiles(smiles):
    assert Sketch.of(smiles).smiles == canonical(smiles)
    assert Sketch.of(Chem.MolToMolBlock(Chem.MolFromSmiles("OCC#N"))).smiles == canonical("OCC#N")


def test_what_is_drawn_step_by_step_is_the_structure():
    benzene = Sketch().with_ring(6, 0.0, 0.0, aromatic=True)
    assert benzene.smiles == canonical("c1ccccc1")
    assert chain("CCO").ring_at(0, 6, aromatic=True).smiles == canonical("OCc1ccccc1")
    amide = chain("NCO").ordered(1, 2).ring_at(1, 6, aromatic=True)
    assert amide.smiles == canonical("NC(=O)c1ccccc1")
    assert amide.charged(0, 1).smiles == canonical("[NH3+]C(=O)c1ccccc1")
    assert chain("CC").joined(0, 1, 3).smiles == canonical("C#C")


@pytest.mark.parametrize("bond", range(6))
def test_rings_are_fused_outside_whichever_bond_they_are_put_on(bond):
    benzene = Sketch().with_ring(6, 3.0, -2.0, aromatic=True)
    assert benzene.ring_on(bond, 6, aromatic=True).smiles == canonical("c1ccc2ccccc2c1")
    assert benzene.ring_on(bond, 5).smiles == canonical("C1Cc2ccccc2C1")


def test_sites_are_numbered_in_the_order_they_are_put():
    core = Sketch().with_ring(6, 0.0, 0.0, aromatic=True).grown(0, SITE).grown(2, SITE)
    assert core.smiles == canonical("c1cc([*:1])cc([*:2])c1")
    assert core.put(6, SITE) == core  # a site stays the one it is
    assert core.without_atom(6).smiles == canonical("c1ccc([*:2])cc1")


def test_a_chain_runs_in_a_zigzag_and_a_bond_to_where_an_atom_is_joins_it():
    chained = chain("CCCCCC")
    assert abs(chained.atoms[5].x - chained.atoms[0].x) > 4 * BOND
    square = chain("CCCC")
    here, there = square.atoms[3], square.atoms[0]
    bent = Sketch((*square.atoms[:3], type(here)("C", there.x, there.y - BOND)), square.bonds)
    assert bent.grown(3, toward=1.5707963).smiles == canonical("C1CCC1")


def test_an_atom_with_too_many_bonds_is_named_and_has_no_smiles():
    crowded = chain("CF").grown(1)
    assert crowded.wrong == (1,)
    with pytest.raises(AssayPilotError, match="F has more bonds than it can have"):
        _ = crowded.smiles
    assert crowded.molecule.GetNumAtoms() == 3  # it can be drawn all the same
    assert crowded.without_bond(1).smiles == canonical("CF.C")


def test_texts_that_are_no_structure_are_refused():
    for text in ("not one", "c1ccccc", "C" * 300):
        with pytest.raises(AssayPilotError):
            Sketch.of(text)
