import json
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import CONCENTRATIONS, Endpoint, Limit
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import labels

LITRE = {"M": 0, "mM": -3, "µM": -6, "nM": -9, "pM": -12}
units = st.sampled_from([*CONCENTRATIONS, "uM", "%", "min", ""])
positive = st.floats(1e-12, 1e12)


@given(units, st.sampled_from(["none", "log"]), positive)
def test_to_the_model_and_back(unit, transform, value):
    endpoint = Endpoint("IC50", unit=unit, transform=transform)
    assert endpoint.from_model(endpoint.to_model(value)) == pytest.approx(value, rel=1e-9)


@given(units, st.sampled_from(["none", "log"]), st.floats(-12, 12))
def test_from_the_model_and_back(unit, transform, level):
    endpoint = Endpoint("IC50", unit=unit, transform=transform)
    assert endpoint.to_model(endpoint.from_model(level)) == pytest.approx(level, abs=1e-9)


@given(st.sampled_from(list(LITRE)), positive)
def test_a_concentration_is_its_negative_logarithm_in_mol_per_litre(unit, value):
    endpoint = Endpoint("IC50", unit=unit, transform="log")
    assert endpoint.is_potency
    assert endpoint.to_model(value) == pytest.approx(-math.log10(value) - LITRE[unit], abs=1e-9)


@given(st.sampled_from(list(LITRE)), st.sampled_from(list(LITRE)), st.sampled_from(["none", "log"]), positive)
def test_a_row_in_its_own_unit_is_the_same_quantity(unit, own, transform, value):
    endpoint = Endpoint("IC50", unit=unit, transform=transform)
    converted = value * 10.0 ** (LITRE[own] - LITRE[unit])
    assert endpoint.to_model(value, own) == pytest.approx(endpoint.to_model(converted), rel=1e-9, abs=1e-9)
    assert endpoint.to_model(value, "  ") == endpoint.to_model(value, None) == endpoint.to_model(value)


@given(st.sampled_from(["=", "<", ">"]), st.sampled_from(["none", "log"]), units, positive, positive)
def test_a_bound_stays_true_on_the_model_scale(relation, transform, unit, value, limit):
    """If the entered value is beyond the limit, its place on the model scale is beyond the limit's the stated way."""
    assume(abs(math.log(value / limit)) > 1e-6)
    endpoint = Endpoint("IC50", unit=unit, transform=transform)
    holds = {"=": value == limit, "<": value < limit, ">": value > limit}[relation]
    here, there = endpoint.to_model(value), endpoint.to_model(limit)
    on_model = endpoint.relation_on_model(relation)
    assert {"=": here == there, "<": here < there, ">": here > there}[on_model] == holds


@given(labels, st.sampled_from(["max", "min"]), st.floats(1e-6, 1e6))
def test_as_an_object_and_back(name, direction, sd):
    for transform in ("none", "log"):
        for unit in ("uM", "%"):
            endpoint = Endpoint(name, unit=unit, transform=transform, direction=direction, noise_sd=sd)
            assert Endpoint.from_json(endpoint.as_json()) == endpoint
    assert endpoint.sign == {"max": 1.0, "min": -1.0}[direction]


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"noise_sd": 0.0}, "must be a number > 0 in pIC50 units, got 0.0"),
        ({"noise_sd": -0.1}, "must be a number > 0"),
        ({"noise_sd": math.nan}, "must be a number > 0"),
        ({"noise_sd": math.inf}, "must be a number > 0"),
        ({"noise_sd": 1e-20}, r"too small to be real: 1e-20 in pIC50 units \(.*\)\. Give the SD between independent"),
        ({"noise_sd": 1e10}, r"too large to be real: 1e\+10 in pIC50 units"),
        ({"transform": "sqrt"}, "transform must be log or none, got 'sqrt'"),
        ({"direction": "up"}, "direction must be max or min, got 'up'"),
        ({"wells_per_measurement": 0}, "wells_per_measurement must be 1 or more, got 0"),
        ({"epsilon": -0.1}, "epsilon of pIC50 must be a number >= 0 in pIC50 units, got -0.1"),
        ({"epsilon": math.nan}, "epsilon of pIC50 must be a number >= 0"),
        ({"limit": Limit("<", 0.0), "transform": "log"}, "0 has no logarithm"),
    ],
)
def test_what_cannot_be_is_refused(changes, text):
    with pytest.raises(AssayPilotError, match=text):
        Endpoint("pIC50", **changes)
    for sd in (1e-9, 1e9):
        assert Endpoint("pIC50", noise_sd=sd).noise_sd == sd


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(["none", "log"]), units)
def test_any_number_is_a_usable_one_or_is_refused(value, transform, unit):
    endpoint = Endpoint("x", unit=unit, transform=transform)
    try:
        on_model = endpoint.to_model(value)
    except AssayPilotError:
        assert not 1e-30 <= abs(value) <= 1e30 or (transform == "log" and value <= 0)
    else:
        assert abs(on_model) <= 1e150
        assert transform == "none" or abs(on_model) <= 50.0


@given(value=st.floats(0.01, 1e6), relation=st.sampled_from(["<", "<=", ">", ">="]), limit=st.floats(0.01, 1e6),
       how=st.sampled_from([("none", ""), ("log", ""), ("log", "nM"), ("log", "uM"), ("log", "g")]))  # fmt: skip
def test_a_limit_means_the_same_on_the_model_scale(value, relation, limit, how):
    """What keeps to it in the unit of the values keeps to it on the model scale, flipped for a potency."""
    endpoint = Endpoint("x", unit=how[1], transform=how[0], limit=Limit(relation, limit))
    assume(abs(value - limit) > 1e-6 * limit)
    keeps = value < limit if relation[0] == "<" else value > limit
    assert (endpoint.lowest <= endpoint.to_model(value) <= endpoint.highest) == keeps
    assert (endpoint.lowest == -math.inf) != (endpoint.highest == math.inf)


def test_fields_are_stored():
    plain = Endpoint("hERG", noise_sd=0.2)
    assert Endpoint.from_json(json.loads(json.dumps(plain.as_json()))) == plain
    full = Endpoint("hERG", noise_sd=0.2, epsilon=0.3, limit=Limit("<=", 5.0))
    assert Endpoint.from_json(json.loads(json.dumps(full.as_json()))) == full


@pytest.mark.parametrize(
    ("name", "unit"), [("hERG pIC50", "log"), ("pKi (human)", "log"), ("Picolinate", ""), ("Spin", "")]
)
def test_potency_anywhere_in_a_name_has_differences_in_log_units(name: str, unit: str) -> None:
    assert Endpoint(name).scale_unit == unit
