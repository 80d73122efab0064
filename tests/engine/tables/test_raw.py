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


def refusal(path):
    with pytest.raises(AssayPilotError) as caught:
        read_table(path)
    return str(caught.value)


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


def test_rows_are_counted_as_a_spreadsheet_does(tmp_path):
    text = 'ID,R1,note\n\na,Me,"two\nlines"\n\n\nb,Et,x\n'
    table = read_table(write(tmp_path, text))
    assert table.rows == (3, 6)
    assert table.column("note") == ("two\nlines", "x")
    late = read_table(write(tmp_path, "\n\nID,R1\na,Me\n"))
    assert late.rows == (4,)


def test_utf_16_without_a_mark_is_read(tmp_path):
    assert read_table(write(tmp_path, "ID,R1\na,Me\n".encode("utf-16-le"))).encoding == "utf-16"


def test_repeated_and_missing_headers_are_renamed_and_said(tmp_path):
    table = read_table(write(tmp_path, "ID,R1,R1,,R1 (2),\na,Me,Et,x,y,\nb,H,H,,,\n"))
    assert table.columns == ("ID", "R1", "R1 (3)", "column 4", "R1 (2)")
    assert table.warnings == (
        "Column 3 repeats the header 'R1'; it is called 'R1 (3)' here.",
        "Column 4 has no header; it is called 'column 4' here.",
    )


def test_short_and_long_rows_are_mended_and_said(tmp_path):
    table = read_table(write(tmp_path, "ID,R1,R2\na,Me\nb,Me,H,\nc,Me,H,extra\nd,H,H\n"))
    assert table.column("R2") == ("", "H", "H", "H")
    assert table.warnings == (
        "Row 2 has fewer cells than the header; the rest counts as empty.",
        "Row 4 has more cells than the header; those beyond it were left out.",
    )


@pytest.mark.parametrize(
    ("text", "decimal"),
    [
        ("ID;v\na;1,5\nb;2,25\n", ","),
        ("ID;v\na;1.5\nb;2.25\n", "."),
        ('ID,v\na,"1,5"\nb,"2,25"\n', ","),
        ('ID,v\na,"1,500"\nb,"2,250"\n', "."),
        ("ID;v\na;1,500\nb;2,250\n", ","),
        ("ID\tv\na\t>1,5 nM\nb\t3\n", ","),
        ("ID\tv\na\t7\nb\t3\n", "."),
    ],
)
def test_the_decimal_mark_is_found(text, decimal):
    assert parse_text(text).decimal == decimal


def test_a_mixture_of_decimal_marks_is_said():
    table = parse_text("ID\tv\na\t1,5\nb\t2.5\nc\t3.5\n")
    assert table.decimal == "."
    assert "decimal comma (1) and some a decimal point (2)" in table.warnings[0]


def test_a_pasted_block_is_a_table():
    table = parse_text("ID\tR1\tpIC50\r\nA\tMe\t5,5\r\nB\tH\t6,0\r\n")
    assert (table.file, table.encoding, table.delimiter, table.decimal) == (None, "text", "\t", ",")
    assert len(table) == 2
    with pytest.raises(AssayPilotError, match=r"^nothing was pasted\. Give a table\.$"):
        parse_text("\n\n")


def test_commas_in_every_name_do_not_outweigh_the_tabs_between_columns():
    table = parse_text("ID\tpIC50, human, serum\nA, batch 2, salt\t7.1\nB, batch 1, salt\t6.9\n")
    assert (table.delimiter, table.columns) == ("\t", ("ID", "pIC50, human, serum"))


def test_the_guard_of_our_own_csv_is_removed():
    table = parse_text("'=ID\tR1\n'-x\t'plain\n")
    assert (table.columns, table.cells) == (("=ID", "R1"), (("-x",), ("'plain",)))


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.csv", b"", "a.csv: the file is empty. Export the table again, with its header row."),
        ("a.csv", b"\xef\xbb\xbf\r\n", "a.csv: the file is empty. Export the table again, with its header row."),
        ("a.csv", b"ID,R1\n", "a.csv: there is a header but no row below it. Add the compounds."),
        (
            "a.csv",
            b"ID^R1\na^Me\n",
            "a.csv: only one column was found (comma, semicolon, tab, bars and blanks were tried between columns). "
            "Save the table as csv with a comma or semicolon between the columns.",
        ),
        (
            "a.xlsx",
            b"PK\x03\x04rest",
            "a.xlsx: this is no workbook, or a damaged one. Open it in a spreadsheet and save it as xlsx or csv.",
        ),
        ("a.sdf", b"\n$$$$\n", "a.sdf: there is no record in this SD file. Export it again."),
        ("a.csv", b"\x00\x01\x02\xff\x00", "a.csv: this is not text but a binary file. Save it as csv and read that."),
        (
            "a.csv",
            b"SQLite format 3\x00etc",
            "a.csv: this is a campaign file or another database, not a table. Name the file with the compounds.",
        ),
        (
            "a.csv",
            b'ID,R1\na,Me\nb,"Et\nc,H\n',
            'a.csv, row 3: a quotation mark is opened and never closed. Remove the stray " or close it.',
        ),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(tmp_path, name, data, line):
    assert refusal(write(tmp_path, data, name)) == line


def test_missing_files_and_folders_are_refused(tmp_path):
    assert refusal(tmp_path / "no.csv") == "no.csv: there is no such file. Check the name and the folder."
    assert refusal(tmp_path) == f"{tmp_path.name}: this is a folder, not a table. Name the file in it."


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


def test_of_two_possible_delimiters_the_one_with_more_columns_wins_and_then_the_comma():
    assert parse_text("a;x,y,z\nb;x,y,z\n").delimiter == ","
    assert parse_text("a,b;c\n1,2;3\n").delimiter == ","
