"""Every public table is read with the figures that its folder's README gives; skipped where the folder is absent."""

import csv
from pathlib import Path

import pytest

from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.join import join_tables
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec

with Path(__file__).with_name("public.csv").open(encoding="utf-8", newline="") as _file:
    RAW = {row["file"]: (int(row["rows"]), int(row["columns"])) for row in csv.DictReader(_file)}


@pytest.mark.parametrize("file", RAW)
def test_it_is_read_whole(public, file):
    table = read_table(public(file))
    assert (len(table), len(table.columns)) == RAW[file]
    assert table.problems == ()


def report(path, sites=(), endpoints=(), joined=None):
    raw = read_table(path)
    if joined is not None:
        raw = join_tables(raw, read_table(joined))
    specs = tuple(map(parse_endpoint_spec, endpoints))
    mapping = propose(raw, TableOptions(sites=tuple(sites), endpoints=specs, product=False))
    return check_report(raw, mapping, import_table(raw, mapping))


def sizes(document):
    return [len(site["substituents"]) for site in document["sites"]]


FITS = {
    # sites, endpoint, substituents, rank, R2, Q2
    "freewilson1964_tetracycline_10.csv": (["R", "X", "Y"], "act", [2, 3, 3], 6, 0.906, 0.443),
    "antiadrenergic_22_fw_table.csv": (["para", "meta"], "act", [6, 6], 11, 0.939, 0.772),
    "tropane_isoxazole_5x2.csv": (["R1", "R2"], "pIC50", [5, 2], 6, 0.976, 0.876),
    "CHEMBL2321810_rgd_table.csv": (["R1", "R2", "R3"], "Act", [73, 2, 445], 516, 0.979, 0.788),
}


@pytest.mark.parametrize("file", FITS)
def test_its_additive_fit_is_the_known_one(public, file):
    sites, endpoint, levels, rank, r2, q2 = FITS[file]
    document = report(public(file), sites, [endpoint])
    fit = document["additive_fit"][endpoint]
    assert (sizes(document), document["rank"]) == (levels, rank)
    assert fit["r2"] == pytest.approx(r2, abs=5e-4)
    assert fit["q2"] == pytest.approx(q2, abs=5e-4)


def test_the_buchwald_hartwig_yields(public):
    sites = ["base", "ligand", "aryl_halide", "additive"]
    document = report(public("baybe_aryl_halide.csv"), sites, ["yield"])
    assert sizes(document) == [3, 4, 15, 23]
    assert document["rank"] == 42
    assert document["additive_fit"]["yield"]["r2"] == pytest.approx(0.701, abs=5e-4)
    assert document["rows_used"] == 4132


@pytest.mark.parametrize(
    ("structures", "activities", "count"),
    [
        ("pw_CHEMBL2321810.smi", "pw_CHEMBL2321810_act.csv", 1017),
        ("pw_CHEMBL3638592.smi", "pw_CHEMBL3638592_act.csv", 573),
        ("pw_fw_mols.smi", "pw_fw_act.csv", 22),
    ],
)
def test_structures_and_activities_find_each_other(public, structures, activities, count):
    joined = join_tables(read_table(public(structures)), read_table(public(activities)))
    assert joined.columns == ("SMILES", "Name", "Act")
    assert joined.unmatched == ((), ())
    assert len(joined) == count
    assert all(float(text) > 0 for text in joined.column("Act"))
