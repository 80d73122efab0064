"""A difference of two endpoints said with a table: read from no column, made of what the columns hold."""

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report, endpoint_facts
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.options import TableMapping, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results

TABLE = """
ID|R1|R2|pIC50|hERG (nM)
a|H|H|7|1000
b|H|Me|7.5|
c|Me|H||100
d|Me|Me|8|100
e|Et|H|6.5|1000
f|Et|Me|7.1|>10000
"""
SPECS = ("pIC50;sd=0.2", "hERG (nM);sd=0.3", "S;of=pIC50 - phERG;epsilon=0.5;limit=>1")


def raw_of(text):
    return parse_text("\n".join("\t".join(line.split("|")) for line in text.strip().split("\n")))


def mapped(text, *specs, **options):
    return propose(raw_of(text), TableOptions(endpoints=tuple(map(parse_endpoint_spec, specs)), **options))


def refusal(call, *arguments):
    with pytest.raises(AssayPilotError) as caught:
        call(*arguments)
    return str(caught.value)


def test_it_is_the_last_endpoint_and_has_no_column():
    mapping = mapped(TABLE, *SPECS, sd=0.7)
    whole = mapping.endpoints[-1]
    assert [column.endpoint.name for column in mapping.endpoints] == ["pIC50", "hERG (nM)", "S"]
    assert (whole.value, whole.endpoint.of, whole.endpoint.noise_sd) == (None, ("pIC50", "hERG (nM)"), None)
    assert "S is calculated as pIC50 - phERG: higher is better." in mapping.notes
    assert TableMapping.from_json(mapping.as_json()) == mapping


@pytest.mark.parametrize(
    ("text", "specs", "line"),
    [
        (TABLE, ("S;of=pIC50 - logD",), "S must be one endpoint minus another, and 'pIC50 - logD' is not"),
        (
            TABLE.replace("hERG (nM)", "hERG"),
            ("pIC50", "hERG", "S;of=pIC50 - hERG"),
            "S needs two endpoints on a log scale, and hERG is not known to be on one",
        ),
        (TABLE.replace("hERG (nM)", "S"), ("pIC50", "logD", "S;of=pIC50 - logD"), "the table has values of that name"),
        (TABLE, (*SPECS, "T;of=S - pIC50"), "T must be one endpoint minus another"),
        (TABLE, (*SPECS, "S;of=phERG - pIC50"), "endpoint S is named twice"),
    ],
)
def test_refusals(text, specs, line):
    assert line in refusal(mapped, text, *specs)


def test_the_history_of_both_parts_is_its_own():
    raw = raw_of(TABLE)
    mapping = mapped(TABLE, *SPECS)
    imported = import_table(raw, mapping)
    assert {result.endpoint for result in imported.history} == {"pIC50", "hERG (nM)"}
    fact = endpoint_facts(imported)[2]
    # a, d and e have both; that of f is a bound.
    assert (fact.measured, fact.censored, fact.replicate_groups) == (3, 0, 0)
    assert fact.noise_sd == pytest.approx((0.04 + 0.09) ** 0.5)
    assert fact.fit.rows == 3
    said = check_report(raw, mapping, imported)["endpoints"]
    assert [one["of"] for one in said] == [None, None, ["pIC50", "hERG (nM)"]]


def test_results_are_of_its_parts_only():
    imported = import_table(raw_of(TABLE), mapped(TABLE, *SPECS))
    wide = read_results(raw_of("ID|pIC50|hERG (nM)|S\na|7.1|900|2"), imported.library, imported.endpoints)
    assert [result.endpoint for result in wide.results] == ["pIC50", "hERG (nM)"]
    assert wide.warnings == ("Not used, because it is calculated, never entered: S.",)
    long = read_results(raw_of("ID|Endpoint|Value\na|pIC50|7\na|s|2\na|x|2"), imported.library, imported.endpoints)
    assert [result.endpoint for result in long.results] == ["pIC50"]
    assert [one.reason for one in long.rejected] == [
        "'s' is calculated, never entered (pIC50, hERG (nM))",
        "'x' is no endpoint of this campaign (pIC50, hERG (nM))",
    ]
