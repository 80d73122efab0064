import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom

from assaypilot.engine.domain.goals import AllEpsilonBest, Best, ParetoSet, Threshold
from assaypilot.engine.simulate.scores import error_limits, score
from assaypilot.engine.strategies.protocol import IN, NOT_ESTIMABLE, OUT, UNDECIDED

MEANS = np.array([[3.0, 2.6, 2.3, 1.0]])  # within 0.5: 0 and 1; in the zone with slack 0.3: 2
GOAL = AllEpsilonBest(0.5, 0.3)
U, N = UNDECIDED, NOT_ESTIMABLE


def marked(goal, *status, means=MEANS, wanted=None):
    codes = np.array(status, dtype=np.int8)
    return score(goal, codes, means, np.ones(len(codes), dtype=bool) if wanted is None else np.array(wanted))


@pytest.mark.parametrize(
    ("status", "precision", "recall", "wrong", "undecided"),
    [
        ((IN, IN, OUT, OUT), 1.0, 1.0, False, 0),
        ((IN, IN, IN, OUT), 1.0, 1.0, False, 0),  # the zone may be returned
        ((IN, IN, IN, IN), 0.75, 1.0, True, 0),
        ((IN, OUT, OUT, OUT), 1.0, 0.5, True, 0),
        ((IN, U, U, OUT), 1.0, 0.5, False, 2),  # nothing said is false
        ((U, U, U, U), 1.0, 0.0, False, 4),
        ((OUT, U, U, U), 1.0, 0.0, True, 3),
        ((U, U, U, IN), 0.0, 0.0, True, 3),
        ((OUT, OUT, OUT, OUT), 1.0, 0.0, True, 0),
    ],
)
def test_epsilon_best_by_hand(status, precision, recall, wrong, undecided):
    found = marked(GOAL, *status)
    assert (found.precision, found.recall, found.wrong, found.undecided) == (precision, recall, wrong, undecided)
    expected = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    assert found.f1 == pytest.approx(expected)


@pytest.mark.parametrize(
    ("status", "recall", "wrong"),
    [
        ((IN, OUT, OUT, OUT), 1.0, False),
        ((OUT, IN, OUT, OUT), 0.0, True),
        ((IN, IN, OUT, OUT), 1.0, True),  # exactly one is the answer
        ((U, U, OUT, OUT), 0.0, False),
        ((OUT, U, U, U), 0.0, True),
        ((OUT, OUT, OUT, OUT), 0.0, True),
    ],
)
def test_best_by_hand(status, recall, wrong):
    found = marked(Best(), *status)
    assert (found.recall, found.wrong) == (recall, wrong)


def test_pareto_by_hand():
    means = np.array([[2.0, 1.0, 0.5, 0.0], [0.0, 1.0, 0.5, 2.0]])
    goal = ParetoSet((0.0, 0.0))
    assert not marked(goal, IN, IN, OUT, IN, means=means).wrong
    assert marked(goal, IN, IN, IN, IN, means=means).precision == 0.75
    assert marked(goal, IN, IN, IN, IN, means=means).wrong
    assert marked(goal, IN, IN, OUT, OUT, means=means).recall == pytest.approx(2 / 3)
    assert not marked(ParetoSet((0.6, 0.6)), IN, IN, IN, IN, means=means).wrong


def test_threshold_by_hand():
    assert not marked(Threshold(2.0), IN, IN, IN, OUT).wrong
    assert marked(Threshold(2.0), IN, IN, OUT, OUT).wrong
    assert not marked(Threshold(2.2, 0.2), IN, IN, OUT, OUT).wrong
    assert marked(Threshold(9.0), OUT, OUT, OUT, OUT).recall == 1.0


def test_what_cannot_be_estimated_is_no_part_of_the_question():
    assert not marked(GOAL, N, IN, IN, OUT).wrong  # now 2.6 is the best there is
    assert marked(GOAL, N, N, N, N).f1 == 1.0


@given(st.lists(st.sampled_from([UNDECIDED, IN, OUT]), min_size=4, max_size=4), st.integers(0, 3))
def test_wrong_means_that_no_completion_is_right(status, seed):
    """Against every way of deciding what is open, tried one by one."""
    goals = [GOAL, Best(), Best(0.5), Threshold(2.2, 0.2)]
    goal = goals[seed]
    codes = np.array(status, dtype=np.int8)
    open_ones = np.flatnonzero(codes == UNDECIDED)
    right = False
    for choice in range(2 ** len(open_ones)):
        answer = codes == IN
        answer[open_ones] = [(choice >> bit) & 1 for bit in range(len(open_ones))]
        right |= goal.is_right(answer.astype(bool), MEANS[0])
    assert marked(goal, *status).wrong is not right


@pytest.mark.parametrize(("errors", "runs"), [(0, 20), (1, 100), (50, 100), (100, 100)])
def test_limits_of_an_error_rate(errors, runs):
    lower, upper = error_limits(errors, runs)
    assert lower <= errors / runs <= upper
    assert lower == pytest.approx(0.0 if errors == 0 else beta.ppf(0.05, errors, runs - errors + 1))
    if errors < runs:
        assert binom.cdf(errors, runs, upper) == pytest.approx(0.05)
    else:
        assert upper == 1.0
    with pytest.raises(ValueError, match="between"):
        error_limits(3, 2)
