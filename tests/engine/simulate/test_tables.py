import numpy as np
import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.domain.library import Library
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.runner import Task, problem_of
from assaypilot.engine.simulate.tables import NOT_ADDITIVE, of_table, truth_of
from assaypilot.engine.strategies.registry import get

ROWS = [("H", "F"), ("H", "Cl"), ("Me", "F"), ("Me", "Cl"), ("Et", "F")]
IDS = ["A", "B", "C", "D", "E"]
LIBRARY = Library.listed(["R1", "R2"], ROWS, ids=IDS)
PIC50 = Endpoint("pIC50", noise_sd=0.2)


def results(values, name=None):
    return [Result(compound, value, endpoint=name) for compound, value in values]


def test_the_fit_is_additive_and_reaches_compounds_without_a_value():
    values = {"A": 5.0, "B": 6.1, "C": 7.0, "E": 4.0}
    truth = truth_of(LIBRARY, results(values.items()), [PIC50], "fit")
    # A, B and C fix three effects exactly: D = B + C - A.
    assert np.allclose(truth.means[0], [5.0, 6.1, 7.0, 8.1, 4.0])
    assert truth.noise == (0.2,)
    assert truth.notes == ()


def test_values_are_the_means_as_they_are():
    values = [("A", 5.0), ("A", 5.4), ("B", 6.0), ("C", 7.0), ("D", 9.0)]
    truth = truth_of(LIBRARY, results(values), [PIC50], "values")
    assert np.allclose(truth.means[0], [5.2, 6.0, 7.0, 9.0])
    assert NOT_ADDITIVE in truth.notes


def test_smaller_is_better_turns_the_truth_around():
    values = [("A", 100.0), ("B", 10.0), ("C", 1.0)]
    potency = Endpoint("IC50", unit="nM", transform="log", noise_sd=0.1)
    assert np.allclose(truth_of(LIBRARY, results(values), [potency], "values").means[0], [7, 8, 9])
    hazard = Endpoint("hERG", direction="min", noise_sd=0.1)
    assert np.allclose(truth_of(LIBRARY, results(values), [hazard], "values").means[0], [-100, -10, -1])


def test_several_endpoints_keep_the_compounds_with_all_of_them():
    history = results([("A", 1.0), ("B", 2.0), ("C", 3.0)], "x") + results([("B", 5.0), ("C", 4.0), ("D", 1.0)], "y")
    truth = truth_of(LIBRARY, history, [Endpoint("x", noise_sd=1), Endpoint("y", noise_sd=2)], "values")
    assert truth.means.tolist() == [[2.0, 3.0], [5.0, 4.0]]
    assert truth.noise == (1, 2)


def test_bounds_and_excluded_values_are_no_truth():
    history = [*results([("A", 5.0), ("B", 6.0)]), Result("C", 9.0, relation=">"), Result("D", 9.0, excluded=True)]
    assert truth_of(LIBRARY, history, [PIC50], "values").means.tolist() == [[5.0, 6.0]]


def test_the_noise_is_given_or_in_the_replicates_and_never_guessed():
    bare = Endpoint("pIC50")
    twice = results([("A", 5.0), ("A", 5.4), ("B", 6.0), ("B", 6.4), ("C", 7.0)])
    assert truth_of(LIBRARY, twice, [bare], "values").noise[0] == pytest.approx(0.4 / np.sqrt(2))
    for history in (results([("A", 5.0), ("B", 6.0)]), results([("A", 5.0), ("A", 5.0), ("B", 6.0)])):
        with pytest.raises(AssayPilotError, match="--sd"):
            truth_of(LIBRARY, history, [bare], "values")
    with pytest.raises(AssayPilotError, match="no values of pIC50"):
        truth_of(LIBRARY, [], [PIC50], "fit")
    with pytest.raises(AssayPilotError, match="fewer than two"):
        truth_of(LIBRARY, results([("A", 5.0)]), [PIC50], "values")


def test_what_cannot_be_had_cannot_be_measured():
    library = Library.listed(["R1", "R2"], ROWS, ids=IDS, measurable=[True, True, True, False, True])
    truth = truth_of(library, results(zip(IDS, [5.0, 6.0, 7.0, 8.0, 4.0], strict=True)), [PIC50], "fit")
    instance = of_table("t", "p", "t", truth, AllEpsilonBest(1.0), 0.1)
    drawn = instance.make(0)
    assert drawn.measurable.tolist() == [True, True, True, False, True]
    assert drawn.wanted.all()
    assert (instance.compounds, instance.dimension, instance.delta, instance.random) == (5, 4, 0.1, False)


@pytest.mark.parametrize(
    ("endpoint", "ends"),
    [(Endpoint("yield", "%", noise_sd=3.0), (0.0, 100.0)), (Endpoint("shift", noise_sd=3.0), None)],
)
def test_strategy_knows_the_ends_of_a_scale_in_simulations_too(endpoint, ends):
    truth = truth_of(LIBRARY, results(zip(IDS, [5.0, 60.0, 70.0, 98.0, 4.0], strict=True)), [endpoint], "values")
    task = Task(get("gaussian-process"), of_table("t", "p", "t", truth, AllEpsilonBest(10.0), 0.05))
    assert problem_of(task, task.instance.make(0), 0).ends == (ends,)
