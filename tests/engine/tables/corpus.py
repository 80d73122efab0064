"""Small messy tables as labs have them, each with one trouble and the reading that is right."""

import datetime
from dataclasses import dataclass, field
from typing import Any

from tests.engine.tables.workbooks import Error, Formula, write_xlsx


@dataclass
class Case:
    """One table and what must be understood of it."""

    name: str
    data: Any
    """Text or bytes of a csv, or the rows of a workbook's sheet, or its sheets by name."""
    values: list[tuple]
    """(id, value) or (id, relation, value), in the order of the rows; of one endpoint unless it says which."""
    not_used: list[tuple] = field(default_factory=list)
    """(row, column, part of the reason)."""
    said: tuple[str, ...] = ()
    """Parts of what is told."""
    file: str = "table.csv"
    options: dict[str, Any] = field(default_factory=dict)
    book: dict[str, Any] = field(default_factory=dict)
    """Further arguments for a workbook."""
    sites: tuple[str, ...] | None = None
    """The sites that must be found; None: not looked at."""

    def write(self, folder):
        """The path of the table in a folder."""
        if isinstance(self.data, str | bytes):
            path = folder / self.file
            path.write_bytes(self.data if isinstance(self.data, bytes) else self.data.encode())
            return path
        sheets = self.data if isinstance(self.data, dict) else {"Sheet1": self.data}
        return write_xlsx(folder / "table.xlsx", sheets, **self.book)


HEAD = ["ID", "R1", "pIC50"]
TWO = [("a", 5.5), ("b", 6.25)]
A, B = ["a", "Me", 5.5], ["b", "H", 6.25]
ROWS = "a,Me,5.5\nb,H,6.25\n"

TEXT = [
    Case("plain", "ID,R1,pIC50\n" + ROWS, TWO),
    Case("a mark of UTF-8 in front", b"\xef\xbb\xbf" + ("ID,R1,pIC50\n" + ROWS).encode(), TWO),
    Case("UTF-16 little-endian", ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16"), TWO),
    Case(
        "UTF-16 big-endian",
        b"\xfe\xff" + ("ID\tR1\tpIC50\n" + ROWS.replace(",", "\t")).encode("utf-16-be"),
        TWO,
    ),
    Case(
        "Windows-1252",
        "ID,R1,IC50 (µM)\na,Me,1\nb,H,10\n".encode("cp1252"),
        [("a", 1.0), ("b", 10.0)],
        said=("read as Windows-1252", "pIC50 = -log10(mol/L)"),
    ),
    Case(
        "Latin-1 with a byte that Windows does not know",
        b"ID,R1,pIC50,site\na,Me,5.5,\x81\nb,H,6.25,x\n",
        TWO,
        said=("read as Latin-1",),
    ),
    Case("semicolons and decimal commas", "ID;R1;pIC50\na;Me;5,5\nb;H;6,25\n", TWO),
    Case("tabs and decimal commas", "ID\tR1\tpIC50\na\tMe\t5,5\nb\tH\t6,25\n", TWO),
    Case("quoted decimal commas between commas", 'ID,R1,pIC50\na,Me,"5,5"\nb,H,"6,25"\n', TWO),
    Case("Windows line ends and a blank line at the end", "ID,R1,pIC50\r\n" + ROWS.replace("\n", "\r\n") + "\r\n", TWO),
    Case("old Macintosh line ends", ("ID,R1,pIC50\n" + ROWS).replace("\n", "\r"), TWO),
    Case("blank lines between the rows", "ID,R1,pIC50\n\na,Me,5.5\n\n\nb,H,6.25\n", TWO),
    Case("headers in capitals with spaces around", " COMPOUND ID , r1 , PIC50 \n" + ROWS, TWO),
    Case("header with a line break", 'ID,R1,"IC50\n(nM)"\na,Me,10\nb,H,20\n', [("a", 10.0), ("b", 20.0)]),
    Case("a delimiter at the end of every line", "ID,R1,pIC50,\na,Me,5.5,\nb,H,6.25,\n", TWO),
    Case("an empty column in the middle", "ID,,R1,pIC50\na,,Me,5.5\nb,,H,6.25\n", TWO),
    Case(
        "a column without a header",
        "ID,R1,pIC50,\na,Me,5.5,ok\nb,H,6.25,ok\n",
        TWO,
        said=("Column 4 has no header; it is called 'column 4' here.",),
    ),
    Case(
        "the same header twice",
        "ID,R1,pIC50,pIC50\na,Me,5.5,5.7\nb,H,6.25,6.3\n",
        [("a", "pIC50", 5.5), ("a", "pIC50 (2)", 5.7), ("b", "pIC50", 6.25), ("b", "pIC50 (2)", 6.3)],
        said=("Column 4 repeats the header 'pIC50'; it is called 'pIC50 (2)' here.",),
    ),
    Case(
        "a title above the header",
        "Kinase series, May 2024\n\nID,R1,pIC50\n" + ROWS,
        TWO,
        said=("Row 1 stands above the header and was left out: Kinase series, May 2024.",),
    ),
    Case(
        "a block of names and values above the header",
        "Project,AP-7,,\nDate,2024-05-01,,\n\nID,R1,pIC50,comment\na,Me,5.5,x\nb,H,6.25,y\n",
        TWO,
        said=("Rows 1, 2 stand above the header",),
    ),
    Case(
        "a header that is narrower than its rows is a header",
        "ID,R1,pIC50\na,Me,5.5,x\nb,H,6.25,y\n",
        TWO,
        said=("Rows 2, 3 have more cells than the header",),
    ),
    Case(
        "a row of units",
        "ID,R1,IC50\n,,nM\na,Me,10\nb,H,20\n",
        [("a", 10.0), ("b", 20.0)],
        said=("Row 2 holds units", "IC50 (nM) in nM is modelled as pIC50"),
    ),
    Case(
        "a row of units in brackets and dashes",
        "ID,R1,IC50,yield\n-,-,[µM],(%)\na,Me,10,50\nb,H,20,60\n",
        [("a", "IC50 (µM)", 10.0), ("a", "yield (%)", 50.0), ("b", "IC50 (µM)", 20.0), ("b", "yield (%)", 60.0)],
    ),
    Case(
        "two rows of headers, the second with mean, SD and N",
        "ID,R1,IC50 (nM),,\n,,mean,SD,N\na,Me,10,1,3\nb,H,20,2,4\n",
        [("a", "=", 10.0, 3, 1.0), ("b", "=", 20.0, 4, 2.0)],
        said=("Rows 1 and 2 were read together as the header.",),
    ),
    Case(
        "a group of columns named above the header",
        ",,IC50 (nM),,\nID,R1,mean,SD,N\na,Me,10,1,3\nb,H,20,2,4\n",
        [("a", "=", 10.0, 3, 1.0), ("b", "=", 20.0, 4, 2.0)],
        said=("Rows 1 and 2 were read together as the header.",),
    ),
    Case(
        "two targets above the same headers",
        ",,EGFR,,BRAF,\nID,R1,IC50 (nM),SD,IC50 (nM),SD\na,Me,10,1,100,7\nb,H,20,2,200,9\n",
        [
            ("a", "EGFR IC50 (nM)", 10.0, 1, 1.0),
            ("a", "BRAF IC50 (nM)", 100.0, 1, 7.0),
            ("b", "EGFR IC50 (nM)", 20.0, 1, 2.0),
            ("b", "BRAF IC50 (nM)", 200.0, 1, 9.0),
        ],
    ),
    Case(
        "a sum below the table",
        "ID;R1;pIC50;Bemerkung\na;Me;5,5;\nb;H;6,25;\nGesamt;;2;\n",
        TWO,
        said=("Row 4 stands below the table and was left out: Gesamt 2.",),
    ),
    Case(
        "a remark below the table",
        "ID,R1,pIC50\n" + ROWS + "\n* values are means of three runs,,\n",
        TWO,
        said=("Row 5 stands below the table and was left out: * values are means of three runs.",),
    ),
    Case(
        "a mean below the table",
        "ID,R1,pIC50\n" + ROWS + "Mean,,5.875\n",
        TWO,
        said=("Row 4 stands below the table and was left out: Mean 5.875.",),
    ),
    Case(
        "a remark below the table is no compound where blank means hydrogen",
        "ID,R1,pIC50\n" + ROWS + "\nMeasured at: Basel,,\nby: somebody else,,\n",
        TWO,
        said=("Rows 5, 6 stand below the table",),
        options={"blank": "h"},
    ),
    Case(
        "the last compound has only its id, and is one",
        "ID,R1,pIC50\n" + ROWS + "cpd-9,,\n",
        TWO,
        options={"blank": "h"},
        said=("Empty substituent cells count as hydrogen (R1: 1).",),
    ),
    Case(
        "the header again in the middle, as in tables put together",
        "ID,R1,pIC50\na,Me,5.5\nID,R1,pIC50\nb,H,6.25\n",
        TWO,
        said=("Row 3 repeats the header",),
    ),
    Case(
        "a row that is too short and one that is too long",
        "ID,R1,pIC50,note\na,Me,5.5\nb,H,6.25,x,y\n",
        TWO,
        said=("Row 2 has fewer cells than the header", "Row 3 has more cells than the header"),
    ),
    Case("relations in the cell", "ID,R1,pIC50\na,Me,<4.5\nb,H,> 8\n", [("a", "<", 4.5), ("b", ">", 8.0)]),
    Case(
        "relations in a column, flipped on the logarithm",
        "ID,R1,Relation,IC50 (nM)\na,Me,>,10000\nb,H,=,20\n",
        [("a", ">", 10000.0), ("b", 20.0)],
    ),
    Case(
        "a relation nobody knows",
        "ID,R1,Relation,IC50 (nM)\na,Me,?,10000\nb,H,=,20\nc,Et,,7\n",
        [("b", 20.0), ("c", 7.0)],
        not_used=[(2, "Relation", "'?' is no relation")],
    ),
    Case(
        "units that change from row to row",
        "ID,R1,IC50,Unit\na,Me,1,uM\nb,H,20,nM\nc,Et,30,nM\n",
        [("a", 1.0, "uM"), ("b", 20.0), ("c", 30.0)],
    ),
    Case(
        "a unit in the cell",
        "ID,R1,IC50 (nM)\na,Me,1 µM\nb,H,20\n",
        [("a", 1.0, "µM"), ("b", 20.0)],
    ),
    Case(
        "a unit that is none of this quantity",
        "ID,R1,IC50 (nM)\na,Me,1 mg/mL\nb,H,20\nc,Et,30\n",
        [("b", 20.0), ("c", 30.0)],
        not_used=[(2, "IC50 (nM)", "unit mg/mL cannot be converted to nM")],
    ),
    Case(
        "an activity of ChEMBL",
        "Molecule ChEMBL ID,R1,standard_value,standard_units,standard_relation,standard_type\n"
        "CHEMBL1,Me,10,nM,'=',IC50\nCHEMBL2,H,10000,nM,'>',IC50\n",
        [("CHEMBL1", 10.0), ("CHEMBL2", ">", 10000.0)],
    ),
    Case(
        "several values in a cell",
        "ID,R1,IC50 (uM)\na,Me,0.036; 0.012\nb,H,2\nc,Et,3\n",
        [("b", 2.0), ("c", 3.0)],
        not_used=[(2, "IC50 (uM)", "holds several values; give each a row of its own")],
    ),
    Case(
        "ranges, tildes and words",
        "ID,R1,IC50 (uM)\na,Me,25-80% at 80 uM\nb,H,~5\nc,Et,inactive\nd,Pr,1-3\ne,Bu,7\nf,F,8\n",
        [("e", 7.0), ("f", 8.0)],
        not_used=[
            (2, "IC50 (uM)", "is a range"),
            (3, "IC50 (uM)", "only about a value"),
            (4, "IC50 (uM)", "'inactive' is not a number"),
            (5, "IC50 (uM)", "is a range"),
        ],
    ),
    Case(
        "words for what is not there yet",
        "ID,R1,pIC50\na,Me,5.5\nb,H,6.25\nc,Et,n.d.\nd,Pr,PENDING\ne,Bu,-\nf,F,N/A\ng,Cl,not tested\nh,Br,#N/A\n",
        TWO,
    ),
    Case(
        "mean, SD and N of a contract lab",
        "Compound,R1,Mean IC50 (nM),SD (nM),N\na,Me,10,1,3\nb,H,20,2,4\n",
        [("a", "=", 10.0, 3, 1.0), ("b", "=", 20.0, 4, 2.0)],
    ),
    Case(
        "mean and SD named alike",
        "Compound,R1,IC50 Mean (nM),IC50 SD (nM),IC50 # runs\na,Me,10,1,3\nb,H,20,2,4\n",
        [("a", "=", 10.0, 3, 1.0), ("b", "=", 20.0, 4, 2.0)],
    ),
    Case(
        "a standard error is no SD and no endpoint",
        "Compound,R1,IC50 (nM),IC50 SEM (nM)\na,Me,10,1\nb,H,20,2\n",
        [("a", 10.0), ("b", 20.0)],
        said=("a standard error is no SD: IC50 SEM (nM)",),
    ),
    Case(
        "N that is no count",
        "ID,R1,pIC50,N\na,Me,5.5,2\nb,H,6.25,two\nc,Et,7,1\n",
        [("a", "=", 5.5, 2), ("c", 7.0)],
        not_used=[(3, "N", "n: 'two' is not a number")],
    ),
    Case(
        "thousands between commas are not guessed",
        'ID,R1,IC50 (nM)\na,Me,"1,234"\nb,H,20\nc,Et,"1,234,567"\nd,F,7.5\n',
        [("b", 20.0), ("c", 1234567.0), ("d", 7.5)],
        not_used=[(2, "IC50 (nM)", "can be read in two ways")],
    ),
    Case(
        "thousands with spaces and apostrophes",
        "ID;R1;IC50 (nM)\na;Me;10 000\nb;H;1'000,5\n",
        [("a", 10000.0), ("b", 1000.5)],
    ),
    Case(
        "one row for each measurement",
        "ID,R1,Endpoint,Value\na,Me,pIC50,5.5\na,Me,hERG,4.1\nb,H,pIC50,6.25\nb,H,hERG,4.3\n",
        [("a", "pIC50", 5.5), ("a", "hERG", 4.1), ("b", "pIC50", 6.25), ("b", "hERG", 4.3)],
    ),
    Case(
        "replicates on rows of their own",
        "ID,R1,pIC50\na,Me,5.5\na,Me,5.7\nb,H,6.25\n",
        [("a", 5.5), ("a", 5.7), ("b", 6.25)],
    ),
    Case(
        "an id with two sets of substituents",
        "ID,R1,pIC50\na,Me,5.5\na,Et,5.7\nb,H,6.25\nc,F,7\n",
        [("b", 6.25), ("c", 7.0)],
        not_used=[(2, "ID", "has other substituents in row 3"), (3, "ID", "has other substituents in row 2")],
    ),
    Case(
        "no ids",
        "R1,R2,pIC50\nMe,H,5.5\nH,Cl,6.25\n",
        [("R1=Me|R2=H", 5.5), ("R1=H|R2=Cl", 6.25)],
        said=("There is no column with ids; they are made from the substituents.",),
    ),
    Case(
        "blank substituents are asked about",
        "ID,R1,R2,pIC50\na,Me,H,5.5\nb,,Cl,6.25\nc,Et,Cl,7\n",
        [("a", 5.5), ("c", 7.0)],
        not_used=[(3, "R1", "the substituent is missing")],
        said=("If an empty cell means hydrogen: --blank h.",),
    ),
    Case(
        "blank substituents are hydrogen",
        "ID,R1,R2,pIC50\na,Me,H,5.5\nb,,Cl,6.25\n",
        TWO,
        options={"blank": "h"},
    ),
    Case("hydrogen in three spellings", "ID,R1,pIC50\na,H,5.5\nb,[H][*:1],6.25\nc,Me,7\n", [*TWO, ("c", 7.0)]),
    Case(
        "computed properties are no endpoints",
        "ID,R1,pIC50,MW,cLogP,Price\na,Me,5.5,301.2,2.1,10\nb,H,6.25,287.1,1.7,12\n",
        TWO,
        said=("Columns MW, cLogP look like computed properties",),
    ),
    Case(
        "a concentration in a column of logarithms is asked about",
        "ID,R1,pIC50\na,Me,5.5\nb,H,6.25\nc,Et,35\n",
        [*TWO, ("c", 35.0)],
        said=('Row 4: 35 is unusual for pIC50: "35 nM"?',),
    ),
    Case(
        "a value a thousandfold off is asked about",
        "ID,R1,IC50 (nM)\n"
        + "".join(f"c{n},{'Me' if n % 2 else 'H'},{10 + n}\n" for n in range(9))
        + "x,Et,12000000\n",
        [*((f"c{n}", 10.0 + n) for n in range(9)), ("x", 12000000.0)],
        said=("Row 11: 1.2e+07 nM is far from the other values of IC50 (nM)",),
    ),
    Case(
        "what a spreadsheet would run is text again",
        "ID,R1,pIC50\n'=a,'-Me,5.5\n'+b,'@H,6.25\n",
        [("=a", 5.5), ("+b", 6.25)],
    ),
    Case(
        "markup and mathematics in ids",
        "ID,R1,pIC50\n<img src=//host/x>,Me,5.5\nCPD_$1_$2%,H,6.25\n",
        [("<img src=//host/x>", 5.5), ("CPD_$1_$2%", 6.25)],
    ),
    Case("a line break in a cell", 'ID,R1,pIC50,note\na,Me,5.5,"two\nlines"\nb,H,6.25,x\n', TWO),
    Case(
        "no header at all",
        "1,Me,5.5,10,3.5\n2,H,6.25,20,1.5\n",
        [("1", 5.5), ("2", 6.25)],
        said=("Row 1 holds numbers, so the table has no header",),
        options={"id": "column 1", "sites": ("column 2",), "endpoint": "column 3"},
    ),
    Case("a text file that is called a workbook", "ID\tR1\tpIC50\n" + ROWS.replace(",", "\t"), TWO, file="table.xls"),
    Case(
        "dates, plates and wells beside the values",
        "ID,R1,pIC50,Date,Plate,Well\na,Me,5.5,2024-05-01,P1,A01\nb,H,6.25,2024-05-01,P1,A1\n",
        TWO,
    ),
    Case("a mark that a value is not to be used", "ID,R1,pIC50,Excluded\na,Me,5.5,\nb,H,6.25,yes\n", TWO),
]

BOOKS = [
    Case("workbook", [HEAD, A, B], TWO),
    Case(
        "workbook: merged title rows",
        [["Report 12", None, None], [], HEAD, A, B],
        TWO,
        said=("Row 1 stands above the header",),
        book={"merged": ["A1:C1"]},
    ),
    Case(
        "workbook: two rows of headers with merged cells",
        [
            ["ID", "R1", "IC50 (nM)", None, None],
            [None, None, "Mean", "SD", "n"],
            ["a", "Me", 10, 1, 3],
            ["b", "H", 20, 2, 4],
        ],
        [("a", "=", 10.0, 3, 1.0), ("b", "=", 20.0, 4, 2.0)],
        said=("Rows 1 and 2 were read together as the header.",),
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
        [
            ("a", "Kinase A pIC50", 5.5),
            ("a", "hERG pIC50", 4.5),
            ("b", "Kinase A pIC50", 6.25),
            ("b", "hERG pIC50", 4.75),
        ],
        said=("Rows 2 and 3 were read together as the header.",),
        book={"merged": ["A1:E1", "B2:C2"]},
        sites=("R1", "R2"),
    ),
    Case(
        "workbook: groups above every column, and names that nobody knows among those below",
        [
            ["Compound", None, "Substituents", None, "Kinase A", None, "hERG", "Batch", None],
            ["Compound ID", "Salt", "R1", "R2", "IC50 (nM)", "n", "hERG IC50 (nM)", "Assay date", "Chemist"],
            ["a", "HCl", "Me", "F", "12,5", 2, ">30000", "02.03.2026", "KL"],
            ["b", None, "H", "Cl", ">10000", None, "812,0", None, "AB"],
        ],
        [
            ("a", "Kinase A IC50 (nM)", "=", 12.5, 2),
            ("a", "hERG IC50 (nM)", ">", 30000.0, 1),
            ("b", "Kinase A IC50 (nM)", ">", 10000.0, 1),
            ("b", "hERG IC50 (nM)", "=", 812.0, 1),
        ],
        said=("Rows 1 and 2 were read together as the header.",),
        book={"merged": ["A1:B1", "C1:D1", "E1:F1"]},
        sites=("R1", "R2"),
    ),
    Case(
        "workbook: units below the header",
        [["ID", "R1", "IC50"], [None, None, "µM"], ["a", "Me", 1.5], ["b", "H", 3]],
        [("a", 1.5), ("b", 3.0)],
        said=("Row 2 holds units",),
    ),
    Case(
        "workbook: the table begins at C4", [[], [], [], [None, None, *HEAD], [None, None, *A], [None, None, *B]], TWO
    ),
    Case(
        "workbook: a footer", [HEAD, A, B, [], ["n = 3, see the report"]], TWO, said=("Row 5 stands below the table",)
    ),
    Case("workbook: numbers as text", [HEAD, ["a", "Me", "5.5"], ["b", "H", " 6.25 "]], TWO),
    Case("workbook: numbers as text with a decimal comma", [HEAD, ["a", "Me", "5,5"], ["b", "H", 6.25]], TWO),
    Case(
        "workbook: a number with three decimals is one",
        [HEAD, ["a", "Me", 5.125], ["b", "H", "6,25"]],
        [("a", 5.125), ("b", 6.25)],
    ),
    Case(
        "workbook: ids that are numbers",
        [HEAD, [1520012, "Me", 5.5], [1520013, "H", 6.25]],
        [("1520012", 5.5), ("1520013", 6.25)],
    ),
    Case(
        "workbook: formulas and the values they had",
        [HEAD, ["a", "Me", Formula("9-LOG10(C9)", 5.5)], [Formula('"b"&""', "b"), "H", 6.25]],
        TWO,
    ),
    Case("workbook: #N/A is missing", [HEAD, A, B, ["c", "Et", Error("#N/A")]], TWO),
    Case(
        "workbook: a formula that failed",
        [HEAD, A, B, ["c", "Et", Error("#DIV/0!")]],
        TWO,
        not_used=[(4, "pIC50", "the formula in this cell failed (#DIV/0!)")],
    ),
    Case(
        "workbook: a number that became a date",
        [HEAD, A, B, ["c", "Et", datetime.date(2024, 5, 1)]],
        TWO,
        not_used=[(4, "pIC50", "'2024-05-01' is a date")],
        said=("Row 4: a date stands in column pIC50",),
    ),
    Case(
        "workbook: a column of dates",
        [[*HEAD, "Date"], [*A, datetime.date(2024, 5, 1)], [*B, datetime.date(2024, 5, 2)]],
        TWO,
    ),
    Case(
        "workbook: an id merged over its replicates",
        [HEAD, ["a", "Me", 5.5], [None, "Me", 5.7], B],
        [("a", 5.5), ("a", 5.7), ("b", 6.25)],
        said=("Row 3: a cell that is merged repeats its value.",),
        book={"merged": ["A2:A3"]},
    ),
    Case(
        "workbook: a cover sheet first",
        {"Cover": [["About this report"], ["Confidential"]], "Data": [HEAD, A, B]},
        TWO,
        said=("The sheet Data was read; there is also Cover.",),
    ),
    Case(
        "workbook: the second sheet by its name",
        {"Data": [HEAD, ["x", "Me", 1], ["y", "H", 2]], "New data": [HEAD, A, B]},
        TWO,
        options={"sheet": "new_data"},
    ),
    Case(
        "workbook: hidden sheets are said and not read",
        {"Old": [HEAD, ["x", "Me", 1], ["y", "H", 2]], "Data": [HEAD, A, B]},
        TWO,
        said=("The sheet Data was read; there is hidden Old.",),
        book={"hidden": ["Old"]},
    ),
    Case(
        "workbook: a hidden sheet by its name",
        {"Old": [HEAD, A, B], "Data": [HEAD, ["x", "Me", 1], ["y", "H", 2]]},
        TWO,
        said=("The sheet Old is hidden in the workbook.",),
        options={"sheet": "Old"},
        book={"hidden": ["Old"]},
    ),
    Case("workbook: yes and no as truth values", [[*HEAD, "Excluded"], [*A, False], [*B, True]], TWO),
    Case(
        "workbook: empty rows and columns", [[None, *HEAD], [], [None, *A], [None, None, None, None], [None, *B]], TWO
    ),
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
        TWO,
        said=("Properties that some records lack, which count as empty there: pIC50 (1).",),
        file="t.sdf",
    ),
    Case(
        "SD file: a broken structure loses nothing else",
        record("a", ("R1", "Me"), ("pIC50", "5.5"))
        + record("b", ("R1", "H"), ("pIC50", "6.25")).replace("  1  0  0", "  9  9  0"),
        TWO,
        not_used=[(2, "SMILES", "the structure is damaged")],
        file="t.sdf",
    ),
    Case(
        "SD file: no $$$$ at the end, Windows line ends",
        (record("a", ("R1", "Me"), ("pIC50", "5.5")) + record("b", ("R1", "H"), ("pIC50", "6.25")))
        .removesuffix("$$$$\n")
        .replace("\n", "\r\n"),
        TWO,
        file="t.sdf",
    ),
    Case(
        "SD file: an ID among the properties, titles all alike",
        record("RDKit", ("ID", "a"), ("R1", "Me"), ("pIC50", "5.5"))
        + record("RDKit", ("ID", "b"), ("R1", "H"), ("pIC50", "6.25")),
        TWO,
        file="t.sdf",
    ),
    Case(
        "SD file: a bound, and a value over two lines",
        record("a", ("R1", "Me"), ("pIC50", ">8"))
        + record("b", ("R1", "H"), ("pIC50", "6.25"))
        + record("c", ("R1", "Et"), ("pIC50", "6\n7")),
        [("a", ">", 8.0), ("b", 6.25)],
        not_used=[(3, "pIC50", "holds several values")],
        file="t.sdf",
    ),
    Case(
        "SMILES file with a header and tabs",
        "SMILES\tName\tR1\tpIC50\nC[C@H](N)O |&1:1|\ta\tMe\t5.5\nCC\tb\tH\t6.25\n",
        TWO,
        file="t.smi",
    ),
]

CASES = [*TEXT, *BOOKS, *STRUCTURES]
