"""Texts of any length: a refusal in one line or a table, and never minutes of looking for patterns in them."""

import contextlib
import csv
import io
import time

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.limits import LONGEST_CELL, LONGEST_HEADER
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.check import endpoint_facts
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.side_columns import run_number

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


def test_longest_header_is_read_in_no_time():
    for pump in PUMPS:
        text = long_text(pump, LONGEST_HEADER - 1)
        assert seconds(lambda text=text: (headers.is_known(text), run_number(text))) < SECONDS


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


@pytest.mark.full
@pytest.mark.parametrize("column", range(len(COLUMNS)))
@pytest.mark.parametrize("row", [0, 1, 3])
def test_any_long_cell_takes_no_time(row, column):
    for pump in PUMPS:
        for length in (LONGEST_HEADER - 1, LENGTH, LONGEST_CELL - 2):
            assert seconds(lambda pump=pump, n=length: checked(table(row, column, long_text(pump, n)))) < 10 * SECONDS
