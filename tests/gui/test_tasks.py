"""The worker: order, progress, cancel; what was cancelled never lands, what was written is reported."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pytestqt.qtbot import QtBot

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled, Report
from assaypilot.gui.runtime.tasks import Progress, Tasks
from assaypilot.gui.window.main_window import MainWindow


@pytest.fixture
def tasks(qapp: object) -> Iterator[Tasks]:
    made = Tasks()
    yield made
    made.stop()


class Heard:
    """What a job called back."""

    def __init__(self) -> None:
        self.done: list[Any] = []
        self.failed: list[BaseException] = []


def test_jobs_run_off_the_windows_thread_one_after_the_other(qtbot: QtBot, tasks: Tasks) -> None:
    heard = Heard()
    threads = []

    def work(number: int) -> Callable[[Report], int]:
        def run(report: Report) -> int:
            threads.append(threading.get_ident())
            return number

        return run

    with qtbot.waitSignal(tasks.idle):
        for number in range(20):
            tasks.run("count", work(number), heard.done.append, heard.failed.append)
    assert heard.done == list(range(20))
    assert set(threads) != {threading.get_ident()}
    assert len(set(threads)) == 1


def test_errors_come_back_as_they_were(qtbot: QtBot, tasks: Tasks) -> None:
    heard = Heard()

    def refuse(report: Report) -> None:
        raise AssayPilotError("no", mend="yes")

    def break_(report: Report) -> None:
        raise ZeroDivisionError

    with qtbot.waitSignal(tasks.idle):
        tasks.run("a", refuse, heard.done.append, heard.failed.append)
        tasks.run("b", break_, heard.done.append, heard.failed.append)
    assert [type(error) for error in heard.failed] == [AssayPilotError, ZeroDivisionError]
    assert heard.done == []


def endless(started: threading.Event) -> Callable[[Report], None]:
    def run(report: Report) -> None:
        while True:
            report(0.5, "half")
            started.set()
            threading.Event().wait(0.005)

    return run


def test_cancel_stops_a_job_at_its_next_report(qtbot: QtBot, tasks: Tasks) -> None:
    heard, started = Heard(), threading.Event()
    shown: list[Progress] = []
    tasks.progress.connect(lambda one: shown.append(one) if one is not None else None)
    tasks.run("endless", endless(started), heard.done.append, heard.failed.append)
    qtbot.waitUntil(lambda: bool(shown), timeout=5000)
    assert shown[0].cancellable
    assert (shown[0].label, shown[0].message, shown[0].fraction) == ("endless", "half", 0.5)
    assert shown[0].seconds >= 0.2
    with qtbot.waitSignal(tasks.idle):
        tasks.cancel()
    assert [type(error) for error in heard.failed] == [Cancelled]
    assert heard.done == []


@pytest.mark.parametrize("writes", [False, True])
def test_a_late_cancel(qtbot: QtBot, tasks: Tasks, writes: bool) -> None:
    """A cancelled read never lands although it came to its end; a write that was committed is reported as done."""
    heard = Heard()
    inside, go = threading.Event(), threading.Event()

    def run(report: Report) -> str:
        inside.set()
        go.wait(5)
        return "result"

    job = tasks.run("late", run, heard.done.append, heard.failed.append, writes=writes)
    assert inside.wait(5)
    tasks.cancel(job)
    with qtbot.waitSignal(tasks.idle):
        go.set()
    assert heard.done == (["result"] if writes else [])
    assert [type(error) for error in heard.failed] == ([] if writes else [Cancelled])


def test_a_job_cancelled_before_its_turn_never_runs(qtbot: QtBot, tasks: Tasks) -> None:
    heard, ran = Heard(), []
    go = threading.Event()
    tasks.run("first", lambda report: go.wait(5), heard.done.append, heard.failed.append)
    second = tasks.run("second", lambda report: ran.append(1), heard.done.append, heard.failed.append)
    tasks.cancel(second)
    with qtbot.waitSignal(tasks.idle):
        go.set()
    assert ran == []


def test_the_window_offers_cancel_while_it_stays_alive(qtbot: QtBot, window: MainWindow) -> None:
    started = threading.Event()
    landed: list[object] = []
    window.session.read("Reading something long", endless(started), landed.append)
    qtbot.waitUntil(lambda: "Reading something long" in window.messages.text, timeout=5000)
    assert window.messages.stop.isVisible()
    assert "half" in window.messages.mend.text()
    window.messages.stop.click()
    qtbot.waitUntil(lambda: not window.session.tasks.busy, timeout=5000)
    assert landed == []
    assert window.messages.text == "Stopped; nothing was changed."


def test_a_cancelled_opening_keeps_what_was_open(qtbot: QtBot, campaign: MainWindow, tmp_path: Path) -> None:
    copy = tmp_path / "copy.assaypilot"
    campaign.session.save_copy(copy)
    qtbot.waitUntil(lambda: not campaign.session.tasks.busy, timeout=5000)
    before = campaign.session.view
    assert before is not None
    assert copy.exists()
    hold = threading.Event()
    campaign.session.read("hold", lambda report: hold.wait(5), lambda _: None)
    campaign.session.open(copy)
    campaign.session.tasks.cancel(campaign.session.tasks._waiting[-1])
    hold.set()
    qtbot.waitUntil(lambda: not campaign.session.tasks.busy, timeout=5000)
    assert campaign.session.view is before
    campaign.session.plan()
    qtbot.waitUntil(lambda: campaign.session.view is not before, timeout=5000)
    assert campaign.session.view.path == before.path


def test_an_error_of_ours_is_reported_without_anybodys_data(qtbot: QtBot, window: MainWindow) -> None:
    def work(report: Report) -> None:
        raise KeyError("BZ-100 secret id")

    window.session.read("Reading", work, lambda _: None)
    qtbot.waitUntil(lambda: "went wrong inside" in window.messages.text, timeout=5000)
    assert window.reporter is not None
    (report,) = window.reporter.unseen()
    text = report.read_text(encoding="utf-8")
    assert "KeyError at:" in text
    assert "While: Reading" in text
    assert "secret" not in text
    window.messages.clear()
    window.error_reports.offer()
    assert "earlier session" in window.messages.text
    window.reporter.dismiss()
    assert window.reporter.unseen() == []
