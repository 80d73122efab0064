"""An assay with a range: what comes back of it, and what that costs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from assaypilot.engine.cli.program import main
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.features import SiteFeatures
from assaypilot.engine.simulate.assay_range import AssayRange, parse_range, sample_within
from assaypilot.engine.simulate.instances import Drawn
from assaypilot.engine.strategies.protocol import Allocation, Certificate
from tests.strategies import product


def drawn_of(features, truth, sd, goal):
    everything = np.ones(features.n_rows, dtype=bool)
    return Drawn(features, truth, truth, everything, everything, goal, sd, "gaussian")


@pytest.mark.parametrize(
    ("text", "ends"), [("5..9", (5, 9)), ("5..", (5, np.inf)), ("..9.5", (-np.inf, 9.5)), (" -2 .. 3 ", (-2, 3))]
)
def test_a_range_is_read(text, ends):
    assert parse_range(text) == AssayRange(*ends)
    assert parse_range(text).turned == AssayRange(-ends[1], -ends[0])


@pytest.mark.parametrize("text", ["", "5", "9..5", "..", "a..b", "nan..3", "5..5"])
def test_what_is_no_range_is_refused(text):
    with pytest.raises(AssayPilotError, match=r"two numbers with \.\. between"):
        parse_range(text)


def test_values_beyond_come_back_as_bounds_or_not_at_all():
    features = SiteFeatures(product((2, 2)), (2, 2))
    truth = np.array([[0.0, 3.0, 6.0, 9.0]])
    drawn = drawn_of(features, truth, (0.5,), None)
    asked = Allocation(1, np.arange(4), np.array([200, 200, 200, 200]), 1.0, Certificate("g", 1.0, 1.0))
    told = sample_within(drawn, asked, np.random.default_rng(0), 800, AssayRange(3.0, 8.0), takes=True)
    assert told.counts.tolist() == [[200.0] * 4]
    assert told.low is not None
    assert told.high is not None
    # All below; half of them; none; nearly all above.
    assert (told.means[0, 0], told.low[0, 0], told.high[0, 0]) == (3.0, -np.inf, 3.0)
    assert (told.low[0, 1], told.high[0, 1]) == (-np.inf, told.means[0, 1])
    assert told.means[0, 1] > 3.1
    assert told.low[0, 2] == told.means[0, 2] == told.high[0, 2]
    assert (told.low[0, 3], told.high[0, 3]) == (told.means[0, 3], np.inf)
    less = sample_within(drawn, asked, np.random.default_rng(0), 800, AssayRange(3.0, 8.0), takes=False)
    assert less.low is None or (less.low == less.means).all()
    assert less.counts[0, 0] == 0
    assert 60 < less.counts[0, 1] < 140
    assert less.means[0, 1] > 3.2


def test_adaptive_goes_on_behind_a_range_and_what_leaves_bounds_out_says_so(capsys):
    words = "simulate --dataset practice-960 --runs 2 --seed 1 --epsilon 0.5 --slack 0.5 --sd 0.2 --per-round 96 --json"
    words += " --strategy adaptive,linfact-xy"
    assert main([*words.split(), "--assay-range", "5.."]) == 0
    adaptive, left_out = json.loads(capsys.readouterr().out)
    assert adaptive["assay_range"] == [5.0, None]
    assert (adaptive["errors"], adaptive["unfinished"], adaptive["void"]) == (0, 0, [])
    assert "left out because of their size; adaptive takes them in" in left_out["void"][-1]


def test_what_bounds_leave_open_for_ever_is_given_up(capsys):
    """Of a table this small hardly anything is told without its best compounds."""
    words = "simulate --dataset tetracycline --runs 1 --epsilon 0.5 --slack 0.5 --sd 0.2 --strategy linfact-g --json"
    assert main([*words.split(), "--assay-range", "..0.5"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["unfinished"], told["errors"]) == (1, 0)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ("--assay-range 9..5", "--assay-range: an assay's range is two numbers"),
        (
            "--assay-range 5.. --plate-sd 0.1 --strategy adaptive",
            "an assay's range is that of one endpoint, and there are plates",
        ),
    ],
)
def test_a_range_that_cannot_be_is_refused(capsys, more, says):
    words = "simulate --dataset tetracycline --runs 1 --epsilon 0.5 --sd 0.2 --strategy linfact-g"
    assert main([*words.split(), *more.split()]) == 1
    assert says in capsys.readouterr().err
