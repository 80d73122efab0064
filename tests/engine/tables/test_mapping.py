import json

import pytest

from assaypilot.engine.domain.endpoint import Limit
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.headers import split_unit
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import (
    EndpointSpec,
    TableMapping,
    TableOptions,
    parse_endpoint_spec,
)


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
