"""What a table says of stock: words, amounts, money, times; what cannot be read is listed and the rest taken."""

from pathlib import Path

import pytest

from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.stock import CANNOT, IN_STOCK, TO_MAKE, StockLine
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableMapping
from assaypilot.engine.tables.stock import read_stock_list

LIBRARY = Library.listed(["R1"], [["H"], ["Me"], ["Cl"], ["F"]], ids=["A-1", "A-2", "A-3", "A-4"])


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_a_list_takes_what_it_can_and_names_the_rest(tmp_path: Path) -> None:
    text = (
        "ID,Stock,Cost,Lead\nA-1,yes,,\nnobody,yes,,\na-2,,-5,2 weeks\nA-3,perhaps,100,x\n,no,,\nA-1,no,,\nA-4,NA,,\n"
    )
    found = read_stock_list(read_table(written(tmp_path / "s.csv", text)), LIBRARY, {})
    assert found.lines == (
        StockLine(0, IN_STOCK),
        StockLine(1, TO_MAKE, None, 14.0),
        StockLine(2, None, 100.0),  # what is said of it is not clear, so nothing is concluded from its cost
    )
    assert [(one.row, one.column) for one in found.not_used] == [
        (3, "ID"), (4, "Cost"), (5, "Stock"), (5, "Lead"), (6, "ID"), (7, "Stock"),
    ]  # fmt: skip
    assert found.not_used[-1].reason == "'no' contradicts row 2"


@pytest.mark.parametrize(
    ("text", "columns", "said"),
    [
        ("Stock,Cost\nyes,\n", {}, "no column of ids"),
        ("ID,Colour\nA-1,red\n", {}, "no column says what is in stock"),
        ("ID,Stock\nA-1,yes\n", {"cost": "Prize"}, "there is no column 'Prize'"),
    ],
)
def test_no_stock_list(text: str, columns: dict[str, str | None], said: str, tmp_path: Path) -> None:
    with pytest.raises(AssayPilotError, match=said):
        read_stock_list(read_table(written(tmp_path / "s.csv", text)), LIBRARY, columns)


TABLE = """ID,R1,R2,pIC50,In stock,Cost,Lead time
X-1,H,H,6,yes,,
X-2,Me,H,6.5,no,800,3 weeks
X-3,H,Cl,7,cannot,,
X-4,Me,Cl,,no,-3,
"""


def test_a_table_with_stock_is_understood_and_remembered(tmp_path: Path) -> None:
    raw = read_table(written(tmp_path / "t.csv", TABLE))
    mapping = propose(raw)
    assert (mapping.stock, mapping.cost, mapping.lead) == ("In stock", "Cost", "Lead time")
    assert TableMapping.from_json(mapping.as_json()) == mapping
    assert [column.endpoint.name for column in mapping.endpoints] == ["pIC50"]
    imported = import_table(raw, mapping)
    assert imported.stock == (
        StockLine(0, IN_STOCK), StockLine(1, TO_MAKE, 800.0, 21.0), StockLine(2, CANNOT), StockLine(3, TO_MAKE),
    )  # fmt: skip
    assert [(one.row, one.column) for one in imported.not_used] == [(5, "Cost")]
