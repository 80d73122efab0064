import csv
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem, rdBase

from assaypilot.engine.chemistry.names import drawable, short_name, short_names

with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as _file:
    NAMES = {row["smiles"]: row["name"] for row in csv.DictReader(_file)}


@pytest.mark.parametrize(("smiles", "name"), NAMES.items())
def test_substituent_has_the_name_chemists_write(smiles, name):
    assert short_name(smiles) == name


@pytest.mark.parametrize("label", ["*OC", "[*:1]OC", "[*:12]OC", "[1*]OC", "[R1]OC", "CO*", "CO[*:3]", "O(C)[2*]"])
def test_every_spelling_of_the_attachment_point_is_read(label):
    assert short_name(label) == "OMe"


@given(st.sampled_from(sorted(NAMES)), st.integers(1, 10_000))
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
