"""A table read as its user says: encodings, delimiters, decimal marks, header rows, sheets."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.opening import ReadAs, parse_text, read_as, read_table, read_text_as
from assaypilot.engine.tables.values import parse_number
from tests.engine.tables.corpus import DATAWARRIOR
from tests.engine.tables.workbooks import write_xlsx


def test_what_is_not_said_is_found_as_before(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("ID;R1;pIC50\na;Me;5,5\nb;H;6,25\n")
    assert read_as(path, ReadAs()).raw == read_table(path)
    assert read_text_as("ID\tR1\na\tMe\nb\tH\n", ReadAs()).raw == parse_text("ID\tR1\na\tMe\nb\tH\n")


def test_encoding_delimiter_and_decimal_are_taken_as_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("ID;R1;pIC50\nä;Me,Et;5,5\nb;H;6,25\n".encode())
    raw = read_as(path, ReadAs(encoding="latin-1", delimiter=",", decimal=".", header=(1, 1))).raw
    assert raw.encoding == "latin-1"
    assert raw.columns == ("ID;R1;pIC50",)
    assert raw.decimal == "."
    raw = read_as(path, ReadAs(encoding="utf-8", decimal=".")).raw
    assert raw.column("ID") == ("ä", "b")
    assert (raw.delimiter, raw.decimal) == (";", ".")


def test_a_wrong_encoding_is_refused_with_its_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("ID,R1\na,Me\nµ,H\n".encode("cp1252"))
    with pytest.raises(AssayPilotError, match="row 3: the file is not UTF-8") as refused:
        read_as(path, ReadAs(encoding="utf-8"))
    assert refused.value.mend == "Choose another encoding."
    with pytest.raises(AssayPilotError, match="not UTF-16"):
        read_as(path, ReadAs(encoding="utf-16"))


def test_the_header_is_where_it_is_said(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Report,of,May\nCompound,R1,IC50\nx,,nM\na,Me,5\nb,H,6\n")
    raw = read_as(path, ReadAs(header=(2, 1))).raw
    assert raw.columns == ("Compound", "R1", "IC50")
    assert raw.rows == (3, 4, 5)
    raw = read_as(path, ReadAs(header=(1, 2))).raw
    assert raw.rows == (3, 4, 5)
    raw = read_as(path, ReadAs(header=(0, 0))).raw
    assert raw.columns == ("column 1", "column 2", "column 3")
    assert raw.rows == (1, 2, 3, 4, 5)
    with pytest.raises(AssayPilotError, match="row 9 is empty"):
        read_as(path, ReadAs(header=(9, 1)))


def test_units_below_a_header_that_was_said_are_joined_to_it():
    raw = read_text_as("Title\tof\tit\nID\tR1\tIC50\n\t\tnM\na\tMe\t5\nb\tH\t6\n", ReadAs(header=(2, 1))).raw
    assert raw.columns == ("ID", "R1", "IC50 (nM)")
    assert raw.rows == (4, 5)


def test_sheets_are_named_with_those_that_are_hidden(tmp_path):
    sheets = {
        "Notes": [["read me"]],
        "Data": [["ID", "R1"], ["a", "Me"], ["b", "H"]],
        "Old": [["ID", "R1"], ["x", "Et"]],
    }
    path = write_xlsx(tmp_path / "t.xlsx", sheets, hidden=("Old",))
    found = read_as(path, ReadAs())
    assert [(one.name, one.hidden) for one in found.sheets] == [("Notes", False), ("Data", False), ("Old", True)]
    assert found.raw.sheet == "Data"
    old = read_as(path, ReadAs(sheet="Old", header=(1, 1))).raw
    assert old.column("R1") == ("Et",)
    assert any("hidden" in text for text in old.warnings)


def block(*values, decimal=None):
    text = "ID\tR1\tIC50 (nM)\n" + "".join(f"c{k}\tMe\t{value}\n" for k, value in enumerate(values))
    return read_text_as(text, ReadAs(decimal=decimal)).raw


def test_thousands_pasted_from_a_spreadsheet_are_read_once_decimals_are_said():
    with pytest.raises(ValueError, match="can be read in two ways"):
        parse_number("12,500", block("12,500", "1,250", "830", "45").decimal)
    assert block("12,500", ">1,250", "830", decimal=".").column("IC50 (nM)") == ("12500", ">1250", "830")
    assert parse_number("12,500", block("12,500", "830", decimal=",").decimal) == 12.5


def test_line_ends_of_windows_change_nothing_of_a_file_of_datawarrior():
    assert parse_text(DATAWARRIOR.replace("\n", "\r\n")).cells == parse_text(DATAWARRIOR).cells
