import json
import os
import subprocess
import sys

import pytest

from assaypilot.engine.cli import COMMANDS, program


def test_every_command_has_help_and_json(run):
    out = run("--help").out
    for name in sorted(COMMANDS):
        assert f"    {name} " in out or f"    {name}\n" in out
        answer = run(name, "--help")
        assert answer.code == 0
        assert answer.err == ""
        assert f"assaypilot {name}" in answer.out
        assert "--json" in answer.out


def test_a_mistake_in_the_program_is_one_line_and_a_local_file(run, monkeypatch, tmp_path):
    def broken(*_):
        raise RuntimeError("secret-id\nsecond line")

    monkeypatch.setattr(program, "_run", broken)
    monkeypatch.setattr("assaypilot.engine.cli.program.data_folder", lambda: tmp_path / "state")
    answer = run("datasets")
    assert answer.code == 1
    assert answer.out == ""
    assert answer.err.count("\n") == 1
    assert "internal error (RuntimeError)" in answer.err
    (saved,) = (tmp_path / "state").iterdir()
    assert str(saved) in answer.err
    text = saved.read_text(encoding="utf-8")
    assert "Traceback" in text
    assert "secret-id" in text
    assert "secret-id" not in answer.err
    assert run("datasets", "--json").document["error"]["message"].startswith("internal error")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "stopped"),
        (MemoryError(), 1, "memory"),
        (OSError(28, "No space left on device", "out.csv"), 1, "out.csv: the system refused: No space left"),
    ],
)
def test_what_happens_to_a_computer_is_one_line(run, monkeypatch, error, code, said):
    def stops(*_):
        raise error

    monkeypatch.setattr(program, "_run", stops)
    answer = run("datasets")
    assert answer.code == code
    assert said in answer.err
    assert answer.err.count("\n") == 1


def test_no_progress_unless_on_a_terminal(run, monkeypatch, capsys):
    from assaypilot.engine.cli.program import Console

    console = Console(json=True)
    console._started -= 10
    console.report(0.5, "working")
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("assaypilot.engine.cli.program._is_terminal", lambda: True)
    console.report(0.5, "working\x1b[31m")
    console.clear()
    out, err = capsys.readouterr()
    assert out == ""
    assert "50 %  working" in err
    assert "\x1b" not in err


def test_output_is_utf8_on_every_system(small, tmp_path):
    small.write_text(small.read_text(encoding="utf-8").replace("OMe", "Ωµ"), encoding="utf-8")
    environment = {**os.environ, "PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0", "LC_ALL": "C"}
    answer = subprocess.run(
        [sys.executable, "-m", "assaypilot.engine.cli", "check", str(small), "--json"],
        capture_output=True,
        check=True,
        env=environment,
    )
    document = json.loads(answer.stdout.decode("utf-8"))
    assert "Ωµ" in [entry["label"] for entry in document["sites"][0]["substituents"]]


def test_a_reader_that_goes_away_is_no_error():
    process = subprocess.Popen(
        [sys.executable, "-m", "assaypilot.engine.cli", "strategies"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 1


def test_help_starts_fast_and_loads_nothing_heavy():
    heavy = ("numpy", "scipy", "pandas", "rdkit", "matplotlib", "PySide6", "sqlite3")
    code = f"""
import sys, time
from assaypilot.engine.cli import main
main(["--help"])
print(time.process_time(), file=sys.stderr)
sys.exit(", ".join(name for name in {heavy} if name in sys.modules) or 0)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    # Of the processor, from the start of the interpreter: how busy the machine is says nothing of the program.
    assert float(answer.stderr) < 0.3
