"""SD files and files of SMILES as tables, and how they join their activities."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rdkit import Chem
from rdkit.Chem import AllChem

from assaypilot.engine.chemistry.structures import Unreadable, smiles_of
from assaypilot.engine.tables.join import join_tables
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.sdf import records
from tests.engine.tables.corpus import record


def block(smiles, name=""):
    """The molblock of a SMILES, with its coordinates."""
    molecule = Chem.MolFromSmiles(smiles)
    molecule.SetProp("_Name", name)
    AllChem.Compute2DCoords(molecule)
    return Chem.MolToMolBlock(molecule)


def write(folder, text, name="t.sdf"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


SMILES = ["CCO", "c1ccccc1", "C[C@H](N)C(=O)O", "C/C=C/C", "[Na+].[Cl-]", "OC(=O)c1ccc(cc1)C#N", "C1CC2CCC1N2C"]


@pytest.mark.parametrize("smiles", SMILES)
def test_a_drawn_structure_is_the_smiles_it_was_drawn_from(smiles):
    assert smiles_of(block(smiles)) == Chem.CanonSmiles(smiles)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda text: text.replace("  3  2  0", "  3  9  0"), "its lines do not hold the atoms and bonds they promise"),
        (lambda text: text[:60], "the structure is damaged"),
        (lambda text: "\n\n\nnonsense\nM  END\n", "the structure is damaged"),
        (lambda text: "x" * 3_000_000, "too long"),
    ],
)
def test_a_broken_structure_says_why(change, why):
    with pytest.raises(Unreadable, match=why):
        smiles_of(change(block("CCO")))


def test_properties_are_columns_and_titles_names(tmp_path):
    text = (
        block("CCO", "a")
        + ">  <R1>  (1)\nMe\n\n>  <pIC50> \n5.5\n\n> DT12\n2024\n\n$$$$\n"
        + block("CCN", "b")
        + "> 25 <pIC50>\n>8\n\n>  <r1>\nH\n\n>  <note>\ntwo\nlines\n\n$$$$\n"
    )
    table = read_table(write(tmp_path, text))
    assert table.columns == ("Name", "SMILES", "R1", "pIC50", "DT12", "note")
    assert table.column("SMILES") == ("CCO", "CCN")
    assert table.column("R1") == ("Me", "H")
    assert table.column("pIC50") == ("5.5", ">8")
    assert table.column("note") == ("", "two\nlines")
    assert (table.rows, table.kind, table.problems) == ((1, 2), "sdf", ())
    assert table.described == "SD file, utf-8"
    assert "Properties that some records lack, which count as empty there: DT12 (1), note (1)." in table.warnings


def test_broken_records_stand_among_the_problems_and_lose_nothing_else(tmp_path):
    good = record("a", ("v", "1"))
    text = (
        good
        + "b\n\n\ngarbage\n>  <v>\n2\n\n$$$$\n"  # no M  END
        + "$$$$\n"  # an empty record
        + record("d", ("v", "4")).replace(" C   0", " Xx  0")
        + good.replace("a\n", "e\n", 1).removesuffix("$$$$\n")
    )
    table = read_table(write(tmp_path, text))
    assert table.column("v") == ("1", "2", "", "4", "1")
    assert table.column("SMILES")[0] == "C"
    assert table.column("SMILES")[4] == "C"
    assert [(problem.row, problem.column) for problem in table.problems] == [(n, "SMILES") for n in (2, 3, 4)]
    assert table.problems[0].reason == "the structure is cut off: it has no line M  END"


@given(st.lists(st.tuples(st.text("abc >$<=1.", max_size=6), st.integers(0, 3)), min_size=1, max_size=5))
def test_records_come_back_as_they_were_written(written):
    text = ""
    for title, count in written:
        safe = title.replace("$$$$", "").replace(">", "").strip()
        text += record(safe, *((f"p{n}", f">{n}") for n in range(count)))
    found = list(records(text))
    assert [(one.title, len(one.properties)) for one in found] == [
        (title.replace("$$$$", "").replace(">", "").strip(), count) for title, count in written
    ]
    assert all(value == f">{name[1:]}" for one in found for name, value in one.properties.items())


def test_structures_join_activities_whichever_comes_first(tmp_path):
    smi = read_table(write(tmp_path, "CCO a\nCCN b\nCCC x\n", "t.smi"))
    csv = read_table(write(tmp_path, "Name,pIC50\nb,6\na,5.5\ny,7\n", "t.csv"))
    sdf = read_table(write(tmp_path, record("a", ("lot", "1")) + record("b", ("lot", "2")) + record("z"), "t.sdf"))
    joined = join_tables(smi, csv)
    assert joined.column("pIC50") == ("5.5", "6", "")
    assert joined.unmatched == (("x",), ("y",))
    assert joined.warnings[-2:] == (
        "Joining: 1 id was not found in t.csv: x.",
        "Joining: 1 id was only found there: y.",
    )
    other = join_tables(csv, sdf)
    assert other.column("SMILES") == ("C", "C", "")
    assert other.unmatched == (("y",), ("z",))


@pytest.mark.parametrize("apart", ["{},{},{}", "{} {},{}", "{};{};{}"])
def test_fields_behind_smiles_may_be_set_apart_by_commas(tmp_path, apart):
    lines = [("Cc1ccccc1", "a-1", "5.2"), ("Clc1ccccc1", "a-2", "6"), ("Fc1ccccc1", "a-3", "7")]
    (tmp_path / "a.smi").write_text("\n".join(apart.format(*line) for line in lines))
    raw = read_table(tmp_path / "a.smi")
    assert raw.columns[:2] == ("SMILES", "Name")
    assert list(zip(*raw.cells, strict=True)) == lines
