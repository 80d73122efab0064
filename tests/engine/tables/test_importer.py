"""From a table to compounds and values: what is made of rows, and what is said of them."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec


def imported(text, *specs, **options):
    raw = parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))
    mapping = propose(
        raw, TableOptions(endpoints=tuple(parse_endpoint_spec(spec) for spec in specs), **{"product": False} | options)
    )
    return raw, mapping, import_table(raw, mapping)


def test_rows_of_one_compound_are_replicates():
    raw, mapping, table = imported("ID|R1|pIC50\na|Me|6.0\na|Me|6.2\nb|H|7\nb|H|7.4\nc|Et|5")
    assert (table.compounds, len(table.history), table.rows_used) == (3, 5, 5)
    (endpoint,) = check_report(raw, mapping, table)["endpoints"]
    # Two pairs, one degree of freedom each: ((0.2^2 + 0.4^2) / 2 / 2)^(1/2)
    assert endpoint["noise_sd"] == pytest.approx(0.05**0.5)
    assert (endpoint["replicate_groups"], endpoint["measured"]) == (2, 5)


def test_values_that_chembl_doubts_are_shown_and_not_used():
    comments = ["Outside typical range", "Manually validated", "", "Potential transcription error"]
    rows = [f"CHEMBL{k}|{'HF'[k % 2]}|{'AB'[k // 2]}|{10**k}|{comment}" for k, comment in enumerate(comments)]
    raw = parse_text("\n".join(["ID|R1|R2|IC50 (nM)|Data Validity Comment", *rows]).replace("|", "\t"))
    mapping = propose(raw)
    assert [one.excluded for one in import_table(raw, mapping).history] == [True, False, False, True]
    assert any(text.startswith("Column Data Validity Comment says") and text.endswith("2.") for text in mapping.notes)
    other = propose(parse_text("ID\tR1\tR2\tIC50 (nM)\tData Validity Comment\na\tH\tA\t1\tfine\nb\tF\tB\t9\tso so\n"))
    assert not any("is a site" in text for text in other.notes)


BELOW = "ID|R1|R2|pIC50~c1|Me|H|6.1~|||6.3~c2|H|Cl|7.2~|||7.0~|||7.1~c3|Me|Cl|~|H||5.0"


def test_values_in_rows_without_an_id_belong_to_the_compound_above():
    raw = parse_text(BELOW.replace("|", "\t").replace("~", "\n"))
    table = import_table(raw, propose(raw))
    assert [(one.compound, one.value) for one in table.history] == [
        ("c1", 6.1), ("c1", 6.3), ("c2", 7.2), ("c2", 7.0), ("c2", 7.1),
    ]  # fmt: skip
    assert [one.row for one in table.not_used] == [8]
    assert any("Rows 3, 5, 6 hold values and no compound" in text for text in table.notes)


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
@example([("a", "Me", "Cl", "1.5", ""), ("", "Me", "Cl", "nan", ""), ("", "Me", "Br", "x", "")], "h", False)
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
    left_out = ("no substituent", "the row has only an id")
    unused = {one.row for one in table.not_used if one.severity == "error" or one.reason.startswith(left_out)}
    assert table.rows_used == table.rows_read - len(unused)
    assert {result.compound for result in table.history} <= set(table.library.ids)
    # A cell is a value, is missing, or is listed with its reason; nothing vanishes.
    for row, text in zip(raw.rows, raw.column("pIC50") if "pIC50" in mapping.columns() else [], strict=False):
        if text and text != "NA" and row not in unused:
            kept = any(result.row == row for result in table.history)
            listed = any(problem.row == row and problem.column in ("pIC50", "N") for problem in table.not_used)
            assert kept != listed


def imported_csv(text):
    raw = parse_text(text)
    return import_table(raw, propose(raw))


@pytest.mark.parametrize(
    ("header", "points"),
    [
        ("Conc (uM),Inhibition (%)", ["10,90", "1,50", "0.1,8"]),
        ("Concentration [M],Response", ["1e-5,90", "1e-6,50"]),
        ("logConc,Activity", ["-5,90", "-6,50"]),
        ("log[M],Value", ["-5,90", "-6,50"]),
        ("[Inhibitor] (nM),% activity", ["100,12", "1000,40"]),
    ],
)
def test_a_table_of_points_has_compounds_and_no_values(header, points):
    rows = [f"{name},{labels},{point}" for name, labels in (("a", "Me,F"), ("b", "H,F")) for point in points]
    table = imported_csv(f"ID,R1,R2,{header}\n" + "\n".join(rows) + "\n")
    assert table.compounds == 2
    assert table.history == ()
    response = header.split(",")[1]
    assert any(
        f"tested at up to {len(points)} concentrations" in text and "give one fitted value" in text and response in text
        for text in table.warnings
    )
