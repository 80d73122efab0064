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
    Case(
        "one quantity above several targets, whose names stand below it",
        "Compd,R1,IC50 (nM),,\n,,WT,T790M,SD\n1,Me,5,50,\n2,H,6,60,\n".replace(",SD", ",L858R"),
        [
            ("1", "WT IC50 (nM)", 5.0),
            ("1", "T790M IC50 (nM)", 50.0),
            ("2", "WT IC50 (nM)", 6.0),
            ("2", "T790M IC50 (nM)", 60.0),
        ],
        said=("Rows 1 and 2 were read together as the header.", "WT IC50 (nM) in nM is modelled as pWT IC50"),
    ),
    Case(
        "one quantity above columns that name their targets, a property beside them",
        ",,IC50 (nM),,\nCompd,R1,JAK1,JAK2,cLogP\n1,Me,5,50,2\n2,H,6,60,3\n",
        [
            ("1", "JAK1 IC50 (nM)", 5.0),
            ("1", "JAK2 IC50 (nM)", 50.0),
            ("2", "JAK1 IC50 (nM)", 6.0),
            ("2", "JAK2 IC50 (nM)", 60.0),
        ],
        said=("Rows 1 and 2 were read together as the header.", "Column cLogP looks like"),
    ),
    Case(
        "a title that says nothing of the columns is no group",
        ",,Kinases of May,\nCompd,R1,JAK1,JAK2\n1,Me,5,50\n2,H,6,60\n",
        [("1", "JAK1", 5.0), ("1", "JAK2", 50.0), ("2", "JAK1", 6.0), ("2", "JAK2", 60.0)],
        said=("Row 1 stands above the header",),
    ),
    Case(
        "a first compound without substituents is no row of targets",
        "Compd,R1,IC50 (nM),Ki (nM)\nref,,n.d.,active\n1,Me,5,50\n2,H,6,60\n",
        [("1", "IC50 (nM)", 5.0), ("1", "Ki (nM)", 50.0), ("2", "IC50 (nM)", 6.0), ("2", "Ki (nM)", 60.0)],
        not_used=[(2, "R1", "the substituent is missing")],
    ),
    Case(
        "headings between the rows are no compounds, also where blank means hydrogen",
        "Cmpd,R1,R2,Ki (nM)\nAmides,,,\n1,Me,F,5\n2,H,F,6\nSulfonamides,,,\n3,Me,,7\n4,H,,\n",
        [("1", 5.0), ("2", 6.0), ("3", 7.0)],
        options={"blank": "h"},
        said=("Rows 2, 5 hold nothing but a heading and were left out: Amides, Sulfonamides.",),
    ),
    Case(
        "names without numbers are compounds, not headings",
        "Cmpd,R1,R2,Ki (nM)\nerlotinib,,,\ngefitinib,Me,F,5\nlapatinib,H,F,6\n",
        [("gefitinib", 5.0), ("lapatinib", 6.0)],
        options={"blank": "h"},
        said=("Empty substituent cells count as hydrogen",),
    ),
    Case(
        "signs of the whole width, as in Chinese and Japanese headers",
        "化合物,R1,IC50（nM）\n化合物1,Me,5\n化合物2,H,6\n",
        [("化合物1", 5.0), ("化合物2", 6.0)],
        said=("in nM is modelled as",),
    ),
    Case(
        "ActivityBase: the result's type, operator, value and unit",
        "CORPORATE_ID,R1,RESULT_TYPE,RESULT_OPERATOR,RESULT_VALUE,RESULT_UNIT\n"
        "G1,Me,IC50,>,10,uM\nG1,Me,Inhibition,=,45,%\nG2,H,IC50,=,2,uM\n",
        [("G1", "IC50", ">", 10.0), ("G1", "Inhibition", 45.0), ("G2", "IC50", 2.0)],
    ),
    Case(
        "values of two targets under one name are asked about",
        "Molecule ChEMBL ID,R1,Standard Type,Standard Value,Standard Units,Target ChEMBL ID,Target Name\n"
        "CHEMBL1,Me,IC50,5,nM,CHEMBL203,EGFR\nCHEMBL1,Me,IC50,900,nM,CHEMBL240,hERG\nCHEMBL2,H,IC50,6,nM,CHEMBL203,EGFR\n",
        [("CHEMBL1", 5.0), ("CHEMBL1", 900.0), ("CHEMBL2", 6.0)],
        said=("IC50: its values are of 2 different ones by column Target Name (EGFR, hERG) and count together.",),
    ),
    Case(
        "a pH that never changes is no result",
        "ID,R1,IC50 (nM),pH\n" + "".join(f"c{n},{'Me' if n % 2 else 'H'},{5 + n},7.4\n" for n in range(6)),
        [(f"c{n}", 5.0 + n) for n in range(6)],
        said=("Column pH holds the same number everywhere; name it with --endpoint to use it.",),
    ),
    Case(
        "BindingDB: structures of ligands, numbers of monomers",
        "Ligand SMILES,BindingDB MonomerID,BindingDB Ligand Name,Ki (nM),IC50 (nM),R1\n"
        "CCO,9001,Example 1,, >10000,Me\nCCN,9002,Example 2,, 5.2,H\n",
        [("Example 1", ">", 10000.0), ("Example 2", 5.2)],
        said=("Column BindingDB MonomerID looks like row numbers or ids",),
    ),
    Case(
        "two sites, one down and one across",
        "pIC50,,\nR1 \\ R2,H,F\nMe,5.5,n.d.\nEt,6,>7\n,,\nmeans of two runs,,\n",
        [("R1=Me|R2=H", 5.5), ("R1=Et|R2=H", 6.0), ("R1=Et|R2=F", ">", 7.0)],
        sites=("R1", "R2"),
        said=("R1 stands in the rows and R2 in the columns: 3 pairs have a value (pIC50).",),
    ),
    Case(
        "runs in parentheses are no unit",
        "ID,R1,pIC50 (run 1),pIC50 (run 2),Mean\na,Me,5,5.2,5.1\nb,H,6,6.2,6.1\n",
        [("a", "pIC50", 5.0), ("a", "pIC50", 5.2), ("b", "pIC50", 6.0), ("b", "pIC50", 6.2)],
        options={"endpoint": "pIC50"},
    ),
    Case(
        "workbook: a group's name above columns that say of what they are",
        [
            ["Cmpd", "R groups", None, "Potency", None, None],
            [None, "R1", "R2", "EGFR IC50 (nM)", "n", "A431 EC50 (nM)"],
            [1, "Me", "F", 5.5, 3, 60],
            [2, "H", "Cl", 6.5, 2, ">5000"],
        ],
        [
            ("1", "EGFR IC50 (nM)", "=", 5.5, 3),
            ("1", "A431 EC50 (nM)", 60.0),
            ("2", "EGFR IC50 (nM)", "=", 6.5, 2),
            ("2", "A431 EC50 (nM)", ">", 5000.0),
        ],
        book={"merged": ["A1:A2", "B1:C1", "D1:F1"]},
        sites=("R1", "R2"),
    ),
    Case(
        "the highest concentration tested, again and again",
        "ID,R1,IC50 (nM)\n"
        + "".join(f"c{n},{'Me' if n % 2 else 'H'},{10000 if n > 5 else 12 + n}\n" for n in range(9)),
        [(f"c{n}", 10000.0 if n > 5 else 12.0 + n) for n in range(9)],
        said=("3 values of IC50 (nM) are exactly 10000 nM, and none is less potent.", "write >10000:"),
    ),
    Case(
        "marks of 0 and 1 for each substituent",
        "Name,R1_H,R1_Me,R2_F,R2_OMe,pIC50\nc1,1,0,0,0,5\nc2,0,1,1,0,6\nc3,0,1,0,1,7\nc4,1,0,0,1,8\n",
        [("c1", 5.0), ("c2", 6.0), ("c3", 7.0), ("c4", 8.0)],
        sites=("R1", "R2"),
        said=("Columns R2_F, R2_OMe hold marks of 0 and 1: read as the site R2 (2 substituents).",),
    ),
    Case(
        "marks under substituents with their attachment points, and places by name",
        "Name,C[*:1],[H][*:1],F[*:2],Cl[*:2],Act\nc1,1,0,1,0,5\nc2,0,1,1,0,6\nc3,0,1,0,1,7\nc4,0,0,0,1,8\n",
        [("c1", 5.0), ("c2", 6.0), ("c3", 7.0)],
        not_used=[(5, "R1", "the substituent is missing")],
        sites=("R1", "R2"),
    ),
    Case(
        "two answers of yes and no are no site",
        "ID,R1,tox_liver,tox_heart,pIC50\na,Me,1,0,5\nb,H,0,0,6\nc,Et,0,1,7\n",
        [("a", 5.0), ("b", 6.0), ("c", 7.0)],
        options={"endpoint": "pIC50"},
        sites=("R1",),
    ),
    Case(
        "words for no value with the letter of a footnote",
        "Compd,R1,Cell IC50 (nM)b\n1,Me,5\n2,H,NTc\n3,Et,n.d.*\n4,Pr,NDᵃ\n5,Bu,6\n",
        [("1", 5.0), ("5", 6.0)],
    ),
]
