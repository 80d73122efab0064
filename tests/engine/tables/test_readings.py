"""What is understood of small tables and results, and what is said of them: one text for each to review.

The tables stand in ``readings``, cells between bars and ``~`` for a blank line; the answers in ``tests/golden``.
"""

from pathlib import Path

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import parse_text
from assaypilot.engine.tables.results import read_results
from tests import snapshots

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
    "pIC50": Endpoint("pIC50", noise_sd=0.2),
    "yield": Endpoint("yield", "%"),
    "KIN7": Endpoint("KIN7 biochemical IC50", "nM", "log", noise_sd=0.2),
    "Conversion": Endpoint("Conversion", "%"),
    "Impurity": Endpoint("Impurity [area%]", "area%"),
    "Solubility": Endpoint("Solubility (uM)", "uM"),
}
BESIDE = ("unit", "n", "sd", "replicate", "batch", "round", "comment", "excluded")


def cases(name):
    """Return the first line and the table of each case of a file."""
    for block in (FOLDER / name).read_text(encoding="utf-8").strip().split("\n\n"):
        first, *lines = block.split("\n")
        yield first, parse_text("\n".join("" if line == "~" else line.replace("|", "\t") for line in lines))


def line_of(result):
    """Return a result in a line, with what differs from a plain one."""
    beside = {name: getattr(result, name) for name in BESIDE}
    told = [f"{name} {value}" for name, value in beside.items() if value not in (None, "", 1, False)]
    return ", ".join([f"{result.compound}: {result.endpoint} {result.relation} {result.value:.9g}", *told])


def test_small_tables_are_read_as_they_should_be():
    told = []
    for first, raw in cases("imports.txt"):
        table = import_table(raw, propose(raw))
        told += [first, *(f"{one.name}: {one.direction}" for one in table.endpoints), *map(line_of, table.history)]
        told += [f"not used: {one.row}, {one.column}: {one.reason}" for one in table.not_used]
        told += [*(f"! {text}" for text in table.warnings), *(f"- {text}" for text in table.notes), ""]
    snapshots.expect("tables-imports.txt", "\n".join(told))


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
