"""The collector's pause: it lasts until the last thread that asked for one is done, and leaves it as it was."""

import gc
import threading

import pytest

from assaypilot.engine.system.resources import without_collecting


def test_a_pause_that_ends_in_another_thread_ends_none_of_this_one():
    entered, leave = threading.Event(), threading.Event()

    def other():
        with without_collecting():
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(10)
    with without_collecting():
        leave.set()
        thread.join(10)
        assert not gc.isenabled()
    assert gc.isenabled()


def test_collector_is_restored_after_an_error():
    with pytest.raises(ValueError, match="a cell"), without_collecting():
        raise ValueError("a cell")
    assert gc.isenabled()
