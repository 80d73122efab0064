import csv
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem, rdBase

from assaypilot.engine.chemistry.names import short_name, short_names

with Path(__file__).with_name("names.csv").open(encoding="utf-8", newline="") as _file:
    NAMES = {row["smiles"]: row["name"] for row in csv.DictReader(_file)}


@pytest.mark.parametrize(("smiles", "name"), NAMES.items())
def test_substituent_has_the_name_chemists_write(smiles, name):
    assert short_name(smiles) == name


@given(st.sampled_from(sorted(NAMES)), st.integers(1, 10_000))
def test_name_does_not_depend_on_the_order_of_the_atoms(smiles, seed):
    with rdBase.BlockLogs():
        (spelled,) = Chem.MolToRandomSmilesVect(Chem.MolFromSmiles(smiles), 1, randomSeed=seed)
    assert short_name(spelled) == NAMES[smiles]


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
