"""Small files that ask for gigabytes or hours: a refusal in one line within 20 s and 1 GB."""

import io
import random
import sys
import time
import zipfile

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.guarded import CHILD_MEMORY, CHILD_SECONDS, MOST_CELLS
from assaypilot.engine.tables.opening import read_table
from tests.engine.tables.workbooks import write_xlsx

resource = pytest.importorskip("resource", reason="what a process took is measured on POSIX")
pytestmark = pytest.mark.apart
UNIT = 1 if sys.platform == "darwin" else 1024
ROWS = [["ID", "R1", "pIC50"], ["a", "Me", 5.5], ["b", "H", 6.25]]


def refused(path):
    start, before = time.monotonic(), largest()
    with pytest.raises(AssayPilotError) as caught:
        read_table(path)
    assert "\n" not in str(caught.value)
    within_limits(start, before)
    return str(caught.value)


def largest():
    """The most bytes that this process had so far, and the most that one it started had."""
    return [resource.getrusage(whose).ru_maxrss * UNIT for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]


def within_limits(start, before):
    assert time.monotonic() - start < 3.0 * CHILD_SECONDS + 5.0  # where others use the machine, too
    own, children = largest()
    # Tests that ran here before may have had more; a process starts out with the figure of the one that starts it.
    most = max(*before, CHILD_MEMORY + 100_000_000)
    assert own <= most
    assert children <= max(own, most)


@pytest.mark.slow
def test_one_long_text_in_thousands_of_cells(tmp_path):
    path = tmp_path / "a.xlsx"
    write_xlsx(path, {"Data": ROWS})
    cells = "".join(f'<row r="{n}"><c r="A{n}" t="s"><v>0</v></c></row>' for n in range(1, 9_001))
    rewritten = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(rewritten, "w", zipfile.ZIP_DEFLATED) as new:
        for part in old.infolist():
            text = old.read(part)
            if part.filename.endswith("sheet1.xml"):
                begin, end = text.index(b"<sheetData>") + 11, text.index(b"</sheetData>")
                text = text[:begin] + cells.encode() + text[end:]
            new.writestr(part, text)
        new.writestr("xl/sharedStrings.xml", f"<sst><si><t>{'x' * 1_200_000}</t></si></sst>")
    path.write_bytes(rewritten.getvalue())
    assert "a cell has more than 131,072 characters" in refused(path) or "damaged" in refused(path)


def test_text_of_nothing_but_lines_or_cells(tmp_path):
    for sign in (b"\n", b",", b"a\n", b";"):
        path = tmp_path / "a.csv"
        path.write_bytes(b"ID,R1,pIC50\n" + sign * (MOST_CELLS + 1))
        assert f"at most {MOST_CELLS:,} are read" in refused(path)


def test_records_without_end(tmp_path):
    path = tmp_path / "a.sdf"
    path.write_bytes(b"$$$$\n" * 600_000)
    assert "at most 500,000 are read" in refused(path)


@pytest.mark.parametrize("encoding", ["utf-7x", "no-such-encoding", "utf-16"])
def test_workbook_with_an_encoding_nobody_knows(tmp_path, encoding):
    path = write_xlsx(tmp_path / "a.xlsx", {"Data": ROWS})
    changed = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(changed, "w") as new:
        for part in old.infolist():
            declared = f'<?xml version="1.0" encoding="{encoding}"?>'.encode()
            new.writestr(part, old.read(part).replace(b'<?xml version="1.0"?>', declared))
    path.write_bytes(changed.getvalue())
    try:
        read_table(path)
    except AssayPilotError as error:
        assert "\n" not in str(error)  # noqa: PT017  # it may be read, too


@pytest.mark.full
@pytest.mark.parametrize("block", range(20))
def test_damaged_workbook_is_read_or_refused(tmp_path, block):
    whole = write_xlsx(tmp_path / "a.xlsx", {"Data": ROWS * 20}).read_bytes()
    path = tmp_path / "b.xlsx"
    for seed in range(20 * block, 20 * block + 20):
        rng, data = random.Random(seed), bytearray(whole)
        for _ in range(rng.choice((1, 3, 10))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(bytes(data))
        start, before = time.monotonic(), largest()
        try:
            read_table(path)
        except AssayPilotError as error:
            assert "\n" not in str(error), seed  # noqa: PT017
        within_limits(start, before)
