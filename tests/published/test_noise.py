"""The study of noise that is not known: what it rests on, and that the committed report is whole."""

import pytest

from tests.published.noise import PAIRS, REPORT, SHAPES, Whole, exact, interval, kinds, row, two, whole


@pytest.mark.parametrize("pairs", PAIRS)
def test_two_compounds_are_confused_as_often_as_calculated(pairs):
    runs = 40_000
    wrong, known, below = two(pairs, 0.3, "normal", runs, 1)
    right, under = exact(pairs, 0.3)
    assert wrong == pytest.approx(right, abs=4 * (right * (1 - right) / runs) ** 0.5 + 1e-9)
    assert known == pytest.approx(0.3, abs=0.01)
    assert below <= under + 4 * (under / runs) ** 0.5 + 1e-4
    assert right + under <= 0.3
    assert under <= 0.03


def test_a_bound_shrunk_by_a_third_is_noticed():
    """The bound is then below sigma five times as often as its share allows, and decisions are wrong a third more."""
    wrong, _, below = two(32, 0.3, "normal", 40_000, 1, 1.3)
    right, under = exact(32, 0.3)
    assert below > 5 * 0.03 - 0.01
    assert under < 0.03
    assert wrong > right + 0.04


def test_gross_errors_break_what_rests_on_the_stated_noise_and_not_what_rests_on_the_bound():
    wrong, known, _ = two(32, 0.05, SHAPES[2], 40_000, 2)
    assert known > 0.1
    assert wrong < 0.05


def test_whole_campaigns_take_more_with_the_bound_and_say_so():
    known, unknown = (whole(Whole("linfact-g", "normal", 0.3, told), 5) for told in (False, True))
    assert unknown.measurements[1] > known.measurements[1]
    assert unknown.times > 1.0
    assert unknown.wrong == 0
    assert row(unknown).startswith("| linfact-g | normal | 0.3 | unknown | 0.2 | 5 | 0 | 0.0000")


def test_the_committed_report_has_every_kind_and_no_rate_above_delta_with_the_bound():
    lines = [line.split(" | ") for line in REPORT.read_text(encoding="utf-8").splitlines()]
    told = [line for line in lines if line[0] in ("| adaptive", "| linfact-g")]
    assert len(told) == len(kinds())
    for line in told:
        if line[3] == "unknown":
            low, _ = interval(int(line[6]), int(line[5]))
            assert low <= float(line[2])
    assert sum(line[0] in {f"| {shape}" for shape in SHAPES} for line in lines) == len(SHAPES) * 2 * len(PAIRS)
