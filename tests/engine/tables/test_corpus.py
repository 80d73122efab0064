"""Every messy table of the corpus is read as it should be: each value, each row that is not used, what is said."""

import pytest

from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import EndpointSpec, TableOptions
from tests.engine.tables import corpus, corpus_field, corpus_labs

CASES = [*corpus.CASES, *corpus_labs.LABS, *corpus_field.FIELD]


def expected(value, endpoints):
    """A value of a case in full: id, endpoint, relation, number, unit, n, SD."""
    name, *rest = value
    endpoint, relation, unit, n, sd = next(iter(endpoints)), "=", None, 1, None
    for part in rest:
        if isinstance(part, str) and part in ("<", ">", "="):
            relation = part
        elif isinstance(part, str) and part in endpoints:
            endpoint = part
        elif isinstance(part, str):
            unit = part
    numbers = [part for part in rest if not isinstance(part, str)]
    if len(numbers) > 1:
        n = numbers[1]
    if len(numbers) > 2:
        sd = numbers[2]
    return name, endpoint, relation, numbers[0], unit, n, sd


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_messy_table_is_read_as_it_should_be(case, tmp_path):
    options = dict(case.options)
    raw = read_table(case.write(tmp_path), sheet=options.pop("sheet", None))
    endpoint = options.pop("endpoint", None)
    if endpoint is not None:
        options["endpoints"] = (EndpointSpec(endpoint),)
    table = import_table(raw, propose(raw, TableOptions(**options)))
    names = [one.name for one in table.endpoints]
    found = [(r.compound, r.endpoint, r.relation, r.value, r.unit, r.n, r.sd) for r in table.history]
    assert found == [expected(value, names) for value in case.values]
    assert len(names) == len({one[1] for one in found})
    assert case.sites is None or [site.name for site in table.library.sites] == list(case.sites)
    problems = [(problem.row, problem.column, problem.reason) for problem in table.not_used]
    assert len(problems) == len(case.not_used), problems
    for (row, column, reason), (at, where, why) in zip(problems, case.not_used, strict=True):
        assert (row, column) == (at, where)
        assert why in reason
    told = "\n".join([*table.warnings, *table.notes])
    for words in case.said:
        assert words in told, told


def test_the_corpus_is_large_and_its_tables_small():
    assert len(CASES) >= 60
    assert len({case.name for case in CASES}) == len(CASES)


def test_an_unlikely_value_is_asked_about_once():
    rows = [f"c{n}|{'Me' if n % 2 else 'H'}|{6 + n / 10}" for n in range(9)]
    raw = parse_text("\n".join(["ID|R1|pIC50", *rows, "x|Et|35"]).replace("|", "\t"))
    told = import_table(raw, propose(raw)).warnings
    assert [text for text in told if "Row 11" in text] == ['Row 11: 35 is unusual for pIC50: "35 nM"?']


def test_what_needs_no_word_is_read_without_one(tmp_path):
    plain = next(case for case in CASES if case.name == "plain")
    assert read_table(plain.write(tmp_path)).warnings == ()
    book = next(case for case in CASES if case.name == "workbook")
    assert read_table(book.write(tmp_path)).warnings == ()
