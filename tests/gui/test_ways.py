"""One more endpoint, and the series model, from the Goal page: what follows is said before it is done."""

import pytest

from assaypilot.engine.cli import main
from assaypilot.gui.goal.add_endpoint import GOAL as SECOND_GOAL
from assaypilot.gui.goal.add_endpoint import LIMIT, EndpointDialog
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, status, until, wait_for
from tests.gui.test_together import written


@pytest.fixture
def window(open_window, tmp_path, qtbot):
    """A campaign of a series in which R1 and R2 act together, with the table's values as history."""
    table, path = written(tmp_path / "series.csv"), tmp_path / "series.assaypilot"
    made = main(
        ["new", str(path), "--table", str(table), "--sites", "R1,R2,R3", "--endpoint", "pIC50;sd=0.15",
         "--epsilon", "0.5", "--strategy", "proven", "--json"]
    )  # fmt: skip
    assert made == 0
    return open_window(path, page=PageName.GOAL)


def test_one_click_goes_on_with_the_series_model_and_undo_takes_it_back(qtbot, window):
    page, before = window.goal, status(window)
    assert page.series.isVisible()
    assert window.strip.errors.isHidden()  # a proof states none
    page.series.click()
    wait_for(qtbot, window, lambda: status(window).guarantee.kind == "calibrated")
    now = status(window)
    assert now.strategy == "gaussian-process"
    assert " wrong, " in window.strip.errors.text()
    assert len(now.measurements) == len(before.measurements)
    assert not page.series.isVisible()
    assert not page.ways.series.isVisible()
    window.session.undo()
    wait_for(qtbot, window, lambda: status(window).strategy == before.strategy)
    assert page.series.isVisible()


def test_endpoint_is_added_with_its_consequences_previewed(qtbot, window, tmp_path):
    page = window.goal
    page.ways.endpoint.click()
    dialog = page.ways.dialog
    assert isinstance(dialog, EndpointDialog)
    assert not dialog.go.isEnabled()
    assert not dialog.limit.isVisible()
    dialog.name.setText("pIC50")
    until(qtbot, lambda: "already" in dialog.words.text())
    dialog.name.setText("Solubility")
    dialog.unit.setText("uM")
    until(qtbot, lambda: dialog.go.isEnabled())
    assert "decides nothing" in dialog.words.text()
    dialog.uses.button(LIMIT).click()
    assert dialog.limit.isVisible()
    assert "Give the limit" in dialog.words.text()
    dialog.limit.setText("fifty")
    assert "'fifty' is no limit" in dialog.words.text()
    dialog.limit.setText(">50")
    until(qtbot, lambda: "assay noise" in dialog.words.text())
    assert not dialog.go.isEnabled()
    dialog.sd.setText("0.3")
    until(qtbot, lambda: dialog.go.isEnabled())
    assert "measured for Solubility, too" in dialog.words.text()
    dialog.go.click()
    until(qtbot, lambda: len(status(window).endpoints) == 2)
    assert status(window).measured_endpoints == (0, 1)
    assert "Solubility > 50 µM" in window.strip.goal.text()
    idle(qtbot, window)
    window.session.undo()
    until(qtbot, lambda: len(status(window).endpoints) == 1)


def test_what_cannot_be_an_endpoint_is_refused_in_one_plain_line(qtbot, window):
    window.goal.ways.endpoint.click()
    dialog = window.goal.ways.dialog
    for name, unit, sd, problem in (
        ("a;b", "", "", "cannot hold ; or ="),
        ("hERG", "n=M", "", "cannot hold ; or ="),
        ("hERG", "nM", "abc", "'abc' is no assay noise"),
        ("hERG", "nM", "-1", "'-1' is no assay noise"),
    ):
        for edit, text in ((dialog.name, name), (dialog.unit, unit), (dialog.sd, sd)):
            edit.setText(text)
        assert problem in dialog.words.text()
        assert "--" not in dialog.words.text()
        assert not dialog.go.isEnabled()


def test_a_second_goal_makes_trade_offs_of_the_campaign(qtbot, window):
    window.goal.ways.endpoint.click()
    dialog = window.goal.ways.dialog
    assert isinstance(dialog, EndpointDialog)
    dialog.uses.button(SECOND_GOAL).click()
    dialog.name.setText("hERG")
    dialog.sd.setText("0.3")
    dialog.direction.setCurrentIndex(1)
    until(qtbot, lambda: dialog.go.isEnabled())
    assert "trade-offs between pIC50 and hERG" in dialog.words.text()
    head = status(window).head
    dialog.go.click()
    until(qtbot, lambda: status(window).head != head)
    now = status(window)
    assert now.settings.objectives == ("pIC50", "hERG")
    assert now.endpoints[1].direction == "min"
    idle(qtbot, window)
