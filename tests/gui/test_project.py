"""The overview of a project: every campaign of a folder with what comes next."""

import shutil

from PySide6.QtCore import Qt

from assaypilot.gui.window.opening import ProjectDialog
from tests.gui.helpers import until


def texts(dialog):
    """The rows of the table."""
    items = [dialog.table.topLevelItem(row) for row in range(dialog.table.topLevelItemCount())]
    return [[item.text(column) for column in range(dialog.table.columnCount())] for item in items if item is not None]


def test_campaigns_of_a_folder_are_listed_and_opened(qtbot, open_window, tmp_path):
    window = open_window(practice=True)
    view = window.session.view
    assert view is not None
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(view.path, folder / "first.assaypilot")
    (folder / "broken.assaypilot").write_text("nothing")
    (folder / "notes.txt").write_text("nothing")
    window.settings.folder = folder
    window.opening.project()
    dialog = window.findChild(ProjectDialog)
    until(qtbot, lambda: dialog.table.topLevelItemCount() == 2)
    broken, first = texts(dialog)
    assert broken[1].startswith("cannot be read")
    assert first[0] == view.status.name
    assert first[3:6] == [str(view.status.counts[name]) for name in ("in", "undecided", "out")]
    assert "2 in all" in dialog.place.text()
    dialog.table.setCurrentItem(dialog.table.topLevelItem(0))
    assert not dialog.open_button.isEnabled()
    dialog.table.setCurrentItem(dialog.table.topLevelItem(1))
    assert dialog.open_button.isEnabled()
    qtbot.mouseClick(dialog.open_button, Qt.MouseButton.LeftButton)
    until(qtbot, lambda: window.session.view is not None and window.session.view.path.parent == folder)
