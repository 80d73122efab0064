"""What headers say, and the mapping of a table that follows from them and from what a user says."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from assaypilot.engine.domain.endpoint import Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables import headers
from assaypilot.engine.tables.classes import classes_of
from assaypilot.engine.tables.endpoint_kinds import kind_of
from assaypilot.engine.tables.headers import split_unit
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import EndpointSpec, TableMapping, TableOptions, parse_endpoint_spec

COMPUTED = """MolWt|Molecular Weight|Exact Mass|Monoisotopic Mass|Total Molweight|cLogP|AlogP|cLogD7.4|CX LogP|SlogP
XLogP3|MolLogP|Polar Surface Area|TPSA (Å²)|HBA|HBD (Lipinski)|H-Acceptors
H-Donors|NumHDonors|#RO5 Violations|#Rotatable Bonds
NumRotatableBonds|Aromatic Rings|NumAromaticRings|RingCount|HeavyAtomCount|Non-H Atoms|Number of atoms|QED Weighted
Np Likeness Score|Ligand Efficiency LLE|LipE|BEI|cLogS|Druglikeness|Fraction Csp3|FractionCSP3|Stereo Centers
Molar Refractivity|Lipinski Violations|CNS MPO|CX Acidic pKa|docking score|r_i_docking_score|r_qp_mol_MW|i_qp_#rotor
Tanimoto|Purity (%)|Document Year|Max Phase|SA Score|Price"""
FITS = "Hill slope|Hill|R²|Curve class|IC50 95% CI low|IC50 CI upper|IC50 (nM) lower 95% CI|Z' factor"
MEASURED = """IC50 (nM)|pIC50|r_user_pIC50|Ki|Activity|% inhibition @ 10 uM|Papp|CLint (µL/min/mg)|Solubility (µM)
Emax (%)|Yield|Level|logBB|Clearance|hERG IC50 (uM)|Selectivity (fold)|LogIC50 (M)|DC50 (nM)|Residual activity"""


@pytest.mark.parametrize("header", COMPUTED.replace("\n", "|").split("|"))
def test_computed(header):
    assert headers.is_property(header)


@pytest.mark.parametrize("header", FITS.split("|"))
def test_details_of_fits(header):
    assert headers.is_of_fit(header)


@pytest.mark.parametrize("header", MEASURED.replace("\n", "|").split("|"))
def test_measured(header):
    assert not headers.is_property(header)
    assert not headers.is_of_fit(header)


@pytest.mark.parametrize("header", ["pIC50", "-logIC50", "-log10(IC50)", "minus log IC50", "logP", "neg log Ki"])
def test_a_negative_logarithm_is_none_of_these(header):
    assert not headers.is_log_concentration(header)


def mapped(text, *specs, **options):
    table = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return propose(table, TableOptions(endpoints=tuple(parse_endpoint_spec(spec) for spec in specs), **options))


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("pIC50", EndpointSpec("pIC50")),
        (
            " IC50 ; unit = nM ; direction=min;transform=log;sd=0,2;wells_per_measurement=20;",
            EndpointSpec("IC50", "nM", "min", "log", 0.2, 20),
        ),
        ("log 1/C;SD=0.3", EndpointSpec("log 1/C", sd=0.3)),
        ("pIC50;sd=unknown", EndpointSpec("pIC50", sd_estimated=True)),
        ("pIC50;sd=Unknown: 0,2", EndpointSpec("pIC50", sd=0.2, sd_estimated=True)),
        ("hERG; limit = <= 5,5 ;epsilon=0,2", EndpointSpec("hERG", epsilon=0.2, limit=Limit("<=", 5.5))),
    ],
)
def test_endpoint_specs(text, spec):
    assert parse_endpoint_spec(text) == spec


EXAMPLE = 'For example "IC50;unit=nM;sd=0.2".'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", f"--endpoint: an endpoint needs a name before the first semicolon. {EXAMPLE}"),
        (
            "a;cutoff=0.5",
            "--endpoint: 'cutoff' is not known here; known are unit, direction, transform, sd, epsilon, "
            f"limit, wells_per_measurement, of, kind, words. {EXAMPLE}",
        ),
        ("a;unit", f"--endpoint: unit needs a value after =. {EXAMPLE}"),
        ("a;sd=1;sd=2", f"--endpoint: sd is given twice. {EXAMPLE}"),
        ("a;sd=wide", f"--endpoint: sd must be a number, unknown or unknown:0.2, got 'wide'. {EXAMPLE}"),
        ("a;sd=unknown:", f"--endpoint: sd must be a number, unknown or unknown:0.2, got 'unknown:'. {EXAMPLE}"),
        (
            "a;sd=unknown:-1",
            "--sd: assay noise (SD) of a must be a number > 0 in a units, got -1.0. Give the SD between "
            "independent measurements of the same compound, for example 0.2.",
        ),
        ("a;direction=up", f"--endpoint: direction must be max or min, got 'up'. {EXAMPLE}"),
        ("a;transform=ln", f"--endpoint: transform must be log or none, got 'ln'. {EXAMPLE}"),
        (
            "a;wells_per_measurement=2.5",
            f"--endpoint: wells_per_measurement must be a whole number, got '2.5'. {EXAMPLE}",
        ),
    ],
)
def test_wrong_endpoint_specs_are_refused_in_one_line(text, line):
    with pytest.raises(AssayPilotError) as caught:
        parse_endpoint_spec(text)
    assert str(caught.value) == line


@pytest.mark.parametrize("sd", ["0", "-1", "nan", "inf"])
def test_a_noise_that_is_no_spread_is_refused(sd):
    with pytest.raises(AssayPilotError, match=r"assay noise \(SD\) of a must be a number > 0"):
        parse_endpoint_spec(f"a;sd={sd}")


@pytest.mark.parametrize(
    ("header", "parts"),
    [
        ("IC50 (nM)", ("IC50", "nM")),
        ("IC50_uM", ("IC50", "µM")),
        ("IC50 [nM]", ("IC50", "nM")),
        ("Ki nM", ("Ki", "nM")),
        ("Inhibition (%)", ("Inhibition", "%")),
        ("IC50", ("IC50", "")),
        ("Length (m)", ("Length", "m")),
        ("EC50 (M)", ("EC50", "M")),
        ("per cent", ("per cent", "")),
        ("BTK IC50 (nM) (Geo Mean)", ("BTK IC50 (Geo Mean)", "nM")),
        ("EGFR (WT) IC50 nM", ("EGFR (WT) IC50", "nM")),
        ("% inhibition @ 1 uM", ("% inhibition @ 1 uM", "%")),
        ("inhibition at 10 µM", ("inhibition at 10 µM", "")),
        ("pIC50, 10 % serum", ("pIC50, 10 % serum", "")),
        ("Remaining 1h %", ("Remaining 1h %", "%")),
        ("Inhibition (10 uM)", ("Inhibition (10 uM)", "")),
        ("IC50 (Mean)", ("IC50 (Mean)", "")),
        ("Papp (10^-6 cm/s)", ("Papp", "10^-6 cm/s")),
        ("pIC50 (-log[M])", ("pIC50", "")),
        ("hERG pIC50 (M)", ("hERG pIC50", "")),
        ("LogD (7.4)", ("LogD (7.4)", "")),
        ("pIC50 (2)", ("pIC50 (2)", "")),
        ("hERG (IC50 uM)", ("hERG IC50", "µM")),
        ("EGFR [Ki, nM]", ("EGFR Ki", "nM")),
        ("(nM)", ("(nM)", "")),
    ],
)
def test_units_in_headers(header, parts):
    assert split_unit(header) == parts


@pytest.mark.parametrize(
    "name", ["ID", "Name", " compound ", "Compound_ID", "CMPD", "Molecule Name", "molecule chembl id", "CPD"]
)
def test_id_headers(name):
    assert mapped(f"SMILES|{name}|R1|v\nC|a|Me|1.5\nCC|b|H|2.5").id == name.strip()


@pytest.mark.parametrize("name", ["SMILES", "canonical_smiles", "mol", "Molecule", "Structure", "struc", "cxSMILES"])
def test_structure_headers(name):
    assert mapped(f"ID|{name}|R1|v\na|C|Me|1.5\nb|CC|H|2.5").smiles == name


def test_a_mapping_survives_json():
    mapping = mapped(
        "ID|SMILES|R1|R2|IC50 (nM)|IC50 SD|Date|Comment|Excluded|available\n"
        "a|C|Me|H|5|1|d||no|yes\nb|CC|H|H|6|1|d|||no",
        "IC50 (nM);sd=0.2",
        "other;unit=%",
        blank="h",
        product=True,
    )
    again = TableMapping.from_json(json.loads(json.dumps(mapping.as_json(), allow_nan=False)))
    assert again == mapping
    assert set(again.columns()) == {
        "ID", "SMILES", "R1", "R2", "IC50 (nM)", "IC50 SD", "Date", "Comment", "Excluded", "available",
    }  # fmt: skip


def imported(header, *values):
    rows = [f"c{n},{'Me' if n % 2 else 'H'},{'F' if n < 3 else 'Cl'},{value}" for n, value in enumerate(values)]
    raw = parse_text(f"ID,R1,R2,{header}\n" + "\n".join(rows) + "\n")
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("IC50", ("A", "B", "C", "A", "B", "C")),
        ("EGFR IC50", ("+", "++", "+++", "+", "++", "+")),
        ("Activity", ("active", "weak", "inactive", "active", "weak", "weak")),
        ("Potency", ("high", "medium", "low", "low", "low", "low")),
        ("Ki", ("-", "+", "++", "-", "+", "++")),
        ("Activity range", ("*", "**", "***", "*", "*", "*")),
        ("Activity class", ("1", "2", "3", "1", "2", "3")),
        ("Potency category", ("A", "B", "A", "B", "A", "")),
    ],
)
def test_classes_are_said_and_no_values(header, values):
    table = imported(header, *values)
    assert table.endpoints == ()
    assert [site.name for site in table.library.sites] == ["R1", "R2"]
    assert any(f"Column {header} gives classes (" in text and "no numbers" in text for text in table.warnings)


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("R3", ("A", "B", "A", "B")),  # nothing says activity
        ("Series", ("A", "B", "C", "A")),
        ("Salt", ("none", "HCl", "none", "HCl")),
        ("Activity", ("active", "inactive", "active", "inactive")),  # a yes and a no
        ("Amine", ("F", "I", "F", "I")),
        ("IC50 (nM)", ("3", "30", "300", "3")),
        ("Activity", ("1", "2", "3", "1")),
    ],
)
def test_what_is_no_class(header, values):
    assert classes_of(header, values) == ()


def test_concentrations_in_several_units_are_one_column():
    table = imported("IC50", "314 nM", "2.04 uM", "5.1E-06 M", ">12 nM", "7 uM", "")
    assert (table.endpoints[0].unit, len(table.history), table.not_used) == ("nM", 5, ())
    levels = [table.endpoints[0].to_model(one.value, one.unit) for one in table.history]
    assert levels == pytest.approx([6.50, 5.69, 5.29, 7.92, 5.15], abs=0.01)
    assert "IC50: its cells are in nM, µM, M; all are compared in nM, the unit of 2." in table.notes


SOLUBILITIES = "Sol (uM)|Kin Sol (µM)|Kinetic Sol. (uM)|KSOL (uM)|Aq. sol. [uM]|FaSSIF (µM)|kin_sol_uM|Sol7.4 (µM)"


@pytest.mark.parametrize("header", SOLUBILITIES.split("|"))
def test_a_solubility_is_better_high_under_its_short_names(header):
    (endpoint,) = imported(header, "3", "30", "300", "3").endpoints
    assert (endpoint.direction, endpoint.transform, endpoint.is_potency) == ("max", "log", False)


def test_a_potency_by_its_unit_alone_is_a_choice_that_a_note_names():
    table = imported("Target X (nM)", "3", "30", "300", "3")
    assert table.endpoints[0].is_potency
    assert "Only its unit makes it a potency" in "".join(table.notes)
    assert "Only its unit" not in "".join(imported("BTK (IC50) [nM]", "3", "30", "300", "3").notes)


HEADER = (
    "ID", "SMILES", "Core", "para", "Status", "Decided in round", "act estimate", "act low", "act high",
    "P(within 0.5)", "P(hERG < 5)", "Evidence", "Availability", "Goal", "Assay noise (SD)", "Events", "Campaign head",
)  # fmt: skip


def lines(header: Sequence[str] = HEADER) -> list[dict[str, str]]:
    return [
        dict.fromkeys(header, "1.5")
        | {"ID": f"C{k}", "SMILES": "C" * (k + 1), "para": "FH"[k % 2], "Core": "ab"[k // 2]}
        for k in range(4)
    ]  # fmt: skip


def test_an_empty_name_means_that_no_column_is_of_ids_or_structures():
    raw = parse_text("ID,SMILES,R1,R2,pIC50\nA,CCO,H,F,5.1\nB,CCN,Me,Cl,6.2\nC,CCC,H,Cl,6.0\n")
    found, none = propose(raw), propose(raw, TableOptions(id="", smiles=""))
    assert (found.id, found.smiles) == ("ID", "SMILES")
    assert (none.id, none.smiles) == (None, None)
    assert none.sites == found.sites


def test_sites_are_what_stands_between_id_and_status() -> None:
    assert headers.export_sites(HEADER) == ("Core", "para")
    assert headers.export_sites(["Name", "SMILES", "ID", "Picture", "R1", *HEADER[4:]]) == ("R1",)
    assert headers.export_sites(["Status", "ID", "R1", "Evidence", "Availability"]) == (), "moved: conventions hold"
    assert headers.export_sites([name for name in HEADER if name != "Evidence"]) == ()


def test_what_a_campaign_said_is_no_value() -> None:
    said = headers.export_columns(HEADER)
    assert set(HEADER) - set(said) == {"ID", "SMILES", "Core", "para", "act estimate"}
    # A lab's own columns are nobody's bounds.
    assert "dose low" not in headers.export_columns([*HEADER, "dose low"])
    assert headers.export_columns(["ID", "R1", "Status", "P(within 0.5)", "Events"]) == ()


def test_an_exported_csv_needs_no_options(table: Callable[..., Path]) -> None:
    raw = read_table(table([HEADER, *(tuple(line[name] for name in HEADER) for line in lines())]))
    mapping = propose(raw)
    assert (mapping.id, mapping.smiles, mapping.sites) == ("ID", "SMILES", ("Core", "para"))
    assert [column.endpoint.name for column in mapping.endpoints] == ["act estimate"]
    assert any("its estimates are no measurements" in note for note in mapping.notes)


def test_what_is_named_is_read_all_the_same(table: Callable[..., Path]) -> None:
    raw = read_table(table([HEADER, *(tuple(line[name] for name in HEADER) for line in lines())]))
    options = TableOptions(sites=("para",), endpoints=(parse_endpoint_spec("act low;sd=0.2"),))
    mapping = propose(raw, options)
    assert (mapping.sites, [column.value for column in mapping.endpoints]) == (("para",), ["act low"])


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(rows: Sequence[Sequence[Any]]) -> Path:
        path = tmp_path / "x.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in rows), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("header", ["kd (1/s)", "Kd (s-1)", "koff [s^-1]", "k_off (min⁻¹)"])
def test_a_rate_of_dissociation_is_no_potency(header):
    assert not headers.looks_like_activity(header)
    assert kind_of(*headers.split_unit(header), header).what == "a rate of dissociation"
