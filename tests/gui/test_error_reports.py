"""What becomes of errors and crashes: noticed, reported without anybody's data, offered, and never sent."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton

from assaypilot.gui.app import make_window
from assaypilot.gui.runtime.error_reports import ReportDialog, Reporter
from assaypilot.gui.window.page import PageName
from tests.gui.helpers import dialog, idle, until

SESSION = """
    import os, signal, sys
    from pathlib import Path
    from assaypilot.gui.runtime.error_reports import Reporter
    reporter = Reporter(Path(sys.argv[1]))
    reporter.begin()
    reporter.watch.note("Plan Next Round")
    how = sys.argv[2]
    if how == "closed":
        reporter.watch.end()
    elif how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "crashed":
        import ctypes
        ctypes.string_at(0)
    else:
        print("ready", flush=True)
        sys.stdin.read()
"""


def session(folder, how):
    """A session of the program in a process of its own."""
    words = [sys.executable, "-c", textwrap.dedent(SESSION), str(folder), how]
    return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def press(window, text):
    """Press a button of the message."""
    next(made for made in window.messages.findChildren(QPushButton) if made.text() == text).click()


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process is ended another way here")
@pytest.mark.parametrize(
    ("how", "words"),
    [
        pytest.param("killed", "without being closed", marks=pytest.mark.slow),
        ("crashed", "Segmentation fault"),
    ],
)
def test_unclosed_session_is_noticed_once(tmp_path, how, words):
    session(tmp_path, how).communicate(timeout=60)
    reporter = Reporter(tmp_path)
    reporter.begin()
    reporter.watch.end()
    (report,) = reporter.unseen()
    text = report.read_text(encoding="utf-8")
    assert words in text
    assert "Plan Next Round" in text
    assert "PySide6" in text
    assert os.sep + "assaypilot" not in text  # no folders, which may tell who and what
    reporter.delete(report)
    again = Reporter(tmp_path)
    again.begin()
    again.watch.end()
    assert again.unseen() == []
    assert list((tmp_path / "sessions").iterdir()) == []


@pytest.mark.slow
def test_closed_or_running_session_is_no_crash(tmp_path):
    session(tmp_path, "closed").communicate(timeout=60)
    running = session(tmp_path, "running")
    assert running.stdout.readline() == "ready\n"
    reporter = Reporter(tmp_path)
    reporter.begin()
    reporter.watch.end()
    assert reporter.unseen() == []
    running.kill()
    running.communicate(timeout=60)
    later = Reporter(tmp_path)
    later.begin()
    later.watch.end()
    assert len(later.unseen()) == 1


def test_unwritable_disk_does_not_stop_the_start(tmp_path):
    (tmp_path / "sessions").write_text("a file where the folder should be", encoding="utf-8")
    reporter = Reporter(tmp_path)
    reporter.begin()
    reporter.watch.note("something")
    reporter.watch.end()
    assert reporter.unseen() == []


def test_error_report_holds_no_data(qtbot, campaign):
    def work(report):
        raise KeyError("BZ-100 c1ccccc1 7.62")

    campaign.actions_.pages[PageName.HISTORY].trigger()
    idle(qtbot, campaign)
    campaign.session.read("Reading BZ-100 series.csv", work, lambda _: None)
    until(qtbot, lambda: "went wrong inside" in campaign.messages.text)
    press(campaign, "Show report…")
    shown = dialog(ReportDialog)
    text = shown.text.toPlainText()
    assert "KeyError at:" in text
    assert "While: Reading a file" in text
    assert "page HistoryPage" in text
    assert "numpy" in text
    assert "BZ-100" not in text
    assert "small" not in text  # the name of the campaign
    shown.copy.click()
    assert QGuiApplication.clipboard().text() == text
    shown.delete.click()
    assert campaign.reporter is not None
    assert list((campaign.settings.data_folder / "reports").iterdir()) == []


def test_the_next_start_offers_the_report(qtbot, settings, open_window):
    Reporter(settings.data_folder).save(ValueError("C-7 is secret"), "Planning the next round")
    window = open_window()
    until(qtbot, lambda: "was not closed" in window.messages.text)
    press(window, "Show report…")
    assert Reporter(settings.data_folder).unseen() == []  # not offered again
    assert len(list((settings.data_folder / "reports").glob("*.txt"))) == 1
    shown = dialog(ReportDialog)
    assert "ValueError at:" in shown.text.toPlainText()
    assert "secret" not in shown.text.toPlainText()
    shown.reject()


def test_uncaught_error_is_shown_in_an_open_window(qtbot, settings, open_window, monkeypatch):
    first = open_window()
    assert first.reporter is not None
    second = make_window(settings, reporter=first.reporter)
    qtbot.addWidget(second)
    second.show()
    first.close()
    monkeypatch.setattr(sys, "stderr", None)  # as in a program without a console
    first.reporter.hook(ValueError, ValueError("x"), None)
    assert "went wrong inside" in second.messages.text
    second.close()
