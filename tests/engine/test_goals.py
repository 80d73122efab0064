import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assaypilot.engine.domain.goals import AllEpsilonBest
from assaypilot.engine.errors import AssayPilotError
from tests.strategies import goals

means = st.lists(st.floats(-100, 100), min_size=1, max_size=12).map(np.array)


@given(goals(), means)
def test_members_are_those_within_epsilon_of_the_best(goal, values):
    best = max(values)
    assert goal.members(values).tolist() == [bool(v >= best - goal.epsilon) for v in values]
    assert goal.acceptable(values).tolist() == [bool(v >= best - (goal.epsilon + goal.slack)) for v in values]
    assert goal.members(values)[np.argmax(values)]
    assert not (goal.members(values) & ~goal.acceptable(values)).any()


@given(goals(), means, st.data())
def test_right_answers_hold_every_member_and_nothing_unacceptable(goal, values, data):
    members, acceptable = goal.members(values), goal.acceptable(values)
    answer = np.array(data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values))))
    right = set(np.flatnonzero(members)) <= set(np.flatnonzero(answer)) <= set(np.flatnonzero(acceptable))
    assert goal.is_right(answer, values) == right
    assert goal.is_right(members, values)
    assert goal.is_right(acceptable, values)
    short = members.copy()
    short[np.argmax(values)] = False
    assert not goal.is_right(short, values)


@pytest.mark.parametrize("epsilon", [0.0, -0.2, math.nan, math.inf])
def test_epsilon_out_of_range_is_refused(epsilon):
    with pytest.raises(AssayPilotError) as refused:
        AllEpsilonBest(epsilon)
    assert f"epsilon must be a number > 0 on the model scale, got {epsilon}" in str(refused.value)
    assert "0.5 log units means within 3-fold of the best" in str(refused.value)


@pytest.mark.parametrize("slack", [-0.1, math.nan, math.inf])
def test_slack_out_of_range_is_refused(slack):
    with pytest.raises(AssayPilotError, match=f"slack must be a number >= 0 on the model scale, got {slack}"):
        AllEpsilonBest(0.5, slack)
