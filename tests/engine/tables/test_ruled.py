"""Tables drawn with bars or blanks, lists of SMILES, and tables on their side."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results
from tests.engine.tables.workbooks import write_xlsx

COLUMNS = ("ID", "R1", "IC50 (nM)")
VALUES = [("a-1", "Me", "12.5"), ("a-2", "H", ">3000"), ("a-3", "OMe", "")]

MARKDOWN = "| ID | R1 | IC50 (nM) |\n|----|:--:|---:|\n| a-1 | Me | 12.5 |\n| a-2 | H | >3000 |\n| a-3 | OMe |  |\n"
GRID = (
    "+-----+-----+-----------+\n| ID  | R1  | IC50 (nM) |\n+=====+=====+===========+\n| a-1 | Me  | 12.5      |\n"
    "+-----+-----+-----------+\n| a-2 | H   | >3000     |\n| a-3 | OMe |           |\n+-----+-----+-----------+\n"
)
BOX = (
    "┌─────┬─────┬───────────┐\n│ ID  │ R1  │ IC50 (nM) │\n├─────┼─────┼───────────┤\n│ a-1 │ Me  │ 12.5      │\n"
    "│ a-2 │ H   │ >3000     │\n│ a-3 │ OMe │           │\n└─────┴─────┴───────────┘\n"
)
TERMINAL = (
    " ID  | R1  | IC50 (nM) \n-----+-----+-----------\n a-1 | Me  | 12.5\n a-2 | H   | >3000\n a-3 | OMe | \n(3 rows)\n"
)


@pytest.mark.parametrize(
    "text",
    ["ID|R1|IC50 (nM)\na-1|Me|12.5\na-2|H|>3000\na-3|OMe|\n", MARKDOWN, GRID, BOX, TERMINAL],
    ids=["bars", "markdown", "grid", "box", "terminal"],
)
def test_drawn_tables_are_read(text, tmp_path):
    path = tmp_path / "x.txt"
    path.write_text(text, encoding="utf-8")
    raw = read_table(path)
    assert raw.columns == COLUMNS
    assert list(zip(*raw.cells, strict=True)) == VALUES
    assert raw.delimiter == ""
    assert any("set apart by" in text for text in raw.warnings)
    lines = text.splitlines()
    assert all(raw.column("ID")[k] in lines[row - 1] for k, row in enumerate(raw.rows))
    assert parse_text(text).cells == raw.cells


@pytest.mark.parametrize(
    ("text", "columns", "first"),
    [
        ("ID R1 pIC50\na Me 7.1\nb H 6.2\n", ("ID", "R1", "pIC50"), ("a", "Me", "7.1")),
        ("       ID  R1  pIC50\n0   CPD-1  Me    7.1\n1   CPD-2   H    6.2\n", None, ("0", "CPD-1", "Me", "7.1")),
        ('"ID\tR1\tpIC50"\n"a\tMe\t7.1"\n"b\tH\t6.2"\n', ("ID", "R1", "pIC50"), ("a", "Me", "7.1")),
        ("Name|R1|pIC50\nUS1, 1|Me|7\nUS1, 2|H|6\n", ("Name", "R1", "pIC50"), ("US1, 1", "Me", "7")),
    ],
)
def test_blanks_frames_and_commas_in_names(text, columns, first):
    raw = parse_text(text)
    assert columns is None or raw.columns == columns
    assert tuple(cells[0] for cells in raw.cells) == first


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("ID,R1|R2|R3,pIC50\na,Me|F|H,7\nb,H|F|H,6\n", ("ID", "R1|R2|R3", "pIC50")),
        ("SMILES,Name\nC[C@H](N)O |&1:1|,a\nCC |x|,b\n", ("SMILES", "Name")),
        ("ID\tpIC50\na\t7.1 | 7.3\nb\t6 | 6.1\n", ("ID", "pIC50")),
    ],
)
def test_bars_within_cells_divide_nothing(text, columns):
    assert parse_text(text).columns == columns


@pytest.mark.parametrize(
    "text",
    [
        "Dear all\nhere are the results\nof last week\n",
        "a\nb\nc\n",
        "ID^R1\na^Me\n",
        "x|y\nz\n",
        "a|b|c\n" + "x|y\n" * 12,
        "ID   R1   IC50 (nM)\na-1  Me        12.5\na-2  H        >3000\na-3  OMe           \n",
    ],
)
def test_what_is_no_table_is_refused(text):
    with pytest.raises(AssayPilotError, match="only one column was found"):
        parse_text(text)


@pytest.mark.parametrize(
    ("name", "text", "columns", "first"),
    [
        ("x.smi", "Cc1ccccc1 a\nCCC(=O)N b\n", ("SMILES", "Name"), ("Cc1ccccc1", "a")),
        ("x.txt", "Cc1ccccc1 a\nCCC(=O)N b\n", ("SMILES", "Name"), ("Cc1ccccc1", "a")),
        ("x.txt", "Cc1ccccc1\ta\nCCC(=O)N\tb\n", ("SMILES", "Name"), ("Cc1ccccc1", "a")),
        (
            "x.smi",
            "SMILES ID pIC50\nCc1ccccc1 a 6.1\nCCC(=O)N b 7\n",
            ("SMILES", "ID", "pIC50"),
            ("Cc1ccccc1", "a", "6.1"),
        ),
        ("x.smi", "SMILES Name\nCc1ccccc1 ethyl blue\nCCC(=O)N b\n", ("SMILES", "Name"), ("Cc1ccccc1", "ethyl blue")),
    ],
)
def test_lists_of_smiles(name, text, columns, first, tmp_path):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    raw = read_table(path)
    assert raw.columns == columns
    assert tuple(cells[0] for cells in raw.cells) == first


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


@pytest.mark.parametrize(
    "rows",
    [
        [["ID", "R1", "IC50 (nM)"], ["R-1", "Me", 3], ["R-2", "H", 5]],  # compounds called like sites
        [["Compound", "left", "right"], ["R1", "Me", "F"], ["R2", "H", "F"], ["R3", "Et", "F"]],
        [["Endpoint", "ID", "Value"], ["pIC50", "a", 6], ["pKi", "b", 7]],
        [["ID", "pIC50", "Ki"], ["a", 6, 7]],
    ],
)
def test_an_upright_table_is_left_alone(rows):
    assert parse_text(as_csv(rows)).columns == tuple(rows[0])


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
