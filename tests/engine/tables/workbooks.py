"""Small Excel workbooks made by hand, part by part, so that a test says exactly what stands in the file."""

import datetime
import zipfile
from xml.sax.saxutils import escape, quoteattr

TYPES = """<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/>
<Override PartName="/xl/workbook.xml"
 ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>%s</Types>"""
SHEET_TYPE = (
    '<Override PartName="/xl/worksheets/sheet%d.xml" '
    'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELS = '<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">%s'
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STYLES = (
    f'<?xml version="1.0"?><styleSheet xmlns="{MAIN}"><numFmts count="2"><numFmt numFmtId="164" formatCode="0.0%"/>'
    '<numFmt numFmtId="165" formatCode="0.0&quot;%&quot;"/></numFmts>'
    '<cellStyleXfs count="1"><xf numFmtId="9"/></cellStyleXfs><cellXfs count="5"><xf numFmtId="0"/>'
    '<xf numFmtId="14"/><xf numFmtId="9"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>'
)
EPOCH = datetime.date(1899, 12, 30)


class Formula:
    """A formula with the value it had when the workbook was saved."""

    def __init__(self, text, value):
        self.text, self.value = text, value


class Styled:
    """A number with one of the styles: 2 and 3 show it as per cent, 4 only writes a % behind it."""

    def __init__(self, number, style):
        self.number, self.style = number, style


class Error(str):
    """A cell whose formula failed: ``#DIV/0!``."""


def column(place):
    """The letters of a column counted from 0."""
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell(value, at):
    """The XML of one cell."""
    inside = ""
    if isinstance(value, Formula):
        inside, value = f"<f>{escape(value.text)}</f>", value.value
    if value is None:
        return ""
    if isinstance(value, Styled):
        return f'<c r="{at}" s="{value.style}"><v>{value.number!r}</v></c>'
    if isinstance(value, Error):
        return f'<c r="{at}" t="e">{inside}<v>{value}</v></c>'
    if isinstance(value, bool):
        return f'<c r="{at}" t="b">{inside}<v>{int(value)}</v></c>'
    if isinstance(value, datetime.date):
        return f'<c r="{at}" s="1">{inside}<v>{(value - EPOCH).days}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{at}">{inside}<v>{value!r}</v></c>'
    if inside:
        return f'<c r="{at}" t="str">{inside}<v>{escape(value)}</v></c>'
    return f'<c r="{at}" t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'


def sheet_xml(rows, merged=()):
    """The XML of a sheet; rows are lists of values, None for an empty cell."""
    lines = []
    for number, row in enumerate(rows, start=1):
        cells = "".join(cell(value, f"{column(place)}{number}") for place, value in enumerate(row))
        if cells:
            lines.append(f'<row r="{number}">{cells}</row>')
    ranges = "".join(f'<mergeCell ref="{one}"/>' for one in merged)
    tail = f'<mergeCells count="{len(merged)}">{ranges}</mergeCells>' if merged else ""
    return f'<?xml version="1.0"?><worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData>{tail}</worksheet>'


def write_xlsx(path, sheets, *, merged=(), hidden=(), level=zipfile.ZIP_DEFLATED):
    """The path of a workbook with these sheets: ``{name: rows}``, or ``{name: xml text}``."""
    names = list(sheets)
    states = {name: 'state="hidden" ' if name in hidden else "" for name in names}
    listed = "".join(
        f'<sheet name={quoteattr(name)} sheetId="{n}" {states[name]}r:id="rId{n}"/>'
        for n, name in enumerate(names, start=1)
    )
    related = "".join(
        f'<Relationship Id="rId{n}" Type="{OFFICE}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n in range(1, len(names) + 1)
    )
    related += f'<Relationship Id="rId0" Type="{OFFICE}/styles" Target="styles.xml"/>'
    with zipfile.ZipFile(path, "w", level) as book:
        book.writestr("[Content_Types].xml", TYPES % "".join(SHEET_TYPE % n for n in range(1, len(names) + 1)))
        office = f'<Relationship Id="rId1" Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
        book.writestr("_rels/.rels", RELS % office)
        book.writestr("xl/_rels/workbook.xml.rels", RELS % related + "</Relationships>")
        book.writestr(
            "xl/workbook.xml",
            f'<?xml version="1.0"?><workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{listed}</sheets></workbook>',
        )
        book.writestr("xl/styles.xml", STYLES)
        for n, name in enumerate(names, start=1):
            rows = sheets[name]
            book.writestr(f"xl/worksheets/sheet{n}.xml", rows if isinstance(rows, str) else sheet_xml(rows, merged))
    return path
