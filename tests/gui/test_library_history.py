"""What a table already had, as the library shows it: means, and bounds where they say more."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.endpoint import Endpoint
from assaypilot.engine.library import Library
from assaypilot.engine.measurements import Result
from assaypilot.gui.models.library import _history, history_means, history_shown


def test_bounds_are_shown_where_they_say_more_than_the_exact_values(tmp_path: Path) -> None:
    ids = ("exact", "mixed", "weak", "alone", "none", "between", "left out")
    library = Library.listed(["R1"], [[name] for name in ids], ids=ids)
    entered = [
        Result("exact", 100.0, "IC50"),
        Result("exact", 10.0, "IC50", n=3),
        Result("mixed", 20.0, "IC50"),
        Result("mixed", 30.0, "IC50"),
        Result("mixed", 100.0, "IC50", "<"),  # says less than 20 and 30 do
        Result("weak", 100.0, "IC50"),
        Result("weak", 10_000.0, "IC50", ">"),  # says more: it was weaker then
        Result("alone", 10_000.0, "IC50", ">"),
        Result("alone", 1_000.0, "IC50", ">"),
        Result("between", 1_000.0, "IC50", ">"),
        Result("between", 10_000.0, "IC50", "<"),
        Result("left out", 5.0, "IC50", excluded=True, comment="air bubble"),
    ]
    with Campaign.create(
        tmp_path / "c.assaypilot",
        library=library,
        endpoints=[Endpoint("IC50", "nM", "log", noise_sd=0.2)],
        settings=Settings(objective="IC50", epsilon=0.5),
        history=entered,
    ) as campaign:
        status = campaign.status()
    known = history_shown(status, 0)
    assert set(known) == {0, 1, 2, 3, 5}
    (column,) = _history(status)
    assert [column.text(row) for row in range(len(ids))] == [
        "7.75",
        "7.61",
        "<6.00",
        "<5.00",
        "",
        ">5.00, <6.00",
        "",
    ]
    assert column.rank is not None
    assert np.isnan(column.rank()[[4, 6]]).all()
    # What the filter compares is the mean of exact values alone, as before.
    assert np.isnan(history_means(status, 0)[3])
