"""Small tables as other programs and papers give them, whose columns were once misread without a word."""

from tests.engine.tables.corpus import Case

EFFECTS = [("a", "=", 12.0, 3, 1.5), ("b", "=", 8.5, 2, 0.5)]

FIELD = [
    Case(
        "signs in a column that no word gives away",
        "Cmpd_ID,R1,BTK_IC50_nM_mod,BTK_IC50_nM,ITK_IC50_nM_mod,ITK_IC50_nM\na,Me,>,3000,=,12\nb,H,,20,<,1\n",
        [
            ("a", "BTK_IC50_nM", ">", 3000.0),
            ("a", "ITK_IC50_nM", 12.0),
            ("b", "BTK_IC50_nM", 20.0),
            ("b", "ITK_IC50_nM", "<", 1.0),
        ],
    ),
    Case(
        "signs before their values, under a header that says nothing",
        "ID,R1,k,Ki (nM),z,Kd (nM)\na,Me,>,3000,,7\nb,H,,20,>,100\n",
        [("a", "Ki (nM)", ">", 3000.0), ("a", "Kd (nM)", 7.0), ("b", "Ki (nM)", 20.0), ("b", "Kd (nM)", ">", 100.0)],
    ),
    Case(
        "signs behind the only values",
        "ID,R1,IC50 (nM),x\na,Me,3000,>\nb,H,20,\n",
        [("a", ">", 3000.0), ("b", 20.0)],
    ),
    Case(
        "signs of nobody knows which values",
        "ID,R1,x,batch no,IC50 (nM),Ki (nM)\na,Me,>,b1,3000,5\nb,H,,b2,20,6\n",
        [("a", "IC50 (nM)", 3000.0), ("a", "Ki (nM)", 5.0), ("b", "IC50 (nM)", 20.0), ("b", "Ki (nM)", 6.0)],
        said=("it is not clear to which endpoint they belong: x",),
    ),
    Case(
        "sites with primes and letters",
        "No.,R1,R2a,R2b,R3'\n1,Me,F,H,OMe\n2,H,H,F,OEt\n3,Et,H,H,OMe\n",
        [],
        sites=("R1", "R2a", "R2b", "R3'"),
        said=("No endpoint was found",),
    ),
    Case(
        "a site that is called like none is named beside the sites",
        "ID,R1,R2,X,pIC50,Chemist,Empty\na,Me,F,O,5,KL,\nb,H,F,S,6,KL,\nc,Me,H,O,7,KL,\nd,H,H,S,8,KL,\n",
        [("a", 5.0), ("b", 6.0), ("c", 7.0), ("d", 8.0)],
        sites=("R1", "R2"),
        said=("Not used: columns X, Chemist. If X is a site, too, name all of them with --sites.",),
    ),
    Case(
        "German words beside a value",
        "Verbindung;R1;IC50 [nM];Standardabweichung;Anzahl;Löslichkeit [µM];Bemerkung\n"
        "a;Me;12,0;1,5;3;40;x\nb;H;8,5;0,5;2;n.b.;\n",
        [
            ("a", "IC50 [nM]", "=", 12.0, 3, 1.5),
            ("a", "Löslichkeit [µM]", 40.0),
            ("b", "IC50 [nM]", "=", 8.5, 2, 0.5),
        ],
    ),
    Case("French words beside a value", "Composé;R1;CI50 (nM);Écart-type;n\na;Me;12,0;1,5;3\nb;H;8,5;0,5;2\n", EFFECTS),
    Case(
        "LiveDesign: what the value is stands in brackets behind the unit",
        "ID,R1,BTK (IC50) IC50 uM [Geometric Mean],BTK (IC50) IC50 uM [Count]\na,Me,0.012,3\nb,H,0.2,2\n",
        [("a", "=", 0.012, 3), ("b", "=", 0.2, 2)],
        said=("in µM is modelled as",),
    ),
    Case(
        "limits of confidence in parentheses, a cluster, a priority",
        "ID,R1,EGFR: IC50 (uM),EGFR: IC50 CI (Lower) (uM),EGFR: IC50 CI (Upper) (uM),Cluster,priority,Unnamed: 0\n"
        "a,Me,2,1,3,1,0,7\nb,H,20,10,30,2,1,9\n",
        [("a", 2.0), ("b", 20.0)],
        said=("look like details of fits", "Columns Cluster, priority say how rows are handled", "Column Unnamed: 0"),
    ),
    Case(
        "dashes of all lengths are hydrogen where blank is",
        "ID,R1,R2,pIC50\na,–,F,5\nb,—,Cl,6\nc,-,F,7\nd,H,Cl,8\n",
        [("a", 5.0), ("b", 6.0), ("c", 7.0), ("d", 8.0)],
        options={"blank": "h"},
        said=("Empty substituent cells count as hydrogen (R1: 3).",),
    ),
    Case(
        "KNIME writes a question mark where there is no substituent",
        "row ID,R1,R2,pIC50\nRow0,C[*:1],?,5\nRow1,[H][*:1],F[*:2],6\nRow2,CC[*:1],Cl[*:2],7\n",
        [("Row1", 6.0), ("Row2", 7.0)],
        not_used=[(2, "R2", "the substituent is missing")],
    ),
    Case(
        "codes for no value, and a check of quality that failed",
        "ID,R1,yield,QC\na,Me,-999,pass\nb,H,20,pass\nc,Et,7,failed\n",
        [("b", 20.0), ("c", 7.0)],
        not_used=[(2, "yield", "looks like a code for no value")],
        said=("Column QC says which values failed; these are shown and not used.",),
    ),
]
