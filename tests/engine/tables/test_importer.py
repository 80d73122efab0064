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


def test_too_many_combinations_are_named_and_not_taken_unasked():
    rows = "\n".join(f"c{k}|a{k % 60}|b{k % 59}|c{k % 58}|{5 + k % 3}" for k in range(60))
    _, _, table = imported(f"ID|R1|R2|R3|pIC50\n{rows}", product=None)
    assert len(table.library) == 60
    assert any(f"{60 * 59 * 58 - 60:,} other combinations" in note for note in table.notes)


def test_the_whole_product_keeps_known_ids_and_history():
    raw, mapping, table = imported("ID|R1|R2|v\na|Me|H|1\nb|Et|Cl|2\nb2|Et|Cl|3", product=True)
    assert (table.compounds, len(table.library)) == (3, 4)
    assert set(table.library.ids) == {"a", "R1=Me|R2=Cl", "R1=Et|R2=H", "b"}
    # The product has one compound per combination: the second id's value goes to the first.
    assert [(r.compound, r.value) for r in table.history] == [("a", 1), ("b", 2), ("b", 3)]
    report = check_report(raw, mapping, table)
    assert (report["compounds"], report["library_size"], report["rank"]) == (3, 4, 3)
    assert report["sites"][1]["substituents"] == [{"label": "H", "count": 1}, {"label": "Cl", "count": 2}]


def test_censored_and_excluded_values_are_counted_but_not_fitted():
    raw, mapping, table = imported("ID|R1|pIC50|Excluded\na|Me|6|\nb|H|7|\nc|Me|6.2|\nd|H|<5|\ne|H|1.5|yes")
    report = check_report(raw, mapping, table)
    (endpoint,) = report["endpoints"]
    assert (endpoint["measured"], endpoint["censored"], endpoint["excluded"]) == (3, 1, 1)
    assert report["additive_fit"]["pIC50"]["rows"] == 3


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


def test_a_unit_column_beside_a_quoted_potency(public):
    raw = read_table(public("pct_cSrc_dataset.csv"))
    mapping = propose(raw, TableOptions(endpoints=(parse_endpoint_spec("Src-IC50"),), sites=("Inhibitor Type",)))
    (column,) = mapping.endpoints
    assert (column.endpoint.unit, column.endpoint.transform, column.unit) == ("nM", "log", "Standard Units")
    assert mapping.id == "Molecule ChEMBL ID"
