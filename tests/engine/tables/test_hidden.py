"""Rows and columns that a sheet hides are read, and that is said."""

import pytest

from assaypilot.engine.tables.opening import read_table
from tests.engine.tables import workbooks
from tests.engine.tables.workbooks import MAIN, sheet_xml, write_xlsx

ROWS = [["ID", "R1", "pIC50"], ["a", "Me", 5.0], ["b", "H", 6.0], ["c", "Et", 7.0]]


def hidden(text, *, rows=(), columns="", filtered=False):
    for row in rows:
        text = text.replace(f'<row r="{row}">', f'<row r="{row}" hidden="1">')
    text = text.replace("<sheetData>", f"{columns}<sheetData>")
    return text.replace("</sheetData>", '</sheetData><autoFilter ref="A1:C4"/>') if filtered else text


def warnings(tmp_path, text):
    table = read_table(write_xlsx(tmp_path / "x.xlsx", {"Data": text}))
    assert table.rows == (2, 3, 4)
    return "\n".join(table.warnings)


def test_rows_a_filter_hides_are_counted(tmp_path):
    said = warnings(tmp_path, hidden(sheet_xml(ROWS), rows=(2, 4), filtered=True))
    assert said == (
        "2 of 3 rows are hidden in the sheet by its filter and were read, too: rows 2, 4. If they do not belong to the "
        "table, copy what is shown to a new sheet."
    )


def test_one_hidden_row_and_a_hidden_column(tmp_path):
    columns = '<cols><col min="2" max="3" width="9" hidden="1"/></cols>'
    said = warnings(tmp_path, hidden(sheet_xml(ROWS), rows=(3,), columns=columns))
    assert "1 of 3 rows is hidden in the sheet and was read, too: row 3." in said
    assert "Columns B, C of the sheet are hidden and were read, too." in said


def test_a_hidden_row_that_is_no_row_of_the_table_needs_no_word(tmp_path):
    assert warnings(tmp_path, hidden(sheet_xml([*ROWS, [None], ["Mean", None, 6.0]]), rows=(6,))) != ""
    assert "hidden" not in warnings(tmp_path, hidden(sheet_xml(ROWS), rows=(1,)))


STRUCK = (
    f'<?xml version="1.0"?><styleSheet xmlns="{MAIN}"><fonts count="3"><font/><font><strike/></font>'
    '<font><strike val="0"/></font></fonts><cellXfs count="3"><xf fontId="0"/><xf fontId="1"/><xf fontId="2"/>'
    "</cellXfs></styleSheet>"
)


@pytest.mark.parametrize(("style", "said"), [(1, "Cell C3 of the sheet is struck through and was read"), (2, None)])
def test_cells_that_are_struck_through_are_named(tmp_path, style, said, monkeypatch):
    monkeypatch.setattr(workbooks, "STYLES", STRUCK)
    rows = [["ID", "R1", "pIC50"], ["a", "Me", 5.0], ["b", "H", workbooks.Styled(6.0, style)], ["c", "Et", 7.0]]
    table = read_table(write_xlsx(tmp_path / "x.xlsx", {"Data": rows}))
    assert table.column("pIC50") == ("5", "6", "7")
    assert any("struck" in text for text in table.warnings) is (said is not None)
    assert said is None or any(text.startswith(said) for text in table.warnings)


def test_what_a_table_on_its_side_hides_is_not_counted_by_the_wrong_rows(tmp_path):
    aside = [["ID", "a", "b", "c"], ["R1", "Me", "H", "Et"], ["pIC50", 5.0, 6.0, 7.0]]
    said = "\n".join(read_table(write_xlsx(tmp_path / "x.xlsx", {"D": hidden(sheet_xml(aside), rows=(2,))})).warnings)
    assert "was turned" in said
    assert "hidden" not in said
