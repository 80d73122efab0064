"""Potencies given as classes are named, never passed over, and never taken for substituents."""

import pytest

from assaypilot.engine.tables.classes import classes_of
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text


def imported(header, *values):
    rows = [f"c{n},{'Me' if n % 2 else 'H'},{'F' if n < 3 else 'Cl'},{value}" for n, value in enumerate(values)]
    raw = parse_text(f"ID,R1,R2,{header}\n" + "\n".join(rows) + "\n")
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("IC50", ("A", "B", "C", "A", "B", "C")),
        ("EGFR IC50", ("+", "++", "+++", "+", "++", "+")),
        ("Activity", ("active", "weak", "inactive", "active", "weak", "weak")),
        ("Potency", ("high", "medium", "low", "low", "low", "low")),
        ("Ki", ("-", "+", "++", "-", "+", "++")),
        ("Activity range", ("*", "**", "***", "*", "*", "*")),
        ("Activity class", ("1", "2", "3", "1", "2", "3")),
        ("Potency category", ("A", "B", "A", "B", "A", "")),
    ],
)
def test_classes_are_said_and_no_values(header, values):
    table = imported(header, *values)
    assert table.endpoints == ()
    assert [site.name for site in table.library.sites] == ["R1", "R2"]
    assert any(f"Column {header} gives classes (" in text and "no numbers" in text for text in table.warnings)


def test_classes_beside_numbers_are_said_and_the_numbers_read():
    rows = "".join(f"c{n},{a},{b},{c},{v}\n" for n, (a, b, c, v) in enumerate(
        (("Me", "F", "A", 3), ("H", "F", "B", 30), ("Me", "Cl", "A", 5), ("H", "Cl", "C", 500))))  # fmt: skip
    raw = parse_text("ID,R1,R2,Potency class,IC50 (nM)\n" + rows)
    mapping = propose(raw)
    assert [one.value for one in mapping.endpoints] == ["IC50 (nM)"]
    assert any("Column Potency class gives classes (A, B, C)" in text for text in mapping.warnings)
    assert not any("is a site, too" in text for text in mapping.notes)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("R3", ("A", "B", "A", "B")),  # nothing says activity
        ("Series", ("A", "B", "C", "A")),
        ("Salt", ("none", "HCl", "none", "HCl")),
        ("Activity", ("active", "inactive", "active", "inactive")),  # a yes and a no
        ("Amine", ("F", "I", "F", "I")),
        ("IC50 (nM)", ("3", "30", "300", "3")),
        ("Activity", ("1", "2", "3", "1")),
    ],
)
def test_what_is_no_class(header, values):
    assert classes_of(header, values) == ()


def test_a_word_for_nothing_seen_among_numbers_says_what_to_write():
    table = imported("IC50 (nM)", "3", "30", "inactive", "5", "no inhibition", "NI")
    assert [(p.row, p.column) for p in table.not_used] == [(4, "IC50 (nM)"), (6, "IC50 (nM)"), (7, "IC50 (nM)")]
    assert all("write > and that" in p.reason for p in table.not_used)


def test_a_column_of_values_that_cannot_be_read_says_why():
    table = imported("pIC50", "6.1 | 6.3", "7.1 | 7.3", "", "5 | 5.2")
    assert any(
        "Column pIC50 is not read as values (rows 2, 3, 5): '6.1 | 6.3' holds several values" in text
        for text in table.warnings
    )
