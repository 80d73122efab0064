"""Small messy tables as labs, vendors' programs and databases have them, each with one trouble.

Those that are plain text stand in ``readings/corpus.txt``, behind ``::`` the file's name and what a user says of it.
"""

import datetime
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.engine.tables.workbooks import Error, Formula, Styled, write_xlsx


@dataclass
class Case:
    """One table; what must be understood of it stands in ``tests/golden/tables-corpus.txt``."""

    name: str
    data: Any
    """Text or bytes of a csv, or the rows of a workbook's sheet, or its sheets by name."""
    file: str = "table.csv"
    options: dict[str, Any] = field(default_factory=dict)
    book: dict[str, Any] = field(default_factory=dict)
    """Further arguments for a workbook."""

    def write(self, folder):
        """The path of the table in a folder."""
        if isinstance(self.data, str | bytes):
            path = folder / self.file
            path.write_bytes(self.data if isinstance(self.data, bytes) else self.data.encode())
            return path
        sheets = self.data if isinstance(self.data, dict) else {"Sheet1": self.data}
        return write_xlsx(folder / "table.xlsx", sheets, **self.book)


def written(path):
    """Return the cases of a file of plain texts."""
    found = []
    for block in path.read_text(encoding="utf-8").split("=== ")[1:]:
        first, _, text = block.partition("\n")
        name, *said = first.split(" :: ")
        options = dict(part.split("=", 1) for part in said)
        file = options.pop("file", "table.csv")
        if "sites" in options:
            options["sites"] = tuple(options["sites"].split(","))
        found.append(Case(name, text, file, options))
    return found


HEAD = ["ID", "R1", "pIC50"]
A, B = ["a", "Me", 5.5], ["b", "H", 6.25]
ROWS = "a,Me,5.5\nb,H,6.25\n"

TEXT = [
    *written(Path(__file__).parent / "readings" / "corpus.txt"),
    Case("a mark of UTF-8 in front", b"\xef\xbb\xbf" + ("ID,R1,pIC50\n" + ROWS).encode()),
    Case("UTF-16 little-endian", ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16")),
    Case("UTF-16 big-endian", b"\xfe\xff" + ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16-be")),
    Case("Windows-1252", "ID,R1,IC50 (µM)\na,Me,1\nb,H,10\n".encode("cp1252")),
    Case("Latin-1 with a byte that Windows does not know", b"ID,R1,pIC50,site\na,Me,5.5,\x81\nb,H,6.25,x\n"),
    Case("Windows line ends and a blank line at the end", "ID,R1,pIC50\r\n" + ROWS.replace("\n", "\r\n") + "\r\n"),
    Case("old Macintosh line ends", ("ID,R1,pIC50\n" + ROWS).replace("\n", "\r")),
]

BOOKS = [
    Case("workbook", [HEAD, A, B]),
    Case("workbook: merged title rows", [["Report 12", None, None], [], HEAD, A, B], book={"merged": ["A1:C1"]}),
    Case(
        "workbook: two rows of headers with merged cells",
        [
            ["ID", "R1", "IC50 (nM)", None, None],
            [None, None, "Mean", "SD", "n"],
            ["a", "Me", 10, 1, 3],
            ["b", "H", 20, 2, 4],
        ],
        book={"merged": ["A1:A2", "B1:B2", "C1:E1"]},
    ),
    Case(
        "workbook: a group's name above the sites",
        [
            ["Panel", None, None, None, None],
            [None, "Substituents", None, "Kinase A", "hERG"],
            ["ID", "R1", "R2", "pIC50", "pIC50"],
            ["a", "Me", "F", 5.5, 4.5],
            ["b", "H", "Cl", 6.25, 4.75],
        ],
        book={"merged": ["A1:E1", "B2:C2"]},
    ),
    Case(
        "workbook: groups above every column, and names that nobody knows among those below",
        [
            ["Compound", None, "Substituents", None, "Kinase A", None, "hERG", "Batch", None],
            ["Compound ID", "Salt", "R1", "R2", "IC50 (nM)", "n", "hERG IC50 (nM)", "Assay date", "Chemist"],
            ["a", "HCl", "Me", "F", "12,5", 2, ">30000", "02.03.2026", "KL"],
            ["b", None, "H", "Cl", ">10000", None, "812,0", None, "AB"],
        ],
        book={"merged": ["A1:B1", "C1:D1", "E1:F1"]},
    ),
    Case(
        "workbook: units below the header", [["ID", "R1", "IC50"], [None, None, "µM"], ["a", "Me", 1.5], ["b", "H", 3]]
    ),
    Case("workbook: the table begins at C4", [[], [], [], [None, None, *HEAD], [None, None, *A], [None, None, *B]]),
    Case("workbook: a footer", [HEAD, A, B, [], ["n = 3, see the report"]]),
    Case("workbook: numbers as text", [HEAD, ["a", "Me", "5.5"], ["b", "H", " 6.25 "]]),
    Case("workbook: numbers as text with a decimal comma", [HEAD, ["a", "Me", "5,5"], ["b", "H", 6.25]]),
    Case("workbook: a number with three decimals is one", [HEAD, ["a", "Me", 5.125], ["b", "H", "6,25"]]),
    Case("workbook: ids that are numbers", [HEAD, [1520012, "Me", 5.5], [1520013, "H", 6.25]]),
    Case(
        "workbook: formulas and the values they had",
        [HEAD, ["a", "Me", Formula("9-LOG10(C9)", 5.5)], [Formula('"b"&""', "b"), "H", 6.25]],
    ),
    Case("workbook: #N/A is missing", [HEAD, A, B, ["c", "Et", Error("#N/A")]]),
    Case("workbook: a formula that failed", [HEAD, A, B, ["c", "Et", Error("#DIV/0!")]]),
    Case("workbook: a number that became a date", [HEAD, A, B, ["c", "Et", datetime.date(2024, 5, 1)]]),
    Case(
        "workbook: a column of dates",
        [[*HEAD, "Date"], [*A, datetime.date(2024, 5, 1)], [*B, datetime.date(2024, 5, 2)]],
    ),
    Case(
        "workbook: an id merged over its replicates",
        [HEAD, ["a", "Me", 5.5], [None, "Me", 5.7], B],
        book={"merged": ["A2:A3"]},
    ),
    Case("workbook: a cover sheet first", {"Cover": [["About this report"], ["Confidential"]], "Data": [HEAD, A, B]}),
    Case(
        "workbook: the second sheet by its name",
        {"Data": [HEAD, ["x", "Me", 1], ["y", "H", 2]], "New data": [HEAD, A, B]},
        options={"sheet": "new_data"},
    ),
    Case(
        "workbook: hidden sheets are said and not read",
        {"Old": [HEAD, ["x", "Me", 1], ["y", "H", 2]], "Data": [HEAD, A, B]},
        book={"hidden": ["Old"]},
    ),
    Case(
        "workbook: a hidden sheet by its name",
        {"Old": [HEAD, A, B], "Data": [HEAD, ["x", "Me", 1], ["y", "H", 2]]},
        options={"sheet": "Old"},
        book={"hidden": ["Old"]},
    ),
    Case("workbook: yes and no as truth values", [[*HEAD, "Excluded"], [*A, False], [*B, True]]),
    Case("workbook: empty rows and columns", [[None, *HEAD], [], [None, *A], [None, None, None, None], [None, *B]]),
    Case(
        "workbook: numbers shown as per cent",
        [
            ["ID", "R1", "inhibition", "yield"],
            ["a", "Me", Styled(0.25, 2), Styled(0.07, 4)],
            ["b", "H", Styled(0.07, 3), 12.5],
        ],
    ),
    Case(
        "workbook: a group's name above columns that say of what they are",
        [
            ["Cmpd", "R groups", None, "Potency", None, None],
            [None, "R1", "R2", "EGFR IC50 (nM)", "n", "A431 EC50 (nM)"],
            [1, "Me", "F", 5.5, 3, 60],
            [2, "H", "Cl", 6.5, 2, ">5000"],
        ],
        book={"merged": ["A1:A2", "B1:C1", "D1:F1"]},
    ),
]

SDF_ATOM = "\n  x\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n"


def record(name, *properties):
    """A record of an SD file: methane with its properties."""
    return name + SDF_ATOM + "".join(f">  <{key}>\n{value}\n\n" for key, value in properties) + "$$$$\n"


STRUCTURES = [
    Case(
        "SD file: no $$$$ at the end, Windows line ends",
        (record("a", ("R1", "Me"), ("pIC50", "5.5")) + record("b", ("R1", "H"), ("pIC50", "6.25")))
        .removesuffix("$$$$\n")
        .replace("\n", "\r\n"),
        file="t.sdf",
    ),
]

CASES = [*TEXT, *BOOKS, *STRUCTURES]
DATAWARRIOR = next(case.data for case in TEXT if case.file == "table.dwar")
