import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.endpoint import CONCENTRATIONS, Endpoint, normalise_unit
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


def test_known_values():
    assert Endpoint("IC50", unit="nM", transform="log").to_model(10.0) == 8.0
    assert Endpoint("IC50", unit="uM", transform="log").to_model(1.0) == pytest.approx(6.0)
    assert Endpoint("clearance", unit="mL/min", transform="log").to_model(100.0) == 2.0
    assert Endpoint("pIC50").to_model(7.25) == 7.25
    assert Endpoint("inhibition", unit="%").to_model(-3.5) == -3.5


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


def test_relations_turn_round_only_for_potencies():
    assert Endpoint("IC50", unit="µM", transform="log").relation_on_model(">") == "<"
    assert Endpoint("IC50", unit="µM", transform="log").relation_on_model("<") == ">"
    assert Endpoint("IC50", unit="µM").relation_on_model(">") == ">"
    assert Endpoint("clearance", unit="mL/min", transform="log").relation_on_model(">") == ">"


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_what_has_no_logarithm_is_refused(value):
    with pytest.raises(AssayPilotError) as refused:
        Endpoint("IC50", unit="nM", transform="log").to_model(value)
    assert str(refused.value) == f"column IC50: {value:g} has no logarithm (must be > 0)"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("transform", ["none", "log"])
def test_what_is_no_number_is_refused(value, transform):
    with pytest.raises(AssayPilotError, match="is not a finite number"):
        Endpoint("IC50", unit="nM", transform=transform).to_model(value)


@pytest.mark.parametrize(
    ("unit", "own", "text"),
    [
        ("nM", "%", "unit % cannot be converted to nM"),
        ("%", "nM", "unit nM cannot be converted to %"),
        ("", "nM", r"unit nM cannot be converted to \(none\)"),
    ],
)
def test_units_that_are_no_concentrations_cannot_be_converted(unit, own, text):
    with pytest.raises(AssayPilotError, match=text):
        Endpoint("x", unit=unit).to_model(1.0, own)
    assert Endpoint("x", unit="%").to_model(1.0, " % ") == 1.0


@given(labels, st.sampled_from(["max", "min"]), st.floats(1e-6, 1e6))
def test_as_an_object_and_back(name, direction, sd):
    for transform in ("none", "log"):
        for unit in ("uM", "%"):
            endpoint = Endpoint(name, unit=unit, transform=transform, direction=direction, noise_sd=sd)
            assert Endpoint.from_json(endpoint.as_json()) == endpoint
    assert endpoint.sign == {"max": 1.0, "min": -1.0}[direction]


def test_spellings_of_units():
    micro = ["uM", "UM", "µM", "μM", " um ", "micromolar"]
    assert {normalise_unit(text) for text in micro} == {"µM"}
    assert {normalise_unit(text) for text in ("nM", "NM", "nm", "nanomolar")} == {"nM"}
    assert normalise_unit("M") == "M"
    assert normalise_unit("mM") == "mM"
    # Lengths, not concentrations.
    assert normalise_unit("mm") == "mm"
    assert normalise_unit("m") == "m"
    assert normalise_unit(" mg/kg ") == "mg/kg"


@pytest.mark.parametrize(
    ("name", "unit", "transform", "scale", "differences"),
    [
        ("IC50", "nM", "log", "pIC50", "log"),
        ("IC50 (nM)", "nM", "log", "pIC50", "log"),
        ("Ki_nM", "nM", "log", "pKi", "log"),
        ("EC50 [µM]", "uM", "log", "pEC50", "log"),
        ("clearance", "mL/min", "log", "log10 clearance", "log"),
        ("pIC50", "", "none", "pIC50", "log"),
        ("yield", "%", "none", "yield", "%"),
    ],
)
def test_names_of_the_scale(name, unit, transform, scale, differences):
    endpoint = Endpoint(name, unit=unit, transform=transform)
    assert (endpoint.scale_name, endpoint.scale_unit) == (scale, differences)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"noise_sd": 0.0}, "must be a number > 0 in pIC50 units, got 0.0"),
        ({"noise_sd": -0.1}, "must be a number > 0"),
        ({"noise_sd": math.nan}, "must be a number > 0"),
        ({"noise_sd": math.inf}, "must be a number > 0"),
        ({"transform": "sqrt"}, "transform must be log or none, got 'sqrt'"),
        ({"direction": "up"}, "direction must be max or min, got 'up'"),
        ({"wells_per_measurement": 0}, "wells_per_measurement must be 1 or more, got 0"),
    ],
)
def test_what_cannot_be_is_refused(changes, text):
    with pytest.raises(AssayPilotError, match=text):
        Endpoint("pIC50", **changes)
