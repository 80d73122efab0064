"""Texts as tables: whatever the encoding, delimiter and line end, as a user says, and of any length."""

import contextlib
import csv
import io
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.guarded import LONGEST_CELL
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.check import endpoint_facts
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import ReadAs, parse_text, read_as, read_table, read_text_as
from assaypilot.engine.tables.raw import unguard
from assaypilot.engine.tables.side_columns import run_number
from assaypilot.engine.tables.values import parse_number
from tests.engine.tables.workbooks import write_xlsx

CELLS = st.text(st.sampled_from("abcXYZ09µ°é ,;\t\"'\n.#-"), max_size=8).map(str.strip)


def write(tmp_path, data, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=8),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
)
def test_cells_come_back_whatever_the_delimiter_encoding_and_line_end(
    tmp_path, rows, delimiter, encoding, end, all_quoted
):
    assume(all(unguard(cell) == cell for row in rows for cell in row))
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL if all_quoted else csv.QUOTE_MINIMAL
    )
    # The unit makes every encoding differ from plain ASCII; four equal columns leave no doubt about the delimiter.
    writer.writerow(["ID", "µM", "R1", "R2"])
    writer.writerows(("x", *row) for row in rows)
    table = read_table(write(tmp_path, buffer.getvalue().encode(encoding)))
    assert (table.encoding, table.delimiter) == (encoding, delimiter)
    assert table.columns == ("ID", "µM", "R1", "R2")
    assert [tuple(row) for row in zip(*table.cells, strict=True)] == [("x", *row) for row in rows]
    assert table.rows == tuple(range(2, len(rows) + 2))
    assert any("Windows-1252" in text for text in table.warnings) == (encoding == "cp1252")


def test_a_pasted_block_is_a_table():
    table = parse_text("ID\tR1\tpIC50\r\nA\tMe\t5,5\r\nB\tH\t6,0\r\n")
    assert (table.file, table.encoding, table.delimiter, table.decimal) == (None, "text", "\t", ",")
    assert len(table) == 2
    with pytest.raises(AssayPilotError, match=r"^nothing was pasted\. Give a table\.$"):
        parse_text("\n\n")


def test_stated_encoding_delimiter_and_decimal_are_used(tmp_path):
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


def test_stated_header_row_is_used(tmp_path):
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
    assert any("hidden" in text.lower() for text in old.warnings)


def block(*values, decimal=None):
    text = "ID\tR1\tIC50 (nM)\n" + "".join(f"c{k}\tMe\t{value}\n" for k, value in enumerate(values))
    return read_text_as(text, ReadAs(decimal=decimal)).raw


def test_pasted_thousands_are_read_once_decimals_are_stated():
    with pytest.raises(ValueError, match="can be read in two ways"):
        parse_number("12,500", block("12,500", "1,250", "830", "45").decimal)
    assert block("12,500", ">1,250", "830", decimal=".").column("IC50 (nM)") == ("12500", ">1250", "830")
    assert parse_number("12,500", block("12,500", "830", decimal=",").decimal) == 12.5


LENGTH = 20_000
SECONDS = 1.0
# What patterns repeat: letters and digits of potencies, blanks, brackets, marks between numbers, line breaks.
PUMPS = (
    *("p", "a", "1", " ", "(", "[", "_", "-", "/", "%", "'", "\n"),
    *("1,", "1.", "ic50 ", "a b", "x_", "nM ", "(1", "1-", "[*:1]", " \n", "; ", "sd ", "R1_", "c1", "n=", "±"),
)
COLUMNS = ["ID", "R1", "R2", "IC50 (nM)", "Notes"]


def seconds(action):
    start = time.process_time()
    with contextlib.suppress(AssayPilotError):
        action()
    return time.process_time() - start


def long_text(pump, length=LENGTH):
    return (pump * length)[:length] + "!"


def table(row, column, text):
    rows = [
        COLUMNS,
        *([f"C{i}", ["H", "F", "Cl", "Me"][i % 4], ["OMe", "Et", "Pr"][i % 3], 10 + i, ""] for i in range(12)),
    ]
    rows[row][column] = text
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue()


@pytest.mark.parametrize("pump", PUMPS)
def test_long_header_takes_no_time(pump):
    text = long_text(pump)
    for look in (headers.split_unit, headers.is_known, headers.is_part, headers.bases, headers.role_within, run_number):
        assert seconds(lambda look=look: look(text)) < SECONDS


def test_long_header_is_refused_with_its_column():
    with pytest.raises(AssayPilotError, match=r"header of column 3 has 16,000 characters; at most 500"):
        parse_text(table(0, 2, "p" * 16_000))


def test_cell_beyond_the_limit_is_refused_with_its_row(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text(table(4, 4, "x" * (LONGEST_CELL + 1)), encoding="utf-8", newline="")
    with pytest.raises(AssayPilotError, match=r"row 5: a cell has more than 131,072 characters"):
        read_table(path)


def checked(text):
    raw = parse_text(text)
    return endpoint_facts(import_table(raw, propose(raw)))


@pytest.mark.parametrize("column", range(len(COLUMNS)))
def test_long_cells_take_no_time(column):
    for pump in ("(", "p", "1,", " \n"):
        assert seconds(lambda pump=pump: checked(table(3, column, long_text(pump)))) < 2 * SECONDS
