"""Workbooks, tables drawn in text, and tables on their side."""

import base64
import zipfile
import zlib

import openpyxl
import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import zipped_sheets
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results
from tests.engine.tables import workbooks
from tests.engine.tables.workbooks import MAIN, sheet_xml, write_xlsx

HEAD = ["ID", "R1", "pIC50"]
ROWS = [HEAD, ["a", "Me", 5.5], ["b", "H", 6.25]]
CELLS = (("a", "b"), ("Me", "H"), ("5.5", "6.25"))

XLS = (
    "c-rk)O=uHA6#izC&7W<W)KqAN5(-vZ3tB|*(ysq)53RKqiwK&S97;o4f(P}W)taLqc=G2`=*3Ibi$CZ=PkInq^dJaAQjeYl1rKeuZ{E(<RC8!R"
    "gDv}odGq$od^<1m-ptPK!hEza^SGsm-_Q#WN>&iQGMk_hbS@&GcFR(#QwOM6E;bZ`0Sctgz>E5KeicI%?;<1~d0&$R7O9-UB!(uk>39usn0-hH"
    "<wK9~QtnCIrxHdp`_;(uJj<;tA9CN9EDy5fCd(e`TM(x)Zw_@H(0M#6+qf-EQs60bKCz`6O?a#F`06cT_cd@RH<rl!pAD_vI?RG1*O$(wbBRm="
    "F$&=<epqqfyR%kb#a(-C?E+-~xz_HlV81QBz!a==LM37zTd?R+Egqc6q}1htp`z_U|5$1Xdw7dgg;I6kD2b77YM&f9vVSk-MS={2X;P9@`l(zD"
    "sU4eFcx25Aujjn4Bbh=2>ru}B2;F??!MFE=$zk&>Tc&t8d+*<&oP~vJib3QsY*!uG$&B4Buk&5Ev);loMmbA$`*4$1j!$!+8{FDX<LqO6Fn5;e"
    "yGYM}J^8FP|HbSeeXg%~IX3svoIx8si&Df_ziD)dE^+sc!gJH9h2AATvuyrj#|X%X_TADCxCSgE#A=kKeWhkctX@eySBfnvum!U{y1!tynzt)5"
    "#JgA&_X0LsR$xnJ8=7rL#;4hm*>C6(+$$ULM0KT|?iXqiZLumhYP3bgXsgNMSw*E;b>YH=3l}b2xY#@p_R9pHSJipX&}T-!{;so3rR07l*|ZqJ"
    "1pO}1Yw0m$sm|e2Rr#|GhH&mB*2!_c7b={h(Q_C_lKmL3I)CZRFUtSVx`~m$w}h%4zf_H%|9JcrH#+pz"
)
"""A workbook of the old kind (BIFF8), zlib and base 85: the sheet Old with ROWS, and a hidden one."""


def refusal(path):
    with pytest.raises(AssayPilotError) as caught:
        read_table(path)
    return str(caught.value)


def changed(path, source, old, new, part="xl/worksheets/sheet1.xml"):
    """A copy of a workbook with other bytes in one of its parts."""
    with zipfile.ZipFile(source) as book, zipfile.ZipFile(path, "w") as copy:
        for name in book.namelist():
            data = book.read(name)
            if name == part:
                assert old in data
                data = data.replace(old, new)
            copy.writestr(name, data)
    return path


@pytest.fixture
def book(tmp_path):
    return write_xlsx(tmp_path / "book.xlsx", {"Data": ROWS})


def test_a_workbook_of_the_old_kind(tmp_path):
    path = tmp_path / "old.xls"
    path.write_bytes(zlib.decompress(base64.b85decode(XLS)))
    table = read_table(path)
    assert (table.columns, table.cells, table.sheet) == (tuple(HEAD), CELLS, "Old")
    assert table.warnings == ("The sheet Old was read. Hidden: Hid.",)


ODS = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
    '<table:table table:name="Data">%s</table:table></office:spreadsheet></office:body></office:document-content>'
)


def write_ods(path, rows):
    with zipfile.ZipFile(path, "w") as out:
        out.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        out.writestr(
            "META-INF/manifest.xml",
            '<manifest:manifest xmlns:manifest="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>',
        )
        out.writestr("content.xml", ODS % rows)
    return path


def ods_row(row):
    cells = ""
    for value in row:
        if isinstance(value, str):
            cells += f'<table:table-cell office:value-type="string"><text:p>{value}</text:p></table:table-cell>'
        else:
            cells += f'<table:table-cell office:value-type="float" office:value="{value}"/>'
    return f"<table:table-row>{cells}</table:table-row>"


def test_an_open_document(tmp_path):
    empty = (
        '<table:table-row table:number-rows-repeated="1048573">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    table = read_table(write_ods(tmp_path / "a.ods", "".join(map(ods_row, ROWS)) + empty))
    assert (table.columns, table.cells, table.kind) == (tuple(HEAD), CELLS, "workbook")


def test_a_zip_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(zipped_sheets, "LARGEST_UNPACKED", 1 << 20)
    path = write_xlsx(tmp_path / "bomb.xlsx", {"Data": "<x>" + " " * (2 << 20) + "</x>"})
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("a part was unpacked"))
    assert "bomb.xlsx: the workbook would unpack to" in refusal(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'<c r="C3"', b'<c r="XFD1048576"'),
        (b'<c r="C3"', b"<c r='XFD1048576'"),
        (b'<c r="C3"', b'<c\n r = "xfd1048576"'),
        (b'<c r="C3"', b'<c t="n" r="XFD1048576"'),
        (b'<row r="3">', b'<row r="3"><x:c r="XFD1048576"/>'),
        (b'<c r="C3"', b'<c r="AZ1000000"/><c r="BZ3"/><c r="C3"'),
        (b'<c r="C3"', b'<c r="C1000000"/><c r="ZZ3"/><c r="C3"'),
        (b'<c r="C3"', b'<c r="C99999999999999999999"'),
        (b'<row r="3"', b'<row r="4000000000"'),
        (b'<c r="C3"', b'<c r="ZZZZZZ3"'),
    ],
)
def test_a_stray_cell_far_away_does_not_fill_the_memory(tmp_path, book, old, new):
    line = refusal(changed(tmp_path / "far.xlsx", book, old, new))
    assert line.startswith("far.xlsx: a sheet has cells as far away as row ")
    assert line.endswith("Delete the stray cells far from the table, or copy the table to a new workbook.")


SHOWN = [["ID", "R1", "pIC50"], ["a", "Me", 5.0], ["b", "H", 6.0], ["c", "Et", 7.0]]


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
    said = warnings(tmp_path, hidden(sheet_xml(SHOWN), rows=(2, 4), filtered=True))
    assert said == (
        "Hidden in the sheet by its filter and read, too: 2 of 3 rows (rows 2, 4). If they do not belong to the table, "
        "copy what is shown to a new sheet."
    )


STRUCK = (
    f'<?xml version="1.0"?><styleSheet xmlns="{MAIN}"><fonts count="3"><font/><font><strike/></font>'
    '<font><strike val="0"/></font></fonts><cellXfs count="3"><xf fontId="0"/><xf fontId="1"/><xf fontId="2"/>'
    "</cellXfs></styleSheet>"
)


@pytest.mark.parametrize(
    ("style", "said"), [(1, "Struck through in the sheet and read like all others: C3"), (2, None)]
)
def test_cells_that_are_struck_through_are_named(tmp_path, style, said, monkeypatch):
    monkeypatch.setattr(workbooks, "STYLES", STRUCK)
    rows = [["ID", "R1", "pIC50"], ["a", "Me", 5.0], ["b", "H", workbooks.Styled(6.0, style)], ["c", "Et", 7.0]]
    table = read_table(write_xlsx(tmp_path / "x.xlsx", {"Data": rows}))
    assert table.column("pIC50") == ("5", "6", "7")
    assert any("Struck" in text for text in table.warnings) is (said is not None)
    assert said is None or any(text.startswith(said) for text in table.warnings)


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


@pytest.mark.parametrize(
    ("cells", "read"),
    [
        ([12.5, "5,458", 830.0], ("12.5", "5458", "830")),
        (["12.5", "5,458", "12,000"], ("12.5", "5458", "12000")),
        (["5,45", "5,458", "6,1"], ("5.45", "5.458", "6.1")),
        (["5,458", "6,112", "7,003"], ("5,458", "6,112", "7,003")),  # nobody can know
    ],
)
def test_a_comma_in_a_text_is_read_by_its_column(tmp_path, cells, read):
    rows = [["ID", "R1", "IC50 (nM)"], *([f"a{k}", f"L{k}", cell] for k, cell in enumerate(cells))]
    assert read_table(write_xlsx(tmp_path / "texts.xlsx", {"Data": rows})).cells[2] == read


def test_a_formula_that_was_never_calculated_is_named(tmp_path):
    """As openpyxl and other programs leave it: a formula without its value."""
    book = openpyxl.Workbook()
    for row in (HEAD, ["a", "Me", 5.5], ["b", "H", "=5+1"], ["c", "Et", '=""']):
        book.active.append(row)
    book.save(tmp_path / "x.xlsx")
    raw = read_table(tmp_path / "x.xlsx")
    first = import_table(raw, propose(raw)).not_used[0]
    assert (first.row, first.column, first.reason) == (3, "pIC50", "'#CALC!' is a formula that failed")
