import csv
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem, rdBase

from assaypilot.engine.chemistry.names import drawable, short_name, short_names

NAMES = {
    "[H]*": "H",
    "*F": "F",
    "*C#N": "CN",
    "*C": "Me",
    "*CC": "Et",
    "*C(C)C": "iPr",
    "*C(C)CC": "sBu",
    "*C(C)(C)C": "tBu",
    "*C1CC1": "cPr",
    "*C(F)(F)F": "CF3",
    "*C(F)F": "CHF2",
    "*C([2H])([2H])[2H]": "CD3",
    "*OC": "OMe",
    "*OC(F)(F)F": "OCF3",
    "*O": "OH",
    "*N": "NH2",
    "*NC": "NHMe",
    "*N(C)C": "NMe2",
    "*N(C)CC": "N(Et)Me",
    "*NC(C)=O": "NHAc",
    "*NC(=O)OC(C)(C)C": "NHBoc",
    "*[N+](=O)[O-]": "NO2",
    "*C(=O)OC": "CO2Me",
    "*C(=O)O": "CO2H",
    "*C(N)=O": "CONH2",
    "*C(=O)N1CCOCC1": "CO(morpholin-4-yl)",
    "*C(=O)OC(C)(C)C": "Boc",
    "*S(C)(=O)=O": "SO2Me",
    "*S(N)(=O)=O": "SO2NH2",
    "*S(F)(F)(F)(F)F": "SF5",
    "*P(=O)(OC)OC": "PO(OMe)2",
    "*B(O)O": "B(OH)2",
    "*C=C": "vinyl",
    "*C(C)=C": "C(Me)=CH2",
    "*C#CC": "C≡CMe",
    "*CCOC": "CH2CH2OMe",
    "*CCCN": "(CH2)3NH2",
    "*C(C)(C)O": "CMe2OH",
    "*C(C)c1ccccc1": "CH(Me)Ph",
    "*Cc1ccccc1": "Bn",
    "*Cc1ccc(F)cc1": "4-F-Bn",
    "*c1ccccc1": "Ph",
    "*c1ccc(F)cc1": "4-F-Ph",
    "*c1ccc(Cl)c(F)c1": "4-Cl-3-F-Ph",
    "*c1cc(OC)cc(OC)c1": "3,5-diOMe-Ph",
    "*c1ccc(-c2cccnc2)cc1": "4-(3-pyridyl)-Ph",
    "*c1cccnc1": "3-pyridyl",
    "*Oc1ccncc1": "O(4-pyridyl)",
    "*c1ccnn1C": "1-Me-pyrazol-5-yl",
    "*c1cc[nH]n1": "pyrazol-3-yl",
    "*c1nc(C)cs1": "4-Me-thiazol-2-yl",
    "*c1ccc2[nH]ccc2c1": "indol-5-yl",
    "*c1ccc2c(c1)OCO2": "1,3-benzodioxol-5-yl",
    "*N1CCOCC1": "morpholin-4-yl",
    "*N1CCCCC1": "piperidin-1-yl",
    "*N1CCN(C)CC1": "4-Me-piperazin-1-yl",
    "*N1CCCC1=O": "2-oxo-pyrrolidin-1-yl",
    "*C1CCC(F)(F)CC1": "4,4-diF-cHex",
    "*C12CC3CC(CC(C3)C1)C2": "1-adamantyl",
    "*N1CC2(C1)COC2": "2-oxa-6-azaspiro[3.3]heptan-6-yl",
    "*N1CC[C@H](F)C1": "(S)-3-F-pyrrolidin-1-yl",
    "*/C=C/c1ccccc1": "(E)-CH=CHPh",
}


@pytest.mark.parametrize(("smiles", "name"), NAMES.items())
def test_substituent_has_the_name_chemists_write(smiles, name):
    assert short_name(smiles) == name


@pytest.mark.parametrize("label", ["*OC", "[*:1]OC", "[*:12]OC", "[1*]OC", "[R1]OC", "CO*", "CO[*:3]", "O(C)[2*]"])
def test_every_spelling_of_the_attachment_point_is_read(label):
    assert short_name(label) == "OMe"


@given(st.sampled_from(sorted(NAMES)), st.integers(1, 10_000))
@settings(max_examples=60, deadline=None)
def test_name_does_not_depend_on_the_order_of_the_atoms(smiles, seed):
    with rdBase.BlockLogs():
        (spelled,) = Chem.MolToRandomSmilesVect(Chem.MolFromSmiles(smiles), 1, randomSeed=seed)
    assert short_name(spelled) == NAMES[smiles]


@pytest.mark.parametrize(
    "label", ["foo", "OMe", "CCO", "*", "[*:1]", "[3*]", "", "not [*:1] a structure", "[*:1]C(", "5"]
)
def test_label_that_is_no_substituent_is_returned_as_it_is(label):
    assert short_name(label) == label


@pytest.mark.parametrize(
    ("smiles", "compact"),
    [
        ("[*:1]C1=CCNCC1", "C1=CCNCC1"),
        ("[*:2]n1ccccc1=O", "n1ccccc1=O"),
        ("[*:1]=O", "=O"),
        ("[*:1]CCC[*:2]", "*CCC*"),
        ("[*:1][C@@H](C)c1ccccc1", "[C@@H](C)c1ccccc1"),  # R or S depends on what it is attached to
    ],
)
def test_group_without_a_name_keeps_its_smiles_without_the_attachment_point(smiles, compact):
    assert short_name(smiles) == compact


def test_different_labels_keep_different_names():
    labels = ("*C", "[*:1]C", "*F", "*C(C)CC", "*[C@H](C)CC", "*[C@@H](C)CC", "Me", "*OC", "*F")
    names = short_names(labels)
    assert names == ("*C", "[*:1]C", "F", "sBu", "[C@H](C)CC", "[C@@H](C)CC", "Me", "OMe", "F")


@given(st.lists(st.sampled_from([*NAMES, *NAMES.values(), "[H][*:1]", "H", "[*:1]C", "C", "[C@H](C)CC"]), max_size=30))
@settings(deadline=None)
def test_as_many_names_as_labels_in_any_list(labels):
    names = short_names(labels)
    assert len(names) == len(labels)
    assert len(set(names)) == len(set(labels))


def test_large_fragments_take_no_time():
    began = time.perf_counter()
    for label in (
        "*" + "C1CC2CC1C3CCC2C3" * 10,
        "*" + "c1ccc(cc1)" * 12 + "C",
        "*C12C3C4C1C5C4C3C25",
        "*" + "C" * 5_000,
    ):
        assert short_name(label)
    assert time.perf_counter() - began < 2


def test_substituents_of_a_published_series_have_different_names(public):
    with open(public("CHEMBL2321810_rgd_table.csv"), encoding="utf-8") as file:
        labels = sorted({row[site] for row in csv.DictReader(file) for site in ("R1", "R2", "R3") if row[site]})
    names = {label: short_name(label) for label in labels}
    with rdBase.BlockLogs():
        structures = {label: Chem.CanonSmiles(label) for label in labels}
    assert len(set(names.values())) == len(set(structures.values()))
    assert sum(name in structures[label] for label, name in names.items()) < 0.1 * len(labels)


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (("CN(C)CCN", "NCCN1CCCCC1", "NC1=CNN=C1"), ("H2N-CH2CH2NMe2", "H2N-CH2CH2(piperidin-1-yl)",
                                                    "H2N-(pyrazol-4-yl)")),
        (("CCCCCCCCCCCC[N+]#[C-]", "CC(C)(C)[N+]#[C-]"), ("dodecyl-NC", "tBu-NC")),
        (("O=CCCC", "O=Cc1ccccc1"), ("OHC-Pr", "OHC-Ph")),
        (("OB(O)c1ccncc1", "OB(O)c1ccccc1F"), ("(HO)2B-(4-pyridyl)", "(HO)2B-(2-F-Ph)")),
        (("Cn1ccnc1", "CCN(C(C)C)C(C)C"), ("Cn1ccnc1", "CCN(C(C)C)C(C)C")),
    ],
)  # fmt: skip
def test_building_blocks_are_named_by_the_group_they_share(labels: tuple[str, ...], names: tuple[str, ...]) -> None:
    assert short_names(labels) == names
    assert drawable(labels) == (True,) * len(labels)


@pytest.mark.parametrize(
    "labels", [("CN", "OMe", "C"), ("C", "CC", "OC", "F"), ("C#N", "C"), ("Br", "Cl"), ("CCN(C)C",)]
)
def test_plain_labels_are_no_building_blocks(labels: tuple[str, ...]) -> None:
    assert short_names(labels) == labels
    assert not any(drawable(labels))
