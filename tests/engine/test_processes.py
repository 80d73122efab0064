import multiprocessing
import os
import time

import pytest

from assaypilot.engine.chemistry.cores import Core
from assaypilot.engine.chemistry.decomposition import decompose
from assaypilot.engine.errors import AssayPilotError
from assaypilot.engine.system.processes import in_another_process
from assaypilot.engine.system.progress import Cancelled
from assaypilot.engine.tables.opening import read_table

CORE = Core("c1ccc([*:1])c([*:2])c1", (1, 2))


def test_the_result_and_its_progress_come_back():
    seen = []
    smiles = ["Cc1ccccc1F", "Clc1ccccc1", "", "CCO"]
    there = in_another_process(decompose, (CORE,), smiles, report=lambda fraction, text: seen.append((fraction, text)))
    assert there == decompose((CORE,), smiles)
    assert any("Taking apart" in text or "taken apart" in text for _, text in seen)


def test_a_refusal_is_raised_here_as_it_was_there(tmp_path):
    with pytest.raises(AssayPilotError) as refusal:
        in_another_process(read_table, tmp_path / "no.csv")
    assert refusal.value.file == "no.csv"
    assert "there is no such file" in str(refusal.value)


def test_bug_in_a_worker_shows_its_traceback():
    with pytest.raises(RuntimeError, match=r"test_processes.*[\s\S]*ZeroDivisionError"):
        in_another_process(_broken)


def test_cancel_ends_work_that_never_looks_up():
    others = set(multiprocessing.active_children())  # pools that earlier tests left waiting
    began = time.monotonic()

    def report(fraction, message):
        if time.monotonic() - began > 1.0:
            raise Cancelled

    with pytest.raises(Cancelled):
        in_another_process(_sleep, report=report)
    assert time.monotonic() - began < 20
    assert not set(multiprocessing.active_children()) - others


def test_dead_worker_process_is_reported():
    with pytest.raises(RuntimeError, match="without a result"):
        in_another_process(_dies)


@pytest.mark.skipif(not hasattr(os, "getpriority"), reason="the system has no such manners")
def test_worker_process_has_lower_priority():
    here = os.getpriority(os.PRIO_PROCESS, os.getpid())
    assert in_another_process(_manners) == min(19, here + 5)
    assert os.getpriority(os.PRIO_PROCESS, os.getpid()) == here


def _manners(report):
    return os.getpriority(os.PRIO_PROCESS, 0)


def _broken(report):
    return 1 // 0


def _sleep(report):
    time.sleep(120)


def _dies(report):
    import os

    os._exit(3)
