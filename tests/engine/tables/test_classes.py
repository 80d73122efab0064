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
