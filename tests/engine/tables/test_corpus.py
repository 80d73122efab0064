"""Every messy table of the corpus is read as it should be: each value, each row that is not used, what is said."""

from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import EndpointSpec, TableOptions
from tests import snapshots
from tests.engine.tables.corpus import CASES


def reading(case, folder):
    """Return what was understood of a case, in lines."""
    options = dict(case.options)
    raw = read_table(case.write(folder), sheet=options.pop("sheet", None))
    endpoint = options.pop("endpoint", None)
    if endpoint is not None:
        options["endpoints"] = (EndpointSpec(endpoint),)
    table = import_table(raw, propose(raw, TableOptions(**options)))
    assert {one.name for one in table.endpoints} == {result.endpoint for result in table.history}
    lines = [f"# {case.name}", f"sites: {', '.join(site.name for site in table.library.sites)}"]
    for r in table.history:
        beside = "".join(f", {name} {value}" for name, value in (("n", r.n), ("SD", r.sd)) if value not in (None, 1))
        lines.append(f"{r.compound}: {r.endpoint} {r.relation} {r.value:.12g}{f' {r.unit}' if r.unit else ''}{beside}")
    lines += [f"not used: {one.row}, {one.column}: {one.reason}" for one in table.not_used]
    return "\n".join([*lines, *(f"! {text}" for text in table.warnings), *(f"- {text}" for text in table.notes), ""])


def test_messy_tables_are_read_as_they_should_be(tmp_path):
    assert len({case.name for case in CASES}) == len(CASES)
    snapshots.expect("tables-corpus.txt", "\n".join(reading(case, tmp_path) for case in CASES))


def test_an_unlikely_value_is_asked_about_once():
    rows = [f"c{n}|{'Me' if n % 2 else 'H'}|{6 + n / 10}" for n in range(9)]
    raw = parse_text("\n".join(["ID|R1|pIC50", *rows, "x|Et|35"]).replace("|", "\t"))
    told = import_table(raw, propose(raw)).warnings
    assert [text for text in told if "Row 11" in text] == ['Row 11: 35 is unusual for pIC50: "35 nM"?']


def test_what_needs_no_word_is_read_without_one(tmp_path):
    for name in ("plain", "workbook"):
        assert read_table(next(case for case in CASES if case.name == name).write(tmp_path)).warnings == ()
