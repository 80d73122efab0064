"""The Goal page through its real widgets: what is expected, what other settings would change, Apply, and undo."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.engine.campaign.changes import Change
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.simulate import foresight
from assaypilot.engine.simulate.forecast import forecast_campaign
from assaypilot.engine.system.progress import silent
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import idle, plan_round, quick_campaign, show, status, until, view, wait_for
from tests.gui.test_goals import campaign_file, opened


def shown(qtbot, window):
    """The page with what is expected of the settings as they are."""
    window.show_page(PageName.GOAL)
    until(qtbot, lambda: window.goal.outlooks.now is not None)
    return window.goal


def type_into(page, name, text):
    """The field, with something else typed into it key by key."""
    edit = page.form.field(name).edit
    edit.setFocus()
    edit.selectAll()
    if text:
        QTest.keyClicks(edit, text)
    else:
        QTest.keyClick(edit, Qt.Key.Key_Delete)
    return edit


def tried(qtbot, page):
    """Wait until it is known what the settings typed come to and do."""
    until(qtbot, lambda: page.outlooks.tried is not None and page.change.apply_button.isEnabled())


def figures(page):
    """What stands beside each caption."""
    return {row[0]: row[1:] for row in (line.split("\t") for line in page.outlooks.table().splitlines())}


def test_goal_page_shows_the_goal_and_its_forecast(qtbot, campaign):
    QTest.keyClick(campaign, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    page = shown(qtbot, campaign)
    assert campaign.page is page
    assert campaign.strip.goal.text() == "All compounds within 0.5 of the best pIC50, cutoff soft by 0.5, 95 % sure"
    assert page.void.isHidden()  # what is guaranteed stands behind the badge, once
    assert page.outlooks.words.text() == "384 to 672 measurements in all, in 4 to 7 rounds."
    assert figures(page)["First decision"] == ["after 96 in 1 round"]
    assert figures(page)["Decided first"] == ["about 11 compounds; 12 % chance to be the last"]
    assert "At the end" not in figures(page)
    assert "made-up contributions" in page.outlooks.known.text()
    assert page.change.isHidden()
    assert campaign.strip.used.text() == "0 measurements\n384 to 672 expected in all"
    assert page.form.field("epsilon").note.text() == "log = 3-fold"


def test_tried_settings_are_compared_with_the_present_ones(qtbot, campaign, crystal):
    page = shown(qtbot, campaign)
    before = status(campaign).events
    type_into(page, "epsilon", "0,6")
    assert page.outlooks.tried is None
    tried(qtbot, page)
    assert page.outlooks.words.text() == "Now 384 to 672 measurements in all; with these settings 290 to 480."
    assert figures(page)["Measurements"] == ["384 to 672, about 500", "290 to 480, about 380"]
    page.copy()
    assert "Measurements\t384 to 672, about 500\t290 to 480, about 380" in QApplication.clipboard().text()
    assert page.form.field("epsilon").note.text() == "log = 4-fold; now 0.5"
    assert crystal.asked == [None, Change(epsilon=0.6)]
    assert "within 0.6 of the best" in page.change.words.text()
    assert "290 to 480" in page.outlooks.table()
    page.change.leave_button.click()
    assert page.form.field("epsilon").text == "0.5"
    assert page.outlooks.words.text() == "384 to 672 measurements in all, in 4 to 7 rounds."
    assert page.change.isHidden()
    assert status(campaign).events == before


def test_apply_changes_the_campaign_and_undo_takes_it_back(qtbot, campaign, crystal):
    page = shown(qtbot, campaign)
    type_into(page, "epsilon", "0,6")
    type_into(page, "per_round", "48")
    tried(qtbot, page)
    page.change.note.setText("the assay is busy")
    page.change.note.setFocus()
    QTest.keyClick(page.change.note, Qt.Key.Key_Return)
    wait_for(qtbot, campaign, lambda: status(campaign).settings.epsilon == 0.6)
    assert status(campaign).settings.per_round == 48
    assert campaign.strip.goal.text().startswith("All compounds within 0.6")
    assert page.change.isHidden()
    assert not page.form.touched
    assert page.form.field("epsilon").text == "0.6"
    until(qtbot, lambda: page.outlooks.words.text() == "290 to 480 measurements in all, in 4 to 7 rounds.")
    with Campaign.open(view(campaign).path, read_only=True) as file:
        assert "the assay is busy" in file.history()[-1].text
    campaign.session.undo()
    until(qtbot, lambda: status(campaign).settings.epsilon == 0.5)
    assert page.form.field("epsilon").text == "0.5"
    assert page.form.field("per_round").text == "96"
    until(qtbot, lambda: page.outlooks.words.text().startswith("384 to 672"))


WRONG = (
    ("epsilon", "half", "This is not a number."),
    ("epsilon", "0", "It must be above 0."),
    ("slack", "-0.1", "It must be 0 or more."),
    ("delta", "100", "It must be below 100 %."),
    ("pIC50", "", "A number is needed."),
    ("per_round", "9.5", "A whole number is needed."),
)


def test_unusable_setting_is_explained_at_its_field(qtbot, campaign, crystal):
    page = shown(qtbot, campaign)
    for name, text, reason in WRONG:
        edit = type_into(page, name, text)
        assert page.form.field(name).note.text() == reason
        assert edit.property("wrong") == "true"
        assert page.change.apply_button.isHidden()
        QTest.keyClick(edit, Qt.Key.Key_Escape)
        assert edit.text() == text
        page.change.leave_button.click()
        assert edit.text() not in (text, "")
        assert edit.property("wrong") != "true"
    qtbot.wait(20)
    assert crystal.asked == [None]


def test_only_the_latest_settings_are_answered(qtbot, campaign, crystal):
    page = shown(qtbot, campaign)
    crystal.open.clear()
    type_into(page, "epsilon", "0.7")
    until(qtbot, lambda: campaign.session.ahead.busy)
    type_into(page, "epsilon", "0.4")
    assert page.outlooks.table().endswith("\t…")
    crystal.open.set()
    tried(qtbot, page)
    idle(qtbot, campaign)
    assert crystal.asked == [None, Change(epsilon=0.4)]
    assert page.outlooks.words.text().startswith("Now and with these settings 384 to 672")
    assert "…" not in page.outlooks.table()
    # What was looked at before is there at once.
    type_into(page, "epsilon", "0.5")
    type_into(page, "epsilon", "0.4")
    assert page.outlooks.tried is not None
    assert crystal.asked == [None, Change(epsilon=0.4)]


def test_a_slow_simulation_can_be_stopped_and_asked_for_again(qtbot, campaign, crystal, monkeypatch):
    monkeypatch.setattr("assaypilot.gui.goal.forecast_view.SLOW", 0.15)
    crystal.open.clear()
    campaign.show_page(PageName.GOAL)
    until(qtbot, lambda: campaign.work[campaign.session.ahead].isVisible())
    assert "Simulating what it will take" in campaign.work[campaign.session.ahead].words.text()
    campaign.work[campaign.session.ahead].stop.click()
    until(qtbot, lambda: not campaign.goal.outlooks.again.isHidden())
    assert campaign.goal.outlooks.words.text().startswith("Stopped")
    assert campaign.work[campaign.session.ahead].isHidden()
    crystal.open.set()
    campaign.goal.outlooks.again.click()
    until(qtbot, lambda: campaign.goal.outlooks.now is not None)


def test_new_results_renew_the_forecast_when_the_page_is_shown(qtbot, campaign, crystal):
    shown(qtbot, campaign)
    campaign.show_page(PageName.LIBRARY)
    plan_round(qtbot, campaign)
    assert "expected in all" not in campaign.strip.used.text()  # it was expected before
    assert len(crystal.asked) == 1
    campaign.show_page(PageName.GOAL)
    until(qtbot, lambda: len(crystal.asked) == 2)
    until(qtbot, lambda: "expected in all" in campaign.strip.used.text())


def test_settings_can_be_tried_while_a_round_is_open(qtbot, campaign):
    plan_round(qtbot, campaign)
    page = shown(qtbot, campaign)
    type_into(page, "slack", "0.7")
    until(qtbot, lambda: page.outlooks.tried is not None and "round 1 is open" in page.change.words.text().lower())
    assert page.change.heading.text() == "This cannot be applied"
    assert page.change.apply_button.isHidden()
    type_into(page, "slack", "0.5")
    type_into(page, "per_round", "24")
    tried(qtbot, page)
    assert "stays as it was issued" in page.change.words.text()


def test_a_decided_campaign_forecasts_only_what_is_typed(qtbot, window, tmp_path, crystal):
    opened(qtbot, window, campaign_file(tmp_path, ("pIC50",), goal="epsilon-best", rounds=6, per_round=72))
    assert status(window).finished
    show(qtbot, window, PageName.GOAL)
    page = window.goal
    assert not page.future.isVisible()
    assert page.state.heading.text() == "Decided in 2 rounds"
    assert crystal.asked == []
    type_into(page, "epsilon", "0.6")
    until(qtbot, lambda: page.outlooks.tried is not None)
    assert page.future.isVisible()


def test_each_goal_shows_what_applies_to_it(qtbot, window, tmp_path):
    opened(qtbot, window, campaign_file(tmp_path))
    page = shown(qtbot, window)
    names = [edit.accessibleName() for edit in page.form.findChildren(QLineEdit) if edit.isVisible()]
    assert "Difference in hERG that does not matter" in names
    assert "Within how much of the best" not in names
    assert "Soft zone" not in names
    edit = page.form.margin("hERG").edit
    edit.setText("0,8")
    tried(qtbot, page)
    page.change.apply_button.click()
    until(qtbot, lambda: status(window).margins == (0.6, 0.8))


def test_forecast_is_that_of_the_changed_campaign(tmp_path):
    """What stands beside the present settings is what the page would show after Apply; the file stays as it is."""
    path = quick_campaign(tmp_path)
    content = path.read_bytes()
    found = foresight._foresee(str(path), Change(slack=0.9, budget=40), silent)
    assert path.read_bytes() == content
    with Campaign.open(path) as campaign:
        campaign.change(Change(slack=0.9, budget=40))
    assert found.forecast == forecast_campaign(path)
    assert found.budget == 40
    now = foresight._foresee(str(path), None, silent)
    assert now == found
    with pytest.raises(AssayPilotError, match="delta"):
        foresight._foresee(str(path), Change(delta=2.0), silent)
