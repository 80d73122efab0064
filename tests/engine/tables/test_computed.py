"""What is computed or a detail of a fit is no endpoint, by the headers of the programs that chemists export from."""

import pytest

from assaypilot.engine.tables import headers

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


@pytest.mark.parametrize("header", ["pIC50", "-logIC50", "-log10(IC50)", "minus log IC50", "logP", "neg log Ki"])
def test_a_negative_logarithm_is_none_of_these(header):
    assert not headers.is_log_concentration(header)
