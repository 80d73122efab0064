import csv

import numpy as np
import pytest

from assaypilot import datasets
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.tables.check import check_report
from assaypilot.engine.tables.importer import import_table
from assaypilot.engine.tables.mapping import propose
from assaypilot.engine.tables.opening import read_table
from assaypilot.engine.tables.options import TableOptions, parse_endpoint_spec


def checked(name):
    dataset = datasets.load(name)
    raw = read_table(dataset.path)
    options = TableOptions(
        id=dataset.id,
        smiles=dataset.smiles,
        sites=dataset.sites,
        endpoints=tuple(parse_endpoint_spec(text) for text in dataset.endpoints),
    )
    mapping = propose(raw, options)
    return dataset, check_report(raw, mapping, import_table(raw, mapping))


@pytest.mark.parametrize("name", datasets.names())
def test_every_shipped_table_is_read_whole_and_says_where_it_is_from(name):
    dataset, report = checked(name)
    assert report["rows_used"] == report["rows_read"] == report["compounds"] == dataset.rows
    assert report["not_used"] == []
    assert dataset.source
    assert dataset.licence
    assert dataset.synthetic == ("SYNTHETIC" in dataset.title) == dataset.source.startswith("Synthetic")


@pytest.mark.parametrize(
    ("name", "endpoint", "rank", "r2", "q2"),
    [
        ("tetracycline", "activity", 6, 0.906, 0.443),
        ("antiadrenergic", "log 1/C", 11, 0.939, 0.772),
        ("covboost", "ln NT50", 11, 0.912, 0.609),
    ],
)
def test_the_published_tables_fit_as_published(name, endpoint, rank, r2, q2):
    _, report = checked(name)
    assert report["rank"] == report["max_rank"] == rank
    assert report["additive_fit"][endpoint]["r2"] == pytest.approx(r2, abs=5e-4)
    assert report["additive_fit"][endpoint]["q2"] == pytest.approx(q2, abs=5e-4)


def test_the_practice_table_is_what_its_seed_gives():
    dataset, report = checked("practice-960")
    assert [len(site["substituents"]) for site in report["sites"]] == [4, 5, 4, 3, 4]
    assert report["rank"] == 16
    assert report["endpoints"][0]["measured"] == 0
    assert report["endpoints"][0]["noise_sd"] == 0.2
    ids, values = datasets.truth("practice-960")
    raw = read_table(dataset.path)
    assert raw.column("ID") == ids
    rng = np.random.default_rng(2070)
    effects = [rng.normal(0, 0.5, n) for n in (4, 5, 4, 3, 4)]
    expected = np.full(960, 6.0)
    for site, effect in zip(dataset.sites, effects, strict=True):
        order = {label: place for place, label in enumerate(dict.fromkeys(raw.column(site)))}
        expected += effect[[order[label] for label in raw.column(site)]]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    below = max(values) - np.array(values)
    assert ((below <= 0.5).sum(), (below <= 1.0).sum()) == (20, 77)
    assert (round(max(values), 2), round(below.max(), 2)) == (8.40, 3.98)


def test_the_best_trade_offs_of_covboost_are_the_m1273_boosts():
    raw = read_table(datasets.load("covboost").path)
    means = np.array([[float(text) for text in raw.column(c)] for c in raw.columns[2:]]).T
    best = [
        i for i, row in enumerate(means) if not any((other >= row).all() and (other > row).any() for other in means)
    ]
    assert {(raw.column("prime")[i], raw.column("boost")[i]) for i in best} == {
        ("BNT/BNT", "m1273"),
        ("ChAd/ChAd", "m1273"),
    }


@pytest.mark.parametrize(
    ("name", "file", "columns"),
    [
        ("tetracycline", "freewilson1964_tetracycline_10.csv", "R,X,Y,act"),
        ("antiadrenergic", "antiadrenergic_22_fw_table.csv", "para,meta,act"),
        ("covboost", "covboost_20x3_means.csv", "prime,boost,anti_spike_IgG,NT50,cellular"),
    ],
)
def test_the_typed_values_are_those_of_the_public_copies(public, name, file, columns):
    def comparable(text):
        try:
            return float(text)
        except ValueError:
            return {"[H]*": "h", "C*": "me"}.get(text, text.removesuffix("*")).lower()

    with public(file).open(encoding="utf-8-sig", newline="") as stream:
        theirs = [[comparable(row[c]) for c in columns.split(",")] for row in csv.DictReader(stream)]
    raw = read_table(datasets.load(name).path)
    used = [c for c in raw.columns if c not in ("ID", "SMILES")]
    ours = [[comparable(text) for text in row] for row in zip(*(raw.column(c) for c in used), strict=True)]
    assert ours == theirs


def test_the_structures_of_the_antiadrenergic_table_are_those_of_its_substituents():
    chem = pytest.importorskip("rdkit.Chem")
    raw = read_table(datasets.load("antiadrenergic").path)
    atoms = {"H": "", "Me": "C"}
    for smiles, para, meta in zip(raw.column("SMILES"), raw.column("para"), raw.column("meta"), strict=True):
        built = "BrC(CN(C)C)c1ccc" + (f"({atoms.get(para, para)})" if para != "H" else "") + "c"
        built += (f"({atoms.get(meta, meta)})" if meta != "H" else "") + "c1"
        assert chem.CanonSmiles(smiles) == chem.CanonSmiles(built)


def test_unknown_names_and_truths_are_refused_plainly():
    with pytest.raises(AssayPilotError) as refusal:
        datasets.load("nothing")
    assert str(refusal.value) == (
        "--dataset: there is no shipped table 'nothing'; there are tetracycline, antiadrenergic, covboost, "
        "practice-960. Name one of them."
    )
    with pytest.raises(AssayPilotError, match="the true values of tetracycline are not known"):
        datasets.truth("tetracycline")


def test_covboost_values_are_logarithms_of_the_printed_geometric_means():
    # Table 6 of the paper (group B), IgG in ELU/mL and NT50 of the wild type.
    printed = {
        ("ChAd/ChAd", "BNT"): (20517, 1621),
        ("ChAd/ChAd", "VLA"): (1835, 202),
        ("ChAd/ChAd", "VLA half"): (1430, 147),
        ("ChAd/ChAd", "Ad26"): (5517, 563),
        ("BNT/BNT", "BNT"): (27242, 1789),
        ("BNT/BNT", "VLA"): (4204, 289),
        ("BNT/BNT", "VLA half"): (3721, 234),
        ("BNT/BNT", "Ad26"): (17079, 1441),
    }
    raw = read_table(datasets.load("covboost").path)
    columns = (raw.column(name) for name in ("prime", "boost", "ln anti-spike IgG", "ln NT50"))
    found = {(p, b): (float(g), float(t)) for p, b, g, t in zip(*columns, strict=True)}
    for arm, means in printed.items():
        assert found[arm] == pytest.approx(np.log(means), abs=1e-6)
