"""What becomes of readings: percent effect by controls, values and bounds, flags, exclusions that stay."""

import numpy as np
import pytest

from assaypilot.engine.curves.analysis import analyse
from assaypilot.engine.curves.fitting import logistic
from assaypilot.engine.curves.points import Point, Points, read_points
from assaypilot.engine.curves.reporting import RESULTS, point_header, point_rows, reported, result_rows
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.export.sheet import write_csv
from assaypilot.engine.tables.opening import read_table

DOSES = np.log10(3e-5 / 3.0 ** np.arange(10))
NEUTRAL, FULL = 10_000.0, 1_000.0


def curve(compound, log_c50, plate="P1", sd=2.0, seed=1, start=0.0, end=100.0, doses=DOSES):
    """Return the points of a compound as a falling signal between the controls."""
    effect = logistic(doses, log_c50, 1.0, start, end) + np.random.default_rng(seed).normal(0.0, sd, len(doses))
    signal = NEUTRAL + (FULL - NEUTRAL) * effect / 100.0
    return [
        Point(compound, "compound", 10.0**x, float(y), plate, row=k)
        for k, (x, y) in enumerate(zip(doses, signal, strict=True))
    ]


def controls(plate="P1", factor=1.0):
    spread = (0.98, 1.0, 1.0, 1.02)
    return [
        Point(name, role, 0.0, level * factor * f, plate)
        for name, role, level in (("DMSO", "neutral", NEUTRAL), ("blank", "full", FULL))
        for f in spread
    ]


def analysed(*points, **options):
    return analyse(Points(tuple(p for part in points for p in part), "raw"), **options)


def test_signals_become_percent_effect_of_their_own_plate():
    dim = [
        Point(p.compound, p.role, p.concentration, p.response * 0.5, "P2")
        for p in [*curve("A", -6.5, sd=0.0), *controls()]
    ]
    found = analysed(curve("A", -6.5, sd=0.0), controls(), dim)
    assert [plate.plate for plate in found.plates] == ["P1", "P2"]
    assert found.curves[0].y == pytest.approx(logistic(found.curves[0].x, -6.5, 1.0, 0.0, 100.0), abs=1e-6)
    assert found.curves[1].y == pytest.approx(found.curves[0].y)
    assert found.plates[0].z_prime == pytest.approx(1 - 3 * 0.016330 * (NEUTRAL + FULL) / (NEUTRAL - FULL), abs=1e-4)


@pytest.mark.parametrize(
    ("log_c50", "end", "relation", "value"),
    [
        (-6.5, 100.0, "=", -6.5),
        (-3.0, 100.0, ">", DOSES[0]),
        (-11.0, 100.0, "<", DOSES[-1]),
        (-6.5, 35.0, ">", DOSES[0]),
    ],
)
def test_curve_that_does_not_cross_half_effect_in_range_gives_a_bound(log_c50, end, relation, value):
    (one,) = analysed(curve("A", log_c50, end=end), controls()).curves
    assert one.relation == relation
    assert one.log_value == pytest.approx(value, abs=0.05)
    assert (one.se is not None) == (relation == "=")
    p = reported(one, "")
    assert p.relation == {"=": "=", ">": "<", "<": ">"}[relation]
    assert p.value == pytest.approx(-value, abs=0.05)
    assert reported(one, "nM").relation == relation


@pytest.mark.parametrize("highest", [1, 2, 3])
@pytest.mark.parametrize("options", [{}, {"plateaus": "fixed"}])
def test_fall_at_the_highest_concentrations_is_left_out_and_named(highest, options):
    """Precipitation or toxicity lowers the effect there; such curves passed for inactive, or .2 to .6 too potent."""
    found = []
    for seed in range(8):
        points = curve(f"A{seed}", -7.0, seed=seed)
        lost = 0.6 * (NEUTRAL - FULL)
        found += [
            Point(p.compound, p.role, p.concentration, p.response + lost * (k < highest), "P1", row=k)
            for k, p in enumerate(points)
        ]
    curves = analysed(found, controls(), **options).curves
    for one in curves:
        assert sorted(one.points[k].row for k in one.falling.nonzero()[0]) == list(range(highest))
        assert one.relation == "="
        assert any("falls at the" in flag for flag in one.flags)
    assert np.mean([one.log_value for one in curves]) == pytest.approx(-7.0, abs=0.05)


def test_complete_curves_hardly_ever_fall():
    points = [curve(f"A{seed}", -7.5, seed=seed, sd=6.0) for seed in range(200)]
    assert sum(one.falling.any() for one in analysed(*points, controls()).curves) <= 2


def test_rising_effect_is_needed_where_there_are_controls():
    (one,) = analysed(curve("A", -6.5, start=100.0, end=0.0), controls()).curves
    assert one.relation is None
    assert one.flags == ("response falls where it should rise",)


def test_flat_signal_without_controls_gives_no_value_and_a_clear_one_does():
    flat, clear = analysed(curve("flat", -6.5, end=0.0), curve("clear", -6.5)).curves
    assert (flat.relation, flat.flags) == (None, ("no clear response",))
    assert clear.log_value == pytest.approx(-6.5, abs=0.1)


def test_outlier_is_flagged_and_an_exclusion_takes_it_out():
    points = curve("A", -6.5, sd=1.0)
    points[6] = Point("A", "compound", points[6].concentration, points[6].response - 4500.0, "P1", row=6)
    (one,) = analysed(points, controls()).curves
    assert [one.points[k].row for k in one.outliers.nonzero()[0]] == [6]
    assert "1 outlier" in one.flags
    points[6] = Point("A", "compound", points[6].concentration, points[6].response, "P1", excluded="bubble", row=6)
    (again,) = analysed(points, controls()).curves
    assert int(again.used.sum()) == len(DOSES) - 1
    assert again.flags == ()
    assert again.se < 0.5 * one.se


def test_concentrations_spread_over_plates_are_one_curve_and_runs_on_two_plates_are_two():
    spread = [Point(p.compound, p.role, p.concentration, p.response, f"D{k}") for k, p in enumerate(curve("A", -6.5))]
    together = analysed(spread, *(controls(f"D{k}") for k in range(len(DOSES))))
    assert [(one.compound, one.plate) for one in together.curves] == [("A", "")]
    runs = analysed(curve("A", -6.5), controls(), curve("A", -6.4, "P2", seed=2), controls("P2"))
    assert [(one.compound, one.plate) for one in runs.curves] == [("A", "P1"), ("A", "P2")]


def test_plate_that_lacks_a_control_is_refused():
    with pytest.raises(AssayPilotError, match="plate P2 has no control without effect"):
        analysed(curve("A", -6.5), controls(), curve("A", -6.5, "P2"))
    with pytest.raises(AssayPilotError, match="plateaus can be fixed for percent effect only"):
        analysed(curve("A", -6.5), plateaus="fixed")


def test_concentrations_and_logarithms_say_the_same():
    found = analysed(curve("A", -6.5), controls())
    (one,) = found.curves
    p, nm = reported(one, ""), reported(one, "nM")
    assert nm.value == pytest.approx(10.0 ** (9.0 - p.value), rel=1e-3)
    assert nm.sd / (nm.value * np.log(10.0)) == pytest.approx(one.se, rel=1e-3)
    assert nm.low < nm.value < nm.high
    assert p.low < p.value < p.high
    (row,) = result_rows(found, "pIC50", "")
    assert dict(zip(RESULTS, row, strict=True))["SD"] == pytest.approx(one.se, abs=1e-4)


def test_points_written_and_read_again_give_the_same_curves(tmp_path):
    points = curve("A", -6.5)
    points[2] = Point("A", "compound", points[2].concentration, 123.0, "P1", "B3", "2", "dispensing error", 2)
    first = Points((*points, *curve("-B", -5.5, seed=3), *controls()), "raw", response="RFU", unit="nM")
    before = analyse(first)
    path = tmp_path / "points.csv"
    write_csv(path, point_header(first), point_rows(first, before))
    second = read_points(read_table(path, points=True))
    after = analyse(second)
    assert [p.excluded for p in second.points if p.excluded] == ["dispensing error"]
    assert [one.compound for one in after.curves] == ["A", "-B"]
    for one, other in zip(before.curves, after.curves, strict=True):
        assert other.log_value == pytest.approx(one.log_value, abs=1e-6)
        assert other.se == pytest.approx(one.se, rel=1e-4)
