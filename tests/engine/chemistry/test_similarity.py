"""How alike substituents are: against RDKit's own figures, and what no structure or a single atom leads to."""

import math

import numpy as np
import pytest
from rdkit import Chem, DataStructs
from rdkit.Chem import rdFingerprintGenerator

from assaypilot.engine.chemistry.similarity import substituent_similarity

SINGLE_ATOMS = ("F", "C", "CC", "CCO", "c1ccccc1", "[H]", "OC")


@pytest.mark.parametrize("pair", [("*CCO", "*CCCO"), ("*c1ccccc1Cl", "*c1ccncc1"), ("*C(C)(C)C", "*C1CC1")])
def test_two_substituents_are_as_alike_as_their_fingerprints_and_descriptors(pair):
    molecules = [Chem.MolFromSmiles(label) for label in pair]
    expected = math.exp(-1.0)  # the only distance between descriptors is the median one
    for generator in (rdFingerprintGenerator.GetMorganGenerator(2), rdFingerprintGenerator.GetAtomPairGenerator()):
        expected += DataStructs.TanimotoSimilarity(*map(generator.GetCountFingerprint, molecules))
    found = substituent_similarity(pair)
    assert found[0, 1] == pytest.approx(expected / 3.0, abs=1e-6)
    assert found[0, 0] == found[1, 1] == 1.0


def test_single_atoms_and_hydrogen_leave_a_covariance():
    found = substituent_similarity(SINGLE_ATOMS)
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(np.diag(found), 1.0)
    np.testing.assert_array_equal(found, found.T)
    assert np.linalg.eigvalsh(found).min() > -1e-9
    hydrogen = SINGLE_ATOMS.index("[H]")
    assert np.count_nonzero(found[hydrogen]) == 1


@pytest.mark.parametrize("labels", [("A", "B"), ("C", "N", "O"), ("*CC", "no structure"), ("*CC",)])
def test_labels_that_are_no_structures_have_no_similarity(labels):
    assert substituent_similarity(labels) is None
