"""Calculated columns of a library: sums over parts are what RDKit says of the whole, and nothing is invented."""

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

from assaypilot.engine.chemistry import calculated
from assaypilot.engine.chemistry.assembling import NO_SITE
from assaypilot.engine.chemistry.calculated import ADDITIVE, additive, columns
from assaypilot.engine.chemistry.decomposition import CORE_SITE
from assaypilot.engine.chemistry.products import product_smiles, with_structures
from assaypilot.engine.library import Library, Scaffold, Site
from assaypilot.engine.progress import Cancelled

GROUPS = (
    *("[H]{0}", "C{0}", "O{0}", "N{0}", "CN(C){0}", "OC(=O){0}", "NS(=O)(=O){0}", "[O-][N+](=O){0}", "C1CN1{0}"),
    *("c1ccncc1{0}", "c1cn[nH]c1{0}", "N#C{0}", "FC(F)(F){0}", "[2H]C([2H])([2H]){0}", "C[S@](=O){0}"),
)
"""Hydrogen, donors, acceptors, charges, small rings, isotopes and stereo, with their open end at a site."""
CORES = (
    "c1nc([*:1])cc([*:2])c1",  # sites on carbon
    "c1cn([*:1])c2cc([*:2])ccc12",  # hydrogen on an aromatic nitrogen makes a donor
    "O=C1CC([*:1])C(=O)N1[*:2]",
    "CC([*:1])([*:2])C#N",  # two sites on one atom
    "C[N+]([*:1])([*:2])CC",
    "[*:1]OCCS[*:2]",
)


def at(number):
    """Every group with its open end at a site."""
    return tuple(Chem.CanonSmiles(group.replace("{0}", f"[*:{number}]")) if "[H]" not in group
                 else f"[H][*:{number}]" for group in GROUPS)  # fmt: skip


def library(core, first=None, second=None):
    sites = (Site("R1", first or at(1)), Site("R2", second or at(2)))
    return Library.product(
        sites, known=Library(sites, [[0, 0]], ("known",), scaffold=Scaffold((core,), ((CORE_SITE, core),)))
    )


def whole(smiles):
    """What RDKit says of a structure."""
    molecule = Chem.MolFromSmiles(smiles)
    return (
        Descriptors.MolWt(molecule),
        rdMolDescriptors.CalcTPSA(molecule),
        rdMolDescriptors.CalcNumHBD(molecule),
        molecule.GetNumHeavyAtoms(),
    )


@pytest.mark.parametrize("core", CORES)
def test_the_parts_of_every_product_add_up_to_the_whole(core):
    full = library(core)
    found = additive(full)
    compared = 0
    for place in range(len(full)):
        smiles = product_smiles(full, place)
        if smiles:
            compared += 1
            assert [found[name][place] for name in ADDITIVE] == pytest.approx(list(whole(smiles)), abs=1e-6), smiles
    assert compared > 200


def test_rows_are_answered_in_their_order_and_drawn_ones_by_their_structure():
    full = library(CORES[0])
    rows = [37, 3, 3, 200]
    found = columns(full, rows)
    assert list(found) == ["MW", "cLogP", "TPSA", "HBD", "Heavy atoms", "Alert"]
    for place, row in enumerate(rows):
        molecule = Chem.MolFromSmiles(product_smiles(full, row))
        assert [found[name][place] for name in ADDITIVE] == pytest.approx(list(whole(product_smiles(full, row))))
        assert found["cLogP"][place] == pytest.approx(Crippen.MolLogP(molecule))
    nitro = next(row for row in range(len(full)) if "N+" in product_smiles(full, row))
    assert columns(full, [nitro])["Alert"][0] != ""
    drawn = with_structures(full)
    everywhere = columns(drawn)
    assert np.allclose(everywhere["TPSA"], additive(full)["TPSA"])
    assert np.isfinite(everywhere["cLogP"]).all()


def test_efficiencies_need_a_potency_and_a_structure():
    plain = Library.listed(["R1"], [["Me"], ["Et"], ["Pr"]], ids="abc", smiles=["Cc1ccccc1", "", "CCCc1ccccc1"])
    found = columns(plain, None, {"pIC50": [7.0, 6.0, np.nan]})
    assert list(found) == ["MW", "cLogP", "TPSA", "HBD", "Heavy atoms", "LE pIC50", "LLE pIC50", "Alert"]
    assert found["LE pIC50"][0] == pytest.approx(1.37 * 7 / 7)
    assert found["LLE pIC50"][0] == pytest.approx(7 - Crippen.MolLogP(Chem.MolFromSmiles("Cc1ccccc1")))
    assert np.isnan(found["LE pIC50"][1:]).all()
    assert np.isnan(found["MW"][1])
    assert found["MW"].dtype == np.float64
    with pytest.raises(ValueError, match=r"pIC50: \(2,\) values for \(3,\) rows"):
        columns(plain, None, {"pIC50": [7.0, 6.0]})
    assert columns(plain, [])["MW"].shape == (0,)


def test_what_is_no_compound_has_no_figures():
    # A label, a part for another site, a part with two ends, and a site that the core does not have.
    core = CORES[0]
    full = library(core, ("C[*:1]", "alkyl", "C[*:2]", "[*:1]CC[*:1]"), ("[H][*:2]", "C[*:2]", NO_SITE))
    found = additive(full)["MW"].reshape(4, 3)
    assert np.isfinite(found[0, :2]).all()
    assert np.isnan(found[1:]).all()
    assert np.isnan(found[0, 2])
    assert np.isnan(additive(Library.listed(["R1"], [["Me"], ["Et"]]))["MW"]).all()


def test_several_cores_each_with_their_own_sites():
    two, one = "c1nc([*:1])cc([*:2])c1", "C1CC([*:1])CCN1"
    sites = (Site(CORE_SITE, (two, one)), Site("R1", at(1)[:4]), Site("R2", (*at(2)[:4], NO_SITE)))
    known = Library(sites, [[0, 0, 0]], ("known",), scaffold=Scaffold((two, one)))
    full = Library.product(sites, known=known)
    found = additive(full)
    for place in range(len(full)):
        smiles = product_smiles(full, place)
        got = [found[name][place] for name in ADDITIVE]
        assert got == pytest.approx(list(whole(smiles))) if smiles else np.isnan(got).all()


def test_most_of_a_large_library_is_not_put_together(monkeypatch):
    full = library(CORES[0])
    monkeypatch.setattr(calculated, "MOST_ASSEMBLED", 3)
    made = []
    monkeypatch.setattr(calculated, "product_smiles", lambda *given: made.append(given) or product_smiles(*given))
    found = columns(full)
    assert len(made) == 3
    assert np.isfinite(found["cLogP"]).sum() == 3
    assert np.isfinite(found["MW"]).all()


def test_it_can_be_cancelled():
    def report(fraction, message):
        raise Cancelled

    with pytest.raises(Cancelled):
        columns(library(CORES[0]), report=report)
