import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem, rdBase
from rdkit.Chem import rdRGroupDecomposition

from assaypilot.engine.chemistry.cores import CORE_SITE, NO_SITE, Core, assemble, parse_core, read_cores
from assaypilot.engine.chemistry.decomposition import decompose, extend
from assaypilot.engine.chemistry.splitting import Splitter
from assaypilot.engine.chemistry.structures import read_structures
from assaypilot.engine.errors import AssayPilotError


def read(*texts):
    return [found.smiles for found in read_structures(texts)]


def rows(decomposition):
    return [None if part is None else part.substituents for part in decomposition.parts]


def rdkit_rows(core, smiles):
    """The independent oracle: RDKit's own decomposition; None where it does not match."""
    parameters = rdRGroupDecomposition.RGroupDecompositionParameters()
    parameters.onlyMatchAtRGroups = True
    parameters.removeAllHydrogenRGroups = False
    parameters.removeAllHydrogenRGroupsAndLabels = False
    parameters.timeout = 60
    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(text) for text in smiles]
        found, left = rdRGroupDecomposition.RGroupDecompose(
            [Chem.MolFromSmiles(core.smiles)], molecules, asSmiles=True, options=parameters
        )
    unmatched, matched = set(left), iter(found)
    out = []
    for place in range(len(smiles)):
        row = None if place in unmatched else next(matched)
        out.append(None if row is None else tuple(row[site] for site in core.sites))
    return out


def same(text):
    sanitised = Chem.SmilesParserParams()
    sanitised.removeHs = False
    with rdBase.BlockLogs():
        return Chem.MolToSmiles(Chem.MolFromSmiles(text, sanitised))


@pytest.mark.parametrize(
    ("file", "scaffold", "used", "sizes"),
    [
        pytest.param(
            "pw_CHEMBL2321810.smi", "pw_CHEMBL2321810_scaffold.mol", 628, [73, 2, 445], marks=pytest.mark.slow
        ),
        ("pw_fw_mols.smi", "pw_scaffold.mol", 22, [6, 6]),
    ],
)
def test_public_series_come_apart_as_rdkit_takes_them(public, file, scaffold, used, sizes):
    texts = [line.split()[0] for line in public(file).read_text().splitlines()]
    cores = read_cores([str(public(scaffold))])
    began = time.process_time()
    smiles = [found.smiles for found in read_structures(texts)]
    apart = decompose(cores, smiles)
    assert time.process_time() - began < 3
    assert apart.used == used
    assert sum(bool(reason) for reason in apart.reasons) == len(texts) - used
    assert [len({part.substituents[k] for part in apart.parts if part}) for k in range(len(sizes))] == sizes
    assert {part.ways for part in apart.parts if part} == {1}
    expected = rdkit_rows(cores[0], smiles)
    assert [None if row is None else tuple(map(same, row)) for row in rows(apart)] == [
        None if row is None else tuple(map(same, row)) for row in expected
    ]


GROUPS = ["[H]", "C", "F", "OC", "C(F)(F)F", "c1ccccc1", "[C@H](C)O", "C(=O)N", "C#N", "N1CCOCC1", "/C=C/C"]
"""Behind their open end."""


@given(
    st.lists(st.tuples(*[st.sampled_from(GROUPS)] * 3), min_size=2, max_size=8),
    st.sampled_from(
        [
            "O=c1[nH]c([*:1])c([*:2])n1[*:3]",
            "C1C([*:1])N([*:2])CC1[*:3]",
            "O=C1NC([*:1])([*:2])CN1[*:3]",
            "c1cc2c([*:1])c([*:2])sc2cc1[*:3]",
        ]
    ),
)
def test_what_is_put_together_comes_apart_the_same(groups, core):
    parts = [[f"[*:{k}]{text}" for k, text in enumerate(row, 1)] for row in groups]
    smiles = [assemble(core, row) for row in parts]
    apart = decompose([parse_core(core)], smiles)
    assert apart.reasons == ("",) * len(smiles)
    shift = CORE_SITE in apart.sites
    for part, row, text in zip(apart.parts, parts, smiles, strict=True):
        assert assemble(part.core, part.substituents[shift:]) == text
        if part.ways == 1:
            assert [same(one) for one in part.substituents[shift:]] == [same(one) for one in row]


@pytest.mark.parametrize(
    ("structure", "reason"),
    [
        ("CCCCCC", "the core is not in this structure"),
        ("Cc1cccc(C)n1", "it has the core, with a substituent where the core has no site"),
        ("*c1cccnc1", "the structure has an open end (*)"),
    ],
)
def test_what_cannot_be_taken_apart_says_why(structure, reason):
    apart = decompose([parse_core("[*:1]c1cccnc1[*:3]")], read(structure, "Cc1cccnc1"))
    assert apart.parts[0] is None
    assert apart.parts[1] is not None
    assert reason in apart.reasons[0]


def test_a_ring_that_joins_two_sites_is_one_substituent_of_both():
    smiles = read("C1Cc2cccnc2C1", "c1cnc2c(c1)OCO2", "Cc1cccnc1")
    apart = decompose([parse_core("[*:1]c1cccnc1[*:3]")], smiles)
    assert apart.reasons == ("", "", "")
    assert rows(apart)[0] == ("C(C[*:1])C[*:3]",) * 2
    assert assemble(apart.parts[1].core, apart.parts[1].substituents) == smiles[1]


@pytest.mark.parametrize(
    ("core", "structure", "substituent"),
    [
        ("c1ccc([*:1])c([*:2])c1C(=O)N", "NC(=O)c1cccc2ccccc12", "C(C=C[*:2])=C[*:1]"),
        ("c1ccc([*:1])c([*:2])c1C(=O)N", "NC(=O)c1cccc2[nH]ccc12", "C(=C[*:2])N[*:1]"),
        ("c1ccc([*:1])c([*:2])c1C(=O)N", "NC(=O)c1cccc2c1c1ccccc1o2", "c1ccc([*:2])c(O[*:1])c1"),
        ("c1nc([*:1])c([*:2])nc1N", "Nc1cnc2nccnc2n1", "C(C=N[*:2])=N[*:1]"),
        ("c1c(C(=O)O)c([*:1])n([*:2])c1", "OC(=O)c1ccn2ccccc12", "C(C=C[*:1])=C[*:2]"),
    ],
)
def test_an_aromatic_ring_fused_over_two_sites_is_one_substituent_of_both(core, structure, substituent):
    smiles = read(structure)
    apart = decompose([parse_core(core)], smiles)
    assert apart.reasons == ("",)
    assert [same(one) for one in apart.parts[0].substituents] == [same(substituent)] * 2
    assert assemble(apart.parts[0].core, apart.parts[0].substituents) == smiles[0]


def test_two_groups_at_one_site_are_not_one_substituent():
    apart = decompose([parse_core("C1CCNCC1[*:1]")], read("CC1(F)CCCNC1", "CC1CCCNC1"))
    assert apart.reasons[0] == "more substituents than sites at one atom of the core (R1)"
    # With two sites there they are.
    two = decompose([parse_core("C1CCNCC1([*:1])[*:2]")], read("CC1(F)CCCNC1", "CC1CCCNC1"))
    assert two.reasons == ("", "")


def test_stereo_of_the_core_is_a_site_of_its_own():
    smiles = read("CN1CCC[C@H](F)C1", "CN1CCC[C@@H](F)C1", "CN1CCCC(F)C1")
    apart = decompose([parse_core("C1CCN([*:1])CC1[*:2]")], smiles)
    assert apart.sites == (CORE_SITE, "R1", "R2")
    assert len(set(rows(apart))) == 3
    assert any("The core has 3 forms" in note for note in apart.notes())
    # A core drawn with stereo takes that alone.
    drawn = decompose([parse_core("C1CCN([*:1])C[C@H]1[*:2]")], smiles)
    assert [part is not None for part in drawn.parts].count(True) == 1
    assert "it has the core with other stereo" in drawn.reasons


def test_a_racemate_keeps_apart_from_its_enantiomer():
    smiles = read("C[C@H](F)c1ccccc1 |&1:1|", "C[C@H](F)c1ccccc1")
    apart = decompose([parse_core("c1ccccc1[*:1]")], smiles)
    first, second = rows(apart)
    assert first != second
    assert "|&1:" in first[0]


def test_several_cores_are_substituents_of_one_site():
    cores = [parse_core("c1cc([*:1])ccc1[*:2]"), parse_core("c1cc([*:1])ncc1[*:3]")]
    apart = decompose(cores, read("Cc1ccc(F)cc1", "Cc1ccc(F)nc1"))
    assert apart.sites == (CORE_SITE, "R1", "R2", "R3")
    assert rows(apart)[1][1:] == ("F[*:1]", NO_SITE, "C[*:3]")


def test_symmetric_assignments_follow_the_series_not_the_order():
    core = parse_core("c1cc([*:2])ccc1[*:1]")
    # In the order of the alphabet nitrogen stands behind fluorine, the others before it.
    series = read("Fc1ccc(C)cc1", "Fc1ccc(Cl)cc1", "Fc1ccc(OC)cc1", "Nc1ccc(F)cc1", "Fc1ccc(Br)cc1")
    apart = decompose([core], series)
    fluorine = {row.index(next(text for text in row if text.startswith("F[*"))) for row in rows(apart)}
    assert len(fluorine) == 1
    assert {part.ways for part in apart.parts} == {2}
    assert "arbitrary" in apart.notes(list("ABCDE"))[0]
    assert "A, B, C and 2 more" in apart.notes(list("ABCDE"))[0]


def test_appended_compounds_never_rename_a_site():
    bare = Core("c1ccccc1")
    series = read("Fc1ccc(C)cc1", "Fc1ccc(Cl)cc1", "Fc1ccc(OC)cc1")
    apart = decompose([bare], series)
    more = read("Brc1ccc(F)cc1", "COc1ccc(N)cc1", "Cc1cccc(F)c1", "")
    longer = extend(apart, more)
    assert (longer.cores, longer.sites) == (apart.cores, apart.sites)
    assert longer.parts[:3] == apart.parts
    fluorine = next(k for k, text in enumerate(apart.parts[0].substituents) if text.startswith("F[*"))
    assert longer.parts[3].substituents[fluorine].startswith("F[*")
    assert longer.parts[4].substituents[1 - fluorine].startswith("CO[*")
    assert longer.reasons[5:] == (
        "it has the core, with a substituent where the core has no site",
        "there is no structure",
    )


@given(
    st.lists(st.tuples(*[st.sampled_from(["C", "N", "O", "F", "Cl", "Br"])] * 2), min_size=1, max_size=10), st.randoms()
)
def test_the_order_of_the_rows_decides_nothing(pairs, chance):
    smiles = read(*(f"{a}c1ccc({b})cc1" for a, b in dict.fromkeys(pairs)))
    order = list(range(len(smiles)))
    chance.shuffle(order)
    core = parse_core("c1cc([*:2])ccc1[*:1]")
    one, other = rows(decompose([core], smiles)), rows(decompose([core], [smiles[k] for k in order]))
    assert [one[k] for k in order] == other


def test_a_core_that_nobody_has_or_that_leaves_nothing_is_refused():
    with pytest.raises(AssayPilotError, match="no structure of the table has the core"):
        decompose([Core("c1ccncc1")], read("CCO", "CCN"))
    with pytest.raises(AssayPilotError, match="no structure carries anything on the core"):
        decompose([Core("c1ccncc1")], read("c1ccncc1", "c1ccncc1"))


@pytest.mark.parametrize(
    ("core", "parts", "said"),
    [
        ("c1ccccc1[*:1]", [], "the core has the sites 1, the parts none"),
        ("c1ccccc1[*:1]", ["C[*:2]"], "the core has the sites 1, the parts 2"),
        ("c1ccccc1[*:1]", ["CC[*:1]", "C[*:1]"], "the core has the sites 1, the parts 1, 1"),
        ("c1ccccc1[*:1]", ["no[*:1]"], "is no structure"),
        ("C1CCN([*:1])C1", ["O=[*:1]"], "the parts do not make a structure"),
    ],
)
def test_parts_that_do_not_fit_are_refused(core, parts, said):
    with pytest.raises(ValueError, match=said):
        assemble(core, parts)


def test_a_ring_over_the_core_itself_is_no_match():
    apart = decompose([parse_core("[*:1]CCCO")], read("ClCCCO", "FCCCO", "C1CCO1"))
    assert apart.reasons == ("", "", "a further ring bond joins two atoms of the core")


_SYMMETRIC = "c1ccc([*:1])c([*:2])c1 C1CC([*:1])CC([*:2])N1 c1([*:1])cnc([*:2])nc1"
_HELD = (
    "Cc1ccccc1 Cc1ccccc1F c1ccc2ncccc2c1 c1ccccc1 Cc1cccc(C)c1 CC1CC(C)NCC1 C[C@H]1CCC[C@@H](C)N1 C1CC2CC(C1)N2 "
    "Cc1cnc(N)nc1 c1ccncc1 C1CCNCC1c1ccccc1 Clc1ccc2c(c1)CCC2 c1ccccc1-c1ccccc1C"
)


@given(core=st.sampled_from(_SYMMETRIC.split()), text=st.sampled_from(_HELD.split()))
def test_arbitrary_decompositions_are_those_with_several_ways_or_a_joint_substituent(core, text):
    splitter, molecule = Splitter(parse_core(core)), Chem.MolFromSmiles(text)
    ways, _ = splitter.ways(molecule)
    assert splitter.is_arbitrary(molecule) == (len(ways) > 1 or ways[0].bridged if ways else None)
