"""AssayPilot as a Python package: campaigns, the series model, designs and strategies, with pandas in and out.

    from assaypilot.engine import Campaign

    campaign = Campaign.from_table("series.csv", sites=["R1", "R2"], endpoints={"pIC50": {"sd": 0.2}}, epsilon=0.5)
    wanted = campaign.recommend()   # what to measure next, one row per compound
    campaign.add(results)           # a DataFrame with ID and Value
    campaign.candidates()           # estimate, interval, probability and status of every compound

The names in ``__all__`` are stable. All that is refused is an ``AssayPilotError`` whose text says what is wrong, where,
and how to mend it. Each name is loaded when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import AssayPilotError
    from .notebook.campaign import Campaign
    from .notebook.contests import OptimalDesign, compare_strategies, list_strategies, load_dataset, optimal_design
    from .notebook.frames import Added, read_table
    from .notebook.series_model import SeriesModel
    from .strategies.phased import Phased
    from .strategies.protocol import Strategy, StrategyInfo

__all__ = [
    "Added",
    "AssayPilotError",
    "Campaign",
    "OptimalDesign",
    "Phased",
    "SeriesModel",
    "Strategy",
    "StrategyInfo",
    "compare_strategies",
    "list_strategies",
    "load_dataset",
    "optimal_design",
    "read_table",
]

_PLACES = {
    "Added": "notebook.frames",
    "AssayPilotError": "errors",
    "Campaign": "notebook.campaign",
    "OptimalDesign": "notebook.contests",
    "Phased": "strategies.phased",
    "SeriesModel": "notebook.series_model",
    "Strategy": "strategies.protocol",
    "StrategyInfo": "strategies.protocol",
    "compare_strategies": "notebook.contests",
    "list_strategies": "notebook.contests",
    "load_dataset": "notebook.contests",
    "optimal_design": "notebook.contests",
    "read_table": "notebook.frames",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__package__}.{_PLACES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
