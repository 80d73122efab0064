"""Columns that say the same quantity more than once: runs count together, means and logarithms of others not again."""

import pytest

from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableMapping, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results
from assaypilot.engine.tables.side_columns import run_groups, run_number


def table(header: str, *rows: str, endpoint: str | None = None):
    raw = parse_text("\n".join([header, *rows]) + "\n")
    options = TableOptions(endpoints=() if endpoint is None else (parse_endpoint_spec(endpoint),))
    mapping = propose(raw, options)
    return mapping, import_table(raw, mapping)


RUNS = ("ID,R1,IC50 run 1 (nM),IC50 run 2 (nM),n", "a,Me,10,12,2", "b,H,300,,1", "c,Et,>10000,9000,2")


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("IC50 run 2 (nM)", ("IC50 (nM)", 2)),
        ("IC50 (nM) Run 1", ("IC50 (nM)", 1)),
        ("IC50_rep1", ("IC50", 1)),
        ("Run 3: pIC50", ("pIC50", 3)),
        ("IC50 (n=2) [µM]", ("IC50 [µM]", 2)),
        ("pKi #2", ("pKi", 2)),
        ("IC50 exp. 01 (nM)", ("IC50 (nM)", 1)),
        ("IC50 (nM)", None),
        ("IC50 n", None),
        ("Kinase 1 IC50 (nM)", None),  # a target, not a run
        ("Run 1", None),  # of what?
        ("Run 1 rep 2 IC50", None),
        ("Inhibition at n10.5", None),
    ],
)
def test_headers_of_runs(header, expected):
    assert run_number(header) == expected


def test_runs_are_measurements_of_one_endpoint():
    mapping, read = table(*RUNS)
    assert [one.name for one in read.endpoints] == ["IC50 (nM)"]
    assert read.endpoints[0].scale_name == "pIC50"
    found = [(r.compound, r.value, r.relation, r.n) for r in read.history]
    # n is of the mean that is not there: it counts no run twice.
    assert found == [("a", 10.0, "=", 1), ("a", 12.0, "=", 1), ("b", 300.0, "=", 1), ("c", 10000.0, ">", 1),
                     ("c", 9000.0, "=", 1)]  # fmt: skip
    assert any("IC50 run 1 (nM), IC50 run 2 (nM) are its runs" in note for note in mapping.notes)
    assert TableMapping.from_json(mapping.as_json()) == mapping
    assert {"IC50 run 1 (nM)", "IC50 run 2 (nM)"} <= set(mapping.columns())


def test_two_columns_with_the_same_run_are_not_put_together():
    assert run_groups(["IC50 run 1", "IC50 Run 1", "IC50 run 2"]) == {}
    assert run_groups(["IC50 run 1 (nM)", "EC50 run 2 (nM)"]) == {}


def test_results_have_a_column_for_each_run():
    _, read = table(*RUNS)
    raw = parse_text("ID,IC50 run 1 (uM),IC50 run 2 (uM)\na,0.01,0.012\nb,>10,\n")
    results = read_results(raw, read.library, read.endpoints).results
    assert [(r.compound, r.value, r.relation, r.unit, r.replicate) for r in results] == [
        ("a", 0.01, "=", "µM", "1"),
        ("a", 0.012, "=", "µM", "2"),
        ("b", 10.0, ">", "µM", "1"),
    ]
