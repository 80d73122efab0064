"""Tables drawn with bars or blanks, lists of SMILES, and tables on their side."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results
from tests.engine.tables.workbooks import write_xlsx

ASIDE = [["ID", "a", "b", "c"], ["R1", "Me", "H", "Et"], ["IC50 (nM)", 12.5, 30, 7], ["n", 2, 1, 3]]


def as_csv(rows):
    return "\n".join(",".join(map(str, row)) for row in rows) + "\n"


def test_a_table_on_its_side_is_turned(tmp_path):
    expected = [("a", "Me", "12.5", "2"), ("b", "H", "30", "1"), ("c", "Et", "7", "3")]
    text = parse_text(as_csv(ASIDE))
    book = read_table(write_xlsx(tmp_path / "x.xlsx", {"Data": ASIDE}))
    for raw in (text, book):
        assert raw.columns == ("ID", "R1", "IC50 (nM)", "n")
        assert list(zip(*raw.cells, strict=True)) == expected
        assert raw.rows == (2, 3, 4)
        assert any("so the table was turned: row 2 here is column 2 (B)" in text for text in raw.warnings)
    table = import_table(text, propose(text))
    assert [(r.compound, r.value, r.n) for r in table.history] == [("a", 12.5, 2), ("b", 30.0, 1), ("c", 7.0, 3)]


def campaign():
    raw = parse_text("ID,R1\na,Me\nb,H\nc,Et\n")
    return import_table(raw, propose(raw, TableOptions(endpoints=(parse_endpoint_spec("pIC50;sd=0.2"),))))


def test_results_on_their_side_are_read_or_refused_with_what_to_do():
    known = campaign()
    read = read_results(parse_text(",a,b,c\nIC50 (nM),10,100,>1000\n"), known.library, known.endpoints)
    assert [(r.compound, r.value, r.relation) for r in read.results] == [
        ("a", 8.0, "="),
        ("b", 7.0, "="),
        ("c", 6.0, "<"),
    ]
    assert [r.row for r in read.results] == [2, 3, 4]
    for text in ("Sample,a,b,c\nExp 1,6,7,8\nExp 2,6,7,8\n", "a,b,c\n6,7,8\n6.1,7.2,8.3\n"):
        with pytest.raises(AssayPilotError, match=r"columns are called after compounds .* Turn the table"):
            read_results(parse_text(text), known.library, known.endpoints)
