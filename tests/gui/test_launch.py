"""The program's entry once it is packaged, and what it must not load before it is needed."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys

import pytest

from assaypilot.gui import launch


def test_a_packaged_program_lets_its_workers_work_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    class Worker(Exception):
        """What happens in a worker: freeze_support never returns there."""

    def works() -> None:
        raise Worker

    monkeypatch.setattr(multiprocessing, "freeze_support", works)
    monkeypatch.setattr(launch, "_wants_window", lambda words: pytest.fail("a worker opened a window"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(Worker):
        launch.main(["--multiprocessing-fork", "parent_pid=1", "pipe_handle=2"])


def test_a_program_that_is_not_packaged_does_not_even_load_it(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import sys; from assaypilot.gui.launch import main; before = 'multiprocessing' in sys.modules; "
        "code = main(['datasets', '--json']); "
        "sys.exit(code or before or any(name.startswith(('PySide6', 'rdkit')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
