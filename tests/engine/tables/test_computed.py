"""What is computed or a detail of a fit is no endpoint, by the headers of the programs that chemists export from."""

import pytest

from assaypilot.engine.tables import headers
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text

COMPUTED = """MolWt|Molecular Weight|Exact Mass|Monoisotopic Mass|Total Molweight|cLogP|AlogP|cLogD7.4|CX LogP|SlogP
XLogP3|MolLogP|Polar Surface Area|TPSA (Å²)|HBA|HBD (Lipinski)|H-Acceptors
H-Donors|NumHDonors|#RO5 Violations|#Rotatable Bonds
NumRotatableBonds|Aromatic Rings|NumAromaticRings|RingCount|HeavyAtomCount|Non-H Atoms|Number of atoms|QED Weighted
Np Likeness Score|Ligand Efficiency LLE|LipE|BEI|cLogS|Druglikeness|Fraction Csp3|FractionCSP3|Stereo Centers
Molar Refractivity|Lipinski Violations|CNS MPO|CX Acidic pKa|docking score|r_i_docking_score|r_qp_mol_MW|i_qp_#rotor
Tanimoto|Purity (%)|Document Year|Max Phase|SA Score|Price"""
FITS = "Hill slope|Hill|R²|Curve class|IC50 95% CI low|IC50 CI upper|IC50 (nM) lower 95% CI|Z' factor"
MEASURED = """IC50 (nM)|pIC50|r_user_pIC50|Ki|Activity|% inhibition @ 10 uM|Papp|CLint (µL/min/mg)|Solubility (µM)
Emax (%)|Yield|Level|logBB|Clearance|hERG IC50 (uM)|Selectivity (fold)|LogIC50 (M)|DC50 (nM)|Residual activity"""


@pytest.mark.parametrize("header", COMPUTED.replace("\n", "|").split("|"))
def test_computed(header):
    assert headers.is_property(header)


@pytest.mark.parametrize("header", FITS.split("|"))
def test_details_of_fits(header):
    assert headers.is_of_fit(header)


@pytest.mark.parametrize("header", MEASURED.replace("\n", "|").split("|"))
def test_measured(header):
    assert not headers.is_property(header)
    assert not headers.is_of_fit(header)


def test_a_modelling_suites_table_needs_no_options():
    raw = parse_text(
        "Title,Rgroup R1,Rgroup R2,r_user_pIC50,r_qp_mol_MW,i_qp_#rotor,R1 SMILES\n"
        "c1,[H],Me,6.1,300.1,3,[H]\nc2,Cl,Me,6.9,334.5,3,Cl\nc3,Cl,Et,7.2,348.6,4,Cl\nc4,[H],Et,6.4,314.2,4,[H]\n"
    )
    mapping = propose(raw)
    assert (mapping.id, mapping.sites) == ("Title", ("Rgroup R1", "Rgroup R2"))
    assert [column.endpoint.name for column in mapping.endpoints] == ["r_user_pIC50"]
    assert "Columns r_qp_mol_MW, i_qp_#rotor look like computed properties; name one with --endpoint to use it." in (
        mapping.notes
    )
    # A user writes it as it is called on screen.
    assert raw.find("pIC50") == "r_user_pIC50"


def test_the_r_squared_of_a_fit_is_no_site():
    raw = parse_text("ID,R1,IC50 (nM),Hill,R2\na,Me,10,1.1,0.98\nb,H,30,0.9,0.95\nc,Et,25,1,1\n")
    mapping = propose(raw)
    assert mapping.sites == ("R1",)
    assert [column.endpoint.name for column in mapping.endpoints] == ["IC50 (nM)"]


@pytest.mark.parametrize("header", ["No.", "Number", "Entry", "#"])
def test_numbers_are_ids_where_nothing_else_is(header):
    raw = parse_text(f"{header},R1,R2,pIC50\n" + "".join(f"{k},S{k % 3},T{k % 2},{6 + k / 10}\n" for k in range(1, 7)))
    table = import_table(raw, propose(raw))
    assert table.library.ids[:2] == ("1", "2")
    assert [one.name for one in table.endpoints] == ["pIC50"]


@pytest.mark.parametrize("header", ["pIC50", "-logIC50", "-log10(IC50)", "minus log IC50", "logP", "neg log Ki"])
def test_a_negative_logarithm_is_none_of_these(header):
    assert not headers.is_log_concentration(header)
