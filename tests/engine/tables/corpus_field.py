"""Small tables as other programs and papers give them, whose columns were once misread without a word."""

from tests.engine.tables.corpus import Case

EFFECTS = [("a", "=", 12.0, 3, 1.5), ("b", "=", 8.5, 2, 0.5)]

FIELD = [
    Case(
        "signs in a column that no word gives away",
        "Cmpd_ID,R1,BTK_IC50_nM_mod,BTK_IC50_nM,ITK_IC50_nM_mod,ITK_IC50_nM\na,Me,>,3000,=,12\nb,H,,20,<,1\n",
    ),
    Case(
        "signs before their values, under a header that says nothing",
        "ID,R1,k,Ki (nM),z,Kd (nM)\na,Me,>,3000,,7\nb,H,,20,>,100\n",
    ),
    Case("signs behind the only values", "ID,R1,IC50 (nM),x\na,Me,3000,>\nb,H,20,\n"),
    Case("signs of nobody knows which values", "ID,R1,x,batch no,IC50 (nM),Ki (nM)\na,Me,>,b1,3000,5\nb,H,,b2,20,6\n"),
    Case("sites with primes and letters", "No.,R1,R2a,R2b,R3'\n1,Me,F,H,OMe\n2,H,H,F,OEt\n3,Et,H,H,OMe\n"),
    Case(
        "a site that is called like none is named beside the sites",
        "ID,R1,R2,X,pIC50,Chemist,Empty\na,Me,F,O,5,KL,\nb,H,F,S,6,KL,\nc,Me,H,O,7,KL,\nd,H,H,S,8,KL,\n",
    ),
    Case(
        "German words beside a value",
        "Verbindung;R1;IC50 [nM];Standardabweichung;Anzahl;Löslichkeit [µM];Bemerkung\n"
        "a;Me;12,0;1,5;3;40;x\nb;H;8,5;0,5;2;n.b.;\n",
    ),
    Case("French words beside a value", "Composé;R1;CI50 (nM);Écart-type;n\na;Me;12,0;1,5;3\nb;H;8,5;0,5;2\n"),
    Case(
        "LiveDesign: what the value is stands in brackets behind the unit",
        "ID,R1,BTK (IC50) IC50 uM [Geometric Mean],BTK (IC50) IC50 uM [Count]\na,Me,0.012,3\nb,H,0.2,2\n",
    ),
    Case(
        "limits of confidence in parentheses, a cluster, a priority",
        "ID,R1,EGFR: IC50 (uM),EGFR: IC50 CI (Lower) (uM),EGFR: IC50 CI (Upper) (uM),Cluster,priority,Unnamed: 0\n"
        "a,Me,2,1,3,1,0,7\nb,H,20,10,30,2,1,9\n",
    ),
    Case(
        "dashes of all lengths are hydrogen where blank is",
        "ID,R1,R2,pIC50\na,–,F,5\nb,—,Cl,6\nc,-,F,7\nd,H,Cl,8\n",
        options={"blank": "h"},
    ),
    Case(
        "KNIME writes a question mark where there is no substituent",
        "row ID,R1,R2,pIC50\nRow0,C[*:1],?,5\nRow1,[H][*:1],F[*:2],6\nRow2,CC[*:1],Cl[*:2],7\n",
    ),
    Case(
        "codes for no value, and a check of quality that failed",
        "ID,R1,yield,QC\na,Me,-999,pass\nb,H,20,pass\nc,Et,7,failed\n",
    ),
    Case(
        "one quantity above several targets, whose names stand below it",
        "Compd,R1,IC50 (nM),,\n,,WT,T790M,SD\n1,Me,5,50,\n2,H,6,60,\n".replace(",SD", ",L858R"),
    ),
    Case(
        "one quantity above columns that name their targets, a property beside them",
        ",,IC50 (nM),,\nCompd,R1,JAK1,JAK2,cLogP\n1,Me,5,50,2\n2,H,6,60,3\n",
    ),
    Case(
        "a title that says nothing of the columns is no group",
        ",,Kinases of May,\nCompd,R1,JAK1,JAK2\n1,Me,5,50\n2,H,6,60\n",
    ),
    Case(
        "a first compound without substituents is no row of targets",
        "Compd,R1,IC50 (nM),Ki (nM)\nref,,n.d.,active\n1,Me,5,50\n2,H,6,60\n",
    ),
    Case(
        "headings between the rows are no compounds, also where blank means hydrogen",
        "Cmpd,R1,R2,Ki (nM)\nAmides,,,\n1,Me,F,5\n2,H,F,6\nSulfonamides,,,\n3,Me,,7\n4,H,,\n",
        options={"blank": "h"},
    ),
    Case(
        "names without numbers are compounds, not headings",
        "Cmpd,R1,R2,Ki (nM)\nerlotinib,,,\ngefitinib,Me,F,5\nlapatinib,H,F,6\n",
        options={"blank": "h"},
    ),
    Case(
        "signs of the whole width, as in Chinese and Japanese headers",
        "化合物,R1,IC50（nM）\n化合物1,Me,5\n化合物2,H,6\n",
    ),
    Case(
        "ActivityBase: the result's type, operator, value and unit",
        "CORPORATE_ID,R1,RESULT_TYPE,RESULT_OPERATOR,RESULT_VALUE,RESULT_UNIT\n"
        "G1,Me,IC50,>,10,uM\nG1,Me,Inhibition,=,45,%\nG2,H,IC50,=,2,uM\n",
    ),
    Case(
        "values of two targets under one name are asked about",
        "Molecule ChEMBL ID,R1,Standard Type,Standard Value,Standard Units,Target ChEMBL ID,Target Name\n"
        "CHEMBL1,Me,IC50,5,nM,CHEMBL203,EGFR\nCHEMBL1,Me,IC50,900,nM,CHEMBL240,hERG\nCHEMBL2,H,IC50,6,nM,CHEMBL203,EGFR\n",
    ),
    Case(
        "a pH that never changes is no result",
        "ID,R1,IC50 (nM),pH\n" + "".join(f"c{n},{'Me' if n % 2 else 'H'},{5 + n},7.4\n" for n in range(6)),
    ),
    Case(
        "BindingDB: structures of ligands, numbers of monomers",
        "Ligand SMILES,BindingDB MonomerID,BindingDB Ligand Name,Ki (nM),IC50 (nM),R1\n"
        "CCO,9001,Example 1,, >10000,Me\nCCN,9002,Example 2,, 5.2,H\n",
    ),
    Case(
        "two sites, one down and one across", "pIC50,,\nR1 \\ R2,H,F\nMe,5.5,n.d.\nEt,6,>7\n,,\nmeans of two runs,,\n"
    ),
    Case(
        "runs in parentheses are no unit",
        "ID,R1,pIC50 (run 1),pIC50 (run 2),Mean\na,Me,5,5.2,5.1\nb,H,6,6.2,6.1\n",
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
        book={"merged": ["A1:A2", "B1:C1", "D1:F1"]},
    ),
    Case(
        "the highest concentration tested, again and again",
        "ID,R1,IC50 (nM)\n"
        + "".join(f"c{n},{'Me' if n % 2 else 'H'},{10000 if n > 5 else 12 + n}\n" for n in range(9)),
    ),
    Case(
        "marks of 0 and 1 for each substituent",
        "Name,R1_H,R1_Me,R2_F,R2_OMe,pIC50\nc1,1,0,0,0,5\nc2,0,1,1,0,6\nc3,0,1,0,1,7\nc4,1,0,0,1,8\n",
    ),
    Case(
        "marks under substituents with their attachment points, and places by name",
        "Name,C[*:1],[H][*:1],F[*:2],Cl[*:2],Act\nc1,1,0,1,0,5\nc2,0,1,1,0,6\nc3,0,1,0,1,7\nc4,0,0,0,1,8\n",
    ),
    Case(
        "two answers of yes and no are no site",
        "ID,R1,tox_liver,tox_heart,pIC50\na,Me,1,0,5\nb,H,0,0,6\nc,Et,0,1,7\n",
        options={"endpoint": "pIC50"},
    ),
    Case(
        "words for no value with the letter of a footnote",
        "Compd,R1,Cell IC50 (nM)b\n1,Me,5\n2,H,NTc\n3,Et,n.d.*\n4,Pr,NDᵃ\n5,Bu,6\n",
    ),
]
