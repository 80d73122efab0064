import pytest

from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.measurements import Result
from assaypilot.engine.tables.entries import may_be_bounds

IC50 = Endpoint("IC50 (nM)", "nM", "log")
PIC50 = Endpoint("pIC50")


def asked(values, endpoint=IC50, relation="="):
    return may_be_bounds(endpoint, [Result(f"c{n}", v, endpoint.name, relation) for n, v in enumerate(values)])


@pytest.mark.parametrize("last", [10_000, 30_000, 100_000, 50_000])
def test_a_round_end_that_repeats_is_asked_about(last):
    said = asked([3.1, 45, 800, 12.5, *[last] * 4])
    assert said.startswith(f"4 values of IC50 (nM) are exactly {last} nM, and none is less potent.")
    assert f"write >{last}:" in said


@pytest.mark.parametrize(("last", "text"), [(4.0, "4"), (4.52, "4.52"), (4.7, "4.7")])
def test_so_is_its_logarithm(last, text):
    said = asked([7.1, 6.3, 5.9, 8.2, *[last] * 3], PIC50)
    assert f"are exactly {text}, and" in said
    assert f"write <{text}:" in said


@pytest.mark.parametrize(
    "values",
    [
        [3.1, 45, 800, 12.5, 10_000, 10_000],  # twice is chance
        [3.1, 45, 800, 12.5, *[7_431] * 4],  # nobody tests that
        [10, 10, 10, 100, 100, 100, 1000, 1000, 1000],  # MICs repeat everywhere
        [3.1, 10_000, 10_000, 10_000, 45, 12_345],  # not the last one
        [10_000] * 3,
    ],
)
def test_what_is_hardly_an_end_is_not(values):
    assert asked(values) is None


def test_bounds_other_units_and_what_is_no_potency_are_left_alone():
    values = [3.1, 45, 800, 12.5, *[10_000] * 4]
    assert asked(values, relation=">") is None
    assert asked(values, Endpoint("yield", "%")) is None
    assert may_be_bounds(IC50, [Result("c", v, IC50.name, unit="uM") for v in values]) is None
    assert asked([5.0, 6.1, 7.2, 5.4, *[100.0] * 4], Endpoint("yield", "%")) is None
