import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec


def imported(text, *specs, **options):
    raw = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    mapping = propose(
        raw, TableOptions(endpoints=tuple(parse_endpoint_spec(spec) for spec in specs), **{"product": False} | options)
    )
    return raw, mapping, import_table(raw, mapping)


def problems(table):
    return [(p.row, p.column, p.reason) for p in table.not_used]


def refusal(text, *specs, **options):
    with pytest.raises(AssayPilotError) as caught:
        imported(text, *specs, **options)
    return str(caught.value)


def test_compounds_and_history():
    _, _, table = imported("ID|SMILES|R1|R2|pIC50\na|C|Me|H|6.5\nb||Et|H|\nc|CC|Me|Cl|>7")
    assert table.library.ids == ("a", "b", "c")
    assert table.library.smiles == ("C", "", "CC")
    assert table.library.substituents(2) == {"R1": "Me", "R2": "Cl"}
    assert [(r.compound, r.value, r.relation, r.row) for r in table.history] == [("a", 6.5, "=", 2), ("c", 7, ">", 4)]
    assert (table.rows_read, table.rows_used, table.compounds) == (3, 3, 3)
    assert table.not_used == ()


def test_a_bad_value_loses_only_itself():
    _, _, table = imported(
        "ID|R1|IC50 (nM)|yield\na|Me|12|50\nb|Et|soon|60\nc|H|nan|70\nd|Cl|-3|80\ne|Br|5 mg|90\nf|F|1e400|NA\ng|I|7|8"
    )
    assert table.compounds == 7
    assert problems(table) == [
        (3, "IC50 (nM)", "'soon' is not a number"),
        (4, "IC50 (nM)", "'nan' is not a finite number"),
        (5, "IC50 (nM)", "-3 has no logarithm (must be > 0)"),
        (6, "IC50 (nM)", "unit mg cannot be converted to nM"),
        (7, "IC50 (nM)", "'1e400' is not a finite number"),
    ]
    assert sum(result.endpoint == "yield" for result in table.history) == 6


def test_a_bad_side_cell_names_its_own_column():
    _, _, table = imported("ID|R1|pIC50|N|SD|Qualifier\na|Me|6|0|1|=\nb|H|7|2|-1|=\nc|H|7|2|1|maybe\nd|Et|7|2|1|<")
    assert [(row, column) for row, column, _ in problems(table)] == [(2, "N"), (3, "SD"), (4, "Qualifier")]
    (result,) = table.history
    assert (result.relation, result.n, result.sd) == ("<", 2, 1)


def test_rows_of_one_compound_are_replicates():
    raw, mapping, table = imported("ID|R1|pIC50\na|Me|6.0\na|Me|6.2\nb|H|7\nb|H|7.4\nc|Et|5")
    assert (table.compounds, len(table.history), table.rows_used) == (3, 5, 5)
    (endpoint,) = check_report(raw, mapping, table)["endpoints"]
    # Two pairs, one degree of freedom each: ((0.2^2 + 0.4^2) / 2 / 2)^(1/2)
    assert endpoint["noise_sd"] == pytest.approx(0.05**0.5)
    assert (endpoint["replicate_groups"], endpoint["measured"]) == (2, 5)


def test_a_given_noise_goes_before_the_replicates():
    raw, mapping, table = imported("ID|R1|pIC50\na|Me|6.0\na|Me|6.2\nb|H|7", sd=0.3)
    assert check_report(raw, mapping, table)["endpoints"][0]["noise_sd"] == 0.3
    assert table.endpoints[0].noise_sd == 0.3


def test_means_with_n_and_sd_tell_the_noise_on_the_model_scale():
    raw, mapping, table = imported("ID|R1|IC50 (nM)|N|SD\na|Me|100|3|23.0259\nb|H|10|1|")
    (endpoint,) = check_report(raw, mapping, table)["endpoints"]
    assert endpoint["noise_sd"] == pytest.approx(0.1, abs=1e-5)
    assert endpoint["replicate_groups"] == 1


def test_one_id_with_two_kinds_of_substituents_is_an_error_for_these_rows():
    _, _, table = imported("ID|R1|pIC50\na|Me|6\nb|H|7\na|Et|8\nc|Cl|5")
    assert [(p.row, p.severity) for p in table.errors] == [(2, "error"), (4, "error")]
    assert problems(table) == [
        (2, "ID", "id 'a' has other substituents in row 4; one id must be one compound"),
        (4, "ID", "id 'a' has other substituents in row 2; one id must be one compound"),
    ]
    assert table.library.ids == ("b", "c")
    assert table.rows_used == 2


def test_two_ids_with_the_same_substituents_are_two_compounds_and_noted():
    _, _, table = imported("ID|R1|pIC50\na|Me|6\nb|Me|7\nc|Et|8")
    assert table.library.ids == ("a", "b", "c")
    assert any("for example a and b: R1=Me" in note for note in table.notes)


def test_ids_that_differ_in_capitals_only_are_asked_about():
    _, _, table = imported("ID|R1|pIC50\nAP-1|Me|6\nap-1|Me|7\nAP-2|Et|8\nAp-2|Et|8\nx|H|5")
    assert table.library.ids == ("AP-1", "ap-1", "AP-2", "Ap-2", "x")
    assert any("(AP-1 and ap-1, and 1 more) are different compounds here" in text for text in table.warnings)
    _, _, table = imported("ID|R1|pIC50\nAP-1|Me|6\nAP-1|Me|7\nap-2|Et|8")
    assert not any("capitals" in text for text in table.warnings)


def test_ids_are_made_from_the_substituents():
    _, _, table = imported("R1|R2|v\nMe|H|1.5\nEt|H|2\nMe|H|1.7")
    assert table.library.ids == ("R1=Me|R2=H", "R1=Et|R2=H")
    assert [result.compound for result in table.history] == ["R1=Me|R2=H", "R1=Et|R2=H", "R1=Me|R2=H"]
    _, _, some = imported("ID|R1|v\na|Me|1\n|Et|2\nNA|H|3")
    assert some.library.ids == ("a", "R1=Et", "R1=H")
    assert "2 rows have no id; named by the substituents." in some.notes


BLANKS = "ID|R1|R2|v\na|Me||1\nb|Et|[H][*:2]|2\nc|NA|Cl|3\nd|Me|Cl|4\ne|Me|-|5"


def test_blank_substituents_are_missing_unless_said_otherwise():
    _, _, table = imported(BLANKS)
    assert problems(table) == [
        (2, "R2", "the substituent is missing"),
        (4, "R1", "the substituent is missing"),
        (6, "R2", "the substituent is missing"),
    ]
    assert table.library.ids == ("b", "d")
    assert any("(R2: 2)" in text and "--blank h" in text for text in table.warnings)


MEASURED = "ID|R1|R2|pIC50\na|Me|H|6\nb|Et|Cl|7\nc|Pr|H|5"


def test_combinations_nobody_made_are_candidates_where_every_row_is_measured():
    _, _, table = imported(MEASURED, product=None)
    assert len(table.library) == 6
    assert {"a", "b", "c", "R1=Me|R2=Cl"} <= set(table.library.ids)
    assert {result.compound for result in table.history} == {"a", "b", "c"}


def test_too_many_combinations_are_named_and_not_taken_unasked():
    rows = "\n".join(f"c{k}|a{k % 60}|b{k % 59}|c{k % 58}|{5 + k % 3}" for k in range(60))
    _, _, table = imported(f"ID|R1|R2|R3|pIC50\n{rows}", product=None)
    assert len(table.library) == 60
    assert any(f"{60 * 59 * 58 - 60:,} other combinations" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (MEASURED + "\nd|Me|Cl|", {"product": None}),  # one is left to measure
        (MEASURED, {"product": False}),
        (
            MEASURED.replace("pIC50", "pIC50|In stock").replace("|6", "|6|yes").replace("|7", "|7|yes"),
            {"product": None},
        ),
    ],
)
def test_rows_are_the_candidates_where_the_table_says_so(text, options):
    _, _, table = imported(text, **options)
    assert set(table.library.ids) <= {"a", "b", "c", "d"}


def test_blank_substituents_as_hydrogen_join_the_hydrogen_of_the_site():
    _, _, table = imported(BLANKS, blank="h")
    assert table.library.ids == ("a", "b", "d", "e")
    assert table.library.sites[1].substituents == ("[H][*:2]", "Cl")
    assert problems(table) == [(4, "R1", "the substituent is missing")]
    assert "Empty substituent cells count as hydrogen (R2: 2)." in table.notes


def test_spellings_of_hydrogen_are_one_substituent():
    _, _, table = imported("ID|R1|v\na|[H]*|1\nb|H|2\nc|C*|3\nd|*[H]|1.1")
    assert table.library.sites[0].substituents == ("[H]*", "C*")
    assert "[H]*, H, *[H] at R1 are all hydrogen, one substituent." in table.notes


def test_a_site_with_one_substituent_is_left_out_with_a_warning():
    _, _, table = imported("ID|R1|R2|v\na|Me|H|1\nb|Et|H|2")
    assert [site.name for site in table.library.sites] == ["R1"]
    assert (
        "Site R2 has one substituent (H), so it carries no information; it is left out of the model." in table.warnings
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "ID|R1|v\na|Me|1\nb|Me|2",
            "column R1: site R1 has one substituent (Me), so it carries no information. "
            "Add compounds with another substituent there.",
        ),
        (
            "ID|R1|R2|v\na|Me|H|1\nb|Me|H|2",
            "every site has one substituent, so there is nothing to compare. Add compounds with other substituents.",
        ),
        (
            "ID|R1|v\na|Me|1\na|Me|2",
            "there is only one compound (a). A campaign needs two or more, each with its substituents; "
            "see what assaypilot check says.",
        ),
        (
            "ID|R1|v\na||1\nb||2",
            "no compound could be used. A campaign needs two or more, each with its substituents; "
            "see what assaypilot check says.",
        ),
    ],
)
def test_what_is_no_campaign_is_refused_in_one_line(text, line):
    assert refusal(text) == line


def test_the_whole_product_keeps_known_ids_and_history():
    raw, mapping, table = imported("ID|R1|R2|v\na|Me|H|1\nb|Et|Cl|2\nb2|Et|Cl|3", product=True)
    assert (table.compounds, len(table.library)) == (3, 4)
    assert set(table.library.ids) == {"a", "R1=Me|R2=Cl", "R1=Et|R2=H", "b"}
    # The product has one compound per combination: the second id's value goes to the first.
    assert [(r.compound, r.value) for r in table.history] == [("a", 1), ("b", 2), ("b", 3)]
    report = check_report(raw, mapping, table)
    assert (report["compounds"], report["library_size"], report["rank"]) == (3, 4, 3)
    assert report["sites"][1]["substituents"] == [{"label": "H", "count": 1}, {"label": "Cl", "count": 2}]


def test_availability_is_a_flag_and_odd_words_are_listed():
    _, _, table = imported("ID|R1|v|In stock\na|Me|1|yes\nb|H|2|No\nc|Et|3|soon\nd|Cl|4|", available="in stock")
    assert table.library.measurable.tolist() == [True, False, False, False]
    assert problems(table) == [(4, "In stock", "'soon' is neither yes nor no; taken as no")]


def test_one_row_per_measurement():
    _, _, table = imported(
        "ID|R1|Endpoint|Value|Unit|Relation|Date|Excluded|Comment\n"
        "a|Me|IC50|12|nM||2024-01-02||\na|Me|IC50|0.02|uM|||x|spilt\n"
        "b|H|yield|50|%||||\nb|H|other|1|||||\nb|H||1|||||",
        "IC50;unit=nM",
        "yield;unit=%",
    )
    first, second, third = table.history
    assert (first.endpoint, first.value, first.unit, first.date) == ("IC50", 12, None, "2024-01-02")
    assert (second.unit, second.excluded, second.comment) == ("uM", True, "spilt")
    assert (third.endpoint, third.value) == ("yield", 50)
    assert problems(table) == [
        (5, "Endpoint", "endpoint 'other' is not part of the campaign"),
        (6, "Endpoint", "names no endpoint"),
    ]


def test_censored_and_excluded_values_are_counted_but_not_fitted():
    raw, mapping, table = imported("ID|R1|pIC50|Excluded\na|Me|6|\nb|H|7|\nc|Me|6.2|\nd|H|<5|\ne|H|1.5|yes")
    report = check_report(raw, mapping, table)
    (endpoint,) = report["endpoints"]
    assert (endpoint["measured"], endpoint["censored"], endpoint["excluded"]) == (3, 1, 1)
    assert report["additive_fit"]["pIC50"]["rows"] == 3


def test_unlikely_bare_numbers_are_asked_about():
    _, _, table = imported("ID|R1|pIC50\na|Me|35\nb|H|7\nc|Et|35 nM")
    assert 'Row 2: 35 is unusual for pIC50: "35 nM"?' in table.warnings
    assert table.history[2].value == pytest.approx(7.4559, abs=1e-4)
    assert table.history[2].comment == "entered as 35 nM"


KEYS = {
    "rows_read", "rows_used", "not_used", "encoding", "delimiter", "id_column", "smiles_column", "sites", "endpoints",
    "compounds", "library_size", "rank", "max_rank", "additive_fit", "warnings",
}  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "d", "", "NA"]),
            st.sampled_from(["Me", "Et", "H", "[H]*", "", "-"]),
            st.sampled_from(["Cl", "Br", ""]),
            st.sampled_from(["1.5", "2", "", "NA", "x", "nan", ">3", "1e999", "5 nM", "7,5", "3 4"]),
            st.sampled_from(["", "0", "2", "x"]),
        ),
        min_size=1,
        max_size=12,
    ),
    st.sampled_from(["h", "missing"]),
    st.booleans(),
)
def test_no_table_breaks_the_check(rows, blank, product):
    raw = parse_text("\n".join("\t".join(row) for row in [("ID", "R1", "R2", "pIC50", "N"), *rows]))
    mapping = propose(raw, TableOptions(blank=blank, product=product))
    try:
        table = import_table(raw, mapping)
    except AssayPilotError:
        # Golden lines of these refusals stand above; here only that nothing else is raised.
        return
    report = check_report(raw, mapping, table)
    assert report.keys() >= KEYS
    json.dumps(report, allow_nan=False)
    unused = {problem.row for problem in table.not_used if problem.severity == "error" or "missing" in problem.reason}
    assert table.rows_used == table.rows_read - len(unused)
    assert {result.compound for result in table.history} <= set(table.library.ids)
    # A cell is a value, is missing, or is listed with its reason; nothing vanishes.
    for row, text in zip(raw.rows, raw.column("pIC50") if "pIC50" in mapping.columns() else [], strict=False):
        if text and text != "NA" and row not in unused:
            kept = any(result.row == row for result in table.history)
            listed = any(problem.row == row and problem.column in ("pIC50", "N") for problem in table.not_used)
            assert kept != listed


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(9)))
def test_the_order_of_rows_does_not_change_the_fit(order):
    lines = [f"{r1}{r2}|{r1}|{r2}|{i * i % 7 + 0.5}" for i, (r1, r2) in enumerate((a, b) for a in "xyz" for b in "uvw")]
    raw, mapping, table = imported("\n".join(["ID|R1|R2|v", *(lines[place] for place in order)]))
    first = check_report(*imported("\n".join(["ID|R1|R2|v", *lines])))["additive_fit"]["v"]
    again = check_report(raw, mapping, table)["additive_fit"]["v"]
    assert again == pytest.approx(first)


def checked(path, **options):
    raw = read_table(path)
    mapping = propose(raw, TableOptions(**options))
    return check_report(raw, mapping, import_table(raw, mapping))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "options", "endpoint", "rank", "r2", "q2"),
    [
        ("tropane_isoxazole_5x2.csv", {}, "pIC50", 6, 0.976, 0.876),
        ("antiadrenergic_22_fw_table.csv", {"sites": ("para", "meta")}, "act", 11, 0.939, 0.772),
        ("freewilson1964_tetracycline_10.csv", {"sites": ("R", "X", "Y")}, "act", 6, 0.906, 0.443),
        ("CHEMBL2321810_rgd_table.csv", {}, "Act", 516, 0.979, 0.788),
        ("baybe_aryl_halide.csv", {"sites": ("base", "ligand", "aryl_halide", "additive")}, "yield", 42, 0.701, 0.695),
    ],
)
def test_public_tables_are_checked_as_their_readme_says(public, file, options, endpoint, rank, r2, q2):
    report = checked(public(file), **options)
    assert [e["name"] for e in report["endpoints"]] == [endpoint]
    assert report["rank"] == rank
    assert report["additive_fit"][endpoint]["r2"] == pytest.approx(r2, abs=5e-4)
    assert report["additive_fit"][endpoint]["q2"] == pytest.approx(q2, abs=5e-4)
    if file.startswith("CHEMBL2321810"):
        assert report["additive_fit"]["Act"]["leverage_one"] == 436
        assert any("436 of 628 compounds are fitted exactly" in text for text in report["warnings"])


def test_a_unit_column_beside_a_quoted_potency(public):
    raw = read_table(public("pct_cSrc_dataset.csv"))
    mapping = propose(raw, TableOptions(endpoints=(parse_endpoint_spec("Src-IC50"),), sites=("Inhibitor Type",)))
    (column,) = mapping.endpoints
    assert (column.endpoint.unit, column.endpoint.transform, column.unit) == ("nM", "log", "Standard Units")
    assert mapping.id == "Molecule ChEMBL ID"
