"""Desirability curves and their score: against a plain oracle, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.derived import profile_endpoint, profile_of, with_noise
from assaypilot.engine.domain.desirability import Curve, Profile, parse_curve
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.errors import AssayPilotError

POTENCY = Endpoint("pIC50", noise_sd=0.2)
HERG = Endpoint("hERG", "µM", "log", "min", noise_sd=0.3)


def plain_desirability(value, corners):
    """One curve of one value, by cases."""
    if len(corners) == 4:
        return min(plain_desirability(value, corners[:2]), plain_desirability(value, (corners[3], corners[2])))
    zero, one = corners
    if zero < one:
        return 0.0 if value <= zero else 1.0 if value >= one else (value - zero) / (one - zero)
    return 0.0 if value >= zero else 1.0 if value <= one else (zero - value) / (zero - one)


def corners_of(steps, start, sign):
    return tuple(sign * value for value in np.cumsum([start, *steps]).tolist())


STEP = st.floats(0.1, 3.0)
CORNERS = st.builds(
    corners_of,
    st.one_of(st.lists(STEP, min_size=1, max_size=1), st.lists(STEP, min_size=3, max_size=3)),
    st.floats(-5.0, 5.0),
    st.sampled_from([1.0, -1.0]),
)
CURVE = st.tuples(CORNERS, st.floats(0.1, 5.0))


@given(st.lists(CURVE, min_size=1, max_size=4), st.data())
def test_score_is_the_weighted_geometric_mean_of_plain_desirabilities(curves, data):
    n = len(curves)
    values = data.draw(st.lists(st.floats(-12.0, 12.0), min_size=3 * n, max_size=3 * n))
    table = np.array(values).reshape(n, 3)
    total = sum(weight for _, weight in curves)
    profile = Profile(
        0, tuple(range(1, n + 1)), tuple(corners for corners, _ in curves), tuple(w / total for _, w in curves)
    )
    for column in range(3):
        each = [plain_desirability(table[row, column], corners) for row, (corners, _) in enumerate(curves)]
        logs = [w * math.log(d) if d > 0 else -math.inf for d, (_, w) in zip(each, curves, strict=True)]
        assert profile.score(table)[column] == pytest.approx(math.exp(sum(logs) / total), abs=1e-9)
        assert profile.met(table)[column] == all(d >= 0.5 for d in profile.desirabilities(table)[:, column])
        assert profile.desirabilities(table)[:, column] == pytest.approx(each, abs=1e-9)
    whole = profile.filled(table)
    assert whole[0] == pytest.approx(profile.score(table))
    np.testing.assert_array_equal(whole[1:], table)


@given(CURVE)
def test_text_of_a_curve_reads_as_the_same_curve(curve):
    values, weight = (tuple(float(f"{value:.6g}") for value in curve[0]), float(f"{curve[1]:.3g}"))
    one = Curve("IC50 (nM): kinase", values, weight)
    assert parse_curve(one.text) == one


def test_curve_of_a_concentration_is_straight_on_the_scale_that_is_modelled():
    whole = profile_endpoint([parse_curve("herg:1..100")], [POTENCY, HERG])
    profile = profile_of([POTENCY, HERG, whole], 2)
    # 10 µM is half way between 1 and 100 in logarithms: pIC50 5, turned around for smaller is better.
    assert profile.desirabilities(np.array([[-6.0, -5.0, -4.0]]))[0] == pytest.approx([0.0, 0.5, 1.0])


def test_curve_named_by_the_modelled_scale_has_values_of_that_scale():
    potency = Endpoint("IC50", "nM", "log", noise_sd=0.2)
    whole = profile_endpoint([parse_curve("pic50:6..8;weight=2")], [potency])
    (curve,) = whole.curves
    assert (curve.endpoint, curve.weight) == ("IC50", 2.0)
    assert curve.values == pytest.approx((1000.0, 10.0))


def test_noise_of_the_score_is_that_of_simulated_measurements_half_way_up():
    whole = profile_endpoint([parse_curve("pIC50:6..8;weight=2"), parse_curve("hERG:1..100")], [POTENCY, HERG])
    endpoints = with_noise([POTENCY, HERG, whole])
    profile = profile_of(endpoints, 2)
    rng = np.random.default_rng(0)
    middles = np.array([profile.middle(0), profile.middle(1)])
    values = middles[:, None] + np.array([[0.2], [0.3]]) * rng.standard_normal((2, 20_000))
    assert endpoints[2].noise_sd == pytest.approx(float(profile.score(values).std()), rel=0.05)


def test_endpoint_with_curves_comes_back_from_json():
    whole = profile_endpoint([Curve("pIC50", (6.0, 8.0), 2.0), Curve("hERG", (1.0, 3.0, 10.0, 30.0))], [POTENCY, HERG])
    assert Endpoint.from_json(whole.as_json()) == whole


@pytest.mark.parametrize("texts", [["foo:1..2"], ["pIC50:6..8", "PIC50:5..7"], ["hERG:-1..30"]])
def test_profile_of_impossible_curves_is_refused(texts):
    with pytest.raises(AssayPilotError) as refused:
        profile_endpoint([parse_curve(text) for text in texts], [POTENCY, HERG])
    assert refused.value.option == "--profile"
