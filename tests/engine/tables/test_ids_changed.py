"""Ids as spreadsheets and other programs change them, and ids where structures are expected."""

import pytest

from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.layout import lay_out
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.results import read_results


def table(*ids: str, header: str = "ID"):
    rows = "".join(f"{name},S{k % 2},T{k // 2},{6 + k / 10}\n" for k, name in enumerate(ids))
    raw = parse_text(f"{header},R1,R2,pIC50\n{rows}")
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("sent", "counts_for"),
    [
        ("1", "000001"),
        ("1.0", "000001"),
        ("000002", "000002"),
        ("0002", "000002"),
        ("3", None),
        ("1.5", None),
        ("-1", None),
    ],
)
def test_a_number_that_lost_its_zeros_is_still_its_compound(sent, counts_for):
    known = table("000001", "000002", "000004", "000005")
    results = read_results(parse_text(f"ID,pIC50\n{sent},7.1\n"), known.library, known.endpoints)
    assert [r.compound for r in results.results] == ([] if counts_for is None else [counts_for])
    assert len(results.rejected) == (counts_for is None)
    if counts_for is not None and sent != counts_for:
        assert results.warnings == (f"Row 2: {sent} is another id of {counts_for}, for which it counts.",)


def test_a_number_that_two_ids_share_is_neither():
    known = table("7", "007", "8", "9")
    results = read_results(parse_text("ID,pIC50\n07,7.1\n8.0,6\n007,5\n"), known.library, known.endpoints)
    assert [r.compound for r in results.results] == ["8", "007"]
    assert [one.row for one in results.rejected] == [2]


def test_a_group_that_only_says_result_names_nothing():
    rows = [["Compound", "Result", "", "n"], ["", "IC50 (nM)", "SD", ""], ["a", "10", "1", "2"], ["b", "20", "2", "2"]]
    found = lay_out(rows, [1, 2, 3, 4], str, file="x.csv", warnings=[])
    assert tuple(found.columns) == ("Compound", "IC50 (nM)", "SD", "n")
