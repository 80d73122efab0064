"""Several windows, and the list of recent files with files that are gone."""

from types import SimpleNamespace

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from shiboken6 import isValid

from assaypilot.gui.app import open_handed
from assaypilot.gui.resources import theme as look
from assaypilot.gui.resources.theme import DARK, LIGHT, theme
from tests.gui.helpers import idle, quick_campaign, until, view, wait_for


def test_a_new_window_has_a_campaign_of_its_own_and_goes_when_it_is_closed(qtbot, campaign, tmp_path):
    assert campaign.actions_.new_window.shortcut().toString() == "Ctrl+Shift+N"
    second = campaign.opening.new_window()
    assert second.isVisible()
    assert second.pos() - campaign.pos() == QPoint(32, 32)
    assert second.stack.currentWidget() is second.start
    second.open_path(view(campaign).path)
    wait_for(qtbot, second, lambda: second.session.view is not None)
    assert (view(campaign).read_only, view(second).read_only) == (False, True)
    second.close()
    until(qtbot, lambda: not isValid(second))
    assert campaign.isVisible()


def test_a_file_handed_over_opens_in_a_window_that_is_still_there(qtbot, open_window, tmp_path):
    first = open_window()
    second = first.opening.new_window()
    first.close()
    open_handed(first, quick_campaign(tmp_path))
    until(qtbot, lambda: second.session.view is not None)
    assert first.session.view is None
    idle(qtbot, second)
    second.close()


def recent(window):
    """What the list of recent files says."""
    window.actions_.recent.aboutToShow.emit()
    return [action.text() for action in window.actions_.recent.actions() if not action.isSeparator()]


def test_recent_files_are_those_that_are_there(qtbot, open_window, tmp_path):
    window = open_window()
    assert recent(window) == ["No campaign was opened yet"]
    path = quick_campaign(tmp_path)
    window.open_path(path)
    wait_for(qtbot, window, lambda: window.session.view is not None)
    gone = tmp_path / "moved & gone.assaypilot"
    window.settings.add_recent(gone)
    assert recent(window) == ["small.assaypilot", "&Clear This List"]
    window.actions_.recent.actions()[-1].trigger()
    assert recent(window) == ["No campaign was opened yet"]
    assert path.is_file()


def test_the_theme_follows_the_system(qapp, settings, monkeypatch):
    theme().choose("system")
    assert theme().colours is LIGHT
    dark = SimpleNamespace(colorScheme=lambda: Qt.ColorScheme.Dark)
    changed = QGuiApplication.styleHints().colorSchemeChanged
    with monkeypatch.context() as patched:
        patched.setattr(look, "QGuiApplication", SimpleNamespace(styleHints=lambda: dark))
        changed.emit(Qt.ColorScheme.Dark)
        assert theme().colours is DARK
        assert qapp.palette().window().color().name() == DARK.page
        theme().choose("light")  # what was chosen counts more than the system
        assert theme().colours is LIGHT
        theme().choose("system")
        assert theme().colours is DARK
    changed.emit(Qt.ColorScheme.Light)
    assert theme().colours is LIGHT
