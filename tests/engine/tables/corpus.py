"""Small messy tables as labs have them, each with one trouble."""

import datetime
from dataclasses import dataclass, field
from typing import Any

from tests.engine.tables.workbooks import Error, Formula, write_xlsx


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


HEAD = ["ID", "R1", "pIC50"]
A, B = ["a", "Me", 5.5], ["b", "H", 6.25]
ROWS = "a,Me,5.5\nb,H,6.25\n"

TEXT = [
    Case("plain", "ID,R1,pIC50\n" + ROWS),
    Case("a mark of UTF-8 in front", b"\xef\xbb\xbf" + ("ID,R1,pIC50\n" + ROWS).encode()),
    Case("UTF-16 little-endian", ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16")),
    Case("UTF-16 big-endian", b"\xfe\xff" + ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16-be")),
    Case("Windows-1252", "ID,R1,IC50 (µM)\na,Me,1\nb,H,10\n".encode("cp1252")),
    Case("Latin-1 with a byte that Windows does not know", b"ID,R1,pIC50,site\na,Me,5.5,\x81\nb,H,6.25,x\n"),
    Case("semicolons and decimal commas", "ID;R1;pIC50\na;Me;5,5\nb;H;6,25\n"),
    Case("tabs and decimal commas", "ID\tR1\tpIC50\na\tMe\t5,5\nb\tH\t6,25\n"),
    Case("quoted decimal commas between commas", 'ID,R1,pIC50\na,Me,"5,5"\nb,H,"6,25"\n'),
    Case("Windows line ends and a blank line at the end", "ID,R1,pIC50\r\n" + ROWS.replace("\n", "\r\n") + "\r\n"),
    Case("old Macintosh line ends", ("ID,R1,pIC50\n" + ROWS).replace("\n", "\r")),
    Case("blank lines between the rows", "ID,R1,pIC50\n\na,Me,5.5\n\n\nb,H,6.25\n"),
    Case("headers in capitals with spaces around", " COMPOUND ID , r1 , PIC50 \n" + ROWS),
    Case("header with a line break", 'ID,R1,"IC50\n(nM)"\na,Me,10\nb,H,20\n'),
    Case("a delimiter at the end of every line", "ID,R1,pIC50,\na,Me,5.5,\nb,H,6.25,\n"),
    Case("an empty column in the middle", "ID,,R1,pIC50\na,,Me,5.5\nb,,H,6.25\n"),
    Case("a column without a header", "ID,R1,pIC50,\na,Me,5.5,ok\nb,H,6.25,ok\n"),
    Case("the same header twice", "ID,R1,pIC50,pIC50\na,Me,5.5,5.7\nb,H,6.25,6.3\n"),
    Case("a title above the header", "Kinase series, May 2024\n\nID,R1,pIC50\n" + ROWS),
    Case(
        "a block of names and values above the header",
        "Project,AP-7,,\nDate,2024-05-01,,\n\nID,R1,pIC50,comment\na,Me,5.5,x\nb,H,6.25,y\n",
    ),
    Case("a header that is narrower than its rows is a header", "ID,R1,pIC50\na,Me,5.5,x\nb,H,6.25,y\n"),
    Case("a row of units", "ID,R1,IC50\n,,nM\na,Me,10\nb,H,20\n"),
    Case("a row of units in brackets and dashes", "ID,R1,IC50,yield\n-,-,[µM],(%)\na,Me,10,50\nb,H,20,60\n"),
    Case(
        "two rows of headers, the second with mean, SD and N",
        "ID,R1,IC50 (nM),,\n,,mean,SD,N\na,Me,10,1,3\nb,H,20,2,4\n",
    ),
    Case("a group of columns named above the header", ",,IC50 (nM),,\nID,R1,mean,SD,N\na,Me,10,1,3\nb,H,20,2,4\n"),
    Case(
        "two targets above the same headers",
        ",,EGFR,,BRAF,\nID,R1,IC50 (nM),SD,IC50 (nM),SD\na,Me,10,1,100,7\nb,H,20,2,200,9\n",
    ),
    Case("a sum below the table", "ID;R1;pIC50;Bemerkung\na;Me;5,5;\nb;H;6,25;\nGesamt;;2;\n"),
    Case("a remark below the table", "ID,R1,pIC50\n" + ROWS + "\n* values are means of three runs,,\n"),
    Case("a mean below the table", "ID,R1,pIC50\n" + ROWS + "Mean,,5.875\n"),
    Case(
        "a remark below the table is no compound where blank means hydrogen",
        "ID,R1,pIC50\n" + ROWS + "\nMeasured at: Basel,,\nby: somebody else,,\n",
        options={"blank": "h"},
    ),
    Case("the last compound has only its id, and is one", "ID,R1,pIC50\n" + ROWS + "cpd-9,,\n", options={"blank": "h"}),
    Case("the header again in the middle, as in tables put together", "ID,R1,pIC50\na,Me,5.5\nID,R1,pIC50\nb,H,6.25\n"),
    Case("a row that is too short and one that is too long", "ID,R1,pIC50,note\na,Me,5.5\nb,H,6.25,x,y\n"),
    Case("relations in the cell", "ID,R1,pIC50\na,Me,<4.5\nb,H,> 8\n"),
    Case("relations in a column, flipped on the logarithm", "ID,R1,Relation,IC50 (nM)\na,Me,>,10000\nb,H,=,20\n"),
    Case("a relation nobody knows", "ID,R1,Relation,IC50 (nM)\na,Me,?,10000\nb,H,=,20\nc,Et,,7\n"),
    Case("units that change from row to row", "ID,R1,IC50,Unit\na,Me,1,uM\nb,H,20,nM\nc,Et,30,nM\n"),
    Case("a unit in the cell", "ID,R1,IC50 (nM)\na,Me,1 µM\nb,H,20\n"),
    Case("a unit that is none of this quantity", "ID,R1,IC50 (nM)\na,Me,1 mg/mL\nb,H,20\nc,Et,30\n"),
    Case(
        "an activity of ChEMBL",
        "Molecule ChEMBL ID,R1,standard_value,standard_units,standard_relation,standard_type\n"
        "CHEMBL1,Me,10,nM,'=',IC50\nCHEMBL2,H,10000,nM,'>',IC50\n",
    ),
    Case("several values in a cell", "ID,R1,IC50 (uM)\na,Me,0.036; 0.012\nb,H,2\nc,Et,3\n"),
    Case(
        "ranges, tildes and words",
        "ID,R1,IC50 (uM)\na,Me,25-80% at 80 uM\nb,H,~5\nc,Et,inactive\nd,Pr,1-3\ne,Bu,7\nf,F,8\n",
    ),
    Case(
        "words for what is not there yet",
        "ID,R1,pIC50\na,Me,5.5\nb,H,6.25\nc,Et,n.d.\nd,Pr,PENDING\ne,Bu,-\nf,F,N/A\ng,Cl,not tested\nh,Br,#N/A\n",
    ),
    Case("mean, SD and N of a contract lab", "Compound,R1,Mean IC50 (nM),SD (nM),N\na,Me,10,1,3\nb,H,20,2,4\n"),
    Case("mean and SD named alike", "Compound,R1,IC50 Mean (nM),IC50 SD (nM),IC50 # runs\na,Me,10,1,3\nb,H,20,2,4\n"),
    Case("a standard error is no SD and no endpoint", "Compound,R1,IC50 (nM),IC50 SEM (nM)\na,Me,10,1\nb,H,20,2\n"),
    Case("N that is no count", "ID,R1,pIC50,N\na,Me,5.5,2\nb,H,6.25,two\nc,Et,7,1\n"),
    Case(
        "thousands between commas are not guessed", 'ID,R1,IC50 (nM)\na,Me,"1,234"\nb,H,20\nc,Et,"1,234,567"\nd,F,7.5\n'
    ),
    Case("thousands with spaces and apostrophes", "ID;R1;IC50 (nM)\na;Me;10 000\nb;H;1'000,5\n"),
    Case(
        "one row for each measurement",
        "ID,R1,Endpoint,Value\na,Me,pIC50,5.5\na,Me,hERG,4.1\nb,H,pIC50,6.25\nb,H,hERG,4.3\n",
    ),
    Case("replicates on rows of their own", "ID,R1,pIC50\na,Me,5.5\na,Me,5.7\nb,H,6.25\n"),
    Case("an id with two sets of substituents", "ID,R1,pIC50\na,Me,5.5\na,Et,5.7\nb,H,6.25\nc,F,7\n"),
    Case("no ids", "R1,R2,pIC50\nMe,H,5.5\nH,Cl,6.25\n"),
    Case("blank substituents are asked about", "ID,R1,R2,pIC50\na,Me,H,5.5\nb,,Cl,6.25\nc,Et,Cl,7\n"),
    Case("blank substituents are hydrogen", "ID,R1,R2,pIC50\na,Me,H,5.5\nb,,Cl,6.25\n", options={"blank": "h"}),
    Case("hydrogen in three spellings", "ID,R1,pIC50\na,H,5.5\nb,[H][*:1],6.25\nc,Me,7\n"),
    Case(
        "computed properties are no endpoints",
        "ID,R1,pIC50,MW,cLogP,Price\na,Me,5.5,301.2,2.1,10\nb,H,6.25,287.1,1.7,12\n",
    ),
    Case("a concentration in a column of logarithms is asked about", "ID,R1,pIC50\na,Me,5.5\nb,H,6.25\nc,Et,35\n"),
    Case(
        "a value a thousandfold off is asked about",
        "ID,R1,IC50 (nM)\n"
        + "".join(f"c{n},{'Me' if n % 2 else 'H'},{10 + n}\n" for n in range(9))
        + "x,Et,12000000\n",
    ),
    Case("what a spreadsheet would run is text again", "ID,R1,pIC50\n'=a,'-Me,5.5\n'+b,'@H,6.25\n"),
    Case("markup and mathematics in ids", "ID,R1,pIC50\n<img src=//host/x>,Me,5.5\nCPD_$1_$2%,H,6.25\n"),
    Case("a line break in a cell", 'ID,R1,pIC50,note\na,Me,5.5,"two\nlines"\nb,H,6.25,x\n'),
    Case(
        "no header at all",
        "1,Me,5.5,10,3.5\n2,H,6.25,20,1.5\n",
        options={"id": "column 1", "sites": ("column 2",), "endpoint": "column 3"},
    ),
    Case("a text file that is called a workbook", "ID\tR1\tpIC50\n" + ROWS.replace(",", "\t"), file="table.xls"),
    Case(
        "dates, plates and wells beside the values",
        "ID,R1,pIC50,Date,Plate,Well\na,Me,5.5,2024-05-01,P1,A01\nb,H,6.25,2024-05-01,P1,A1\n",
    ),
    Case("a mark that a value is not to be used", "ID,R1,pIC50,Excluded\na,Me,5.5,\nb,H,6.25,yes\n"),
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
]

SDF_ATOM = "\n  x\n\n  1  0  0  0  0  0            999 V2000\n    0.0000    0.0000    0.0000 C   0  0\nM  END\n"


def record(name, *properties):
    """A record of an SD file: methane with its properties."""
    return name + SDF_ATOM + "".join(f">  <{key}>\n{value}\n\n" for key, value in properties) + "$$$$\n"


STRUCTURES = [
    Case(
        "SD file: numbers as text, a property missing",
        record("a", ("R1", "Me"), ("pIC50", "5.5"))
        + record("b", ("R1", "H"), ("pIC50", "6.25"))
        + record("c", ("R1", "Et")),
        file="t.sdf",
    ),
    Case(
        "SD file: a broken structure loses nothing else",
        record("a", ("R1", "Me"), ("pIC50", "5.5"))
        + record("b", ("R1", "H"), ("pIC50", "6.25")).replace("  1  0  0", "  9  9  0"),
        file="t.sdf",
    ),
    Case(
        "SD file: no $$$$ at the end, Windows line ends",
        (record("a", ("R1", "Me"), ("pIC50", "5.5")) + record("b", ("R1", "H"), ("pIC50", "6.25")))
        .removesuffix("$$$$\n")
        .replace("\n", "\r\n"),
        file="t.sdf",
    ),
    Case(
        "SD file: an ID among the properties, titles all alike",
        record("RDKit", ("ID", "a"), ("R1", "Me"), ("pIC50", "5.5"))
        + record("RDKit", ("ID", "b"), ("R1", "H"), ("pIC50", "6.25")),
        file="t.sdf",
    ),
    Case(
        "SD file: a bound, and a value over two lines",
        record("a", ("R1", "Me"), ("pIC50", ">8"))
        + record("b", ("R1", "H"), ("pIC50", "6.25"))
        + record("c", ("R1", "Et"), ("pIC50", "6\n7")),
        file="t.sdf",
    ),
    Case(
        "SMILES file with a header and tabs",
        "SMILES\tName\tR1\tpIC50\nC[C@H](N)O |&1:1|\ta\tMe\t5.5\nCC\tb\tH\t6.25\n",
        file="t.smi",
    ),
]

CASES = [*TEXT, *BOOKS, *STRUCTURES]
