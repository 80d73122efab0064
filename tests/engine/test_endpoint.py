import json
import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assaypilot.engine.domain.endpoint import CONCENTRATIONS, Endpoint, Limit, normalise_unit
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
    asked = ": is it below the limit of quantitation? Then write < and that limit" if value == 0 else " (must be > 0)"
    assert str(refused.value) == f"column IC50: {value:g} has no logarithm{asked}"


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
        ("IC50, nM", "nM", "log", "pIC50", "log"),
        ("IC50,nM", "nM", "log", "pIC50", "log"),
        ("IC50; uM", "uM", "log", "pIC50", "log"),
        ("IC50 - (nM)", "nM", "log", "pIC50", "log"),
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
        ({"noise_sd": 1e-20}, r"too small to be real: 1e-20 in pIC50 units \(.*\)\. Give the SD between independent"),
        ({"noise_sd": 1e10}, r"too large to be real: 1e\+10 in pIC50 units"),
        ({"transform": "sqrt"}, "transform must be log or none, got 'sqrt'"),
        ({"direction": "up"}, "direction must be max or min, got 'up'"),
        ({"wells_per_measurement": 0}, "wells_per_measurement must be 1 or more, got 0"),
    ],
)
def test_what_cannot_be_is_refused(changes, text):
    with pytest.raises(AssayPilotError, match=text):
        Endpoint("pIC50", **changes)


@pytest.mark.parametrize(
    ("endpoint", "value", "text"),
    [
        (Endpoint("pIC50"), 1e8, "column pIC50: 1e8 is no pIC50. A value is expected between -50 and 50"),
        (Endpoint("pIC50"), -51.0, "column pIC50: -51 is no pIC50."),
        (Endpoint("pKi (hERG)"), 50.1, "column pKi (hERG): 50.1 is no pKi (hERG)."),
        (Endpoint("IC50", unit="nM", transform="log"), 1e60, "column IC50: 1e60 nM is no IC50. Check the value"),
        (Endpoint("IC50", unit="M", transform="log"), 5e-324, "is no IC50. Check the value"),
        (Endpoint("clearance", unit="mL/min", transform="log"), 1e-51, "1e-51 mL/min is no clearance."),
        (Endpoint("yield", unit="%"), 1e151, "column yield: 1e151 % is no yield. Check the value and its unit."),
        (Endpoint("yield", unit="%"), -1e308, "-1e308 % is no yield."),
    ],
)
def test_impossible_value_is_refused(endpoint, value, text):
    with pytest.raises(AssayPilotError) as refused:
        endpoint.to_model(value)
    assert text in str(refused.value)


def test_a_unit_that_takes_a_value_out_of_range_is_refused_in_the_words_of_the_row():
    endpoint = Endpoint("IC50", unit="pM", transform="log")
    with pytest.raises(AssayPilotError, match="1e300 M is no IC50"):
        endpoint.to_model(1e300, "M")
    with pytest.raises(AssayPilotError, match="e-324 pM is no IC50"):
        Endpoint("IC50", unit="M", transform="log").to_model(5e-324, "pM")


@pytest.mark.parametrize("value", [-50.0, 0.0, 8.0, 50.0])
def test_possible_potency_is_kept(value):
    assert Endpoint("pIC50").to_model(value) == value


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


@pytest.mark.parametrize("sd", [1e-9, 1e9])
def test_noise_at_the_edge_is_kept(sd):
    assert Endpoint("rate", noise_sd=sd).noise_sd == sd


@pytest.mark.parametrize(
    ("text", "limit", "said"),
    [
        ("<5", Limit("<", 5.0), "< 5"),
        (" >= 6.5 ", Limit(">=", 6.5), ">= 6.5"),
        ("<=0,3", Limit("<=", 0.3), "<= 0.3"),
        ("≥ 1e4", Limit(">=", 1e4), ">= 10000"),
        ("> -2", Limit(">", -2.0), "> -2"),
    ],
)
def test_limits_as_people_write_them(text, limit, said):
    assert Limit.parse(text) == limit
    assert Limit.parse(text).text == said
    assert Limit.parse(said) == limit


@pytest.mark.parametrize("text", ["5", "", "<", "=5", "<five", "<nan", "<inf", "5<", "<<5", "=<5"])
def test_a_text_that_is_no_limit_is_refused(text):
    with pytest.raises(AssayPilotError, match="is no limit"):
        Limit.parse(text)


@given(value=st.floats(0.01, 1e6), relation=st.sampled_from(["<", "<=", ">", ">="]), limit=st.floats(0.01, 1e6),
       how=st.sampled_from([("none", ""), ("log", ""), ("log", "nM"), ("log", "uM"), ("log", "g")]))  # fmt: skip
def test_a_limit_means_the_same_on_the_model_scale(value, relation, limit, how):
    """What keeps to it in the unit of the values keeps to it on the model scale, flipped for a potency."""
    endpoint = Endpoint("x", unit=how[1], transform=how[0], limit=Limit(relation, limit))
    assume(abs(value - limit) > 1e-6 * limit)
    keeps = value < limit if relation[0] == "<" else value > limit
    assert (endpoint.lowest <= endpoint.to_model(value) <= endpoint.highest) == keeps
    assert (endpoint.lowest == -math.inf) != (endpoint.highest == math.inf)


def test_a_limit_in_words():
    assert Endpoint("hERG", limit=Limit("<", 5.0)).limit_text == "hERG < 5"
    assert Endpoint("IC50", "nM", "log", limit=Limit(">", 1e4)).limit_text == "IC50 > 10000 nM"
    assert Endpoint("IC50 (nM)", "nM", "log", limit=Limit(">", 1e4)).limit_text == "IC50 (nM) > 10000"
    none = Endpoint("hERG")
    assert (none.limit_text, none.lowest, none.highest) == ("", -math.inf, math.inf)


def test_unset_fields_are_not_stored():
    plain = Endpoint("hERG", noise_sd=0.2)
    assert set(plain.as_json()) == {"name", "unit", "transform", "direction", "noise_sd", "wells_per_measurement"}
    assert Endpoint.from_json(plain.as_json()) == plain
    full = Endpoint("hERG", noise_sd=0.2, epsilon=0.3, limit=Limit("<=", 5.0))
    assert Endpoint.from_json(json.loads(json.dumps(full.as_json()))) == full


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": -0.1}, "epsilon of hERG must be a number >= 0 in hERG units, got -0.1"),
        ({"epsilon": math.nan}, "epsilon of hERG must be a number >= 0"),
        ({"limit": Limit("<", 0.0), "transform": "log"}, "0 has no logarithm"),
    ],
)
def test_epsilon_and_limit_out_of_range(changes, says):
    with pytest.raises(AssayPilotError, match=says):
        Endpoint("hERG", **changes)
