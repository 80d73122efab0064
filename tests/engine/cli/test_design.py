import itertools

import numpy as np
import pytest

from tests.engine.cli.helpers import R1, R2

KEYS = "criterion weights value lower_bound allocation allocation_value support converged seconds"
IDS = [f"C-{i:02d}" for i in range(12)]
PAIRS = list(itertools.product(R1, R2))


def one_hot(r1: str, r2: str) -> np.ndarray:
    return np.array([1.0, *(r1 == a for a in R1), *(r2 == b for b in R2)])


def value_of(
    allocation: list[dict[str, object]],
    criterion: str,
    wanted: list[tuple[str, str]] | None = None,
    tau: float = 0.0,
) -> float:
    """N times the largest variance by a dense pseudo-inverse, from what the command said alone.

    The mean of n measurements of a compound has the variance tau^2 + 1 / n.
    """
    counts = {entry["id"]: float(entry["measurements"]) for entry in allocation}
    x = np.array([one_hot(*PAIRS[IDS.index(name)]) for name in counts])
    n = np.array(list(counts.values()))
    inverse = np.linalg.pinv((x / (tau**2 + 1.0 / n)[:, None]).T @ x, hermitian=True)
    z = np.array([one_hot(*pair) for pair in (PAIRS if wanted is None else wanted)])
    y = z if criterion == "g" else np.array([a - b for a, b in itertools.combinations(z, 2)])
    return float(np.einsum("ij,ij->i", y @ inverse, y).max() * n.sum())


@pytest.fixture
def series(table):
    """Twelve compounds, with columns that say what may be done with each."""

    def write(**columns):
        header = ["ID", "R1", "R2", *columns]
        rows = [
            [i, a, b, *(column[k] for column in columns.values())]
            for k, (i, (a, b)) in enumerate(zip(IDS, PAIRS, strict=True))
        ]
        return table([header, *rows])

    return write


@pytest.mark.parametrize(("criterion", "optimum"), [("g", 6.0), ("xy", 14.0)])
def test_keys_and_closed_forms(done, series, folder, criterion, optimum):
    """A full product of 4 x 3: G = 1 + 3 + 2 and XY = 8 + 6."""
    path = series()
    before = folder()
    document = done("design", path, "--criterion", criterion, "--measurements", 24)
    assert folder() == before, "nothing is written"
    assert document.keys() >= set(KEYS.split())
    assert document["criterion"] == criterion
    assert document["value"] == pytest.approx(optimum, rel=1e-3)
    assert document["lower_bound"] <= optimum * (1 + 1e-9)
    assert document["lower_bound"] == pytest.approx(optimum, rel=1e-3)
    assert document["converged"] is True
    assert sum(entry["weight"] for entry in document["weights"]) == pytest.approx(1.0)
    assert sum(entry["measurements"] for entry in document["allocation"]) == 24
    assert document["support"] == len(document["allocation"])
    # 24 = 2 x 12: the even design itself.
    assert document["allocation_value"] == pytest.approx(optimum)
    assert document["allocation_value"] == pytest.approx(value_of(document["allocation"], criterion))
    assert (document["compounds"], document["rank"], document["targets"]) == (12, 6, 12)
    assert document["not_estimable"] == []


def test_forbidden_forced_and_limited(done, series):
    forbid = ["yes" if a == "Cl" and b != "H" else "" for a, b in PAIRS]
    force = ["no"] * 11 + [""]
    force[0] = "Yes"
    words = "--criterion g --measurements 13 --forbid skip --force must --max-per-compound 2"
    document = done("design", series(Skip=forbid, Must=force), *words.split())
    counts = {entry["id"]: entry["measurements"] for entry in document["allocation"]}
    assert counts["C-00"] >= 1
    assert max(counts.values()) <= 2
    assert not {"C-10", "C-11"} & set(counts)
    assert document["compounds"] == 10
    # The forbidden ones still count among what must be known.
    assert document["targets"] == 12
    assert document["allocation_value"] == pytest.approx(value_of(document["allocation"], "g"))
    assert document["value"] >= document["lower_bound"] > 6


def test_targets(done, series, table):
    """Only three of the twelve matter: measurements go there, and less is needed."""
    wanted = [("Me", "F"), ("OMe", "F"), ("Cl", "F")]
    targets = table([["Name", "r2", "r1"], *[[f"T{k}", b, a] for k, (a, b) in enumerate(wanted)]], name="targets.csv")
    document = done("design", series(), "--criterion", "xy", "--measurements", 12, "--targets", targets)
    assert document["targets"] == 3
    # Three means side by side: w = 1/3 each, 3 + 3 = 6; half of what all pairs of the four need.
    assert document["value"] == pytest.approx(6.0, rel=1e-3)
    assert document["allocation_value"] == pytest.approx(6.0, rel=1e-6)
    assert document["allocation_value"] == pytest.approx(value_of(document["allocation"], "xy", wanted))
    means = done("design", series(), "--criterion", "g", "--measurements", 12, "--targets", targets)
    assert means["value"] == pytest.approx(3.0, rel=1e-3)
    assert means["criterion"] == "g"


def test_a_whole_product(done, table):
    """Five rows carry 3 x 3 substituents; the library is all nine, named by what they carry."""
    rows = [["A", "Me", "F"], ["B", "Me", "Cl"], ["C", "Et", "F"], ["D", "Pr", "Br"], ["E", "Et", "Br"]]
    document = done("design", table([["ID", "R1", "R2"], *rows]), "--criterion", "g", "--measurements", 9, "--product")
    assert document["compounds"] == 9
    assert document["allocation_value"] == pytest.approx(5.0)
    assert {"A", "R1=Pr|R2=F"} <= {entry["id"] for entry in document["allocation"]}


def test_a_budget(done, run, series):
    price = [0.0 if i % 4 == 0 else 10.0 for i in range(12)]
    spec = ["--criterion", "g", "--measurements", 24, "--cost", "Price", "--budget"]
    document = done("design", series(Price=price), *spec, 45)
    paid = sum(price[IDS.index(entry["id"])] for entry in document["allocation"])
    assert document["cost"] == pytest.approx(paid)
    assert document["cost"] <= document["budget"] == 45
    assert document["allocation_value"] == pytest.approx(value_of(document["allocation"], "g"))
    assert document["value"] >= document["lower_bound"] == pytest.approx(6.0)
    frontier = document["frontier"]
    assert all(set(point) == {"cost", "measurements", "compounds", "to_make", "variance"} for point in frontier)
    assert all(a["cost"] < b["cost"] and a["variance"] > b["variance"] for a, b in itertools.pairwise(frontier))
    assert frontier[-1]["cost"] == document["cost"]
    assert frontier[-1]["variance"] * 24 == pytest.approx(document["allocation_value"])
    more = done("design", series(Price=price), *spec, 90)
    assert more["allocation_value"] == pytest.approx(6.0)
    each = done("design", series(Price=price), *spec, 60, "--cost-per-measurement", 2)
    assert each["cost"] <= 60
    assert sum(entry["measurements"] for entry in each["allocation"]) < 24
    text = run("design", series(Price=price), *spec, 45).out
    assert "of 45" in text
    assert "What less would buy:" in text


@pytest.mark.parametrize("criterion", ["g", "xy"])
def test_deviations_from_additivity_ask_for_more_compounds(done, run, series, criterion):
    """Eight compounds at most do without; a deviation of each makes replicates worth less than more compounds."""
    path = series()
    spec = ["--criterion", criterion, "--measurements", 24]
    plain = done("design", path, *spec, "--max-support", 8)
    few = done("design", path, *spec, "--max-support", 8, "--tau", 1)
    assert few["allocation_value"] == pytest.approx(value_of(few["allocation"], criterion, tau=1.0))
    assert max(few["support"], few["weights_support"]) <= 8
    assert few["allocation_value"] > 1.5 * plain["allocation_value"]
    all_of_them = done("design", path, *spec, "--tau", "0,5")
    assert all_of_them["tau"] == 0.5
    # All three on one scale: the shares are spread evenly, too, and the bound is that without deviations.
    assert all_of_them["value"] == pytest.approx(all_of_them["allocation_value"], rel=1e-3)
    assert all_of_them["lower_bound"] == pytest.approx({"g": 6.0, "xy": 14.0}[criterion], rel=1e-3)
    assert all_of_them["support"] == 12
    # All twelve twice: each counts as 2 / (1 + 2 / 4) measurements.
    assert all_of_them["allocation_value"] == pytest.approx(1.5 * {"g": 6.0, "xy": 14.0}[criterion])
    said = run("design", path, *spec, "--tau", 0.5).out
    assert "own deviation from additivity, with an SD of 0.5 x the assay noise" in said
    assert "deviation" not in run("design", path, *spec).out
