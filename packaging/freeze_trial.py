"""Runs the packaged program as a person would: `python packaging/freeze_trial.py PROGRAM [PROGRAM OF THE WINDOW]`.

Without a display, in a home of its own, with nothing of this Python in its environment. Standard library only.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = "CN(C)CC(Br)c1ccc([*:1])c([*:2])c1"
BEGINS = {".csv": b"\xef\xbb\xbf", ".xlsx": b"PK\x03\x04", ".sdf": b"AA-", ".pdf": b"%PDF-", ".pptx": b"PK\x03\x04"}
"""What each kind of export begins with."""
COMMANDS = f"""strategies --json
demo --seed 7 --out .
verify practice.assaypilot
check series.csv --core {CORE}
new series.assaypilot --table series.csv --core {CORE} --endpoint pIC50;sd=0.2 --epsilon 0.3 --slack 0.3 --per-round 48
plan series.assaypilot --plate 96 --out round.pdf
simulate --dataset practice-960 --strategy linfact-g --runs 4 --epsilon 0.5 --slack 0.5 --sd 0.2 --jobs 2"""
WINDOWS = (
    ("MainWindow", ""),
    ("MainWindow", ""),
    ("LibraryPage", "--practice"),
    ("CandidatesPage", "practice.assaypilot"),
    ("Headings", "large.csv"),
)
"""What the window has drawn when it is started with these words; the first start takes longer."""
SECONDS = 300
ABSENT = ("pandas", "distributed")
"""Libraries that doctor names and the program leaves out; see assaypilot.spec."""
# Said by the platform without a display, of what only a display can do.
EXPECTED = ("qt.widgets.painting", "This plugin does not support ")
FOREIGN = ("PYTHON", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_", "QT_", "QML", "XDG_", "OPENBLAS", "OMP_")


class TrialError(Exception):
    """The packaged program does not do what it should: what was run and what came of it."""


class Trial:
    """One program, tried in one folder; each step prints what it took."""

    def __init__(self, program: Path, window: Path, folder: Path) -> None:
        self.program, self.window, self.folder = program, window, folder
        self.home = folder / "home"
        self.home.mkdir()
        # The environment of a person who never heard of Python.
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.variables |= dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(self.home))
        self.variables["QT_QPA_PLATFORM"] = "offscreen"
        # With Qt's own account of what it draws, so that the program needs nothing in it to be measured.
        self.variables |= {"QT_LOGGING_RULES": "qt.widgets.painting=true", "QT_FORCE_STDERR_LOGGING": "1"}

    def command(self, words: str) -> str:
        """Return what a command of the program prints; TrialError when it fails."""
        start = time.monotonic()
        done = subprocess.run(
            [self.program, *words.split()], cwd=self.folder, env=self.variables, capture_output=True, timeout=SECONDS
        )
        if done.returncode:
            kept = "".join(path.read_text(encoding="utf-8") for path in self.home.rglob("internal-error*.txt"))
            said = done.stderr.decode("utf-8", "replace")
            raise TrialError(f"assaypilot {words} ended with {done.returncode}:\n{said}{kept}")
        print(f"{time.monotonic() - start:6.2f} s  {words}", flush=True)
        return done.stdout.decode("utf-8")

    def run(self) -> None:
        """Try versions, every strategy, campaigns, exports, worker processes, and the window."""
        told = json.loads(self.command("doctor --json"))
        version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        lacking = [name for name, number in told["packages"].items() if not number and name.lower() not in ABSENT]
        if told["assaypilot"] != version or lacking or told["qt"]["platform"] != "offscreen":
            raise TrialError(f"doctor: version {told['assaypilot']}, not known: {lacking}, Qt: {told['qt']}")
        text = (ROOT / "datasets" / "antiadrenergic.csv").read_text(encoding="utf-8")
        head, rows = text.replace("log 1/C", "pIC50").split("\n", 1)
        # The larger one is beyond what the window reads without another process.
        for name, times in (("series.csv", 1), ("large.csv", 500)):
            (self.folder / name).write_text(f"{head}\n{rows * times}", encoding="utf-8")
        for words in COMMANDS.split("\n"):
            self.command(words)
        for ending, begins in BEGINS.items():
            self.command(f"export series.assaypilot list{ending} --only all")
            if not (self.folder / f"list{ending}").read_bytes().startswith(begins):
                raise TrialError(f"list{ending} does not begin as such a file should")
        for widget, words in WINDOWS:
            self.show(widget, words)

    def show(self, widget: str, words: str = "") -> None:
        """Open the window until it has drawn a widget of that class."""
        start, path, said = time.monotonic(), self.folder / "said.txt", ""
        drawn = re.compile(rf"Drawing .* of {widget}\(")
        with path.open("wb") as file, path.open(encoding="utf-8", errors="replace") as reader:
            command, nowhere = [str(self.window), *words.split()], subprocess.DEVNULL
            process = subprocess.Popen(command, cwd=self.folder, env=self.variables, stdout=nowhere, stderr=file)
            try:
                while not drawn.search(said) and process.poll() is None and time.monotonic() - start < SECONDS:
                    time.sleep(0.02)
                    said += reader.read()
                print(f"{time.monotonic() - start:6.2f} s  until {widget} is drawn  {words}", flush=True)
            finally:
                process.terminate()
                process.wait(30)
            said += reader.read()
        complaints = [line for line in said.splitlines() if not line.startswith(EXPECTED)]
        if complaints or not drawn.search(said):
            fault = "the window complained" if drawn.search(said) else f"no {widget} was drawn"
            raise TrialError("\n".join([f"{fault}:", *complaints[-20:]]))


def try_program(program: Path, window: Path) -> None:
    """Try everything; TrialError or TimeoutExpired says which step failed and how."""
    with tempfile.TemporaryDirectory() as folder:
        Trial(program.resolve(), window.resolve(), Path(folder)).run()


if __name__ == "__main__":
    try:
        try_program(Path(sys.argv[1]), Path(sys.argv[-1]))
    except (TrialError, subprocess.TimeoutExpired) as failure:
        sys.exit(str(failure))
