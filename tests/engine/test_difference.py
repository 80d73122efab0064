"""Differences of endpoints as pure functions: how they are named, what they may be made of, counts, means and noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.derived import (
    check_differences,
    difference,
    find_parts,
    with_noise,
)
from assaypilot.engine.domain.endpoint import Endpoint, Limit
from assaypilot.engine.domain.measurements import Pooled
from assaypilot.engine.errors import AssayPilotError

POTENCY = Endpoint("pIC50", noise_sd=0.2)
HERG = Endpoint("hERG (nM)", "nM", "log", noise_sd=0.3)
WHOLE = Endpoint("Selectivity", of=("pIC50", "hERG (nM)"))


def test_a_part_may_be_named_as_it_is_modelled():
    assert find_parts("S", "pIC50 - phERG", [POTENCY, HERG]) == ("pIC50", "hERG (nM)")


@pytest.mark.parametrize(
    ("endpoints", "line", "mend"),
    [
        (
            [POTENCY, Endpoint("hERG"), Endpoint("S", of=("pIC50", "hERG"))],
            "S needs two endpoints on a log scale, and hERG is not known to be on one",
            "unit of hERG: log where",
        ),
        (
            [POTENCY, Endpoint("inhibition", "%"), Endpoint("S", of=("inhibition", "pIC50"))],
            "S needs two endpoints on a log scale, and inhibition is not",
            "for example nM where they are concentrations",
        ),
        (
            [POTENCY, Endpoint("hERG IC50", transform="log"), Endpoint("S", of=("pIC50", "hERG IC50"))],
            "without a unit hERG IC50 may be a concentration, whose logarithm counts the other way round",
            "the unit of hERG IC50, for example nM",
        ),
        ([POTENCY, Endpoint("S", of=("pIC50", "pIC50"))], "S is pIC50 minus itself", "Name two endpoints."),
        (
            [POTENCY, HERG, WHOLE, Endpoint("T", of=("Selectivity", "pIC50"))],
            "T is made of Selectivity, which is a difference itself",
            "Name two endpoints that are measured.",
        ),
        (
            [POTENCY, HERG, Endpoint("S", of=("pIC50", "logD"))],
            "S is made of logD, which is no endpoint; there are pIC50, hERG (nM)",
            "",
        ),
    ],
)
def test_endpoints_without_a_difference_are_refused(endpoints, line, mend):
    with pytest.raises(AssayPilotError) as caught:
        check_differences(endpoints)
    assert line in caught.value.message
    assert mend in caught.value.mend


@pytest.mark.parametrize(
    "other",
    [
        HERG,
        Endpoint("hERG pIC50"),
        Endpoint("pKi (hERG)"),
        Endpoint("logD"),
        Endpoint("LogP 7.4"),
        Endpoint("hERG", "log"),
        Endpoint("clearance", "mL/min", "log"),
    ],
)
def test_logarithms_are_known_by_transform_unit_or_name(other):
    check_differences([POTENCY, other, Endpoint("S", of=("pIC50", other.name))])


def test_difference_has_no_measured_properties():
    for own in ({"unit": "nM"}, {"transform": "log"}, {"wells_per_measurement": 20}):
        with pytest.raises(AssayPilotError, match="no unit, transform or wells of its own"):
            Endpoint("S", of=("a", "b"), **own)
    assert Endpoint("S", of=("a", "b")).scale_unit == "log"
    assert Endpoint("S", of=("a", "b"), limit=Limit(">", 2.0)).lowest == 2.0


def test_difference_survives_json():
    for endpoint in (WHOLE, Endpoint("S", of=("a", "b"), epsilon=0.3, limit=Limit(">=", 1.0), direction="min"), HERG):
        assert Endpoint.from_json(endpoint.as_json()) == endpoint


def test_noise_of_a_difference_is_that_of_its_parts():
    assert with_noise([POTENCY, HERG, WHOLE])[2].noise_sd == pytest.approx(np.sqrt(0.04 + 0.09))
    assert with_noise([POTENCY, Endpoint("hERG (nM)", "nM", "log"), WHOLE])[2].noise_sd is None


def test_counts_and_means_by_hand():
    first = Pooled(np.array([2.0, 1.0, 4.0, 0.0, 3.0]), np.array([7.0, 6.0, 8.0, 0.0, 5.0]))
    second = Pooled(np.array([2.0, 4.0, 0.0, 0.0, 1.0]), np.array([5.0, 5.5, 0.0, 0.0, 6.0]))
    found = difference(first, second, (0.2, 0.3))
    assert found.means.tolist() == [2.0, 0.5, 0.0, 0.0, -1.0]
    # 0.13 / (0.04 + 0.09 / 4) and 0.13 / (0.04 / 3 + 0.09)
    assert found.counts == pytest.approx([2.0, 2.08, 0.0, 0.0, 0.13 / (0.04 / 3 + 0.09)])


counts = st.integers(0, 40).map(float)
sds = st.floats(0.01, 3.0)


@given(st.lists(st.tuples(counts, counts), min_size=1, max_size=6), sds, sds)
def test_the_variance_of_a_difference_is_the_sum_of_its_parts(pairs, a, b):
    first, second = (np.array(column) for column in zip(*pairs, strict=True))
    none = np.zeros(len(first))
    found = difference(Pooled(first, none), Pooled(second, none), (a, b)).counts
    missing = (first == 0) | (second == 0)
    assert (found[missing] == 0).all()
    m, n = first[~missing], second[~missing]
    assert (a * a + b * b) / found[~missing] == pytest.approx(a * a / m + b * b / n)
    assert (found <= np.maximum(first, second) * (1 + 1e-12)).all()
    assert (found[~missing] >= np.minimum(m, n) * (1 - 1e-12)).all()
    # Exactly whole where nothing is missing: a phase is complete or it is not.
    assert (found[first == second] == first[first == second]).all()
