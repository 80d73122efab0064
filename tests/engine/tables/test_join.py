"""Two tables joined by ids, and more compounds for a campaign."""

import pytest

from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.join import join_tables, read_more, split_join
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions


def table(text):
    return parse_text(text.replace("|", "\t"))


def test_activities_join_structures_by_id():
    left = table("Name|R1|note\na|Me|x\nB|Et|y\nc|H|z")
    right = table("Compound|pIC50|note\nb|7,5|p\nA|6,25|q\nA|6,5|r\nd|5,5|s")
    joined = join_tables(left, right)
    assert joined.columns == ("Name", "R1", "note", "pIC50", "note (2)")
    assert joined.column("Name") == ("a", "a", "B", "c")
    assert joined.column("pIC50") == ("6.25", "6.5", "7.5", "")
    assert joined.rows == (2, 2, 3, 4)
    assert joined.warnings == (
        "Joining: 1 id was not found in the joined table: c.",
        "Joining: 1 id was only found there: d.",
    )
    assert len({joined.digest, left.digest, right.digest}) == 3
    imported = import_table(joined, propose(joined, TableOptions()))
    assert [(r.compound, r.value) for r in imported.history] == [("a", 6.25), ("a", 6.5), ("B", 7.5)]


def test_what_cannot_be_joined_is_refused_in_one_line():
    with pytest.raises(AssayPilotError) as caught:
        join_tables(table("ID|R1\na|Me"), table("ID|v\nx|1"))
    assert str(caught.value) == (
        "--join: no id of column ID is in column ID of the other table. Name the column of ids of the other file."
    )
    with pytest.raises(AssayPilotError, match="there is no column 'Key'; the columns are ID, v"):
        join_tables(table("ID|R1\na|Me"), table("ID|v\na|1"), other_column="Key")
    with pytest.raises(AssayPilotError, match="there is no column of ids to join by"):
        join_tables(table("ID|R1\na|Me"), table("what|v\na|1"))


def test_joined_file_and_its_column_are_separated(tmp_path):
    odd = tmp_path / "a:b.csv"
    odd.write_text("x")
    assert split_join("acts.csv") == ("acts.csv", None)
    assert split_join("acts.csv:Mol ID") == ("acts.csv", "Mol ID")
    assert split_join(str(odd)) == (str(odd), None)
    assert split_join("C:\\acts.csv") == ("C:\\acts.csv", None)
    assert split_join("C:\\acts.csv:ID") == ("C:\\acts.csv", "ID")


# Its ring can be read from either side: fluorine stands at one site because most compounds have it there.
CORE = "c1cc([*:2])ccc1[*:1]"
SERIES = ("Fc1ccc(C)cc1", "Fc1ccc(Cl)cc1", "Fc1ccc(OC)cc1", "Fc1ccc(Br)cc1")
NONE = TableOptions()
AVAILABLE = TableOptions(available="Stock")


def rows(*lines: str):
    return parse_text("\n".join(lines) + "\n")


def library_of(*smiles: str, ids: bool = True, **options) -> Library:
    lines = [f"C{k},{text}" for k, text in enumerate(smiles)] if ids else list(smiles)
    raw = rows("ID,SMILES" if ids else "SMILES", *lines)
    return import_table(raw, propose(raw, TableOptions(cores=(CORE,), **options))).library


def carried(library: Library) -> list[dict[str, str]]:
    return [library.substituents(k) for k in range(len(library))]


def test_the_substituents_that_are_known_say_which_way_round_a_structure_is():
    series = library_of(*SERIES, "Oc1ccc(C)cc1", "Oc1ccc(Cl)cc1")
    one = next(site for site in series.sites if any(text.startswith("F[") for text in site.substituents)).name
    two = next(site.name for site in series.sites if site.name != one)
    more = read_more(rows("ID,SMILES", "N1,Nc1ccc(F)cc1", "N2,CCc1ccc(O)cc1", "C0,Fc1ccc(C)cc1"), series, NONE)
    first, second, third = carried(more.library)
    assert first[one].startswith("F[")
    assert first[two].startswith("N[")
    assert second[one].startswith("O[")
    assert second[two].startswith("CC[")
    assert third == series.substituents(0)
    assert more.places == (0, 1, 2)
    assert more.library.measurable.all()
    told = read_more(rows("ID,SMILES,Stock", "N1,Nc1ccc(F)cc1,no", "N2,CCc1ccc(O)cc1,yes"), series, AVAILABLE)
    assert told.library.measurable.tolist() == [False, True]


def test_what_cannot_be_taken_apart_is_named_with_its_row():
    series = library_of(*SERIES, "Oc1ccc(C)cc1")
    lines = ("N1,CCCC", "N2,xyz", "N3,", ",Nc1ccc(F)cc1", "N4,Nc1ccc(F)cc1", "N4,Nc1ccc(F)cc1")
    more = read_more(rows("ID,SMILES", *lines), series, NONE)
    assert more.library.ids == ("N4",)
    reasons = {problem.row: problem.reason for problem in more.not_used}
    assert reasons == {
        2: "the core is not in this structure",
        3: "'xyz' is no structure: it cannot be read as SMILES",
        4: "there is no structure",
        5: "no id",
    }


def test_neither_sites_nor_structures_is_one_line():
    series = library_of(*SERIES, "Oc1ccc(C)cc1")
    with pytest.raises(AssayPilotError, match=r"the table has no column R2.*Or a column of structures"):
        read_more(rows("ID,R1", "N1,C[*:1]"), series, NONE)
    plain = Library.listed(["R1", "R2"], [["a", "b"], ["c", "d"]])
    with pytest.raises(AssayPilotError, match=r"the table has no column R1, R2\. It needs a column for each site"):
        read_more(rows("ID,SMILES", "N1,CCO"), plain, NONE)


def test_named_substituents_are_no_drawn_ones_and_structures_go_first():
    series = library_of(*SERIES, "Oc1ccc(C)cc1", "Oc1ccc(Cl)cc1")
    with pytest.raises(AssayPilotError, match=r"row 2, Me is a name, and the substituents at R1 are structures"):
        read_more(rows("ID,R1,R2", "N1,Me,H"), series, NONE)
    more = read_more(rows("ID,SMILES,R1,R2", "N1,Nc1ccc(F)cc1,Me,H"), series, NONE)
    assert set(more.library.substituents(0).values()) == {"N[*:1]", "F[*:2]"}
