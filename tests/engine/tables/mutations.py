"""Valid tables and what happens to them on their way: bytes and cells that change, vanish or come twice."""

import io
import json
import zipfile
from pathlib import Path

from tests.engine.tables.corpus import record
from tests.engine.tables.workbooks import sheet_xml, write_xlsx

ROWS = [(f"cpd-{n}", ("H", "Me", "Et", "OMe")[n % 4], ("Cl", "F", "H")[n % 3], 5.0 + n * 0.125) for n in range(8)]
HEADER = ("ID", "R1", "R2", "activity")

ODD = [
    *("\x00", "\x01", "\x1a", "\t", "\n", "\r", '"', "'", ",", ";", "|", "\\", "\ufeff", "\u2028", "\xa0", "\u202e"),
    *("=", "<", ">", "-", "+", ".", "e", "E", "%", "#", "$", "{", "}", "[*:1]", "\U0001f9ea", "\u0660", "½", "²", "−"),
]
"""Signs that break readers."""

CELLS: list[str] = json.loads(Path(__file__).with_name("cells.json").read_text(encoding="utf-8"))
"""What people and programs put into a cell."""


def csv_text(delimiter=",", rows=ROWS):
    """The valid table as text."""
    return "\n".join(delimiter.join(map(str, row)) for row in [HEADER, *rows]) + "\n"


def sdf_text():
    """The valid table as an SD file."""
    return "".join(record(name, ("R1", a), ("R2", b), ("activity", value)) for name, a, b, value in ROWS)


def smi_text():
    """Structures and names."""
    return "SMILES Name\n" + "".join(f"C{'C' * n}O cpd-{n}\n" for n in range(8))


def changed_text(rng, text):
    """The text with one to three changes: of a sign, a stretch or a line."""
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(text) + 1)
        kind = rng.randrange(7)
        if kind == 0:
            text = text[:place] + rng.choice(ODD) + text[place:]
        elif kind == 1:
            text = text[:place] + text[place + rng.randint(1, 12) :]
        elif kind == 2:
            text = text[:place] + rng.choice(ODD) + text[place + 1 :]
        elif kind == 3:
            stretch = text[place : place + rng.randint(1, 40)]
            text = text[:place] + stretch * rng.randint(2, 5) + text[place:]
        elif kind == 4:
            lines = text.split("\n")
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            lines[one], lines[other] = lines[other], lines[one]
            text = "\n".join(lines)
        elif kind == 5:
            text = text[:place]
        else:
            text = text[:place] + rng.choice(CELLS) + text[place:]
        text = text or " "
    return text


def changed_bytes(rng, data):
    """The bytes with one to four changes."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(max(1, len(data)))
        kind = rng.randrange(4)
        if kind == 0:
            data[place : place + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del data[place : place + rng.randint(1, 20)]
        elif kind == 2:
            data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 8)))
        else:
            data = data[: place + 1]
    return bytes(data)


def changed_workbook(rng):
    """A workbook in which one part was changed, or its bytes as they are stored."""
    whole = io.BytesIO()
    write_xlsx(whole, {"Data": sheet_xml([list(HEADER), *map(list, ROWS)]), "More": sheet_xml([["a", 1], ["b", 2]])})
    if rng.random() < 0.3:
        return changed_bytes(rng, whole.getvalue())
    out = io.BytesIO()
    with zipfile.ZipFile(whole) as book, zipfile.ZipFile(out, "w") as copy:
        names = book.namelist()
        victim = rng.choice([*names, *["xl/worksheets/sheet1.xml"] * 8])
        for name in names:
            data = book.read(name)
            if name == victim:
                text = changed_text(rng, data.decode())
                data = text.encode("utf-8", "surrogatepass") if rng.random() < 0.8 else changed_bytes(rng, data)
            copy.writestr(name, data)
    return out.getvalue()
