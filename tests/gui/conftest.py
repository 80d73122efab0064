"""Windows for tests: their own settings, closed again with everything they started."""

import pytest
from shiboken6 import isValid

from assaypilot.gui.app import dress, make_window
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.window.page import PageName
from tests.gui.forecasts import Crystal
from tests.gui.helpers import decided_campaign, idle, planned_campaign, quick_campaign, wait_for


@pytest.fixture
def dressed():
    """The style sheet of the program, for tests that look at colours and sizes."""


@pytest.fixture(autouse=True)
def undressed(request, monkeypatch):
    """No style sheet, unless a test asks to be ``dressed``: applying it takes a sixth of the time."""
    if "dressed" not in request.fixturenames:
        monkeypatch.setattr("assaypilot.gui.resources.theme.style_sheet", lambda colours, font: "")


@pytest.fixture
def settings(tmp_path, qapp):
    found = Settings(tmp_path / "settings" / "settings.ini")
    found.folder = tmp_path
    dress(qapp, found)
    return found


@pytest.fixture(autouse=True)
def crystal(monkeypatch):
    """Forecasts of the window without a simulation, which no other test needs."""
    made = Crystal()
    monkeypatch.setattr("assaypilot.engine.simulate.foresight.in_another_process", made)
    yield made
    made.open.set()


@pytest.fixture
def open_window(qtbot, settings):
    made = []

    def make(file=None, *, practice=False, page=None):
        """Open a window, wait until its campaign is there or refused, and show a page of it."""
        window = make_window(settings, file, practice=practice)
        qtbot.addWidget(window)
        made.append(window)
        window.show()
        qtbot.waitExposed(window)
        if practice or (file is not None and file.suffix == ".assaypilot"):
            wait_for(qtbot, window, lambda: window.session.view is not None or bool(window.messages.text))
        if page is not None:
            window.show_page(page)
            idle(qtbot, window)
        return window

    yield make
    for window in made:
        idle(qtbot, window)
        if isValid(window):  # waiting lets Qt delete what pytest-qt has closed
            window.close()


@pytest.fixture
def window(open_window):
    return open_window()


@pytest.fixture
def campaign(open_window, tmp_path):
    """A window with a small campaign."""
    return open_window(quick_campaign(tmp_path))


@pytest.fixture
def planned(open_window, tmp_path):
    """The same with an open round, on its page."""
    return open_window(planned_campaign(tmp_path))


@pytest.fixture
def decided(open_window, tmp_path):
    """A window on the Candidates page, after a round."""
    return open_window(decided_campaign(tmp_path), page=PageName.CANDIDATES)
