"""Tables and results are read as they should be: messy ones of the corpus, exports of programs, and small ones.

The small ones stand in ``readings``, cells between bars and ``~`` for a blank line, behind ``::`` what a user says of
one; the answers in ``tests/golden``. The exports stand in ``exports``.
"""

from pathlib import Path

import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import silent
from assaypilot.engine.tables import structures
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text, read_table
from assaypilot.engine.tables.options import ROLES, EndpointSpec, TableOptions, parse_endpoint_spec
from assaypilot.engine.tables.results import read_results
from assaypilot.engine.tables.values import is_missing, parse_value
from tests import snapshots
from tests.engine.tables.corpus import CASES as MESSY
from tests.engine.tables.exports import EXPORTS


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
    assert len({case.name for case in MESSY}) == len(MESSY)
    snapshots.expect("tables-corpus.txt", "\n".join(reading(case, tmp_path) for case in MESSY))


def test_a_column_of_mostly_other_numbers_is_no_pic50():
    rows = [f"c{n}|{'Me' if n % 2 else 'H'}|{12 * n + 5}" for n in range(9)]
    raw = parse_text("\n".join(["ID|R1|pIC50", *rows]).replace("|", "\t"))
    table = import_table(raw, propose(raw))
    assert table.history == ()
    assert any("most of its column is no pIC50" in one.reason for one in table.not_used)


CASES = [pytest.param(one, id=one.name, marks=pytest.mark.slow if one.slow else ()) for one in EXPORTS]


@pytest.mark.parametrize("export", CASES)
def test_an_export_is_read_right_at_the_first_try(export, monkeypatch):
    # The search for a core has a process of its own, which takes longer to start than to search.
    monkeypatch.setattr(structures, "guarded", lambda work, data, **options: work(data, silent))
    raw = read_table(export.path)
    mapping = propose(raw)
    report = check_report(raw, mapping, import_table(raw, mapping))
    assert (report["compounds"], report["id_column"]) == (export.compounds, export.id)
    assert report["smiles_column"] == export.smiles
    sites = [site["name"] for site in report["sites"] if site["name"] != "Core"]
    assert len(sites) == export.sites if isinstance(export.sites, int) else tuple(sites) == export.sites
    found = {
        e["name"]: (e["direction"], e["transform"], e["unit"], e["measured"], e["censored"])
        for e in report["endpoints"]
    }
    assert found == export.endpoints
    assert all(e["direction_why"] for e in report["endpoints"])
    told = "\n".join([*report["warnings"], *report["notes"]])
    for words in export.said:
        assert words in told, told


FOLDER = Path(__file__).parent / "readings"
LIBRARIES = {
    "plain": Library.listed(["R1"], [["Me"], ["Et"], ["H"]], ids=["CPD-1", "CPD-2", "-3"]),
    "series": Library.listed(
        ["R1", "R2"],
        [["Me", "H"], ["Et", "H"], ["Me", "0.1"], ["Et", "0.1"]],
        ids=["AP-0001", "AP-0012", "AP-0120", "AP-0121"],
    ),
    "temperatures": Library.listed(
        ["R1", "Temperature"], [["Me", "20"], ["Et", "20"], ["Me", "40"], ["Et", "60"]], ids=["a", "b", "c", "d"]
    ),
}
ENDPOINTS = {
    "IC50": Endpoint("IC50 (nM)", "nM", "log", noise_sd=0.2),
    "micro": Endpoint("IC50", "µM", "log", noise_sd=0.2),
    "pIC50": Endpoint("pIC50", noise_sd=0.2),
    "yield": Endpoint("yield", "%"),
    "KIN7": Endpoint("KIN7 biochemical IC50", "nM", "log", noise_sd=0.2),
    "Conversion": Endpoint("Conversion", "%"),
    "Impurity": Endpoint("Impurity [area%]", "area%"),
    "Solubility": Endpoint("Solubility (uM)", "uM"),
}
BESIDE = ("unit", "n", "sd", "replicate", "date", "plate", "well", "batch", "round", "comment", "excluded")


def cases(name):
    """Return the first line and the table of each case of a file."""
    for block in (FOLDER / name).read_text(encoding="utf-8").strip().split("\n\n"):
        first, *lines = block.split("\n")
        yield first, parse_text("\n".join("" if line == "~" else line.replace("|", "\t") for line in lines))


def said(first):
    """Return the options behind a title, such as ``endpoint=IC50;sd=0.2`` and ``sites=X,Y``."""
    given = [part.partition("=")[::2] for part in first.split(" :: ")[1:]]
    found = {name: value for name, value in given if name != "endpoint"}
    if "sites" in found:
        found["sites"] = tuple(found["sites"].split(","))
    if "product" in found:
        found["product"] = found["product"] == "yes"
    if "sd" in found:
        found["sd"] = float(found["sd"])
    specs = [value for name, value in given if name == "endpoint"]
    return TableOptions(endpoints=tuple(map(parse_endpoint_spec, specs)), **found)


def columns_of(mapping):
    """Return which column is what, in lines: those of the table, then those of each endpoint."""
    names = (
        "id",
        "smiles",
        "endpoint_column",
        "assay_column",
        "available",
        "excluded",
        "stock",
        "cost",
        "lead",
        *ROLES,
    )
    told = [f"{name} {column}" for name in names if (column := getattr(mapping, name)) is not None]
    lines = ["; ".join([f"sites {' + '.join(mapping.sites)}", *told])]
    for one in mapping.endpoints:
        e = one.endpoint
        facts = [
            e.scale_name,
            e.direction,
            f"SD {e.noise_sd}" * (e.noise_sd is not None),
            f"in {one.value}",
            *one.further,
        ]
        sides = [
            f"{name} {side}" for name in ("relation", "unit", "n", "sd") if (side := getattr(one, name)) is not None
        ]
        lines.append(f"{e.name}: {', '.join(filter(None, [*facts, *sides]))}; {one.direction_why}; {one.scale_why}")
    return lines


def line_of(result):
    """Return a result in a line, with what differs from a plain one."""
    beside = {name: getattr(result, name) for name in BESIDE}
    told = [f"{name} {value}" for name, value in beside.items() if value not in (None, "", 1, False)]
    return ", ".join([f"{result.compound}: {result.endpoint} {result.relation} {result.value:.9g}", *told])


def test_texts_are_tables_as_they_should_be(tmp_path):
    told = []
    for block in (FOLDER / "raw.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        first, _, text = block.partition("\n")
        path = tmp_path / (first.partition(" :: ")[2] or "x.txt")
        path.write_text(text, encoding="utf-8", newline="")
        told.append(f"# {first}")
        try:
            raw = read_table(path)
        except AssayPilotError as error:
            told += [f"refused: {error}", ""]
            continue
        told += [f"{raw.described}; decimals with {raw.decimal}", " | ".join(raw.columns)]
        told += [f"{row}: {' | '.join(line)}" for row, *line in zip(raw.rows, *raw.cells, strict=True)]
        told += [*(f"! {text}" for text in raw.warnings), ""]
    snapshots.expect("tables-raw.txt", "\n".join(told))


def test_small_tables_are_read_as_they_should_be():
    told = []
    for first, raw in cases("imports.txt"):
        told.append(first)
        try:
            mapping = propose(raw, said(first))
            told += columns_of(mapping)
            table = import_table(raw, mapping)
        except AssayPilotError as error:
            told += [f"refused: {error}", ""]
            continue
        told += [
            f"{', '.join(table.library.ids[:12])}: {len(table.library)} compounds",
            *map(line_of, table.history[:12]),
        ]
        told += [f"not used: {one.row}, {one.column}: {one.reason}" for one in table.not_used]
        told += [*(f"! {text}" for text in table.warnings), *(f"- {text}" for text in table.notes), ""]
    snapshots.expect("tables-imports.txt", "\n".join(told))


def test_cells_are_read_as_they_should_be():
    told = []
    for line in (FOLDER / "cells.txt").read_text(encoding="utf-8").splitlines():
        decimal, text = line.split("\t")
        try:
            found = "no value yet" if is_missing(text) else parse_value(text, decimal)
        except ValueError as error:
            found = f"refused: {error}"
        told.append(f"{text} ({decimal}): {found}")
    snapshots.expect("tables-cells.txt", "\n".join(told) + "\n")


def test_results_are_read_as_they_should_be():
    told = []
    for first, raw in cases("results.txt"):
        _, library, names = first.split(" :: ")
        told.append(first)
        try:
            table = read_results(raw, LIBRARIES[library], [ENDPOINTS[name] for name in names.split(", ")])
        except AssayPilotError as error:
            told += [f"refused: {error}", ""]
            continue
        told += [*map(line_of, table.results), *(["no value yet: " + str(table.pending)] if table.pending else [])]
        told += [f"rejected: {one.row}, {one.column}: {one.reason}" for one in table.rejected]
        told += [*(f"! {text}" for text in table.warnings), ""]
    snapshots.expect("tables-results.txt", "\n".join(told))
