"""Tables as programs and labs export them, written after real ones, and the reading that is right."""

import csv
import io
import random
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from tests.engine.tables.workbooks import write_xlsx

ARYLS = {
    "c3ccccc3": 0.0,
    "c3cccc(Cl)c3": 0.8,
    "c3ccc(F)c(Cl)c3": 1.0,
    "c3cccc(Br)c3": 0.9,
    "c3cccc(C#C)c3": 1.1,
    "c3cccc(C)c3": 0.4,
    "c3ccc(OC)cc3": -0.4,
    "c3ccncc3": -0.7,
}
TAILS = {"[H]": 0.0, "OC": 0.4, "OCC": 0.3, "OCCOC": 0.5, "N(C)C": -0.2, "OCCCN4CCOCC4": 0.6}
AMINES = {
    "N3CCCC3": 0.2,
    "N3CCOCC3": 0.0,
    "NC3CC3": 0.3,
    "NCc3ccccc3": 0.7,
    "NCc3ccc(F)cc3": 0.9,
    "NC3CCCCC3": 0.5,
    "N(C)C": -0.3,
}
HALOGENS = {"[H]": 0.0, "F": 0.2, "Cl": 0.5, "C": 0.1, "C(F)(F)F": 0.4}
OFF_SERIES = (
    "CN1C(=O)N(c2ccccc2)C(=O)C1Cc1c[nH]c2ccccc12",
    "CC(C)(C)OC(=O)N1CCC(CC1)Oc1ccc(cc1)C#N",
)


@dataclass
class Export:
    """One table and what must be understood of it without any option."""

    name: str
    data: Any
    """Text or bytes of a text file, or the rows of a workbook's sheet, or its sheets by name."""
    compounds: int
    endpoints: dict[str, tuple[str, str, str, int, int]]
    """By name: direction on the model scale, transform, unit, exact values, bounds."""
    id: str | None = None
    smiles: str | None = None
    sites: tuple[str, ...] | int = ()
    """Their names, or how many come of a core."""
    said: tuple[str, ...] = ()
    """Parts of what must be told."""
    file: str = "export.csv"
    book: dict[str, Any] = field(default_factory=dict)
    slow: bool = False
    """Whether another of the tables has the same series."""

    def write(self, folder):
        """The path of the table in a folder."""
        if isinstance(self.data, str | bytes):
            path = folder / self.file
            path.write_bytes(self.data if isinstance(self.data, bytes) else self.data.encode())
            return path
        sheets = self.data if isinstance(self.data, dict) else {"Sheet1": self.data}
        return write_xlsx(folder / "export.xlsx", sheets, **self.book)


def smiles(text):
    """The structure in the spelling that programs export."""
    from rdkit import Chem

    return Chem.MolToSmiles(Chem.MolFromSmiles(text))


def quinazolines(n, seed):
    """``n`` anilinoquinazolines with a potency that adds up: (SMILES, pIC50)."""
    rng = random.Random(seed)
    every = list(product(ARYLS, TAILS, TAILS))
    rng.shuffle(every)
    return [
        (smiles(f"N({a})c1ncnc2cc({b})c({c})cc12"), 6.0 + ARYLS[a] + TAILS[b] + 0.5 * TAILS[c] + rng.gauss(0, 0.15))
        for a, b, c in every[:n]
    ]


def benzamides(n, seed):
    """``n`` nicotinamides: (SMILES, pIC50)."""
    rng = random.Random(seed)
    every = list(product(AMINES, HALOGENS, HALOGENS))
    rng.shuffle(every)
    return [
        (smiles(f"O=C({a})c1cnc({b})c({c})c1"), 5.5 + AMINES[a] + HALOGENS[b] + 0.7 * HALOGENS[c] + rng.gauss(0, 0.15))
        for a, b, c in every[:n]
    ]


def text_of(header, rows, delimiter=",", quoting=csv.QUOTE_MINIMAL):
    """The rows as a text file."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, quoting=quoting, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


def nm(p, digits=3):
    """A concentration in nM, as programs write it."""
    return f"{10 ** (9 - p):.{digits}g}" if 10 ** (9 - p) < 1e4 else f"{10 ** (9 - p):.0f}"


def um(p):
    """A concentration in µM."""
    return f"{10 ** (6 - p):.4g}"


def cdd():
    """CDD Vault: a row per molecule, protocols in the headers, bounds in the cells."""
    rng = random.Random(1)
    rows = []
    for k, (s, p) in enumerate(quinazolines(48, 1)):
        weak = p < 5.9
        rows.append(
            [
                f"CDD-{1043200 + k}",
                s,
                "",
                f"AX-{k + 11}",
                ">10" if weak else um(p),
                "" if weak else f"{float(um(p)) * 0.2:.3g}",
                "" if weak else rng.choice([2, 2, 3]),
                um(p - 0.8 + rng.gauss(0, 0.1)) if k % 2 else "",
                f"{rng.uniform(320, 480):.2f}",
            ]
        )
    head = [
        *("CDD Number", "SMILES", "Synonyms", "Molecule Name", "EGFR biochemical: IC50 (uM)"),
        *("EGFR biochemical: IC50 (uM) Standard Deviation", "EGFR biochemical: IC50 (uM) Count"),
        *("A431 pEGFR cell: IC50 (uM)", "Molecular weight (g/mol)"),
    ]
    weak = sum(p < 5.9 for _, p in quinazolines(48, 1))
    return Export(
        "CDD Vault, a row per molecule",
        text_of(head, rows),
        48,
        {
            "EGFR biochemical: IC50 (uM)": ("max", "log", "µM", 48 - weak, weak),
            "A431 pEGFR cell: IC50 (uM)": ("max", "log", "µM", 24, 0),
        },
        id="Molecule Name",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def dotmatics():
    """Dotmatics: a row per result, the structure under a name of its own, ids repeat."""
    rows = []
    for k, (s, p) in enumerate(benzamides(40, 2)):
        for day in ("2024-03-01", "2024-03-08")[: 1 + k % 2]:
            jitter = 0.1 if day.endswith("8") else 0.0
            weak = p < 5.6
            rows.append(
                [
                    *(f"DM{k + 100:05d}", 1 + k % 2, s, "HSD1", "HSD1 enzyme", "IC50"),
                    *(">" if weak else "=", 10 if weak else f"{10 ** (6 - p - jitter):.4g}", "uM", day),
                ]
            )
    head = ["Corporate_Ref_ID", "LOT", "registered_mol", "PROJECT", "ASSAY_NAME", "RESULT_TYPE"]
    head += ["QUALIFIER", "RESULT_VALUE", "RESULT_UNIT", "EXPERIMENT_DATE"]
    weak = sum(r[6] == ">" for r in rows)
    return Export(
        "Dotmatics, a row per result",
        text_of(head, rows, "\t"),
        40,
        {"IC50": ("max", "log", "µM", len(rows) - weak, weak)},
        id="Corporate_Ref_ID",
        smiles="registered_mol",
        sites=3,
        said=("--core",),
        file="export.txt",
    )


def chembl():
    """ChEMBL's web export: semicolons, everything quoted, relations in apostrophes, two assays."""
    head = [
        "Molecule ChEMBL ID",
        "Molecule Name",
        "Molecule Max Phase",
        "Molecular Weight",
        "#RO5 Violations",
        "AlogP",
        "Compound Key",
        "Smiles",
        "Standard Type",
        "Standard Relation",
        "Standard Value",
        "Standard Units",
        "pChEMBL Value",
        "Data Validity Comment",
        "Comment",
        "Uo Units",
        "Ligand Efficiency BEI",
        "Ligand Efficiency LE",
        "Ligand Efficiency LLE",
        "Ligand Efficiency SEI",
        "Potential Duplicate",
        "Assay ChEMBL ID",
        "Assay Description",
        "Assay Type",
        "BAO Format ID",
        "BAO Label",
        "Assay Organism",
        "Target ChEMBL ID",
        "Target Name",
        "Target Organism",
        "Target Type",
        "Document ChEMBL ID",
        "Source ID",
        "Document Year",
    ]
    rows, weak = [], 0
    for k, (s, p) in enumerate([*quinazolines(44, 3), *((t, 5.4) for t in OFF_SERIES)]):
        low = k == 7 or k == 19
        weak += low
        rows.append(
            [
                *(f"CHEMBL{301000 + 37 * k}", "", "None", f"{300 + k}.21", 0, f"{2 + k % 30 / 10:.2f}", f"{k + 1}a", s),
                *("IC50", "'>'" if low else "'='", "10000" if low else nm(p), "nM", "" if low else f"{p:.2f}", "", ""),
                *("UO_0000065", "21.1", "0.4", "3.1", "9.7", 0, f"CHEMBL{674637 + k % 2}", "Inhibition of EGFR", "B"),
                *("BAO_0000357", "single protein format", "Homo sapiens", "CHEMBL203", "EGFR", "Homo sapiens"),
                *("SINGLE PROTEIN", f"CHEMBL{1129000 + k % 2}", 1, 1996),
            ]
        )
    return Export(
        "ChEMBL web export",
        text_of(head, rows, ";", csv.QUOTE_ALL),
        44,
        {"IC50": ("max", "log", "nM", 44 - weak, weak)},
        id="Molecule ChEMBL ID",
        smiles="Smiles",
        sites=3,
        said=("--core",),
    )


def pubchem():
    """PubChem BioAssay: rows of descriptions below the header, a curve class, an activity score."""
    head = [
        "PUBCHEM_RESULT_TAG",
        "PUBCHEM_SID",
        "PUBCHEM_CID",
        "PUBCHEM_EXT_DATASOURCE_SMILES",
        "PUBCHEM_ACTIVITY_OUTCOME",
        "PUBCHEM_ACTIVITY_SCORE",
        "PUBCHEM_ACTIVITY_URL",
        "PUBCHEM_ASSAYDATA_COMMENT",
        "Phenotype",
        "Potency",
        "Efficacy",
        "Analysis Comment",
        "Fit_LogAC50",
        "Fit_HillSlope",
        "Fit_R2",
        "Fit_CurveClass",
        "Excluded_Points",
    ]
    rows = [
        ["RESULT_TYPE", *[""] * 7, "STRING", "FLOAT", "FLOAT", "STRING", "FLOAT", "FLOAT", "FLOAT", "FLOAT", "STRING"],
        ["RESULT_DESCR", *[""] * 7, "Type of activity", "Concentration at half maximum", "Maximal efficacy", *[""] * 6],
        ["RESULT_UNIT", *[""] * 8, "MICROMOLAR", "PERCENT", *[""] * 6],
        ["RESULT_IS_ACTIVE_CONCENTRATION", *[""] * 8, "TRUE", *[""] * 7],
    ]
    seen = 0
    for k, (s, p) in enumerate(benzamides(50, 4)):
        active = p > 5.4
        seen += active
        rows.append(
            [
                *(k + 1, 17407000 + 13 * k, 2988000 + 7 * k, s, "Active" if active else "Inactive"),
                *(40 + k % 45 if active else 0, "", "", "Inhibitor" if active else "Inactive"),
                *(um(p) if active else "", f"{-60 - k % 40}.1" if active else "", "", f"{-p:.3f}" if active else ""),
                *("1.1" if active else "", "0.97" if active else "", ("-1.1", "-2.2")[k % 2] if active else "4", ""),
            ]
        )
    return Export(
        "PubChem BioAssay",
        text_of(head, rows),
        50,
        {"Potency (µM)": ("max", "log", "µM", seen, 0), "Efficacy (%)": ("max", "none", "%", seen, 0)},
        id="PUBCHEM_CID",
        smiles="PUBCHEM_EXT_DATASOURCE_SMILES",
        sites=3,
        said=("--core",),
    )


def stardrop():
    """StarDrop: the structure is called Molecule, predictions beside a measured pKi and a measured logD."""
    rng = random.Random(5)
    head = ["Molecule", "ID", "5HT1a affinity (pKi)", "logD measured", "logS", "logP", "2C9 pKi", "hERG pIC50"]
    head += ["BBB log([brain]:[blood])", "P-gp category", "HIA category", "MW"]
    rows = [
        [
            *(s, f"XX{k + 1:04d}", f"{p:.2f}", f"{rng.uniform(1, 4):.1f}", f"{rng.uniform(0, 3):.2f}"),
            *(f"{rng.uniform(1, 5):.2f}", f"{rng.uniform(4, 6):.2f}", f"{rng.uniform(4, 6.5):.2f}"),
            *(f"{rng.uniform(-1, 1):.2f}", ("yes", "no")[k % 2], "+", f"{rng.uniform(250, 450):.1f}"),
        ]
        for k, (s, p) in enumerate(benzamides(60, 5))
    ]
    return Export(
        "StarDrop",
        text_of(head, rows),
        60,
        {
            "5HT1a affinity (pKi)": ("max", "none", "", 60, 0),
            "logD measured": ("max", "none", "", 60, 0),
            "logS": ("max", "none", "", 60, 0),
            "BBB log([brain]:[blood])": ("max", "none", "", 60, 0),
            "2C9 pKi": ("min", "none", "", 60, 0),
            "hERG pIC50": ("min", "none", "", 60, 0),
        },
        id="ID",
        smiles="Molecule",
        sites=3,
        said=("--core",),
    )


def livedesign():
    """LiveDesign: a structure column of its own name, aggregation in the headers, several columns of ids."""
    rng = random.Random(6)
    head = ["Compound Structure", "ID", "All IDs", "Rationale", "Lot Scientist"]
    head += [
        "KDR IC50 (nM) [mean]",
        "KDR IC50 (nM) [n]",
        "hERG IC50 (uM)",
        "HLM CLint (uL/min/mg)",
        "Caco-2 efflux ratio",
    ]
    rows = []
    for k, (s, p) in enumerate(quinazolines(54, 6)):
        rows.append(
            [
                *(s, f"V{3000 + k}", f"V{3000 + k};LD-{k}", "SAR expansion", ("jd", "mk")[k % 2], nm(p), 1 + k % 3),
                *(">30" if k % 4 == 0 else f"{rng.uniform(1, 29):.1f}", f"{10 ** rng.uniform(0.8, 2.4):.1f}"),
                f"{rng.uniform(0.8, 24):.1f}" if k % 3 else "",
            ]
        )
    return Export(
        "LiveDesign",
        text_of(head, rows),
        54,
        {
            "KDR IC50 (nM) [mean]": ("max", "log", "nM", 54, 0),
            "hERG IC50 (uM)": ("min", "log", "µM", 40, 14),
            "HLM CLint (uL/min/mg)": ("min", "log", "uL/min/mg", 54, 0),
            "Caco-2 efflux ratio": ("min", "log", "", 36, 0),
        },
        id="ID",
        smiles="Compound Structure",
        sites=3,
        said=("--core", "direction=max"),
    )


def excel_two_headers():
    """A sheet with two header rows, the upper one merged over its group, R-groups as names."""
    rng = random.Random(7)
    top = ["Compound", None, None, None, "JAK1", None, "JAK2", None, "Microsomes", None]
    low = ["No.", "R1", "R2", "R3", "IC50 (nM)", "n", "IC50 (nM)", "n", "HLM t1/2 (min)", "RLM t1/2 (min)"]
    rows = [["Summary of the JAK series", *[None] * 9], [None] * 10, top, low]
    every = list(product(("Me", "Et", "iPr", "cPr"), ("H", "F", "Cl"), ("OMe", "CN", "CF3")))
    for k, (a, b, c) in enumerate(every[:30]):
        rows.append(
            [
                *(f"{k + 1}", a, b, c, round(10 ** rng.uniform(0.3, 3), 2), 2, round(10 ** rng.uniform(1, 3.5), 1), 2),
                *(round(rng.uniform(5, 110), 1), round(rng.uniform(3, 90), 1)),
            ]
        )
    return Export(
        "Excel with a title and two header rows",
        {"JAK": rows},
        30,
        {
            "JAK1 IC50 (nM)": ("max", "log", "nM", 30, 0),
            "JAK2 IC50 (nM)": ("max", "log", "nM", 30, 0),
            "Microsomes HLM t1/2 (min)": ("max", "log", "min", 30, 0),
            "RLM t1/2 (min)": ("max", "log", "min", 30, 0),
        },
        id="Compound No.",
        sites=("R1", "R2", "R3"),
    )


def unnamed_structures():
    """A pandas dump: an index without a header, structures and values under names of their own."""
    rows = [[k, s, f"cmp{k:03d}", f"{p:.3f}"] for k, (s, p) in enumerate(quinazolines(52, 8))]
    return Export(
        "pandas dump with an index and structure_v2",
        text_of(["", "structure_v2", "key", "y_pKd"], rows),
        52,
        {"y_pKd": ("max", "none", "", 52, 0)},
        id="key",
        smiles="structure_v2",
        sites=3,
        said=("--core", "--smiles"),
    )


def smiles_only():
    """A public set as machine learners share it: structures and a value, no ids, some structures damaged."""
    rows = [[s, f"{p:.2f}"] for s, p in benzamides(64, 9)]
    rows[5][0] = "not found"
    rows[20][0] = "C1CC"
    return Export(
        "structures and a value only, two damaged",
        text_of(["canonical_smi", "pchembl_value_Mean"], rows),
        62,
        {"pchembl_value_Mean": ("max", "none", "", 62, 0)},
        smiles="canonical_smi",
        sites=3,
        said=("--core",),
    )


def reaction_screen():
    """A coupling screen: levels with a name and a structure each, numbers as levels, a yield."""
    rng = random.Random(10)
    ligands = {
        "XPhos": "CC(C)c1cc(C(C)C)c(-c2ccccc2P(C2CCCCC2)C2CCCCC2)c(C(C)C)c1",
        "PPh3": "c1ccc(P(c2ccccc2)c2ccccc2)cc1",
    }
    ligands |= {"dppf": "C1=CC(=CC1)P(c1ccccc1)c1ccccc1", "PCy3": "C1CCC(P(C2CCCCC2)C2CCCCC2)CC1"}
    bases = {
        "K3PO4": "[K+].[K+].[K+].[O-]P([O-])([O-])=O",
        "CsOPiv": "CC(C)(C)C(=O)[O-].[Cs+]",
        "KOAc": "CC(=O)[O-].[K+]",
    }
    solvents = ("DMAc", "BuCN", "BuOAc", "p-Xylene")
    rows = []
    for lig, base, solvent, conc, temp in product(ligands, bases, solvents, (0.057, 0.1, 0.153), (90, 105, 120)):
        y = 30 + 15 * (lig == "XPhos") - 10 * (base == "KOAc") + 8 * (solvent == "DMAc") + (temp - 105) * 0.5
        y += conc * 40 + rng.gauss(0, 4)
        rows.append([base, bases[base], lig, ligands[lig], solvent, conc, temp, f"{max(0, min(100, y)):.2f}"])
    head = ["Base", "Base_SMILES", "Ligand", "Ligand_SMILES", "Solvent", "Concentration", "Temp_C", "yield"]
    return Export(
        "reaction screen, numbers among the levels",
        text_of(head, rows),
        len(rows),
        {"yield": ("max", "none", "%", len(rows), 0)},
        sites=("Base", "Ligand", "Solvent", "Concentration", "Temp_C"),
        said=("--sites",),
    )


def hte_plate():
    """High-throughput chemistry: wells, areas in per cent, a column that never changes."""
    rng = random.Random(11)
    rows = []
    for k, (amine, acid, act) in enumerate(
        product(
            ("morpholine", "aniline", "BnNH2", "pyrrolidine", "cPrNH2", "tBuNH2"),
            ("A1", "A2", "A3", "A4"),
            ("HATU", "T3P", "EDC", "PyBOP"),
        )
    ):
        well = f"{'ABCDEFGH'[k // 12]}{k % 12 + 1}"
        area = min(100, max(0, 45 + 20 * (act == "HATU") - 30 * (amine == "tBuNH2") + rng.gauss(0, 6)))
        rows.append(
            ["HTE-0042", well, amine, acid, act, "DMF", 25, f"{area:.1f}", f"{100 - area:.1f}", f"{area / 31:.3f}"]
        )
    head = [
        "Plate ID",
        "Well",
        "Amine",
        "Acid",
        "Coupling reagent",
        "Solvent",
        "Temp (°C)",
        "LCMS product area%",
        "LCMS SM area%",
        "P/IS",
    ]
    return Export(
        "high-throughput chemistry on a plate",
        text_of(head, rows),
        96,
        {
            "LCMS product area%": ("max", "none", "%", 96, 0),
            "LCMS SM area%": ("min", "none", "%", 96, 0),
            "P/IS": ("max", "none", "", 96, 0),
        },
        sites=("Amine", "Acid", "Coupling reagent"),
        said=("--sites",),
    )


def adme_panel():
    """An ADME panel with bounds, per cents and clearances."""
    rng = random.Random(12)
    head = ["Compound ID", "Structure", "HLM Clint (µL/min/mg)", "Rat CL (mL/min/kg)", "Caco-2 Papp A-B (10-6 cm/s)"]
    head += [
        "MDCK-MDR1 ER",
        "Kinetic solubility (µM)",
        "PPB human (% free)",
        "F%",
        "CYP3A4 IC50 (µM)",
        "HepG2 CC50 (µM)",
    ]
    rows = []
    for k, (s, _) in enumerate(benzamides(45, 12)):
        rows.append(
            [
                *(f"LAB-{k + 1:04d}", s, f"{10 ** rng.uniform(0.7, 2.5):.1f}", f"{10 ** rng.uniform(0.3, 1.9):.1f}"),
                *(f"{10 ** rng.uniform(-0.5, 1.6):.2f}", f"{10 ** rng.uniform(-0.1, 1.7):.1f}"),
                *(">200" if k % 5 == 0 else f"{rng.uniform(1, 199):.0f}", f"{10 ** rng.uniform(-1, 1.5):.2f}"),
                *(
                    f"{rng.uniform(1, 95):.0f}" if k % 3 == 0 else "",
                    f"{rng.uniform(0.5, 45):.1f}",
                    f"{rng.uniform(4, 90):.0f}",
                ),
            ]
        )
    return Export(
        "ADME panel",
        text_of(head, rows),
        45,
        {
            "HLM Clint (µL/min/mg)": ("min", "log", "µL/min/mg", 45, 0),
            "Rat CL (mL/min/kg)": ("min", "log", "mL/min/kg", 45, 0),
            "Caco-2 Papp A-B (10-6 cm/s)": ("max", "log", "10-6 cm/s", 45, 0),
            "MDCK-MDR1 ER": ("min", "log", "", 45, 0),
            "Kinetic solubility (µM)": ("max", "log", "µM", 36, 9),
            "PPB human (% free)": ("max", "log", "%", 45, 0),
            "F%": ("max", "none", "%", 15, 0),
            "CYP3A4 IC50 (µM)": ("min", "log", "µM", 45, 0),
            "HepG2 CC50 (µM)": ("min", "log", "µM", 45, 0),
        },
        id="Compound ID",
        smiles="Structure",
        sites=3,
        said=("--core", "direction=max"),
    )


def units_in_cells():
    """Values with their units in the cells, nM and µM mixed."""
    rows = []
    for k, (s, p) in enumerate(quinazolines(36, 13)):
        value = f"{nm(p)} nM" if p > 6.5 else f"{um(p)} µM"
        rows.append([f"EX-{k + 1}", s, ("> 10 µM" if p < 5.9 else value), "n.d." if k % 6 == 0 else f"{p * 10:.0f} %"])
    weak = sum(p < 5.9 for _, p in quinazolines(36, 13))
    return Export(
        "units in the cells, nM and µM mixed",
        text_of(["Example", "SMILES", "IC50", "Inhibition @ 1 µM"], rows),
        36,
        {"IC50": ("max", "log", "nM", 36 - weak, weak), "Inhibition @ 1 µM": ("max", "none", "%", 30, 0)},
        id="Example",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def two_sites_of_measurement():
    """The same assay at two laboratories, named in brackets behind it."""
    rng = random.Random(14)
    rows = [
        [
            *(f"CPD-{k:03d}", s, nm(p), nm(p + 0.2 + rng.gauss(0, 0.1)) if k % 2 else "", f"{rng.uniform(5, 50):.1f}"),
        ]
        for k, (s, p) in enumerate(benzamides(50, 14))
    ]
    return Export(
        "one assay at two laboratories, named in brackets",
        text_of(
            ["Compound", "SMILES", "BACE1 IC50 nM [CRO 1]", "BACE1 IC50 nM (Site B)", "hERG IC50 (µM) (CRO 2)"], rows
        ),
        50,
        {
            "BACE1 IC50 nM [CRO 1]": ("max", "log", "nM", 50, 0),
            "BACE1 IC50 nM (Site B)": ("max", "log", "nM", 25, 0),
            "hERG IC50 (µM) (CRO 2)": ("min", "log", "µM", 50, 0),
        },
        id="Compound",
        smiles="SMILES",
        sites=3,
    )


def assays_in_a_column():
    """One column of values, and one that says by which assay: pooled by nobody without a word."""
    rows = []
    for k, (s, p) in enumerate(quinazolines(40, 15)):
        rows.append([f"K-{k + 1:03d}", s, "biochemical", nm(p), "nM"])
        if k % 2:
            rows.append([f"K-{k + 1:03d}", s, "cellular", nm(p - 1.2), "nM"])
    return Export(
        "assays named in a column",
        text_of(["Compound", "SMILES", "Assay format", "IC50", "Units"], rows),
        40,
        {"IC50 biochemical": ("max", "log", "nM", 40, 0), "IC50 cellular": ("max", "log", "nM", 20, 0)},
        id="Compound",
        smiles="SMILES",
        sites=3,
        said=("Assay format", "--assays"),
    )


def antibacterials():
    """Minimal inhibitory concentrations in µg/mL, powers of two with bounds."""
    rng = random.Random(16)
    rows = []
    for k, (s, p) in enumerate(benzamides(44, 16)):
        step = max(-4, min(7, round(14 - 2 * p)))
        rows.append(
            [
                f"AB{k + 1}",
                s,
                ">64" if step > 6 else f"{2.0**step:g}",
                f"{2.0 ** min(6, step + 2):g}",
                f"{rng.uniform(5, 100):.0f}",
            ]
        )
    weak = sum(r[2].startswith(">") for r in rows)
    return Export(
        "MIC in µg/mL",
        text_of(["Name", "SMILES", "MIC S. aureus (µg/mL)", "MIC E. coli (µg/mL)", "Hemolysis HC50 (µg/mL)"], rows),
        44,
        {
            "MIC S. aureus (µg/mL)": ("min", "log", "µg/mL", 44 - weak, weak),
            "MIC E. coli (µg/mL)": ("min", "log", "µg/mL", 44, 0),
            "Hemolysis HC50 (µg/mL)": ("max", "log", "µg/mL", 44, 0),
        },
        id="Name",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def german_excel():
    """A German sheet: semicolons, decimal commas, two columns of residues under German names."""
    rng = random.Random(17)
    rows = []
    for k, (a, b) in enumerate(product(("Methyl", "Ethyl", "Phenyl", "Benzyl", "H"), ("F", "Cl", "OMe", "CN", "H"))):
        v = f"{10 ** rng.uniform(0.5, 3):.1f}".replace(".", ",")
        rows.append(
            [f"P{k + 1:02d}", a, b, v, f"{rng.uniform(1, 99):.1f}".replace(".", ","), "ja" if k % 3 else "nein"]
        )
    return Export(
        "German csv, residues under German names",
        text_of(["Substanz-Nr.", "Rest A", "Rest B", "IC50 [nM]", "Ausbeute [%]", "lieferbar"], rows, ";"),
        25,
        {"IC50 [nM]": ("max", "log", "nM", 25, 0), "Ausbeute [%]": ("max", "none", "%", 25, 0)},
        id="Substanz-Nr.",
        sites=("Rest A", "Rest B"),
        said=("--sites",),
    )


def peptides():
    """An alanine-like scan: one-letter residues by position, and the whole sequence."""
    rng = random.Random(18)
    rows = []
    seen = set()
    while len(rows) < 60:
        residues = [rng.choice(x) for x in ("AFWY", "RKH", "DEN", "LIVM")]
        seq = "G" + "".join(residues) + "C"
        if seq not in seen:
            seen.add(seq)
            rows.append([f"pep{len(rows) + 1}", seq, *residues, f"{10 ** rng.uniform(0, 3):.1f}"])
    return Export(
        "peptides, residues by position",
        text_of(["Peptide", "Sequence", "pos 2", "pos 3", "pos 4", "pos 5", "EC50 (nM)"], rows),
        60,
        {"EC50 (nM)": ("max", "log", "nM", 60, 0)},
        id="Peptide",
        sites=("pos 2", "pos 3", "pos 4", "pos 5"),
        said=("--sites",),
    )


def two_ids():
    """A vendor's plate map merged with an inventory: two columns of ids, barcodes, amounts."""
    rows = [
        [f"Z{987654 + 31 * k}", f"INH-{k + 1:05d}", f"03{k * 7919 % 10**6:06d}", s, "96.5", f"{p:.2f}", f"{10 + k % 5}"]
        for k, (s, p) in enumerate(benzamides(40, 19))
    ]
    return Export(
        "two columns of ids and a barcode",
        text_of(["Catalog ID", "Corporate ID", "Barcode", "SMILES", "Purity (%)", "pIC50", "Amount (mg)"], rows),
        40,
        {"pIC50": ("max", "none", "", 40, 0)},
        id="Corporate ID",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def half_structures():
    """An old table: structures for two thirds, ids that are numbers, comments."""
    rows = [
        [123 + k, s if k % 3 else ("" if k % 2 else "see notebook 12"), nm(p), "repeat" if k == 3 else ""]
        for k, (s, p) in enumerate(quinazolines(60, 20))
    ]
    kept = sum(k % 3 != 0 for k in range(60))
    return Export(
        "structures for two thirds, ids that are numbers",
        text_of(["Cpd", "Structure", "Ki (nM)", "Remarks"], rows),
        kept,
        {"Ki (nM)": ("max", "log", "nM", kept, 0)},
        id="Cpd",
        smiles="Structure",
        sites=3,
        said=("--core",),
    )


def curve_classes():
    """qHTS: a curve class and a semi-quantitative flag beside the potencies, sites as SMILES."""
    rng = random.Random(21)
    rows = []
    for k, (a, b) in enumerate(
        product(
            ("C[*:1]", "CC[*:1]", "c1ccc([*:1])cc1", "[H][*:1]", "FC(F)(F)[*:1]", "C1CC1[*:1]"),
            ("[H][*:2]", "F[*:2]", "Cl[*:2]", "CO[*:2]", "N#C[*:2]", "C[*:2]", "Br[*:2]"),
        )
    ):
        rows.append(
            [
                f"NCGC{k + 100:05d}",
                a,
                b,
                f"{-rng.uniform(4.5, 7.5):.2f}",
                rng.choice(["-1.1", "-1.2", "-2.1", "4"]),
                rng.choice([0, 1, 2, 3]),
                f"{rng.uniform(20, 110):.0f}",
            ]
        )
    return Export(
        "qHTS with a curve class and a flag",
        text_of(["Sample ID", "R1", "R2", "Log AC50 (M)", "CCLASS2", "Activity flag", "Max response (%)"], rows),
        42,
        {"Log AC50 (M)": ("min", "none", "M", 42, 0), "Max response (%)": ("max", "none", "%", 42, 0)},
        id="Sample ID",
        sites=("R1", "R2"),
        said=("CCLASS2", "Activity flag"),
    )


def formulation():
    """A designed experiment of numeric factors only."""
    rng = random.Random(22)
    rows = []
    for run, (t, ph, eq, c) in enumerate(product((25, 40, 60), (6.5, 7.0, 7.5, 8.0), (1.0, 1.5, 2.0), (0.1, 0.5))):
        rows.append(
            [
                run + 1,
                t,
                ph,
                eq,
                c,
                f"{40 + 0.4 * t - 5 * (ph - 7.2) ** 2 + 6 * eq + rng.gauss(0, 3):.1f}",
                f"{rng.uniform(0.1, 4):.2f}",
            ]
        )
    return Export(
        "designed experiment, all factors are numbers",
        text_of(
            ["Run", "Temperature (°C)", "pH", "Equiv. reagent", "Conc. (M)", "Conversion (%)", "Impurity A (%)"], rows
        ),
        72,
        {"Conversion (%)": ("max", "none", "%", 72, 0), "Impurity A (%)": ("min", "none", "%", 72, 0)},
        id="Run",
        sites=("Temperature (°C)", "pH", "Equiv. reagent", "Conc. (M)"),
        said=("--sites",),
    )


def lipids():
    """Ionisable lipids: three building blocks by code, luminescence over decades."""
    rng = random.Random(23)
    rows = []
    for a, b, c in product([f"A{i}" for i in range(1, 9)], [f"Al{i}" for i in range(1, 7)], ["IC1", "IC2", "IC3"]):
        rows.append(
            [
                f"{a}-{b}-{c}",
                a,
                b,
                c,
                f"{10 ** rng.uniform(2.5, 7):.0f}",
                f"{rng.uniform(70, 180):.1f}",
                f"{rng.uniform(0.05, 0.35):.3f}",
                f"{rng.uniform(60, 98):.1f}",
            ]
        )
    return Export(
        "lipids by building blocks",
        text_of(
            ["Lipid", "Amine head", "Aldehyde tail", "Isocyanide", "HeLa luciferase (RLU)", "Size (nm)", "PDI", "EE%"],
            rows,
        ),
        144,
        {
            "HeLa luciferase (RLU)": ("max", "log", "RLU", 144, 0),
            "Size (nm)": ("max", "none", "nanometre", 144, 0),
            "PDI": ("min", "none", "", 144, 0),
            "EE%": ("max", "none", "%", 144, 0),
        },
        id="Lipid",
        sites=("Amine head", "Aldehyde tail", "Isocyanide"),
        said=("--sites",),
    )


def benchling():
    """Benchling: registry ids, results with their runs, zeros below the limit of quantitation."""
    rows = []
    for k, (s, p) in enumerate(quinazolines(42, 24)):
        signal = max(0.0, round(10 ** (p - 5.9) - 1, 2))
        plate = f"PLT-{k // 14 + 1:03d}"
        rows.append([f"BNCH-{k + 1}", f"etr_{k * 7919 % 10**5:05d}", s, plate, f"{p:.2f}", f"{signal:g}", "QC pass"])
    return Export(
        "Benchling, zeros below a limit of quantitation",
        text_of(
            [
                *("Entity Registry ID", "Entity", "Compound SMILES", "Assay Plate", "pEC50"),
                *("Target engagement (fold)", "Review"),
            ],
            rows,
        ),
        42,
        {"pEC50": ("max", "none", "", 42, 0), "Target engagement (fold)": ("max", "none", "fold", 42, 0)},
        id="Entity Registry ID",
        smiles="Compound SMILES",
        sites=3,
        said=("--core",),
    )


def enhanced_stereo():
    """A chiral series: enantiomers of unknown absolute configuration, racemates, CXSMILES."""
    rng = random.Random(25)
    rows = []
    for aryl, tail in product(
        ("c2ccccc2", "c2ccc(F)cc2", "c2cccnc2", "c2ccc(OC)cc2", "c2ccsc2"), ("C", "CC", "C3CC3", "CC(F)(F)F")
    ):
        base = 6 + rng.gauss(0, 0.5)
        for form, shift in (("&1", -0.3), ("o1", 0.0)):
            text = smiles(f"O=C(N[C@@H](C){aryl})c1cnn({tail})c1")
            at = next(k for k, atom in enumerate(_atoms(text)) if atom)
            rows.append([f"CH-{len(rows) + 1:03d}", f"{text} |{form}:{at}|", f"{base + shift:.2f}"])
    return Export(
        "racemates and enantiomers of unknown configuration",
        text_of(["Compound_ID", "CXSMILES", "pIC50"], rows),
        40,
        {"pIC50": ("max", "none", "", 40, 0)},
        id="Compound_ID",
        smiles="CXSMILES",
        sites=2,
        said=("--core",),
    )


def _atoms(text):
    from rdkit import Chem

    return [atom.GetChiralTag() != Chem.ChiralType.CHI_UNSPECIFIED for atom in Chem.MolFromSmiles(text).GetAtoms()]


def two_series():
    """Two chemotypes in one table, as a project's overview has them."""
    both = [*quinazolines(30, 26), *benzamides(30, 26)]
    random.Random(26).shuffle(both)
    rows = [[f"PRJ-{k + 1:04d}", s, nm(p), "2"] for k, (s, p) in enumerate(both)]
    return Export(
        "two series in one table",
        text_of(["Vault ID", "SMILES", "EC50_nM", "n"], rows),
        60,
        {"EC50_nM": ("max", "log", "nM", 60, 0)},
        id="Vault ID",
        smiles="SMILES",
        sites=6,
        said=("--core",),
    )


def id_is_a_date():
    """Ids that a spreadsheet turned into dates, and the notebook pages that are the true ids."""
    rows = [
        [f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}", f"NB{1000 + k // 7}-{k % 7 + 1}", a, b, f"{6 + k % 9 / 5:.1f}"]
        for k, (a, b) in enumerate(product(("Me", "Et", "iPr", "tBu", "Ph"), ("H", "F", "Cl", "OMe")))
    ]
    return Export(
        "a date beside the notebook page",
        text_of(["Registered", "Notebook ref", "R-1", "R-2", "pKi"], rows),
        20,
        {"pKi": ("max", "none", "", 20, 0)},
        id="Notebook ref",
        sites=("R-1", "R-2"),
    )


def maestro():
    """Schrödinger's csv: property names with their origin in front, a docking score, a measured value by hand."""
    rows = [
        [f"lig_{k + 1}", s, f"{-6 - k % 30 / 10:.3f}", f"{-40 - k % 17:.2f}", f"{300 + k:.2f}", f"{p:.2f}"]
        for k, (s, p) in enumerate(benzamides(46, 27))
    ]
    head = ["s_m_title", "SMILES", "r_i_docking_score", "r_psp_MMGBSA_dG_Bind", "r_qp_mol_MW", "r_user_exp_pIC50"]
    return Export(
        "Maestro properties",
        text_of(head, rows),
        46,
        {"r_user_exp_pIC50": ("max", "none", "", 46, 0)},
        id="s_m_title",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def crispr_counts():
    """Factor names on a growth assay: mixed units in one column of results."""
    rows = []
    for k, (s, p) in enumerate(quinazolines(30, 28)):
        unit = "uM" if k % 5 == 0 else "nM"
        rows.append([f"RN-{k + 1}", s, "Ki", "=", um(p) if unit == "uM" else nm(p), unit])
        rows.append([f"RN-{k + 1}", s, "Solubility", "=", f"{40 + k}", "ug/mL"])
    return Export(
        "mixed units and endpoints in one column",
        text_of(["Reg No", "Isomeric_SMILES", "Measurement", "Modifier", "Reported value", "Reported unit"], rows),
        30,
        {"Ki": ("max", "log", "nM", 30, 0), "Solubility": ("max", "none", "ug/mL", 30, 0)},
        id="Reg No",
        smiles="Isomeric_SMILES",
        sites=3,
        said=("--core",),
    )


def macrocycles():
    """A series in which rings join two sites."""
    rng = random.Random(29)
    rows = []
    for a, b in product(("C", "CC", "C(C)C", "c3ccccc3", "CC3CC3"), ("[H]", "C", "OC", "F", "Cl", "N(C)C")):
        rows.append(
            [f"M{len(rows) + 1:02d}", smiles(f"O=C(N{a})c1ccc(NC(=O)c2ccc({b})cc2)cc1"), f"{6 + rng.gauss(0, 0.4):.2f}"]
        )
    for size in (3, 4, 5, 6):
        chain = "C" * size
        rows.append(
            [f"M{len(rows) + 1:02d}", smiles(f"O=C1N{chain}c2cc(C(=O)Nc3ccc1cc3)ccc2"), f"{8.2 + size / 10:.2f}"]
        )
    return Export(
        "open chains and macrocycles that bridge two sites",
        text_of(["Compound", "SMILES", "pIC50"], rows),
        34,
        {"pIC50": ("max", "none", "", 34, 0)},
        id="Compound",
        smiles="SMILES",
        sites=3,
        said=("--core",),
    )


def animal_study():
    """Toxicity and exposure: doses in mg/kg, times, fractions as 0 to 1."""
    rng = random.Random(30)
    rows = []
    for k, (a, b, c) in enumerate(product(("Cl", "F", "Me"), ("H", "OH", "OMe"), ("NH2", "NMe2", "morpholine"))):
        rows.append(
            [
                f"T-{k + 1}",
                a,
                b,
                c,
                f"{rng.uniform(50, 900):.0f}",
                f"{rng.uniform(0.05, 0.9):.2f}",
                f"{10 ** rng.uniform(1, 4):.0f}",
                f"{rng.uniform(0.2, 9):.1f}",
            ]
        )
    return Export(
        "animal study",
        text_of(
            [
                "Compound #",
                "R^1",
                "R^2",
                "R^3",
                "LD50 (mg/kg)",
                "Oral bioavailability (%)",
                "AUC (ng*h/mL)",
                "t1/2 (h)",
            ],
            rows,
        ),
        27,
        {
            "LD50 (mg/kg)": ("max", "log", "mg/kg", 27, 0),
            "Oral bioavailability (%)": ("max", "none", "%", 27, 0),
            "AUC (ng*h/mL)": ("max", "log", "ng*h/mL", 27, 0),
            "t1/2 (h)": ("max", "log", "h", 27, 0),
        },
        id="Compound #",
        sites=("R^1", "R^2", "R^3"),
        said=("fractions",),
    )


def small_series(prefix):
    """A table's ids and substituents, and how potent each compound is."""
    rng = random.Random(23)
    parts = product(("H", "Me", "OMe", "Cl"), ("Ph", "4-F-Ph", "2-pyridyl", "cHex"), ("NH2", "NHMe"))
    return [
        (f"{prefix}{k + 1:04d}", a, b, c, 6 + 0.2 * len(a) - 0.1 * len(b) + 0.1 * len(c) + rng.gauss(0, 0.1))
        for k, (a, b, c) in enumerate(parts)
    ]


def pivot_of_means():
    """A pivot of KNIME: the functions of a column are called like functions, the values say which is which."""
    header = ["row ID", "Compound", "R1", "R2", "R3"]
    header += ["Mean(pIC50)", "Standard deviation(pIC50)", "Count*(pIC50)"]
    header += ["Avg(Clint (uL/min/mg))", "StdDev(Clint (uL/min/mg))"]
    rows = [
        [f"Row{k}", *parts, f"{p:.3f}", f"{0.1 + k / 500:.3f}", "3", f"{5 + 9 * (k % 7)}", f"{1 + k % 5}"]
        for k, (*parts, p) in enumerate(small_series("KN-"))
    ]
    return Export(
        "pivot of means",
        text_of(header, rows),
        32,
        {
            "Mean(pIC50)": ("max", "none", "", 32, 0),
            "Avg(Clint (uL/min/mg))": ("min", "log", "uL/min/mg", 32, 0),
        },
        id="Compound",
        sites=("R1", "R2", "R3"),
        said=("Mean(pIC50): the SDs beside its means",),
    )


def genedata_screener():
    """A result of Genedata Screener: qAC50 in mol/L, its mode, and the logarithm of the same value."""
    header = ["Compound ID", "Batch ID", "R1", "R2", "R3", "qAC50 [M]", "qAC50 Mode", "log(qAC50)", "S0", "Hill"]
    rows = [
        [name, f"{name}-01", *parts, f"{10**-p:.3E}", ">" if k == 2 else "=", f"{-p:.2f}", "0.3", "1.1"]
        for k, (name, *parts, p) in enumerate(small_series("GD-"))
    ]
    return Export(
        "Genedata Screener",
        text_of(header, rows, "\t"),
        32,
        {"qAC50 [M]": ("max", "log", "M", 31, 1)},
        id="Compound ID",
        sites=("R1", "R2", "R3"),
        said=("log(qAC50) holds the logarithms of qAC50 [M]",),
        file="export.txt",
    )


def german_inhibition():
    """A German Excel's csv: semicolons, decimal commas, and an inhibition by its German name."""
    rng = random.Random(29)
    header = ["Substanz-Nr.", "R1", "R2", "R3", "IC50 [µM]", "Hemmung bei 10 µM [%]", "Bemerkung"]
    rows = [
        [*parts, f"{10 ** (6 - p):.3f}".replace(".", ","), f"{rng.uniform(30, 90):.1f}".replace(".", ","), ""]
        for *parts, p in small_series("DE-")
    ]
    return Export(
        "German inhibition",
        text_of(header, rows, ";").encode("cp1252"),
        32,
        {
            "IC50 [µM]": ("max", "log", "µM", 32, 0),
            "Hemmung bei 10 µM [%]": ("max", "none", "%", 32, 0),
        },
        id="Substanz-Nr.",
        sites=("R1", "R2", "R3"),
        said=("Hemmung bei 10 µM [%] is taken as an effect",),
    )


_AGAIN = (livedesign, unnamed_structures, units_in_cells, assays_in_a_column, half_structures, benchling, crispr_counts)
EXPORTS = [
    replace(make(), slow=make in _AGAIN)
    for make in (
        *(cdd, dotmatics, chembl, pubchem, stardrop, livedesign, excel_two_headers, unnamed_structures, smiles_only),
        *(reaction_screen, hte_plate, adme_panel, units_in_cells, two_sites_of_measurement, assays_in_a_column),
        *(antibacterials, german_excel, peptides, two_ids, half_structures, curve_classes, formulation, lipids),
        *(benchling, enhanced_stereo, two_series, id_is_a_date, maestro, crispr_counts, macrocycles, animal_study),
        *(pivot_of_means, genedata_screener, german_inhibition),
    )
]
