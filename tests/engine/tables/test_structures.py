"""The structures of a table: of compounds and of substituents."""

import json

import pytest
from rdkit import Chem

from assaypilot.engine.chemistry.cores import product_smiles
from assaypilot.engine.chemistry.names import pictures
from assaypilot.engine.chemistry.similarity import library_similarity
from assaypilot.engine.domain.library import Library, Scaffold
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions
from assaypilot.engine.tables.products import one_spelling
from assaypilot.engine.tables.results import read_results

CORE = "[*:1]c1ccnc([*:2])c1"


def table(*rows, header="ID,SMILES,pIC50"):
    return parse_text("\n".join([header, *rows]))


def read(raw, **options):
    mapping = propose(raw, TableOptions(**{"product": False} | options))
    return import_table(raw, mapping)


SERIES = table(
    "A,Cc1ccnc(N)c1,6.1",
    "B,Clc1ccnc(N)c1.Cl,6.4",
    "C,Cc1ccnc(F)c1,5.9",
    "D,Clc1ccnc(F)c1,6.6",
    "E,CCO,5.0",
    "F,C1CC,5.0",
    "G,,5.0",
    "H,c1cc2c(cn1)CCC2,5.0",
    "I,Cc1ccnc(N)c1,6.2",
)


def test_sites_come_from_the_structures():
    found = read(SERIES, cores=(CORE,))
    assert [site.name for site in found.library.sites] == ["R1", "R2"]
    assert found.library.ids == ("A", "B", "C", "D", "I")
    assert found.library.substituents(1) == {"R1": "Cl[*:1]", "R2": "N[*:2]"}
    assert found.library.smiles[1] == "Nc1cc(Cl)ccn1"
    assert (found.rows_read, found.rows_used) == (9, 5)
    reasons = {problem.row: (problem.column, problem.reason) for problem in found.not_used}
    assert reasons == {
        6: ("SMILES", "the core is not in this structure"),
        7: ("SMILES", "'C1CC' is no structure: it cannot be read as SMILES"),
        8: ("SMILES", "there is no structure"),
        9: ("SMILES", "it has the core, with a substituent where the core has no site"),
    }
    assert found.of_row == ("A", "B", "C", "D", None, None, None, None, "I")
    assert [result.compound for result in found.history] == ["A", "B", "C", "D", "I"]
    said = " ".join(found.warnings)
    assert "Salts and solvents were left out of 1 structure (Cl: 1)." in said
    assert "1 structure stands under more than one id (A and I); they stay separate compounds" in said
    assert "Empty substituent cells" not in said


def test_ids_with_one_structure_are_one_compound_on_request():
    found = read(SERIES, cores=(CORE,), merge="identical")
    assert found.library.ids == ("A", "B", "C", "D")
    assert found.of_row[-1] == "A"
    assert [result.compound for result in found.history].count("A") == 2
    assert "merged under the first; results under any of them count for it (A is also I)." in " ".join(found.warnings)
    assert found.library.aliases == (("I", "A"),)
    assert found.library.find("i") == 0


def test_results_under_a_merged_id_are_recorded_for_its_compound_with_a_note():
    raw = table("A,CCO,Me,6", "A2,OCC,Me,6.3", "A3,C(O)C,Me,6", "B,CCN,H,7", header="ID,SMILES,R1,pIC50")
    found = read(raw, merge="identical")
    assert found.library.aliases == (("A2", "A"), ("A3", "A"))
    assert "(A is also A2, A3)" in " ".join(found.warnings)
    back = read_results(
        parse_text("ID\tpIC50\tComment\na2\t6.4\tnew\nB\t7.1\t\nA4\t5\t"), found.library, found.endpoints
    )
    assert [(one.compound, one.value, one.comment) for one in back.results] == [
        ("A", 6.4, "new; reported as a2"),
        ("B", 7.1, ""),
    ]
    assert back.warnings == ("Row 2: a2 is another id of A, for which it counts.",)
    assert [one.reason for one in back.rejected] == ["'A4' is no compound of this campaign"]


def test_charge_forms_take_the_first_one_s_structure():
    raw = table("A,O=C(O)c1ccnc(N)c1,6", "B,O=C([O-])c1ccnc(N)c1,6.3", "C,Cc1ccnc(F)c1,5", "D,Cc1ccnc(N)c1,5")
    apart = read(raw, cores=(CORE,))
    assert len(apart.library.sites[0].substituents) == 3
    merged = read(raw, cores=(CORE,), merge="charge")
    assert merged.library.ids == ("A", "C", "D")
    assert len(merged.library.sites[0].substituents) == 2
    assert [result.value for result in merged.history if result.compound == "A"] == [6.0, 6.3]


def test_columns_of_sites_give_way_to_a_core():
    raw = table("A,Cc1ccnc(N)c1,x,6", "B,Clc1ccnc(F)c1,y,7", header="ID,SMILES,R1,pIC50")
    found = read(raw, cores=(CORE,))
    assert found.library.substituents(0)["R1"] == "C[*:1]"
    assert "columns of the table not used: R1" in " ".join(found.warnings)
    with pytest.raises(AssayPilotError, match="Give a core or columns of sites, not both"):
        read(raw, cores=(CORE,), sites=("R1",))
    with pytest.raises(AssayPilotError, match="--core: a core was given, but the table has no column of structures"):
        read(table("A,Me,6", "B,Cl,7", header="ID,R1,pIC50"), cores=(CORE,))


def test_the_core_is_kept_with_the_library_and_draws_its_products():
    raw = table("A,Cc1ccnc(N)c1,6", "B,Clc1ccnc(N)c1,7", "C,Cc1ccnc(F)c1,5")
    found = read(raw, cores=("[*:1]c1c([*:3])cnc([*:2])c1",), product=True)
    core = Chem.CanonSmiles("[*:1]c1c([*:3])cnc([*:2])c1")
    assert found.library.scaffold == Scaffold((core,), (("Core", core), ("R3", "[H][*:3]")))
    again = Library.decode(found.library.encode())
    assert again.scaffold == found.library.scaffold
    assert len(again) == 4
    assert again.smiles == ("Cc1ccnc(N)c1", "Cc1ccnc(F)c1", "Nc1cc(Cl)ccn1", "Fc1cc(Cl)ccn1")
    assert all(product_smiles(again, k) == text for k, text in enumerate(again.smiles))


def test_check_reports_core_and_model():
    raw = SERIES
    mapping = propose(raw, TableOptions(cores=(CORE,), merge="identical", sd=0.2))
    document = check_report(raw, mapping, import_table(raw, mapping))
    json.dumps(document, allow_nan=False)
    assert document["cores"] == ["c1cc([*:1])cc([*:2])n1"]
    model = document["model_report"]["pIC50"]
    assert model["verdict"] in ("fits", "doubtful", "does not fit", "not judged")
    assert model["noise_freedom"] == 1  # A and I are one compound, measured twice
    assert model["rows"] == 4


AMINES = (("aniline", "Nc1ccccc1"), ("p-toluidine", "Nc1ccc(C)cc1"), ("morpholine", "C1COCCN1"), ("none", ""))
SOLVENTS = (("THF", "C1CCOC1"), ("2-MeTHF", "CC1CCCO1"), ("DMSO", "CS(C)=O"))
HEADER = "solvent|solvent_smiles|amine|Structure of amine|yield"


def library_of(rows, header=HEADER, sites=()):
    raw = parse_text("\n".join([header, *rows]).replace("|", "\t"))
    return import_table(raw, propose(raw, TableOptions(sites=sites)))


def reactions(amines=AMINES):
    pairs = [(solvent, amine) for solvent in SOLVENTS for amine in amines]
    return [f"{'|'.join(solvent)}|{'|'.join(amine)}|{10.5 + place}" for place, (solvent, amine) in enumerate(pairs)]


def test_structures_next_to_names_are_compared_and_the_names_stay():
    found = library_of(reactions())
    library = found.library
    assert [site.name for site in library.sites] == ["solvent", "amine"]
    assert library.sites[1].substituents == tuple(name for name, _ in AMINES)
    assert pictures(library, 0) == ("C1CCOC1", "CC1CCCO1", "CS(C)=O")
    assert pictures(library, 1)[3] == ""
    solvents, amines = library_similarity(library)
    assert solvents[0, 1] > solvents[0, 2]
    assert amines[0, 1] > amines[0, 2]
    assert amines[0, 3] == 0.0
    (note,) = [one for one in found.notes if "Structures of substituents" in one]
    assert "solvent from solvent_smiles, amine from Structure of amine" in note


def of(*texts: str) -> tuple[dict[str, str], list[str], list[str]]:
    notes: list[str] = []
    warnings: list[str] = []
    return one_spelling("R1", texts, notes, warnings), notes, warnings


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("C[*:1]", "[*:1]C"),
        ("[*:1]OC", "CO[*:1]"),
        ("[1*]c1ccccc1", "c1ccc(cc1)[*:1]"),
        ("*C1=CC=CC=C1", "c1ccc(*)cc1"),  # Kekule
        ("[*]CC |$_R1;;$|", "[*:1]CC"),
        ("[R1]OC", "*OC"),
        ("[*:1][C@H](C)O", "O[C@@H](C)[*:1]"),
    ],
)
def test_one_structure_is_one_substituent(first, other):
    meant, notes, warnings = of(first, "[*:1]N", other)
    assert meant == {first: first, other: first}
    assert notes == [f"Spellings of the same structure at R1 are one substituent: {first} = {other}."]
    assert warnings == []


@pytest.mark.parametrize(
    ("first", "other"),
    [
        ("CO[*:1]", "OC[*:1]"),  # methoxy and hydroxymethyl
        ("CO", "OC"),  # where they are attached nobody knows
        ("[*:1][C@H](C)O", "[*:1][C@@H](C)O"),
        ("[*:1]CC[*:2]", "[*:2]CC[*:1]"),  # bridges
        ("c1ccccc1", "C1CCCCC1"),
        ("[*:1]c1ccccc1F", "[*:1]c1cccc(F)c1"),
        ("[*:1]C(", "C([*:1]"),  # no SMILES
    ],
)
def test_others_stay_apart(first, other):
    assert of(first, other) == ({}, [], [])


def test_names_that_may_be_one_are_asked_about():
    meant, notes, warnings = of("Me", "OMe", "me", "CH3", "F", "methoxy", "Ph-4-F", "ph-4-f")
    assert (meant, notes) == ({}, [])
    assert warnings == [
        f"{names} at R1 count as different substituents. If they are one, spell them alike."
        for names in ("Me, me, CH3", "OMe, methoxy", "Ph-4-F, ph-4-f")
    ]
