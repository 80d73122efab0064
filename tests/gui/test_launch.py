"""The program's entry once it is packaged, and what it must not load before it is needed."""

import multiprocessing
import signal
import subprocess
import sys

import pytest

from assaypilot.gui import launch


def test_a_packaged_program_lets_its_workers_work_before_anything_else(monkeypatch):
    class Worker(Exception):
        """What happens in a worker: freeze_support never returns there."""

    def works():
        raise Worker

    monkeypatch.setattr(multiprocessing, "freeze_support", works)
    monkeypatch.setattr(launch, "_wants_window", lambda words: pytest.fail("a worker opened a window"))
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(Worker):
        launch.main(["--multiprocessing-fork", "parent_pid=1", "pipe_handle=2"])


def test_interrupt_during_import_of_the_commands_is_one_line(monkeypatch, capsys):
    class Interrupting:
        def find_spec(self, name, *_):
            if name.startswith("assaypilot.engine.cli"):
                raise KeyboardInterrupt

    for name in [name for name in sys.modules if name.startswith("assaypilot.engine.cli")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [Interrupting(), *sys.meta_path])
    assert launch.main(["status", "x.assaypilot"]) == 130
    assert capsys.readouterr().err == "assaypilot: stopped\n"


def test_a_program_that_is_not_packaged_does_not_even_load_it(monkeypatch):
    code = (
        "import sys; from assaypilot.gui.launch import main; before = 'multiprocessing' in sys.modules; "
        "code = main(['datasets', '--json']); "
        "sys.exit(code or before or any(name.startswith(('PySide6', 'rdkit')) for name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow  # that a killed session is noticed is tested by itself, without the whole program
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a process is ended another way here")
def test_a_program_that_is_killed_is_noticed_at_its_next_start():
    code = (
        "import os, signal, sys; from PySide6.QtCore import QTimer; from assaypilot.gui import app; "
        "make = app.make_window; "
        "app.make_window = lambda *a, **k: (QTimer.singleShot(300, lambda: os.kill(os.getpid(), signal.SIGKILL)), "
        "make(*a, **k))[1]; app.run(['assaypilot'], None, practice=False)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr
    from assaypilot.gui.runtime.error_reports import Reporter
    from assaypilot.gui.runtime.settings import Settings

    reporter = Reporter(Settings().data_folder)
    reporter.begin()
    reporter.watch.end()
    (report,) = reporter.unseen()
    assert "without being closed" in report.read_text(encoding="utf-8")
