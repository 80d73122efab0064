"""Substituents that are written in several ways: one structure is one, and what may be one is asked about."""

import pytest

from assaypilot.engine.domain.labels import is_hydrogen
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions
from assaypilot.engine.tables.spellings import one_spelling


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
        f"{names} at R1 count as different substituents. If they are one, join them."
        for names in ("Me, me, CH3", "OMe, methoxy", "Ph-4-F, ph-4-f")
    ]
    rows = "".join(
        f"c{k},{one},{two},{k}\n" for k, (one, two) in enumerate([(a, b) for a in ("Me", "me", "H") for b in "FN"])
    )
    raw = parse_text(f"ID,R1,R2,pIC50\n{rows}")
    table = import_table(raw, propose(raw, TableOptions(joined=("R1:Me,me=Me",))))
    assert table.library.sites[0].substituents == ("Me", "H")


@pytest.mark.parametrize("label", ["H", "-H", "[H]", "hydrogen", "[R1][H]", "[*][H] |$_R1;$|", "[H][*:1]", "[1*][H]"])
def test_hydrogens(label):
    assert is_hydrogen(label)


def test_a_table_with_mixed_spellings_keeps_its_rank():
    rows = "".join(f"c{k},{a},{b},{6 + k / 10}\n" for k, (a, b) in enumerate([
        ("C[*:1]", "H"), ("[*:1]C", "F"), ("CO[*:1]", "H"), ("[*:1]OC", "F")]))  # fmt: skip
    raw = parse_text(f"ID,R1,R2,pIC50\n{rows}")
    table = import_table(raw, propose(raw))
    assert [site.substituents for site in table.library.sites] == [("C[*:1]", "CO[*:1]"), ("H", "F")]
