"""What is no table is refused in one plain line, by what is in the file and not by its name."""

import os
import zipfile

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import raw
from assaypilot.engine.tables.opening import read_table
from tests import snapshots
from tests.engine.tables.corpus import DATAWARRIOR
from tests.engine.tables.workbooks import write_xlsx

ROWS = [["ID", "R1", "pIC50"], ["a", "Me", 5.5], ["b", "H", 6.25]]


def refusal(path, **options):
    with pytest.raises(AssayPilotError) as caught:
        read_table(path, **options)
    line = str(caught.value)
    assert "\n" not in line
    return line


OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600
BROKEN = {
    "empty.xlsx": b"",
    "empty.sdf": b"\n\n",
    "mark.csv": b"\xef\xbb\xbf\r\n",
    "a.pdf": b"%PDF-1.7",
    "a.csv.gz": b"\x1f\x8b\x08x",
    "picture.csv": b"\x89PNG\r\n",
    "page.xls": b"<html><body><table><tr><td>ID</td></tr></table>",
    "old.xls": OLD,
    "locked.xlsx": OLD + "EncryptedPackage".encode("utf-16-le") + b"\0" * 99,
    "~$open.xlsx": b"user",
    "header.csv": b"ID,R1\n",
    "carets.csv": b"ID^R1\na^Me\n",
    "damaged.xlsx": b"PK\x03\x04rest",
    "none.sdf": b"\n$$$$\n",
    "binary.csv": b"\x00\x01\x02\xff\x00",
    "database.csv": b"SQLite format 3\x00etc",
    "quote.csv": b'ID,R1\na,Me\nb,"Et\nc,H\n',
    "json.csv": b'[{"ID": "a", "R1": "Me"}]',
    "remarks.smi": b"# nothing\n",
    "coded.dwar": DATAWARRIOR.replace("\tR1\t", "\tseries\t").encode(),
    "settings.dwar": DATAWARRIOR.replace("\neF@H", "\n<data x>\neF@H").encode(),
}


def test_what_is_no_table_is_refused_in_one_line(tmp_path):
    for name, data in BROKEN.items():
        (tmp_path / name).write_bytes(data)
    for name, part in (("binary.xlsb", "xl/workbook.bin"), ("archive.zip", "a.csv")):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr(part, "ID,R1\na,Me\n")
    with (tmp_path / "huge.csv").open("wb") as file:
        file.truncate(2 << 30)  # a hole: it takes no room on the disk
    sheets = write_xlsx(tmp_path / "sheets.xlsx", {"Data": ROWS, "More": []})
    protected = bytearray(sheets.read_bytes())
    for place in range(len(protected) - 4):
        if protected[place : place + 4] == b"PK\x01\x02":
            protected[place + 8] |= 1  # the flag of an encrypted part
    (tmp_path / "protected.xlsx").write_bytes(bytes(protected))
    (tmp_path / "text.csv").write_text("ID,R1\na,Me\n")
    write_xlsx(tmp_path / "hidden.xlsx", {"Cover": [["A report"]], "Old": ROWS}, hidden=["Old"])
    names = [*BROKEN, "binary.xlsb", "archive.zip", "huge.csv", "protected.xlsx", "hidden.xlsx", "absent.csv"]
    lines = [refusal(tmp_path / name) for name in names]
    lines += [refusal(tmp_path / name, sheet=sheet) for name, sheet in (("text.csv", "Data"), ("sheets.xlsx", "Dta"))]
    lines += [refusal(sheets, sheet="More"), refusal(tmp_path).replace(tmp_path.name, "folder")]
    lines += [refusal(path) for path in ("https://host/a.csv", "ftp://host/a.sdf", "file:///home/a.csv", "a\0b.csv")]
    snapshots.expect("tables-refused.txt", "\n".join(lines) + "\n")


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

    monkeypatch.setattr(raw.Path, "read_bytes", locked)
    line = "open.xlsx: the file is open in another program, which keeps it to itself. Close it there and try again."
    assert refusal(path) == line

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(raw.Path, "read_bytes", denied)
    assert refusal(path).startswith("open.xlsx: cannot be read (Permission denied). Check its permissions")
