"""Small tables as contract labs, notebooks and public databases export them, each with the reading that is right."""

from tests.engine.tables.corpus import Case
from tests.engine.tables.workbooks import Styled

ABC = [("a", 1.2), ("b", 2.0), ("c", 0.2)]

PUBCHEM = """PUBCHEM_RESULT_TAG,PUBCHEM_SID,PUBCHEM_CID,PUBCHEM_ACTIVITY_OUTCOME,PUBCHEM_ACTIVITY_SCORE,\
Qualifier,IC50,R1
RESULT_TYPE,,,,,STRING,FLOAT,STRING
RESULT_DESCR,,,,,Relation of the value,"Concentration, 50 %",Substituent
RESULT_UNIT,,,,,,MICROMOLAR,
1,103164874,44543605,Active,86,=,0.12,Me
2,103164875,44543606,Inactive,0,>,30,H
"""

CHEMBL = """"Molecule ChEMBL ID";"Molecule Name";"Smiles";"Standard Type";"Standard Relation";"Standard Value";\
"Standard Units";"pChEMBL Value";"Comment";"R1"
"CHEMBL1";"";"CCO";"IC50";"'='";"12.0";"nM";"7.92";"None";"Me"
"CHEMBL2";"";"CCN";"IC50";"'>'";"10000.0";"nM";"";"None";"H"
"""

CDD = """Molecule Name,SMILES,R1,"EGFR: IC50
(uM)",EGFR: IC50 (uM) Count,EGFR: IC50 (uM) Standard Deviation,Batch: Batch Name
CDD-1,CCO,Me,0.012,3,0.002,B1
CDD-2,CCN,H,>30,2,,B1
"""

DATAWARRIOR = """<datawarrior-fileinfo>
<version="3.3">
<rowcount="2">
</datawarrior-fileinfo>
<datawarrior explanation>
one\ttwo
</datawarrior explanation>
<column properties>
<columnName="Structure">
<columnProperty="specialType\tidcode">
<columnName="coords">
<columnProperty="specialType\tidcoordinates2D">
<columnProperty="parent\tStructure">
</column properties>
Structure\tcoords\tID\tR1\tpIC50\tNote
eF@Hp@\t!B@\ta\tMe\t5.5\ttwo<NL>lines
eF@HpA\t!B@\tb\tH\t6.25\t
<datawarrior properties>
<axisColumn_2D View_0="<unassigned>">
</datawarrior properties>
"""

LABS = [
    Case("a bioassay of PubChem", PUBCHEM),
    Case("ChEMBL's web page: semicolons, quotation marks everywhere", CHEMBL),
    Case("CDD Vault: a header over two lines, count and standard deviation by name", CDD),
    Case(
        "Dotmatics: unit, then what the value is, in parentheses",
        "FORMATTED_ID;R1;BTK IC50 (nM) (Geo Mean);BTK IC50 (nM) (n);BTK IC50 (nM) (SD)\n"
        "DOT-1;Me;12,5;3;1,2\nDOT-2;H;85,5;2;4\n",
    ),
    Case("DataWarrior's own file, structures in its code", DATAWARRIOR, file="table.dwar"),
    Case(
        "KNIME: row ids and question marks", '"row ID","R1","pIC50"\n"Row0","Me",5.5\n"Row1","H",6.25\n"Row2","Et",?\n'
    ),
    Case("micro as a sign of its own", "ID,R1,IC50 [\u00b5M]\na,Me,1.2\nb,H,2\nc,Et,0.2\n"),
    Case("micro as the Greek letter", "ID,R1,IC50 [\u03bcM]\na,Me,1.2\nb,H,2\nc,Et,0.2\n"),
    Case("micro as u", "ID,R1,IC50 uM\na,Me,1.2\nb,H,2\nc,Et,0.2\n"),
    Case(
        "a logarithm with its unit, and a concentration among its values",
        "ID,R1,pIC50 (-log M)\na,Me,5.92\nb,H,5.7\nc,Et,200 nM\n",
    ),
    Case("exponents with decimal commas", "ID;R1;IC50 (M)\na;Me;1,20E-06\nb;H;3,5E-07\nc;Et;<1,0E-08\n"),
    Case(
        "thousands separators with decimals are clear", 'ID,R1,IC50 (nM)\na,Me,"12,345.6"\nb,H,"1,200.0"\nc,Et,35.0\n'
    ),
    Case("a spread behind the value", "ID,R1,IC50 (nM)\na,Me,35 ± 4\nb,H,120 +/- 9 nM\nc,Et,8\n"),
    Case(
        "n and SD behind the value, by name", 'ID,R1,pIC50\na,Me,7.2 (n=3)\nb,H,6.4 n = 2\nc,Et,"5.9 (n=4, SD=0.2)"\n'
    ),
    Case("marks of footnotes", "ID,R1,pIC50\na,Me,7.2*\nb,H,6.4 **\nc,Et,>5†\n,,\n* single determination,,\n"),
    Case(
        "per cent at a dose, with its sign in the cells", "ID,R1,% inhibition @ 1 uM\na,Me,45%\nb,H,12 %\nc,Et,97.5\n"
    ),
    Case("a dose in parentheses is no unit", "ID,R1,Inhibition (10 uM)\na,Me,45%\nb,H,12%\nc,Et,97.5%\n"),
    Case(
        "units in the cells alone, one of them left out",
        "ID,R1,IC50\na,Me,35 nM\nb,H,1.2 µM\nc,Et,80 nM\nd,Pr,9 nM\ne,Bu,12\n",
    ),
    Case(
        "workbook: numbers shown as per cent",
        [
            ["ID", "R1", "inhibition", "yield"],
            ["a", "Me", Styled(0.25, 2), Styled(0.07, 4)],
            ["b", "H", Styled(0.07, 3), 12.5],
        ],
    ),
    Case(
        "a confidence interval behind the value, and one that does not surround it",
        "ID,R1,IC50 (nM)\na,Me,12 (8-18)\nb,H,85 nM [60 to 110]\nc,Et,12 (20-30)\n",
    ),
    Case(
        "small digits, a unit behind a stroke, numbers as names", "Compound #,R¹,IC₅₀ / nM\n1,Me,12\n2,H,20\n3,Et,NT\n"
    ),
    Case("moles per litre", "ID,R1,IC50 (umol/L)\na,Me,1.2\nb,H,2\nc,Et,0.2\n"),
    Case("a unit behind a comma", 'ID,R1,"IC50, µmol/l"\na,Me,1.2\nb,H,2\nc,Et,0.2\n'),
    Case("examples of a patent", "Example No.;R1;Ki/nM\n1;Me;3,5\n2;H;20\n2a;Et;(null)\n"),
]
