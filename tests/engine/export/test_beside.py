"""Columns that are not the campaign's: beside the shortlist, at the right compounds, under headers of their own."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings, Status
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library
from assaypilot.engine.export.contents import Choice, contents
from assaypilot.engine.export.sheet import Column


@pytest.fixture
def status(tmp_path: Path) -> Status:
    rows = [(a, b) for a in ("H", "Me") for b in ("F", "Cl", "Br")]
    library = Library.listed(["R1", "MW"], rows, ids=[f"C{n}" for n in range(6)])
    with Campaign.create(
        tmp_path / "c.assaypilot", library=library, endpoints=[Endpoint("pIC50", noise_sd=0.2)],
        settings=Settings("pIC50", epsilon=0.5, slack=0.5),
    ) as campaign:  # fmt: skip
        return campaign.status()


def test_cells_go_with_their_compounds(status: Status) -> None:
    weights = Column("MW", [100.5, None, 102.5, 103.5, 104.5, 105.5], 1)
    alerts = Column("Alert", ["", "nitro", "", "", "", "azo"])
    made = contents(status, Choice("all", (5, 1, 0), None, (weights, alerts)))
    sheet = pickle.loads(pickle.dumps(made)).shortlist
    assert sheet.column("ID") == ("C5", "C1", "C0")
    assert sheet.column("MW (2)") == (105.5, None, 100.5)  # MW is a site of this campaign
    assert sheet.column("Alert") == ("azo", "nitro", "")
    assert sheet.column("MW") == ("Br", "Cl", "F")
    assert sheet.digits[sheet.header.index("MW (2)")] == 1
    chosen = contents(status, Choice("all", (5, 1), ("MW (2)", "ID"), (weights,))).shortlist
    assert chosen.header[:2] == ("MW (2)", "ID")
    assert [row[:2] for row in chosen.rows] == [(105.5, "C5"), (None, "C1")]


def test_a_column_of_another_length_is_refused(status: Status) -> None:
    with pytest.raises(ValueError, match="one cell for each compound"):
        contents(status, Choice("all", (0,), None, (Column("MW", [1.0]),)))
    assert np.array_equal(contents(status, Choice("all", (0,))).compounds, [0])
