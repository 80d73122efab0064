"""What a forecast says in words."""

from dataclasses import replace

import pytest

from assaypilot.engine.campaign.state import Claim
from assaypilot.engine.simulate.forecast import BudgetForecast
from assaypilot.engine.simulate.foresight import Foresight
from assaypilot.gui.goal.forecast_view import how_known
from assaypilot.gui.window.strip import expected_errors
from tests.gui.forecasts import NOW, made


@pytest.mark.parametrize(
    ("settled", "goal", "suggested"),
    [(0.0, "epsilon-best", True), (3.0, "epsilon-best", False), (0.0, "pareto", False), (0.0, "best", False)],
)
def test_a_budget_that_settles_nothing_names_the_strategy_that_spends_it(settled, goal, suggested):
    forecast = replace(
        made(NOW, 50), budget=BudgetForecast(decided=0.0, in_=settled, out=0.0, undecided=20.0 - settled)
    )
    words = how_known(Foresight(forecast, 0, 50, goal))
    assert ("Epsilon-best with a fixed budget decides all within 50 measurements" in words) is suggested


def test_header_does_not_say_about_before_less_than():
    assert expected_errors(Claim("calibrated", 1.6, 0.4)) == "About 0.4 wrong, 1.6 missed"
    assert expected_errors(Claim("calibrated", 7.5, 0.0)) == "< 0.05 wrong, 7.5 missed"
