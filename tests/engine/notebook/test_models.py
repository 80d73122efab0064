"""The series model and the designs by themselves."""

import itertools

import numpy as np
import pandas as pd
import pytest

from assaypilot.engine import AssayPilotError, SeriesModel, compare_strategies, load_dataset, optimal_design

SITES = {"R1": "ABCDEF", "R2": "GHIJ", "R3": "KLM"}


@pytest.fixture(scope="module")
def series():
    rng = np.random.default_rng(0)
    table = pd.DataFrame([dict(zip(SITES, labels, strict=True)) for labels in itertools.product(*SITES.values())])
    effects = {name: {label: rng.normal(0.0, 0.6) for label in labels} for name, labels in SITES.items()}
    truth = 6.0 + sum(table[name].map(own) for name, own in effects.items()).to_numpy()
    order = rng.permutation(len(table))
    return table.iloc[order].reset_index(drop=True), truth[order], truth[order] + rng.normal(0.0, 0.2, len(table))


def test_model_predicts_left_out_compounds_with_honest_intervals(series):
    table, truth, values = series
    model = SeriesModel(noise_sd=0.2).fit(table[:45], values[:45])
    assert model.score(table[45:], truth[45:]) > 0.8
    ends = model.predict_interval(table[45:])
    assert ((ends[:, 0] < truth[45:]) & (truth[45:] < ends[:, 1])).mean() > 0.85
    mean, sd = model.predict(table[45:], return_std=True)
    assert mean == pytest.approx(model.predict(table[45:]))
    assert ends[:, 1] - ends[:, 0] == pytest.approx(3.92 * sd, rel=0.25)
    assert model.noise_sd_ == 0.2
    assert list(model.feature_names_in_) == list(SITES)


def test_unknown_noise_is_estimated_from_replicates(series):
    table, truth, _ = series
    rng = np.random.default_rng(2)
    twice = pd.concat([table, table])
    model = SeriesModel().fit(twice, np.tile(truth, 2) + rng.normal(0.0, 0.2, 2 * len(table)))
    assert model.noise_sd_ == pytest.approx(0.2, rel=0.2)


def test_new_substituent_has_the_spread_of_its_site(series):
    table, _, values = series
    model = SeriesModel(noise_sd=0.2).fit(table, values)
    asked = pd.DataFrame({"R1": ["A", "Z"], "R2": ["G", "G"], "R3": ["K", "K"]})
    _, sd = model.predict(asked, return_std=True)
    spread = pd.Series(values).groupby(table["R1"]).mean().std()
    assert 0.5 * spread < sd[1] < 3.0 * spread
    assert sd[1] > 3.0 * sd[0]


def test_structure_like_a_known_one_is_predicted_like_it():
    rng = np.random.default_rng(4)
    tails = ["C" * n for n in range(2, 12)]
    rows = [(f"*{tail}", f"*{head}") for tail in tails for head in ("c1ccccc1", "c1ccncc1", "C1CCCCC1")]
    table = pd.DataFrame(rows, columns=["R1", "R2"])
    values = np.array([5.0 + 0.3 * len(tail) for tail, _ in rows]) + rng.normal(0.0, 0.05, len(rows))
    kept = (table["R1"] != f"*{tails[8]}").to_numpy()
    errors = []
    for similar in (True, False):
        model = SeriesModel(noise_sd=0.05, similarity=similar).fit(table[kept], values[kept])
        errors.append(np.abs(model.predict(table[~kept]) - values[~kept]).mean())
    assert errors[0] < 0.6 * errors[1]


def test_scikit_learn_clones_and_cross_validates_it(series):
    base = pytest.importorskip("sklearn.base")
    selection = pytest.importorskip("sklearn.model_selection")
    table, _, values = series
    model = base.clone(SeriesModel(noise_sd=0.2, n_draws=100))
    assert selection.cross_val_score(model, table, values, cv=3).mean() > 0.6


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda X, y: (X, y[:-1]), "one value per row"),
        (lambda X, y: (X, np.where(np.arange(len(y)) == 2, np.nan, y)), "1 values that are no numbers"),
        (lambda X, y: (X.assign(R2=[None, *X["R2"][1:]]), y), "row 0, column R2: a substituent is missing"),
        (lambda X, y: (X["R1"].to_numpy(), y), "one column per site"),
        (lambda X, y: (X, ["high", *y[1:]]), "1 values that are no numbers"),
    ],
)
def test_wrong_data_are_refused_in_one_line(series, change, why):
    table, _, values = series
    with pytest.raises(AssayPilotError, match=why):
        SeriesModel().fit(*change(table, values))


def test_use_before_fit_and_other_sites_are_refused(series):
    table, _, values = series
    with pytest.raises(AssayPilotError, match="not fitted"):
        SeriesModel().predict(table)
    with pytest.raises(AssayPilotError, match="fitted to the sites R1, R2, R3, got R1, R3, R2"):
        SeriesModel().fit(table, values).predict(table[["R1", "R3", "R2"]])


def test_designs_reach_the_value_that_is_known(series):
    """G: the rank (Kiefer and Wolfowitz 1960). XY of a full factorial: all means apart by the sum of its sites."""
    table = series[0]
    rank = 1 + sum(len(labels) - 1 for labels in SITES.values())
    g = optimal_design(table, 36, criterion="g")
    assert g.value == pytest.approx(rank, rel=2e-3)
    assert g.efficiency > 0.998
    assert g.table["weight"].sum() == pytest.approx(1.0)
    assert g.table["measurements"].sum() == 36
    # Each level of a site with l substituents has the share 1 / l: the difference of two has variance 2 l.
    xy = optimal_design(table, criterion="xy")
    assert xy.value == pytest.approx(sum(2 * len(labels) for labels in SITES.values()), rel=2e-3)


def test_designs_of_numbers_targets_and_limits():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc"))
    found = optimal_design(table, 20, criterion="g", max_per_candidate=3, targets=table[:5])
    assert found.table["measurements"].max() <= 3
    x, counts = table.to_numpy(), found.table["measurements"].to_numpy()
    inverse = np.linalg.inv((x * counts[:, None]).T @ x)
    assert found.largest_sd**2 == pytest.approx(np.einsum("ij,jk,ik->i", x[:5], inverse, x[:5]).max())
    for options, why in (
        ({"criterion": "z"}, "no criterion"),
        ({"measurements": 2}, "too few|at least"),
        ({"max_per_candidate": 2}, "needs measurements"),
        ({"sites": ["d"]}, "no column d"),
    ):
        with pytest.raises(AssayPilotError, match=why):
            optimal_design(table, **options)
    for wrong in (table.to_numpy().tolist(), table.set_axis(["a", "a", "b"], axis=1)):
        with pytest.raises(AssayPilotError, match="columns have different names"):
            optimal_design(wrong)


def test_contests_are_the_same_for_the_same_seed_and_refuse_what_is_unclear():
    table = load_dataset("practice-960").head(60)[["ID", "R3", "R4", "R5", "truth"]]
    terms = {"truth": "truth", "epsilon": 0.5, "noise_sd": 0.2, "runs": 2, "budget": 120, "per_round": 30}
    first = compare_strategies(["adaptive", "uniform"], table, **terms)
    again = compare_strategies(["adaptive", "uniform"], table, **terms)
    pd.testing.assert_frame_equal(first.drop(columns="seconds"), again.drop(columns="seconds"))
    assert first.loc["adaptive", "recall"] >= first.loc["uniform", "recall"]
    for options, why in (
        ({"truth": None}, "needs its true means"),
        ({"truth": "R3"}, "one number for each row"),
        ({"epsilon": None}, "the distance from the best"),
        ({"goal": "pareto"}, "no contest about"),
        ({"parameters": {"colour": 1}}, "parameter 'colour'"),
        ({"noise_sd": "0.2"}, "needs its true means and the noise"),
        ({"per_round": 0}, "per_round must be a whole number"),
        ({"budget": 1.5}, "budget must be a whole number"),
    ):
        with pytest.raises(AssayPilotError, match=why):
            compare_strategies("uniform", table, **{**terms, **options})
    with pytest.raises(AssayPilotError, match="there is no strategy"):
        compare_strategies("best", table, **terms)
    with pytest.raises(AssayPilotError, match="two strategies are called 'uniform'"):
        compare_strategies(["uniform", "uniform"], table, **terms)
