import csv

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from assaypilot.engine.domain.features import SiteFeatures
from assaypilot.engine.domain.library import Library
from assaypilot.engine.models.report import Noise, confounded_sites, model_report, seen_once


def product(*sizes):
    grid = np.array(list(np.ndindex(*sizes)))
    return Library.listed(
        [f"R{k + 1}" for k in range(len(sizes))],
        [[f"s{code}" for code in row] for row in grid],
        ids=[f"C{k}" for k in range(len(grid))],
    )


def report(library, values, noise=None, counts=None, name="pIC50"):
    rows = np.arange(len(library))
    counts = np.ones(len(rows)) if counts is None else counts
    return model_report(library, rows, np.asarray(values, dtype=float), counts, noise, name)


@given(st.integers(0, 2**32 - 1), st.integers(3, 5), st.integers(3, 5), st.booleans())
def test_the_lack_of_fit_test_is_the_one_of_the_text_book(seed, a, b, replicates):
    rng = np.random.default_rng(seed)
    library = product(a, b)
    counts = rng.integers(1, 5, len(library)).astype(float)
    y = rng.normal(size=len(library))
    noise = Noise(0.7, 9 if replicates else None)
    got = report(library, y, noise, counts)
    x = SiteFeatures.of(library).dense(np.arange(len(library)))
    w = np.sqrt(counts)
    theta = np.linalg.lstsq(x * w[:, None], y * w, rcond=None)[0]
    squares = (counts * (y - x @ theta) ** 2).sum()
    freedom = len(y) - (a + b - 1)
    p = stats.f.sf(squares / freedom / 0.49, freedom, 9) if replicates else stats.chi2.sf(squares / 0.49, freedom)
    assert got.lack_of_fit.freedom == freedom
    assert got.lack_of_fit.statistic == pytest.approx(squares / freedom / 0.49)
    assert got.lack_of_fit.p == pytest.approx(p, abs=1e-12)
    hat = (x * w[:, None]) @ np.linalg.pinv(x * w[:, None])
    tau = max(0.0, squares - freedom * 0.49) / (counts * (1 - np.diag(hat))).sum()
    assert got.lack_of_fit.deviation_sd**2 == pytest.approx(tau, abs=1e-9)
    standard = (y - x @ theta) / np.sqrt(squares / freedom * (1 - np.diag(hat)) / counts)
    worst = np.argsort(-abs(standard))[:5]
    assert [entry.id for entry in got.worst] == [library.ids[k] for k in worst]
    assert [entry.standardised for entry in got.worst] == pytest.approx(standard[worst])
    assert [entry.fitted + entry.residual for entry in got.worst] == pytest.approx(y[worst])


def test_the_test_rejects_as_often_as_it_says():
    rng = np.random.default_rng(5)
    library = product(6, 5)
    truth = rng.normal(size=6)[library.codes[:, 0]] + rng.normal(size=5)[library.codes[:, 1]]
    p = [report(library, truth + 0.2 * rng.normal(size=30), Noise(0.2)).lack_of_fit.p for _ in range(400)]
    assert stats.kstest(p, "uniform").pvalue > 0.001


@given(st.integers(0, 2**32 - 1))
def test_tukeys_test_is_the_f_test_of_the_squared_fit(seed):
    rng = np.random.default_rng(seed)
    library = product(4, 3)
    y = 6 + rng.normal(size=12)
    x = SiteFeatures.of(library).dense(np.arange(12))
    fitted = x @ np.linalg.lstsq(x, y, rcond=None)[0]
    more = np.column_stack([x, fitted**2])
    small = ((y - fitted) ** 2).sum()
    large = ((y - more @ np.linalg.lstsq(more, y, rcond=None)[0]) ** 2).sum()
    assert report(library, y).curvature_p == pytest.approx(stats.f.sf((small - large) / (large / 5), 1, 5), rel=1e-6)


def test_the_verdicts():
    rng = np.random.default_rng(7)
    library = product(6, 6)
    additive = rng.normal(size=6)[library.codes[:, 0]] + rng.normal(size=6)[library.codes[:, 1]]
    noise = 0.15 * rng.normal(size=36)
    fits = report(library, additive + noise, Noise(0.15, 30))
    assert fits.verdict == "fits"
    assert "are what the assay noise (SD 0.15) explains" in fits.sentence
    # One pair of replicates that happen to agree: nothing is said to be explained that is plainly larger.
    pair = report(library, additive + noise, Noise(0.05, 1))
    assert pair.verdict == "fits"
    assert "exceed the scatter of replicates (SD 0.05), but those are too few to speak against it" in pair.sentence
    unknown = report(library, additive + noise)
    assert unknown.verdict == "fits"
    assert "the assay noise is not known, so a lack of fit could not be tested" in unknown.sentence
    off = report(library, additive + noise + 0.4 * rng.normal(size=36), Noise(0.15, 30))
    assert off.verdict == "doubtful"
    assert "compounds deviate from it by about 0." in off.sentence
    assert off.lack_of_fit.deviation_sd == pytest.approx(0.4, abs=0.12)
    wild = report(library, rng.normal(size=36), Noise(0.15, 30))
    assert wild.verdict == "does not fit"
    # All the same within the noise: poor Q2, but nothing speaks against the model.
    flat = report(library, 6 + 0.15 * rng.normal(size=36), Noise(0.15, 30))
    assert flat.verdict == "doubtful"
    assert "hardly differ by more than the noise" in flat.sentence
    diagonal = Library.listed(["R1", "R2"], [["a", "b"], ["c", "d"], ["e", "f"]], ids=["1", "2", "3"])
    none = report(diagonal, [5.0, 6.0, 7.0])
    assert none.verdict == "not judged"
    assert "only 0 of 3 compounds can be compared with others" in none.sentence
    empty = model_report(library, np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros(0), None)
    assert (empty.verdict, empty.max_rank, empty.worst) == ("not judged", 1, ())
    assert "no value is there yet" in empty.sentence


PUBLIC = [
    ("antiadrenergic_22_fw_table.csv", "para,meta", "act", "fits"),
    ("tropane_isoxazole_5x2.csv", "R1,R2", "pIC50", "fits"),
    ("freewilson1964_tetracycline_10.csv", "R,X,Y", "act", "doubtful"),
    ("CHEMBL2321810_rgd_table.csv", "R1,R2,R3", "Act", "doubtful"),
    ("baybe_aryl_halide.csv", "base,ligand,aryl_halide,additive", "yield", "does not fit"),
]


@pytest.mark.parametrize(("file", "sites", "value", "verdict"), PUBLIC)
def test_the_verdicts_of_the_public_tables(public, file, sites, value, verdict):
    sites = sites.split(",")
    with public(file).open(encoding="utf-8-sig", newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if all(row[site] for site in sites)]
    library = Library.listed(sites, [[row[s] for s in sites] for row in rows], ids=[str(i) for i in range(len(rows))])
    found = report(library, [float(row[value]) for row in rows])
    assert found.verdict == verdict
    if file.startswith("CHEMBL"):
        assert (found.fit.rank, found.max_rank) == (516, 518)
        assert [(pair.first, pair.second, pair.groups) for pair in found.confounded] == [("R1", "R3", 3)]
        assert {site: len(labels) for site, labels in found.seen_once.items()} == {"R1": 54, "R3": 384}


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
def test_two_sites_lose_a_rank_for_each_further_group(pairs):
    library = Library.listed(
        ["R1", "R2"], [[f"a{a}", f"b{b}"] for a, b in pairs], ids=list(map(str, range(len(pairs))))
    )
    found = confounded_sites(library.sites, library.codes)
    groups = found[0].groups if found else 1
    features = SiteFeatures.of(library)
    rank = np.linalg.matrix_rank(features.dense(np.arange(len(library))))
    assert rank == features.full_rank - (groups - 1)
    ones = seen_once(library.sites, library.codes)
    firsts = [a for a, _ in pairs]
    assert set(ones.get("R1", ())) == {f"a{a}" for a in firsts if firsts.count(a) == 1}
