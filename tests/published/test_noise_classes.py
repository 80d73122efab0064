"""The study of noise that differs by class: that the committed report is whole, and a few campaigns of it."""

from tests.published.noise import interval
from tests.published.noise_classes import REPORT, UNKNOWN, Asked, kinds, row, unknown_kinds, unknown_row, whole


def test_the_committed_report_has_every_kind_and_no_rate_above_delta_where_the_sds_are_right():
    text = REPORT.read_text(encoding="utf-8")
    lines = [line.split(" | ") for line in text.splitlines() if line.startswith(("| adaptive", "| linfact-g"))]
    assert len(lines) == len(kinds())
    for line, asked in zip(lines, kinds(), strict=True):
        assert line[2:4] == [asked.taken, f"{asked.delta}"]
        if asked.taken != "one for all":
            assert interval(int(line[5]), int(line[4]))[0] <= asked.delta


def test_the_committed_report_has_no_rate_above_delta_where_nobody_knows_the_sds_and_notices_small_bounds():
    text = REPORT.read_text(encoding="utf-8").partition("## Where nobody knows")[2]
    lines = [
        line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith(("| 0.6, 0.2 |", "| 0.2, 0."))
    ]
    assert len(lines) == len(unknown_kinds())
    for line, asked in zip(lines, unknown_kinds(), strict=True):
        runs, wrong, small = int(line[4]), int(line[5]), round(float(line[8]) * int(line[4]))
        assert line[3] == f"{asked.delta}"
        assert runs >= 200
        assert interval(wrong, runs)[0] <= asked.delta
        too_small = asked.shrunk > 1.0 or (asked.taken == UNKNOWN[1] and asked.sds[0] != asked.sds[1])
        # A bound 1.3 times too small, or one for all, is below an SD far more often than a tenth of delta.
        assert (interval(small, runs)[0] > 0.1 * asked.delta) == too_small


def test_campaigns_where_nobody_knows_the_sds_are_decided_and_too_small_bounds_are_seen():
    right = whole(Asked("adaptive", (0.6, 0.2), 0.3, UNKNOWN[0]), 6)
    assert (right.wrong, right.below, right.undecided) == (0, 0, 0)
    assert unknown_row(right).startswith("| 0.6, 0.2 | unknown, by class | 0.3, 0.3 | 0.3 | 6 |")
    small = whole(Asked("adaptive", (0.6, 0.2), 0.3, UNKNOWN[0], shrunk=1.6), 6)
    assert small.below >= 3


def test_a_row_is_what_campaigns_came_to():
    found = whole(Asked("adaptive", (0.6, 0.2), 0.3, "by class"), 2)
    assert found.undecided == 0
    assert row(found).startswith("| adaptive | 0.6, 0.2 | by class | 0.3 | 2 |")
