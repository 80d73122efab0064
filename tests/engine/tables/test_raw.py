import csv
import io
import time

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.raw import unguard

CELLS = st.text(st.sampled_from("abcXYZ09µ°é ,;\t\"'\n.#-"), max_size=8).map(str.strip)


def write(tmp_path, data, name="table.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


def test_utf_16_without_a_mark_is_read(tmp_path):
    assert read_table(write(tmp_path, "ID,R1\na,Me\n".encode("utf-16-le"))).encoding == "utf-16"


def test_a_pasted_block_is_a_table():
    table = parse_text("ID\tR1\tpIC50\r\nA\tMe\t5,5\r\nB\tH\t6,0\r\n")
    assert (table.file, table.encoding, table.delimiter, table.decimal) == (None, "text", "\t", ",")
    assert len(table) == 2
    with pytest.raises(AssayPilotError, match=r"^nothing was pasted\. Give a table\.$"):
        parse_text("\n\n")


def test_reading_can_be_stopped(tmp_path):
    def stop(fraction, message):
        raise Cancelled

    with pytest.raises(Cancelled):
        read_table(write(tmp_path, "ID,R1\na,Me\n"), stop)


def test_columns_are_found_as_people_write_them():
    table = parse_text("Compound ID\tIC50_nM\tic50 nm\na\t1\t2\n")
    assert table.find("compound_id") == "Compound ID"
    assert table.find("IC50_nM") == "IC50_nM"
    assert table.find("Ic50 NM") is None
    assert table.find("x") is None


def test_a_large_table_is_read_in_seconds(tmp_path):
    line = "C1,Me,Et,H,Cl,Br,F,I,Ph,Bn,5.12,6.5,7.25,8.125,1.5,2.5,3.5,4.5,5.5,6.5\n"
    header = ",".join(f"c{i}" for i in range(20)) + "\n"
    path = write(tmp_path, header + line * 30_000)
    start = time.process_time()
    assert len(read_table(path)) == 30_000
    # A third of a second where it was written; the bar is one that a slow machine passes and a slow reader does not.
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("file", "encoding", "delimiter", "rows"),
    [
        ("PDE10_Roche.txt", "utf-8-sig", "\t", 1162),
        ("noc_CM_log_kone.csv", "utf-8", ";", 259),
        ("pct_CHEMBL313_sel.smi", "utf-8", ",", 108),
    ],
)
def test_public_tables_are_read_as_they_are(public, file, encoding, delimiter, rows):
    table = read_table(public(file))
    assert (table.encoding, table.delimiter, len(table)) == (encoding, delimiter, rows)
