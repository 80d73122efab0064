"""What the window does differently on Windows and on a Mac, as far as another system can play them."""

import multiprocessing.spawn  # noqa: F401  # it looks at the system when it is loaded: not while a test plays another
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QAction

from assaypilot.gui import launch
from assaypilot.gui.app import make_window
from assaypilot.gui.help import help_window as helping
from assaypilot.gui.runtime.settings import Settings
from assaypilot.gui.widgets import text as keyboard
from assaypilot.gui.window import exporting
from tests.gui.helpers import idle, until

Role = QAction.MenuRole

# --- keys and menus


@pytest.fixture
def on_a_mac(monkeypatch):
    monkeypatch.setattr(keyboard, "MAC", True)
    helping.topics.cache_clear()
    yield
    helping.topics.cache_clear()


@pytest.mark.usefixtures("on_a_mac")
def test_on_a_mac_the_keys_have_their_names():
    assert keyboard.as_here("Pastes (Ctrl+V): Alt+Left, Ctrl+Shift+N") == "Pastes (Cmd+V): Option+Left, Cmd+Shift+N"
    keys_text = helping.topics()["keys"].text
    assert "Cmd+Shift+N" in keys_text
    assert "Option+Left" in keys_text
    assert "| Ctrl+F2 | The menus |" in keys_text
    for topic in helping.topics().values():
        assert "Ctrl" not in topic.text.replace("Ctrl+F2", ""), topic.key
        assert "Alt+" not in topic.text, topic.key


def test_menu_roles_are_set_for_macos(open_window):
    window = open_window()
    menus = [action.menu() for action in window.menuBar().actions()]
    roles = {action.text(): action.menuRole() for menu in menus for action in menu.actions() if not action.menu()}
    roles.pop("", None)  # separators
    assert len(roles) > 30
    assert {text.replace("&", ""): role for text, role in roles.items() if role != Role.NoRole} == {
        "Quit": Role.QuitRole,
        "About AssayPilot": Role.AboutRole,
        "Preferences…": Role.PreferencesRole,
    }


@pytest.mark.slow
def test_quit_closes_every_window_and_close_only_one(qtbot, open_window):
    first = open_window()
    second = first.opening.new_window()
    third = first.opening.new_window()
    third.actions_.close_window.trigger()
    assert (first.isVisible(), second.isVisible()) == (True, True)
    second.actions_.quit.trigger()
    until(qtbot, lambda: not first.isVisible())


PLAYED = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from assaypilot.gui import app
sys.platform = "darwin"
opened = []
app.open_handed = lambda window, path: opened.append(path.name)
made = app.make_window
def make_window(*given, **named):
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent("/a/early.assaypilot"))
    window = made(*given, **named)
    QTimer.singleShot(0, window, later)
    return window
def later():
    QApplication.sendEvent(QApplication.instance(), QFileOpenEvent("/a/late.csv"))
    QApplication.quit()
app.make_window = make_window
code = app.run(["assaypilot"], None, practice=False)
print(code, *opened)
"""


@pytest.mark.slow
def test_files_opened_by_macos_are_taken_before_and_after_the_window():
    done = subprocess.run([sys.executable, "-c", PLAYED], capture_output=True, text=True, timeout=120)
    assert done.stdout.split() == ["0", "early.assaypilot", "late.csv"], done.stderr


@contextmanager
def no_console(monkeypatch):
    """The boxes shown in the block, in which the program has no streams."""
    shown = []
    with monkeypatch.context() as patch:  # not in a fixture: pytest gives a test streams of its own after those
        patch.setattr(sys, "stdout", None)
        patch.setattr(sys, "stderr", None)
        patch.setattr(launch, "_show", shown.append)
        yield shown
        for stream in (sys.stdout, sys.stderr):
            stream.close()


@pytest.mark.parametrize("words", [["status", "a.assaypilot"], ["--help"], ["--version"], ["demo"]])
def test_commands_are_answered_where_there_is_a_console(monkeypatch, words):
    with no_console(monkeypatch) as shown:
        monkeypatch.setattr(sys, "platform", "win32")
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        code = launch.main(words)
        monkeypatch.undo()
    assert code == 1
    assert "assaypilot-console --help" in shown[0]


def test_a_command_works_with_both_streams_closed(monkeypatch, tmp_path):
    (tmp_path / "t.csv").write_text("ID,R1,pIC50\nA,Me,5\nB,Et,6\n", encoding="utf-8")
    words = ["new", str(tmp_path / "a.assaypilot"), "--table", str(tmp_path / "t.csv"), "--sites", "R1"]
    with no_console(monkeypatch) as shown:
        codes = launch.main([*words, "--endpoint", "pIC50;sd=0.2", "--epsilon", "0.5"]), launch.main(["status", "x"])
    assert codes == (0, 1)
    assert shown == []
    assert (tmp_path / "a.assaypilot").exists()


def test_the_folder_of_a_file_is_shown_as_each_system_wants(monkeypatch, tmp_path):
    path = tmp_path / "short list µ.xlsx"
    path.touch()
    asked = []
    monkeypatch.setattr(exporting.subprocess, "Popen", asked.append)
    monkeypatch.setattr(sys, "platform", "win32")
    assert exporting.show_in_folder(path)
    monkeypatch.setattr(sys, "platform", "darwin")
    assert exporting.show_in_folder(path)
    assert asked == [f'explorer /select,"{path}"', ["open", "-R", str(path)]]
    assert not exporting.show_in_folder(tmp_path / "gone.csv")


def test_unwritable_home_does_not_stop_the_window(qtbot, tmp_path):
    home = tmp_path / "home"
    home.touch()  # nothing can be made in it
    settings = Settings(home / "settings.ini")
    window = make_window(settings)
    qtbot.addWidget(window)
    window.show()
    refused = []
    window.session.failed.connect(refused.append)
    window.opening.practice()
    until(qtbot, lambda: bool(refused))
    assert "no such folder" in str(refused[0])
    idle(qtbot, window)
    window.close()


def test_recent_files_on_servers_are_not_checked(monkeypatch, tmp_path):
    settings = Settings(tmp_path / "settings.ini")
    here = tmp_path / "a.assaypilot"
    here.touch()
    for path in (Path("//server/share/b.assaypilot"), here, tmp_path / "gone.assaypilot"):
        settings.add_recent(path)
    asked = []
    look = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: asked.append(path) or look(path))
    assert [path.name for path in settings.recent] == ["a.assaypilot", "b.assaypilot"]
    assert asked
    assert not any(str(path).startswith("//") for path in asked)
