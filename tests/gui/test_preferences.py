"""Preferences: each does what it says, at once, and is there again at the next start."""

import os
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QLabel

from assaypilot.engine.campaign.campaign import Campaign
from assaypilot.gui.resources.theme import DARK, theme
from assaypilot.gui.runtime.settings import AUTHOR, Settings
from assaypilot.gui.window.help_and_preferences import SIZES
from tests.gui.helpers import creation_of, goal_of, idle, small_table, until, view

pytestmark = pytest.mark.usefixtures("dressed")


@pytest.fixture(autouse=True)
def as_before():
    yield
    theme().choose("system")
    theme().enlarge(100)
    os.environ.pop(AUTHOR, None)


@pytest.fixture
def asked(qtbot, campaign):
    campaign.actions_.preferences.trigger()
    found = campaign.help_and_preferences.preferences
    assert found is not None
    return found


def again(window):
    """The settings as the next start reads them."""
    window.settings.flush()
    return Settings(Path(window.settings._store.fileName()))


def test_colours_and_text_size_count_at_once(qtbot, campaign, asked):
    before = campaign.strip.name.fontMetrics().height(), campaign.fontMetrics().height()
    navigation = campaign.navigation.width()
    asked.colours.choose("dark")
    assert theme().colours is DARK
    asked.text_size.setCurrentIndex(SIZES.index(200))
    asked.text_size.activated.emit(SIZES.index(200))
    QApplication.processEvents()
    after = campaign.strip.name.fontMetrics().height(), campaign.fontMetrics().height()
    assert after[0] > 1.8 * before[0]
    assert after[1] > 1.8 * before[1]
    assert campaign.navigation.minimumWidth() > navigation
    asked.close_button.click()
    found = again(campaign)
    assert (found.theme, found.text_size) == ("dark", 200)
    theme().enlarge(100)
    assert campaign.fontMetrics().height() == before[1]


def test_invalid_text_size_falls_back(settings):
    for text, size in (("huge", 100), ("5000", 200), ("3", 100)):
        settings.keep_text("text_size", text)
        assert settings.text_size == size


def test_the_name_in_the_log(qtbot, campaign, asked, tmp_path):
    asked.author.setText("  Marie   Curie ")
    asked.reject()  # however it is closed
    assert again(campaign).author == "Marie Curie"
    path = view(campaign).path
    copy = tmp_path / "other" / "again.assaypilot"
    copy.parent.mkdir()
    campaign.session.save_copy(copy)
    idle(qtbot, campaign)
    campaign.session.open(copy)
    until(qtbot, lambda: view(campaign).path != path)
    campaign.session.plan()
    idle(qtbot, campaign)
    with Campaign.open(copy) as opened:
        assert opened.history()[-1].author == "Marie Curie"
        assert opened.history()[0].author != "Marie Curie"
    campaign.settings.author = ""
    assert AUTHOR not in os.environ


def test_new_campaigns_are_proposed_in_their_folder(qtbot, campaign, asked, tmp_path):
    (tmp_path / "Campaigns").mkdir()
    asked.folder.setText(str(tmp_path / "Camp"))
    assert "no such folder" in asked.folder_problem.text()
    assert not asked.folder_problem.isHidden()
    asked.folder.setText(str(tmp_path / "Campaigns"))
    assert asked.folder_problem.isHidden()
    asked.close_button.click()
    campaign.new_campaign(small_table(tmp_path / "series.csv"))
    creation = creation_of(campaign)
    assert Path(goal_of(qtbot, creation).file.text).parent == tmp_path / "Campaigns"
    idle(qtbot, campaign)
    creation.reject()
    (tmp_path / "Campaigns").rmdir()
    assert again(campaign).campaigns is None  # a folder that is gone is not proposed


def test_the_layout_is_forgotten(qtbot, campaign, asked):
    campaign.resize(900, 700)
    campaign.settings.keep_layout("window", campaign.saveGeometry())
    campaign.settings.keep_values("table/candidates", {"order": ["status"]})
    campaign.settings.author = "kept"
    asked.forget.click()
    assert campaign.width() == max(1280, campaign.minimumSizeHint().width())
    assert campaign.height() == 800
    assert campaign.settings.layout("window") is None
    assert campaign.settings.values("table/candidates") == {}
    assert campaign.settings.author == "kept"
    assert any("as it was at first" in one.text() for one in asked.findChildren(QLabel) if not one.isHidden())
    asked.close_button.click()
