import json
from itertools import product

import pytest

from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.stated_noise import StatedNoise
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.headers import split_unit
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import (
    EndpointColumn,
    EndpointSpec,
    TableMapping,
    TableOptions,
    parse_endpoint_spec,
)


def mapped(text, *specs, **options):
    table = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    return propose(table, TableOptions(endpoints=tuple(parse_endpoint_spec(spec) for spec in specs), **options))


def endpoints(mapping):
    return {column.endpoint.name: column for column in mapping.endpoints}


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


EXAMPLE = 'For example --endpoint "IC50;unit=nM;sd=0.2".'


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


def test_sites_are_found_in_their_order():
    assert mapped("ID|R10|r2|R-group 1|v\na|Me|H|H|1\nb|H|Me|Me|2").sites == ("R-group 1", "r2", "R10")


def test_the_surest_id_wins_and_the_others_are_left():
    assert mapped("Name|Compound ID|R1|v\nx|a|Me|1.5\ny|b|H|2.5").id == "Compound ID"


def test_without_an_id_header_the_leftmost_nearly_unique_text_is_taken_and_said():
    mapping = mapped("group|Code|R1|v\nA|x1|Me|1.5\nA|x2|H|2.5\nA|x3|Et|2")
    assert mapping.id == "Code"
    assert "No column is called ID; column Code was taken for the ids. To choose: --id COLUMN." in mapping.notes
    none = mapped("group|R1|v\nA|Me|1.5\nA|H|2.5\nA|Et|2")
    assert none.id is None
    assert "There is no column with ids; they are made from the substituents." in none.notes


def test_codes_like_1a_are_ids_not_numbers():
    mapping = mapped("Code|R1|v\n1A|Me|1.5\n2B|H|2.5\n3C|Et|2")
    assert (mapping.id, list(endpoints(mapping))) == ("Code", ["v"])


def test_columns_whose_levels_tell_compounds_apart_are_sites():
    text = "ID|X|Y|v\na|Me|H|1\nb|H|Me|2\nc|Me|Me|2\nd|H|H|2"
    assert mapped(text).sites == ("X", "Y")
    assert mapped(text).warnings == (
        "No column is called R1, R2, ...; the sites are X, Y, whose levels together distinguish the compounds. "
        "For others: --sites X,Y.",
    )
    assert mapped(text, sites=("x", "Y")).sites == ("X", "Y")


def test_columns_that_do_not_tell_compounds_apart_are_refused_as_candidates():
    text = "ID|X|Y|v\n" + "\n".join(f"c{n}|{'ab'[n % 2]}|{'pq'[n // 2 % 2]}|{n / 7:.3f}" for n in range(40))
    with pytest.raises(AssayPilotError) as caught:
        mapped(text)
    assert str(caught.value) == (
        "--sites: there is no site column (R1, R2, ...). Name the columns with the substituents: --sites X,Y."
    )


def test_coded_levels_with_replicates_are_a_design():
    runs = [levels for levels in product((-1, 1), repeat=3) for _ in range(2)]
    rows = [f"{n}|{a}|{b}|{c}|{50 + 7 * a - 3 * b + n / 9:.2f}" for n, (a, b, c) in enumerate(runs, 1)]
    assert mapped("StdOrder|A|B|C|Yield\n" + "\n".join(rows)).sites == ("A", "B", "C")


def test_a_count_of_rows_is_not_the_ids_where_a_column_of_codes_is():
    rows = [f"{n + 1}|JX-{7919 * n % 1000}|{'Me' if n % 2 else 'H'}|{n / 7:.2f}" for n in range(8)]
    assert mapped("#|JX number|R1|pIC50\n" + "\n".join(rows)).id == "JX number"


def test_ids_that_repeat_are_the_column_that_stands_for_one_compound():
    text = "Result|Corporate_Ref_ID|R1|R2|pIC50\n" + "\n".join(
        f"{n}|AX-{n // 3}|{'Me' if n // 3 % 2 else 'H'}|{n // 6}|{n / 9:.2f}" for n in range(36)
    )
    assert mapped(text).id == "Corporate_Ref_ID"


def test_a_column_of_structures_is_never_the_ids():
    text = "ID|R1|v\n" + "\n".join(f"{'C' * (n + 4)}O|{'ab'[n % 2]}|{n}" for n in range(6))
    assert (mapped(text).smiles, mapped(text).id) == ("ID", None)


def test_of_two_columns_of_ids_one_is_taken_and_the_other_named():
    text = "Catalog ID|Corporate ID|R1|v\nZ1|A-1|Me|1\nZ2|A-2|H|2\nZ3|A-3|Et|3"
    assert mapped(text).id == "Corporate ID"


def test_columns_that_repeat_a_factor_are_no_sites_of_their_own():
    rows = [
        f"{b}|{cas}|{s}|{t}|{n / 7:.3f}"
        for n, ((b, cas), s, t) in enumerate(
            product((("KOH", "1310-58-3"), ("DBU", "6674-22-2")), ("THF", "DMF", "MeCN"), (25, 50, 80))
        )
    ]
    mapping = mapped("base|base_cas_number|solvent|temperature|yield\n" + "\n".join(rows))
    assert mapping.sites == ("base", "solvent", "temperature")
    assert "Not used, as they say the same: base_cas_number." in mapping.warnings[0]


def test_ids_and_side_columns_are_not_proposed_as_sites():
    with pytest.raises(AssayPilotError) as caught:
        mapped("Compound|X|Batch|Assay|v\na|Me|b1|s|1\na|Me|b1|t|2\nb|H|b2|s|3\nb|H|b2|t|4")
    assert str(caught.value).endswith("Name the columns with the substituents: --sites X.")


def test_a_named_column_that_is_not_there_is_refused():
    with pytest.raises(AssayPilotError) as caught:
        mapped("ID|R1|v\na|Me|1\nb|H|2", sites=("R1", "R7"))
    assert str(caught.value) == "--sites: there is no column 'R7'; the columns are ID, R1, v. Name one of them."
    with pytest.raises(AssayPilotError, match="a site is named twice"):
        mapped("ID|R1|v\na|Me|1\nb|H|2", sites=("R1", "r1"))


def test_numeric_columns_become_endpoints_and_the_rest_is_said():
    mapping = mapped(
        "No|ID|R1|pIC50|yield|MW|Registry|Plate|Well|empty|text\n"
        "1|a|Me|6.5|50|300.1|1000001|1|A1||x\n2|b|H|NA|60|310.5|1000007|1|A2||y\n3|c|Et|>7|70|310.5|1000009|1|A3||x"
    )
    assert list(endpoints(mapping)) == ["pIC50", "yield"]
    assert "Taken as endpoints, because their columns hold numbers: pIC50, yield." in mapping.notes
    assert "Column MW looks like a computed property; name it with --endpoint to use it." in mapping.notes
    assert "Columns No, Registry look like row numbers or ids; name one with --endpoint to use it." in mapping.notes
    assert (mapping.plate, mapping.well) == ("Plate", "Well")


def test_a_column_with_more_text_than_numbers_is_said_unless_its_header_is_a_potency():
    mapping = mapped("ID|R1|remark x|pIC50\na|Me|1.5|5.5\nb|H|good|soon\nc|Et|bad|later")
    assert list(endpoints(mapping)) == ["pIC50"]
    assert "Column remark x holds more text than numbers; name it with --endpoint to use it." in mapping.notes


def test_a_count_of_rows_is_no_endpoint_but_a_short_one_may_be():
    rows = "\n".join(f"{i}|c{i}|{'Me' if i % 2 else 'H'}|{i}.5" for i in range(1, 8))
    assert list(endpoints(mapped(f"x|ID|R1|v\n{rows}"))) == ["v"]
    assert list(endpoints(mapped("ID|R1|v\na|Me|1\nb|H|2\nc|Et|3"))) == ["v"]


def test_whole_numbers_may_be_an_activity():
    assert list(endpoints(mapped("ID|R1|act\na|Me|60\nb|H|21\nc|Et|15"))) == ["act"]


@pytest.mark.parametrize(
    ("header", "unit", "transform", "scale"),
    [
        ("IC50 (nM)", "nM", "log", "pIC50"),
        ("IC50_uM", "µM", "log", "pIC50"),
        ("hERG [µM]", "µM", "log", "phERG"),
        ("pIC50", "", "none", "pIC50"),
        ("Solubility (µM)", "µM", "none", "Solubility (µM)"),
        ("Solubility_(µM)", "µM", "none", "Solubility_(µM)"),
        ("Inhibition (%)", "%", "none", "Inhibition (%)"),
    ],
)
def test_headers_say_unit_and_scale(header, unit, transform, scale):
    (column,) = mapped(f"ID|R1|{header}\na|Me|6.5\nb|H|7.5").endpoints
    assert column.endpoint == Endpoint(header, unit, transform, "min" if "hERG" in header else "max")
    assert column.endpoint.scale_name == scale


@pytest.mark.parametrize("header", ["pChEMBL Value", "pchembl_value_Mean", "pActivity", "pAffinity (hH3)", "pKi"])
def test_negative_logarithms_are_potencies_that_are_better_high(header):
    (column,) = mapped(f"ID|R1|{header}\na|Me|6.5\nb|H|7.5").endpoints
    assert (column.endpoint.direction, column.endpoint.transform, column.direction_known) == ("max", "none", True)
    assert column.endpoint.is_log


@pytest.mark.parametrize(
    ("header", "direction", "transform"),
    [
        ("HLM CLint (µL/min/mg)", "min", "log"),
        ("Caco-2 efflux ratio", "min", "log"),
        ("hERG pIC50", "min", "none"),
        ("CYP3A4 IC50 (µM)", "min", "log"),
        ("HepG2 CC50 (µM)", "min", "log"),
        ("MIC E. coli (µg/mL)", "min", "log"),
        ("Solubility pH 7.4 (µM)", "max", "log"),
        ("t1/2 (h)", "max", "log"),
        ("BTK IC50 nM (Site B)", "max", "log"),
        ("BTK IC50 nM [CRO 1]", "max", "log"),
        ("Total impurities (%)", "min", "none"),
    ],
)
def test_which_way_is_better_is_known_by_the_name(header, direction, transform):
    (column,) = mapped(f"ID|R1|{header}\na|Me|0.5\nb|H|7.5\nc|Et|90").endpoints
    assert (column.endpoint.direction, column.endpoint.transform) == (direction, transform)
    assert column.direction_known
    assert column.direction_why.endswith(("better", column.endpoint.scale_name))


@pytest.mark.parametrize(("header", "plate"), [("Assay Plate", "Assay Plate"), ("Assay Run", None)])
def test_plates_and_runs_of_an_assay_name_no_assays(header, plate):
    rows = [f"c{n}|R{n % 3}|P-{k}|{n + k + 1}" for n in range(8) for k in (1, 2)]
    mapping = mapped(f"ID|R1|{header}|IC50 (nM)\n" + "\n".join(rows))
    assert (list(endpoints(mapping)), mapping.assay_column, mapping.plate) == (["IC50 (nM)"], None, plate)


def test_assays_that_share_compounds_are_endpoints_and_those_that_do_not_are_pooled():
    both = [f"c{n}|R{n % 3}|{a}|{n + 1}" for n in range(8) for a in ("enzyme", "cell")]
    mapping = mapped("ID|R1|Assay format|IC50 (nM)\n" + "\n".join(both))
    assert list(endpoints(mapping)) == ["IC50 (nM) enzyme", "IC50 (nM) cell"]
    apart = [f"c{n}|R{n % 3}|{'Basel' if n < 4 else 'Boston'}|{n * 7.5 + 1}" for n in range(8)]
    mapping = mapped("ID|R1|Laboratory|IC50 (nM)\n" + "\n".join(apart))
    assert (list(endpoints(mapping)), mapping.assay_column) == (["IC50 (nM)"], "Laboratory")
    assert "--assays each" in mapping.warnings[0]
    alone = mapped("ID|R1|Laboratory|IC50 (nM)\n" + "\n".join(apart), assays="basel")
    assert alone.endpoints[0].assay == "Basel"
    with pytest.raises(AssayPilotError, match="names no assay 'Berlin'"):
        mapped("ID|R1|Laboratory|IC50 (nM)\n" + "\n".join(apart), assays="Berlin")


def test_a_potency_without_a_unit_is_low_when_good_and_that_is_said():
    mapping = mapped("ID|R1|IC50\na|Me|6.5\nb|H|7.5")
    assert mapping.endpoints[0].endpoint == Endpoint("IC50", "", "log", "min")
    assert mapping.warnings == (
        "IC50 has no unit: it is modelled as log10 IC50, lower is better. "
        'Give the unit for a pIC50-like scale, for example --endpoint "IC50;unit=nM".',
    )


def test_the_direction_is_on_the_model_scale_and_min_of_a_potency_is_explained():
    mapping = mapped("ID|R1|IC50 (nM)\na|Me|6.5\nb|H|7.5", "IC50;direction=min")
    (column,) = mapping.endpoints
    assert (column.value, column.endpoint.direction, column.endpoint.unit) == ("IC50 (nM)", "min", "nM")
    assert mapping.warnings == (
        "direction=min of IC50 is on the model scale: it looks for the lowest pIC50, that is the highest IC50 in nM, "
        "the least potent compounds. Leave direction out to look for the most potent.",
    )
    assert "The values of IC50 are in column IC50 (nM)." in mapping.notes


def test_an_endpoint_need_not_be_a_column_and_noise_is_shared():
    mapping = mapped("ID|R1|v\na|Me|\nb|H|", "v", "hERG;unit=uM;sd=0.3", sd=StatedNoise(0.2))
    assert mapping.endpoints == (
        EndpointColumn(Endpoint("v", noise_sd=0.2), "v"),
        EndpointColumn(Endpoint("hERG", "µM", "log", "min", noise_sd=0.3), None),
    )
    mapping = mapped("ID|R1|v\na|Me|\nb|H|", "v", "hERG;unit=uM;sd=0.3", sd=StatedNoise(None, estimated=True))
    assert [column.endpoint.noise_estimated for column in mapping.endpoints] == [True, False]


def test_side_columns_belong_to_their_endpoint():
    found = endpoints(
        mapped("ID|R1|IC50 (nM)|IC50 SD|IC50_n|qualifier|EC50 nM|n|sd\na|Me|5|1|3|<|7|2|1\nb|H|6|1|3||8|2|1")
    )
    assert list(found) == ["IC50 (nM)", "EC50 nM"]
    first, second = found.values()
    assert (first.sd, first.n, first.relation) == ("IC50 SD", "IC50_n", None)
    assert (second.relation, second.n, second.sd) == ("qualifier", "n", "sd")


def test_a_side_column_that_cannot_be_placed_is_said():
    mapping = mapped("ID|SD|R1|a|b\nx|1|Me|5.5|6.5\ny|1|H|5.5|6.5")
    assert mapping.warnings[0].startswith("Not used, because it is not clear to which endpoint they belong: SD.")


def test_one_row_per_measurement_with_units():
    mapping = mapped(
        "ID|R1|standard_type|standard_relation|standard_value|standard_units\n"
        "a|Me|IC50|=|5|nM\nb|H|Ki|>|4|uM\nb|H|IC50|=|4|nM"
    )
    found = endpoints(mapping)
    assert mapping.endpoint_column == "standard_type"
    assert found["IC50"] == EndpointColumn(
        Endpoint("IC50", "nM", "log"), "standard_value", "IC50", "standard_relation", "standard_units"
    )
    assert found["Ki"].endpoint.unit == "µM"


def test_standard_value_with_units_alone_is_a_potency():
    (column,) = mapped("ID|R1|standard_value|standard_units\na|Me|5|nM\nb|H|4|nM").endpoints
    assert column.endpoint == Endpoint("standard_value", "nM", "log")
    assert column.unit == "standard_units"


def test_an_endpoint_named_twice_is_refused():
    with pytest.raises(AssayPilotError, match="endpoint v is named twice"):
        mapped("ID|R1|v\na|Me|1\nb|H|2", "v", "v;sd=1")


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
