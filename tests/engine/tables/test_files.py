"""What is no table is refused in one plain line, by what is in the file and not by its name."""

import os
import zipfile

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import files
from assaypilot.engine.tables.opening import PATTERNS, read_table
from tests.engine.tables.workbooks import write_xlsx

ROWS = [["ID", "R1", "pIC50"], ["a", "Me", 5.5], ["b", "H", 6.25]]


def refusal(path, **options):
    with pytest.raises(AssayPilotError) as caught:
        read_table(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.xlsx", b"", "a.xlsx: the file is empty. Export the table again, with its header row."),
        ("a.sdf", b"\n\n", "a.sdf: the file is empty. Export the table again, with its header row."),
        ("a.pdf", b"%PDF-1.7", "a.pdf: this is a PDF document, not a table. Save it as csv and read that."),
        ("a.csv.gz", b"\x1f\x8b\x08x", "a.csv.gz: this is a compressed file, not a table. Unpack it first."),
        ("a.csv", b"\x89PNG\r\n", "a.csv: this is a picture, not a table. Give the table itself."),
        (
            "a.xls",
            b"<html><body><table><tr><td>ID</td></tr></table>",
            "a.xls: this is a web page or an XML document, whatever its name says. "
            "Open it in a spreadsheet and save it as xlsx or csv.",
        ),
        (
            "a.xls",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
            "a.xls: this is no workbook, or a damaged one. Open it in a spreadsheet and save it as xlsx or csv.",
        ),
        (
            "a.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600 + "EncryptedPackage".encode("utf-16-le") + b"\0" * 99,
            "a.xlsx: the workbook is protected by a password. Save it without one and read that.",
        ),
        ("~$a.xlsx", b"user", "~$a.xlsx: this is only the mark that a spreadsheet is open. Name a.xlsx instead."),
    ],
)
def test_what_is_no_table(tmp_path, name, data, line):
    (tmp_path / name).write_bytes(data)
    assert refusal(tmp_path / name) == line


@pytest.mark.parametrize("address", ["https://host/a.csv", "http://host/a", "ftp://host/a.sdf", "file:///home/a.csv"])
def test_addresses_are_not_fetched(address):
    assert refusal(address) == (
        f"{address}: this is an address, and nothing is fetched from the network. "
        "Save the file on this computer and name it there."
    )


def test_a_file_of_two_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(2 << 30)  # a hole: it takes no room on the disk
    assert refusal(path) == (
        "huge.csv: the file has 2,147 MB; files like this up to 268 MB are read. "
        "Export only the compounds and columns of this series."
    )


def test_a_pipe_is_not_waited_for(tmp_path):
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "pipe.csv")
    assert refusal(tmp_path / "pipe.csv") == "pipe.csv: this is a device or a pipe, not a file. Name a file."


def test_a_file_that_another_program_keeps(tmp_path, monkeypatch):
    path = tmp_path / "open.xlsx"
    path.write_bytes(b"PK")

    def locked(self):
        error = PermissionError(13, "Permission denied")
        error.winerror = 32
        raise error

    monkeypatch.setattr(files.Path, "read_bytes", locked)
    line = "open.xlsx: the file is open in another program, which keeps it to itself. Close it there and try again."
    assert refusal(path) == line

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(files.Path, "read_bytes", denied)
    assert refusal(path).startswith("open.xlsx: cannot be read (Permission denied). Check its permissions")


def test_a_name_that_is_none():
    assert refusal("a\0b.csv") == "this is no name of a file. Check the name."


def test_an_archive_that_is_no_workbook(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "ID,R1\na,Me\n")
    assert refusal(tmp_path / "a.zip") == (
        "a.zip: this is an archive or another kind of document, not a workbook. "
        "Unpack it, or save the table as xlsx or csv."
    )


def test_the_content_counts_not_the_name(tmp_path):
    book = write_xlsx(tmp_path / "book.csv", {"Data": ROWS})
    assert read_table(book).kind == "workbook"
    (tmp_path / "text.xlsx").write_text("ID,R1,pIC50\na,Me,5.5\n")
    assert read_table(tmp_path / "text.xlsx").kind == "text"


def test_sheets_are_of_workbooks(tmp_path):
    (tmp_path / "a.csv").write_text("ID,R1\na,Me\n")
    line = "a.csv, --sheet: only workbooks have sheets, and this is none. Leave it out."
    assert refusal(tmp_path / "a.csv", sheet="Data") == line
    book = write_xlsx(tmp_path / "b.xlsx", {"Data": ROWS, "More": []})
    assert refusal(book, sheet="Dta") == (
        "b.xlsx, --sheet: there is no sheet 'Dta'; the sheets are Data, More. Name one of them."
    )
    assert refusal(book, sheet="More") == "b.xlsx, --sheet: the sheet More is empty. Name another one."
    empty = write_xlsx(tmp_path / "c.xlsx", {"Cover": [["A report"]], "Old": ROWS}, hidden=["Old"])
    assert refusal(empty) == ("c.xlsx: no sheet of the workbook holds a table (hidden: Old). Name the sheet.")


def test_every_pattern_of_a_file_dialog_is_one_that_is_read():
    assert {"*.csv", "*.xlsx", "*.sdf", "*.smi"} <= set(PATTERNS)


def test_a_workbook_is_told_by_its_first_bytes_and_a_pipe_is_not_waited_for(tmp_path):
    book, text, pipe = tmp_path / "a.csv", tmp_path / "b.xlsx", tmp_path / "pipe"
    write_xlsx(book, {"Data": [["ID", "R1"], ["a", "Me"]]})
    text.write_text("ID,R1\na,Me\n")
    found = [files.is_workbook(path) for path in (book, text, tmp_path, tmp_path / "none", "a\x00b")]
    assert found == [True, False, False, False, False]
    if hasattr(os, "mkfifo"):
        os.mkfifo(pipe)
        assert not files.is_workbook(pipe)
