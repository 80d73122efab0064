"""An audit round from the Round menu to the statement of what was missed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from pytestqt.qtbot import QtBot

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.state import Settings
from assaypilot.engine.domain.endpoint import Endpoint
from assaypilot.engine.domain.library import Library, Site
from assaypilot.engine.domain.measurements import Result
from assaypilot.gui.window.main_window import MainWindow
from tests.gui.helpers import idle, status, until


def measured(path: Path) -> Path:
    """A campaign under the series model after its first round."""
    library = Library.product([Site("R1", tuple("ABCDEF")), Site("R2", tuple("KLMNO"))])
    settings = Settings("pIC50", epsilon=0.5, slack=0.25, per_round=12, strategy="gaussian-process")
    endpoints = [Endpoint("pIC50", noise_sd=0.2)]
    rng = np.random.default_rng(2)
    with Campaign.create(path, library=library, endpoints=endpoints, settings=settings) as campaign:
        issued = campaign.plan()
        assert issued is not None
        names = [library.ids[item.compound] for item in issued.items]
        campaign.record([Result(name, 6.0 + float(rng.standard_normal())) for name in names], close=True)
    return path


def test_audit_round_is_planned_with_the_size_chosen_and_stated_on_the_goal_page(
    qtbot: QtBot, open_window: Callable[..., MainWindow], tmp_path: Path
) -> None:
    window = open_window(measured(tmp_path / "a.assaypilot"))
    assert window.actions_.audit.isEnabled()
    window.actions_.audit.trigger()
    dialog = window.round_commands.auditing
    assert dialog is not None
    dialog.size_box.setValue(3)
    few = dialog.bound.text()
    dialog.size_box.setValue(10)
    assert "at most" in few
    assert dialog.bound.text() != few
    dialog.go.click()
    until(qtbot, lambda: status(window).open_round is not None)
    idle(qtbot, window)
    issued = status(window).open_round
    assert issued is not None
    assert (issued.title, len(issued.items)) == ("Audit round 2", 10)
    assert not window.actions_.audit.isEnabled()
    names = [status(window).library.ids[item.compound] for item in issued.items]
    window.session.record([Result(name, 5.0) for name in names], lambda _: window.session.close_round())
    until(qtbot, lambda: status(window).open_round is None)
    idle(qtbot, window)
    audit = status(window).claim.audit
    assert audit is not None
    assert audit.sentence in window.statement.words.text()
    assert not window.statement.words.text().startswith("Guarantee")  # calibrated, not proven
