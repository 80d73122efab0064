"""What a forecast says in words."""

from dataclasses import replace

import pytest

from assaypilot.engine.simulate.forecast import BudgetForecast
from assaypilot.engine.simulate.foresight import Foresight
from assaypilot.gui.goal.forecast_view import how_known
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
