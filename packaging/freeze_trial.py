"""Runs the packaged program as a person would: `python packaging/freeze_trial.py PROGRAM [PROGRAM OF THE WINDOW]`.

Without a display, in a home of its own, with nothing of this Python in its environment. Standard library only.
"""

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORE = "O=C(N[*:1])c1ccc([*:2])c([*:3])c1"
SITES = (("C", "CC", "C(C)C", "C1CC1", "C(C)(C)C"), ("", "F", "Cl", "C(F)(F)F", "OC"), ("", "F", "C#N", "S(C)(=O)=O"))
BEGINS = {".csv": b"\xef\xbb\xbf", ".xlsx": b"PK\x03\x04", ".sdf": b"BZ-", ".pdf": b"%PDF-", ".pptx": b"PK\x03\x04"}
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
# Qt's own account of what it draws, so that the program needs nothing in it to be measured.
DRAWN = re.compile(r"Drawing .* of (\w+)\(")
DRAWING = "qt.widgets.painting=true"
# Said by the platform without a display, of what only a display can do.
EXPECTED = ("qt.widgets.painting", "This plugin does not support ")
FOREIGN = ("PYTHON", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_", "QT_", "QML", "XDG_", "OPENBLAS", "OMP_")


class TrialError(Exception):
    """The packaged program does not do what it should: what was run and what came of it."""


def table(path: Path, times: int = 1) -> Path:
    """Return a table of 100 made-up benzamides, `times` over under other ids, without columns of substituents."""
    lines = ["ID,SMILES,pIC50"]
    for number, (a, b, c) in enumerate(list(itertools.product(*SITES)) * times):
        lines.append(f"BZ-{number},{f'O=C(N{a})c1ccc({b})c({c})c1'.replace('()', '')},{6 + len(a + b + c) / 10:.2f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


class Trial:
    """One program, tried in one folder; each step prints what it took."""

    def __init__(self, program: Path, window: Path, folder: Path) -> None:
        self.program, self.window, self.folder = program, window, folder
        self.home = folder / "home"
        self.home.mkdir()
        # The environment of a person who never heard of Python.
        self.variables = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
        self.variables |= dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), str(self.home))
        self.variables |= {"QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": DRAWING, "QT_FORCE_STDERR_LOGGING": "1"}

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
        table(self.folder / "series.csv")
        table(self.folder / "large.csv", times=100)  # beyond what the window reads without another process
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
        start = time.monotonic()
        process = subprocess.Popen(
            [self.window, *words.split()], cwd=self.folder, env=self.variables, stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL, text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        said: list[str] = []
        seen = threading.Event()
        reader = threading.Thread(target=_listen, args=(process.stderr, widget, said, seen), daemon=True)
        reader.start()
        try:
            while not seen.wait(0.02) and time.monotonic() - start < SECONDS and reader.is_alive():
                pass
            print(f"{time.monotonic() - start:6.2f} s  until {widget} is drawn  {words}", flush=True)
        finally:
            process.terminate()
            process.wait(30)
            reader.join(30)
            if process.stderr is not None:
                process.stderr.close()
        if said or not seen.is_set():
            fault = "the window complained" if seen.is_set() else f"no {widget} was drawn"
            raise TrialError(f"{fault}:\n" + "".join(said[-20:]))


def _listen(stream: Iterable[str], widget: str, said: list[str], seen: threading.Event) -> None:
    """Read to the end what the program says; keep what is not about drawing."""
    for line in stream:
        drawn = DRAWN.search(line)
        if drawn is not None and drawn[1] == widget:
            seen.set()
        elif not line.startswith(EXPECTED):
            said.append(line)


def try_program(program: Path, window: Path) -> None:
    """Try everything; TrialError says which step failed and how."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(program.resolve(), window.resolve(), Path(folder))
        try:
            trial.run()
        except subprocess.TimeoutExpired as late:
            raise TrialError(f"no end after {late.timeout} s: {late.cmd}") from late


if __name__ == "__main__":
    try:
        try_program(Path(sys.argv[1]), Path(sys.argv[-1]))
    except TrialError as failure:
        sys.exit(str(failure))
