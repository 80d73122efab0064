"""A forecast for tests that need none of their own: made at once, of made-up numbers, by whoever is asked."""

import threading
import time

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.campaign.settings import Settings
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate.forecast import BudgetForecast, Forecast, RoundForecast, Spread
from assaypilot.engine.simulate.foresight import Foresight

NOW = (384, 500, 672)
WIDER = (290, 380, 480)
"""What a distance of more than 0.5 comes to."""


class Crystal:
    """Stands in for the process that simulates; remembers what it was asked."""

    def __init__(self):
        self.asked: list[Change | None] = []
        self.drafts: list[Settings] = []
        self.error: AssayPilotError | None = None
        self.open = threading.Event()
        """Cleared, no answer comes until it is set, or the question is dropped."""
        self.open.set()

    def __call__(self, function, *arguments, report):
        while not self.open.is_set():
            report(0.4, "12 of 29 simulated campaigns")
            time.sleep(0.005)
        report(1.0, "forecast made")
        if self.error is not None:
            raise self.error
        if function.__name__ == "_draft":
            self.drafts.append(arguments[2])
            return made(WIDER if (arguments[2].epsilon or 0.0) > 0.5 else NOW, arguments[2].budget)
        path, change = arguments
        self.asked.append(change)
        with Campaign.open(path, read_only=True) as campaign:
            now = campaign.status()
        wide, budget = now.settings.epsilon, now.settings.budget
        if change is not None:
            wide = change.epsilon if isinstance(change.epsilon, float) else wide
            budget = change.budget if isinstance(change.budget, int) else budget
        return Foresight(made(WIDER if (wide or 0.0) > 0.5 else NOW, budget), now.measurements_used, budget)


def made(measurements, budget):
    """A forecast of made-up numbers; a budget below the lower end decides nothing in time."""
    enough = budget is None or budget >= measurements[0]
    return Forecast(
        measurements=Spread(*measurements) if enough or budget is None else Spread(budget, budget, budget),
        rounds=Spread(4, 5, 7),
        decided=1.0 if enough else 0.0,
        open_ended=False,
        budget=None if budget is None else BudgetForecast(1.0 if enough else 0.0, 3.0, 9.0, 0.0 if enough else 6.0),
        next_round=RoundForecast(96, 11.4, 0.12, 1),
        assumed="Simulated with made-up contributions.",
        runs=29,
        seed=0,
    )
