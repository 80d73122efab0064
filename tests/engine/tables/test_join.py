import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.join import join_tables, split_join
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
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


def test_repeated_rows_on_both_sides_are_not_multiplied():
    joined = join_tables(table("ID|R1\na|Me\na|Me\nb|H"), table("ID|v\na|1\na|2\nb|3"))
    assert joined.column("v") == ("1", "2", "", "3")


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


def test_file_and_column_are_told_apart(tmp_path):
    odd = tmp_path / "a:b.csv"
    odd.write_text("x")
    assert split_join("acts.csv") == ("acts.csv", None)
    assert split_join("acts.csv:Mol ID") == ("acts.csv", "Mol ID")
    assert split_join(str(odd)) == (str(odd), None)
    assert split_join("C:\\acts.csv") == ("C:\\acts.csv", None)
    assert split_join("C:\\acts.csv:ID") == ("C:\\acts.csv", "ID")


def test_a_public_series_joins_its_activities(public):
    table = read_table(public("antiadrenergic_22_fw_table.csv"))
    joined = join_tables(table, read_table(public("pw_fw_act.csv")))
    assert joined.columns[-1] == "Act"
    assert [float(text) for text in joined.column("Act")] == [float(text) for text in table.column("act")]
