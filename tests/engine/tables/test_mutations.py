"""Damaged tables: no traceback, no hang, and no value that silently became another one."""

import csv
import io
import random
import re
import time

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.text import decode
from tests.engine.tables import mutations as m
from tests.strategies import few

LONGEST = 5.0
"""Seconds of processor time that no table may take."""


def understood(path):
    """The raw table and what was imported; None when it was refused, in one line."""
    start = time.process_time()
    try:
        raw = read_table(path)
        return raw, import_table(raw, propose(raw))
    except AssayPilotError as error:
        line = str(error)
        assert line
        assert "\n" not in line
        return None
    finally:
        assert time.process_time() - start < LONGEST


def readings(text):
    """Every number a cell could honestly be read as, by rules of its own: marks of thousands, decimal comma, a unit."""
    body = text.strip("\ufeff \t\n").strip().replace("−", "-").lstrip("<>=≤≥").strip()
    number = re.match(r"[+-]?[\d.,' \xa0\u202f]*\d[\d.,' \xa0\u202f]*(?:[eE][+-]?\d+)?", body)
    found = set()
    for one in {body, number[0].strip() if number else body}:
        bare = re.sub(r"(?<=\d)[' \xa0\u202f](?=\d{3})", "", one)
        for spelled in (bare, bare.replace(",", "."), bare.replace(",", ""), bare.replace(".", "").replace(",", ".")):
            try:
                found.add(float(spelled))
            except ValueError:
                continue
    return found


def traced(raw, table, source=None):
    """Asserts that each value stands in its row as it was written, and in the file."""
    rows = {row: place for place, row in enumerate(raw.rows)}
    assert len(rows) == len(raw)
    for result in table.history:
        written = [
            text for text in (column[rows[result.row]] for column in raw.cells) if result.value in readings(text)
        ]
        assert written, (result, [column[rows[result.row]] for column in raw.cells])
        assert source is None or any(text in source for text in written)


def run(count, seed, make, suffix, folder):
    """How many of ``count`` damaged tables were still understood."""
    rng = random.Random(seed)
    path = folder / f"table{suffix}"
    fine = 0
    for _ in range(count):
        data = make(rng)
        path.write_bytes(data)
        found = understood(path)
        if found is not None:
            fine += 1
            source = None
            if found[0].kind != "workbook":
                source = decode("x", data)[0].replace("\r\n", "\n").replace("\r", "\n")
                source += source.replace('""', '"') + source.replace("'", "")
            traced(*found, source)
    return fine


def text_of(rng):
    delimiter = rng.choice([",", ";", "\t"])
    text = m.changed_text(rng, m.csv_text(delimiter))
    encoding = rng.choice(["utf-8", "utf-8", "utf-8-sig", "utf-16"])
    data = text.encode(encoding, "replace")
    return m.changed_bytes(rng, data) if rng.random() < 0.2 else data


KINDS = {
    "csv": (45, text_of, ".csv"),
    "xlsx": (20, m.changed_workbook, ".xlsx"),
    "sdf": (10, lambda rng: m.changed_text(rng, m.sdf_text()).encode("utf-8", "replace"), ".sdf"),
    "smi": (5, lambda rng: m.changed_text(rng, m.smi_text()).encode("utf-8", "replace"), ".smi"),
}
"""Of a hundred mutations: how many are of this kind, how one is made, and the file's suffix; 20 are of cells."""


@pytest.mark.parametrize("seed", few(1, of=3))
@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_refused_in_one_line(kind, seed, tmp_path):
    share, make, suffix = KINDS[kind]
    fine = run(4 * share, seed, make, suffix, tmp_path)
    # A mutator that destroys everything would show nothing; structures alone make no campaign.
    assert kind == "smi" or 10 * fine > 4 * share


def one_cell(rng, folder):
    """One cell of a valid table becomes another text: the others stay what they were, and its own is not guessed."""
    rows = [list(map(str, row)) for row in m.ROWS]
    victim, text = rng.randrange(len(rows)), rng.choice(m.CELLS)
    if rng.random() < 0.3:
        text = m.changed_text(rng, rows[victim][3])
    rows[victim][3] = text
    out = io.StringIO(newline="")
    csv.writer(out).writerows([m.HEADER, *rows])
    path = folder / "table.csv"
    path.write_bytes(out.getvalue().encode("utf-8", "replace"))
    found = understood(path)
    if found is None:
        return
    raw, table = found
    values = {}
    for result in table.history:
        values.setdefault(result.compound, []).append((result.relation, result.value))
    for place, (name, _, _, value) in enumerate(m.ROWS):
        # A cell can turn the marks of the whole table around; then the others are said, never misread.
        problems = [one for one in table.not_used if one.row == place + 2]
        if place != victim:
            assert (
                values.get(name) == [("=", value)] or (problems and name not in values) or name not in raw.column("ID")
            )
    for relation, value in values.get(m.ROWS[victim][0], []):
        assert value in readings(text.strip().removeprefix("'"))
        assert (relation == "=") == (text.strip()[:1] not in ("<", ">", "≤", "≥"))


@pytest.mark.parametrize("seed", few(1, of=3))
def test_one_changed_cell_changes_no_other_value(seed, tmp_path):
    rng = random.Random(seed)
    for _ in range(80):
        one_cell(rng, tmp_path)
