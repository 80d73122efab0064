"""Runs the packaged program as a person would and says what it took: `python packaging/freeze_trial.py PROGRAM`.

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
from collections.abc import Callable, Iterable
from pathlib import Path

import freeze_parts

CORE = "O=C(N[*:1])c1ccc([*:2])c([*:3])c1"
AMINES = ("C", "CC", "C(C)C", "C1CC1", "C(C)(C)C")
FIRST = ("", "F", "Cl", "C(F)(F)F", "OC")
SECOND = ("", "F", "C#N", "S(C)(=O)=O")
# What a written file begins with.
BEGINS = {
    ".csv": b"\xef\xbb\xbf",
    ".xlsx": b"PK\x03\x04",
    ".sdf": b"BZ-",
    ".pdf": b"%PDF-",
    ".pptx": b"PK\x03\x04",
}
COMMAND_SECONDS = 300
WINDOW_SECONDS = 120
# Qt's own account of what it draws, so that the program needs nothing in it to be measured.
DRAWN = re.compile(r"Drawing .* of (\w+)\(")
DRAWING = "qt.widgets.painting=true"
# Said by the platform without a display, of what only a display can do.
EXPECTED = (DRAWING.partition("=")[0], "This plugin does not support ")


class TrialError(Exception):
    """The packaged program does not do what it should: what was run and what came of it."""


def table(path: Path, times: int = 1) -> Path:
    """Return a table of 100 made-up benzamides, `times` over under other ids, without columns of substituents."""
    lines = ["ID,SMILES,pIC50"]
    for turn, (a, b, c) in itertools.product(range(times), itertools.product(range(5), range(5), range(4))):
        structure = f"O=C(N{AMINES[a]})c1ccc({FIRST[b]})c({SECOND[c]})c1".replace("()", "")
        lines.append(f"BZ-{turn}-{a}{b}{c},{structure},{6 + 0.1 * a + 0.15 * b + 0.2 * c:.2f}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def variables(home: Path) -> dict[str, str]:
    """Return the environment of a person who never heard of Python, at home in `home` and without a display."""
    foreign = ("PYTHON", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "DYLD_", "QT_", "QML", "XDG_", "OPENBLAS", "OMP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    for name in ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"):
        kept[name] = str(home)
    return {**kept, "QT_QPA_PLATFORM": "offscreen", "QT_LOGGING_RULES": DRAWING, "QT_FORCE_STDERR_LOGGING": "1"}


class Trial:
    """One program, tried in one folder; `figures` says what each step took."""

    def __init__(self, program: Path, window: Path, folder: Path) -> None:
        self.program, self.window, self.folder = program, window, folder
        self.home = folder / "home"
        self.home.mkdir()
        self.figures: dict[str, float] = {}

    def command(self, *words: str) -> str:
        """Return what a command of the program prints; TrialError when it does not end well."""
        done = subprocess.run(
            [str(self.program), *words],
            cwd=self.folder,
            env=variables(self.home),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            timeout=COMMAND_SECONDS,
        )
        if done.returncode:
            kept = "".join(path.read_text(encoding="utf-8") for path in self.home.rglob("internal-error*.txt"))
            raise TrialError(f"assaypilot {' '.join(words)} ended with {done.returncode}:\n{done.stderr}{kept}")
        return done.stdout

    def timed(self, name: str, *words: str) -> str:
        """Return what a command prints, its seconds kept under a name."""
        start = time.monotonic()
        said = self.command(*words)
        self.figures[name] = time.monotonic() - start
        return said

    def versions(self) -> None:
        """Return nothing; the program knows its version and those of its libraries, and every strategy by its name."""
        told = json.loads(self.command("doctor", "--json"))
        unknown = [name for name, version in told["packages"].items() if not version]
        lacking = [name for name in unknown if name.lower() not in freeze_parts.LEFT_OUT]
        if told["assaypilot"] != freeze_parts.version() or lacking or told["qt"]["platform"] != "offscreen":
            raise TrialError(f"doctor: version {told['assaypilot']}, not known: {lacking}, Qt: {told['qt']}")
        said = {entry["name"] for entry in json.loads(self.command("strategies", "--json"))}
        forgotten = {
            *freeze_parts.by_name("engine/strategies/registry.py", "_STRATEGIES"),
            *freeze_parts.by_name("engine/simulate/comparison.py", "_BASELINES"),
        } - said
        if forgotten:
            raise TrialError(f"strategies that are not told of: {', '.join(sorted(forgotten))}")

    def campaigns(self) -> None:
        """Return nothing; the practice campaign, one from structures and a core, every export, worker processes."""
        self.timed("practice campaign", "demo", "--seed", "7", "--out", ".")
        self.command("verify", "practice.assaypilot")
        table(self.folder / "series.csv")
        self.timed("check of structures and a core", "check", "series.csv", "--core", CORE)
        options = ["--endpoint", "pIC50;sd=0.2", "--epsilon", "0.3", "--slack", "0.3", "--per-round", "48"]
        self.command("new", "series.assaypilot", "--table", "series.csv", "--core", CORE, *options)
        self.command("plan", "series.assaypilot", "--plate", "96", "--out", "round.pdf")
        for ending in freeze_parts.by_name("engine/export/formats.py", "FORMATS"):
            path = self.folder / f"list{ending}"
            self.timed(f"export {ending}", "export", "series.assaypilot", path.name, "--only", "all")
            if not path.read_bytes().startswith(BEGINS[ending]):
                raise TrialError(f"{path.name} does not begin as such a file should")
        words = ("--strategy", "linfact-g", "--runs", "4", "--epsilon", "0.5", "--slack", "0.5", "--sd", "0.2")
        self.timed("simulation in two processes", "simulate", "--dataset", "practice-960", *words, "--jobs", "2")

    def windows(self) -> None:
        """Return nothing; the window with nothing, with the practice campaign, and reading a table beside itself."""
        self.show("start to window, the first time", "MainWindow")
        self.show("start to window", "MainWindow")
        self.show("start to the practice campaign in the window", "LibraryPage", "--practice")
        self.show(
            "start to candidates and plot of a decided campaign",
            "CandidatesPage",
            str(self.folder / "practice.assaypilot"),
        )
        large = table(self.folder / "large.csv", times=100)  # beyond what the window reads without another process
        self.show("start to 10,000 structures read by a worker process", "Headings", str(large), worker=True)

    def show(self, name: str, widget: str, *words: str, worker: bool = False) -> None:
        """Return nothing; the seconds until the window has drawn a widget of that class are kept under a name."""
        start = time.monotonic()
        process = subprocess.Popen(
            [str(self.window), *words],
            cwd=self.folder,
            env=variables(self.home),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
        )
        said: list[str] = []
        seen = threading.Event()
        assert process.stderr is not None
        reader = threading.Thread(target=_listen, args=(process.stderr, widget, said, seen.set), daemon=True)
        reader.start()
        workers = False
        try:
            while not seen.wait(0.02) and time.monotonic() - start < WINDOW_SECONDS and reader.is_alive():
                workers = workers or (worker and _has_worker(process.pid))
            self.figures[name] = time.monotonic() - start
        finally:
            process.terminate()
            process.wait(30)
            reader.join(30)
            process.stderr.close()
        if not seen.is_set():
            raise TrialError(f"{name}: no {widget} was drawn in {WINDOW_SECONDS} s:\n" + "".join(said[-20:]))
        if worker and not workers and sys.platform.startswith("linux"):
            raise TrialError(f"{name}: no worker process was seen")
        if said:
            raise TrialError(f"{name}: the window complained:\n" + "".join(said[-20:]))


def _listen(stream: Iterable[str], widget: str, said: list[str], seen: Callable[[], None]) -> None:
    """Return nothing, at the end of what the program says; keeps what is not about drawing."""
    for line in stream:
        drawn = DRAWN.search(line)
        if drawn is not None and drawn[1] == widget:
            seen()
        elif not line.startswith(EXPECTED):
            said.append(line)


def _has_worker(parent: int) -> bool:
    """Return whether a process has a worker process of multiprocessing's, as far as Linux tells."""
    children = Path(f"/proc/{parent}/task")
    try:
        numbers = " ".join(path.read_text() for path in children.glob("*/children")).split()
        return any(b"--multiprocessing-fork" in Path(f"/proc/{number}/cmdline").read_bytes() for number in numbers)
    except OSError:
        return False


def try_program(program: Path, window: Path) -> dict[str, float]:
    """Return what each step took in seconds; TrialError says which one failed and how."""
    with tempfile.TemporaryDirectory() as folder:
        trial = Trial(program.resolve(), window.resolve(), Path(folder))
        trial.versions()
        trial.campaigns()
        trial.windows()
        return trial.figures


def told(figures: dict[str, float]) -> str:
    """Return the figures as lines."""
    width = max(map(len, figures))
    return "\n".join(f"{name:<{width}}  {seconds:6.2f} s" for name, seconds in figures.items())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit("Say which program: python packaging/freeze_trial.py PROGRAM [PROGRAM OF THE WINDOW]")
    try:
        print(told(try_program(Path(sys.argv[1]), Path(sys.argv[-1]))))
    except TrialError as failure:
        sys.exit(str(failure))
