import math
import pickle

import numpy as np
import pytest

from assaypilot.engine.domain.features import span_basis
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.instances import get, names
from assaypilot.engine.simulate.instances.rage import closest, on_sphere
from tests.public import DATA

OF_A_FILE = ("gege-noc", "gege-energy", "gse-automobile")
MADE = [name for name in names() if name not in OF_A_FILE]


def matrix(drawn):
    return drawn.features.dense(np.arange(drawn.n_arms))


@pytest.mark.parametrize("name", MADE)
def test_an_instance_is_what_it_says(name):
    instance = get(name)
    drawn = instance.make(3)
    assert (instance.name, instance.goal, drawn.goal.name) == (name, drawn.goal.name, instance.goal)
    assert drawn.truth.shape == drawn.expected.shape == (len(drawn.noise), drawn.n_arms)
    assert np.isfinite(drawn.truth).all()
    assert drawn.measurable.shape == drawn.wanted.shape == (drawn.n_arms,)
    rank = span_basis(drawn.features).shape[1]
    assert rank == min(instance.dimension, drawn.n_arms)
    if not name.startswith("linfact-"):
        assert drawn.n_arms == instance.compounds
    if name != "covboost":
        # Its truth is on the link scale, and linear there.
        x = matrix(drawn)
        residual = drawn.truth.T - x @ np.linalg.lstsq(x, drawn.truth.T, rcond=None)[0]
        assert np.abs(residual).max() < 1e-9
    assert pickle.loads(pickle.dumps(instance)).make(3).n_arms == drawn.n_arms


@pytest.mark.parametrize("name", MADE)
def test_random_ones_depend_on_the_seed_and_only_on_it(name):
    instance = get(name)
    first, again, other = (instance.make(seed) for seed in (1, 1, 2))
    assert np.array_equal(first.truth, again.truth)
    same = first.truth.shape == other.truth.shape and np.array_equal(first.truth, other.truth)
    assert same is not instance.random


def test_the_sizes_of_linfacts_table_1():
    sizes = [
        (get(f"linfact-{number}").dimension, get(f"linfact-{number}").make(0).goal.epsilon) for number in range(1, 10)
    ]
    assert sizes == [(8, 0.1), (8, 0.2), (8, 0.3), (12, 0.1), (12, 0.2), (12, 0.3), (8, 0.5), (12, 0.5), (16, 0.5)]


def test_the_two_closest_on_a_sphere():
    rows = on_sphere(np.random.default_rng(0), 700, 3)
    products = rows @ rows.T - 2 * np.eye(700)
    i, j = closest(rows)
    assert products[i, j] == products.max()
    assert i < j
    sphere = get("rage-sphere").make(4)
    assert sphere.truth[0].max() == pytest.approx(1.0)
    for name in ("lingame-sphere-8", "gse-sphere"):
        drawn = get(name).make(4)
        x = matrix(drawn)
        a, b = closest(x)
        assert drawn.truth[0].argmax() == a
        assert drawn.truth[0, b] == pytest.approx(x[b] @ (x[a] + 0.01 * (x[b] - x[a])))


def test_gses_instances():
    assert get("gse-static").budget == 320
    assert get("gse-adaptive").make(0).noise == (math.sqrt(10),)
    assert get("gse-sphere:variance=1").make(0).noise == (1.0,)
    logistic = get("gse-logistic-7").make(0)
    assert np.allclose(logistic.expected, 1 / (1 + np.exp(-logistic.truth)))
    assert (logistic.kind, logistic.noise) == ("bernoulli", (0.5,))
    counts = get("gse-poisson").make(0)
    assert np.allclose(counts.expected, np.exp(counts.truth))
    assert counts.noise[0] ** 2 == pytest.approx(counts.expected.max())


def test_covboost():
    fit, values = get("covboost").make(0), get("covboost:truth=values").make(0)
    assert values.truth.shape == (3, 20)
    assert np.abs(fit.truth - values.truth).max() > 0.01
    assert np.allclose(fit.truth.mean(axis=1), values.truth.mean(axis=1))
    # Both primes boosted with m1273.
    assert values.goal.members(values.truth).sum() == 2
    assert get("covboost").notes == ()
    assert "additivity does not hold" in get("covboost:truth=values").notes[0]


def test_a_table_of_numeric_features(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("$a;$b;<$x;<$y\n1;0;2;5\n2;1;4;4\n3;0;6;3\n4;2;8;2.5\n1;0;4;5\n", encoding="utf-8")
    instance = get(f"gege-noc:file={table}")
    drawn = instance.make(0)
    assert (instance.compounds, instance.dimension, drawn.n_arms) == (4, 2, 4)
    # The first is to be small, the second large; equal features are one arm, of their mean.
    values = get(f"gege-noc:file={table},truth=values").make(0)
    assert np.allclose(np.diff(values.truth[0]), [-1, -2, -2])
    assert np.allclose(np.diff(values.truth[1]), [-1, -1, -0.5])
    assert np.allclose(get(f"gege-noc:file={table},truth=values,directions=max/max").make(0).truth[0], -values.truth[0])


@pytest.mark.parametrize(
    ("text", "said"),
    [("a,b\n1,x\n2,3\n", "row 2"), ("a,b\n1,2\n", "no table"), ("a,b,c\n1,2,nan\n2,3,4\n", "finite")],
)
def test_a_table_that_cannot_be_used_is_refused(tmp_path, text, said):
    table = tmp_path / "t.csv"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(AssayPilotError, match=said) as refusal:
        get(f"gege-noc:file={table}")
    assert str(table) in str(refusal.value)


def test_cars_are_rescaled_and_those_without_a_price_left_out(tmp_path):
    table = tmp_path / "cars.data"
    lines = []
    for width, weight, engine, city, highway, price in (
        *((60, 2000, 100, 20, 30, "10000"), (62, 2500, 150, 25, 28, "20000")),
        *((64, 2200, 120, 30, 34, "30000"), (66, 3000, 200, 15, 20, "?")),
    ):
        cells = ["x"] * 26
        for column, value in zip((11, 13, 16, 23, 24, 25), (width, weight, engine, city, highway, price), strict=True):
            cells[column] = str(value)
        lines.append(",".join(cells))
    table.write_text("\n".join(lines), encoding="utf-8")
    instance = get(f"gse-automobile:file={table},arms=3")
    drawn = instance.make(1)
    assert (instance.compounds, instance.dimension, instance.budget, drawn.noise) == (3, 3, 60, (math.sqrt(0.1),))
    x = matrix(drawn)[np.argsort(drawn.truth[0])]
    assert np.allclose(x[:, 0], [0, 0.5, 1])
    assert np.allclose(np.sort(drawn.truth[0]), [0, 0.5, 1])
    with pytest.raises(AssayPilotError, match="at most 3"):
        get(f"gse-automobile:file={table},arms=4")
    table.write_text("1,2,3\n", encoding="utf-8")
    with pytest.raises(AssayPilotError, match="not the Automobile table"):
        get(f"gse-automobile:file={table}")


@pytest.mark.skipif(not DATA.is_dir(), reason="the public tables are not beside the project")
def test_the_papers_tables():
    assert get(f"gse-automobile:file={DATA / 'imports-85.data'},arms=201").compounds == 201
    noc = get(f"gege-noc:file={DATA / 'noc_CM_log_kone.csv'}")
    assert (noc.compounds, noc.dimension) == (259, 4)
    energy = get(f"gege-energy:file={DATA / 'ENB2012_hds.csv'}")
    assert energy.compounds == 768
    assert energy.make(0).truth.shape == (2, 768)
