"""The worker: order, progress, cancel; what was cancelled never lands, what was written is reported."""

import threading

import pytest
from PySide6.QtWidgets import QApplication, QWidget

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.progress import Cancelled
from assaypilot.gui.runtime.tasks import AfterPainting, Tasks
from tests.gui.helpers import endless, until


@pytest.fixture
def tasks(qapp):
    made = Tasks()
    yield made
    made.stop()


class Results:
    """What a job called back."""

    def __init__(self):
        self.done, self.failed = [], []


def test_jobs_run_off_the_windows_thread_one_after_the_other(qtbot, tasks):
    results = Results()
    threads = []

    def work(number):
        def run(report):
            threads.append(threading.get_ident())
            return number

        return run

    with qtbot.waitSignal(tasks.idle):
        for number in range(20):
            tasks.run("count", work(number), results.done.append, results.failed.append)
    assert results.done == list(range(20))
    assert set(threads) != {threading.get_ident()}
    assert len(set(threads)) == 1


def test_errors_return_unchanged(qtbot, tasks):
    results = Results()

    def refuse(report):
        raise AssayPilotError("no", mend="yes")

    def break_(report):
        raise ZeroDivisionError

    with qtbot.waitSignal(tasks.idle):
        tasks.run("a", refuse, results.done.append, results.failed.append)
        tasks.run("b", break_, results.done.append, results.failed.append)
    assert [type(error) for error in results.failed] == [AssayPilotError, ZeroDivisionError]
    assert results.done == []


def test_work_begins_once_the_window_has_painted(qtbot):
    seen = []

    class Painted(QWidget):
        def paintEvent(self, event):
            seen.append("painted")

    widget = Painted()
    qtbot.addWidget(widget)
    widget.show()
    until(qtbot, lambda: bool(seen))
    seen.clear()
    begin = AfterPainting(widget, lambda: seen.append("begun"))
    begin.start()
    widget.update()
    begin.start()
    until(qtbot, lambda: "begun" in seen)
    QApplication.processEvents()
    assert seen == ["painted", "begun"]


def test_cancel_stops_a_job_at_its_next_report(qtbot, tasks):
    results, started = Results(), threading.Event()
    shown = []
    tasks.progress.connect(lambda one: shown.append(one) if one is not None else None)
    tasks.run("endless", endless(started=started), results.done.append, results.failed.append)
    until(qtbot, lambda: bool(shown))
    assert shown[0].cancellable
    assert (shown[0].label, shown[0].message, shown[0].fraction) == ("endless", "half", 0.5)
    assert shown[0].seconds >= 0.2
    with qtbot.waitSignal(tasks.idle):
        tasks.cancel()
    assert [type(error) for error in results.failed] == [Cancelled]
    assert results.done == []


@pytest.mark.parametrize("writes", [False, True])
def test_late_cancel_drops_a_read_and_reports_a_write(qtbot, tasks, writes):
    """A cancelled read never lands although it came to its end; a write that was committed is reported as done."""
    results = Results()
    inside, go = threading.Event(), threading.Event()

    def run(report):
        inside.set()
        go.wait(5)
        return "result"

    job = tasks.run("late", run, results.done.append, results.failed.append, writes=writes)
    until(qtbot, inside.is_set)
    tasks.cancel(job)
    with qtbot.waitSignal(tasks.idle):
        go.set()
    assert results.done == (["result"] if writes else [])
    assert [type(error) for error in results.failed] == ([] if writes else [Cancelled])


def test_a_job_cancelled_before_its_turn_never_runs(qtbot, tasks):
    results, ran = Results(), []
    go = threading.Event()
    tasks.run("first", lambda report: go.wait(5), results.done.append, results.failed.append)
    second = tasks.run("second", lambda report: ran.append(1), results.done.append, results.failed.append)
    tasks.cancel(second)
    with qtbot.waitSignal(tasks.idle):
        go.set()
    assert ran == []


def test_the_window_offers_cancel_while_it_stays_alive(qtbot, window):
    started = threading.Event()
    landed = []
    window.session.read("Reading something long", endless(started=started), landed.append)
    bar = window.work[window.session.tasks]
    until(qtbot, lambda: bar.isVisible() and "Reading something long" in bar.words.text())
    assert bar.stop.isEnabled()
    assert "half" in bar.detail.text()
    bar.stop.click()
    until(qtbot, lambda: not window.session.tasks.busy)
    assert landed == []
    assert window.messages.text == "Stopped; nothing was changed."


def test_a_cancelled_opening_keeps_what_was_open(qtbot, campaign, tmp_path):
    copy = tmp_path / "copy.assaypilot"
    campaign.session.save_copy(copy)
    until(qtbot, lambda: not campaign.session.tasks.busy)
    before = campaign.session.view
    assert before is not None
    assert copy.exists()
    hold = threading.Event()
    campaign.session.read("hold", lambda report: hold.wait(5), lambda _: None)
    campaign.session.open(copy)
    campaign.session.tasks.cancel(campaign.session.tasks._waiting[-1])
    hold.set()
    until(qtbot, lambda: not campaign.session.tasks.busy)
    assert campaign.session.view is before
    campaign.session.plan()
    until(qtbot, lambda: campaign.session.view is not before)
    assert campaign.session.view.path == before.path
