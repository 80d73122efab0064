import time

import pytest
from rdkit import Chem

from assaypilot.engine.chemistry import proposing
from assaypilot.engine.chemistry.cores import Core, parse_core, read_cores
from assaypilot.engine.chemistry.proposing import propose_set
from assaypilot.engine.errors import AssayPilotError


def test_files_of_cores(tmp_path):
    first, second = Chem.MolFromSmiles("[1*]c1ccccc1[2*]"), Chem.MolFromSmiles("[1*]c1ccncc1[3*]")
    for name, mols in (("a.mol", [first]), ("b.sdf", [first, second])):
        text = "$$$$\n".join(Chem.MolToMolBlock(mol) for mol in mols) + ("$$$$\n" if name.endswith("sdf") else "")
        (tmp_path / name).write_text(text)
    (one,) = read_cores([str(tmp_path / "a.mol")])
    assert one == parse_core("[*:1]c1ccccc1[*:2]")
    assert [core.numbers for core in read_cores([str(tmp_path / "b.sdf")])] == [(1, 2), (1, 3)]
    (tmp_path / "c.smi").write_text("[*:1]c1ccccc1[*:2] phenyl\n\n")
    assert read_cores([str(tmp_path / "c.smi"), "[R1]c1ccccc1[R2]"]) == (one,)


def test_the_sites_of_a_molfile_are_its_r_groups(public):
    (core,) = read_cores([str(public("pw_CHEMBL2321810_scaffold.mol"))])
    assert core == Core(Chem.CanonSmiles("N#Cc1cc(S(=O)(=O)[*:1])cc([*:2])c1O[*:3]"), (1, 2, 3))


def test_a_broken_file_names_the_record(tmp_path):
    good = Chem.MolToMolBlock(Chem.MolFromSmiles("[1*]c1ccccc1"))
    (tmp_path / "x.sdf").write_text(good + "$$$$\nnonsense\n$$$$\n")
    with pytest.raises(AssayPilotError, match=r"x\.sdf.*record 2 is no molfile"):
        read_cores([str(tmp_path / "x.sdf")])


def test_a_core_is_proposed_from_what_the_structures_share():
    smiles = [f"{a}c1ccc({b})c2[nH]ccc12" for a in ("C", "Cl", "OC", "F") for b in ("C", "N", "OC", "C#N")]
    (best,), _ = propose_set(smiles)
    assert (best.used, best.sample, len(parse_core(best.smiles).numbers)) == (16, 16, 2)
    bare = Chem.DeleteSubstructs(Chem.MolFromSmiles(best.smiles), Chem.MolFromSmarts("[#0]"))
    assert Chem.MolToSmiles(bare) == Chem.CanonSmiles("c1ccc2[nH]ccc2c1")


def test_two_series_in_one_table_get_a_core_each():
    indoles = [f"{a}c1ccc({b})c2[nH]ccc12" for a in ("C", "Cl", "OC", "F") for b in ("C", "N", "OC", "C#N")]
    amides = [f"O=C(N{a})C1CCN({b})CC1" for a in ("C", "CC", "C2CC2", "CCO") for b in ("C", "CC", "CCC", "CC#N")]
    taken, _ = propose_set(indoles + amides)
    assert sorted(one.used for one in taken) == [16, 16]
    numbers = [number for one in taken for number in parse_core(one.smiles).numbers]
    assert len(set(numbers)) == len(numbers)


def test_search_for_a_common_part_ends_by_its_steps_not_by_the_clock(monkeypatch):
    monkeypatch.setattr(proposing, "_PATIENCE", 200)
    tails = ("CCN4CCN(C)CC4", "CCCN4CCOCC4", "C(=O)N4CCC(N5CCCC5)CC4")
    ends = ("c2ccc3[nH]ncc3c2", "c2ccnc(NC(=O)C3CC3)c2", "C(=O)Nc2ccc(Cl)c(C(F)(F)F)c2")
    series = [Chem.MolFromSmiles(f"O=C(Nc1cc({x})cc({t})c1)c1cccc({e})c1") for e in ends for t in tails for x in "FC"]
    started = time.process_time()
    assert proposing.shared_part(series, 0.6, 60) is not None
    assert time.process_time() - started < 30.0  # of a tenth, where the clock would let it search for a minute


@pytest.mark.slow
def test_core_that_fits_all_is_taken_alone_although_three_larger_ones_explain_more():
    ends = ("c2ccc3[nH]ncc3c2", "c2ccnc(NC(=O)C3CC3)c2", "C(=O)Nc2ccc(Cl)c(C(F)(F)F)c2")
    tails = ("CCN4CCN(C)CC4", "CCCN4CCOCC4", "C(=O)N4CCC(N5CCCC5)CC4", "OCCN4CCCCC4")
    smiles = [
        f"O=C(Nc1cc({x})cc({tail})c1)c1cccc({end})c1".replace("()", "")
        for end in ends
        for tail in tails
        for x in ("", "F", "OC")
    ]
    taken, _ = propose_set(smiles[:32])
    assert [(one.used, len(parse_core(one.smiles).numbers)) for one in taken] == [(32, 3)]


def test_atoms_that_stand_for_several_elements_are_refused(tmp_path):
    query = Chem.MolFromSmarts("[C,N]1CCCC[C,N]1")
    (tmp_path / "query.mol").write_text(Chem.MolToMolBlock(query))
    with pytest.raises(AssayPilotError, match="an atom that stands for several elements"):
        read_cores([str(tmp_path / "query.mol")])
