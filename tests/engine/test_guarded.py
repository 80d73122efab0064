"""A process with limits: what it returns, and how it ends when the work does not."""

import os
import sys
import time

import pytest

from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system import guarded as module
from assaypilot.engine.system.guarded import TooLong, TooMuch, guarded
from assaypilot.engine.system.progress import Cancelled, silent

pytestmark = pytest.mark.apart


def answering(data, word, report):
    report(0.5, "half")
    print("what a library prints is no answer")
    return data + word.encode()


def refusing(data, report):
    raise AssayPilotError("no table", file="a.xlsx", row=3, mend="Mend it.")


def failing(data, report):
    raise KeyError("a fault of ours")


def endless(data, report):
    while True:
        pass


def greedy(data, report):
    held = []
    while True:
        held.append(bytearray(50_000_000))


def crashing(data, report):
    os.abort()


def test_result_and_progress_come_back():
    heard = []
    assert (
        guarded(answering, b"a" * 100_000, "é", report=lambda f, m: heard.append((f, m)))
        == b"a" * 100_000 + "é".encode()
    )
    assert heard[0] == (0.0, "Starting")


def test_refusal_there_is_raised_here():
    with pytest.raises(AssayPilotError, match=r"a.xlsx, row 3: no table. Mend it.") as caught:
        guarded(refusing, b"")
    assert type(caught.value) is AssayPilotError


def test_fault_there_is_a_fault_here():
    with pytest.raises(RuntimeError, match="a fault of ours"):
        guarded(failing, b"")


def test_work_without_end_is_ended():
    start = time.monotonic()
    with pytest.raises(TooLong, match=r"a.xlsx: this takes more than 1 s"):
        guarded(endless, b"", file="a.xlsx", seconds=1.0)
    assert time.monotonic() - start < 10.0


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac keeps no limit of memory")
def test_work_that_takes_all_memory_is_ended(monkeypatch):
    with pytest.raises(TooMuch, match=r"a.xlsx: this is damaged, or takes more than 1.0 GB"):
        guarded(greedy, b"", file="a.xlsx")


def test_process_that_crashes_is_a_refusal():
    with pytest.raises(TooMuch):
        guarded(crashing, b"")


def test_cancelling_ends_the_process():
    def cancel(fraction, message):
        raise Cancelled

    start = time.monotonic()
    with pytest.raises(Cancelled):
        guarded(endless, b"", report=cancel)
    assert time.monotonic() - start < 10.0


def test_inside_such_a_process_no_other_is_started(monkeypatch):
    monkeypatch.setenv(module._INSIDE, "1")
    monkeypatch.setattr(module.subprocess, "Popen", lambda *_, **__: pytest.fail("a process in a process"))
    assert guarded(answering, b"a", "b") == b"ab"


def test_nothing_is_unpickled(monkeypatch):
    import pickle

    def refuse(*_, **__):
        pytest.fail("something was unpickled")

    monkeypatch.setattr(pickle, "loads", refuse)
    monkeypatch.setattr(pickle, "load", refuse)
    assert guarded(answering, b"a", "b", report=silent) == b"ab"
