"""The guided tour: it names the real button, goes on when the step is done, and is left at any time."""

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QPushButton

from assaypilot.gui.window.main_window import MainWindow
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import dialog, idle, quick_campaign, status, until, view, wait_for


def marked(window):
    """What the marked buttons say."""
    return [
        made.text().replace("&", "") for made in window.findChildren(QPushButton) if made.property("toured") == "true"
    ]


def click_a_line(window):
    """Click the third line of the table of the page shown, as a person does."""
    table = window.page.table
    table.scrollTo(table.rows_model.index(2, 0))
    box = table.visualRect(table.rows_model.index(2, 0))
    QTest.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=box.center() + QPoint(2, 0))


@pytest.fixture
def touring(qtbot, open_window):
    window = open_window()
    idle(qtbot, window)
    window.start.tour_button.click()
    wait_for(qtbot, window, lambda: window.tour.place == 0)
    return window


def test_the_whole_tour_by_doing_each_step(qtbot, touring):
    window, card = touring, touring.tour.card
    assert view(window).practice
    assert card.heading.text() == "Step 1 of 5: The library"
    assert marked(window) == ["Library"]
    click_a_line(window)
    assert card.heading.text().startswith("Step 2 of 5")
    assert marked(window) == ["Plan round 1"]
    window.strip.primary.click()
    wait_for(qtbot, window, lambda: window.tour.place == 2)
    assert marked(window) == ["Measure with the practice assay"]
    next(one for one in window.findChildren(QPushButton) if one.property("toured") == "true").click()
    until(qtbot, lambda: marked(window) == ["Close round 1"])
    assert window.tour.place == 2  # the results do not count yet
    idle(qtbot, window)
    window.session.close_round()
    wait_for(qtbot, window, lambda: window.tour.place == 3)
    assert marked(window) == ["Candidates"]
    window.show_page(PageName.CANDIDATES)
    assert window.tour.place == 3  # the program selects a line, too; that is not a step done
    idle(qtbot, window)
    click_a_line(window)
    assert window.tour.place == 4
    assert marked(window) == ["Export…"]
    window.candidates.export_button.click()
    asked = dialog()
    asked.reject()
    assert card.next.text() == "&Finish"
    card.next.click()
    assert card.isHidden()
    assert marked(window) == []
    assert len(status(window).rounds) == 1


def test_ones_own_campaign_is_left_alone(qtbot, campaign):
    before = view(campaign).path
    campaign.actions_.tour.trigger()
    other = next(one for one in QApplication.topLevelWidgets() if isinstance(one, MainWindow) and one is not campaign)
    until(qtbot, lambda: other.tour.place == 0)
    assert view(campaign).path == before
    assert campaign.tour.place is None
    idle(qtbot, other)
    other.close()


def test_another_campaign_ends_the_tour(qtbot, touring, tmp_path):
    touring.open_path(quick_campaign(tmp_path))
    until(qtbot, lambda: touring.tour.place is None)
    assert touring.tour.card.isHidden()
    idle(qtbot, touring)
