"""Files of DataWarrior and PubChem beyond what the corpus has of them: what cannot be read says what to do."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import parse_text, read_table
from tests.engine.tables.corpus_labs import DATAWARRIOR, PUBCHEM


def write(folder, text):
    path = folder / "t.dwar"
    path.write_text(text, newline="")
    return path


def test_the_rows_keep_their_lines_and_their_texts(tmp_path):
    table = read_table(write(tmp_path, DATAWARRIOR))
    assert table.columns == ("ID", "R1", "pIC50", "Note")
    assert table.rows == (16, 17)
    assert table.column("Note") == ("two; lines", "")
    assert read_table(write(tmp_path, DATAWARRIOR.replace("\n", "\r\n"))).cells == table.cells
    bare = "\n".join(DATAWARRIOR.split("\n")[:4] + DATAWARRIOR.split("\n")[14:17]) + "\n"
    assert read_table(write(tmp_path, bare)).columns == ("Structure", "coords", "ID", "R1", "pIC50", "Note")


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("\tR1\t", "\tseries\t", "the structures in this file are in DataWarrior's own code, which is not read"),
        ("\neF@H", "\n<data x>\neF@H", "there is no table in this file of DataWarrior"),
    ],
)
def test_what_cannot_be_used_says_how_to_save_it(tmp_path, old, new, why):
    with pytest.raises(AssayPilotError) as caught:
        read_table(write(tmp_path, DATAWARRIOR.replace(old, new)))
    assert str(caught.value).startswith(f"t.dwar: {why}. In DataWarrior: File, Save Special, SD-File")


def test_a_column_of_smiles_makes_up_for_the_code(tmp_path):
    table = read_table(write(tmp_path, DATAWARRIOR.replace("\tR1\t", "\tSmiles\t")))
    assert table.columns[:2] == ("ID", "Smiles")


def test_a_bioassay_without_descriptions_is_a_plain_table_and_remarks_further_down_are_rows():
    lines = PUBCHEM.splitlines()
    assert parse_text("\n".join([lines[0], *lines[4:]])).warnings == ()
    moved = parse_text("\n".join([lines[0], lines[4], lines[3], lines[5]]))
    assert moved.column("PUBCHEM_RESULT_TAG") == ("1", "RESULT_UNIT", "2")
    assert "IC50" in moved.columns
