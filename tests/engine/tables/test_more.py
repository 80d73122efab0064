"""More compounds for a campaign whose sites were made from structures."""

from __future__ import annotations

import pytest

from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.join import read_more
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions
from assaypilot.engine.tables.structures import numbered

# Its ring can be read from either side: fluorine stands at one site because most compounds have it there.
CORE = "c1cc([*:2])ccc1[*:1]"
SERIES = ("Fc1ccc(C)cc1", "Fc1ccc(Cl)cc1", "Fc1ccc(OC)cc1", "Fc1ccc(Br)cc1")
NONE = TableOptions()
AVAILABLE = TableOptions(available="Stock")


def table(*lines: str):
    return parse_text("\n".join(lines) + "\n")


def library_of(*smiles: str, ids: bool = True, **options) -> Library:
    lines = [f"C{k},{text}" for k, text in enumerate(smiles)] if ids else list(smiles)
    raw = table("ID,SMILES" if ids else "SMILES", *lines)
    return import_table(raw, propose(raw, TableOptions(cores=(CORE,), **options))).library


def carried(library: Library) -> list[dict[str, str]]:
    return [library.substituents(k) for k in range(len(library))]


def test_the_substituents_that_are_known_say_which_way_round_a_structure_is():
    series = library_of(*SERIES, "Oc1ccc(C)cc1", "Oc1ccc(Cl)cc1")
    one = next(site for site in series.sites if any(text.startswith("F[") for text in site.substituents)).name
    two = next(site.name for site in series.sites if site.name != one)
    more = read_more(table("ID,SMILES", "N1,Nc1ccc(F)cc1", "N2,CCc1ccc(O)cc1", "C0,Fc1ccc(C)cc1"), series, NONE)
    first, second, third = carried(more.library)
    assert first[one].startswith("F[")
    assert first[two].startswith("N[")
    assert second[one].startswith("O[")
    assert second[two].startswith("CC[")
    assert third == series.substituents(0)
    assert more.places == (0, 1, 2)
    assert more.library.measurable.all()
    told = read_more(table("ID,SMILES,Stock", "N1,Nc1ccc(F)cc1,no", "N2,CCc1ccc(O)cc1,yes"), series, AVAILABLE)
    assert told.library.measurable.tolist() == [False, True]


def test_what_cannot_be_taken_apart_is_named_with_its_row():
    series = library_of(*SERIES, "Oc1ccc(C)cc1")
    lines = ("N1,CCCC", "N2,xyz", "N3,", ",Nc1ccc(F)cc1", "N4,Nc1ccc(F)cc1", "N4,Nc1ccc(F)cc1")
    more = read_more(table("ID,SMILES", *lines), series, NONE)
    assert more.library.ids == ("N4",)
    reasons = {problem.row: problem.reason for problem in more.not_used}
    assert reasons == {
        2: "the core is not in this structure",
        3: "'xyz' is no structure: it cannot be read as SMILES",
        4: "there is no structure",
        5: "no id",
        7: "N4 comes twice",
    }


def test_without_ids_a_structure_that_is_there_keeps_its_name():
    series = library_of(*SERIES, "Oc1ccc(C)cc1", ids=False)
    more = read_more(table("SMILES", "Cc1ccc(O)cc1", "Nc1ccc(F)cc1"), series, NONE)
    assert series.ids == ("CPD-001", "CPD-002", "CPD-003", "CPD-004", "CPD-005")
    assert more.library.ids == ("CPD-005", "CPD-006")


def test_what_all_of_the_campaign_have_alike_is_no_site_to_differ_at():
    series = library_of(*SERIES)
    with pytest.raises(AssayPilotError, match=r"no row of the table is a compound: row 2, it has O\[\*:"):
        read_more(table("ID,SMILES", "N1,Oc1ccc(C)cc1"), series, NONE)


def test_substituents_that_were_taken_together_need_their_columns():
    series = library_of(*SERIES, "Oc1ccc(C)cc1", "Oc1ccc(Cl)cc1", joined=("R1:Cl[*:1],Br[*:1]=halogen",))
    with pytest.raises(AssayPilotError, match="halogen at R1 stands for several substituents"):
        read_more(table("ID,SMILES", "N1,Nc1ccc(F)cc1"), series, NONE)


def test_neither_sites_nor_structures_is_one_line():
    series = library_of(*SERIES, "Oc1ccc(C)cc1")
    with pytest.raises(AssayPilotError, match=r"the table has no column R2.*Or a column of structures"):
        read_more(table("ID,R1", "N1,C[*:1]"), series, NONE)
    plain = Library.listed(["R1", "R2"], [["a", "b"], ["c", "d"]])
    with pytest.raises(AssayPilotError, match=r"the table has no column R1, R2\. It needs a column for every site"):
        read_more(table("ID,SMILES", "N1,CCO"), plain, NONE)


def test_numbers_go_on_behind_the_largest_and_keep_their_width():
    assert numbered(2) == ["CPD-001", "CPD-002"]
    assert numbered(2, ["CPD-009", "A", "CPD-7"]) == ["CPD-010", "CPD-011"]
    assert numbered(1000)[-1] == "CPD-1000"
    assert numbered(1000)[0] == "CPD-0001"


def test_one_structure_in_two_rows_is_one_compound():
    raw = table("SMILES,pIC50", "Fc1ccc(C)cc1,6", "Fc1ccc(Cl)cc1,7", "Cc1ccc(F)cc1,6.2", "Fc1ccc(Br)cc1,5")
    found = import_table(raw, propose(raw, TableOptions(cores=(CORE,))))
    assert found.library.ids == ("CPD-001", "CPD-002", "CPD-003")
    assert [result.compound for result in found.history] == ["CPD-001", "CPD-002", "CPD-001", "CPD-003"]
    assert found.of_row == ("CPD-001", "CPD-002", "CPD-001", "CPD-003")
